"""What pools of worker processes have in common: how many there are, and how they are waited for and stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

from rising_bandits import _checks


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
