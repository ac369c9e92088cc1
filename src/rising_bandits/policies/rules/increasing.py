r"""A line through an arm's outcomes until the arm has converged, its mean afterwards.

Let :math:`n` be the plays of a unit since it was last reset. While the unit rises, its index is the value of the
least-squares line at the next play, and a bonus for the deviation of that value:

.. math::

    \hat a (n+1) + \hat b + \sigma \sqrt{C \log t \; v}, \qquad v = \frac1n + \frac{3(n+1)}{n(n-1)}.

Two lines through the last two windows of :math:`w` plays each predict the next outcome too. If the older line predicts
more than the newer by a threshold, the rise is over. The unit then forgets all plays before the newer window, and from
then on its index is the mean of what it keeps, with :math:`v = 1/n`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import compiled
from rising_bandits.errors import InputError
from rising_bandits.policies.rules.checking import bounded, check_unplayed
from rising_bandits.policies.rules.operations import assume, indices, roomy, update
from rising_bandits.policies.rules.rings import Rings, grow, make_rings, read, write
from rising_bandits.policies.rules.terms import AVERAGE, BONUS, IMPROVEMENT
from rising_bandits.policies.rules.usual import assume_unplayed, roomy_rings


class Increasing(NamedTuple):
    """State of the index: plays in all and since the reset, sums since then, and which units have converged."""

    plays: Ints
    since: Ints
    """Plays that count: since the unit converged, or all."""
    sums: Floats
    """Per unit, over the plays that count: the sum of outcomes, and of outcomes times their number, from 1."""
    converged: Ints
    """1 for a unit that has converged, 0 for one that rises."""
    unplayed: Floats
    """The index of each unit while it has no plays."""
    rings: Rings
    window: int
    threshold: float
    sigma: float
    constant: float

    @property
    def draws(self) -> bool:
        """Whether it uses the generator."""
        return False

    def check(self) -> None:
        if ((self.since < 0) | (self.since > self.plays)).any() or ((self.since == 0) & (self.plays > 0)).any():
            raise InputError("state holds more plays since a reset than plays, or none")
        if ((self.converged != 0) & (self.converged != 1)).any():
            raise InputError("state holds arms that neither rise nor have converged")
        if (self.rings.capacity < np.minimum(self.plays, 2 * self.window)).any():
            raise InputError("state holds buffers that are smaller than its windows")
        check_unplayed(self.unplayed)
        if not bounded(self.sums):
            raise InputError("state holds sums that outcomes cannot have")

    def terms(self, t: int) -> dict[str, Floats]:
        parts = np.full((3, self.plays.size), np.nan)
        for unit in np.flatnonzero(self.plays):
            ahead, spread = predicted(self, int(unit))
            mean = self.sums[unit, 0] / self.since[unit]
            bonus = self.sigma * math.sqrt(self.constant * math.log(t) * spread)
            parts[:, unit] = mean, ahead - mean, bonus
        return {AVERAGE: parts[0], IMPROVEMENT: parts[1], BONUS: parts[2]}


def make_increasing(n_units: int, *, window: int, threshold: float, sigma: float, constant: float) -> Increasing:
    """The state before the first play: every index is infinite."""
    return Increasing(
        plays=np.zeros(n_units, dtype=np.int64),
        since=np.zeros(n_units, dtype=np.int64),
        sums=np.zeros((n_units, 2)),
        converged=np.zeros(n_units, dtype=np.int64),
        unplayed=np.full(n_units, np.inf),
        rings=make_rings(n_units),
        window=window,
        threshold=threshold,
        sigma=sigma,
        constant=constant,
    )


@compiled
def predicted(state: Increasing, unit: int) -> tuple[float, float]:
    """The predicted next outcome of a unit with plays, and the factor v of its variance."""
    n = float(state.since[unit])
    total = state.sums[unit, 0]
    if state.converged[unit] == 1 or n < 2.0:
        return total / n, 1.0 / n
    slope = (state.sums[unit, 1] - 0.5 * (n + 1.0) * total) / (n * (n * n - 1.0) / 12.0)
    return total / n + slope * 0.5 * (n + 1.0), 1.0 / n + 3.0 * (n + 1.0) / (n * (n - 1.0))


@compiled
def _window_line(state: Increasing, unit: int, last: int, at: int) -> float:
    """The value at play ``at`` of the line through the window that ends with play ``last``."""
    w = state.window
    total, moment = 0.0, 0.0
    for place in range(1, w + 1):
        value = read(state.rings, unit, last - w + place)
        total += value
        moment += (place - 0.5 * (w + 1)) * value
    return total / w + moment / (w * (w * w - 1.0) / 12.0) * (at - last + 0.5 * (w - 1))


@update.register(Increasing)
def _update(state: Increasing, unit: int, outcome: float) -> None:
    before, w = state.plays[unit], state.window
    capacity = state.rings.capacity[unit]
    if before >= capacity and capacity < 2 * w:
        grow(state.rings, unit, before)
    plays = before + 1
    write(state.rings, unit, plays, outcome)
    state.plays[unit] = plays
    count = state.since[unit] + 1
    state.since[unit] = count
    state.sums[unit, 0] += outcome
    state.sums[unit, 1] += count * outcome
    if state.converged[unit] == 0 and count >= 2 * w:
        older = _window_line(state, unit, plays - w, plays + 1)
        if older - _window_line(state, unit, plays, plays + 1) > state.threshold:
            state.converged[unit] = 1
            state.since[unit] = w
            state.sums[unit, 0] = 0.0
            state.sums[unit, 1] = 0.0
            for place in range(1, w + 1):
                value = read(state.rings, unit, plays - w + place)
                state.sums[unit, 0] += value
                state.sums[unit, 1] += place * value


@indices.register(Increasing)
def _indices(state: Increasing, t: int, rng: object, out: Floats) -> None:
    confidence = state.constant * math.log(t)
    for unit in range(out.size):
        if state.plays[unit] == 0:
            out[unit] = state.unplayed[unit]
        else:
            ahead, spread = predicted(state, unit)
            out[unit] = ahead + state.sigma * math.sqrt(confidence * spread)


assume.register(Increasing)(assume_unplayed)
roomy.register(Increasing)(roomy_rings)
