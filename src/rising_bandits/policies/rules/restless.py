r"""The index of R-less-UCB: rising arms that rise with the rounds, whether or not they are played.

Let :math:`t_l` be the round of the :math:`l`-th play of a unit with :math:`N` plays, and :math:`h` its window. The
index at round :math:`t` is (Metelli et al., *Stochastic Rising Bandits*, ICML 2022, restless case)

.. math::

    \frac1h \sum_{l=N-h+1}^{N} \Big( X(l) + (t-t_l)\,\frac{X(l)-X(l-h)}{t_l-t_{l-h}} \Big)
    + \sigma\,(t-N+h-1)\sqrt{\frac{C \log t}{h^3}}.

The bonus is that of the rested case. It is large enough here too: :math:`t - t_l \le t - l` and
:math:`t_l - t_{l-h} \ge h`, so no outcome has a larger weight than in the rested index. The paper has
:math:`h = \lfloor \varepsilon N \rfloor`. Here the window keeps only its four leading binary digits, so that it changes
rarely; all pairs :math:`(l, l-h)` change with it. A play then costs O(1) on average. With ``upward`` an estimated
improvement below 0 is replaced by 0, which is nearer to the truth if means rise.
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
from rising_bandits.policies.rules.rings import Rings, grow, has_room, make_rings, read, write
from rising_bandits.policies.rules.rising import window_of
from rising_bandits.policies.rules.terms import AVERAGE, BONUS, IMPROVEMENT
from rising_bandits.policies.rules.usual import assume_unplayed

ROUND = 2.0**-40
"""Rounds are kept times this number, which is exact, so that they are in [0, 1] like outcomes."""


class Restless(NamedTuple):
    """State of the index: counts, windows, sums over windows, outcomes and their rounds."""

    plays: Ints
    window: Ints
    sums: Floats
    """Per unit: the sums over the window of the outcomes, of the slopes, and of the slopes times their rounds."""
    unplayed: Floats
    """The index of each unit while it has fewer than two plays."""
    clock: Ints
    """One number: the rounds so far."""
    rings: Rings
    """The latest outcomes of each unit."""
    times: Rings
    """The rounds of these outcomes, times `ROUND`."""
    epsilon: float
    sigma: float
    constant: float
    upward: bool
    """Whether an improvement below 0 is replaced by 0."""

    @property
    def draws(self) -> bool:
        """Whether it uses the generator."""
        return False

    def inheritance(self) -> dict[str, str]:
        """For `rebase`: the clock is copied as a whole."""
        return {"clock": "whole"}

    def check(self) -> None:
        windows = [coarse_window(plays, self.epsilon) if plays > 1 else 0 for plays in self.plays.tolist()]
        if self.window.tolist() != windows:
            raise InputError("state holds windows that do not fit its plays")
        needed = np.minimum(self.plays, 2 * self.window + 1)
        if (self.rings.capacity < needed).any() or (self.times.capacity < needed).any():
            raise InputError("state holds buffers that are smaller than its windows")
        check_unplayed(self.unplayed)
        if not bounded(self.sums):
            raise InputError("state holds sums that outcomes cannot have")
        if not 0 <= self.clock[0] <= 2**40:
            raise InputError(f"state holds an impossible number of rounds, {self.clock[0]}")

    def terms(self, t: int) -> dict[str, Floats]:
        known = self.plays > 1
        h = np.where(known, self.window, np.nan)
        values, slopes, moments = self.sums.T
        bonus = self.sigma * (t - self.plays + h - 1) * np.sqrt(self.constant * math.log(t) / h**3)
        rise = (t * slopes - moments) / h
        return {AVERAGE: values / h, IMPROVEMENT: np.maximum(rise, 0.0) if self.upward else rise, BONUS: bonus}


def make_restless(n_units: int, *, epsilon: float, sigma: float, constant: float, upward: bool) -> Restless:
    """The state before the first play: every index is infinite."""
    return Restless(
        plays=np.zeros(n_units, dtype=np.int64),
        window=np.zeros(n_units, dtype=np.int64),
        sums=np.zeros((n_units, 3)),
        unplayed=np.full(n_units, np.inf),
        clock=np.zeros(1, dtype=np.int64),
        rings=make_rings(n_units),
        times=make_rings(n_units),
        epsilon=epsilon,
        sigma=sigma,
        constant=constant,
        upward=upward,
    )


@compiled
def coarse_window(plays: int, epsilon: float) -> int:
    """The window after ``plays`` plays (at least two): `window_of` with only its four leading binary digits.

    >>> [coarse_window(plays, 0.25) for plays in (2, 40, 100, 1000)]
    [1, 10, 24, 240]
    """
    window = window_of(plays, epsilon)
    step = 0
    while window >> (step + 4) > 0:
        step += 1
    return window >> step << step


@compiled
def _add_pair(state: Restless, unit: int, play: int, h: int, sign: float) -> None:
    """Add play ``play`` and the slope from play ``play - h`` to the sums, or take them away."""
    value, time = read(state.rings, unit, play), read(state.times, unit, play) / ROUND
    gap = time - read(state.times, unit, play - h) / ROUND
    slope = (value - read(state.rings, unit, play - h)) / max(gap, float(h))
    sums = state.sums[unit]
    sums[0] += sign * value
    sums[1] += sign * slope
    sums[2] += sign * (slope * time)


@tick.register(Restless)
def _tick(state: Restless) -> None:
    state.clock[0] += 1


@update.register(Restless)
def _update(state: Restless, unit: int, outcome: float) -> None:
    before, old = state.plays[unit], state.window[unit]
    plays = before + 1
    # Room for two windows of the next larger size.
    wanted = 2 * (old + (old >> 3) + 1) + 1
    capacity = state.rings.capacity[unit]
    if before >= capacity and capacity < wanted:
        grow(state.rings, unit, before)
    capacity = state.times.capacity[unit]
    if before >= capacity and capacity < wanted:
        grow(state.times, unit, before)
    time = float(state.clock[0])
    if before > 0:
        # Plays that were made elsewhere took rounds too, though the clock did not see them.
        time = max(time, read(state.times, unit, before) / ROUND + 1.0)
    write(state.rings, unit, plays, outcome)
    write(state.times, unit, plays, min(time * ROUND, 1.0))
    state.plays[unit] = plays
    if plays < 2:
        return
    h = coarse_window(plays, state.epsilon)
    if h == old:
        _add_pair(state, unit, plays, h, 1.0)
        _add_pair(state, unit, plays - h, h, -1.0)
    else:
        state.window[unit] = h
        for place in range(3):
            state.sums[unit, place] = 0.0
        for play in range(plays - h + 1, plays + 1):
            _add_pair(state, unit, play, h, 1.0)


def _all_indices(state: Restless, t: int, rng: object, out: Floats) -> None:
    """`_indices` of all units at once."""
    out[:] = state.unplayed
    known = np.flatnonzero(state.plays > 1)
    h = state.window[known].astype(np.float64)
    sums = state.sums[known]
    root = np.sqrt(state.constant * math.log(t) / (h * h * h))
    bonus = state.sigma * (t - state.plays[known] + h - 1.0) * root
    rise = t * sums[:, 1] - sums[:, 2]
    out[known] = (sums[:, 0] + (np.maximum(rise, 0.0) if state.upward else rise)) / h + bonus


@indices.register(Restless, plain=_all_indices)
def _indices(state: Restless, t: int, rng: object, out: Floats) -> None:
    confidence = state.constant * math.log(t)
    for unit in range(out.size):
        plays = state.plays[unit]
        if plays < 2:
            out[unit] = state.unplayed[unit]
        else:
            h = float(state.window[unit])
            sums = state.sums[unit]
            bonus = state.sigma * (t - plays + h - 1.0) * math.sqrt(confidence / (h * h * h))
            rise = t * sums[1] - sums[2]
            out[unit] = (sums[0] + (max(rise, 0.0) if state.upward else rise)) / h + bonus


assume.register(Restless)(assume_unplayed)


@roomy.register(Restless)
def _roomy(state: Restless, pushes: int) -> bool:
    return has_room(state.rings, pushes) and has_room(state.times, pushes)
