"""Transactions of a SQL database: what can be read and written, see `rising_bandits.studies.storage.base`.

Whatever is read is checked: each event has a checksum, and no number is missing between two events.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from rising_bandits.errors import StorageError, StudyGoneError
from rising_bandits.studies.log.events import Event
from rising_bandits.studies.storage.databases import StatementError, failed
from rising_bandits.studies.storage.digests import event_digest, study_digest
from rising_bandits.studies.storage.encoding import decode, encode
from rising_bandits.studies.storage.migrate import found_version
from rising_bandits.studies.storage.migrations.changes import Changes
from rising_bandits.studies.storage.schema import HEAD
from rising_bandits.studies.storage.thinning import spare

if TYPE_CHECKING:
    from rising_bandits.studies.storage.sql import Storage

_FIRST, _CHUNK = 200, 20_000
"""How many events are fetched at first, and then at a time."""
_REMOVED = 5_000
"""How many events are removed in one transaction."""
_COLUMNS = "seq, kind, at, decision, body"
_TOGETHER = 100
"""How many events one statement appends at most. SQLite allows 999 parameters at least."""
_made = tuple.__new__
"""Makes an event of its parts; to call `Event` takes twice as long."""


class _Statements(NamedTuple):
    """The statements, as text: to build them would take longer than to run them."""

    later: str
    exists: str
    of_decision: str
    study: str
    named: str
    names: str
    append: str


@cache
def _statements(mark: str, checked: bool) -> _Statements:
    """The statements for a kind of parameter marks, with or without checksums."""
    digest = "digest" if checked else "NULL"
    shown = " AND loading IS NULL" if checked else ""
    # Below 0 if the study is being removed, see `Writer.hide_study`.
    left = " AND (loading IS NULL OR loading > 0)" if checked else ""
    there = f"EXISTS (SELECT 1 FROM rising_studies WHERE id = ?{left})"
    later = f"SELECT {_COLUMNS}, {digest} FROM rising_events WHERE study_id = ? AND seq >= ? AND {there} "
    later += "ORDER BY seq LIMIT ?"
    # The conditions are those of the partial indices, so that the database uses them.
    kinds = "(kind IN ('ask', 'tell') OR kind = 'piece')"
    columns = ", ".join(f"e.{name}" for name in _COLUMNS.split(", "))
    decided = f"SELECT {columns}, {digest if not checked else 'e.digest'}, {'b.digest' if checked else 'NULL'} "
    decided += "FROM rising_events e LEFT JOIN rising_events b ON b.study_id = e.study_id AND b.seq = e.seq - 1 "
    decided += f"WHERE e.study_id = ? AND e.decision = ? AND {kinds.replace('kind', 'e.kind')} ORDER BY e.seq"
    found = _Statements(
        later,
        f"SELECT id FROM rising_studies WHERE id = ?{left}",
        decided,
        f"SELECT id, name, created_at, settings, {digest} FROM rising_studies WHERE name = ?{shown}",
        f"SELECT id, name, created_at, settings, {digest} FROM rising_studies WHERE id = ?{shown}",
        f"SELECT name FROM rising_studies WHERE name = name{shown}",
        "INSERT INTO rising_events (study_id, seq, kind, at, decision, body, digest) VALUES (?, ?, ?, ?, ?, ?, ?)",
    )
    return _Statements(*(text.replace("?", mark) for text in found))


@cache
def _appends(statement: str, count: int) -> str:
    """A statement that appends one event, for several events."""
    begin, values, row = statement.partition("VALUES ")
    return begin + values + ", ".join([row] * count)


class Reader:
    """A read transaction, see `rising_bandits.studies.storage.base`."""

    broken: StatementError | None = None
    """The error of a statement that failed."""
    end: tuple[int, int, int] | None = None
    """A study, the number and the checksum of its newest event, if it is known that it is the newest one."""
    _tail: tuple[int, int, int] | None = None
    """The same of the newest event that was read."""
    _now: float | None = None
    _at_version: int | None = None

    def __init__(self, storage: Storage, connection: Any) -> None:
        self._storage, self.connection = storage, connection
        self._mark = storage.database.mark
        self._checked = storage.version == HEAD
        self._sql = _statements(self._mark, self._checked)

    @property
    def now(self) -> float:
        """The time of this transaction. It is looked up when it is first needed, because a server has to be asked."""
        if self._now is None:
            self._now = self._storage.now(self.connection)
        return self._now

    def _rows(self, statement: str, parameters: tuple[Any, ...] = ()) -> list[Any]:
        """The rows that a query finds."""
        try:
            found: list[Any] = self.connection.execute(statement, parameters).fetchall()
        except self._storage.database.error as error:
            raise self._broke(error) from None
        return found

    def rows(self, query: str, *parameters: Any) -> list[Any]:
        """The rows that a query with the marks ``?`` finds."""
        return self._rows(query.replace("?", self._mark), parameters)

    def _row(self, query: str, *parameters: Any) -> Any:
        """The first row that a query finds, None if there is none."""
        rows = self._rows(query.replace("?", self._mark), parameters)
        return rows[0] if rows else None

    def _do(self, statement: str, *parameters: Any) -> None:
        """Run a statement that changes something."""
        try:
            self.connection.execute(statement.replace("?", self._mark), parameters)
        except self._storage.database.error as error:
            raise self._broke(error) from None

    def _broke(self, error: Exception) -> StatementError:
        """The error for a statement that failed. The whole transaction fails with it, even if someone catches it."""
        self.broken = failed(self._storage.url, error, self._storage.timeout)
        return self.broken

    def damaged(self, what: str) -> StorageError:
        """The error for something in the database that cannot be what was written."""
        return StorageError(f"{self._storage.place} is damaged: {what}; see rising study check, and restore a backup")

    def version(self) -> str | None:
        """The version of the tables; None if there are none."""
        return found_version(Changes(self.connection, self._storage.sqlite))

    def names(self) -> list[str]:
        """The names of the studies, sorted."""
        if self._storage.version is None:
            return []
        return sorted(str(row[0]) for row in self._rows(self._sql.names))

    def study(self, name: str) -> tuple[int, dict[str, Any]] | None:
        """The number and the settings of a study, or None if no study has that name."""
        if self._storage.version is None:
            return None
        row = self._row(self._sql.study, name)
        return None if row is None else (int(row[0]), self._settings(*row[1:]))

    def named(self, number: int) -> tuple[str, dict[str, Any]] | None:
        """The name and the settings of a study, or None if no listed study has that number."""
        if self._storage.version is None:
            return None
        row = self._row(self._sql.named, number)
        return None if row is None else (str(row[1]), self._settings(*row[1:]))

    def _settings(self, name: Any, created_at: Any, settings: Any, digest: Any) -> dict[str, Any]:
        """The settings of a study, checked."""
        what = f"the settings of study {name!r}"
        try:
            if self._checked and study_digest(name, created_at, settings) != digest:
                raise self.damaged(f"{what} do not agree with their checksum")
            found: dict[str, Any] = json.loads(settings)
            if not isinstance(found, dict):
                raise TypeError("they are no JSON object")
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise self.damaged(f"{what} cannot be read ({error})") from None
        return found

    def later(self, study: int, after: int, upto: int | None = None, *, digest: int | None = None) -> Iterator[Event]:
        """The events of a study after event number ``after``, up to number ``upto``, in order."""
        if self._ends(study, after, digest):
            return
        before = digest if after and self._checked else 0
        fresh, limit = True, _FIRST
        while True:
            rows = self._rows(self._sql.later, (study, after, study, limit))
            count = len(rows)
            if after:
                if not rows or rows[0][0] != after:
                    raise self._missing(study, after)
                if before is None:
                    before = rows[0][5]
                elif fresh and self._checked and rows[0][5] != before:
                    raise self.damaged(f"event {after} is another one than before, as if the file had been replaced")
                del rows[0]
            fresh = False
            for row in rows:
                if upto is not None and row[0] > upto:
                    return
                if row[0] != after + 1:
                    raise self.damaged(f"event {after + 1} of a study is missing, the next one is {row[0]!r}")
                event = self._event(study, row, before)
                before, after = event.digest, event.seq
                self._tail = (study, after, before)
                yield event
            if count < limit:
                if after == 0:
                    raise self._missing(study, 1)
                self._tail = self.end = (study, after, before or 0)
                return
            limit = _CHUNK

    def _ends(self, study: int, seq: int, digest: int | None) -> bool:
        """Whether it is known without a query that an event is the newest one of a study.

        That is so if this transaction has read or written it as the newest one, or if an earlier one has and no other
        connection has changed the database since.
        """
        event = (study, seq, digest)
        if event != self.end:
            seen = self._storage.seen
            if seen is None or seen[1] != event or self._version() != seen[0]:
                return False
            self._tail = self.end = seen[1]
        return True

    def _version(self) -> int | None:
        """See `Database.version`. A transaction of its own does not change it."""
        if self._at_version is None:
            try:
                self._at_version = self._storage.database.version(self.connection)
            except self._storage.database.error as error:
                raise self._broke(error) from None
        return self._at_version

    def met(self) -> tuple[int, tuple[int, int, int]] | None:
        """What `Storage.seen` is after this transaction."""
        version = None if self.end is None else self._version()
        return None if version is None or self.end is None else (version, self.end)

    def _missing(self, study: int, seq: int) -> Exception:
        """The error for an event that must be there."""
        if self._row(self._sql.exists, study) is None:
            return StudyGoneError("the study is gone: it was deleted")
        return self.damaged(f"event {seq} of a study is missing")

    def _event(self, study: int, row: Sequence[Any], before: int | None) -> Event:
        """The event of a row, checked."""
        seq, kind, at, decision, body, digest = row
        try:
            if self._checked and event_digest(before or 0, study, seq, kind, at, decision, body) != digest:
                raise self.damaged(f"event {seq} of a study does not agree with its checksum")
            content = decode(body)
            if type(content) is not dict:
                raise TypeError("its body is no JSON object")
        except (ValueError, TypeError, AttributeError, RecursionError, OverflowError, struct.error) as error:
            raise self.damaged(f"event {seq!r} of a study cannot be read ({error})") from None
        return _made(Event, (seq, kind, at, decision, content, digest or 0))

    def of_decision(self, study: int, number: int) -> list[Event]:
        """The events of one decision: its ask, then its pieces and its tell."""
        rows = self._rows(self._sql.of_decision, (study, number))
        if not rows or rows[0][1] != "ask":
            raise self.damaged(f"the ask of decision {number} of a study is missing")
        return [self._event(study, row[:6], row[6]) for row in rows]

    def snapshot_seq(self, study: int) -> int:
        """The number of the newest snapshot's event, 0 if there is no snapshot."""
        return int(self._row("SELECT max(seq) FROM rising_snapshots WHERE study_id = ?", study)[0] or 0)

    def snapshot(self, study: int, upto: int | None = None) -> bytes | None:
        """The newest snapshot whose event is not after number ``upto``; None if there is none."""
        query = "SELECT body FROM rising_snapshots WHERE study_id = ? AND seq <= ? ORDER BY seq DESC LIMIT 1"
        row = self._row(query, study, 2**62 if upto is None else upto)
        return None if row is None else bytes(row[0]) if isinstance(row[0], bytes | memoryview) else b""

    def first_since(self, study: int, at: float) -> int | None:
        """The number of the first event with outcomes that is not before a time; None if there is none."""
        kinds = "('tell', 'piece', 'import')"
        query = f"SELECT min(seq) FROM rising_events WHERE study_id = ? AND kind IN {kinds} AND at >= ?"
        found: int | None = self._row(query, study, at)[0]
        return found


