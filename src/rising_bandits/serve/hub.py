"""The hub: all studies of a storage, those in memory and those on disk."""

from __future__ import annotations

import asyncio
import logging
import math
from collections import OrderedDict
from collections.abc import Callable
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
READERS = 4
"""How many threads look things up that are not about one study. Each study has threads of its own, see `Desk`."""
ROOM, LOOK = 5.0, 0.05
"""How many seconds a request waits for room in memory while all studies there are busy, and how often it looks."""


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
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="rising-look")
        # A problem can take long to make, and a probe must not wait for reports.
        self._maker = ThreadPoolExecutor(1, thread_name_prefix="rising-make")
        self._probe = ThreadPoolExecutor(1, thread_name_prefix="rising-probe")
        self._desks: OrderedDict[str, Desk] = OrderedDict()
        self._loop = asyncio.get_running_loop()

    # -- studies

    async def run(self, work: Callable[..., T], *given: Any) -> T:
        """Run a function that waits for a database or computes for long, in a thread."""
        return await self._loop.run_in_executor(self._readers, work, *given)

    async def make(self, work: Callable[[], T]) -> T:
        """Run a function that makes a study, in a thread of its own: one after the other."""
        return await self._loop.run_in_executor(self._maker, work)

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
            There is no such study, or all studies in memory stay busy.
        """
        if not 1 <= len(name) <= 200 or await self.run(self._number, name) is None:
            raise unknown("study", name)
        until = self._loop.time() + ROOM
        while name not in self._desks and not self._shrink():
            if self._loop.time() > until:
                raise Refused(503, f"{self.limits.open} other studies are busy", {"Retry-After": "5"})
            await asyncio.sleep(LOOK)
        if name not in self._desks:
            self._desks[name] = Desk(
                name,
                lambda: studies.open(name, storage=self.url, power_safe=self.power_safe),
                self.limits.waiting,
                self._written,
            )
        return self._desks[name]

    def _written(self, desk: Desk) -> None:
        """Tell the listeners that a batch was stored."""
        for listener in self.listeners:
            listener(desk)

    def _shrink(self) -> bool:
        """Close the desks that were not used for the longest time, if there are too many; whether there is room."""
        idle = [name for name, desk in self._desks.items() if not desk.busy]
        for name in idle[: max(0, len(self._desks) + 1 - self.limits.open)]:
            self.forget(name)
        return len(self._desks) < self.limits.open

    async def write(self, name: str, work: Work[T], author: str | None = None, told: float = math.inf) -> T:
        """Do something with a study in its next transaction, see `Desk.write`."""
        return await self._with(name, Desk.write, work, author, told)

    async def read(self, name: str, work: Work[T]) -> T:
        """Look something up in a study."""
        return await self._with(name, Desk.read, work)

    async def _with(self, name: str, act: Callable[..., asyncio.Future[T]], *given: Any) -> T:
        """Use a desk; where its study was deleted, possibly to be made anew, look again."""
        for _ in range(2):
            desk = self._desks.get(name)
            if desk is None:
                desk = await self.desk(name)
            self._desks.move_to_end(name)
            desk.users += 1
            try:
                return await act(desk, *given)
            except StudyGoneError:
                # Another request may have opened the new study already.
                if self._desks.get(name) is desk:
                    self.forget(name)
            finally:
                desk.users -= 1
        raise unknown("study", name)

    def forget(self, name: str) -> None:
        """Close the desk of a study. The next request opens another one."""
        desk = self._desks.pop(name, None)
        if desk is not None:
            desk.close()

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
        await self._loop.run_in_executor(self._probe, self.names_now)

    def close(self) -> None:
        """Wait for everything that was begun, then close all connections."""
        desks = self.opened()
        for desk in desks:
            desk.close()
        for others in (self._maker, self._probe, self._readers):
            others.shutdown(wait=True, cancel_futures=True)
        for desk in desks:
            desk.wait()
        self._desks.clear()
        self._storage.close()
        _LOGGER.info("all studies are closed")
