r"""A test whether outcomes contradict the noise that a policy was told.

A policy that is told a subgaussian constant :math:`\sigma` trusts it. If outcomes vary more, it can take noise for a
trend and never play a good arm again. This test looks at falls: outcomes that are smaller than the outcome of the play
before. A rising arm falls by noise alone, however steeply it rises.

Let :math:`F_j` be the fall from play :math:`2j-1` to play :math:`2j` of an arm, 0 if it does not fall. These pairs do
not overlap. The difference of two outcomes is :math:`\sqrt2\,\sigma`-subgaussian, so for
:math:`0 < \lambda < 1` the process

.. math:: M_n = (1-\lambda)^{n/2} \exp\Big(\lambda \sum_{j \le n} \frac{F_j^2}{4\sigma^2}\Big)

is a supermartingale with :math:`M_0 = 1`. By Ville's inequality it ever exceeds :math:`1/\alpha` with probability at
most :math:`\alpha`. Outcomes contradict :math:`\sigma` if that happens for one of three :math:`\lambda` and one of K
arms, with :math:`\alpha = 0.001 / (3K)`. So the chance of a false alarm is at most one in a thousand, over all arms and
all time.

The two largest falls of an arm are left out. That only makes the test more careful, and it lets an arm break once or
twice: a single large fall is a change of the arm, not noise.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

FALSE_ALARM = 0.001
"""The chance that outcomes are said to contradict a true sigma, over all arms and all time."""
_LAMBDAS = (0.2, 0.5, 0.8)
_EXACT = 1e-9
"""Falls of this size are rounding errors, whatever sigma is."""
_MOST = 1e9
"""Outcomes in [0, 1] contradict no sigma of this size."""


def told_sigma(sigma: object) -> float | None:
    """The subgaussian constant that a policy was told; None if it is no such number.

    A policy of one's own may call something else ``sigma``.

    >>> told_sigma(0.5), told_sigma(-1), told_sigma("wide"), told_sigma(10**400)
    (0.5, None, None, None)
    """
    if isinstance(sigma, bool) or not isinstance(sigma, int | float) or not 0.0 <= sigma <= _MOST:
        return None
    return float(sigma)


Name = TypeVar("Name", bound=Hashable)


class Steps:
    """The falls of one arm from play to play, in pairs of plays.

    >>> steps = Steps()
    >>> for outcome in (1.0, 0.0, 0.0, 1.0):
    ...     _ = steps.add(outcome)
    >>> steps.pairs, steps.squares
    (2, 1.0)
    """

    __slots__ = ("largest", "last", "pairs", "second", "squares")

    def __init__(self) -> None:
        self.last: float | None = None
        """The outcome that waits for its partner."""
        self.pairs = 0
        self.squares = 0.0
        """The sum of the squared falls."""
        self.largest = self.second = 0.0
        """The two largest squared falls."""

    def add(self, outcome: float) -> bool:
        """Add the next outcome. Returns whether a pair is complete."""
        last = self.last
        if last is None:
            self.last = outcome
            return False
        self.last = None
        self.pairs += 1
        if outcome < last:
            self._fell((last - outcome) ** 2)
        return True

    def extend(self, outcomes: list[float]) -> None:
        """Add several outcomes, oldest first: the same as `add` for each, and faster."""
        if self.last is not None or len(outcomes) % 2:
            for outcome in outcomes:
                self.add(outcome)
            return
        self.pairs += len(outcomes) // 2
        squares, largest, second = self.squares, self.largest, self.second
        each = iter(outcomes)
        for last, outcome in zip(each, each, strict=True):
            if outcome < last:
                square = (last - outcome) ** 2
                squares += square
                if square > largest:
                    largest, second = square, largest
                elif square > second:
                    second = square
        self.squares, self.largest, self.second = squares, largest, second

    def _fell(self, square: float) -> None:
        """Add the square of a fall."""
        self.squares += square
        if square > self.largest:
            self.largest, self.second = square, self.largest
        elif square > self.second:
            self.second = square

    def against(self, sigma: float, arms: int = 1) -> bool:
        """Whether the falls contradict sigma.

        Parameters
        ----------
        sigma
            The subgaussian constant of the noise, at least 0.
        arms
            How many arms are tested.
        """
        rest = self.squares - self.largest - self.second
        if rest <= 0.0 or sigma > _MOST:
            return False
        scaled = rest / (4.0 * max(sigma, _EXACT) ** 2)
        level = math.log(len(_LAMBDAS) * arms / FALSE_ALARM)
        return any(part * scaled + 0.5 * self.pairs * math.log1p(-part) >= level for part in _LAMBDAS)

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise, estimated from the falls; it assumes noise that is symmetric."""
        return math.sqrt(self.squares / self.pairs) if self.pairs else 0.0

    def dump(self) -> list[float | None]:
        """The numbers as plain data."""
        return [self.last, self.pairs, self.squares, self.largest, self.second]

    @classmethod
    def load(cls, data: list[float | None]) -> Steps:
        """The inverse of `dump`."""
        steps = cls()
        last, pairs, squares, largest, second = data
        steps.last = None if last is None else float(last)
        steps.pairs = int(pairs or 0)
        steps.squares, steps.largest, steps.second = float(squares or 0), float(largest or 0), float(second or 0)
        return steps


@dataclass(frozen=True)
class Contradiction:
    """Outcomes that contradict sigma. Print it to read it."""

    sigma: float
    """What was told."""
    deviation: float
    """The noise that the outcomes of the arm show."""
    arm: object
    """The arm, as the caller names it."""
    pairs: int
    """The pairs of plays that show it."""

    def __str__(self) -> str:
        return (
            f"outcomes contradict sigma = {self.sigma:g}: those of {self.arm!r} vary by about {self.deviation:.2g} "
            f"from play to play ({2 * self.pairs} plays, values from 0 to 1)"
        )


def contradiction(steps: Mapping[Name, Steps], sigma: float, arms: int) -> Contradiction | None:
    """The arm that contradicts sigma most clearly, if one does.

    Parameters
    ----------
    steps
        The steps of each arm that was played.
    sigma
        The subgaussian constant that was told, at least 0.
    arms
        The number of arms.

    Returns
    -------
    Contradiction or None
        None if no arm contradicts sigma. The chance of anything else is at most `FALSE_ALARM` if sigma is true and the
        arms do not fall.

    >>> import numpy as np
    >>> seen = Steps()
    >>> for outcome in np.random.default_rng(0).random(40) < 0.7:
    ...     _ = seen.add(float(outcome))
    >>> print(contradiction({"x": seen}, 0.01, 1))
    outcomes contradict sigma = 0.01: those of 'x' vary by about 0.45 from play to play (40 plays, values from 0 to 1)
    >>> contradiction({"x": seen}, 0.5, 1) is None
    True
    """
    found = [(name, seen) for name, seen in steps.items() if seen.against(sigma, arms)]
    if not found:
        return None
    name, seen = max(found, key=lambda one: one[1].deviation)
    return Contradiction(float(sigma), seen.deviation, name, seen.pairs)
