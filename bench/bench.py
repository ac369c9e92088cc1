"""Speed and memory as ratios to a C yardstick that runs beside us, printed and written to a JSON file.

The yardstick, crucb_floor.c, is the least work that a CRUCB round on a grid must do. Runs of both
alternate, because a machine's speed drifts, and medians are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import rising_bandits as rb
from rising_bandits.simulation import Simulation

HERE = Path(__file__).resolve().parent


def build_floor(folder: Path) -> Path | None:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    program = folder / "crucb_floor"
    source = str(HERE / "crucb_floor.c")
    subprocess.run([compiler, "-O3", "-march=native", source, "-o", str(program), "-lm"], check=True)
    return program


def floor_nanoseconds(program: Path, size: int, horizon: int) -> float:
    done = subprocess.run([str(program), str(size), str(horizon)], capture_output=True, text=True, check=True)
    found = re.search(r"([\d.]+) ns/round", done.stdout)
    assert found is not None, done.stdout
    return float(found[1])


def loop_nanoseconds(task: rb.Task, policy: rb.Policy, seed: int) -> float:
    simulation = Simulation(task, policy, seed=seed)
    simulation.advance()
    return simulation.seconds / simulation.horizon * 1e9


def against_floor(repeats: int) -> dict[str, Any]:
    """The compiled loop beside the yardstick, run by run."""
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        program = build_floor(Path(folder))
        for name, size in (("path-easy", 3), ("path-complex", 6)):
            task = rb.tasks.get(name)
            ours, floor = [], []
            for repeat in range(repeats):
                ours.append(loop_nanoseconds(task, rb.CRUCB(sigma=task.sigma), repeat))
                if program is not None:
                    floor.append(floor_nanoseconds(program, size, task.horizon))
            row: dict[str, Any] = {"rounds": task.horizon, "ns_per_round": statistics.median(ours)}
            if floor:
                row["floor_ns_per_round"] = statistics.median(floor)
                row["ratio"] = row["ns_per_round"] / row["floor_ns_per_round"]
                print(f"{name}: {row['ns_per_round']:.0f} ns/round, C floor {row['floor_ns_per_round']:.0f}", end="")
                print(f" ns/round: ratio {row['ratio']:.2f} (target at most 2)")
            else:
                print(f"{name}: {row['ns_per_round']:.0f} ns/round; no C compiler, so no ratio")
            results[name] = row
    return results


def beside_crucb(repeats: int) -> dict[str, Any]:
    """HorizonCRUCB and CRUCB in turn, in the same loop."""
    results: dict[str, Any] = {}
    for name in ("path-easy", "path-complex", "matching-complex", "spanning-complex", "k-max"):
        task = rb.tasks.get(name)
        ours, theirs = [], []
        for repeat in range(repeats):
            ours.append(loop_nanoseconds(task, rb.HorizonCRUCB(sigma=task.sigma), repeat))
            theirs.append(loop_nanoseconds(task, rb.CRUCB(sigma=task.sigma), repeat))
        row = {"ns_per_round": statistics.median(ours), "crucb_ns_per_round": statistics.median(theirs)}
        row["ratio"] = row["ns_per_round"] / row["crucb_ns_per_round"]
        print(f"{name}: HorizonCRUCB {row['ns_per_round']:.0f} ns/round, CRUCB {row['crucb_ns_per_round']:.0f}", end="")
        print(f" ns/round: ratio {row['ratio']:.2f} (target at most 2)")
        results[name] = row
    return results


def growth() -> dict[str, float]:
    """Time per round late in a run over time per round early in it: 1 where cost does not grow with t."""
    ratios = []
    for seed in range(7):
        task = rb.tasks.get("path-complex")
        simulation = Simulation(task, rb.CRUCB(sigma=task.sigma), seed=seed)
        simulation.advance(50_000)
        marks = [simulation.seconds]
        for rounds in (50_000, 350_000, 50_000):
            simulation.advance(rounds)
            marks.append(simulation.seconds)
        ratios.append((marks[3] - marks[2]) / (marks[1] - marks[0]))
    ratio = statistics.median(ratios)
    print(f"rounds 450 000-500 000 over rounds 50 000-100 000 on path-complex: ratio {ratio:.2f}")
    return {"late_over_early": ratio}


def memory() -> dict[str, float]:
    """Peak memory of a process that runs path-complex, and what the run itself asks for."""
    code = (
        "import resource, tracemalloc, rising_bandits as rb\n"
        "task = rb.tasks.get('path-complex')\n"
        "rb.simulate(task, rb.CRUCB(sigma=0.01), horizon=1000)\n"
        "tracemalloc.start()\n"
        "run = rb.simulate(task, rb.CRUCB(sigma=0.01))\n"
        "peak = tracemalloc.get_traced_memory()[1]\n"
        "print(peak, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, run.plays.sum())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    asked, resident, plays = (int(word) for word in done.stdout.split())
    row = {"process_mb": resident / 1024, "asked_for_mb": asked / 2**20, "bytes_per_play": asked / plays}
    print(
        f"path-complex: the whole process peaks at {row['process_mb']:.0f} MB (target under 500); the run asks for",
        end="",
    )
    print(f" {row['asked_for_mb']:.0f} MB, {row['bytes_per_play']:.1f} bytes a play (target about 32 or less)")
    return row


def live_small(rounds: int = 20_000) -> dict[str, float]:
    task = rb.tasks.get("path-easy")
    policy = rb.CRUCB(sigma=task.sigma)
    policy.start(task.problem, horizon=task.horizon, rng=np.random.default_rng(0))
    outcomes = np.random.default_rng(1).random((rounds, 4))
    for row in outcomes[:200]:
        policy.observe(policy.select(), row)
    started = time.perf_counter()
    for row in outcomes:
        policy.observe(policy.select(), row)
    taken = (time.perf_counter() - started) / rounds * 1e6
    print(f"live mode on path-easy: {taken:.1f} us for select and observe (target under 30)")
    return {"microseconds": taken}


def live_large(arms: int = 1_000_000, k: int = 100, rounds: int = 100) -> dict[str, float]:
    policy = rb.CRUCB(sigma=0.01)
    policy.start(rb.problems.TopK(arms, k), rng=np.random.default_rng(0))
    rng = np.random.default_rng(1)
    policy.select()

    def decide() -> float:
        started = time.perf_counter()
        for _ in range(rounds):
            policy.observe(policy.select(), rng.random(k))
        return (time.perf_counter() - started) / rounds * 1e3

    first = decide()
    for _ in range(2):
        for start in range(0, arms, k):
            policy.observe(np.arange(start, start + k), rng.random(k))
    policy.select()
    later = decide()
    print(f"live mode with {arms:,} arms, top-{k}: {later:.1f} ms a decision, {first:.1f} ms while arms", end="")
    print(" get their first plays (target under 10)")
    return {"milliseconds": later, "milliseconds_while_covering": first}


def thompson() -> dict[str, float]:
    task = rb.tasks.get("spanning-complex")
    simulation = Simulation(task, rb.SWTS())
    simulation.advance()
    print(f"SW-TS on spanning-complex, 1296 super arms, {task.horizon:,} rounds: {simulation.seconds / 60:.1f} minutes")
    return {"minutes": simulation.seconds / 60}


def import_seconds() -> dict[str, float]:
    code = "import time; t = time.perf_counter(); import rising_bandits; print(time.perf_counter() - t)"
    taken = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(5)
    ]
    print(f"import rising_bandits: {statistics.median(taken):.2f} s (target under 1.5)")
    return {"seconds": statistics.median(taken)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/bench.json"))
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--quick", action="store_true", help="leave out the run that takes a minute or more")
    options = parser.parse_args()
    # Everything is compiled before anything is timed.
    for name in ("path-easy", "path-complex"):
        rb.simulate(rb.tasks.get(name), rb.CRUCB(sigma=0.01), horizon=1000)
    results: dict[str, Any] = {
        "machine": {"python": platform.python_version(), "cpu": platform.processor(), "cores": os.cpu_count()},
        "loop": against_floor(options.repeats),
        "horizon": beside_crucb(options.repeats),
        "growth": growth(),
        "memory": memory(),
        "live": live_small(),
        "live_million_arms": live_large(),
        "import": import_seconds(),
    }
    if not options.quick:
        results["sw_ts_spanning_complex"] = thompson()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    aside = options.out.with_suffix(".tmp")
    aside.write_text(json.dumps(results, indent=1) + "\n")
    aside.replace(options.out)
    print(f"written to {options.out}")


if __name__ == "__main__":
    main()
