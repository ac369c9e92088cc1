"""Checksums of what is stored. Each event's covers the event before it, so that none is lost or changed unseen."""

from __future__ import annotations

import hashlib
import struct

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
