"""A desk: one study in memory, and the requests that wait for it.

All writes of a study go through its desk, one batch at a time. A batch is one transaction. The requests that come while
it is being stored are the next batch. Reports read through a connection of their own, so a long one does not hold up
decisions.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from typing import Any, TypeVar

from rising_bandits.errors import RisingBanditsError, StorageError
from rising_bandits.serve.labels import Texts
from rising_bandits.serve.problems import Refused
from rising_bandits.studies import Study

T = TypeVar("T")
Work = Callable[[Study, Texts], T]
"""What is done with a study."""
MOST_TOGETHER = 256
"""How many requests share a transaction at most."""


def _texts(known: Texts | None, study: Study) -> Texts:
    """The texts of the labels of the present problem: those that are known, if they still are."""
    labels = study.problem.labels
    return known if known is not None and known.labels == labels else Texts(labels)


class _Item:
    """A request that waits."""

    __slots__ = ("author", "future", "work")

    def __init__(self, work: Work[Any], author: str | None, future: asyncio.Future[Any]) -> None:
        self.work, self.author, self.future = work, author, future


class Desk:
    """One study in memory, and the requests that wait for it.

    Parameters
    ----------
    name
        The name of the study.
    make
        A function that opens the study, with a connection of its own.
    writers, readers
        Where batches and reports run.
    waiting
        How many requests may wait.
    written
        A function that is called, in the event loop, after a batch was stored.
    """

    def __init__(
        self,
        name: str,
        make: Callable[[], Study],
        writers: Executor,
        readers: Executor,
        waiting: int,
        written: Callable[[Desk], None],
    ) -> None:
        self.name, self._make, self._most = name, make, waiting
        self._writers, self._readers, self._written = writers, readers, written
        self._items: deque[_Item] = deque()
        self._running = False
        self._loop = asyncio.get_running_loop()
        self._study: Study | None = None
        self._reading: Study | None = None
        self._read_lock = threading.Lock()
        self._texts: Texts | None = None
        self._read_texts: Texts | None = None
        self.users = 0
        """How many requests use the desk now."""
        self.version = 0
        """How many batches were stored here."""

    # -- writing

    async def write(self, work: Work[T], author: str | None = None) -> T:
        """Do something with the study in the next transaction. Returns when it is stored.

        Parameters
        ----------
        work
            What is done.
        author
            Who does it, see `Study.author`; None if nobody is to be named.
        """
        if len(self._items) >= self._most:
            raise Refused(503, f"{self._most} requests wait for this study already", {"Retry-After": "1"})
        item = _Item(work, author, self._loop.create_future())
        self._items.append(item)
        if not self._running:
            self._running = True
            self._writers.submit(self._drain)
        result: T = await item.future
        return result

    def _drain(self) -> None:
        """Do all that waits, batch by batch. Runs in a thread; never twice at the same time."""
        while True:
            batch: list[_Item] = []
            while self._items and len(batch) < MOST_TOGETHER:
                batch.append(self._items.popleft())
            # A request that nobody waits for any longer is not begun.
            batch = [item for item in batch if not item.future.cancelled()]
            answers = self._together(batch) if batch else []
            self._loop.call_soon_threadsafe(self._answer, batch, answers)
            if not self._items:
                # The event loop decides whether to go on, so that no request is left behind.
                self._loop.call_soon_threadsafe(self._go_on)
                return

    def _go_on(self) -> None:
        """Begin the next batch if requests came in the meantime."""
        if self._items:
            self._writers.submit(self._drain)
        else:
            self._running = False

    def _answer(self, batch: list[_Item], answers: list[Any]) -> None:
        """Hand the answers to those who wait, in the event loop."""
        for item, answer in zip(batch, answers, strict=True):
            if item.future.cancelled():
                continue
            if isinstance(answer, BaseException):
                item.future.set_exception(answer)
            else:
                item.future.set_result(answer)
        if any(not isinstance(answer, BaseException) for answer in answers):
            self.version += 1
            self._written(self)

    def _together(self, batch: list[_Item]) -> list[Any]:
        """The results or the errors of a batch, after it was stored."""
        try:
            return self._group(batch)
        except RisingBanditsError as error:
            return [error] * len(batch)
        except BaseException as error:
            if len(batch) == 1:
                return [error]
            # One of them has an error that nobody foresaw. Nothing was stored, so each is tried alone.
            return [answer for item in batch for answer in self._together([item])]

    def _group(self, batch: list[_Item]) -> list[Any]:
        """Do a batch in one transaction."""
        study = self._opened()
        answers: list[Any] = []
        with study.group():
            texts = self._texts = _texts(self._texts, study)
            for item in batch:
                study.author = item.author
                try:
                    answers.append(item.work(study, texts))
                except StorageError:
                    raise
                except RisingBanditsError as error:
                    answers.append(error)
        return answers

    def _opened(self) -> Study:
        """The study that writes; opened when it is first needed."""
        if self._study is None:
            self._study = self._make()
        return self._study

    # -- reading

    async def read(self, work: Work[T]) -> T:
        """Look something up in the study, beside its decisions."""
        return await self._loop.run_in_executor(self._readers, self._look, work)

    def _look(self, work: Work[T]) -> T:
        """Look something up. Runs in a thread."""
        with self._read_lock:
            if self._reading is None:
                self._reading = self._make()
            self._read_texts = _texts(self._read_texts, self._reading)
            return work(self._reading, self._read_texts)

    # -- lifetime

    @contextlib.contextmanager
    def used(self) -> Iterator[Desk]:
        """Keep the desk open during a block."""
        self.users += 1
        try:
            yield self
        finally:
            self.users -= 1

    @property
    def busy(self) -> bool:
        """Whether a request uses it or waits."""
        return self.users > 0 or self._running or bool(self._items)

    def close(self) -> None:
        """Close the connections."""
        for study in (self._study, self._reading):
            if study is not None:
                study.close()
        self._study = self._reading = None
