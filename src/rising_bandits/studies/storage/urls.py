"""Addresses of storages: what they mean, and how messages show them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast
from urllib.parse import parse_qsl, unquote

from rising_bandits.errors import InputError

DEFAULT = "sqlite:///studies.db"
"""The storage if none is given."""
_SECRETS = (
    (re.compile(r"(?<=://)([^/@\s]*?):[^/\s]*@"), r"\1:***@"),
    (re.compile(r"([^/\s:@'\"]*):[^/\s:@]+@"), r"\1:***@"),
    (re.compile(r"(?i)(pass(?:word|wd)?|token|secret)=[^&\s'\"]*"), r"\1=***"),
)


@dataclass(frozen=True)
class Address:
    """The address of a database. As a text it does not tell the password."""

    sqlite: bool
    """Whether it is a SQLite file; else it is a PostgreSQL server."""
    text: str = field(repr=False)
    """The address with the password. For PostgreSQL it is one that its own library reads."""
    database: str
    """The path of a SQLite file, which may be a URI (``file:...``); the name of a PostgreSQL database."""
    options: tuple[tuple[str, str], ...] = field(repr=False)
    """What stands behind the question mark."""
    password: str = field(repr=False)
    """The password, empty if there is none."""

    @property
    def query(self) -> Mapping[str, str]:
        """The options as a mapping."""
        return dict(self.options)

    def __str__(self) -> str:
        return shown(self.text)


def shown(storage: object) -> str:
    """A storage as messages show it: without the password, wherever it stands.

    >>> shown("postgresql://ann:hunter2@host/team?password=hunter2")
    'postgresql://ann:***@host/team?password=***'
    """
    text = str(storage)
    for pattern, new in _SECRETS:
        text = pattern.sub(new, text)
    return text


def parse(storage: str) -> Address:
    """The address of a storage, checked.

    Parameters
    ----------
    storage
        ``sqlite:///file.db`` with a path that may be relative, or ``postgresql://user:password@host:port/database``.
        The name of a driver, as in ``postgresql+psycopg``, is left out.

    Raises
    ------
    InputError
        It is neither.

    >>> parse("sqlite:////data/team.db").database
    '/data/team.db'
    >>> parse("postgresql+psycopg://ann:a%40b@host/team").password
    'a@b'
    """
    if isinstance(cast(object, storage), str):
        scheme, _, rest = storage.partition("://")
        place, mark, query = rest.partition("?")
        options = tuple(parse_qsl(query, keep_blank_values=True))
        backend = scheme.partition("+")[0]
        if backend == "postgresql":
            return _server(place, mark + query, options)
        path = place.removeprefix("/")
        if backend == "sqlite" and path != place and path not in ("", ":memory:") and "\0" not in path:
            if not path.startswith("file:"):
                # Made absolute, because the working directory of the process may change.
                path = str(Path(path).resolve())
            return Address(True, f"sqlite:///{path}{mark}{query}", path, options, "")
    raise InputError(
        "storage must be a URL of a SQLite file, as in 'sqlite:///routes.db', or of PostgreSQL, as in "
        f"'postgresql://user@host/database', got {shown(storage)!r}"
    )


def _server(place: str, query: str, options: tuple[tuple[str, str], ...]) -> Address:
    """The address of a PostgreSQL database."""
    # Only what stands before the first slash can be a user and a password.
    who, at, _ = place.partition("/")[0].rpartition("@")
    given = unquote(who.partition(":")[2]) if at else ""
    password = dict(options).get("password", given)
    return Address(False, f"postgresql://{place}{query}", place.partition("/")[2], options, password)
