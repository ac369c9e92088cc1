"""How many kills a study survives: ``python bench/kills.py [--kills 1000]``.

Two processes at a time ask a study on disk and tell it outcomes. They note every tell that was acknowledged, and are
killed (SIGKILL) at random moments, again and again. In the end the log must hold every tell that was noted, and nothing
that nobody told.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import rising_bandits as rb

WORKERS = Path(__file__).resolve().parents[1] / "tests" / "studies" / "workers.py"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200, help="how many processes are killed (default 200)")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        storage, record = f"sqlite:///{folder}/s.db", folder / "acknowledged"
        roads = [("home", "bridge"), ("home", "tunnel"), ("bridge", "work"), ("tunnel", "work")]
        problem = rb.problems.ShortestPath(roads, "home", "work")
        rb.studies.create("s", problem, rb.CRUCB(sigma=0.1), storage=storage, reorder=10_000).close()
        # Killed two at a time.
        killed = given.kills + given.kills % 2
        order = ["kill", storage, str(record), str(folder), str(killed), str(given.seed)]
        subprocess.run([sys.executable, str(WORKERS), *order], stdout=subprocess.DEVNULL, check=True)
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
