"""Runs in processes of this machine: this one and some helpers, which take runs from one list until it is empty.

A helper gets the list once, when it starts, and lives as long as the plan. Nothing is sent for a run: its number comes
from a shared counter, its result goes to disk. This process plays too, so a plan that is done before the helpers have
started does not wait for them.

Where it is safe, a helper is a copy of this process (fork). It then has all modules and machine code at once. A new
process (spawn) needs about a second of CPU time for them.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import pickle
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from typing import Any

from rising_bandits.errors import RisingBanditsError
from rising_bandits.experiments.playing import Progress, execute, interrupt_heard
from rising_bandits.experiments.spec import RunSpec, sharing_tasks
from rising_bandits.experiments.store import ResultStore
from rising_bandits.experiments.workers import WORKING, begin_worker, deaf, stopping

_KILLED = (
    "a worker process was killed, perhaps for lack of memory; the same command goes on from the last checkpoints, with "
    "--workers for fewer at a time"
)


@dataclass(frozen=True)
class _Board:
    """What the processes of a plan share. Process 0 is the one that was asked to run the plan."""

    runs: list[tuple[int, RunSpec]]
    """The runs with their positions in the plan, in the order in which they begin."""
    store: ResultStore
    version: str
    checkpoint_seconds: float
    lock: Any
    """Held while a process takes a run."""
    stop: Any
    """An event: set when all shall save their runs and end."""
    taken: Any
    """One number: how many runs were taken."""
    busy: Any
    """For each process, whether it has a run."""
    played: Any
    """For each run, how many rounds are played."""

    def take(self, process: int, stopped: Callable[[], bool]) -> int | None:
        """The next run for a process, or None if there is none left or all shall stop."""
        # A process may have been killed with the lock in its hands. Others must still notice that they shall stop.
        while not self.lock.acquire(timeout=0.1):
            if stopped():
                return None
        try:
            taken = int(self.taken[0])
            self.busy[process] = taken < len(self.runs) and not self.stop.is_set()
            self.taken[0] += self.busy[process]
            return taken if self.busy[process] else None
        finally:
            self.lock.release()

    def work(self, process: int, look: Callable[[], None], stopped: Callable[[], bool]) -> None:
        """Play runs until none is left or all shall stop. ``look`` is called now and then."""
        while (place := self.take(process, stopped)) is not None:

            def report(rounds: int, place: int = place) -> None:
                self.played[place] = rounds
                look()

            with WORKING:
                finished = execute(
                    self.runs[place][1],
                    self.store,
                    self.version,
                    progress=report,
                    stopping=stopped,
                    checkpoint_seconds=self.checkpoint_seconds,
                )
            if not finished:
                return


def _context(todo: list[tuple[int, RunSpec]]) -> Any:
    """How helpers start: as copies of this process where that is safe, else as new processes.

    A copy has only the thread that made it. A lock that another thread held stays locked in the copy for ever. So this
    process must have one thread, and play the library's own code only: BLAS and Arrow have threads of their own and are
    made to be copied, but a library that one's own code uses may not be.
    """
    alone = sys.platform == "linux" and threading.active_count() == 1
    return multiprocessing.get_context("fork" if alone and not any(_own(spec) for _, spec in todo) else "spawn")


def _own(spec: RunSpec) -> bool:
    """Whether code of one's own takes part in a run."""
    named = [text for text in (spec.task, spec.policy, *spec.metrics) if ":" in text]
    return bool(spec.code) or any(not text.startswith("rising_bandits.") for text in named)


def _make_board(
    context: Any,
    todo: list[tuple[int, RunSpec]],
    store: ResultStore,
    version: str,
    checkpoint_seconds: float,
    workers: int,
) -> _Board:
    """A board for some processes; for one process, without memory that is shared."""
    alone = _Board(
        todo,
        store,
        version,
        checkpoint_seconds,
        threading.Lock(),
        threading.Event(),
        [0],
        [0] * workers,
        [0] * len(todo),
    )
    if workers == 1:
        return alone
    taken, busy, played = (context.Array("q", size, lock=False) for size in (1, workers, len(todo)))
    return replace(alone, lock=context.Lock(), stop=context.Event(), taken=taken, busy=busy, played=played)


