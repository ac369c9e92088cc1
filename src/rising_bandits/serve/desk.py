"""A desk: one study in memory, and the requests that wait for it.

All writes of a study go through its desk, one batch at a time. A batch is one transaction. The requests that come while
it is being stored are the next batch. Reports read through a connection of their own, so a long one does not hold up
decisions. Each desk has threads of its own, one that writes and one that reads, so a slow study holds up no other.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeVar

from rising_bandits.errors import RisingBanditsError, StorageError, StudyGoneError
from rising_bandits.serve.labels import Texts
from rising_bandits.serve.lane import Lane
from rising_bandits.serve.problems import Refused
from rising_bandits.studies import Study

T = TypeVar("T")
Work = Callable[[Study, Texts], T]
"""What is done with a study."""
MOST_TOGETHER = 256
"""How many requests share a transaction at most."""

_NOBODY_WAITS = Refused(503, "nobody waits for this request any longer")
"""The answer to a request that was given up before it was begun."""


def _texts(known: Texts | None, study: Study) -> Texts:
    """The texts of the labels of the present problem: those that are known, if they still are."""
    labels = study.problem.labels
    return known if known is not None and known.labels == labels else Texts(labels)


class _Item:
    """A request that waits."""

    __slots__ = ("author", "future", "told", "work")

    def __init__(
        self, work: Work[Any], future: asyncio.Future[Any], author: str | None = None, told: float = math.inf
    ) -> None:
        self.work, self.future, self.author, self.told = work, future, author, told


_told = attrgetter("told")


class Desk:
    """One study in memory, and the requests that wait for it.

    Parameters
    ----------
    name
        The name of the study.
    make
        A function that opens the study, with a connection of its own.
    waiting
        How many requests may wait.
    written
        A function that is called, in the event loop, after a batch was stored.
    """

    def __init__(self, name: str, make: Callable[[], Study], waiting: int, written: Callable[[Desk], None]) -> None:
        self.name, self._make, self._most, self._written = name, make, waiting, written
        self._loop = asyncio.get_running_loop()
        self._writer: Lane[_Item] = Lane("rising-write", self._store, self._end_writing, most=MOST_TOGETHER)
        self._reader: Lane[_Item] = Lane("rising-read", self._look, self._end_reading)
        self._study: Study | None = None
        self._reading: Study | None = None
        self._texts: Texts | None = None
        self._read_texts: Texts | None = None
        self._waiting = 0
        self._closed = False
        self.users = 0
        """How many requests use the desk now."""
        self.version = 0
        """How many batches were stored here."""

    # -- requests, in the event loop

    def write(self, work: Work[T], author: str | None = None, told: float = math.inf) -> asyncio.Future[T]:
        """Do something with the study in the next transaction. The result is there when it is stored.

        Parameters
        ----------
        work
            What is done.
        author
            Who does it, see `Study.author`; None if nobody is to be named.
        told
            The decision whose outcomes it tells. In a batch, tells come first, those of the oldest decisions before
            others: the policy learns decisions in the order of their asks, and has to learn again what came before.
        """
        return self._put(self._writer, work, author, told)

    def read(self, work: Work[T]) -> asyncio.Future[T]:
        """Look something up in the study, beside its decisions."""
        return self._put(self._reader, work)

    def _put(
        self, lane: Lane[_Item], work: Work[T], author: str | None = None, told: float = math.inf
    ) -> asyncio.Future[T]:
        """Let a thread do something."""
        if self._closed:
            raise StudyGoneError(f"study {self.name!r} was closed here")
        if self._waiting >= self._most:
            raise Refused(503, f"{self._most} requests wait for this study already", {"Retry-After": "1"})
        self._waiting += 1
        future: asyncio.Future[T] = self._loop.create_future()
        lane.put(_Item(work, future, author, told))
        return future

    def _answer(self, items: list[_Item], answers: list[Any], written: bool) -> None:
        """Hand the answers to those who wait."""
        self._waiting -= len(items)
        for item, answer in zip(items, answers, strict=True):
            if item.future.cancelled():
                continue
            if isinstance(answer, BaseException):
                item.future.set_exception(answer)
            else:
                item.future.set_result(answer)
        if written:
            self.version += 1
            self._written(self)

    # -- threads

    def _hand_over(self, items: list[_Item], answers: list[Any], *, written: bool = False) -> None:
        """Let the event loop answer."""
        # There is no loop any more if the service ended without waiting.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._answer, items, answers, written)

    def _store(self, batch: list[_Item]) -> None:
        """Do a batch."""
        batch.sort(key=_told)
        answers = self._together(batch)
        self._hand_over(batch, answers, written=any(not isinstance(answer, BaseException) for answer in answers))

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
        if self._study is None:
            self._study = self._make()
        study = self._study
        answers: list[Any] = []
        with study.group():
            texts = self._texts = _texts(self._texts, study)
            for item in batch:
                if item.future.cancelled():
                    answers.append(_NOBODY_WAITS)
                    continue
                if study.author != item.author:
                    study.author = item.author
                try:
                    answers.append(item.work(study, texts))
                except StorageError:
                    raise
                except RisingBanditsError as error:
                    answers.append(error)
        return answers

    def _look(self, batch: list[_Item]) -> None:
        """Look things up."""
        for item in batch:
            answer: Any = _NOBODY_WAITS
            try:
                if self._reading is None:
                    self._reading = self._make()
                self._read_texts = _texts(self._read_texts, self._reading)
                if not item.future.cancelled():
                    answer = item.work(self._reading, self._read_texts)
            except BaseException as error:
                answer = error
            self._hand_over([item], [answer])

    def _end_writing(self) -> None:
        """Close the connection that writes."""
        if self._study is not None:
            self._study.close()
            self._study = None

    def _end_reading(self) -> None:
        """Close the connection that reads."""
        if self._reading is not None:
            self._reading.close()
            self._reading = None

    # -- lifetime

    @property
    def busy(self) -> bool:
        """Whether a request uses it or waits."""
        return self.users > 0 or self._waiting > 0

    def close(self) -> None:
        """Do what waits, then close the connections. Does not wait for that."""
        self._closed = True
        self._writer.end()
        self._reader.end()

    def wait(self) -> None:
        """Wait until the connections are closed."""
        self._writer.wait()
        self._reader.wait()
