"""Checksums of what is stored.

That of an event covers the event before it, so that none is lost or changed unseen. That of a snapshot is the first
entry of its JSON text. Snapshots of older versions have none.
"""

from __future__ import annotations

import hashlib
import struct
import zlib

_PACK = struct.Struct("<qqqdq").pack
_HASH = hashlib.blake2b
_NUMBER = struct.Struct("<q").unpack


def event_digest(before: int, study: int, seq: int, kind: str, at: float, decision: int | None, body: str) -> int:
    """The checksum of an event.

    Parameters
    ----------
    before
        The checksum of the event before it, 0 for the first one.
    study, seq, kind, at, decision
        The columns of the event.
    body
        Its body as stored, a JSON text.

    Returns
    -------
    int
        A signed number of 64 bits.
    """
    head = _PACK(before, study, seq, at + 0.0, -1 if decision is None else decision)
    number: int = _NUMBER(_HASH(head + f"{kind}\n{body}".encode(), digest_size=8).digest())[0]
    return number


def study_digest(name: str, created_at: float, settings: str) -> int:
    """The checksum of a study's own row."""
    text = f"{name}\n{created_at + 0.0!r}\n{settings}"
    number: int = _NUMBER(_HASH(text.encode(), digest_size=8).digest())[0]
    return number


_SEALED = b'{"checksum":"%s",'
_SEALED_LENGTH = len(_SEALED % bytes(16))


def packed_snapshot(text: bytes) -> bytes:
    """A snapshot as it is stored: its JSON text with a checksum, compressed.

    >>> unpacked_snapshot(packed_snapshot(b'{"seq":7}'))[-9:]
    b',"seq":7}'
    """
    return zlib.compress(_SEALED % _mark(text[1:]) + text[1:], 1)


def unpacked_snapshot(body: bytes) -> bytes:
    """The JSON text of a stored snapshot. Raises ValueError if it is not what was written."""
    try:
        text = zlib.decompress(body)
    except (zlib.error, TypeError) as error:
        raise ValueError(str(error)) from None
    head, rest = text[:_SEALED_LENGTH], text[_SEALED_LENGTH:]
    if head.startswith(_SEALED[:13]) and head != _SEALED % _mark(rest):
        raise ValueError("it does not agree with its checksum")
    return text


def _mark(text: bytes) -> bytes:
    """The checksum of a text as 16 letters."""
    return _HASH(text, digest_size=8).hexdigest().encode()
