"""The tables of a storage. The event log of a study is the truth; a snapshot only saves reading it again.

An event is never changed. Its number is its place in the log of its study. A decision's ask and its final tell can
be in the log once each: the database itself refuses a second one.
"""

from __future__ import annotations

import sqlalchemy as sa

METADATA = sa.MetaData()
VERSION_TABLE = "rising_bandits_version"
HEAD = "0001"
"""The newest version of the schema, the last file in ``migrations/versions``."""

STUDIES = sa.Table(
    "rising_studies",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(200), nullable=False, unique=True),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("settings", sa.Text, nullable=False),
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
)
SNAPSHOTS = sa.Table(
    "rising_snapshots",
    METADATA,
    sa.Column("study_id", sa.Integer, primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True),
    sa.Column("at", sa.Double, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
)
