"""Addresses of storages: what they mean, and how messages show them."""

from __future__ import annotations

import re
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import exc

from rising_bandits.errors import InputError

DEFAULT = "sqlite:///studies.db"
"""The storage if none is given."""
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


def parse(storage: str) -> sa.URL:
    """The URL of a storage, checked, with the driver for PostgreSQL."""
    try:
        url = sa.make_url(storage)
        backend = url.get_backend_name()
    except (exc.ArgumentError, TypeError, AttributeError, ValueError):
        backend, url = "", sa.URL.create("none")
    if backend == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if backend != "sqlite" or not url.database or url.database == ":memory:" or "\0" in url.database:
        raise InputError(
            "storage must be a URL of a SQLite file, as in 'sqlite:///routes.db', or of PostgreSQL, as in "
            f"'postgresql://user@host/database', got {shown(storage)!r}"
        )
    # Made absolute, because the working directory of the process may change.
    return url if url.database.startswith("file:") else url.set(database=str(Path(url.database).resolve()))
