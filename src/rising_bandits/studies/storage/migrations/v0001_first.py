"""The first schema: studies, their event logs, snapshots."""

from __future__ import annotations

from rising_bandits.studies.storage.migrations.changes import Changes

VERSION = "0001"


def upgrade(changes: Changes) -> None:
    """Create the three tables."""
    changes.run(
        "CREATE TABLE rising_studies (id {KEY}, name VARCHAR(200) NOT NULL, created_at {DOUBLE} NOT NULL, "
        "settings TEXT NOT NULL, UNIQUE (name))"
    )
    changes.run(
        "CREATE TABLE rising_events (study_id INTEGER NOT NULL, seq BIGINT NOT NULL, kind VARCHAR(16) NOT NULL, "
        "at {DOUBLE} NOT NULL, decision BIGINT, body TEXT NOT NULL, PRIMARY KEY (study_id, seq), "
        "FOREIGN KEY (study_id) REFERENCES rising_studies (id)){BY KEY}"
    )
    changes.run(
        "CREATE UNIQUE INDEX rising_events_once ON rising_events (study_id, decision, kind) "
        "WHERE kind IN ('ask', 'tell')"
    )
    changes.run("CREATE INDEX rising_events_pieces ON rising_events (study_id, decision) WHERE kind = 'piece'")
    changes.run(
        "CREATE TABLE rising_snapshots (study_id INTEGER NOT NULL, seq BIGINT NOT NULL, at {DOUBLE} NOT NULL, "
        "body {BYTES} NOT NULL, PRIMARY KEY (study_id, seq), FOREIGN KEY (study_id) REFERENCES rising_studies (id))"
    )
