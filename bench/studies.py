"""Speed of studies on this machine, beside a plain SQLite loop in the same run: ``python bench/studies.py``.

--speed       only the speed of calls, without the long run about decisions
--tells N     also build a study with so many tells (a million takes minutes) and time its opening
--folder DIR  where the files are, a temporary folder by default
--power-safe  wait for the disk at every call
--soak N      only this: ask and tell N times, and show that memory and open files do not grow
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import rising_bandits as rb
from rising_bandits.policies.engines import live
from rising_bandits.policies.levels import RulePolicy
from rising_bandits.problems.tasks import grid_edges
from rising_bandits.studies import Decision, Study
from rising_bandits.studies.log.events import Event, outcomes_body
from rising_bandits.studies.storage.queue import Queue

ROUNDS = 2_000
HELD = 200
"""Decisions that are open at the same time where tells come in the worst order."""
CEILING = 0.1
"""What the guide promises of eight writers: 99% of their calls take at most so many seconds."""


def timed(action: Callable[[], object], rounds: int) -> list[float]:
    """Seconds of each call."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return times


def outcomes(labels: list[rb.problems.base.Label]) -> dict[rb.problems.base.Label, float]:
    return {label: (zlib.crc32(str(label).encode()) % 89) / 100 for label in labels}


class Plain:
    """The least that a durable event can cost: one insert, one commit; if asked for, in turn with other processes."""

    def __init__(self, path: Path, power_safe: bool = False, in_turn: bool = False) -> None:
        self.queue = Queue(path) if in_turn else None
        self.connection = sqlite3.connect(path, isolation_level=None, timeout=60.0)
        self.connection.execute("PRAGMA journal_mode=WAL")
        self.connection.execute(f"PRAGMA synchronous={'FULL' if power_safe else 'NORMAL'}")
        self.connection.execute("CREATE TABLE IF NOT EXISTS event (id INTEGER PRIMARY KEY, body TEXT)")

    def insert(self) -> None:
        if self.queue is not None:
            self.queue.enter(60.0)
        self.connection.execute("BEGIN IMMEDIATE")
        self.connection.execute("INSERT INTO event (body) VALUES (?)", ('{"arms":[1,2,3,4],"raw":[0.1,0.2,0.3,0.4]}',))
        self.connection.execute("COMMIT")
        if self.queue is not None:
            self.queue.leave()

    def close(self) -> None:
        self.connection.close()


def quantile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def play(study: Study, rounds: int, beside: Plain | None = None) -> tuple[list[float], list[float], list[float]]:
    """Seconds of asks, of tells, and of plain inserts between them, which meet the same busy moments."""
    asks, tells, plain = [], [], []
    for _ in range(rounds):
        start = time.perf_counter()
        decision = study.ask()
        middle = time.perf_counter()
        told = outcomes(decision.super_arm)
        before = time.perf_counter()
        study.tell(decision.id, told)
        after = time.perf_counter()
        if beside is not None:
            beside.insert()
            plain.append(time.perf_counter() - after)
        asks.append(middle - start)
        tells.append(after - before)
    return asks, tells, plain


def play_newest_first(study: Study, held: int, rounds: int, beside: Plain) -> tuple[list[float], list[float]]:
    """Asks while so many decisions are open and the newest of each batch is told first: the worst order."""
    asks: list[float] = []
    plain: list[float] = []
    batch = study.ask(held)
    while len(asks) < rounds:
        fresh = []
        for decision in reversed(batch):
            study.tell(decision, outcomes(decision.super_arm))
            start = time.perf_counter()
            fresh.append(study.ask())
            asks.append(time.perf_counter() - start)
            plain += timed(beside.insert, 1)
        batch = fresh
    study.tell_many([(decision, outcomes(decision.super_arm)) for decision in batch])
    return asks, plain


def follow(study: Study, storage: str, rounds: int = 25, runs: int = 80) -> list[float]:
    """Seconds per event in which a process learns what another one wrote, a few calls at a time."""
    times = []
    with rb.studies.open("speed", storage=storage) as other:
        for _ in range(runs):
            with study.group():
                play(study, rounds)
            start = time.perf_counter()
            assert other.decisions == study.decisions
            times.append((time.perf_counter() - start) / (2 * rounds))
    return times


