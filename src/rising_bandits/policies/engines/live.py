"""Live decisions: plain Python answers first, and machine code takes over where it pays.

No decision waits for the compiler. The time that plain Python takes is added up for every kind of engine. Once it is as
long as compiling takes, a thread compiles in the background. When the thread is done, engines of that kind run as
machine code. The decisions are the same bit for bit. Engines that draw random numbers stay in plain Python.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rising_bandits import _machine
from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits._compile import compilable, compiled
from rising_bandits.policies.engines.operations import learn, learn_in_run, select
from rising_bandits.policies.rules.operations import catch_up, roomy

_LOGGER = logging.getLogger(__name__)
PAYS = 5.0
"""Seconds of plain Python after which an engine is compiled."""
_COMPILING = threading.Lock()
"""Held while a thread compiles. A fork waits for it: else the child would inherit a lock that nobody releases."""


class Run(NamedTuple):
    """Super arms to learn, oldest first. Number ``n`` is ``arms[first[n] : first[n + 1]]``."""

    arms: Ints
    outcomes: Floats
    first: Ints
    played: Ints
    """How many arms of each super arm were played; they come first."""
    seen: Bools
    """Work space: for each arm of the problem, whether it was met. False at first."""


@compiled
def _select(engine: Any, t: int, rng: Any, out: Ints) -> int:
    return select(engine, t, rng, out)  # type: ignore[no-any-return]


@compiled
def _learn(engine: Any, arms: Ints, outcomes: Floats, played: int) -> None:
    learn(engine, arms, outcomes, played)


@compiled
def _learn_run(engine: Any, run: Run, begin: int, pushes: int) -> int:
    """Learn super arm after super arm as long as there is memory for the next one; return how many were learnt."""
    arms, first, seen, at = run.arms, run.first, run.seen, begin
    while at < run.played.size and roomy(engine.rule, pushes):
        learn_in_run(engine, arms[first[at] : first[at + 1]], run.outcomes[first[at] : first[at + 1]], run.played[at])
        at += 1
    for place in range(first[begin], first[at]):
        seen[arms[place]] = True
    for arm in range(seen.size):
        if seen[arm]:
            catch_up(engine.rule, arm)
    return at


class Pace:
    """What plain Python has cost for one kind of engine, and the machine code that replaces it."""

    def __init__(self) -> None:
        self.spent = 0.0
        self.select: Callable[..., int] | None = None
        self.learn: Callable[..., None] | None = None
        self.learn_run: Callable[..., int] | None = None
        self.direct: tuple[Callable[..., int] | None, Callable[..., None] | None] = None, None
        """`select` and `learn` without a look at the types of their arguments."""
        self.worker: threading.Thread | None = None

    def add(self, seconds: float, engine: Any) -> None:
        """Add the time of a call in plain Python. Begin to compile when it is enough."""
        self.spent += seconds
        if self.spent >= PAYS and self.worker is None:
            self.worker = threading.Thread(target=self._compile, args=(engine,), name="rising-bandits-compiler")
            self.worker.start()

    def _compile(self, engine: Any) -> None:
        arms, outcomes = np.zeros(1, dtype=np.int64), np.zeros(1)
        try:
            with _COMPILING:
                if _machine.available():
                    chooses = _machine.prepared(_select, engine, 1, None, arms)
                    learns = _machine.prepared(_learn, engine, arms, outcomes, 1)
                    if hasattr(engine, "solver"):
                        # Only policies on base arms learn whole runs.
                        run = Run(arms, outcomes, np.zeros(2, dtype=np.int64), arms, np.zeros(1, dtype=np.bool_))
                        self.learn_run = _machine.prepared(_learn_run, engine, run, 0, 1)
                    self.direct = _machine.direct(chooses), _machine.direct(learns)
                    self.select, self.learn = chooses, learns
        except Exception as error:
            # A rule of the user's own that cannot be compiled goes on as plain Python.
            _LOGGER.info("live decisions stay in plain Python: %s", error)


class Met:
    """The engine of a policy that machine code has met last, and its machine code without a look at types.

    An engine is a tuple, so the types that were found in it stay what they are. A copy begins without one.
    """

    __slots__ = ("engine", "learn", "select")

    def __init__(self) -> None:
        self.engine: Any = None
        self.select: Callable[..., int] | None = None
        self.learn: Callable[..., None] | None = None

    def note(self, engine: Any, pace: Pace) -> None:
        """Note that machine code has run with an engine, and so has found the types that it was compiled for."""
        self.engine = None
        if None not in pace.direct and _machine.is_for_one(pace.select) and _machine.is_for_one(pace.learn):
            (self.select, self.learn), self.engine = pace.direct, engine

    def __reduce__(self) -> tuple[type[Met], tuple[()]]:
        return Met, ()


_PACES: dict[tuple[type, ...], Pace | None] = {}


def _pace(engine: Any) -> Pace | None:
    """The pace of an engine's kind, or None where only plain Python can run it."""
    kind = (type(engine), type(getattr(engine, "rule", None)), type(getattr(engine, "solver", None)))
    if kind not in _PACES:
        draws = getattr(engine, "draws", False) or getattr(getattr(engine, "rule", None), "draws", True)
        _PACES[kind] = Pace() if compilable(engine) and not draws else None
    return _PACES[kind]


def decide(engine: Any, t: int, rng: Callable[[], Any], out: Ints, met: Met) -> int:
    """`select` in machine code if it is ready, else in plain Python. ``rng`` makes the generator if one is needed."""
    if met.engine is engine and met.select is not None:
        return met.select(engine, t, None, out)
    pace = _pace(engine)
    if pace is not None and pace.select is not None:
        size: int = pace.select(engine, t, None, out)
        met.note(engine, pace)
        return size
    started = time.perf_counter()
    # Infinite indices are intended. Compiled code does not warn of them either.
    with np.errstate(all="ignore"):
        size = select(engine, t, rng() if pace is None else None, out)
    if pace is not None:
        pace.add(time.perf_counter() - started, engine)
    return size


def take(engine: Any, arms: Ints, outcomes: Floats, played: int, met: Met) -> None:
    """`learn` in machine code if it is ready, else in plain Python. Both arrays are contiguous."""
    if met.engine is engine and met.learn is not None:
        met.learn(engine, arms, outcomes, played)
        return
    pace = _pace(engine)
    if pace is not None and pace.learn is not None:
        pace.learn(engine, arms, outcomes, played)
        met.note(engine, pace)
        return
    started = time.perf_counter()
    learn(engine, arms, outcomes, played)
    if pace is not None:
        pace.add(time.perf_counter() - started, engine)


def take_run(engine: Any, run: Run, begin: int, pushes: int) -> int:
    """`_learn_run` in machine code if it is ready, else in plain Python."""
    pace = _pace(engine)
    if pace is not None and pace.learn_run is not None:
        return pace.learn_run(engine, run, begin, pushes)
    started = time.perf_counter()
    done = _learn_run(engine, run, begin, pushes)
    if pace is not None:
        pace.add(time.perf_counter() - started, engine)
    return done


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_COMPILING.acquire, after_in_parent=_COMPILING.release, after_in_child=_COMPILING.release
    )
