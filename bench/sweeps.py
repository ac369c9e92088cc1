"""How plans scale: two workers beside one on a plan of 64 runs, and a run through Dask beside the same run without it.

Plans are run whole, from an empty folder: the start of worker processes, their imports and the loading of machine code
are part of the time. Only compilation is not; a first pass fills the cache. One worker and two take turns, because a
machine's speed drifts, and medians are compared.

Two ratios are given. ``wall`` compares the time on the clock. It means little where other programs use the machine.
``cpu`` compares the CPU time of the busiest process with that of one worker, which is what the clock would say on a
machine with two idle cores, apart from waiting for the disk.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import tempfile
import time
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from rising_bandits.experiments import RunSpec, make_plan, run_plan
from rising_bandits.experiments.cluster import cluster

PLANS = {
    "two tasks, four policies, 8 seeds": (["path-easy", "path-complex"], ["crucb", "r-ed-ucb", "sw-ts", "sw-cts"], 8),
    "path-easy, four policies, 16 seeds": (["path-easy"], ["crucb", "r-ed-ucb", "sw-ts", "sw-cts"], 16),
}
"""Plans of 64 runs, at the tasks' own horizons: 300 000 and 500 000 rounds."""


@dataclass(frozen=True)
class Cost:
    """What a plan took, in seconds."""

    wall: float
    """The clock."""
    here: float
    """CPU time of this process."""
    helpers: float
    """CPU time of its helpers."""


def cost(plan: list[RunSpec], **options: Any) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        before = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        started = time.perf_counter()
        run_plan(plan, folder, **options)
        wall = time.perf_counter() - started
        after = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = [b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime for a, b in zip(before, after, strict=True)]
    return Cost(wall, *cpu)


def two_over_one(plan: list[RunSpec], repeats: int) -> dict[str, float]:
    cost(plan[:: max(1, len(plan) // 16)], workers=1)
    one, two = [], []
    for _ in range(repeats):
        one.append(cost(plan, workers=1))
        two.append(cost(plan, workers=2))
    middle = statistics.median
    pairs = list(zip(one, two, strict=True))
    return {
        "runs": len(plan),
        "one_worker_wall_seconds": middle(a.wall for a in one),
        "one_worker_cpu_seconds": middle(a.here for a in one),
        "two_workers_wall_seconds": middle(b.wall for b in two),
        "two_workers_cpu_seconds_first": middle(b.here for b in two),
        "two_workers_cpu_seconds_second": middle(b.helpers for b in two),
        "wall": middle(b.wall / a.wall for a, b in pairs),
        "cpu": middle(max(b.here, b.helpers) / a.here for a, b in pairs),
    }


def dask_over_none(repeats: int, executor: Executor) -> dict[str, float]:
    plan = make_plan(["path-easy"], ["crucb"], seeds=16)
    cost(plan[:2], executor=executor)
    pairs = [(cost(plan, workers=1).wall, cost(plan, executor=executor).wall) for _ in range(repeats)]
    middle = statistics.median
    return {
        "dask_over_none": middle(b / a for a, b in pairs),
        "more_seconds_per_run": middle((b - a) / len(plan) for a, b in pairs),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    found: dict[str, Any] = {"cores": os.cpu_count(), "load_before": os.getloadavg()[0]}
    for name, (tasks, policies, seeds) in PLANS.items():
        found[name] = two_over_one(make_plan(tasks, policies, seeds=seeds), given.repeats)
    with cluster("local", 1) as executor:
        found["one run through Dask"] = dask_over_none(given.repeats, executor)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
