"""What pools of worker processes have in common: how many there are, and how they are waited for and stopped."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

from rising_bandits import _checks

WORKING = threading.Lock()
"""Held by a worker process while it works, so that it does not end in the middle of a write."""

_alone = threading.Event()
_asked: list[Any] = []


def count_workers(wanted: int | None) -> int:
    """As many as wanted, by default one a core that this process may use."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return _checks.integer("workers", available if wanted is None else wanted, low=1)


def wait_for(futures: Iterable[Future[Any]], stop: Any, look: Callable[[], None]) -> None:
    """Wait until all are done, and ``look`` every now and then.

    After Ctrl-C or a failed run, the event ``stop`` tells the others to save where they are before the error goes on.
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


def begin_worker(stop: Any) -> None:
    """Prepare this process for work until ``stop``, an event of its parent, is set or the parent is gone."""
    # The parent hears Ctrl-C and asks the workers to stop; they must not die of it themselves.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _asked[:] = [stop]
    threading.Thread(target=_end_with_parent, daemon=True).start()


def stopping() -> bool:
    """Whether a worker should save and return: asked to, or left alone by a parent that was killed."""
    return _alone.is_set() or any(stop.is_set() for stop in _asked)


def _end_with_parent() -> None:
    # A worker of a pool waits for its next task on a pipe that it could write to itself: when the
    # parent is killed the pipe never closes, and without this the process would sleep forever.
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        _alone.set()
        with WORKING:
            os._exit(1)
