"""Addresses of storages: what they mean, and how messages show them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast
from urllib.parse import quote, unquote

from rising_bandits.errors import InputError

DEFAULT = "sqlite:///studies.db"
"""The storage if none is given."""
_SHOWN = frozenset(
    (
        *("host", "hostaddr", "port", "dbname", "user", "sslmode", "connect_timeout", "application_name"),
        *("mode", "cache", "immutable", "timeout", "uri"),
    )
)
"""Options of addresses that messages show. The value of any other option may be a secret."""
_SHORT = 4
"""A secret of up to so many characters is left out of messages only where it is a word."""
_CHARACTER = r"(?:[^\s@/?%\[\]:]|%[0-9A-Fa-f]{2})"
_HOST = r"(?:\[[0-9A-Fa-f:.%]+\]|[^\s@/?:,\[\]]*)(?::\d*)?"
_SERVER = re.compile(
    rf"(?:(?P<user>{_CHARACTER}*)(?::(?P<password>(?:{_CHARACTER}|:)*))?@)?(?P<hosts>{_HOST}(?:,{_HOST})*)"
    r"(?:/(?P<database>[^\s?]*))?(?:\?(?P<query>[^\s=&]+=[^\s&]*(?:&[^\s=&]+=[^\s&]*)*)?)?\Z"
)
"""What PostgreSQL's own library reads, behind ``postgresql://``."""


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

    Error messages also show what is no address. So whatever could be a secret is left out.

    >>> shown("postgresql://ann:hunter2@host/team?password=hunter2&sslmode=require")
    'postgresql://ann:***@host/team?password=***&sslmode=require'
    >>> shown("host=server password='hunter2'")
    'host=***'
    """
    text = str(storage)
    scheme, mark, rest = text.partition("://")
    if not mark:
        name, equals, _ = _without_password(text).partition("=")
        return f"{name}=***" if equals else name
    if _backend(scheme) == "sqlite" and rest.startswith("/"):
        # A path may hold any character.
        place, mark, query = rest.partition("?")
    else:
        place, mark, query = _without_password(rest).partition("?")
        server, slash, path = place.partition("/")
        host, colon, port = server.rpartition(":")
        if colon and not port.isdecimal() and not port.endswith(("]", "***")) and "@" not in port:
            # No host stands behind it, so it may be a password.
            place = f"{host}:***{slash}{path}"
    return f"{scheme}://{place}{mark}{'&'.join(map(_shown_option, query.split('&'))) if mark else ''}"


def _without_password(text: str) -> str:
    """A text without what is between its first colon and its last at sign. Passwords are there."""
    who, at, rest = text.rpartition("@")
    user, colon, _ = who.partition(":")
    return f"{user}:***@{rest}" if colon else f"{who}{at}{rest}"


def _shown_option(option: str) -> str:
    """An option of an address as messages show it."""
    name, equals, value = option.partition("=")
    if not equals or not name.isidentifier():
        return "***"
    return f"{name}={value if name in _SHOWN else '***'}"


def without_secrets(text: str, address: Address) -> str:
    """A message of a driver without what `shown` leaves out of an address."""
    hidden = {address.password, quote(address.password, safe="")}
    for option, value in address.options:
        if option not in _SHOWN:
            hidden |= {value, quote(value, safe="")}
    # The longest first: one may hold another. Every letter of a message is a short secret by chance.
    for secret in sorted(hidden - {""}, key=len, reverse=True):
        pattern = re.escape(secret)
        text = re.sub(pattern if len(secret) > _SHORT else rf"(?<!\w){pattern}(?!\w)", "***", text)
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
        if _backend(scheme) == "postgresql":
            return _server(rest)
        place, mark, query = rest.partition("?")
        options = _options(query)
        path = place.removeprefix("/")
        if (
            _backend(scheme) == "sqlite"
            and path != place
            and path not in ("", ":memory:", "file::memory:")
            and "\0" not in path
        ):
            if not path.startswith("file:"):
                # Made absolute, because the working directory of the process may change.
                path = str(Path(path).resolve())
            return Address(True, f"sqlite:///{path}{mark}{query}", path, options, "")
    raise InputError(
        "storage must be a URL of a SQLite file, as in 'sqlite:///routes.db', or of PostgreSQL, as in "
        f"'postgresql://user@host/database', got {shown(storage)!r}"
    )


def file_address(path: Path) -> Address:
    """The address of a SQLite file. Unlike in a text, its name may hold a question mark."""
    found = str(path.resolve())
    return Address(True, f"sqlite:///{found}", found, (), "")


def _options(query: str) -> tuple[tuple[str, str], ...]:
    """The options behind the question mark of an address."""
    parts = [part.partition("=") for part in query.split("&") if part]
    return tuple((unquote(name), unquote(value)) for name, _, value in parts)


def _backend(scheme: str) -> str:
    """The kind of database of a scheme such as ``postgresql+psycopg``."""
    return scheme.partition("+")[0]


def _server(rest: str) -> Address:
    """The address of a PostgreSQL database, from what is behind ``://``.

    PostgreSQL's own library reads it too, and in an error message it may show a part of what it could not read. So what
    it cannot read, or would read otherwise than it is meant, is refused here.
    """
    server = re.match(_SERVER, rest)
    if server is None:
        raise InputError(
            "storage must look like 'postgresql://user:password@host:port/database', where special characters of a "
            "user or a password are written as %40 for @, %2F for /, %3F for ?, %25 for % and %20 for a space, "
            f"got {shown('postgresql://' + rest)!r}"
        )
    options = _options(server["query"] or "")
    password = dict(options).get("password", unquote(server["password"] or ""))
    return Address(False, f"postgresql://{rest}", server["database"] or "", options, password)
