"""Optional parts of the library: what is missing is said well, before anything else is imported."""

from __future__ import annotations

from importlib.util import find_spec

from rising_bandits.errors import MissingExtraError


def require(extra: str, *packages: str) -> None:
    """Refuse, naming the extra, if one of its packages is not installed."""
    for package in packages:
        if find_spec(package) is None:
            raise MissingExtraError(
                f"{extra} needs {package}, which is not installed; pip install 'rising-bandits[{extra}]'"
            )
