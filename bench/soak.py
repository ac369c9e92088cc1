"""A soak: a million decisions in a row, live and through a study, with a ceiling on memory and open files.

    python bench/soak.py                       a million decisions of each kind
    python bench/soak.py --decisions 20000     fewer

Each kind runs in a process of its own. Memory and open files are noted ten times, from the moment on when everything is
loaded and compiled. The command ends with 1 if a ceiling is passed. It reads /proc, so it needs Linux.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import rising_bandits as rb
from rising_bandits.policies.engines import live

MOST_BYTES = 200.0
"""The ceiling on memory: so many bytes kept per decision."""
WARM = 2_000
"""Decisions before anything is noted."""
GROUP = 100
"""Decisions of a study that are stored in one transaction."""


def used() -> tuple[int, int]:
    """The memory of this process in bytes, and how many files it has open."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE"), len(list(Path("/proc/self/fd").iterdir()))


def problem() -> rb.Problem:
    return rb.problems.TopK(4, k=2)


def policy() -> rb.Policy:
    # A policy in bounded memory: what it keeps of outcomes must not hide what decisions leave behind.
    return rb.CRUCB(sigma=0.5, resolution=8)


def alone(play_by: float) -> Callable[[int], None]:
    """A live policy; ``play_by`` is the seconds of plain Python after which it is compiled."""
    live.PAYS = play_by
    made = policy()
    made.start(problem(), rng=0)

    def play(count: int) -> None:
        for _ in range(count):
            made.observe(made.select(), [0.5, 0.25])

    return play


def through_a_study(folder: str) -> Callable[[int], None]:
    live.PAYS = 0.0
    study = rb.studies.create("soak", problem(), policy(), storage=f"sqlite:///{folder}/soak.db", seed=1)

    def play(count: int) -> None:
        for _ in range(max(1, count // GROUP)):
            with study.group():
                for _ in range(GROUP):
                    decision = study.ask()
                    study.tell(decision.id, dict.fromkeys(decision.super_arm, 0.5))

    return play


def soak(kind: str, decisions: int, folder: str) -> dict[str, float]:
    """Bytes kept per decision and more files than at first, each the largest of ten looks."""
    kinds: dict[str, Callable[[], Callable[[int], None]]] = {
        "plain Python": lambda: alone(math.inf),
        "machine code": lambda: alone(0.0),
        "a study": lambda: through_a_study(folder),
    }
    play = kinds[kind]()
    play(WARM)
    for pace in live._PACES.values():
        if pace is not None and pace.worker is not None:
            pace.worker.join()
    play(WARM)
    memory, files = used()
    looks = []
    for part in range(10):
        play(decisions * (part + 1) // 10 - decisions * part // 10)
        looks.append(used())
    return {
        "decisions": decisions,
        "bytes": max(look[0] - memory for look in looks) / decisions,
        "files": max(look[1] for look in looks) - files,
        "megabytes": looks[-1][0] / 1e6,
    }


def apart(kind: str, decisions: int) -> dict[str, float]:
    """`soak` in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--kind", kind, "--decisions", str(decisions), "--folder", folder]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def soak_all(decisions: int) -> tuple[dict[str, dict[str, float]], bool]:
    """Soak every kind and print what it kept; also says whether all ceilings hold."""
    results, holds = {}, True
    for kind in ("plain Python", "machine code", "a study"):
        found = results[kind] = apart(kind, decisions)
        holds = holds and found["bytes"] <= MOST_BYTES and found["files"] <= 0
        print(
            f"{decisions:,} decisions, {kind}: {found['bytes']:.1f} bytes kept per decision (at most {MOST_BYTES:.0f}),"
            f" {found['files']:.0f} more open files (at most 0), {found['megabytes']:.0f} MB at the end",
            flush=True,
        )
    return results, holds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=int, default=1_000_000)
    parser.add_argument("--kind", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.kind is not None:
        print(json.dumps(soak(given.kind, given.decisions, given.folder)))
        return
    _, holds = soak_all(given.decisions)
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
