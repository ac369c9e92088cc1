"""Runs on any executor, also of other machines.

A worker gets all it needs with the call and returns all it made: it reads and writes no shared folder. A run is played
in legs of some seconds. After each leg its state comes back and is stored here, and the next leg may be played by any
worker. So the loss of a worker costs at most one leg, and the executor need not know anything about runs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass, replace
from typing import Any

from rising_bandits.errors import RisingBanditsError
from rising_bandits.experiments import identity, own_code, store
from rising_bandits.experiments.metrics import measure
from rising_bandits.experiments.playing import Progress, begin, interrupt_heard, saves, stretch_after
from rising_bandits.experiments.spec import RunSpec
from rising_bandits.experiments.store import ResultStore
from rising_bandits.experiments.stored import columns_of, describe
from rising_bandits.experiments.workers import WORKING
from rising_bandits.problems import user_files

LEG_SECONDS = 5.0
"""How long a leg takes at most. Ctrl-C waits as long for the legs under way."""
TRIES = 5
"""How often a leg is sent again if its worker was lost."""


@dataclass(frozen=True)
class Leg:
    """What a worker needs to play a part of a run."""

    spec: RunSpec
    """The run."""
    state: dict[str, Any] | None
    """Where it was, or None for the first round."""
    sources: dict[str, bytes]
    """The sources of modules of one's own that take part, and the files beside them that they name."""
    files: tuple[bytes, ...]
    """The contents of files of one's own from which the task is read."""
    numbers: str
    """The hash of the library's sources that decide numbers."""
    version: str
    """The version to note."""
    seconds: float
    """How long to play at most."""


@dataclass(frozen=True)
class Played:
    """What a worker made of a leg."""

    rounds: int
    """How many rounds of the run are played."""
    state: dict[str, Any] | None
    """The state of a run that goes on."""
    columns: dict[str, Any] | None = None
    """The numbers of a finished run."""
    meta: dict[str, Any] | None = None
    """The facts of a finished run."""


def play_leg(leg: Leg) -> Played:
    """Play a part of a run. Called in a worker.

    Parameters
    ----------
    leg
        The run, where it was, and how long to play.

    Raises
    ------
    RisingBanditsError
        The worker has another version of the library, or the run cannot be played.
    """
    if leg.numbers != store.NUMBERS_HASH:
        raise RisingBanditsError("a worker has another version of rising-bandits than this process; install the same")
    # One leg at a time in a process: runs of one task share its solver's memory.
    with WORKING:
        identity.unpack(leg.sources)
        user_files.give(leg.files)
        try:
            return _play(leg)
        except OSError as error:
            # It must not look like the loss of a worker.
            raise RisingBanditsError(f"{leg.spec.key} failed in a worker: {error}{_advice(leg, error)}") from error


def _play(leg: Leg) -> Played:
    """Play a leg whose sources and files are here."""
    simulation = begin(leg.spec, leg.state)
    until = time.monotonic() + leg.seconds if saves(simulation.policy) else math.inf
    stretch = 200
    while not simulation.done:
        started = time.monotonic()
        simulation.advance(stretch)
        stretch = stretch_after(stretch, time.monotonic() - started)
        # Checked at the end: however short the time, every leg moves on.
        if time.monotonic() >= until:
            break
    rounds = simulation.next_round - 1
    if not simulation.done:
        return Played(rounds, simulation.state())
    run = simulation.result()
    metrics = measure(run, leg.spec.metrics, leg.spec.trust)
    meta = describe(leg.spec, run, leg.version, leg.numbers, metrics)
    return Played(rounds, None, columns_of(run), meta)


def _advice(leg: Leg, error: OSError) -> str:
    """What to do if a worker does not have a file that one's own module reads."""
    if not leg.sources or not isinstance(error, FileNotFoundError):
        return ""
    return (
        "; workers have the files in your module's folder that it names, so read them relative to it, as in "
        "Path(__file__).with_name('data.csv')"
    )


