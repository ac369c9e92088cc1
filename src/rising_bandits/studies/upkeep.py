"""Upkeep of storages: is a database whole, and copies of databases that are in use."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from rising_bandits import _checks
from rising_bandits._text import shown_text
from rising_bandits.errors import InputError, StorageError
from rising_bandits.studies.reports.files import writing
from rising_bandits.studies.storage.checking import find_faults
from rising_bandits.studies.storage.databases import DamagedStatementError
from rising_bandits.studies.storage.schema import HEAD
from rising_bandits.studies.storage.sql import Storage
from rising_bandits.studies.storage.urls import DEFAULT, Address, file_address, shown

_BATCH = 10_000
"""How many events are copied at a time."""


@dataclass(frozen=True)
class Check:
    """What `check` found."""

    storage: str
    """The database, without a password."""
    studies: int
    """The number of studies."""
    events: int
    """The number of events of all studies."""
    faults: list[str]
    """What is wrong, one sentence for each place."""
    notes: list[str]
    """What could not be checked."""

    @property
    def whole(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {"whole": self.whole, **self.__dict__}

    def __str__(self) -> str:
        count = f"{self.studies} {'study' if self.studies == 1 else 'studies'}, {self.events} events"
        first = f"{self.storage}: {count}, {'whole' if self.whole else 'DAMAGED'}"
        lines = [first, *(f"  {fault}" for fault in self.faults), *(f"  note: {note}" for note in self.notes)]
        return shown_text("\n".join(lines), lines=True)


def check(*, storage: str = DEFAULT) -> Check:
    """Check that everything in a storage is as it was written.

    Every event is compared with its checksum, which covers the event before it, and no number may be missing. SQLite
    also checks the file itself. Nothing is written. Others may use the storage meanwhile.

    Parameters
    ----------
    storage
        The URL of the database, as in `rising_bandits.studies.create`.

    Returns
    -------
    Check
        What was found; `Check.whole` says whether all is well.

    Raises
    ------
    InputError
        There is no such file.
    StorageError
        The storage cannot be read, for example because its server does not answer. Whether it is whole is not known.

    >>> import tempfile, rising_bandits as rb
    >>> folder = tempfile.TemporaryDirectory()
    >>> storage = f"sqlite:///{folder.name}/team.db"
    >>> rb.studies.create("team", rb.problems.TopK(["ann", "bob"], k=1), storage=storage).close()
    >>> rb.studies.check(storage=storage).whole
    True
    >>> folder.cleanup()
    """
    return _check(storage)


def _check(storage: str | Address) -> Check:
    """`check` of a storage by its address."""
    try:
        found = Storage(storage, create=False, look=True)
    except DamagedStatementError as error:
        return Check(shown(storage), 0, 0, [str(error)], [])
    try:
        studies, events, faults = find_faults(found)
    finally:
        found.close()
    notes = []
    if found.version is None:
        notes.append("it has no tables of studies")
    elif found.version != HEAD:
        notes.append(f"its version {found.version} has no checksums yet; they are added when a study of it is opened")
    return Check(found.place, studies, events, faults, notes)


def backup(path: str | Path, *, storage: str = DEFAULT, overwrite: bool = False) -> Path:
    """Copy a storage that may be in use to a SQLite file. The copy is as of one moment, and checked.

    The copy is a storage itself: open its studies with ``storage="sqlite:///copy.db"``, or put it in the place of the
    original. The file appears under its name only when it is complete and whole.

    Parameters
    ----------
    path
        The file to write.
    storage
        The URL of the database, as in `rising_bandits.studies.create`. Studies of PostgreSQL are exported to the file.
    overwrite
        True replaces a file that is there.

    Returns
    -------
    pathlib.Path
        The file that was written.

    Raises
    ------
    InputError
        The file is there already, or the storage is not.
    StorageError
        The storage is damaged; nothing was written.

    >>> import tempfile, rising_bandits as rb
    >>> folder = tempfile.TemporaryDirectory()
    >>> storage = f"sqlite:///{folder.name}/team.db"
    >>> study = rb.studies.create("team", rb.problems.TopK(["ann", "bob"], k=1), storage=storage)
    >>> copy = rb.studies.backup(f"{folder.name}/copy.db", storage=storage)
    >>> rb.studies.names(storage=f"sqlite:///{copy}")
    ['team']
    >>> study.close(); folder.cleanup()
    """
    path = _checks.path("path", path)
    if path.is_dir() or (path.exists() and not overwrite):
        raise InputError(f"path must be a new file, but {str(path)!r} is there; pass another one, or overwrite=True")
    source = Storage(storage, create=False, look=True)
    try:
        if path.exists() and source.file is not None and path.samefile(source.file):
            raise InputError(f"path must not be the storage itself, got {str(path)!r}")
        with writing(path) as aside:
            if source.sqlite:
                _copy_file(source, aside)
            else:
                _copy_studies(source, aside)
            found = _check(file_address(aside))
            if not found.whole:
                raise StorageError(f"{source.place} is damaged, so no backup was written: {found.faults[0]}")
    finally:
        source.close()
    return path


def _copy_file(source: Storage, path: Path) -> None:
    """Copy a SQLite file with SQLite's own means, in one read transaction, so that writers need not wait."""
    try:
        with source.read() as reader, closing(sqlite3.connect(path)) as target:
            reader.connection.backup(target)
            # One file, without a write-ahead log beside it.
            target.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.Error as error:
        raise StorageError(f"{source.place} cannot be copied ({error})") from None


def _copy_studies(source: Storage, path: Path) -> None:
    """Copy the studies of any storage to a new SQLite file."""
    target = Storage(file_address(path))
    try:
        with source.read() as reader:
            for name in reader.names():
                found = reader.study(name)
                assert found is not None
                events = reader.later(found[0], 0)
                with target.write() as writer:
                    number = writer.add_study(name, found[1])
                    while batch := list(islice(events, _BATCH)):
                        writer.append(number, batch)
        connection = target._connection()
        connection.execute("PRAGMA journal_mode=DELETE")
    finally:
        target.close()
    Path(f"{path}-turns").unlink(missing_ok=True)
