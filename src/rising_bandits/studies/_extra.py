"""Refuses to go on where the packages of the extra are missing."""

from rising_bandits._extras import require

for _package in ("sqlalchemy", "alembic", "pandas"):
    require("studies", _package)
