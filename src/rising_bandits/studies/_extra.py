"""Studies need packages that the library itself does not; imported first, so that what is missing is said well."""

from importlib.util import find_spec

from rising_bandits.errors import MissingExtraError

PACKAGES = ("sqlalchemy", "alembic", "pandas")

for package in PACKAGES:
    if find_spec(package) is None:
        raise MissingExtraError(
            f"studies need {package}, which is not installed; pip install 'rising-bandits[studies]'"
        )
