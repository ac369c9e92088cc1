"""Raises an error that names the extra ``studies`` if one of its packages is missing."""

from rising_bandits._extras import require

for _package in ("sqlalchemy", "alembic", "pandas"):
    require("studies", _package)
