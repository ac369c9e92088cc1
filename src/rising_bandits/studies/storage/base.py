"""The protocol of a storage: studies by name, an append-only log for each, and snapshots.

Everything else uses only the three classes below. A storage of your own implements them;
`rising_bandits.testing.check_storage` says whether it does.

- The events of a study have the numbers 1, 2, 3, ... without a gap.
- What is read is what was written. A storage that finds out that it is not raises `StorageError`.
- A transaction that raises, whatever it raises, has changed nothing and leaves no lock.
- A write transaction that returned is stored for good.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
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

    def later(self, study: int, after: int, upto: int | None = None, *, digest: int | None = None) -> Iterator[Event]:
        """The events of a study after event number ``after``, up to number ``upto``, in order.

        Each has its checksum as ``digest``. With ``digest`` given, event ``after`` must still have that checksum.
        Raises `StudyGoneError` of `rising_bandits.errors` if the study was deleted, `StorageError` if an event is
        damaged or missing.
        """

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

    def add_study(self, name: str, settings: dict[str, Any], *, hidden: bool = False) -> int:
        """Add a study without events, and return its number. A hidden one is neither listed nor found by its name."""

    def show_study(self, study: int, name: str) -> None:
        """Give a hidden study its name: from now on it is listed and found."""

    def hide_study(self, study: int) -> None:
        """Take a study off the list. Its name is free again."""

    def remove_some(self, study: int) -> bool:
        """Remove some of the events of a hidden study, and the study with the last of them; whether more are left."""

    def hidden(self, before: float) -> list[int]:
        """The studies that were hidden before a time: what was being removed or loaded when a process ended."""

    def append(self, study: int, events: Sequence[Event]) -> int:
        """Append events to the log of a study, and return the checksum of the last one.

        Raises `StorageError` if the number of an event is not the next one.
        """

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
    def place(self) -> str:
        """The address as messages show it, without a password."""

    @property
    def lock(self) -> threading.RLock:
        """The lock that a thread holds during a transaction."""

    def read(self) -> AbstractContextManager[Reader]:
        """A read transaction. Other processes may write at the same time."""

    def write(
        self, study: int | None = None, ahead: Callable[[], None] | None = None
    ) -> AbstractContextManager[Writer]:
        """A write transaction that locks a study, or the list of studies (None), until it ends.

        ``ahead`` may be called before it begins, if there is time because others come first.
        """

    def close(self) -> None:
        """Close the connection. The next call opens a new one."""