class Writer(Reader):
    """A write transaction, see `rising_bandits.studies.storage.base`.

    Events are sent to the database together: before anything is read, and when the transaction ends.
    """

    asked = False
    """Whether it ends with an ask. If its tell comes after those of others, everybody has to learn them again."""

    def __init__(self, storage: Storage, connection: Any) -> None:
        super().__init__(storage, connection)
        self._unsent: list[tuple[Any, ...]] = []

    def send(self) -> None:
        """Send the events that were appended to the database."""
        rows, self._unsent = self._unsent, []
        try:
            if len(rows) == 1:
                self.connection.execute(self._sql.append, rows[0])
            elif self._storage.sqlite:
                # One statement for many rows: to run one for each lets other threads come between them.
                for begin in range(0, len(rows), _TOGETHER):
                    part = rows[begin : begin + _TOGETHER]
                    self.connection.execute(_appends(self._sql.append, len(part)), list(chain.from_iterable(part)))
            elif rows:
                self.connection.cursor().executemany(self._sql.append, rows)
        except self._storage.database.error as error:
            raise self._broke(error) from None

    def _rows(self, statement: str, parameters: tuple[Any, ...] = ()) -> list[Any]:
        if self._unsent:
            self.send()
        return super()._rows(statement, parameters)

    def _do(self, statement: str, *parameters: Any) -> None:
        if self._unsent:
            self.send()
        super()._do(statement, *parameters)

    def add_study(self, name: str, settings: dict[str, Any], *, hidden: bool = False) -> int:
        """Add a study without events, and return its number."""
        text = json.dumps(settings)
        row = (name, self.now, text, study_digest(name, self.now, text), self.now if hidden else None)
        statement = "INSERT INTO rising_studies (name, created_at, settings, digest, loading) VALUES (?, ?, ?, ?, ?)"
        try:
            return self._storage.database.insert(self.connection, statement.replace("?", self._mark), row)
        except self._storage.database.error as error:
            raise self._broke(error) from None

    def show_study(self, study: int, name: str) -> None:
        """Give a hidden study its name: from now on it is listed and found."""
        row = self._row("SELECT created_at, settings FROM rising_studies WHERE id = ?", study)
        self._do(
            "UPDATE rising_studies SET name = ?, digest = ?, loading = NULL WHERE id = ?",
            name,
            study_digest(name, *row),
            study,
        )

    def hide_study(self, study: int) -> None:
        """Take a study off the list. Its name is free again."""
        self._lock_row(study)
        self._do(
            "UPDATE rising_studies SET name = ?, loading = ? WHERE id = ?", f"deleted {study}", -abs(self.now), study
        )

    def remove_some(self, study: int) -> bool:
        """Remove some of the events of a hidden study, and the study with the last of them; whether more are left."""
        self.drop_snapshots(study)
        oldest = self._row("SELECT min(seq) FROM rising_events WHERE study_id = ?", study)[0]
        if oldest is not None:
            self._do("DELETE FROM rising_events WHERE study_id = ? AND seq < ?", study, oldest + _REMOVED)
        if self._row("SELECT 1 FROM rising_events WHERE study_id = ? LIMIT 1", study) is not None:
            return True
        self._do("DELETE FROM rising_studies WHERE id = ?", study)
        return False

    def hidden(self, before: float) -> list[int]:
        """The studies that were hidden before a time: what was being removed or loaded when a process ended."""
        return [int(row[0]) for row in self.rows("SELECT id FROM rising_studies WHERE abs(loading) < ?", before)]

    def append(self, study: int, events: Sequence[Event]) -> int:
        """Append events to the log of a study, and return the checksum of the last one."""
        seq, before = self._newest(study)
        for event in events:
            seq += 1
            if event.seq != seq:
                raise StorageError(f"the next event of a study must have the number {seq}, got {event.seq!r}")
            body = encode(event.body)
            before = event_digest(before, study, seq, event.kind, event.at, event.decision, body)
            self._unsent.append((study, seq, event.kind, event.at, event.decision, body, before))
        self._tail = self.end = (study, seq, before)
        self.asked = bool(events) and events[-1].kind == "ask"
        return before

    def _newest(self, study: int) -> tuple[int, int]:
        """The number and the checksum of the newest event."""
        if self._tail is not None and self._tail[0] == study:
            return self._tail[1:]
        query = "SELECT seq, digest FROM rising_events WHERE study_id = ? ORDER BY seq DESC LIMIT 1"
        row = self._row(query, study)
        return (0, 0) if row is None else (row[0], row[1])

    def _lock_row(self, study: int) -> None:
        """On a server: whoever is writing to a study comes first."""
        if not self._storage.sqlite:
            self._row("SELECT id FROM rising_studies WHERE id = ? FOR UPDATE", study)

    def drop_snapshots(self, study: int) -> None:
        """Remove all snapshots of a study. Its log stays."""
        self._do("DELETE FROM rising_snapshots WHERE study_id = ?", study)

    def keep_snapshot(self, study: int, seq: int, body: bytes) -> None:
        """Store a snapshot of the state after event number ``seq``, and delete those that `spare` chooses."""
        kept = [row[0] for row in self.rows("SELECT seq FROM rising_snapshots WHERE study_id = ?", study)]
        if seq in kept:
            return
        statement = "INSERT INTO rising_snapshots (study_id, seq, at, body) VALUES (?, ?, ?, ?)"
        self._do(statement, study, seq, self.now, body)
        for old in spare([*kept, seq]):
            self._do("DELETE FROM rising_snapshots WHERE study_id = ? AND seq = ?", study, old)
