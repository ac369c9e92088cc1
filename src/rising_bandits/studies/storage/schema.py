"""The tables of a storage: studies, events and snapshots.

The state of a study follows from its events alone. Snapshots only save time. Events are never changed. The number of an
event is its place in the log of its study. The database itself refuses a second ask or a second final tell of the same
decision. A checksum of each event covers the event before it, see `rising_bandits.studies.storage.digests`. A study
that is being loaded or removed is hidden: its column ``loading`` has the time when that began.
"""

from __future__ import annotations

import sqlalchemy as sa

METADATA = sa.MetaData()
VERSION_TABLE = "rising_bandits_version"
HEAD = "0002"
"""The newest version of the schema, that of the last file in ``migrations/versions``."""

STUDIES = sa.Table(
    "rising_studies",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(200), nullable=False, unique=True),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("settings", sa.Text, nullable=False),
    sa.Column("digest", sa.BigInteger, nullable=False),
    sa.Column("loading", sa.Double),
)
EVENTS = sa.Table(
    "rising_events",
    METADATA,
    sa.Column("study_id", sa.Integer, primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("at", sa.Double, nullable=False),
    sa.Column("decision", sa.BigInteger),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("digest", sa.BigInteger, nullable=False),
)
SNAPSHOTS = sa.Table(
    "rising_snapshots",
    METADATA,
    sa.Column("study_id", sa.Integer, primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True),
    sa.Column("at", sa.Double, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
)
