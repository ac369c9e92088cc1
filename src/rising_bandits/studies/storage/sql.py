"""The storage in a SQL database: a SQLite file (with a write-ahead log) or PostgreSQL.

A write transaction locks the study from its first statement on (SQLite: ``BEGIN IMMEDIATE``; PostgreSQL: the study's
row). So nobody changes what it has read. It returns after the commit.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event as sa_event
from sqlalchemy import exc

from rising_bandits.errors import InputError, MissingExtraError, StorageError
from rising_bandits.studies.log.events import Event
from rising_bandits.studies.storage.schema import EVENTS, HEAD, SNAPSHOTS, STUDIES, VERSION_TABLE

DEFAULT = "sqlite:///studies.db"
"""The storage if none is given."""
NEWEST_KEPT = 2
"""How many of the newest snapshots are always kept."""
SPREAD_KEPT = 16
"""The distance of two snapshots is at most the length of the log divided by this, see `spare`."""
_CHUNK = 20_000
"""How many events are fetched at a time."""
_MIGRATION_LOCK, _LIBRARY_LOCK = 7_246_331, 7_246_332
"""The number of the PostgreSQL lock for migrations. Other programs are unlikely to use the same number."""

# Every call runs these two statements. As text they save half of its time, which SQLAlchemy needs to build them.
_LATER = (
    "SELECT seq, kind, at, decision, body FROM rising_events WHERE study_id = ? AND seq > ? "
    f"ORDER BY seq LIMIT {_CHUNK}"
)
_APPEND = "INSERT INTO rising_events (study_id, seq, kind, at, decision, body) VALUES (?, ?, ?, ?, ?, ?)"
_OF_DECISION = (
    sa.select(EVENTS.c.seq, EVENTS.c.kind, EVENTS.c.at, EVENTS.c.decision, EVENTS.c.body)
    .where(
        EVENTS.c.study_id == sa.bindparam("study"),
        EVENTS.c.decision == sa.bindparam("number"),
        # Written like the conditions of the partial indices, so that the database uses them.
        EVENTS.c.kind.in_(["ask", "tell"]) | (EVENTS.c.kind == "piece"),
    )
    .order_by(EVENTS.c.seq)
)
_SERVER_CLOCK = sa.func.extract("epoch", sa.func.clock_timestamp())
_LOCK_ROW = sa.select(STUDIES.c.id, _SERVER_CLOCK).where(STUDIES.c.id == sa.bindparam("study")).with_for_update()


# Made once, because making an encoder takes longer than encoding a small body.
_ENCODER = json.JSONEncoder(separators=(",", ":"))


_SECRETS = (
    (re.compile(r"(?<=://)([^/@\s]*?):[^/\s]*@"), r"\1:***@"),
    (re.compile(r"([^/\s:@'\"]*):[^/\s:@]+@"), r"\1:***@"),
    (re.compile(r"(?i)(pass(?:word|wd)?|token|secret)=[^&\s'\"]*"), r"\1=***"),
)


def shown(storage: object) -> str:
    """A storage as messages show it: without the password, wherever it stands.

    >>> shown("postgresql://ann:hunter2@host/team?password=hunter2")
    'postgresql://ann:***@host/team?password=***'
    """
    text = storage.render_as_string(hide_password=False) if isinstance(storage, sa.URL) else str(storage)
    for pattern, new in _SECRETS:
        text = pattern.sub(new, text)
    return text


def _url(storage: str) -> sa.URL:
    """The URL, checked, with the driver for PostgreSQL."""
    try:
        url = sa.make_url(storage)
        backend = url.get_backend_name()
    except (exc.ArgumentError, TypeError, AttributeError):
        backend, url = "", sa.URL.create("none")
    if backend == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if backend != "sqlite" or not url.database or url.database == ":memory:":
        raise InputError(
            "storage must be a URL of a SQLite file, as in 'sqlite:///routes.db', or of PostgreSQL, as in "
            f"'postgresql://user@host/database', got {shown(storage)!r}"
        )
    # Made absolute, because the working directory of the process may change.
    return url if url.database.startswith("file:") else url.set(database=str(Path(url.database).resolve()))


class Storage:
    """A SQL database with studies. It has one connection, which one thread uses at a time. A fork opens its own.

    Parameters
    ----------
    storage
        The URL of the database.
    create
        False refuses a SQLite file that does not exist.
    power_safe
        True makes SQLite wait for the disk at every commit.
    timeout
        How many seconds to wait for a locked SQLite file.
    clock
        A function that returns the time in seconds since 1970; None for the clock of the server or of this machine.
    """

    def __init__(
        self,
        storage: str,
        *,
        create: bool = True,
        power_safe: bool = False,
        timeout: float = 30.0,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.url = _url(storage)
        self.sqlite = self.url.get_backend_name() == "sqlite"
        self.power_safe, self.timeout, self.clock = power_safe, timeout, clock
        # The file of a URL such as 'file:name?mode=ro' is SQLite's own affair.
        named = self.sqlite and not str(self.url.database).startswith("file:")
        self._path = Path(str(self.url.database)) if named else None
        if self._path is not None and not create and not self._path.exists():
            raise InputError(f"storage must exist to be opened, but there is no file {self.url.database!r}")
        self._held = _Held()
        weakref.finalize(self, self._held.drop)
        self._connect()
        _STORAGES.add(self)
        try:
            with self.errors():
                self._migrate()
        except BaseException:
            self._held.drop()
            raise

    def _connect(self) -> None:
        """Make the engine and the lock of this process."""
        options: dict[str, Any] = {"poolclass": sa.NullPool}
        if self.sqlite:
            options["connect_args"] = {"timeout": self.timeout, "check_same_thread": False}
        else:
            # A server may have another default, under which calls that wait for each other would fail.
            options["isolation_level"] = "READ COMMITTED"
        try:
            self._engine = sa.create_engine(self.url, **options)
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                f"PostgreSQL needs a driver ({error.name}); pip install '.[postgres]' in a clone of the project"
            ) from None
        self._driver_error: type[Exception] = self._engine.dialect.loaded_dbapi.Error
        if self.sqlite:
            # A function of its own: the registry of events must not keep this object alive.
            sa_event.listen(self._engine, "connect", _preparation(self.power_safe))
            sa_event.listen(self._engine, "begin", _begin)
        self._held.forget()
        self._lock = threading.RLock()
        self._pid = os.getpid()

    @property
    def lock(self) -> threading.RLock:
        """The lock that a thread holds during a transaction. A forked process gets a new lock and a new connection."""
        if self._pid != os.getpid():
            # A fork must share neither the connection nor the lock of its parent.
            self._engine.dispose(close=False)
            self._connect()
        return self._lock

    @property
    def _connection(self) -> sa.Connection:
        """The open connection; opens one if there is none."""
        found = self._held.connection
        if found is not None and (found.closed or found.invalidated or _in_transaction(found)):
            # A call was interrupted before it could end its transaction.
            self._held.drop()
        if self._held.connection is None:
            self._held.connection = self._engine.connect()
            self._held.identity = _identity(self._path)
        return self._held.connection

    def _check_file(self) -> None:
        """Refuse to go on with a SQLite file that was deleted or replaced: nobody would find what is written there."""
        if self._path is not None and _identity(self._path) != self._held.identity:
            raise StorageError(
                f"{shown(self.url)} was deleted or replaced while it was open; nothing was acknowledged; "
                "open the study again"
            )

    def close(self) -> None:
        """Close the connection. The next call opens a new one. A call of another thread is waited for."""
        with self.lock:
            self._held.drop()

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Turn errors of the database into a `StorageError` that says what to do."""
        try:
            yield
        except (exc.SQLAlchemyError, self._driver_error) as error:
            self._held.drop()
            raise StorageError(self._explain(getattr(error, "orig", None) or error)) from None

    def _explain(self, error: BaseException) -> str:
        """The message for an error of the database."""
        said = shown(" ".join(str(error).split()))
        if self.url.password:
            said = said.replace(str(self.url.password), "***")
        place = shown(self.url)
        if "locked" in said or "busy" in said:
            return (
                f"{place} has been locked by another process for {self.timeout:g} s; nothing was changed, "
                f"try again or pass a longer timeout ({said})"
            )
        if "full" in said or "No space" in said:
            return f"there is no space left for {place}; nothing was changed, free some space and try again ({said})"
        if "foreign key" in said.lower():
            return f"the study is no longer in {place}: it was deleted; nothing was changed"
        if "readonly" in said or "unable to open" in said:
            return f"{place} cannot be written; check that its folder exists, and check its permissions ({said})"
        if "not a database" in said or "malformed" in said:
            return f"{place} is damaged, or is not a database of studies; restore a backup ({said})"
        return f"{place} failed; nothing was acknowledged ({said})"

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[sa.Connection]:
        """A transaction, begun with this statement."""
        with self.lock, self.errors():
            try:
                connection = self._connection
                connection.info["begin"] = begin
                with connection.begin():
                    self._check_file()
                    yield connection
                    self._check_file()
            except BaseException as error:
                # Ctrl-C can come at any statement: without its connection no transaction stays open, and no lock held.
                found = self._held.connection
                if not isinstance(error, Exception) or (found is not None and _in_transaction(found)):
                    self._held.drop()
                raise

    @contextlib.contextmanager
    def read(self) -> Iterator[Reader]:
        """A read transaction. Other processes may write at the same time."""
        with self._transaction("BEGIN") as connection:
            yield Reader(connection, lambda: self._now(connection))

    @contextlib.contextmanager
    def write(self, study: int | None = None) -> Iterator[Writer]:
        """A write transaction that locks a study, or all studies (None), until it ends."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            row = None
            if not self.sqlite and study is None:
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LIBRARY_LOCK)))
            elif not self.sqlite:
                row = connection.execute(_LOCK_ROW, {"study": study}).one_or_none()
            now = self._now(connection, None if row is None else float(row[1]))
            yield Writer(connection, lambda: now)

    def _now(self, connection: sa.Connection, server: float | None = None) -> float:
        """The time: by the clock that was given, else by the PostgreSQL server, else by this machine."""
        if self.clock is not None:
            return self.clock()
        if self.sqlite:
            return time.time()
        return float(connection.execute(sa.select(_SERVER_CLOCK)).scalar_one()) if server is None else server

    def _migrate(self) -> None:
        """Upgrade the tables to the newest version, or refuse those of a newer version of the library."""
        with self._transaction("BEGIN") as connection:
            found = self._version(connection)
        if found != HEAD:
            from rising_bandits.studies.storage.migrate import upgrade

            with self._transaction("BEGIN IMMEDIATE") as connection:
                if not self.sqlite:
                    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
                upgrade(connection, self._version(connection), str(self.url.database))

    def _version(self, connection: sa.Connection) -> str | None:
        """The version of the tables; None if there are none."""
        if not sa.inspect(connection).has_table(VERSION_TABLE):
            return None
        return connection.execute(sa.text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one_or_none()


class _Held:
    """The open connection of a storage, kept apart so that it can be closed after the storage is gone."""

    def __init__(self) -> None:
        self.connection: sa.Connection | None = None
        self.identity: tuple[int, int] | None = None
        self._pid = os.getpid()

    def forget(self) -> None:
        """Begin without a connection, in this process."""
        self.connection, self.identity, self._pid = None, None, os.getpid()

    def drop(self) -> None:
        """Close the connection, which ends its transaction; in a fork, only forget it."""
        found, mine = self.connection, self._pid == os.getpid()
        self.forget()
        if found is not None and mine:
            with contextlib.suppress(Exception):
                found.invalidate()
            with contextlib.suppress(Exception):
                found.close()


_STORAGES: weakref.WeakSet[Storage] = weakref.WeakSet()
_FORKING: list[threading.RLock] = []


def _before_fork() -> None:
    """Wait for the transactions of all threads: a child must not begin in the middle of one."""
    for storage in sorted(_STORAGES, key=id):
        lock = storage.lock
        lock.acquire()
        _FORKING.append(lock)


def _after_fork() -> None:
    while _FORKING:
        _FORKING.pop().release()


def _after_fork_in_child() -> None:
    _FORKING.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)


def _identity(path: Path | None) -> tuple[int, int] | None:
    """Which file stands at a path; None where there is none."""
    try:
        found = None if path is None else path.stat()
    except OSError:
        return None
    return None if found is None else (found.st_dev, found.st_ino)


def _in_transaction(connection: sa.Connection) -> bool:
    """Whether a transaction is open, by SQLAlchemy or by the driver itself."""
    with contextlib.suppress(Exception):
        driver: Any = connection.connection.dbapi_connection
        return bool(connection.in_transaction() or getattr(driver, "in_transaction", False))
    return True


def _preparation(power_safe: bool) -> Callable[[Any, Any], None]:
    """What is done with every new SQLite connection."""

    def prepare(connection: Any, record: Any) -> None:
        # SQLAlchemy begins transactions, not the driver.
        connection.isolation_level = None
        for pragma in ("journal_mode=WAL", f"synchronous={'FULL' if power_safe else 'NORMAL'}", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    return prepare


def _begin(connection: sa.Connection) -> None:
    """Begin a transaction in SQLite."""
    connection.connection.cursor().execute(connection.info["begin"])


def spare(seqs: Sequence[int]) -> list[int]:
    """Choose the snapshots to delete.

    The age of a snapshot is its distance from the newest one. A snapshot is deleted if its two neighbours are at most
    half of its age apart, and at most a sixteenth of the log. So for any event there is a snapshot close before it, and
    the number of snapshots is logarithmic in the length of the log.

    Parameters
    ----------
    seqs
        The event numbers of the snapshots.

    Returns
    -------
    list of int
        The event numbers of the snapshots to delete.

    >>> kept = []
    >>> for seq in range(1, 10_001):
    ...     dropped = spare([*kept, seq])
    ...     kept = [old for old in [*kept, seq] if old not in dropped]
    >>> len(kept), kept[:4], kept[-4:]
    (37, [512, 1024, 1536, 2048], [9997, 9998, 9999, 10000])
    """
    kept = [0, *sorted(seqs)]
    newest, dropped, place = kept[-1], [], 1
    while place < len(kept) - NEWEST_KEPT:
        before, here, after = kept[place - 1 : place + 2]
        if after - before <= min((newest - here) / 2, newest / SPREAD_KEPT):
            dropped.append(kept.pop(place))
        else:
            place += 1
    return dropped


class Reader:
    """A read transaction, see `rising_bandits.studies.storage.base`."""

    def __init__(self, connection: sa.Connection, clock: Callable[[], float]) -> None:
        self._connection, self._clock = connection, clock
        self._mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"

    @cached_property
    def now(self) -> float:
        """The time of this transaction. It is looked up when it is first needed, because a server has to be asked."""
        return self._clock()

    def _run(self, statement: str, parameters: Any, *, many: bool = False) -> Any:
        """Run a statement directly in the driver, within the same transaction."""
        cursor = self._connection.connection.cursor()
        (cursor.executemany if many else cursor.execute)(statement.replace("?", self._mark), parameters)
        return cursor

    def names(self) -> list[str]:
        """The names of the studies, sorted."""
        return list(self._connection.execute(sa.select(STUDIES.c.name).order_by(STUDIES.c.name)).scalars())

    def study(self, name: str) -> tuple[int, dict[str, Any]] | None:
        """The number and the settings of a study, or None if no study has that name."""
        row = self._connection.execute(
            sa.select(STUDIES.c.id, STUDIES.c.settings).where(STUDIES.c.name == name)
        ).one_or_none()
        return None if row is None else (int(row[0]), json.loads(row[1]))

    def later(self, study: int, after: int, upto: int | None = None) -> Iterator[Event]:
        """The events of a study after event number ``after``, up to number ``upto``, in order."""
        while True:
            rows = self._run(_LATER, (study, after)).fetchall()
            for row in rows:
                if upto is not None and row[0] > upto:
                    return
                yield Event(row[0], row[1], row[2], row[3], json.loads(row[4]))
            if len(rows) < _CHUNK:
                return
            after = rows[-1][0]

    def of_decision(self, study: int, number: int) -> list[Event]:
        """The events of one decision: its ask, then its pieces and its tell."""
        rows = self._connection.execute(_OF_DECISION, {"study": study, "number": number}).all()
        return [Event(row[0], row[1], row[2], row[3], json.loads(row[4])) for row in rows]

    def snapshot_seq(self, study: int) -> int:
        """The number of the newest snapshot's event, 0 if there is no snapshot."""
        newest = self._connection.execute(sa.select(sa.func.max(SNAPSHOTS.c.seq)).where(SNAPSHOTS.c.study_id == study))
        return int(newest.scalar_one() or 0)

    def snapshot(self, study: int, upto: int | None = None) -> bytes | None:
        """The newest snapshot whose event is not after number ``upto``; None if there is none."""
        query = sa.select(SNAPSHOTS.c.body).where(SNAPSHOTS.c.study_id == study)
        if upto is not None:
            query = query.where(SNAPSHOTS.c.seq <= upto)
        return self._connection.execute(query.order_by(SNAPSHOTS.c.seq.desc()).limit(1)).scalar_one_or_none()

    def first_since(self, study: int, at: float) -> int | None:
        """The number of the first event with outcomes that is not before a time; None if there is none."""
        events = EVENTS.c
        query = sa.select(sa.func.min(events.seq)).where(
            events.study_id == study, events.kind.in_(["tell", "piece", "import"]), events.at >= at
        )
        found: int | None = self._connection.execute(query).scalar_one()
        return found

    def exists(self, study: int) -> bool:
        """Whether a study exists; it may have been deleted."""
        return self._connection.execute(sa.select(STUDIES.c.id).where(STUDIES.c.id == study)).first() is not None