def compile_now(study: Study, rounds: int) -> None:
    """Reach the state of a study that has run for long: machine code has taken over, where there is a compiler."""
    live.PAYS = 0.0
    play(study, rounds)
    for pace in live._PACES.values():
        if pace is not None and pace.worker is not None:
            pace.worker.join()
    play(study, 20)


def writer(kind: str, place: str, seconds: float, path: str) -> None:
    """A process that writes for some seconds, and notes the seconds of each of its calls. It says when it is ready."""
    times = []
    if kind != "study":
        beside = Plain(Path(place), in_turn=kind == "in turn")
        calls: list[Callable[[], object]] = [beside.insert]
    else:
        study = rb.studies.open("speed", storage=place, timeout=60.0)
        compile_now(study, 40)
        held: list[Decision] = []
        calls = [
            lambda: held.append(study.ask()),
            lambda: study.tell(decision := held.pop(), outcomes(decision.super_arm)),
        ]
    print("ready", flush=True)
    sys.stdin.readline()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for call in calls:
            times += timed(call, 1)
    Path(path).write_text(json.dumps(times))


def eight(folder: Path, seconds: float = 4.0, count: int = 8) -> None:
    """Eight processes that write at the same time: plain inserts, then asks and tells; how fairly they share.

    Plain SQLite lets one process write again and again while others wait for seconds. So there are also plain inserts
    in turn, in the order in which the processes came, as studies are written.
    """
    storage = f"sqlite:///{folder}/eight.db"
    rb.studies.create("speed", grid(3), rb.CRUCB(sigma=0.05), storage=storage, seed=1, reorder=10_000).close()
    Plain(folder / "eight-plain.db").close()
    rates = {}
    alone = str(folder / "eight-plain.db")
    for kind, place in (("plain", alone), ("in turn", alone), ("study", storage)):
        command = [sys.executable, __file__, "--writer", kind, place, str(seconds)]
        names = [folder / f"{kind}-{number}.json" for number in range(count)]
        pipe = subprocess.PIPE
        processes = [subprocess.Popen([*command, str(name)], stdin=pipe, stdout=pipe, text=True) for name in names]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        for process in processes:
            assert process.wait() == 0
        parts = [json.loads(name.read_text()) for name in names]
        times = [one for part in parts for one in part]
        rates[kind] = len(times) / seconds
        shares = [len(part) for part in parts]
        name = {"plain": "plain inserts", "in turn": "plain inserts in turn", "study": "asks and tells"}[kind]
        middle, worst = statistics.median(times), quantile(times, 0.99)
        print(
            f"{f'{count} processes: {name}':<48} {1e3 * middle:8.3f} {1e3 * worst:8.3f}"
            f"{'':9} {rates[kind]:.0f} a second; largest {1e3 * max(times):.0f} ms; shares {min(shares)}-{max(shares)}"
        )
    print(f"{'':<48} {rates['study'] / rates['plain']:8.2f} of the plain rate (wanted: 0.3)")
    print(f"{'':<48} {rates['study'] / rates['in turn']:8.2f} of the plain rate in turn")
    print(f"{'':<48} {1e3 * worst:8.1f} ms is the 99% quantile (promised: at most {1e3 * CEILING:g})")


def grid(side: int) -> rb.Problem:
    return rb.problems.ShortestPath(grid_edges(side), "0,0", f"{side - 1},{side - 1}")


def report(name: str, times: list[float], beside: float) -> None:
    middle, worst = statistics.median(times), quantile(times, 0.99)
    print(f"{name:<48} {1e3 * middle:8.3f} {1e3 * worst:8.3f} {middle / beside:8.1f}")


def memory(policy: rb.Policy) -> int:
    """Bytes of the arrays of a policy."""
    assert isinstance(policy, RulePolicy)
    rule = policy._rule
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


RESIDENT = "import resource; print(int(open('/proc/self/statm').read().split()[1]) * resource.getpagesize() / 1e6)"
COMPILER = {
    "NumPy alone": "import numpy",
    "NumPy and Numba": "import numpy, numba",
    "the same after one line was compiled": "import numba\nnumba.njit(lambda x: x + 1)(1)",
}


