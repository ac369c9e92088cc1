"""The two databases: how to connect, to begin a transaction, and to say what went wrong.

Both are used through their drivers: that of SQLite is part of Python, that of PostgreSQL is the extra ``postgres``.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote, unquote

from rising_bandits import _checks
from rising_bandits.errors import InputError, MissingExtraError, StorageError, StudyGoneError
from rising_bandits.studies.storage.queue import Queue
from rising_bandits.studies.storage.schema import VERSION_TABLE
from rising_bandits.studies.storage.urls import Address, shown, without_secrets

_MIGRATION_LOCK, _LIBRARY_LOCK = 7_246_331, 7_246_332
"""The numbers of the PostgreSQL locks for migrations and for the list of studies. Others are unlikely to use them."""
_PAGE = 2048
"""The bytes of a page of a new SQLite file. A call changes few bytes, and its commit writes whole pages."""
_CHECKPOINT = 4_000
"""The pages of SQLite's write-ahead log after which it is copied into the file. Each time waits for the disk."""
Ahead = Callable[[], None]


class StatementError(StorageError):
    """A statement failed in the database."""


class GoneStatementError(StatementError, StudyGoneError):
    """A statement failed because its study was deleted."""


class DamagedStatementError(StatementError):
    """A statement failed because the file is damaged, or is no database."""


_DAMAGE = ("not a database", "malformed", "decode", "no such column", "corrupt")
"""Words of SQLite about files that are damaged."""


def failed(url: Address, error: BaseException, timeout: float) -> StatementError:
    """The error for an error of the driver."""
    kind = StatementError
    if "foreign key" in str(error).lower():
        kind = GoneStatementError
    elif url.sqlite and any(word in str(error) for word in _DAMAGE):
        kind = DamagedStatementError
    return kind(explain(url, error, timeout))


class Database(Protocol):
    """What the storage needs of a database."""

    url: Address
    sqlite: bool
    error: type[Exception]
    """The base of the driver's errors."""
    mark: str
    """What stands for a parameter in a statement."""

    def connect(self) -> Any:
        """A new connection of the driver."""

    def begin(self, connection: Any) -> None:
        """Begin to read."""

    def begin_write(self, connection: Any, study: int | None, timeout: float, ahead: Ahead | None) -> None:
        """Begin to write to a study, or to the list of studies (None). Waits for its turn."""

    def begin_migration(self, connection: Any) -> None:
        """Begin to change the tables. Waits until nobody else does."""

    def check(self) -> None:
        """Refuse to go on with a file that was deleted or replaced."""

    def commit(self, connection: Any) -> None:
        """End a transaction. What it changed is stored for good."""

    def ended(self, *, more: bool = False) -> None:
        """A transaction has ended: the next one may begin. ``more`` says that it should be one of this process."""

    def busy(self, connection: Any) -> bool:
        """Whether a transaction is open."""

    def now(self, connection: Any) -> float:
        """The time, in seconds since 1970."""

    def version(self, connection: Any) -> int | None:
        """A number that changes if another connection changes the database; None if there is no such number."""

    def close(self, connection: Any) -> None:
        """Close a connection, which ends its transaction."""

    def forget(self) -> None:
        """Forget what belongs to the parent process, in a fork."""

    def insert(self, connection: Any, statement: str, row: tuple[Any, ...]) -> int:
        """Insert a row into a table with a column ``id``, and return the new id."""


