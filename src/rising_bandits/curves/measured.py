"""Curves from measurements: they are known at some plays, and they may fall."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits.curves.curve import Curve, check_curve
from rising_bandits.errors import InputError


@dataclass(frozen=True)
class Interpolated(Curve):
    """A curve that is known at some plays, with straight lines between them. It may fall.

    Before the first known play the mean is that of the first, and after the last known play it is that of the last.

    Parameters
    ----------
    plays
        Numbers of previous plays at which the mean is known, ascending. They need not be whole numbers.
    values
        The means there, in [0, 1].

    >>> Interpolated(plays=(0, 10, 30), values=(0.2, 0.6, 0.5))([0, 5, 20, 99]).round(3).tolist()
    [0.2, 0.4, 0.55, 0.5]
    """

    plays: tuple[float, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "plays", _checks.numbers("plays", self.plays, low=-1e15, high=1e15))
        object.__setattr__(self, "values", _checks.numbers("values", self.values, low=0.0, high=1.0))
        if not self.plays:
            raise InputError(f"plays must be a list of at least one number, got {self.plays!r}")
        if len(self.plays) != len(self.values):
            raise InputError(f"values must hold one mean per entry of plays, {len(self.plays)}, got {len(self.values)}")
        if any(later <= sooner for sooner, later in zip(self.plays, self.plays[1:], strict=False)):
            raise InputError(f"plays must ascend, got {self.plays!r:.80}")

    def __repr__(self) -> str:
        return f"Interpolated({len(self.plays)} means, {self.values[0]:g} to {self.values[-1]:g})"

    @property
    def settled(self) -> int:
        return max(0, math.ceil(self.plays[-1]))

    def mean(self, plays: Ints) -> Floats:
        return np.asarray(np.interp(plays, self.plays, self.values))


@dataclass(frozen=True)
class Dropping(Curve):
    """Another curve that falls at once to a part of its height, and goes on from there.

    It stands for a tool that breaks, or a model that a supplier changes. The drop comes with a play of the arm.

    Parameters
    ----------
    curve
        The curve without the drop.
    at
        The number of previous plays at which it drops.
    factor
        What the means are multiplied by from then on, in [0, 1].

    >>> from rising_bandits.curves import Linear
    >>> Dropping(Linear(duration=10), at=5, factor=0.5)([4, 5, 10]).tolist()
    [0.4, 0.25, 0.5]
    """

    curve: Curve
    at: int
    factor: float = 0.0

    def __post_init__(self) -> None:
        check_curve(self.curve)
        _checks.integer("at", self.at, low=0, limit=10**12)
        _checks.number("factor", self.factor, low=0.0, high=1.0)

    @property
    def settled(self) -> int | None:
        return None if self.curve.settled is None else max(self.curve.settled, self.at)

    def mean(self, plays: Ints) -> Floats:
        return np.asarray(self.curve.mean(plays) * np.where(plays < self.at, 1.0, self.factor))