class Writer(Reader):
    """A write transaction, see `rising_bandits.studies.storage.base`."""

    def add_study(self, name: str, settings: dict[str, Any]) -> int:
        """Add a study without events, and return its number."""
        row = {"name": name, "created_at": self.now, "settings": json.dumps(settings)}
        result = self._connection.execute(sa.insert(STUDIES).values(**row))
        assert result.inserted_primary_key is not None
        return int(result.inserted_primary_key[0])

    def remove_study(self, study: int) -> None:
        """Remove a study with its events and snapshots."""
        if self._connection.dialect.name != "sqlite":
            # Whoever is writing to it comes first, and then finds it gone.
            self._connection.execute(_LOCK_ROW, {"study": study})
        self.drop_snapshots(study)
        self._connection.execute(sa.delete(EVENTS).where(EVENTS.c.study_id == study))
        self._connection.execute(sa.delete(STUDIES).where(STUDIES.c.id == study))

    def append(self, study: int, events: Sequence[Event]) -> None:
        """Append events to the log of a study."""
        rows = [
            (study, event.seq, event.kind, event.at, event.decision, _ENCODER.encode(event.body)) for event in events
        ]
        if rows:
            self._run(_APPEND, rows, many=True)

    def drop_snapshots(self, study: int) -> None:
        """Remove all snapshots of a study. Its log stays."""
        self._connection.execute(sa.delete(SNAPSHOTS).where(SNAPSHOTS.c.study_id == study))

    def keep_snapshot(self, study: int, seq: int, body: bytes) -> None:
        """Store a snapshot of the state after event number ``seq``, and delete those that `spare` chooses."""
        here = SNAPSHOTS.c.study_id == study
        kept = self._connection.execute(sa.select(SNAPSHOTS.c.seq).where(here)).scalars().all()
        if seq in kept:
            return
        self._connection.execute(sa.insert(SNAPSHOTS).values(study_id=study, seq=seq, at=self.now, body=body))
        for old in spare([*kept, seq]):
            self._connection.execute(sa.delete(SNAPSHOTS).where(here, SNAPSHOTS.c.seq == old))
