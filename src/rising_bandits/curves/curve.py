r"""The base class of curves: :math:`\mu(n)` is the mean outcome of an arm that has been played ``n`` times before."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits.errors import InputError


def _counts(plays: npt.ArrayLike) -> Ints:
    """Check that numbers of plays are whole numbers, and convert them to integers."""
    given = _checks.array(plays)
    whole = given.dtype.kind in "iu" or (given.dtype.kind == "f" and bool((given == np.floor(given)).all()))
    if not whole or (given.size and not np.abs(given).max() < 2**63):
        raise InputError(f"plays must be whole numbers of plays, got {plays!r:.80}")
    return given.astype(np.int64)


def check_curve(curve: object) -> None:
    """Check that an argument is a curve."""
    if not isinstance(curve, Curve):
        raise InputError(f"curve must be a curve such as Flat(0.5), got {curve!r}")


def check_curves(name: str, curves: object) -> tuple[Curve, ...]:
    """Check that an argument holds curves only, and return them as a tuple."""
    found = _checks.listed(curves)
    for curve in [None] if found is None else found:
        if not isinstance(curve, Curve):
            got = curves if found is None else curve
            raise InputError(f"{name} must be curves, one per base arm, such as (Flat(0.5),), got {got!r:.80}")
    return tuple(found or ())


class Curve(ABC):
    """Base class of curves: the mean outcome of an arm as a function of its previous plays.

    A curve can be called with one number of plays or with an array of them. Curves are immutable and hashable. To write
    your own curve, derive a frozen dataclass from this class and implement `mean`. If the curve becomes constant, also
    override `settled`, so that simulations need less memory.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Root(Curve):
    ...     '''Rises like the square root of the plays up to play 100.'''
    ...     settled = 100
    ...     def mean(self, plays):
    ...         return np.sqrt(np.minimum(plays, 100)) / 10
    >>> Root()([0, 25, 400]).tolist()
    [0.0, 0.5, 1.0]
    """

    @abstractmethod
    def mean(self, plays: Ints) -> Floats:
        """The mean outcome after each number of plays.

        Parameters
        ----------
        plays
            Numbers of previous plays, as an integer array of any shape.

        Returns
        -------
        array of float
            The means, in the same shape.
        """

    @property
    def settled(self) -> int | None:
        """The number of plays from which on the curve is constant, or None if it never is."""
        return None

    def __call__(self, plays: npt.ArrayLike) -> Floats:
        counts = _counts(plays)
        if counts.size and counts.min() < 0:
            raise InputError(f"plays must be at least 0, got {counts.min()}")
        found: object = self.mean(counts)
        try:
            return np.asarray(found, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"what {type(self).__name__}.mean returns must be means, got {found!r:.200}") from None

    def table(self, horizon: int) -> Floats:
        """The means after 0, 1, 2, ... plays, up to where the curve becomes constant.

        Parameters
        ----------
        horizon
            The largest number of means.

        Returns
        -------
        array of float
            The first ``horizon`` means, or fewer: the last value of a shorter table holds for all later plays.

        Raises
        ------
        InputError
            A mean is outside [0, 1], or the table would take too much memory.
        """
        horizon = _checks.integer("horizon", horizon, low=0)
        settled = self.settled
        if settled is not None:
            settled = _checks.integer(f"settled of {type(self).__name__}", settled, low=0)
        length = horizon if settled is None else min(horizon, settled + 1)
        _checks.memory(f"the means of {horizon} plays of {self!r:.80}", 2.0 * length)
        values = self(np.arange(max(1, length)))
        if values.shape != (max(1, length),):
            raise InputError(f"mean of {type(self).__name__} must return one mean per play, got shape {values.shape}")
        if not np.isfinite(values).all() or values.min() < 0.0 or values.max() > 1.0:
            raise InputError(
                f"the means of {self!r} must lie in [0, 1], got {values.min():g} to {values.max():g} "
                f"within {horizon} plays"
            )
        return values

    def total(self, horizon: int) -> float:
        """The sum of the means of the first plays.

        Parameters
        ----------
        horizon
            The number of plays.
        """
        values = self.table(horizon)
        return float(values.sum() + values[-1] * (horizon - values.size))