def _help(board: _Board, process: int, errors: Any) -> None:
    """What a helper does from its start to its end."""
    begin_worker(board.stop)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    try:
        with sharing_tasks():
            board.work(process, lambda: None, stopping)
    except BaseException as error:
        error.add_note(traceback.format_exc())
        errors.send_bytes(_pickled(error))
        raise SystemExit(1) from None


def _pickled(error: BaseException) -> bytes:
    """An error as bytes; one that cannot be sent as it is becomes a text."""
    try:
        data = pickle.dumps(error)
        pickle.loads(data)  # some errors can be written but not read
    except Exception:
        return pickle.dumps(RisingBanditsError(f"a run failed: {type(error).__name__}: {error}"))
    return data


class _Helpers:
    """The helpers of a plan, and what went wrong with them."""

    def __init__(self, context: Any, board: _Board, count: int) -> None:
        self.board = board
        self.trouble: list[BaseException] = []
        self._all: list[tuple[Any, Any]] = []
        try:
            for process in range(1, count + 1):
                errors, sent = context.Pipe(duplex=False)
                helper = context.Process(target=_help, args=(board, process, sent))
                with deaf(), sent, warnings.catch_warnings():
                    # Python warns of threads in a process that is copied, also of those of BLAS and Arrow.
                    warnings.simplefilter("ignore", DeprecationWarning)
                    helper.start()
                self._all.append((helper, errors))
        except BaseException:
            board.stop.set()
            self.end()
            raise

    def failed(self) -> bool:
        """Whether a helper has failed or was killed."""
        for helper, errors in self._all:
            # In this order: a helper that fails says why, and ends then.
            code = helper.exitcode
            with contextlib.suppress(EOFError, OSError):
                if errors.poll():
                    self.trouble.append(pickle.loads(errors.recv_bytes()))
            if code not in (None, 0) and not self.trouble:
                self.trouble.append(RisingBanditsError(_KILLED))
        return bool(self.trouble)

    def busy(self) -> bool:
        """Whether a helper that is alive has a run."""
        return any(helper.is_alive() and self.board.busy[k] for k, (helper, _) in enumerate(self._all, 1))

    def wait(self) -> None:
        """Wait a moment, or until a helper ends."""
        wait([helper.sentinel for helper, _ in self._all if helper.is_alive()], timeout=0.1)

    def end(self) -> None:
        """Wait until no helper has a run, and end them all. Called when there is nothing left to take."""
        while self.busy():
            self.wait()
        self.failed()
        for helper, errors in self._all:
            helper.terminate()
            helper.join()
            errors.close()
        self._all.clear()


class _News:
    """Tells the caller how far the runs are; runs that have not begun or are finished are not looked at again."""

    def __init__(self, board: _Board, progress: Progress | None) -> None:
        self._board, self._progress = board, progress
        self._open: set[int] = set()
        self._known = 0

    def look(self) -> None:
        if self._progress is None:
            return
        taken = int(self._board.taken[0])
        self._open.update(range(self._known, taken))
        self._known = taken
        for place in sorted(self._open):
            number, spec = self._board.runs[place]
            rounds = int(self._board.played[place])
            self._progress(number, rounds)
            if rounds >= spec.horizon:
                self._open.discard(place)


def run_here(
    todo: list[tuple[int, RunSpec]],
    store: ResultStore,
    version: str,
    workers: int,
    progress: Progress | None,
    checkpoint_seconds: float,
) -> None:
    """Execute runs, given with their positions in the plan, in this process and ``workers - 1`` others."""
    context = _context(todo)
    board = _make_board(context, todo, store, version, checkpoint_seconds, workers)
    news = _News(board, progress)
    with interrupt_heard() as heard:
        helpers = _Helpers(context, board, workers - 1)

        def stopped() -> bool:
            return heard() or helpers.failed()

        try:
            board.work(0, news.look, stopped)
            while helpers.busy() and not stopped():
                helpers.wait()
                news.look()
        except BaseException:
            board.stop.set()
            raise
        finally:
            if stopped():
                board.stop.set()
            helpers.end()
        news.look()
        if helpers.failed():
            raise helpers.trouble[0]
        if heard():
            raise KeyboardInterrupt
