"""Regret of the recommended policy beside its rivals, real worlds first: ``python bench/decisions.py``.

--develop     seeds below 1000 and LCDB data sets with even ids, which policies may be tuned on; otherwise seeds from
              1000 up and odd ids, which they may not
--seeds N     seeds of an LCDB task, ten times as many of the others; the paper's tasks have one (3 by default)
--only WORD   only worlds whose name contains this word
--policy P    only these policies, such as foresight; can be given several times
--variants    variants of the recommended policy instead of its rivals
--out FILE    also write the table as JSON
"""

from __future__ import annotations

import argparse
import json
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

import rising_bandits as rb
from rising_bandits.errors import RisingBanditsError
from rising_bandits.problems import lcdb
from rising_bandits.problems.tasks import Task

POLICIES: dict[str, Callable[[Task], rb.policies.Policy]] = {
    "foresight": lambda task: rb.policies.Foresight(),
    "horizon-crucb": lambda task: rb.policies.HorizonCRUCB(),
    "newer-half": lambda task: rb.policies.NewerHalf(),
    "recent-mean": lambda task: rb.policies.RecentMean(),
    "ti-ucb": lambda task: rb.policies.TIUCB(sigma=task.sigma),
    "successive-halving": lambda task: rb.policies.SuccessiveHalving(),
    "epsilon-greedy": lambda task: rb.policies.EpsilonGreedy(),
    "explore-then-commit": lambda task: rb.policies.ExploreThenCommit(),
    "probe-and-commit": lambda task: rb.policies.ProbeAndCommit(),
    "rising-ts": lambda task: rb.policies.RisingTS(),
    "cts": lambda task: rb.policies.CTS(),
    "sw-cts": lambda task: rb.policies.SWCTS(),
    "cucb": lambda task: rb.policies.CUCB(),
    "sw-cucb": lambda task: rb.policies.SWCUCB(),
    "glr-cucb": lambda task: rb.policies.GLRCUCB(),
    "escb": lambda task: rb.policies.ESCB(),
    "cure-ucb": lambda task: rb.policies.CureUCB(sigma=task.sigma),
    "r-less-ucb": lambda task: rb.policies.RLessUCB(sigma=task.sigma),
    "crucb": lambda task: rb.policies.CRUCB(sigma=task.sigma),
}
"""The policies by name. Those with a parameter sigma are told the noise, unless they can measure it."""
VARIANTS: dict[str, Callable[[Task], rb.policies.Policy]] = {
    "as it is": lambda task: rb.policies.Foresight(),
    "budget=0.0": lambda task: rb.policies.Foresight(budget=0.0),
    "budget=0.005": lambda task: rb.policies.Foresight(budget=0.005),
    "budget=0.03": lambda task: rb.policies.Foresight(budget=0.03),
    "luck=2.0": lambda task: rb.policies.Foresight(luck=2.0),
    "luck=10.0": lambda task: rb.policies.Foresight(luck=10.0),
    "bonus=0.9": lambda task: rb.policies.Foresight(bonus=0.9),
    "bonus=2.0": lambda task: rb.policies.Foresight(bonus=2.0),
}
"""Variants of the recommended policy."""
PAPER = ("path-easy", "path-complex", "matching-easy", "matching-complex", "spanning-easy", "spanning-complex", "k-max")
REAL = (
    "live-match",
    "imdb-like@5000",
    "imdb-like@50000",
    "tool-chain",
    "tool-chain@30000",
    "antmaze-easy",
    "antmaze-complex",
)
SMALL = ("two-arms", "drop-once", "drop-slowly", "drop-rising", "drop-chain")


def worlds(develop: bool, seeds: int) -> Iterator[tuple[str, list[Task], int]]:
    """Every world: its name, its tasks, and how many seeds each of them gets."""
    ids = [key for key in lcdb.ids() if key % 2 == (0 if develop else 1)]
    for horizon in (200, 1_000, 5_000):
        yield f"lcdb, {horizon} rounds", [lcdb.task(key, horizon) for key in ids], seeds
    for name in REAL + SMALL:
        yield name, [rb.tasks.get(name)], 10 * seeds
    for name in PAPER:
        yield name, [rb.tasks.get(name)], 1


def lost(task: Task, make: Callable[[Task], rb.policies.Policy], seeds: Sequence[int]) -> list[float]:
    """Regret as a share of what the best constant super arm earns, in percent; nothing if the policy cannot play."""
    best = rb.optimal_constant(task, task.horizon).total
    try:
        runs = [rb.simulate(task, make(task), horizon=task.horizon, seed=seed) for seed in seeds]
    except RisingBanditsError:
        return []
    return [float(100.0 * run.regret[-1] / best) for run in runs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--develop", action="store_true")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--policy", action="append", choices=list(POLICIES))
    parser.add_argument("--variants", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    makers = VARIANTS if options.variants else POLICIES
    names = options.policy or list(makers)
    warnings.simplefilter("ignore", rb.errors.SigmaWarning)
    first = 0 if options.develop else 1_000
    rows = []
    print(f"{'regret, % of the optimum':26}" + "".join(f"{name:>20}" for name in names))
    for world, tasks, seeds in worlds(options.develop, options.seeds):
        if options.only not in world:
            continue
        means = {}
        for name in names:
            shares = [share for task in tasks for share in lost(task, makers[name], range(first, first + seeds))]
            means[name] = float(np.mean(shares)) if len(shares) == seeds * len(tasks) else math.nan
        print(f"{world:26}" + "".join(f"{means[name]:20.3f}" for name in names), flush=True)
        rows += [
            {"world": world, "policy": name, "lost": round(share, 4)}
            for name, share in means.items()
            if not math.isnan(share)
        ]
    if options.out is not None:
        seeds_said = f"seeds from {first} up, {'even' if options.develop else 'odd'} LCDB ids"
        flags = [f"--{flag}" for flag in ("develop", "variants") if getattr(options, flag)]
        command = " ".join(["python bench/decisions.py", *flags, f"--seeds {options.seeds}"])
        settings = {"command": command, "seeds": options.seeds, "worlds": seeds_said}
        options.out.write_text(json.dumps({"settings": settings, "worlds": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
