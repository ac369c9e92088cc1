"""The hub: all studies of a storage, those in memory and those on disk."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from rising_bandits import studies
from rising_bandits.errors import InputError, StudyGoneError
from rising_bandits.serve.desk import Desk, Work
from rising_bandits.serve.limits import Limits
from rising_bandits.serve.problems import Refused, unknown
from rising_bandits.studies.storage.sql import Storage

T = TypeVar("T")
_LOGGER = logging.getLogger(__name__)
WRITERS, READERS = 8, 4
"""How many threads write and read."""


class Hub:
    """All studies of a storage.

    Parameters
    ----------
    storage
        The URL of the database.
    limits
        The limits of the service.
    power_safe
        Whether each answer waits until its data is on disk.
    """

    def __init__(self, storage: str, limits: Limits, *, power_safe: bool = False) -> None:
        self.url, self.limits, self.power_safe = storage, limits, power_safe
        self.draining = asyncio.Event()
        """Set when the service is about to end."""
        self.listeners: list[Callable[[Desk], None]] = []
        """Called after each stored batch."""
        self._storage = Storage(storage, power_safe=power_safe)
        self._writers = ThreadPoolExecutor(WRITERS, thread_name_prefix="rising-write")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="rising-read")
        # A problem can take long to make, and a probe must not wait for reports.
        self._maker = ThreadPoolExecutor(1, thread_name_prefix="rising-make")
        self._probe = ThreadPoolExecutor(1, thread_name_prefix="rising-probe")
        self._desks: OrderedDict[str, Desk] = OrderedDict()

    # -- studies

    async def run(self, work: Callable[..., T], *given: Any) -> T:
        """Run a function that waits for a database or computes for long, in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, work, *given)

    async def make(self, work: Callable[[], T]) -> T:
        """Run a function that makes a study, in a thread of its own: one after the other."""
        return await asyncio.get_running_loop().run_in_executor(self._maker, work)

    def names_now(self) -> list[str]:
        """The names of the studies. Waits for the database."""
        with self._storage.read() as reader:
            return reader.names()

    async def names(self) -> list[str]:
        """The names of the studies."""
        return await self.run(self.names_now)

    def _number(self, name: str) -> int | None:
        """The number of a study in the storage; None if it does not exist. Waits for the database."""
        with self._storage.read() as reader:
            found = reader.study(name)
        return None if found is None else found[0]

    async def desk(self, name: str) -> Desk:
        """The desk of a study.

        Raises
        ------
        Refused
            There is no such study.
        """
        desk = self._desks.get(name)
        if desk is not None:
            self._desks.move_to_end(name)
            return desk
        if not 1 <= len(name) <= 200 or await self.run(self._number, name) is None:
            raise unknown("study", name)
        if name not in self._desks:
            self._desks[name] = Desk(
                name,
                lambda: studies.open(name, storage=self.url, power_safe=self.power_safe),
                self._writers,
                self._readers,
                self.limits.waiting,
                self._written,
            )
            self._shrink()
        return self._desks[name]

    def _written(self, desk: Desk) -> None:
        """Tell the listeners that a batch was stored."""
        for listener in self.listeners:
            listener(desk)

    def _shrink(self) -> None:
        """Close the desks that were not used for the longest time, if there are too many."""
        idle = [name for name, desk in self._desks.items() if not desk.busy]
        for name in idle[: max(0, len(self._desks) - self.limits.open)]:
            self._readers.submit(self._desks.pop(name).close)

    async def write(self, name: str, work: Work[T], author: str | None = None) -> T:
        """Do something with a study in its next transaction; ``author`` is who changes it, if it is a change."""
        return await self._with(name, lambda desk: desk.write(work, author))

    async def read(self, name: str, work: Work[T]) -> T:
        """Look something up in a study."""
        return await self._with(name, lambda desk: desk.read(work))

    async def _with(self, name: str, act: Callable[[Desk], Awaitable[T]]) -> T:
        """Use a desk; where its study was deleted, possibly to be made anew, look again."""
        for _ in range(2):
            desk = await self.desk(name)
            with desk.used():
                try:
                    return await act(desk)
                except StudyGoneError:
                    self.forget(name)
        raise unknown("study", name)

    def forget(self, name: str) -> None:
        """Close the desk of a study. The next request opens another one."""
        desk = self._desks.pop(name, None)
        if desk is not None:
            self._readers.submit(desk.close)

    def opened(self) -> list[Desk]:
        """The desks in memory."""
        return list(self._desks.values())

    async def delete(self, name: str) -> None:
        """Delete a study."""
        if await self.run(self._number, name) is None:
            raise unknown("study", name)
        try:
            await self.run(lambda: studies.delete(name, storage=self.url))
        except InputError:
            # Another service may have deleted it meanwhile.
            if await self.run(self._number, name) is None:
                raise unknown("study", name) from None
            raise
        self.forget(name)

    # -- lifetime

    async def ready(self) -> None:
        """Raise if the database cannot be read or the service is about to end."""
        if self.draining.is_set():
            raise Refused(503, "the service is about to end")
        await asyncio.get_running_loop().run_in_executor(self._probe, self.names_now)

    def close(self) -> None:
        """Wait for everything that was begun, then close all connections."""
        self._writers.shutdown(wait=True)
        for others in (self._maker, self._probe):
            others.shutdown(wait=True, cancel_futures=True)
        self._readers.shutdown(wait=True, cancel_futures=True)
        for desk in self._desks.values():
            with contextlib.suppress(Exception):
                desk.close()
        self._desks.clear()
        self._storage.close()
        _LOGGER.info("all studies are closed")
