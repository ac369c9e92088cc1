"""Processes that use a study while a test kills them, or runs many of them at once.

They are forks of one process that has everything imported and compiled: hundreds of starts would take minutes.

    python workers.py tell STORAGE RECORD FOLDER         a process for each line on standard input
    python workers.py work STORAGE COUNT ROUNDS FOLDER   so many at once; their decisions as JSON in FOLDER
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path

import rising_bandits as rb


def outcomes(number: int, labels: list[str]) -> dict[str, float]:
    """Outcomes that anyone can compute again from the decision alone."""
    return {label: ((number * 37 + place * 11) % 101) / 101 for place, label in enumerate(labels)}


def warm(storage: str, folder: str) -> None:
    """Everything that a process does, once, on a study of its own."""
    problem = rb.studies.open("s", storage=storage).problem
    with rb.studies.create("w", problem, rb.CRUCB(sigma=0.1), storage=f"sqlite:///{folder}/{os.getpid()}.db") as study:
        for _ in range(10):
            for decision in study.ask(3)[::-1]:
                study.tell(decision.id, outcomes(decision.id, decision.super_arm))


def tell(storage: str, record: str) -> None:
    """Tell for ever. Each acknowledged tell is noted by a write that the system has when it returns."""
    study = rb.studies.open("s", storage=storage)
    note = os.open(record, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    while True:
        for decision in study.ask(3)[::-1]:
            told = outcomes(decision.id, decision.super_arm)
            study.tell(decision.id, told)
            os.write(note, (json.dumps([decision.id, told]) + "\n").encode())


def work(storage: str, rounds: int, path: Path) -> None:
    """Ask and tell, two open at a time and told in the wrong order."""
    study = rb.studies.open("s", storage=storage, timeout=60)
    mine = []
    for _ in range(rounds // 2):
        for decision in study.ask(2)[::-1]:
            study.tell(decision.id, outcomes(decision.id, decision.super_arm))
            mine.append([decision.id, decision.super_arm])
    path.write_text(json.dumps(mine))


def fork(function, *arguments) -> int:
    child = os.fork()
    if child == 0:
        try:
            function(*arguments)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return child


def main() -> int:
    mode, storage, *rest = sys.argv[1:]
    warm(storage, rest[-1])
    if mode == "tell":
        for _ in sys.stdin:
            child = fork(tell, storage, rest[0])
            sys.stdout.write(f"{child}\n")
            sys.stdout.flush()
            os.waitpid(child, 0)
        return 0
    children = [fork(work, storage, int(rest[1]), Path(rest[2]) / f"{number}.json") for number in range(int(rest[0]))]
    return max(os.waitpid(child, 0)[1] for child in children)


if __name__ == "__main__":
    sys.exit(main())
