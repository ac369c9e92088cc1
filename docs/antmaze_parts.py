"""What the parts of the ant's preset are worth: short runs of the constant optimal path without each of them.

python docs/antmaze_parts.py    writes docs/data/antmaze-parts.json, after some twenty minutes of two cores

The seeds are among those on which the preset was chosen.
"""

from __future__ import annotations

import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from rising_bandits.antmaze.pool import one_core
from rising_bandits.antmaze.results import Result
from rising_bandits.antmaze.settings import CPU
from rising_bandits.antmaze.spec import TrainSpec
from rising_bandits.antmaze.training import Training
from rising_bandits.reproduction.antmaze import last_success
from rising_bandits.reproduction.summaries import walks_from

OUT = Path(__file__).parent / "data" / "antmaze-parts.json"
CHANGES: tuple[dict[str, Any], ...] = (
    {},
    {"penalty": 0.01},
    {"hold": 1},
    {"random_successes": 1},
    {"feel": 0.0},
    {"view": "plain"},
)
SEEDS = (100, 101, 102)
EPISODES = 600
EARLY = 100
END = 0.95
"""A torque beyond this share of the largest one is at its end."""


def at_their_ends(training: Training) -> float:
    """The share of torques that are at their ends in what the actor would do in situations it has met."""
    met = training.buffer.sample(np.random.default_rng(0), training.settings, 1)
    torques = [training.agent.act(o, g) for o, g in zip(met.observation[0], met.goal[0], strict=True)]
    return float(np.mean(np.abs(torques) > END))


def run(change: dict[str, Any], seed: int) -> dict[str, Any]:
    """One short run as a row."""
    spec = TrainSpec.make("easy", "oracle", episodes=EPISODES, seed=seed, settings=replace(CPU, **change))
    training = spec.begin()
    ends = 0.0
    while not training.done:
        training.episode()
        if training.record.episodes == EARLY:
            ends = at_their_ends(training)
    result = Result(spec, training.record, np.zeros((0, 15), dtype=np.float32), 0.0)
    through = last_success(result, "1->4")
    return {
        "change": ", ".join(f"{name}={value}" for name, value in change.items()) or "as it is",
        "seed": seed,
        "walks from": walks_from(result),
        "1->4": None if np.isnan(through) else through,  # never tried
        "torques": ends,
    }


def main() -> None:
    """Every part and every seed, as many at a time as there are cores."""
    context = multiprocessing.get_context("spawn")
    changes, seeds = zip(*product(CHANGES, SEEDS), strict=True)
    with ProcessPoolExecutor(mp_context=context, initializer=one_core) as pool:
        rows = list(pool.map(run, changes, seeds))
    settings = {"command": "python docs/antmaze_parts.py", "episodes": EPISODES, "torques after": EARLY}
    data = {"settings": settings, "rows": rows}
    OUT.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
