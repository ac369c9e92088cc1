"""The first schema: studies, their event logs, snapshots."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the three tables."""
    op.create_table(
        "rising_studies",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(200), nullable=False, unique=True),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        # The number of a study that was deleted must never become another one's.
        sqlite_autoincrement=True,
    )
    op.create_table(
        "rising_events",
        sa.Column("study_id", sa.Integer, sa.ForeignKey("rising_studies.id"), primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("decision", sa.BigInteger),
        sa.Column("body", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
    once = sa.text("kind IN ('ask', 'tell')")
    op.create_index(
        "rising_events_once",
        "rising_events",
        ["study_id", "decision", "kind"],
        unique=True,
        sqlite_where=once,
        postgresql_where=once,
    )
    piece = sa.text("kind = 'piece'")
    op.create_index(
        "rising_events_pieces",
        "rising_events",
        ["study_id", "decision"],
        sqlite_where=piece,
        postgresql_where=piece,
    )
    op.create_table(
        "rising_snapshots",
        sa.Column("study_id", sa.Integer, sa.ForeignKey("rising_studies.id"), primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )


def downgrade() -> None:
    """Drop everything."""
    for table in ("rising_snapshots", "rising_events", "rising_studies"):
        op.drop_table(table)
