"""Helpers for pools of worker processes: how many to start, how to wait for them and how to stop them."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

from rising_bandits import _checks

WORKING = threading.Lock()
"""A worker process holds this lock while it works, so that it does not exit in the middle of a write."""

_alone = threading.Event()
"""Set in a worker process once its parent is gone."""
_asked: list[Any] = []
"""The event by which the parent asks this worker process to stop."""


def count_workers(wanted: int | None) -> int:
    """The number of workers: as wanted, or one for each core that this process may use."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return _checks.integer("workers", available if wanted is None else wanted, low=1)


def wait_for(futures: Iterable[Future[Any]], stop: Any, look: Callable[[], None]) -> None:
    """Wait until all futures are done, and call ``look`` at least ten times a second.

    After Ctrl-C or a failed run the event ``stop`` is set, which asks the other workers to save their runs and stop.
    Then the error is raised again.
    """
    pending = set(futures)
    try:
        while pending:
            done, pending = wait(pending, timeout=0.1, return_when=FIRST_COMPLETED)
            look()
            for future in done:
                future.result()
    except BaseException:
        stop.set()
        for future in pending:
            future.cancel()
        raise


@contextlib.contextmanager
def deaf() -> Iterator[None]:
    """Threads and processes that are started here do not hear Ctrl-C.

    A terminal sends Ctrl-C to all processes of a command. Workers must not die of it: this process asks them to stop.
    """
    if not hasattr(signal, "pthread_sigmask"):  # pragma: no cover - this system has no such masks
        yield
        return
    from multiprocessing import resource_tracker

    # Python starts this process with the first worker, and then hears Ctrl-C again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def begin_worker(stop: Any) -> None:
    """Prepare this worker process: it will stop when its parent sets the event ``stop`` or is gone."""
    # Ctrl-C is handled by the parent, which asks the workers to stop; it must not kill the workers directly.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A copy of the parent has its handlers, too; it must end when it is told to.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    _asked[:] = [stop]
    threading.Thread(target=_end_with_parent, daemon=True).start()


def stopping() -> bool:
    """Whether this worker process should save its run and return: its parent asked for it, or is gone."""
    return _alone.is_set() or any(stop.is_set() for stop in _asked)


def _end_with_parent() -> None:
    """Wait for the parent process to end, then end this one."""
    # A worker waits for its next task on a pipe that it holds open itself. If the parent is killed, the pipe is never
    # closed, and without this thread the worker would wait forever.
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        _alone.set()
        with WORKING:
            os._exit(1)
