"""The queue before a SQLite file: processes that want to write take their turns in the order in which they came.

SQLite itself lets waiting processes try again at random, so that some wait for seconds under load. Here each takes a
ticket from a small file beside the database and waits until its ticket is called. The queue only orders those who
wait. It protects nothing: that is done by the lock of SQLite. So a ticket whose owner died or is stuck may be skipped.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import time
from collections.abc import Callable
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - there is no such lock on Windows, where SQLite alone decides
    fcntl = None  # type: ignore[assignment]

SUFFIX = "-turns"
"""The name of the queue's file is that of the database with this suffix."""
_OWNERS = 512
"""For so many of the newest tickets the file says which process has them."""
_SIZE = 8 * (2 + _OWNERS)
_CALLED, _NEXT = 0, 1
"""The first two numbers of the file: the ticket whose turn it is, and the next one to be taken."""
_NEAR, _FAR = 25e-6, 150e-6
"""Seconds of sleep before looking again: as the next in turn, and for each further place."""
_LONGEST = 0.002
"""The longest sleep before looking again."""
_LOOK_AFTER = 0.003
"""Seconds without a call after which it is checked that the owner of the ticket is alive."""
_SKIP_AFTER = 0.25
"""Seconds without a call after which a ticket is skipped, whoever owns it."""


class Queue:
    """The queue of one database file, as one connection uses it. Where it cannot be made, nobody waits."""

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(database.name + SUFFIX)
        self._handle = -1
        self._map: mmap.mmap | None = None
        self._words: memoryview | None = None
        self._ticket = -1

    def enter(self, timeout: float, ahead: Callable[[], None] | None = None) -> bool:
        """Wait for the turn.

        Parameters
        ----------
        timeout
            The most seconds to wait.
        ahead
            Called once while waiting, if there is something to wait for.

        Returns
        -------
        bool
            False if the turn did not come in time.
        """
        if self._ticket >= 0:
            # A call was interrupted before it could leave.
            self.leave()
        words = self._open()
        if words is None or not self._take(words):
            return True
        ticket = self._ticket
        called = words[_CALLED]
        if called >= ticket:
            return True
        started = seen = time.monotonic()
        while (now := time.monotonic()) - started < timeout:
            before, called = called, words[_CALLED]
            if called >= ticket:
                return True
            if called != before:
                seen = now
            elif now - seen > _LOOK_AFTER and (now - seen > _SKIP_AFTER or not _alive(words[2 + called % _OWNERS])):
                words[_CALLED] = called + 1
                seen = now
                continue
            if ahead is not None and ticket - called <= 2:
                ahead()
                ahead = None
                continue
            time.sleep(min(_NEAR + _FAR * (ticket - called - 1), _LONGEST))
        return False

    def leave(self) -> None:
        """Call the next ticket. One who gave up waiting only gives the ticket back: others still come before it."""
        ticket, self._ticket = self._ticket, -1
        words = self._words
        if ticket < 0 or words is None:
            return
        if words[_CALLED] == ticket:
            words[_CALLED] = ticket + 1
        elif words[_CALLED] < ticket:
            words[2 + ticket % _OWNERS] = 0

    def close(self) -> None:
        """Leave the queue and close its file."""
        with contextlib.suppress(ValueError):
            self.leave()
        self.forget()

    def forget(self) -> None:
        """Close the file without leaving the queue: in a fork, the ticket belongs to the parent."""
        words, found, handle = self._words, self._map, self._handle
        self._words, self._map, self._handle, self._ticket = None, None, -1, -1
        with contextlib.suppress(Exception):
            if words is not None:
                words.release()
        with contextlib.suppress(Exception):
            if found is not None:
                found.close()
        with contextlib.suppress(OSError):
            if handle >= 0:
                os.close(handle)

    def _open(self) -> memoryview | None:
        """The numbers in the file of the queue, which is made if need be; None if there can be none."""
        if self._words is None and fcntl is not None:
            try:
                self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
                if os.fstat(self._handle).st_size < _SIZE:
                    os.ftruncate(self._handle, _SIZE)
                self._map = mmap.mmap(self._handle, _SIZE)
                self._words = memoryview(self._map).cast("q")
            except (OSError, ValueError):
                self.forget()
        return self._words

    def _take(self, words: memoryview) -> bool:
        """Take a ticket. It fails if the file stays locked, which it is for microseconds only."""
        deadline = 0.0
        while True:
            try:
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                now = time.monotonic()
                deadline = deadline or now + _SKIP_AFTER
                if now > deadline:
                    return False
                time.sleep(_NEAR)
            except OSError:
                return False
        try:
            # Anything may stand in the file: it is read as if a stranger had written it.
            self._ticket = ticket = max(0, words[_NEXT], words[_CALLED]) % 2**62
            words[2 + ticket % _OWNERS] = os.getpid()
            words[_NEXT] = ticket + 1
            if ticket - words[_CALLED] > _OWNERS:
                words[_CALLED] = ticket
        finally:
            fcntl.flock(self._handle, fcntl.LOCK_UN)
        return True


def _alive(pid: int) -> bool:
    """Whether there is such a process."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
