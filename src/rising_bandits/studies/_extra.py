"""Imported first: studies need packages that the library itself does not."""

from rising_bandits._extras import require

require("studies", "sqlalchemy", "alembic", "pandas")
