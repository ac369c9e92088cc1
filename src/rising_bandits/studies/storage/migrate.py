"""Migrations: databases of older versions are upgraded, those of newer versions are refused."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
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


def scripts() -> tuple[Config, ScriptDirectory]:
    """The migration scripts of this version of the library."""
    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    config.set_main_option("path_separator", "os")
    return config, ScriptDirectory.from_config(config)


def upgrade(connection: sa.Connection, found: str | None, place: str) -> None:
    """Apply the missing migrations within the caller's transaction.

    ``found`` is the version of the database, None if it is empty. ``place`` is its name in error messages.
    """
    config, script = scripts()
    known = {revision.revision for revision in script.walk_revisions()}
    if found is not None and found not in known:
        raise StorageError(
            f"{place} was written by a newer rising-bandits (schema {found}, this program knows "
            f"{', '.join(sorted(known))}); upgrade with pip install -U rising-bandits"
        )

    def steps(revision: Any, context: Any) -> Any:
        return script._upgrade_revs("head", revision)

    with EnvironmentContext(config, script, fn=steps) as environment, _quiet():
        environment.configure(connection=connection, version_table=VERSION_TABLE)
        environment.run_migrations()


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
