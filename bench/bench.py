"""Speed and memory as ratios to a C yardstick that runs in turn with us, printed and written to a JSON file.

The yardstick, crucb_floor.c, is the least work that a CRUCB round on a grid must do. Runs of both
alternate, because a machine's speed drifts, and medians are compared. Both count the CPU that they used, not the time
that passed, so that other work on the machine matters little.
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
from soak import soak_all

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
    """Nanoseconds of CPU per round. The first rounds are not counted: the loop is compiled or loaded there."""
    simulation = Simulation(task, policy, seed=seed)
    simulation.advance(1_000)
    started = time.process_time()
    simulation.advance()
    return (time.process_time() - started) / (simulation.horizon - 1_000) * 1e9


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
                print(f" ns/round: ratio {row['ratio']:.2f} (target at most 1.3)")
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
        print(f" ns/round: ratio {row['ratio']:.2f} (target at most 1)")
        results[name] = row
    return results


def growth() -> dict[str, float]:
    """Time per round late in a run over time per round early in it: 1 where cost does not grow with t."""
    ratios = []
    for seed in range(7):
        task = rb.tasks.get("path-complex")
        simulation = Simulation(task, rb.CRUCB(sigma=task.sigma), seed=seed)
        simulation.advance(50_000)
        marks = [time.process_time()]
        for rounds in (50_000, 350_000, 50_000):
            simulation.advance(rounds)
            marks.append(time.process_time())
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
    policy = rb.CRUCB(sigma=0.5)
    policy.start(task.problem, horizon=task.horizon, rng=np.random.default_rng(0))
    outcomes = np.random.default_rng(1).random((rounds, 4))
    for row in outcomes[:200]:
        policy.observe(policy.select(), row)
    started = time.perf_counter()
    for row in outcomes:
        policy.observe(policy.select(), row)
    taken = (time.perf_counter() - started) / rounds * 1e6
    print(f"live mode on path-easy: {taken:.1f} us for select and observe, in plain Python")
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


def cpu_of(code: str, *arguments: str, fresh: bool = False) -> float:
    """Seconds of CPU that a new process says it took, the least of three; with ``fresh``, with an empty cache."""
    taken = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            place = {"RISING_BANDITS_CACHE": folder, "XDG_CACHE_HOME": folder} if fresh else {}
            command = [sys.executable, "-c", code, *arguments]
            done = subprocess.run(
                command, capture_output=True, text=True, check=True, cwd=folder, env={**os.environ, **place}
            )
            taken.append(float(done.stdout.split()[-1]))
    return min(taken)


_CLOCK = "import time, sys, random\n"
_README = (
    "import networkx as nx\n"
    "roads = nx.DiGraph([('home', 'bridge'), ('home', 'tunnel'), ('bridge', 'work'), ('tunnel', 'work')])\n"
    "problem = rb.problems.ShortestPath(roads, 'home', 'work')\n"
)


def first_answers() -> dict[str, float]:
    """CPU of an import, of the first ten decisions, and of the first ten of a study, in fresh processes."""
    start = _CLOCK + "began = time.process_time()\nimport rising_bandits as rb\n"
    stop = "print(time.process_time() - began)\n"
    policy = (
        _CLOCK + "import rising_bandits as rb\n" + _README + "began = time.process_time()\n"
        "policy = rb.CRUCB(sigma=0.05)\npolicy.start(problem, rng=0)\n"
        "for _ in range(10): policy.observe(policy.select(), [0.5, 0.5])\n" + stop
    )
    study = (
        _CLOCK + "import rising_bandits as rb\n" + _README + "began = time.process_time()\n"
        "study = rb.studies.create('routes', problem, rb.CRUCB(sigma=0.05), storage='sqlite:///routes.db')\n"
        "for _ in range(10):\n"
        "    decision = study.ask()\n"
        "    study.tell(decision.id, dict.fromkeys(decision.super_arm, 0.5))\n" + stop
    )
    ask = (
        "import subprocess, sys, resource\n"
        "rising = [sys.executable, '-c', 'from rising_bandits.cli import main; main()', 'study']\n"
        "storage = ['--storage', 'sqlite:///team.db']\n"
        "subprocess.run([*rising, 'create', 'team', '--arms', 'a,b,c', '--k', '1', *storage], check=True, stdout=2)\n"
        "before = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "subprocess.run([*rising, 'ask', 'team', *storage], check=True, stdout=2)\n"
        "after = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)\n"
    )
    row = {
        "import": cpu_of(start + stop, fresh=True),
        "ten_decisions": cpu_of(policy, fresh=True),
        "ten_of_a_study": cpu_of(study, fresh=True),
        "rising_study_ask": cpu_of(ask, fresh=True),
    }
    print(
        f"seconds of CPU with an empty cache: import {row['import']:.2f} (target 0.35), first ten decisions "
        f"{row['ten_decisions']:.3f} (0.2), first ten of a study {row['ten_of_a_study']:.2f} (1), "
        f"'rising study ask' {row['rising_study_ask']:.2f} (1)"
    )
    return row


def listed_knapsack() -> dict[str, float]:
    """A knapsack of 12 items as linear constraints, over the same sets as `Explicit` and over the integer solver."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 10, 12)
    listed = rb.problems.LinearConstraints([sizes.tolist()], upper=[30])
    explicit = rb.problems.Explicit([arms.tolist() for arms in listed.oracle.super_arms()])
    weights = rng.random((200, 12))

    def per_call(solve: Any, rows: Any) -> float:
        started = time.perf_counter()
        for row in rows:
            solve(row)
        return (time.perf_counter() - started) / len(rows)

    ours, theirs = (per_call(problem.oracle.solve, weights) for problem in (listed, explicit))
    from scipy.optimize import Bounds, LinearConstraint, milp

    def integer(row: Any) -> Any:
        return milp(-row, constraints=LinearConstraint(sizes, ub=30), integrality=np.ones(12), bounds=Bounds(0, 1))

    solver = per_call(integer, weights[:20])
    print(f"a listed knapsack of 12 items: {ours / theirs:.2f} times Explicit (target about 1)", end="")
    print(f", 1/{solver / ours:.0f} of the integer solver, in plain Python")
    return {"over_explicit": ours / theirs, "solver_over_ours": solver / ours}


def base_install() -> dict[str, float]:
    """The size of a fresh environment with nothing but the base install."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        before = _size(Path(folder))
        pip = [
            f"{folder}/bin/python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            str(HERE.parent),
        ]
        subprocess.run(pip, check=True, capture_output=True)
        added = (_size(Path(folder)) - before) / 1e6
    print(f"the base install adds {added:.0f} MB to an empty environment (target at most 300)")
    return {"megabytes": added}


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/bench.json"))
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--quick", action="store_true", help="leave out what takes a minute or more")
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
        "first_answers": first_answers(),
        "listed_knapsack": listed_knapsack(),
    }
    if not options.quick:
        results["kept_per_decision"], _ = soak_all(1_000_000)
        results["base_install"] = base_install()
        results["sw_ts_spanning_complex"] = thompson()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    aside = options.out.with_suffix(".tmp")
    aside.write_text(json.dumps(results, indent=1) + "\n")
    aside.replace(options.out)
    print(f"written to {options.out}")


if __name__ == "__main__":
    main()
