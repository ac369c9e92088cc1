"""Optional parts of the library: what is missing is named, with a command that installs it."""

from __future__ import annotations

from importlib.util import find_spec

from rising_bandits.errors import MissingExtraError


def require(extra: str, package: str, otherwise: str = "") -> None:
    """Raise `MissingExtraError`, which names the extra, if one of its packages is not installed.

    Parameters
    ----------
    extra, package
        The extra, and the package of it that is needed.
    otherwise
        What to do instead of installing it.
    """
    if find_spec(package) is None:
        raise MissingExtraError(
            f"the extra {extra} is missing ({package} is not installed): "
            f"pip install '.[{extra}]' in a clone of the project" + (f", or {otherwise}" if otherwise else "")
        )
