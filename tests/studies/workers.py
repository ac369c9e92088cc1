"""Processes that use a study while a test kills them, or runs many of them at once.

They are forks of one process that has everything imported and compiled: hundreds of starts would take minutes.

    python workers.py tell STORAGE RECORD FOLDER         a process for each line on standard input
    python workers.py kill STORAGE RECORD FOLDER KILLS SEED   kills so many of these
    python workers.py work STORAGE COUNT ROUNDS FOLDER   so many at once; their decisions as JSON in FOLDER
    python workers.py mix STORAGE COUNT ROUNDS FOLDER    so many at once that do different things, with wrong clocks
"""

from __future__ import annotations

import json
import logging
import os
import random
import signal
import subprocess
import sys
import time
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


def kill(storage: str, record: Path, folder: str, kills: int, seed: int) -> int:
    """Kill processes that tell at random moments, two at a time; returns how many tells were acknowledged at least."""
    dice = random.Random(seed)
    command = [sys.executable, __file__, "tell", storage, str(record), folder]
    herd = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
    killed = wanted = 0
    record.touch()
    try:
        while killed < kills:
            children = []
            for process in herd:
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write(b"\n")
                process.stdin.flush()
                children.append(int(process.stdout.readline()))
            # However busy the machine is: until some more tells were acknowledged, and then at any moment.
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
    return wanted


def work(storage: str, rounds: int, path: Path) -> None:
    """Ask and tell, two open at a time and told in the wrong order."""
    study = rb.studies.open("s", storage=storage, timeout=60)
    mine = []
    for _ in range(rounds // 2):
        for decision in study.ask(2)[::-1]:
            study.tell(decision.id, outcomes(decision.id, decision.super_arm))
            mine.append([decision.id, decision.super_arm])
    path.write_text(json.dumps(mine))


SKEWS = (0.0, 3600.0, -3600.0, 86_400.0, 5.0, -86_400.0, 60.0, -5.0)
"""How wrong the clock of each process of a mix is, in seconds."""


def mix(storage: str, number: int, rounds: int, path: Path) -> None:
    """One of several processes that do different things; what was acknowledged is noted."""
    study = rb.studies.open("s", storage=storage, timeout=120, clock=lambda: time.time() + SKEWS[number % len(SKEWS)])
    told = []

    def tell(decision: rb.studies.Decision) -> None:
        content = outcomes(decision.id, decision.super_arm)
        assert study.tell(decision.id, content)
        told.append([decision.id, decision.asked_at, content])

    for turn in range(rounds):
        if number % 4 == 0:
            for decision in study.ask(3)[::-1]:
                tell(decision)
        elif number % 4 == 1:
            with study.group():
                made = study.ask(2, unavailable=["b->c"])
                for decision in made:
                    tell(decision)
            study.retire(["b->c"])
            tell(study.ask(metadata={"process": number}))
            study.restore(["b->c"])
        elif number % 4 == 2:
            noted = study.record(["a->b", "b->d"], {"a->b": 0.5, "b->d": 0.25}, source=f"process {number}")
            told.append([noted.id, noted.asked_at, {"a->b": 0.5, "b->d": 0.25}])
            tell(study.ask())
            changes = (
                lambda: study.reset(["c->d"]),
                lambda: study.set_spread(True),
                lambda: study.set_least({"b->c": 0.1}),
                lambda: study.set_expiry(1e9),
                lambda: study.set_policy(rb.SWCUCB(window=20)),
                lambda: study.set_horizon(1_000_000),
                lambda: study.import_plays([("a->c", 1, 0.5)]),
                lambda: study.set_policy(rb.CRUCB(sigma=0.1)),
            )
            changes[turn % len(changes)]()
        else:
            decision = study.ask()
            assert study.explain(decision).decision == decision.id
            tell(decision)
            assert len(study.history(last=5)) > 0
            study.export(path.with_suffix(".jsonl"))
    path.write_text(json.dumps(told))


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
    # The made-up outcomes contradict sigma, which a study logs. Tests read standard error for faults only.
    logging.getLogger("rising_bandits").setLevel(logging.ERROR)
    mode, storage, *rest = sys.argv[1:]
    if mode == "kill":
        sys.stdout.write(f"{kill(storage, Path(rest[0]), rest[1], int(rest[2]), int(rest[3]))}\n")
        return 0
    warm(storage, rest[-1])
    if mode == "tell":
        for _ in sys.stdin:
            child = fork(tell, storage, rest[0])
            sys.stdout.write(f"{child}\n")
            sys.stdout.flush()
            os.waitpid(child, 0)
        return 0
    if mode == "mix":
        children = [
            fork(mix, storage, number, int(rest[1]), Path(rest[2]) / f"{number}.json") for number in range(int(rest[0]))
        ]
        return max(os.waitpid(child, 0)[1] for child in children)
    children = [fork(work, storage, int(rest[1]), Path(rest[2]) / f"{number}.json") for number in range(int(rest[0]))]
    return max(os.waitpid(child, 0)[1] for child in children)


if __name__ == "__main__":
    sys.exit(main())
