r"""UCB on the outcomes since the last change, with a generalised likelihood ratio test for changes.

Let :math:`n` be the plays of a unit since its last restart, :math:`\hat\mu_{a:b}` the mean of the plays from a to b,
and kl the divergence of Bernoulli distributions. After every play a change is found if

.. math::

    \max_s \; s\,\mathrm{kl}(\hat\mu_{1:s}, \hat\mu_{1:n}) + (n-s)\,\mathrm{kl}(\hat\mu_{s+1:n}, \hat\mu_{1:n})
    \ge \log\frac{3 n^{3/2}}{\delta}.

Then the unit, or every unit, forgets its plays. The index is :math:`\hat\mu_{1:n} + \sqrt{C \log (t-\tau)/n}`, where
:math:`\tau` is the round in which every unit last forgot its plays. A share of the rounds is forced: they try the units
in turn, so that changes of units that are not chosen are found.

Only splits :math:`s` on a grid of at most 16 plays are tried (`rising_bandits.policies.rules.prefix_sums`). So a play
takes O(1) time and a unit O(1) memory, and a change may be found a little later.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import compiled
from rising_bandits.errors import InputError
from rising_bandits.policies.rules.checking import bounded, check_unplayed
from rising_bandits.policies.rules.operations import assume, indices, roomy, tick, update
from rising_bandits.policies.rules.prefix_sums import POINTS, make_sums, push, step_of
from rising_bandits.policies.rules.terms import AVERAGE, BONUS
from rising_bandits.policies.rules.usual import assume_unplayed, roomy_always

_EDGE = 1e-9
"""Means are kept this far from 0 and 1 in divergences."""


class SinceChange(NamedTuple):
    """State of the index: plays in all and since the last restart, and prefix sums since then."""

    plays: Ints
    since: Ints
    """Plays since the last restart."""
    sums: Floats
    unplayed: Floats
    """The index of each unit while it has no plays."""
    clock: Ints
    """Three numbers: the rounds so far, the round in which all units restarted, and the number of restarts."""
    constant: float
    delta: float
    forced: float
    """The share of rounds that try units in turn."""
    together: bool
    """Whether a change of one unit restarts all."""

    @property
    def draws(self) -> bool:
        """Whether it uses the generator."""
        return False

    def inheritance(self) -> dict[str, str]:
        """For `rebase`: the clock is copied as a whole."""
        return {"clock": "whole"}

    def check(self) -> None:
        if ((self.since < 0) | (self.since > self.plays)).any():
            raise InputError("state holds more plays since a change than plays")
        check_unplayed(self.unplayed)
        if not bounded(self.sums):
            raise InputError("state holds sums that outcomes cannot have")
        total = self.sums[:, POINTS, 0]
        if not ((total >= -1e-6) & (total <= self.since + 1e-6)).all():
            raise InputError("state holds sums of outcomes that its plays cannot have")
        if (self.clock < 0).any() or self.clock[1] > self.clock[0] or self.clock[0] > 2**40:
            raise InputError(f"state holds impossible rounds, {self.clock.tolist()}")

    def terms(self, t: int) -> dict[str, Floats]:
        count = np.where(self.plays == 0, np.nan, np.maximum(self.since, 1))
        mean = np.where(self.since == 0, 1.0, self.sums[:, POINTS, 0] / count)
        index = np.empty(self.plays.size)
        _indices(self, t, None, index)
        mean = np.where(self.plays == 0, np.nan, mean)
        # A unit whose turn it is to be tried has a large bonus.
        return {AVERAGE: mean, BONUS: index - mean}


def make_since_change(n_units: int, *, constant: float, delta: float, forced: float, together: bool) -> SinceChange:
    """The state before the first play: every index is infinite."""
    return SinceChange(
        plays=np.zeros(n_units, dtype=np.int64),
        since=np.zeros(n_units, dtype=np.int64),
        sums=make_sums(n_units),
        unplayed=np.full(n_units, np.inf),
        clock=np.zeros(3, dtype=np.int64),
        constant=constant,
        delta=delta,
        forced=forced,
        together=together,
    )


@compiled
def divergence(p: float, q: float) -> float:
    """The divergence of Bernoulli distributions with means p and q.

    >>> round(divergence(0.9, 0.5), 4), divergence(0.3, 0.3)
    (0.3681, 0.0)
    """
    p = min(max(p, _EDGE), 1.0 - _EDGE)
    q = min(max(q, _EDGE), 1.0 - _EDGE)
    return p * math.log(p / q) + (1.0 - p) * math.log((1.0 - p) / (1.0 - q))


@compiled
def changed(sums: Floats, count: int, delta: float) -> bool:
    """Whether the plays of a unit have changed, by the test of this module."""
    step = step_of(count)
    total = sums[POINTS, 0]
    mean = total / count
    level = math.log(3.0 / delta) + 1.5 * math.log(count)
    for point in range(1, (count >> step) + 1):
        before = point << step
        if before < count:
            older = sums[point, 0]
            ratio = before * divergence(older / before, mean)
            ratio += (count - before) * divergence((total - older) / (count - before), mean)
            if ratio >= level:
                return True
    return False


@compiled
def _forget(state: SinceChange, unit: int) -> None:
    """A unit forgets its plays."""
    state.since[unit] = 0
    for point in range(POINTS + 1):
        state.sums[unit, point, 0] = 0.0
        state.sums[unit, point, 1] = 0.0


@tick.register(SinceChange)
def _tick(state: SinceChange) -> None:
    state.clock[0] += 1


@update.register(SinceChange)
def _update(state: SinceChange, unit: int, outcome: float) -> None:
    state.plays[unit] += 1
    count = state.since[unit] + 1
    state.since[unit] = count
    push(state.sums[unit], count, step_of(count), outcome)
    if count > 1 and changed(state.sums[unit], count, state.delta):
        state.clock[2] += 1
        if state.together:
            state.clock[1] = state.clock[0]
            for other in range(state.plays.size):
                _forget(state, other)
        else:
            _forget(state, unit)


@indices.register(SinceChange)
def _indices(state: SinceChange, t: int, rng: object, out: Floats) -> None:
    age = t - state.clock[1]
    confidence = state.constant * math.log(max(2, age))
    for unit in range(out.size):
        if state.plays[unit] == 0:
            out[unit] = state.unplayed[unit]
        else:
            # A unit that has just forgotten counts as one with a single outcome of 1.
            count = max(1, state.since[unit])
            mean = 1.0 if state.since[unit] == 0 else state.sums[unit, POINTS, 0] / count
            out[unit] = mean + math.sqrt(confidence / count)
    if state.forced > 0.0:
        place = age % max(out.size, math.ceil(out.size / state.forced))
        if place < out.size:
            # More than all the others together.
            out[place] += 2.0 * out.size * (1.0 + math.sqrt(confidence))


assume.register(SinceChange)(assume_unplayed)
roomy.register(SinceChange)(roomy_always)
