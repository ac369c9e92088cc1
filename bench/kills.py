"""How many kills a study survives: ``python bench/kills.py [--kills 1000]``.

Two processes at a time ask a study on disk and tell it outcomes. They note every tell that was acknowledged, and are
killed (SIGKILL) at random moments, again and again. In the end the log must hold every tell that was noted, and nothing
that nobody told.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import rising_bandits as rb

WORKERS = Path(__file__).resolve().parents[1] / "tests" / "studies" / "workers.py"
AT_A_TIME = 2


def kill(storage: str, record: Path, folder: Path, kills: int, seed: int) -> int:
    """Kill telling processes so many times; returns how many were killed."""
    dice = random.Random(seed)
    command = [sys.executable, str(WORKERS), "tell", storage, str(record), str(folder)]
    herd = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(AT_A_TIME)]
    killed = wanted = 0
    try:
        while killed < kills:
            children = []
            for process in herd:
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write(b"\n")
                process.stdin.flush()
                children.append(int(process.stdout.readline()))
            # Until some more tells were acknowledged, and then at any moment.
            wanted += dice.randint(0, 8)
            while record.read_bytes().count(b"[") < wanted:
                time.sleep(0.001)
            time.sleep(dice.uniform(0.0, 0.005))
            for child in children:
                os.kill(child, signal.SIGKILL)
                killed += 1
    finally:
        for process in herd:
            process.communicate(timeout=120)
    return killed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200, help="how many processes are killed (default 200)")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        storage, record = f"sqlite:///{folder}/s.db", folder / "acknowledged"
        record.touch()
        roads = [("home", "bridge"), ("home", "tunnel"), ("bridge", "work"), ("tunnel", "work")]
        problem = rb.problems.ShortestPath(roads, "home", "work")
        rb.studies.create("s", problem, rb.CRUCB(sigma=0.1), storage=storage, reorder=10_000).close()
        killed = kill(storage, record, folder, given.kills, given.seed)
        noted = [json.loads(line) for line in record.read_text().splitlines() if line.startswith("[")]
        with rb.studies.open("s", storage=storage) as study:
            kept: dict[int, dict[str, float]] = {}
            for row in study.history().itertuples():
                kept.setdefault(int(row.decision_id), {})[str(row.arm)] = float(row.outcome)
        lost = sum(kept.get(decision) != outcomes for decision, outcomes in noted)
        # A process may die between the tell and the note of it.
        beyond = len(kept) - (len(noted) - lost)
        print(f"{killed} processes killed: {len(noted)} acknowledged tells, {lost} lost; {beyond} more were on disk")
        if lost or not 0 <= beyond <= killed:
            sys.exit("the study did not keep its promise")


if __name__ == "__main__":
    main()
