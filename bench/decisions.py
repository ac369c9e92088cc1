"""Regret of the recommended policy beside its rivals, real worlds first: ``python bench/decisions.py``.

--develop     seeds below 1000 and LCDB data sets with even ids, which policies may be tuned on; otherwise seeds from
              1000 up and odd ids, which they may not
--seeds N     seeds a world; the paper's tasks have one (3 by default)
--only WORD   only worlds whose name contains this word
--policy P    only these policies, such as foresight; can be given several times
--out FILE    also write the table as JSON
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import rising_bandits as rb
from rising_bandits.problems import lcdb
from rising_bandits.problems.tasks import Task

POLICIES: dict[str, Callable[[Task], rb.policies.Policy]] = {
    "foresight": lambda task: rb.policies.Foresight(),
    "horizon-crucb": lambda task: rb.policies.HorizonCRUCB(),
    "recent-mean": lambda task: rb.policies.RecentMean(),
    "newer-half": lambda task: rb.policies.NewerHalf(),
    "sw-cucb": lambda task: rb.policies.SWCUCB(),
    "sw-cts": lambda task: rb.policies.SWCTS(),
    "cucb": lambda task: rb.policies.CUCB(),
    "crucb": lambda task: rb.policies.CRUCB(sigma=task.sigma),
}
"""The policies by name. Only CRUCB is told the noise."""
PAPER = ("path-easy", "path-complex", "matching-easy", "matching-complex", "spanning-easy", "spanning-complex", "k-max")
REAL = ("live-match", "imdb-like@5000", "tool-chain", "two-arms", "drop-once", "antmaze-easy", "antmaze-complex")


def worlds(develop: bool, seeds: int) -> Iterator[tuple[str, list[Task], int]]:
    """Every world: its name, its tasks, and how many seeds each of them gets."""
    ids = [key for key in lcdb.ids() if key % 2 == (0 if develop else 1)]
    for horizon in (200, 1_000, 5_000):
        yield f"lcdb, {horizon} rounds", [lcdb.task(key, horizon) for key in ids], seeds
    for name in REAL:
        yield name, [rb.tasks.get(name)], 5 * seeds
    for name in PAPER:
        yield name, [rb.tasks.get(name)], 1


def lost(task: Task, name: str, seed: int) -> float:
    """Regret as a share of what the best constant super arm earns, in percent."""
    run = rb.simulate(task, POLICIES[name](task), horizon=task.horizon, seed=seed)
    return float(100.0 * run.regret[-1] / rb.optimal_constant(task, task.horizon).total)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--develop", action="store_true")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--policy", action="append", choices=list(POLICIES))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    names = options.policy or list(POLICIES)
    first = 0 if options.develop else 1_000
    rows = []
    print(f"{'regret, % of the optimum':26}" + "".join(f"{name:>15}" for name in names))
    for world, tasks, seeds in worlds(options.develop, options.seeds):
        if options.only not in world:
            continue
        means = {}
        for name in names:
            shares = [lost(task, name, first + seed) for task in tasks for seed in range(seeds)]
            means[name] = float(np.mean(shares))
        print(f"{world:26}" + "".join(f"{means[name]:15.3f}" for name in names), flush=True)
        rows += [{"world": world, "policy": name, "lost": round(share, 4)} for name, share in means.items()]
    if options.out is not None:
        seeds_said = f"seeds from {first} up, {'even' if options.develop else 'odd'} LCDB ids"
        command = "python bench/decisions.py" + (" --develop" if options.develop else "")
        settings = {"command": command, "seeds": options.seeds, "worlds": seeds_said}
        options.out.write_text(json.dumps({"settings": settings, "worlds": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
