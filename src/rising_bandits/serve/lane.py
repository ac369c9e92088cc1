"""A lane: one thread that does the work of one study, so that a slow study holds up no other."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
_LOGGER = logging.getLogger(__name__)


class Lane(Generic[T]):
    """One thread, and what waits for it. The thread begins with the first piece of work.

    Parameters
    ----------
    name
        The name of the thread.
    work
        A function that does some pieces of work: all that wait, up to ``most``.
    last
        A function that the thread calls when the lane has ended and everything before is done.
    most
        How many pieces are done together at most.

    >>> done = []
    >>> lane = Lane("example", done.extend, lambda: done.append("end"), most=10)
    >>> for piece in "abc":
    ...     lane.put(piece)
    >>> lane.end()
    >>> lane.wait()
    >>> done
    ['a', 'b', 'c', 'end']
    """

    def __init__(
        self, name: str, work: Callable[[list[T]], object], last: Callable[[], object], *, most: int = 1
    ) -> None:
        self._name, self._work, self._last, self._most = name, work, last, most
        self._queue: queue.SimpleQueue[T | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._ended = False

    def put(self, piece: T) -> None:
        """Add a piece of work. Call this and `end` from one thread only, and put nothing after the end."""
        self._queue.put(piece)
        if self._thread is None:
            self._begin()

    def end(self) -> None:
        """Do what waits, and then no more."""
        if not self._ended:
            self._ended = True
            self._queue.put(None)
            if self._thread is None:
                self._begin()

    def wait(self) -> None:
        """Wait until the thread has ended."""
        if self._thread is not None:
            self._thread.join()

    def _begin(self) -> None:
        """Start the thread. It does not keep a program alive that ends without ending its lanes."""
        self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        """Do piece after piece, until the end."""
        more = True
        while more:
            piece = self._queue.get()
            pieces: list[T] = []
            with contextlib.suppress(queue.Empty):
                while piece is not None:
                    pieces.append(piece)
                    if len(pieces) == self._most:
                        break
                    piece = self._queue.get_nowait()
            more = piece is not None
            if pieces:
                self._guarded(self._work, pieces)
        self._guarded(self._last)

    def _guarded(self, work: Callable[..., object], *given: object) -> None:
        """Do something. The thread outlives an error of it."""
        try:
            work(*given)
        except Exception:
            _LOGGER.exception("%s failed", self._name)
