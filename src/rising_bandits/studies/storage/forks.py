"""Forks: a fork waits for the transactions of all threads, because a child must not begin in the middle of one."""

from __future__ import annotations

import os
import threading
import time
import weakref
from typing import Protocol


class Locked(Protocol):
    """Something with a lock that a thread holds during a transaction."""

    @property
    def lock(self) -> threading.RLock:
        """The lock."""


_ALL: weakref.WeakSet[Locked] = weakref.WeakSet()
_HELD: list[threading.RLock] = []


def watch(storage: Locked) -> None:
    """Make forks wait for the transactions of a storage."""
    _ALL.add(storage)


FORKER: list[int] = []
"""The thread that is about to fork, if there is one."""
_PAUSE = 0.001
"""Seconds after which a call that waits for a fork looks again."""


def let_pass(lock: threading.RLock) -> None:
    """Let a fork come first: threads that call without a pause would never leave it the lock."""
    while FORKER and FORKER[0] != threading.get_ident() and not _is_mine(lock):
        time.sleep(_PAUSE)


def _is_mine(lock: threading.RLock) -> bool:
    """Whether this thread holds a lock: only then it may notify those who wait for it, of whom there are none.

    >>> lock = threading.RLock()
    >>> with lock:
    ...     _is_mine(lock)
    True
    >>> _is_mine(lock)
    False
    """
    try:
        threading.Condition(lock).notify()
    except RuntimeError:
        return False
    return True


def _before() -> None:
    FORKER[:] = [threading.get_ident()]
    for storage in sorted(_ALL, key=id):
        lock = storage.lock
        lock.acquire()
        _HELD.append(lock)


def _in_parent() -> None:
    FORKER.clear()
    while _HELD:
        _HELD.pop().release()


def _in_child() -> None:
    FORKER.clear()
    _HELD.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
