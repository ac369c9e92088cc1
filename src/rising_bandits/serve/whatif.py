"""What a change would do: the same study on a storage whose writes are thrown away."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

from rising_bandits.studies import Study
from rising_bandits.studies.log.events import Event
from rising_bandits.studies.log.log import Log
from rising_bandits.studies.storage.base import Reader, Storage, Writer


class _Sheet:
    """A transaction that reads from another one, and keeps what is written to itself."""

    def __init__(self, reader: Reader, events: dict[int, list[Event]]) -> None:
        self._reader, self._events = reader, events

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def later(self, study: int, after: int, upto: int | None = None, *, digest: int | None = None) -> Iterator[Event]:
        """The events of the log, then those on the sheet."""
        mine = self._events.get(study, [])
        if not mine:
            return self._reader.later(study, after, upto, digest=digest)
        here = (event for event in mine if event.seq > after and (upto is None or event.seq <= upto))
        if after >= mine[0].seq:
            return here
        stop = mine[0].seq - 1 if upto is None else min(mine[0].seq - 1, upto)
        return chain(self._reader.later(study, after, stop, digest=digest), here)

    def of_decision(self, study: int, number: int) -> list[Event]:
        """The events of a decision, with those on the sheet."""
        mine = [event for event in self._events.get(study, []) if event.decision == number]
        return mine if mine and mine[0].kind == "ask" else [*self._reader.of_decision(study, number), *mine]

    def append(self, study: int, events: Sequence[Event]) -> int:
        """Write events on the sheet."""
        self._events.setdefault(study, []).extend(events)
        return events[-1].seq if events else 0

    def keep_snapshot(self, study: int, seq: int, body: bytes) -> None:
        """Do nothing: what is on the sheet has no snapshots."""

    def drop_snapshots(self, study: int) -> None:
        """Do nothing, for the same reason."""


class Sheet:
    """A storage that reads from another one and throws away what is written.

    Parameters
    ----------
    storage
        The storage to read from. Nothing is ever written to it.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._events: dict[int, list[Event]] = {}

    @property
    def url(self) -> Any:
        """The address of the storage that is read."""
        return self._storage.url

    @property
    def place(self) -> str:
        """The address of the storage that is read, without a password."""
        return self._storage.place

    @property
    def lock(self) -> threading.RLock:
        """The lock of the storage that is read."""
        return self._storage.lock

    @contextlib.contextmanager
    def read(self) -> Iterator[Reader]:
        """A read transaction."""
        with self._storage.read() as reader:
            yield _Sheet(reader, self._events)

    @contextlib.contextmanager
    def write(self, study: int | None = None, ahead: Callable[[], None] | None = None) -> Iterator[Writer]:
        """A transaction whose writes stay on the sheet."""
        with self._storage.read() as reader:
            yield _Sheet(reader, self._events)

    def close(self) -> None:
        """Do nothing: the storage belongs to another."""


def what_if(study: Study) -> Study:
    """A copy of a study, as of now, whose changes are never stored."""
    log = study._log
    return Study(Log(log.name, log.number, log.settings, Sheet(log.storage), log.code.policy, log.code.problem))
