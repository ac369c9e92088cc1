"""Speed of studies on this machine, beside a plain SQLite loop in the same run: ``python bench/studies.py``.

--tells N     also build a study with so many tells (a million takes minutes) and time its opening
--folder DIR  where the files are, a temporary folder by default
--power-safe  wait for the disk at every call
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import rising_bandits as rb
from rising_bandits.problems.tasks import grid_edges
from rising_bandits.studies import Study
from rising_bandits.studies.log.events import Event, outcomes_body

ROUNDS = 2_000
HELD = 200
"""Decisions that are open at the same time where tells come in the worst order."""


def timed(action: Callable[[], object], rounds: int) -> list[float]:
    """Seconds of each call."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return times


def outcomes(labels: list[rb.problems.base.Label]) -> dict[rb.problems.base.Label, float]:
    return {label: (hash(label) % 89) / 100 for label in labels}


def plain(path: Path, power_safe: bool) -> list[float]:
    """The least that a durable event can cost: one insert, one commit."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous={'FULL' if power_safe else 'NORMAL'}")
        connection.execute("CREATE TABLE event (id INTEGER PRIMARY KEY, body TEXT)")

        def insert() -> None:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO event (body) VALUES (?)", ('{"arms":[1,2,3,4],"raw":[0.1,0.2,0.3,0.4]}',))
            connection.execute("COMMIT")

        return timed(insert, ROUNDS)


def quantile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def play(study: Study, rounds: int) -> tuple[list[float], list[float]]:
    asks, tells = [], []
    for _ in range(rounds):
        start = time.perf_counter()
        decision = study.ask()
        middle = time.perf_counter()
        told = outcomes(decision.super_arm)
        before = time.perf_counter()
        study.tell(decision.id, told)
        asks.append(middle - start)
        tells.append(time.perf_counter() - before)
    return asks, tells


def play_newest_first(study: Study, held: int, rounds: int) -> list[float]:
    """Asks while so many decisions are open and the newest of each batch is told first: the worst order."""
    asks: list[float] = []
    batch = study.ask(held)
    while len(asks) < rounds:
        fresh = []
        for decision in reversed(batch):
            study.tell(decision, outcomes(decision.super_arm))
            start = time.perf_counter()
            fresh.append(study.ask())
            asks.append(time.perf_counter() - start)
        batch = fresh
    study.tell_many([(decision, outcomes(decision.super_arm)) for decision in batch])
    return asks


def grid(side: int) -> rb.Problem:
    return rb.problems.ShortestPath(grid_edges(side), "0,0", f"{side - 1},{side - 1}")


def report(name: str, times: list[float], beside: float) -> None:
    middle, worst = statistics.median(times), quantile(times, 0.99)
    print(f"{name:<48} {1e3 * middle:8.3f} {1e3 * worst:8.3f} {middle / beside:8.1f}")


def memory(policy: rb.Policy) -> int:
    """Bytes of the arrays of a policy."""
    rule = policy.__dict__["_rule"]
    rings = getattr(rule, "rings", ())
    parts = [part for part in (*rule, *rings[1:]) if hasattr(part, "nbytes")]
    return int(sum(part.nbytes for part in parts)) + (8 * int(rings.book[0]) if rings else 0)


def write_log(study: Study, tells: int) -> None:
    """Decisions and tells straight into the log, as an import writes them; asking for them would take hours."""
    log, problem = study._log, study.problem
    routes = [problem.ordered(arms).tolist() for arms in problem.oracle.super_arms()]
    bodies = [outcomes_body(told := {arm: (arm * 7 % 89) / 100 for arm in route}, told) for route in routes]
    done = 0
    while done < tells:
        count = min(25_000, tells - done)
        events = []
        for number in range(done + 1, done + count + 1):
            route = number % len(routes)
            events.append(Event(2 * number, "ask", 1.0 * number, number, {"arms": routes[route]}))
            events.append(Event(2 * number + 1, "tell", 1.0 * number, number, bodies[route]))
        with log.storage.write(log.number) as writer:
            writer.append(log.number, events)
        done += count


def long(folder: Path, tells: int) -> None:
    """A study with a long log: read from the first event, and from its snapshot."""
    storage = f"sqlite:///{folder}/long.db"
    with rb.studies.create("long", grid(3), rb.CRUCB(sigma=0.05, resolution=32), storage=storage, seed=1) as study:
        write_log(study, tells)
    size = sum(path.stat().st_size for path in folder.glob("long.db*")) / 1e9
    print(f"a log of {tells} tells, {size:.2f} GB")
    start = time.perf_counter()
    with rb.studies.open("long", storage=storage) as study:
        print(f"opened from its first event in {time.perf_counter() - start:.1f} s (once, after an import)")
        decision = study.ask()
        study.tell(decision.id, outcomes(decision.super_arm))
        wanted = study.indices().tolist()
    start = time.perf_counter()
    with rb.studies.open("long", storage=storage) as study:
        opened = time.perf_counter() - start
        study.ask()
        print(f"opened from its snapshot in {opened:.2f} s, first decision after {time.perf_counter() - start:.2f} s")
        assert study.indices().tolist() == wanted
        print(f"the policy's arrays: {memory(study.policy)} bytes after {study.policy.round - 1} rounds")


def decisions() -> None:
    """What bounded memory costs in decisions: regret on path-easy, all other things equal."""
    task = rb.tasks.get("path-easy")
    print(f"{'CRUCB on path-easy, 300000 rounds, 5 seeds':<48} {'regret':>8} {'±':>8} {'bytes':>8}")
    for resolution in (None, 8, 16, 32, 64):
        regrets = []
        for seed in range(5):
            simulation = rb.Simulation(task, rb.CRUCB(sigma=task.sigma, resolution=resolution), seed=seed)
            simulation.advance()
            regrets.append(float(simulation.result().regret[-1]))
        kind = "exact" if resolution is None else f"resolution {resolution}"
        error = statistics.stdev(regrets) / len(regrets) ** 0.5
        print(f"{kind:<48} {statistics.mean(regrets):8.0f} {error:8.0f} {memory(simulation.policy):8d}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tells", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--power-safe", action="store_true")
    parser.add_argument("--only-long", action="store_true", help="nothing but the long log")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-studies-", dir=given.folder))
    options = {"seed": 1, "power_safe": given.power_safe}
    try:
        if given.only_long:
            long(folder, given.tells)
            return
        beside = statistics.median(plain(folder / "plain.db", given.power_safe))
        print(f"{'milliseconds':<48} {'median':>8} {'99%':>8} {'x plain':>8}")
        report("plain SQLite: one insert, one commit", [beside], beside)
        for side in (3, 23):
            problem = grid(side)
            for policy in (rb.CRUCB(sigma=0.05), rb.CRUCB(sigma=0.05, resolution=32)):
                storage = f"sqlite:///{folder}/{side}-{policy.resolution}.db"
                # So that none of the decisions that are held leaves its place in the order.
                study = rb.studies.create("speed", problem, policy, storage=storage, reorder=3 * HELD, **options)
                worst = play_newest_first(study, HELD, HELD) if side > 3 else []
                play(study, 4 * problem.n_arms if side == 3 else 1_200)
                asks, tells = play(study, ROUNDS)
                kind = "exact" if policy.resolution is None else f"resolution {policy.resolution}"
                report(f"ask, {problem.n_arms} arms, {kind}", asks, beside)
                report(f"tell, {problem.n_arms} arms, {kind}", tells, beside)
                print(f"{'':<48} {ROUNDS / (sum(asks) + sum(tells)):8.0f} asks and tells a second, one process")
                if worst:
                    report(f"ask, first plays, {HELD} open, told newest first", worst, beside)
                    worst = play_newest_first(study, HELD, ROUNDS)
                    report(f"ask, {HELD} open, told newest first", worst, beside)
                study.close()
        decisions()
        if given.tells:
            long(folder, given.tells)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
