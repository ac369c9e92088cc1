"""How soon a policy leaves an arm that fell, with and without a reset, as a study with ``falls="reset"`` makes it.

    python bench/falls.py [--seeds 5] [--first 1000]

Plays of fallen arms and reward per round, means over seeds. Last table: false alarms on tasks whose arms never fall.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

import rising_bandits as rb
from rising_bandits._checks import Floats
from rising_bandits.errors import SigmaWarning
from rising_bandits.experiments.metrics import FALLEN
from rising_bandits.simulation.environment import draw, make_environment
from rising_bandits.studies.log.entries import Entry
from rising_bandits.studies.log.watch import Watch

DROPS = ("drop-once", "drop-slowly", "drop-rising")
STEADY = ("two-arms", "imdb-like@3000")


def play(task: rb.Task, policy: rb.Policy, seed: int, *, reset: bool) -> tuple[float, float, int]:
    """Plays of fallen arms, reward per round and number of resets of one live run with one arm per round."""
    environment = make_environment(task, task.horizon, seed)
    policy.start(task.problem, task.horizon, np.random.default_rng([seed, 1]))
    tables: list[Floats] = [curve(np.arange(task.horizon)) for curve in task.curves]
    fallen = [table < np.maximum.accumulate(table) - FALLEN for table in tables]
    watch = Watch()
    plays, late, reward, resets = [0] * len(tables), 0, 0.0, 0
    for number in range(task.horizon):
        arms = policy.select()
        arm = int(arms[0])
        draw(environment, arms)
        reward += float(environment.means[0])
        late += bool(fallen[arm][plays[arm]])
        plays[arm] += 1
        outcome = float(environment.outcomes[0])
        policy.observe(arms, [outcome])
        if reset:
            watch.take(Entry(number, values={arm: outcome}), {}, len(tables), None)
            for gone in list(watch.fallen):
                origin = [-1 if other == gone else other for other in range(len(tables))]
                policy, resets = policy.rebase(task.problem, origin), resets + 1
                watch.restart(gone)
    return late, reward / task.horizon, resets


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how soon policies leave an arm that fell.")
    parser.add_argument("--seeds", type=int, default=5, help="how many seeds")
    parser.add_argument("--first", type=int, default=1_000, help="the first seed")
    options = parser.parse_args()
    warnings.simplefilter("ignore", SigmaWarning)
    kinds = rb.policies.classes()
    rows = (("recommended", False), ("recommended", True), ("sw-cucb", False), ("glr-cucb", False))
    for names in (DROPS, STEADY):
        for name in names:
            task = rb.tasks.get(name)
            print(
                f"\n{name}\n\n| policy | plays of the fallen arm | reward a round | resets a run |\n|---|---|---|---|"
            )
            for policy, reset in rows:
                runs = []
                for seed in range(options.first, options.first + options.seeds):
                    made = rb.policies.recommended(task.problem, task.horizon)
                    made = made if policy == "recommended" else kinds[policy]()
                    runs.append(play(task, made, seed, reset=reset))
                late, reward, resets = np.mean(runs, axis=0)
                print(f"| {policy}{' + reset' * reset} | {late:.0f} | {reward:.3f} | {resets:.1f} |", flush=True)


if __name__ == "__main__":
    main()
