"""How plans scale: two workers beside one on a plan of 64 runs, and a run through Dask beside the same run without it.

Runs of both kinds alternate, because a machine's speed drifts, and medians are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from concurrent.futures import Executor
from typing import Any

from rising_bandits.experiments import RunSpec, make_plan, run_plan
from rising_bandits.experiments.cluster import cluster


def seconds(plan: list[RunSpec], **options: Any) -> float:
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        run_plan(plan, folder, **options)
        return time.perf_counter() - started


def measure(repeats: int, horizon: int, executor: Executor) -> dict[str, Any]:
    plan = make_plan(["path-easy"], ["crucb"], seeds=64, horizon=horizon)
    seconds(plan[:2], workers=2)
    seconds(plan[:2], executor=executor)
    one, two, dask, local = [], [], [], []
    for _ in range(repeats):
        one.append(seconds(plan, workers=1))
        two.append(seconds(plan, workers=2))
        dask.append(seconds(plan[:8], executor=executor))
        local.append(seconds(plan[:8], workers=1))
    middle = statistics.median
    return {
        "rounds": horizon,
        "one_worker_seconds": middle(one),
        "two_workers_over_one": middle(b / a for a, b in zip(one, two, strict=True)),
        "dask_over_none": middle(a / b for a, b in zip(dask, local, strict=True)),
        "dask_seconds_per_run": (middle(dask) - middle(local)) / 8,
        "load_before": os.getloadavg()[0],
        "cores": os.cpu_count(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--horizon", type=int, default=300_000)
    given = parser.parse_args()
    with cluster("local", 1) as executor:
        print(json.dumps(measure(given.repeats, given.horizon, executor), indent=1))


if __name__ == "__main__":
    main()