class SQLite:
    """A SQLite file with a write-ahead log.

    Parameters
    ----------
    url
        The address.
    create
        Whether the file may be made.
    look
        Whether the file is only looked at: then nothing is written, not even beside it.
    power_safe
        Whether every commit waits for the disk.
    timeout
        How many seconds to wait for a locked file.
    """

    sqlite = True
    error: type[Exception] = sqlite3.Error
    mark = "?"

    def __init__(self, url: Address, *, create: bool, look: bool, power_safe: bool, timeout: float) -> None:
        self.url, self._power_safe, self._timeout = url, power_safe, timeout
        named = str(url.database)
        # The options of a URI such as 'file:name?cache=private' are SQLite's own affair.
        self.path = None if named.startswith("file:") else Path(named)
        self._place = _path_of_uri(named) if self.path is None else str(self.path)
        mode = url.query.get("mode", "rwc")
        if mode not in ("ro", "rw", "rwc"):
            raise InputError(f"the mode of a storage must be ro, rw or rwc, got {mode!r}")
        self.look, create = look or mode == "ro", create and mode != "rw"
        if self.path is not None and not (create and not self.look) and not self.path.exists():
            raise InputError(f"storage must exist to be opened, but there is no file {named!r}")
        self._identity: tuple[int, int] | None = None
        self._queue = None if self.path is None or self.look else Queue(self.path)
        self._create = create

    def _uri(self) -> str:
        """The address as SQLite reads it."""
        if self.path is None:
            query = "&".join(f"{key}={value}" for key, value in self.url.query.items() if key != "uri")
            return f"{self.url.database}{'?' + query if query else ''}"
        where = f"file:{quote(str(self.path))}"
        if not self.look:
            return f"{where}?mode={'rwc' if self._create else 'rw'}"
        # Without a write-ahead log nobody has the file open; to look at it needs no file beside it then.
        alone = not Path(f"{self.path}-wal").exists()
        return f"{where}?mode=ro{'&immutable=1' if alone else ''}"

    def connect(self) -> sqlite3.Connection:
        """A new connection of the driver."""
        connection = sqlite3.connect(
            self._uri(), timeout=self._timeout, isolation_level=None, check_same_thread=False, uri=True
        )
        try:
            # Reads the tables' definitions. If these are damaged, the driver may fail to read SQLite's own message.
            found = connection.execute(f"SELECT 1 FROM sqlite_master WHERE name = '{VERSION_TABLE}'").fetchall()
            if not self.look and (found or self._create):
                # Not in a file without studies that is only opened: it is a stranger's.
                if not found:
                    connection.execute(f"PRAGMA page_size={_PAGE}")
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute(f"PRAGMA synchronous={'FULL' if self._power_safe else 'NORMAL'}")
                connection.execute(f"PRAGMA wal_autocheckpoint={_CHECKPOINT}")
            connection.execute("PRAGMA foreign_keys=ON")
            connection.execute("PRAGMA cell_size_check=ON")
            self._identity = _identity(self._place)
        except UnicodeDecodeError as error:
            connection.close()
            raise sqlite3.DatabaseError(f"malformed definitions of tables: {error}") from None
        except BaseException:
            connection.close()
            raise
        return connection

    def begin(self, connection: sqlite3.Connection) -> None:
        """Begin to read."""
        connection.execute("BEGIN")

    def begin_write(
        self, connection: sqlite3.Connection, study: int | None, timeout: float, ahead: Ahead | None
    ) -> None:
        """Begin to write. The whole file is locked, whichever study it is."""
        if self._queue is not None and not self._queue.enter(timeout, ahead):
            raise sqlite3.OperationalError("database is locked, and others are waiting")
        connection.execute("BEGIN IMMEDIATE")

    def begin_migration(self, connection: sqlite3.Connection) -> None:
        """Begin to change the tables: the file is locked."""
        connection.execute("BEGIN IMMEDIATE")

    def check(self) -> None:
        """Refuse to go on with a file that was deleted or replaced: nobody would find what is written there."""
        if self._place is not None and _identity(self._place) != self._identity:
            raise StorageError(
                f"{shown(self.url)} was deleted or replaced while it was open; nothing was acknowledged; "
                "open the study again"
            )

    def commit(self, connection: sqlite3.Connection) -> None:
        """End a transaction."""
        connection.execute("COMMIT")

    def ended(self, *, more: bool = False) -> None:
        """Let the next process write."""
        if self._queue is not None:
            self._queue.leave(more=more)

    def busy(self, connection: sqlite3.Connection) -> bool:
        """Whether a transaction is open."""
        return connection.in_transaction

    def now(self, connection: sqlite3.Connection) -> float:
        """The time of this machine."""
        return STEADY()

    def version(self, connection: sqlite3.Connection) -> int | None:
        """SQLite counts the changes of other connections that this one meets, as of its transaction."""
        found: int = connection.execute("PRAGMA data_version").fetchone()[0]
        return found

    def close(self, connection: sqlite3.Connection) -> None:
        """Close a connection, and the file of the queue."""
        try:
            # A connection with a query that was not read to its end would keep its transaction, and its lock.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        finally:
            self._close(connection)

    def _close(self, connection: sqlite3.Connection) -> None:
        try:
            connection.close()
        finally:
            if self._queue is not None:
                self._queue.close()

    def forget(self) -> None:
        """Forget the parent's ticket."""
        if self._queue is not None:
            self._queue.forget()

    def insert(self, connection: sqlite3.Connection, statement: str, row: tuple[Any, ...]) -> int:
        """Insert a row, and return its id."""
        number = connection.execute(statement, row).lastrowid
        assert number is not None
        return number


