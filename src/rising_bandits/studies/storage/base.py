"""What a storage has to offer: studies by name, an append-only log for each, and snapshots that may be lost.

A storage of one's own implements `Storage`; everything above it speaks to these three classes only.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from rising_bandits.studies.log.events import Event


class Reader(Protocol):
    """What can be read within a transaction: one consistent look."""

    @property
    def now(self) -> float:
        """The time of this transaction, in seconds since 1970."""

    def names(self) -> list[str]:
        """The studies, by name."""

    def study(self, name: str) -> tuple[int, dict[str, Any]] | None:
        """The number and the settings of a study, or None where there is none of that name."""

    def exists(self, study: int) -> bool:
        """Whether a study is still there."""

    def later(self, study: int, after: int, upto: int | None = None) -> Iterator[Event]:
        """The events of a study after one of them, in order."""

    def of_decision(self, study: int, number: int) -> list[Event]:
        """The events of one decision: its ask, pieces of feedback, its tell."""

    def first_since(self, study: int, at: float) -> int | None:
        """The first event of a study that brought outcomes at a time or later."""

    def snapshot(self, study: int, upto: int | None = None) -> bytes | None:
        """The newest snapshot, or the newest that is not later than an event."""

    def snapshot_seq(self, study: int) -> int:
        """The event of the newest snapshot, 0 if there is none."""


class Writer(Reader, Protocol):
    """What can be written within a transaction; all of it is on disk when the transaction ends, or none."""

    def add_study(self, name: str, settings: dict[str, Any]) -> int:
        """A new study without events; returns its number."""

    def remove_study(self, study: int) -> None:
        """Remove everything of a study."""

    def append(self, study: int, events: Sequence[Event]) -> None:
        """More events at the end of the log."""

    def keep_snapshot(self, study: int, seq: int, body: bytes) -> None:
        """Keep a snapshot as of an event."""

    def drop_snapshots(self, study: int) -> None:
        """Remove all snapshots of a study; its log is what counts."""


class Storage(Protocol):
    """A place with studies in it."""

    @property
    def url(self) -> Any:
        """Where it is; equal for two objects that speak of the same place."""

    @property
    def lock(self) -> threading.RLock:
        """Held by the thread whose turn it is."""

    def read(self) -> AbstractContextManager[Reader]:
        """One consistent look, while others may write."""

    def write(self, study: int | None = None) -> AbstractContextManager[Writer]:
        """The lock of a study, or of all studies (None), until the block ends; then everything is committed."""

    def close(self) -> None:
        """Let go of connections; the next call opens new ones."""
