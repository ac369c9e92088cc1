"""Checks of parameters that several policies have."""

from __future__ import annotations

from rising_bandits import _checks
from rising_bandits.errors import InputError

LARGEST = 1e9
"""The largest noise and the largest factor of a bonus. Outcomes are at most 1, and indices must not overflow."""


def checked_sigma(sigma: object) -> float:
    """The subgaussian constant of the noise."""
    wanted = "a number of at least 0, the subgaussian constant of the noise"
    return _checks.number("sigma", sigma, low=0.0, limit=LARGEST, wanted=wanted)


def checked_deviation(sigma: object) -> float:
    """The standard deviation of an outcome, for normal samples."""
    wanted = "a number above 0, the standard deviation of an outcome"
    return _checks.number("sigma", sigma, low=0.0, open_low=True, limit=LARGEST, wanted=wanted)


def checked_epsilon(epsilon: object) -> float:
    """The window as a share of an arm's plays, below 1/2 so that the plays hold two windows."""
    return _checks.number("epsilon", epsilon, low=0.0, high=0.5, open_low=True, open_high=True)


def checked_bonus(bonus: object) -> float:
    """The constant C of a bonus."""
    return _checks.number("bonus", bonus, low=0.0, limit=LARGEST, wanted="a number C of at least 0 for C·log t")


def checked_flag(name: str, value: object) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise InputError(f"{name} must be True or False, got {value!r}")
    return value


def checked_posterior(posterior: object) -> str:
    """``"beta"`` or ``"gaussian"``."""
    if not isinstance(posterior, str) or posterior not in ("beta", "gaussian"):
        raise InputError(f"posterior must be 'beta' or 'gaussian', got {posterior!r}")
    return str(posterior)


def checked_share(window: object) -> float:
    """A window as a share of the plays."""
    wanted = "a share of the plays in (0, 1)"
    return _checks.number("window", window, low=0.0, high=1.0, open_low=True, open_high=True, wanted=wanted)


def checked_window(window: object) -> int | float:
    """A window as a number of plays, or as a share of them.

    >>> checked_window(20), checked_window(0.25)
    (20, 0.25)
    """
    if isinstance(window, float) and not window.is_integer():
        wanted = "a number of plays, or a share of them in (0, 1)"
        return _checks.number("window", window, low=0.0, high=1.0, open_low=True, open_high=True, wanted=wanted)
    return _checks.integer("window", window, low=1, limit=10**12)


def known_horizon(kind: str, horizon: int | None) -> int:
    """The horizon; refuses None."""
    if horizon is None:
        raise InputError(f"horizon must be given to start {kind}, which counts the rounds left; got None")
    return horizon