def relay(
    executor: Executor,
    work: Callable[[Any], Any],
    first: Mapping[int, Any],
    received: Callable[[int, Any], Any | None],
    *,
    at_once: int,
    patience: float,
) -> None:
    """Have jobs done in legs by an executor.

    Parameters
    ----------
    executor
        Any executor.
    work
        The function that does a leg; it must be importable by the workers.
    first
        The first leg of each job.
    received
        Called with the number of a job and what ``work`` returned; returns the next leg, or None if the job is done.
    at_once
        How many legs are with the executor at a time.
    patience
        How many seconds Ctrl-C waits for the legs under way.
    """
    waiting = list(first.items())[::-1]
    under_way: dict[Future[Any], tuple[int, Any, int]] = {}

    def send(number: int, leg: Any, tries: int) -> None:
        try:
            under_way[executor.submit(work, leg)] = (number, leg, tries)
        except (BrokenExecutor, RuntimeError) as error:
            raise _lost(error) from None

    def take(future: Future[Any], *, go_on: bool) -> None:
        number, leg, tries = under_way.pop(future)
        try:
            answer = future.result()
        except RisingBanditsError:
            raise
        except (BrokenExecutor, CancelledError, OSError) as error:
            raise _lost(error) from None
        except Exception as error:
            if type(error).__name__ != "KilledWorker":
                raise
            if tries >= TRIES:
                raise RisingBanditsError(f"workers died {TRIES} times at run {number}: {error}") from None
            send(number, leg, tries + 1)
            return
        following = received(number, answer)
        if following is not None and go_on:
            send(number, following, 1)

    with interrupt_heard() as stopped:
        try:
            while (waiting or under_way) and not stopped():
                while waiting and len(under_way) < at_once:
                    number, leg = waiting.pop()
                    send(number, leg, 1)
                done, _ = wait(under_way, timeout=0.1, return_when=FIRST_COMPLETED)
                for future in done:
                    take(future, go_on=not stopped())
            if stopped():
                _gather(under_way, take, patience)
                raise KeyboardInterrupt
        finally:
            for future in under_way:
                future.cancel()


def _gather(under_way: dict[Future[Any], Any], take: Callable[..., None], patience: float) -> None:
    """After Ctrl-C: keep what the legs under way have made, as far as they end in time."""
    for future in [future for future in under_way if future.cancel()]:
        del under_way[future]
    until = time.monotonic() + patience
    while under_way and time.monotonic() < until:
        done, _ = wait(under_way, timeout=0.1, return_when=FIRST_COMPLETED)
        for future in done:
            take(future, go_on=False)


def _lost(error: BaseException) -> RisingBanditsError:
    return RisingBanditsError(
        f"the workers are gone ({type(error).__name__}: {error}); the same command goes on from the last checkpoints"
    )


def run_remote(
    executor: Executor,
    todo: list[tuple[int, RunSpec]],
    results: ResultStore,
    version: str,
    workers: int | None,
    progress: Progress | None,
    checkpoint_seconds: float,
) -> None:
    """Execute runs, given with their positions in the plan, on an executor; results and checkpoints are stored here."""
    packed: dict[str, dict[str, bytes]] = {}
    files: dict[str, tuple[bytes, ...]] = {}
    first: dict[int, Leg] = {}
    seconds = min(LEG_SECONDS, checkpoint_seconds)
    for number, spec in todo:
        if spec.code and spec.code not in packed:
            packed[spec.code] = own_code.bundle(spec.own_modules())
        state = results.read_partial(spec)
        if spec.task not in files:
            files[spec.task] = identity.files_of_task(spec.task)
        own = packed.get(spec.code, {})
        first[number] = Leg(spec, state, own, files[spec.task], store.NUMBERS_HASH, version, seconds)
    specs = dict(todo)

    def received(number: int, played: Played) -> Leg | None:
        spec = specs[number]
        if progress is not None:
            progress(number, played.rounds)
        if played.columns is not None and played.meta is not None:
            results.write_columns(spec, played.columns, played.meta)
            return None
        if played.state is not None:
            results.write_partial(spec, played.state)
        return replace(first[number], state=played.state)

    relay(executor, play_leg, first, received, at_once=places(executor, workers), patience=2.0 * seconds + 5.0)


def places(executor: Executor, workers: int | None) -> int:
    """How many legs to hand to an executor at a time: two for each of its workers, so that none waits."""
    known = workers or getattr(executor, "_max_workers", None) or getattr(executor, "rising_workers", None)
    return 2 * known if isinstance(known, int) and known > 0 else 128
