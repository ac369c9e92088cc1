"""Migrations: databases of older versions are upgraded, those of newer versions are refused."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory

from rising_bandits.errors import StorageError
from rising_bandits.studies.storage.schema import VERSION_TABLE

FOLDER = Path(__file__).parent / "migrations"
"""The folder with the migration scripts."""
_LOCK = 7_246_331
"""The number of the PostgreSQL lock for migrations. Other programs are unlikely to use the same number."""


def scripts() -> tuple[Config, ScriptDirectory]:
    """The migration scripts of this version of the library."""
    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    config.set_main_option("path_separator", "os")
    return config, ScriptDirectory.from_config(config)


def refuse_newer(found: str | None, place: str) -> None:
    """Refuse a database that a newer version of the library wrote.

    ``found`` is the version of the database, None if it is empty. ``place`` is its name in error messages.
    """
    known = {revision.revision for revision in scripts()[1].walk_revisions()}
    if found is not None and found not in known:
        raise StorageError(
            f"{place} was written by a newer rising-bandits (schema {found}, this program knows "
            f"{', '.join(sorted(known))}); upgrade with pip install -U rising-bandits"
        )


def upgrade(url: sa.URL, connect: Callable[[], Any], place: str) -> None:
    """Apply the missing migrations in one transaction.

    Parameters
    ----------
    url
        The address of the database.
    connect
        Makes a connection of its driver.
    place
        The database in error messages.
    """
    config, script = scripts()
    sqlite = url.get_backend_name() == "sqlite"

    def steps(revision: Any, context: Any) -> Any:
        refuse_newer(revision[0] if isinstance(revision, tuple) and revision else None, place)
        return script._upgrade_revs("head", revision)

    engine = sa.create_engine(url, creator=connect, poolclass=sa.NullPool)
    with engine.connect() as connection:
        # The drivers' connections commit every statement by themselves, unless a transaction is begun by hand.
        connection.exec_driver_sql("BEGIN IMMEDIATE" if sqlite else "BEGIN ISOLATION LEVEL READ COMMITTED")
        if not sqlite:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        try:
            with EnvironmentContext(config, script, fn=steps) as environment, _quiet():
                environment.configure(connection=connection, version_table=VERSION_TABLE)
                environment.run_migrations()
        except BaseException:
            with contextlib.suppress(Exception):
                connection.exec_driver_sql("ROLLBACK")
            raise
        connection.exec_driver_sql("COMMIT")
    engine.dispose()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence Alembic, which logs every step at a level that many programs show."""
    logger = logging.getLogger("alembic")
    before = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(before)
