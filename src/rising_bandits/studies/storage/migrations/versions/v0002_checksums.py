"""Checksums of events and of settings; studies that are being loaded or removed are hidden."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from rising_bandits.studies.storage.digests import event_digest, study_digest

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_CHUNK = 10_000


def upgrade() -> None:
    """Add the columns, and compute the checksums of what is there."""
    op.add_column("rising_studies", sa.Column("digest", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("rising_studies", sa.Column("loading", sa.Double))
    op.add_column("rising_events", sa.Column("digest", sa.BigInteger, nullable=False, server_default="0"))
    connection = op.get_bind()
    studies = connection.execute(sa.text("SELECT id, name, created_at, settings FROM rising_studies")).all()
    for study, name, created_at, settings in studies:
        connection.execute(
            sa.text("UPDATE rising_studies SET digest = :digest WHERE id = :id"),
            {"digest": study_digest(name, created_at, settings), "id": study},
        )
        _fill(connection, study)


def _fill(connection: sa.Connection, study: int) -> None:
    """Compute the checksums of a study's events."""
    query = sa.text(
        "SELECT seq, kind, at, decision, body FROM rising_events WHERE study_id = :study AND seq > :after "
        f"ORDER BY seq LIMIT {_CHUNK}"
    )
    change = sa.text("UPDATE rising_events SET digest = :digest WHERE study_id = :study AND seq = :seq")
    after = before = 0
    while rows := connection.execute(query, {"study": study, "after": after}).all():
        changes: list[dict[str, Any]] = []
        for row in rows:
            before = event_digest(before, study, *row)
            changes.append({"digest": before, "study": study, "seq": row[0]})
        connection.execute(change, changes)
        after = rows[-1][0]


def downgrade() -> None:
    """Drop the columns."""
    op.drop_column("rising_events", "digest")
    op.drop_column("rising_studies", "loading")
    op.drop_column("rising_studies", "digest")
