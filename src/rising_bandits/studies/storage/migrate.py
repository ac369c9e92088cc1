"""Migrations: databases of older versions are upgraded, those of newer versions are refused."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from rising_bandits.errors import StorageError
from rising_bandits.studies.storage.migrations import VERSIONS
from rising_bandits.studies.storage.migrations.changes import Changes
from rising_bandits.studies.storage.schema import HEAD, VERSION_TABLE

if TYPE_CHECKING:
    from rising_bandits.studies.storage.databases import Database


def found_version(changes: Changes) -> str | None:
    """The version of the tables; None if there are none."""
    if changes.sqlite:
        query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?"
    else:
        query = "SELECT to_regclass(?)::text"
    table = changes.run(query, VERSION_TABLE).fetchone()
    if table is None or table[0] is None:
        return None
    row = changes.run(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()
    return None if row is None else str(row[0])


def refuse_newer(found: str | None, place: str) -> None:
    """Refuse a database that a newer version of the library wrote.

    ``found`` is the version of the database, None if it is empty. ``place`` is its name in error messages.
    """
    known = [version.VERSION for version in VERSIONS]
    if found is not None and found not in known:
        raise StorageError(
            f"{place} was written by a newer rising-bandits (schema {found}, this program knows "
            f"{', '.join(known)}); upgrade with pip install -U rising-bandits"
        )


def upgrade(database: Database, place: str) -> None:
    """Apply the missing migrations in one transaction.

    Parameters
    ----------
    database
        The database. It gets a connection of its own.
    place
        The database in error messages.
    """
    connection: Any = database.connect()
    try:
        database.begin_migration(connection)
        changes = Changes(connection, database.sqlite)
        # Another process may have been faster.
        found = found_version(changes)
        refuse_newer(found, place)
        if found is None:
            changes.run(
                f"CREATE TABLE IF NOT EXISTS {VERSION_TABLE} (version_num VARCHAR(32) NOT NULL, "
                f"CONSTRAINT {VERSION_TABLE}_pkc PRIMARY KEY (version_num))"
            )
        for version in VERSIONS:
            if found is None or found < version.VERSION:
                version.upgrade(changes)
        changes.run(f"DELETE FROM {VERSION_TABLE}")
        changes.run(f"INSERT INTO {VERSION_TABLE} VALUES (?)", HEAD)
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(Exception):
            connection.execute("ROLLBACK")
        raise
    finally:
        connection.close()
