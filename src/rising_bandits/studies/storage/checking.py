"""Is a database whole? Every row is read and compared with its checksum; nothing is written."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from rising_bandits.errors import StorageError
from rising_bandits.studies.log.events import KINDS
from rising_bandits.studies.storage.databases import DamagedStatementError, StatementError
from rising_bandits.studies.storage.digests import event_digest, study_digest, unpacked_snapshot
from rising_bandits.studies.storage.schema import HEAD
from rising_bandits.studies.storage.sql import Storage
from rising_bandits.studies.storage.transactions import Reader

_CHUNK = 20_000
_MOST = 100
"""The most faults that are listed."""


def find_faults(storage: Storage) -> tuple[int, int, list[str]]:
    """Read everything in a database.

    Returns
    -------
    tuple
        The number of studies, the number of events, and what is wrong, one sentence for each place.
    """
    studies = events = 0
    faults: list[str] = []
    try:
        with storage.read() as reader:
            faults += _structure(storage, reader)
            if storage.version is not None:
                for row in reader.rows("SELECT * FROM rising_studies ORDER BY id"):
                    hidden = row[5] if storage.version == HEAD else None
                    if hidden is not None and hidden < 0:
                        # It is being removed, from its beginning on.
                        continue
                    studies += hidden is None
                    count, found = _study(reader, row, storage.version == HEAD)
                    events += count
                    faults += found[: _MOST - len(faults)]
    except StorageError as error:
        if isinstance(error, StatementError) and not isinstance(error, DamagedStatementError):
            # Nothing is known about what could not be read.
            raise
        faults.append(str(error))
    return studies, events, faults


def _structure(storage: Storage, reader: Reader) -> list[str]:
    """What SQLite itself finds."""
    if not storage.sqlite:
        return []
    rows = reader.rows(f"PRAGMA integrity_check({_MOST})")
    found = [f"the file: {row[0]}" for row in rows if row[0] != "ok"]
    if not found and storage.version is not None:
        found = [f"the file: a row of {row[0]} belongs to no study" for row in reader.rows("PRAGMA foreign_key_check")]
    return found


def _study(reader: Reader, row: Any, checked: bool) -> tuple[int, list[str]]:
    """The number of events of a study, and what is wrong with it."""
    number, name, created_at, settings = row[:4]
    what, faults = f"study {name!r}", []
    if checked and row[5] is None and _differs(row[4], study_digest, name, created_at, settings):
        faults.append(f"{what}: the settings do not agree with their checksum")
    newest, found = _events(reader, number, checked)
    faults += [f"{what}: {fault}" for fault in found]
    if newest == 0 and not (checked and row[5] is not None):
        # One that is being loaded may have none yet.
        faults.append(f"{what}: it has no event")
    for seq, body in reader.rows("SELECT seq, body FROM rising_snapshots WHERE study_id = ?", number):
        try:
            unpacked_snapshot(body)
            whole = seq <= newest
        except (ValueError, TypeError):
            whole = False
        if not whole:
            faults.append(f"{what}: the snapshot of event {seq} is damaged; it is not needed, and passed over")
    return newest, faults


def _events(reader: Reader, study: int, checked: bool) -> tuple[int, list[str]]:
    """The number of the newest event, and what is wrong with the log."""
    after = before = 0
    faults: list[str] = []
    for row in _rows(reader, study, checked):
        seq, kind, digest = row[0], row[1], row[5]
        if seq != after + 1:
            faults.append(f"events {after + 1} to {seq - 1} are missing")
        elif checked and _differs(digest, event_digest, before, study, *row[:5]):
            faults.append(f"event {seq} does not agree with its checksum")
        elif kind not in KINDS:
            faults.append(f"event {seq} is of the kind {kind!r}, which this program does not know")
        after, before = seq, digest
        if len(faults) >= _MOST:
            break
    return after, faults


def _rows(reader: Reader, study: int, checked: bool) -> Iterator[Any]:
    """The rows of a log."""
    after = 0
    query = f"SELECT seq, kind, at, decision, body, {'digest' if checked else '0'} FROM rising_events "
    query += f"WHERE study_id = ? AND seq > ? ORDER BY seq LIMIT {_CHUNK}"
    while rows := reader.rows(query, study, after):
        yield from rows
        after = rows[-1][0]


def _differs(digest: Any, function: Any, *parts: Any) -> bool:
    """Whether a checksum is another one than the parts have."""
    try:
        return bool(function(*parts) != digest)
    except (TypeError, ValueError, AttributeError, OverflowError, struct.error):
        return True