class Postgres:
    """A PostgreSQL database."""

    sqlite = False
    mark = "%s"

    def __init__(self, url: Address) -> None:
        self.url = url
        try:
            import psycopg
        except ImportError as error:
            raise MissingExtraError(
                f"PostgreSQL needs a driver ({error.name}); pip install '.[postgres]' in a clone of the project"
            ) from None
        self._driver = psycopg
        self.error: type[Exception] = psycopg.Error

    def connect(self) -> Any:
        """A new connection of the driver."""
        return self._driver.connect(self.url.text, autocommit=True)

    def begin(self, connection: Any) -> None:
        """Begin to read: all answers are as of one moment."""
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def begin_write(self, connection: Any, study: int | None, timeout: float, ahead: Ahead | None) -> None:
        """Begin to write: the row of the study is locked, or the list of studies."""
        # A server may have another default, under which calls that wait for each other would fail.
        connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        if study is None:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LIBRARY_LOCK,))
        else:
            connection.execute("SELECT id FROM rising_studies WHERE id = %s FOR UPDATE", (study,))

    def begin_migration(self, connection: Any) -> None:
        """Begin to change the tables: one at a time does."""
        connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK,))

    def check(self) -> None:
        """A server has no file that could be replaced."""

    def commit(self, connection: Any) -> None:
        """End a transaction. To a commit after a failed statement the server answers with a silent rollback."""
        if connection.info.transaction_status != self._driver.pq.TransactionStatus.INTRANS:
            raise self._driver.OperationalError("the transaction has failed already")
        connection.execute("COMMIT")

    def ended(self, *, more: bool = False) -> None:
        """The server itself orders those who wait."""

    def busy(self, connection: Any) -> bool:
        """Whether a transaction is open."""
        return bool(connection.info.transaction_status != self._driver.pq.TransactionStatus.IDLE)

    def now(self, connection: Any) -> float:
        """The time of the server."""
        return float(connection.execute("SELECT extract(epoch FROM clock_timestamp())").fetchone()[0])

    def version(self, connection: Any) -> int | None:
        """A server has no such number."""
        return None

    def close(self, connection: Any) -> None:
        """Close a connection."""
        connection.close()

    def forget(self) -> None:
        """Nothing belongs to the parent but its connection."""

    def insert(self, connection: Any, statement: str, row: tuple[Any, ...]) -> int:
        """Insert a row, and return its id."""
        return int(connection.execute(f"{statement} RETURNING id", row).fetchone()[0])


class Steady:
    """The time of this machine. It never goes back within a process: then it counts the seconds that really pass."""

    def __init__(self) -> None:
        self._at, self._since = 0.0, time.monotonic()

    def __call__(self) -> float:
        """The time, in seconds since 1970."""
        passed = time.monotonic()
        now = max(time.time(), self._at + passed - self._since)
        self._at, self._since = now, passed
        return now


STEADY = Steady()


def checked_clock(clock: Callable[[], float]) -> float:
    """The time of a clock of the user's own, checked."""
    return _checks.number("the time that clock returns", clock(), low=-9e9, high=9e9)


def explain(url: Address, error: BaseException, timeout: float) -> str:
    """The message for an error of a database."""
    said = without_secrets(" ".join(str(error).split()), url)
    place = shown(url)
    if "No space" in said or "disk full" in said or (url.sqlite and "full" in said):
        return f"there is no space left for {place}; nothing was changed, free some space and try again ({said})"
    if "foreign key" in said.lower():
        return f"the study is no longer in {place}: it was deleted; nothing was changed"
    # The message of a server may hold its name, so these words mean nothing there.
    if url.sqlite and ("locked" in said or "busy" in said):
        return (
            f"{place} has been locked by another process for {timeout:g} s; nothing was changed, "
            f"try again or pass a longer timeout ({said})"
        )
    if url.sqlite and ("readonly" in said or "unable to open" in said):
        return f"{place} cannot be written; check that its folder exists, and check its permissions ({said})"
    if url.sqlite and any(word in said for word in _DAMAGE):
        return f"{place} is damaged, or is not a database of studies; restore a backup ({said})"
    return f"{place} failed; nothing was acknowledged ({said})"


def _path_of_uri(uri: str) -> str:
    """The path in a URI as SQLite reads it: ``file:path``, ``file:///path`` or ``file://localhost/path``.

    >>> _path_of_uri("file:///data/a%20b.db"), _path_of_uri("file:a.db")
    ('/data/a b.db', 'a.db')
    """
    return unquote(re.sub("^file:(//[^/]*(?=/))?", "", uri).partition("#")[0])


def _identity(path: str | None) -> tuple[int, int] | None:
    """Which file stands at a path; None where there is none."""
    if path is None:
        return None
    try:
        found = os.stat(path)  # noqa: PTH116 - every call does this, and a Path would take twice the time
    except OSError:
        return None
    return found.st_dev, found.st_ino
