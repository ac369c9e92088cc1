"""The storage in a SQL database: a SQLite file (with a write-ahead log) or PostgreSQL.

A write transaction locks the study from its first statement on (SQLite: ``BEGIN IMMEDIATE``; PostgreSQL: the study's
row). So nobody changes what it has read. It returns after the commit.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

from rising_bandits.errors import StorageError
from rising_bandits.studies.storage import forks, migrate
from rising_bandits.studies.storage.blocks import block
from rising_bandits.studies.storage.databases import (
    Database,
    Postgres,
    SQLite,
    StatementError,
    checked_clock,
    explain,
    failed,
)
from rising_bandits.studies.storage.schema import HEAD
from rising_bandits.studies.storage.transactions import Reader, Writer
from rising_bandits.studies.storage.urls import Address, parse, shown


class Storage:
    """A SQL database with studies. It has one connection, which one thread uses at a time. A fork opens its own.

    Parameters
    ----------
    storage
        The URL of the database, or its address.
    create
        False refuses a SQLite file that does not exist, and makes no tables where there are none.
    look
        True only reads. Nothing is written, neither to a SQLite file nor beside it, and no tables are made or upgraded.
    power_safe
        True makes SQLite wait for the disk at every commit.
    timeout
        How many seconds to wait for a locked SQLite file.
    clock
        A function that returns the time in seconds since 1970; None for the clock of the server or of this machine.
    """

    def __init__(
        self,
        storage: str | Address,
        *,
        create: bool = True,
        look: bool = False,
        power_safe: bool = False,
        timeout: float = 30.0,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.url = storage if isinstance(storage, Address) else parse(storage)
        self.timeout, self.clock = timeout, clock
        self.place = shown(self.url)
        """The address as messages show it."""
        self.sqlite = self.url.sqlite
        self.file: Path | None = None
        """The SQLite file, if it is one with a plain path."""
        self.database: Database
        if self.sqlite:
            file = SQLite(self.url, create=create, look=look, power_safe=power_safe, timeout=timeout)
            self.database, self.file, look = file, file.path, file.look
        else:
            self.database = Postgres(self.url)
        self.look = look
        self.version: str | None = HEAD
        """The version of the tables, None if there are none; older ones are only looked at."""
        self._lock, self._pid = threading.RLock(), os.getpid()
        self._held = _Held(self.database)
        self._current: Reader | None = None
        """The transaction of the thread that holds the lock."""
        weakref.finalize(self, self._held.drop)
        forks.watch(self)
        try:
            self._prepare(create)
        except BaseException:
            self._held.drop()
            raise

    @property
    def lock(self) -> threading.RLock:
        """The lock that a thread holds during a transaction. A forked process gets a new lock and a new connection."""
        if self._pid != os.getpid():
            # A fork must share neither the connection nor the lock of its parent.
            self._held.forget()
            self._lock, self._pid = threading.RLock(), os.getpid()
        if forks.FORKER:
            forks.let_pass(self._lock)
        return self._lock

    @property
    def seen(self) -> tuple[int, tuple[int, int, int]] | None:
        """The newest event that a transaction has met, if it is known, and `Database.version` at that time."""
        return self._held.seen

    def _connection(self) -> Any:
        """The open connection; opens one if there is none."""
        held = self._held
        found = held.connection
        if found is not None:
            if not self._unusable(found):
                return found
            # A call was interrupted before it could end its transaction.
            held.drop()
        held.connection = self.database.connect()
        return held.connection

    def _unusable(self, connection: Any) -> bool:
        """Whether a connection is in a transaction that nobody will end, or broken."""
        try:
            return self.database.busy(connection)
        except Exception:
            return True

    def close(self) -> None:
        """Close the connection. The next call opens a new one. A call of another thread is waited for."""
        with self.lock:
            self._held.drop()

    @block
    def read(self) -> Generator[Reader, None, None]:
        """A read transaction, or the open one. Other processes may write at the same time."""
        with self.lock:
            if self._inside():
                yield self._current  # type: ignore[misc]
                return
            try:
                try:
                    connection = self._connection()
                    self.database.begin(connection)
                    self.database.check()
                    self._current = reader = Reader(self, connection)
                    yield reader
                    seen = reader.met()
                    self.database.commit(connection)
                    self._held.seen = seen
                except BaseException as error:
                    self._failed(error)
                    raise
            finally:
                self._current = None

    @block
    def write(self, study: int | None = None, ahead: Callable[[], None] | None = None) -> Generator[Writer, None, None]:
        """A write transaction that locks a study, or all studies (None), until it ends.

        ``ahead`` may be called before it begins, if there is time because others come first.
        """
        with self.lock:
            if self.look:
                raise StorageError(f"{self.place} was opened to be looked at, so nothing can be written")
            if self._inside():
                raise StorageError("a study must not be changed inside another call; nothing was changed")
            try:
                try:
                    connection = self._connection()
                    self.database.begin_write(connection, study, self.timeout, ahead)
                    self._current = writer = Writer(self, connection)
                    yield writer
                    writer.send()
                    if writer.broken is not None:
                        raise writer.broken
                    seen = writer.met()
                    # Before the commit: what is written to a file that nobody finds must not be acknowledged.
                    self.database.check()
                    self.database.commit(connection)
                    self._held.seen = seen
                    self.database.ended(more=writer.asked)
                except BaseException as error:
                    self._failed(error)
                    raise
            finally:
                self._current = None

    def _inside(self) -> bool:
        """Whether this thread is in a transaction."""
        current = self._current
        return current is not None and current.connection is self._held.connection and not self._idle()

    def _idle(self) -> bool:
        """Whether no transaction is open."""
        return self._held.connection is None or not self._unusable(self._held.connection)

    def _failed(self, error: BaseException) -> None:
        """End a transaction that failed. Errors of the database become a `StorageError` that says what to do."""
        known = isinstance(error, self.database.error)
        # Ctrl-C can come at any statement: without its connection no transaction stays open, and no lock held.
        if (
            known
            or isinstance(error, StatementError)
            or not isinstance(error, Exception)
            or self._held.connection is None
        ):
            self._held.drop()
        else:
            try:
                if self.database.busy(self._held.connection):
                    self._held.connection.execute("ROLLBACK")
                self.database.ended()
            except BaseException:
                self._held.drop()
        if known:
            raise failed(self.url, error, self.timeout) from None

    def now(self, connection: Any) -> float:
        """The time: by the clock that was given, else by the PostgreSQL server, else by this machine."""
        return self.database.now(connection) if self.clock is None else checked_clock(self.clock)

    def _prepare(self, create: bool) -> None:
        """Make or upgrade the tables, or refuse those of a newer version of the library."""
        with self.read() as reader:
            self.version = reader.version()
        if self.version == HEAD or (self.version is None and (self.look or not create)):
            return
        migrate.refuse_newer(self.version, self.place)
        if not self.look:
            with self.lock:
                try:
                    self._held.drop()
                    migrate.upgrade(self.database, self.place)
                except self.database.error as error:
                    raise StorageError(explain(self.url, error, self.timeout)) from None
            self.version = HEAD


class _Held:
    """The open connection of a storage, kept apart so that it can be closed after the storage is gone."""

    def __init__(self, database: Database) -> None:
        self.connection: Any = None
        self._database, self._pid = database, os.getpid()
        self.seen: tuple[int, tuple[int, int, int]] | None = None
        """See `Storage.seen`."""

    def forget(self) -> None:
        """Begin without a connection, in this process."""
        self._database.forget()
        self.connection, self.seen, self._pid = None, None, os.getpid()

    def drop(self) -> None:
        """Close the connection, which ends its transaction; in a fork, only forget it."""
        found, mine = self.connection, self._pid == os.getpid()
        if not mine:
            self.forget()
            return
        self.connection = self.seen = None
        if found is not None:
            with contextlib.suppress(Exception):
                self._database.close(found)
