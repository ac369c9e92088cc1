"""Forks: a fork waits for the transactions of all threads, because a child must not begin in the middle of one."""

from __future__ import annotations

import os
import threading
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


def _before() -> None:
    for storage in sorted(_ALL, key=id):
        lock = storage.lock
        lock.acquire()
        _HELD.append(lock)


def _in_parent() -> None:
    while _HELD:
        _HELD.pop().release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_HELD.clear)
