"""Files of the user's own from which tasks are read.

A task names such a file by its path and its digest. A worker on another machine does not have the file, so it is given
the content, and finds it by the digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from rising_bandits.errors import InputError

MOST_BYTES = 100 * 2**20
"""The largest file that is read."""
_given: dict[str, bytes] = {}
"""Contents that this process was given, by their digests."""


def digest(content: bytes) -> str:
    """The first 12 hexadecimal digits of the SHA-256 of a content."""
    return hashlib.sha256(content).hexdigest()[:12]


def give(contents: Iterable[bytes]) -> None:
    """Make the contents of files known here, in place of the files.

    Parameters
    ----------
    contents
        The contents, as `content_of` returned them on another machine.
    """
    _given.update({digest(content): content for content in contents})


def content_of(what: str, path: str | Path, wanted: str | None = None) -> bytes:
    """The content of a file.

    Parameters
    ----------
    what
        What the file is, for error messages.
    path
        The file.
    wanted
        The digest that its content must have; by default any.

    Raises
    ------
    InputError
        The file cannot be read, is too large, or has another digest.
    """
    if wanted is not None:
        if not isinstance(wanted, str):
            raise InputError(f"digest must be a text of hexadecimal digits, got {wanted!r:.80}")
        if wanted in _given:
            return _given[wanted]
    path = str(path)
    try:
        size = Path(path).stat().st_size
        # A pipe or a device has no size and perhaps no end.
        if not Path(path).is_file() or size > MOST_BYTES:
            raise InputError(f"{what} {path!r} must be a file of at most {MOST_BYTES >> 20} MB")
        content = Path(path).read_bytes()
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"{what} {path!r} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if wanted not in (None, found := digest(content)):
        raise InputError(f"{what} {path!r} has changed: its digest is {found}, not {wanted}")
    return content
