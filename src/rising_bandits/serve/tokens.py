"""Tokens: who may do what with which study. Only hashes of tokens are kept.

A token is 32 random bytes, so one SHA-256 of it cannot be turned back; a slow hash is for passwords.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rising_bandits._files import replacing
from rising_bandits.errors import InputError

RIGHTS = ("read", "ask", "tell", "change", "create", "delete", "storage")
"""What a token may allow.

read     look at studies
ask      ask for decisions
tell     tell outcomes
change   retire, restore and reset arms, and change settings
create   create studies
delete   delete studies
storage  use the storage itself, as ``rb.studies.open(..., storage="http://...")`` does
"""
ALL = "*"
"""The name that stands for every study."""
MAIN = "RISING_TOKEN"
"""The name of the token in the environment."""
_FORMAT = 1
_SHORTEST = 16
_LOOK_AGAIN = 1.0
"""After how many seconds the file is looked at again."""


@dataclass(frozen=True)
class Grant:
    """What the holder of a token may do."""

    name: str
    """The name of the token, for logs; never the token itself."""
    studies: frozenset[str]
    """The names of the studies, or `ALL`."""
    rights: frozenset[str]
    """Some of `RIGHTS`."""

    def allows(self, right: str, study: str | None = None) -> bool:
        """Whether it allows something with a study; without a study: whether it allows it with every study.

        Parameters
        ----------
        right
            What is to be done, one of `RIGHTS`.
        study
            The name of the study.

        >>> grant = Grant("router", frozenset({"routes"}), frozenset({"ask"}))
        >>> grant.allows("ask", "routes"), grant.allows("ask", "team"), grant.allows("tell", "routes")
        (True, False, False)
        """
        return right in self.rights and (ALL in self.studies or (study is not None and study in self.studies))

    def sees(self, study: str) -> bool:
        """Whether it allows anything with a study. Other studies do not exist for it.

        Parameters
        ----------
        study
            The name of the study.
        """
        return ALL in self.studies or study in self.studies


EVERYTHING = Grant("everyone on this machine", frozenset({ALL}), frozenset(RIGHTS))
"""What a service on loopback without tokens allows."""


def digest(token: str) -> str:
    """The hash of a token, under which it is kept."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class Tokens:
    """The tokens that a service knows: one from the environment with all rights, and those in a file.

    The file is read again when it changes, so a token that is revoked stops working within a second.

    Parameters
    ----------
    main
        The token with all rights; None if there is none.
    path
        The file of further tokens; None for none. It need not exist.

    Raises
    ------
    InputError
        The token is too short, or the file is damaged or open to other users.
    """

    def __init__(self, main: str | None = None, path: str | Path | None = None) -> None:
        if main is not None and (len(main) < _SHORTEST or not main.isascii() or not main.isprintable()):
            raise InputError(f"RISING_TOKEN must have at least {_SHORTEST} printable ASCII characters")
        self._main = None if main is None else digest(main)
        self.path = None if path is None else Path(path)
        self._found: dict[str, Grant] = {}
        self._stamp: tuple[int, int] | None = None
        self._looked = -1e9
        self._refresh()
        self._needed = self._main is not None or bool(self._found)

    @property
    def needed(self) -> bool:
        """Whether a request needs a token. Where one was needed once it stays so, even if the file is gone."""
        self._refresh()
        self._needed = self._needed or bool(self._found)
        return self._needed

    def grant(self, token: str) -> Grant | None:
        """What a token allows; None if it is not known. The time that this takes says nothing about the tokens.

        Parameters
        ----------
        token
            The token as a client sent it.
        """
        return self.grant_of(digest(token))

    def grant_of(self, given: str) -> Grant | None:
        """What the token with a hash allows, see `grant`.

        Parameters
        ----------
        given
            The hash.
        """
        self._refresh()
        found = None
        # Every hash is compared, whichever fits.
        if self._main is not None and hmac.compare_digest(given, self._main):
            found = Grant(MAIN, frozenset({ALL}), frozenset(RIGHTS))
        for known, grant in self._found.items():
            if hmac.compare_digest(given, known) and found is None:
                found = grant
        return found

    def _refresh(self) -> None:
        """Read the file again if it has changed."""
        now = time.monotonic()
        if self.path is None or now < self._looked + _LOOK_AGAIN:
            return
        try:
            status = self.path.stat()
        except FileNotFoundError:
            self._found, self._stamp, self._looked = {}, None, now
            return
        if self._stamp != (status.st_mtime_ns, status.st_ino):
            self._found = {entry["sha256"]: _grant(entry) for entry in _read(self.path)}
            self._stamp = (status.st_mtime_ns, status.st_ino)
        # Not before: while the file cannot be read, every look at it raises.
        self._looked = now

    def reload(self) -> None:
        """Look at the file at the next request, however recently it was read."""
        self._looked = -1e9


