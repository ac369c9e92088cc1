"""The protocol of a storage: studies by name, an append-only log for each, and snapshots.

Everything else uses only the three classes below. A storage of your own implements them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from rising_bandits.studies.log.events import Event


class Reader(Protocol):
    """A read transaction. All of its answers are consistent with each other."""

    @property
    def now(self) -> float:
        """The time of this transaction, in seconds since 1970."""

    def names(self) -> list[str]:
        """The names of the studies, sorted."""

    def study(self, name: str) -> tuple[int, dict[str, Any]] | None:
        """The number and the settings of a study, or None if no study has that name."""

    def exists(self, study: int) -> bool:
        """Whether a study exists; it may have been deleted."""

    def later(self, study: int, after: int, upto: int | None = None) -> Iterator[Event]:
        """The events of a study after event number ``after``, up to number ``upto``, in order."""

    def of_decision(self, study: int, number: int) -> list[Event]:
        """The events of one decision: its ask, then its pieces and its tell."""

    def first_since(self, study: int, at: float) -> int | None:
        """The number of the first event with outcomes that is not before a time; None if there is none."""

    def snapshot(self, study: int, upto: int | None = None) -> bytes | None:
        """The newest snapshot whose event is not after number ``upto``; None if there is none."""

    def snapshot_seq(self, study: int) -> int:
        """The number of the newest snapshot's event, 0 if there is no snapshot."""


class Writer(Reader, Protocol):
    """A write transaction. Either all of its changes are stored when it ends, or none."""

    def add_study(self, name: str, settings: dict[str, Any]) -> int:
        """Add a study without events, and return its number."""

    def remove_study(self, study: int) -> None:
        """Remove a study with its events and snapshots."""

    def append(self, study: int, events: Sequence[Event]) -> None:
        """Append events to the log of a study."""

    def keep_snapshot(self, study: int, seq: int, body: bytes) -> None:
        """Store a snapshot of the state after event number ``seq``."""

    def drop_snapshots(self, study: int) -> None:
        """Remove all snapshots of a study. Its log stays."""


class Storage(Protocol):
    """A database of studies."""

    @property
    def url(self) -> Any:
        """The address of the database. Two objects for the same database have equal addresses."""

    @property
    def lock(self) -> threading.RLock:
        """The lock that a thread holds during a transaction."""

    def read(self) -> AbstractContextManager[Reader]:
        """A read transaction. Other processes may write at the same time."""

    def write(self, study: int | None = None) -> AbstractContextManager[Writer]:
        """A write transaction that locks a study, or all studies (None), until it ends."""

    def close(self) -> None:
        """Close the connection. The next call opens a new one."""
