"""Checksums of events and of settings; studies that are being loaded or removed are hidden."""

from __future__ import annotations

from rising_bandits.studies.storage.digests import event_digest, study_digest
from rising_bandits.studies.storage.migrations.changes import Changes

VERSION = "0002"

_CHUNK = 10_000


def upgrade(changes: Changes) -> None:
    """Add the columns, and compute the checksums of what is there."""
    changes.run("ALTER TABLE rising_studies ADD COLUMN digest BIGINT DEFAULT '0' NOT NULL")
    changes.run("ALTER TABLE rising_studies ADD COLUMN loading {DOUBLE}")
    changes.run("ALTER TABLE rising_events ADD COLUMN digest BIGINT DEFAULT '0' NOT NULL")
    for study, name, created_at, settings in changes.run(
        "SELECT id, name, created_at, settings FROM rising_studies"
    ).fetchall():
        digest = study_digest(name, created_at, settings)
        changes.run("UPDATE rising_studies SET digest = ? WHERE id = ?", digest, study)
        _fill(changes, study)


def _fill(changes: Changes, study: int) -> None:
    """Compute the checksums of a study's events."""
    query = (
        "SELECT seq, kind, at, decision, body FROM rising_events WHERE study_id = ? AND seq > ? "
        f"ORDER BY seq LIMIT {_CHUNK}"
    )
    after = before = 0
    while rows := changes.run(query, study, after).fetchall():
        for row in rows:
            before = event_digest(before, study, *row)
            changes.run("UPDATE rising_events SET digest = ? WHERE study_id = ? AND seq = ?", before, study, row[0])
        after = rows[-1][0]