def create(path: str | Path, name: str, studies: Iterable[str], rights: Iterable[str]) -> str:
    """Make a token and keep its hash in a file.

    Parameters
    ----------
    path
        The file; only its owner can read it.
    name
        The name of the token, for lists and logs.
    studies, rights
        Names of studies (or `ALL`), and some of `RIGHTS`.

    Returns
    -------
    str
        The token. It is nowhere else, so it must be noted now.

    Raises
    ------
    InputError
        An argument is wrong, the name is taken, or the file is damaged.
    """
    entry = {"name": name, "studies": sorted(set(studies)), "rights": sorted(set(rights)), "sha256": "0" * 64}
    _grant(entry)
    if name == MAIN:
        raise InputError(f"name must not be {MAIN!r}, which is the name of the token in the environment")
    path = Path(path)
    known = _read(path) if path.exists() else []
    if any(other["name"] == name for other in known):
        raise InputError(f"name must be new, but there is a token {name!r}; revoke it, or pass another name")
    token = "rb_" + secrets.token_urlsafe(32)
    _write(path, [*known, {**entry, "sha256": digest(token)}])
    return token


def revoke(path: str | Path, name: str) -> None:
    """Forget a token.

    Parameters
    ----------
    path
        The file.
    name
        The name of the token.

    Raises
    ------
    InputError
        There is no such token.
    """
    path = Path(path)
    known = _read(path) if path.exists() else []
    left = [entry for entry in known if entry["name"] != name]
    if len(left) == len(known):
        raise InputError(
            f"name must be the name of a token ({', '.join(e['name'] for e in known) or 'none'}), got {name!r}"
        )
    _write(path, left)


def listed(path: str | Path) -> list[Grant]:
    """What the tokens of a file allow."""
    path = Path(path)
    return [_grant(entry) for entry in _read(path)] if path.exists() else []


def default_path() -> Path:
    """The file of tokens if none is given."""
    root = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(root).expanduser() / "rising-bandits" / "tokens.json"


def _grant(entry: Any) -> Grant:
    """What an entry of the file allows, checked."""
    name, studies, rights = entry["name"], entry["studies"], entry["rights"]
    if not isinstance(name, str) or not 1 <= len(name) <= 200 or not name.isprintable():
        raise InputError(f"name must be a text of 1 to 200 printable characters, got {name!r}")
    if not isinstance(studies, list) or not studies or not all(isinstance(study, str) and study for study in studies):
        raise InputError(f"studies must be names of studies, or {ALL!r} for all, got {studies!r}")
    if not isinstance(rights, list) or not rights or not set(rights) <= set(RIGHTS):
        raise InputError(f"rights must be some of {', '.join(RIGHTS)}, got {rights!r}")
    if not isinstance(entry["sha256"], str) or len(entry["sha256"]) != 64:
        raise InputError("sha256 must be the hash of a token")
    return Grant(name, frozenset(studies), frozenset(rights))


def _read(path: Path) -> list[Any]:
    """The entries of the file."""
    if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(f"the file of tokens {str(path)!r} must be closed to other users; chmod 600 it")
    try:
        data = json.loads(path.read_text("utf-8"))
        if data["format"] != _FORMAT:
            raise InputError(f"the file of tokens must be of format {_FORMAT}, got {data['format']!r}")
        for entry in data["tokens"]:
            _grant(entry)
        return list(data["tokens"])
    except (ValueError, KeyError, TypeError, RecursionError, AttributeError) as error:
        raise InputError(f"the file of tokens {str(path)!r} is damaged: {error}") from None


def _write(path: Path, entries: list[Any]) -> None:
    """Write the file, which only its owner can read."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with replacing(path) as aside:
        aside.touch(mode=0o600)
        aside.chmod(0o600)
        aside.write_text(json.dumps({"format": _FORMAT, "tokens": entries}, indent=1) + "\n", "utf-8")
