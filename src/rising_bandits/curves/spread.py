"""Gaussian noise whose deviation belongs to the arm and the play."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits.curves.curve import Curve, check_curves
from rising_bandits.curves.draws import normal
from rising_bandits.curves.noise import Noise, sample
from rising_bandits.errors import InputError


class Spreads(NamedTuple):
    """State of `Spread`: a table of deviations per arm, laid out one after another."""

    values: Floats
    first: Ints
    """Where the table of each arm begins."""
    last: Ints
    """The last place in the table of each arm."""


@sample.register(Spreads)
def _spread(state: Spreads, arm: int, play: int, mean: float, word: int) -> float:
    deviation: float = state.values[state.first[arm] + min(play, state.last[arm])]
    return min(1.0, max(0.0, mean + deviation * normal(word)))


@dataclass(frozen=True)
class Spread(Noise):
    """Gaussian noise that differs between arms and plays, the outcome clipped to [0, 1].

    As for `Gaussian`, means and regret are those of the curve, before clipping.

    Parameters
    ----------
    deviations
        A curve per arm: the standard deviation before clipping, by plays. Each must become constant at some play.
    told
        The subgaussian constant that policies are told. By default the largest deviation.

    >>> from rising_bandits.curves import Flat, Linear
    >>> Spread((Flat(0.1), Linear(duration=10, start=0.0, end=0.3))).sigma
    0.3
    """

    deviations: tuple[Curve, ...]
    told: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "deviations", check_curves("deviations", self.deviations))
        for curve in self.deviations:
            if curve.settled is None:
                raise InputError(f"deviations must be curves that become constant, such as Flat(0.1), got {curve!r}")
        if not self.deviations:
            raise InputError("deviations must hold one curve per base arm, got none")
        if self.told is not None:
            _checks.number("told", self.told, low=0.0)

    def check(self, n_arms: int) -> None:
        if len(self.deviations) != n_arms:
            raise InputError(f"deviations must hold one curve per base arm, {n_arms}, got {len(self.deviations)}")

    @property
    def sigma(self) -> float:
        return float(self.state().values.max()) if self.told is None else float(self.told)

    def state(self) -> Spreads:
        tables = [curve.table((curve.settled or 0) + 1) for curve in self.deviations]
        ends = np.cumsum([table.size for table in tables])
        first = np.concatenate([[0], ends[:-1]]).astype(np.int64)
        return Spreads(np.concatenate(tables), first, (ends - first - 1).astype(np.int64))
