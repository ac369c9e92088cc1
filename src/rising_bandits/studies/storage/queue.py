"""The queue before a SQLite file: processes that want to write take their turns in the order in which they came.

SQLite itself lets waiting processes try again at random, so that some wait for seconds under load. Here each takes a
ticket from a small file beside the database and waits until its ticket is called. The queue only orders those who
wait. It protects nothing: that is done by the lock of SQLite. So a ticket whose owner died or is stuck may be skipped.

To change the process at every call would take longer than the calls. So a process that calls without a pause keeps its
turn for a while, `KEEP` seconds if others wait. It loses it as soon as it pauses for `PAUSE` seconds.
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
_SIZE = 8 * (3 + _OWNERS)
_CALLED, _NEXT, _PAUSED = 0, 1, 2 + _OWNERS
"""Numbers of the file: the ticket whose turn it is, the next one to be taken, and since when its owner makes no call.

The last one is a time of the monotonic clock in nanoseconds, 0 during a call.
"""
KEEP = 0.008
"""Seconds for which a process that calls without a pause keeps its turn while others wait.

When the turn changes, the next process first learns what this one wrote. The longer the turns, the less of the time
goes into that, and the longer the others wait.
"""
MORE = 0.001
"""Seconds by which a turn may be longer so that a call can follow that is expected at once."""
AHEAD = 0.002
"""Seconds after which the first in line look again at what was written."""
FIRST = 2
"""How many are the first in line. With one alone, learning what the others wrote would take as long as a turn."""
PAUSE = 0.0002
"""Seconds without a call after which the turn goes to the next in line."""
_NEAR, _FAR = 25e-6, 0.0005
"""Seconds of sleep before looking again: as the next in line, and for each further place."""
_LONG_TURN, _LATER = 0.0005, 200e-6
"""In a turn that has lasted so many seconds, the next in line sleeps so long. It is likely to last up to `KEEP`."""
_LONGEST = 0.002
"""The longest sleep before looking again."""
_LOOK_AFTER = 0.003
"""Seconds without a call after which it is checked that the owner of the ticket is alive."""
_SKIP_AFTER = 0.25
"""Seconds without a call after which a ticket is skipped, whoever owns it."""
_KEPT: dict[str, Queue] = {}
"""By the file, the queue of this process that was the last to keep its turn."""


class Queue:
    """The queue of one database file, as one connection uses it. Where it cannot be made, nobody waits."""

    def __init__(self, database: Path) -> None:
        self._path = str(database.with_name(database.name + SUFFIX))
        self._handle = -1
        self._map: mmap.mmap | None = None
        self._words: memoryview | None = None
        self._ticket = -1
        self._since = self._left = 0.0
        """When the turn began, and when the last call ended, by the monotonic clock."""
        self._quick = False
        """Whether the turn began a moment after the last call had ended."""
        self._until = KEEP
        """Seconds after which the turn ends if others wait."""

    def enter(self, timeout: float, ahead: Callable[[], None] | None = None) -> bool:
        """Wait for the turn.

        Parameters
        ----------
        timeout
            The most seconds to wait.
        ahead
            Called every `AHEAD` seconds by the first in line, while they wait.

        Returns
        -------
        bool
            False if the turn did not come in time.
        """
        words = self._open()
        now = time.monotonic()
        if (other := _KEPT.get(self._path)) is not self and other is not None:
            other._give_way()
        if self._ticket >= 0:
            if words is not None and self._goes_on(words, now):
                return True
            self.release()
        self._quick = now - self._left < PAUSE
        self._since = now
        if words is None or not self._take(words) or words[_CALLED] >= self._ticket:
            return True
        return self._wait(words, timeout, ahead)

    def _goes_on(self, words: memoryview, now: float) -> bool:
        """Whether the turn of the last call goes on. It does not if that call was interrupted before it could leave."""
        if not words[_PAUSED] or words[_CALLED] != self._ticket:
            return False
        if words[_NEXT] == self._ticket + 1:
            self._since = now
        elif now - self._since > self._until:
            return False
        words[_PAUSED] = 0
        # Another process may have taken the turn in this moment.
        return words[_CALLED] == self._ticket

    def _wait(self, words: memoryview, timeout: float, ahead: Callable[[], None] | None) -> bool:
        """Wait until the ticket is called; False if it was not called in time."""
        ticket, called = self._ticket, words[_CALLED]
        started = seen = looked = time.monotonic()
        looked -= AHEAD
        while (now := time.monotonic()) - started < timeout:
            before, called = called, words[_CALLED]
            if called >= ticket:
                self._since = now
                return True
            if called != before:
                seen = now
            elif (paused := words[_PAUSED]) and not -PAUSE < now - paused / 1e9 < PAUSE:
                self._call(words, called)
                continue
            elif now - seen > _LOOK_AFTER and (now - seen > _SKIP_AFTER or not _alive(words[2 + called % _OWNERS])):
                self._call(words, called)
                seen = now
                continue
            if ahead is not None and ticket - called <= FIRST and now - looked >= AHEAD:
                ahead()
                looked = now
                continue
            near = _NEAR if now - seen < _LONG_TURN else _LATER
            time.sleep(min(near + _FAR * (ticket - called - 1), _LONGEST))
        return False

    def _call(self, words: memoryview, called: int) -> None:
        """Call the next ticket in place of the owner of one, if nobody else has."""
        if words[_CALLED] == called:
            words[_PAUSED] = 0
            words[_CALLED] = called + 1

    def leave(self, *, more: bool = False) -> None:
        """End a call. The turn is kept if the last call was a moment ago, so that the next one can be expected soon.

        ``more`` says that the next call belongs to this one, and should come before those of others.
        """
        words, ticket = self._words, self._ticket
        if ticket < 0 or words is None:
            return
        self._left = now = time.monotonic()
        waited = words[_NEXT] != ticket + 1
        self._until = KEEP + MORE if more else KEEP
        if self._quick and words[_CALLED] == ticket and not (waited and now - self._since > self._until):
            words[_PAUSED] = int(now * 1e9)
            if _KEPT.get(self._path) is not self:
                _KEPT[self._path] = self
        else:
            self.release()

    def release(self) -> None:
        """Call the next ticket. One who gave up waiting only gives the ticket back: others still come before it."""
        ticket, self._ticket = self._ticket, -1
        if _KEPT.get(self._path) is self:
            _KEPT.pop(self._path, None)
        words = self._words
        if ticket < 0 or words is None:
            return
        if words[_CALLED] == ticket:
            words[_PAUSED] = 0
            words[_CALLED] = ticket + 1
        elif words[_CALLED] < ticket:
            words[2 + ticket % _OWNERS] = 0

    def _give_way(self) -> None:
        """Give the turn up for another connection of this process, unless a call is under way."""
        # Another thread may close the file in this moment.
        with contextlib.suppress(ValueError):
            if self._words is not None and self._words[_PAUSED]:
                self.release()

    def close(self) -> None:
        """Leave the queue and close its file."""
        with contextlib.suppress(ValueError):
            self.release()
        self.forget()

    def forget(self) -> None:
        """Close the file without leaving the queue: in a fork, the ticket belongs to the parent."""
        if _KEPT.get(self._path) is self:
            _KEPT.pop(self._path, None)
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


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_KEPT.clear)
