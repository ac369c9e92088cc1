"""What delays cost each policy: regret as a share of the optimum, with outcomes that are known some rounds later.

    python bench/delays.py [--seeds 3] [--policy NAME ...]

The tasks are LCDB learning curves with even OpenML ids and three synthetic tasks; each row is a mean over tasks and
seeds. All policies meet the same outcomes and the same delays.
"""

from __future__ import annotations

import argparse

import numpy as np

import rising_bandits as rb
from rising_bandits.curves import Exponential, Flat, Gaussian
from rising_bandits.simulation import Geometric
from rising_bandits.simulation.delays import Delay

HORIZON = 1_000
DELAYS: dict[str, Delay] = {
    "none": 0,
    "10": 10,
    "geometric 10": Geometric(10.0),
    "100": 100,
    "geometric 100": Geometric(100.0),
}
POLICIES = ("recommended", "horizon-crucb", "crucb", "sw-cucb", "sw-cts", "random")


def tasks() -> dict[str, list[rb.Task]]:
    """The tasks of each group."""
    rising = (Exponential(time=80.0, start=0.1, end=0.9), Flat(0.6), Exponential(time=20.0, end=0.7), Flat(0.3))
    noise = Gaussian(0.05)
    grid = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]
    return {
        "real (LCDB)": [rb.tasks.get(f"lcdb-{key}@{HORIZON}") for key in (14, 44, 720, 1120)],
        "synthetic": [
            rb.Task("one of four", rb.problems.TopK(4, 1), rising, HORIZON, noise),
            rb.Task("two of four", rb.problems.TopK(4, 2), rising, HORIZON, noise),
            rb.Task("paths", rb.problems.ShortestPath(grid, "a", "d"), rising, HORIZON, noise),
        ],
    }


def make(name: str, task: rb.Task) -> rb.Policy:
    """A policy by name; one that wants sigma is told the task's."""
    if name == "recommended":
        return rb.policies.recommended(task.problem, task.horizon)
    kind = rb.policies.classes()[name]
    told = {"sigma": task.sigma} if kind().parameters().get("sigma", None) is not None else {}
    return kind(**told)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what delays cost each policy.")
    parser.add_argument("--seeds", type=int, default=3, help="how many seeds, from 0 on")
    parser.add_argument("--policy", action="append", help="a policy by name; can be given several times")
    options = parser.parse_args()
    for group, members in tasks().items():
        print(f"\n{group}, {HORIZON} rounds: regret as a share of the optimum\n")
        print("| policy | " + " | ".join(DELAYS) + " |")
        print("|---|" + "---|" * len(DELAYS))
        for name in options.policy or POLICIES:
            cells = []
            for delay in DELAYS.values():
                shares = []
                for task in members:
                    total = rb.optimal_constant(task).total
                    for seed in range(options.seeds):
                        run = rb.simulate(task, make(name, task), seed=seed, compiled=False, delay=delay)
                        shares.append(float(run.regret[-1]) / total)
                cells.append(f"{np.mean(shares):.1%}")
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