def resident() -> float:
    """The memory of this process in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def soak(folder: Path, rounds: int) -> None:
    """Memory and open files of this process while a study asks and tells; for Linux, which says them in /proc.

    Memory makes one step, when plain Python has cost as much as compiling does: the compiler is loaded, and stays.
    The last lines show what the compiler alone takes, in a process that does nothing else.
    """
    storage = f"sqlite:///{folder}/soak.db"
    with rb.studies.create("soak", grid(3), rb.CRUCB(sigma=0.05, resolution=32), storage=storage, seed=1) as study:
        print(f"{'asks and tells':>16} {'resident MB':>12} {'open files':>12} {'file MB':>12} {'compiler':>12}")
        done = 0
        for part in range(11):
            play(study, rounds * part // 10 - done)
            done = rounds * part // 10
            handles = len(list(Path("/proc/self/fd").iterdir()))
            size = sum(path.stat().st_size for path in folder.glob("soak.db*")) / 1e6
            loaded = "loaded" if "numba" in sys.modules else "not loaded"
            print(f"{done:16d} {resident():12.1f} {handles:12d} {size:12.1f} {loaded:>12}")
    for what, code in COMPILER.items():
        shown = subprocess.run(
            [sys.executable, "-c", f"{code}\n{RESIDENT}"], capture_output=True, text=True, check=True
        )
        print(f"{what}: {float(shown.stdout):.1f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tells", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--power-safe", action="store_true")
    parser.add_argument("--only-long", action="store_true", help="nothing but the long log")
    parser.add_argument("--speed", action="store_true", help="only the speed of calls")
    parser.add_argument("--soak", type=int, default=0, help="only so many asks and tells, with memory and open files")
    parser.add_argument("--writer", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.writer is not None:
        kind, place, seconds, path = given.writer
        writer(kind, place, float(seconds), path)
        return
    folder = Path(tempfile.mkdtemp(prefix="bench-studies-", dir=given.folder))
    options = {"seed": 1, "power_safe": given.power_safe}
    try:
        if given.soak:
            soak(folder, given.soak)
            return
        if given.only_long:
            long(folder, given.tells)
            return
        beside = Plain(folder / "plain.db", given.power_safe)
        middle = statistics.median(timed(beside.insert, ROUNDS))
        print(f"{'milliseconds':<48} {'median':>8} {'99%':>8} {'x plain':>8}")
        report("plain SQLite: one insert, one commit", timed(beside.insert, ROUNDS), middle)
        eight(folder)
        for side in (3, 23):
            problem = grid(side)
            for policy in (rb.CRUCB(sigma=0.05), rb.CRUCB(sigma=0.05, resolution=32)):
                storage = f"sqlite:///{folder}/{side}-{policy.resolution}.db"
                # So that none of the decisions that are held leaves its place in the order.
                study = rb.studies.create("speed", problem, policy, storage=storage, reorder=3 * HELD, **options)
                kind = "exact" if policy.resolution is None else f"resolution {policy.resolution}"
                if policy.resolution is None:
                    asks, tells, plain = play(study, 100, beside)
                    middle = statistics.median(plain)
                    report(f"ask, {problem.n_arms} arms, first plays in plain Python", asks, middle)
                    report(f"tell, {problem.n_arms} arms, first plays in plain Python", tells, middle)
                compile_now(study, 4 * problem.n_arms if side == 3 else 1_200)
                asks, tells, plain = play(study, ROUNDS, beside)
                middle = statistics.median(plain)
                report(f"ask, {problem.n_arms} arms, {kind}", asks, middle)
                report(f"tell, {problem.n_arms} arms, {kind}", tells, middle)
                print(f"{'':<48} {ROUNDS / (sum(asks) + sum(tells)):8.0f} asks and tells a second, one process")
                report(f"to learn an event of another process, {kind}", follow(study, storage), middle)
                if side > 3:
                    worst, plain = play_newest_first(study, HELD, ROUNDS // 2, beside)
                    report(f"ask, {HELD} open, told newest first", worst, statistics.median(plain))
                study.close()
        if not given.speed:
            decisions()
        if given.tells:
            long(folder, given.tells)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
