"""The index of `HorizonCRUCB`: a bound on an arm's mean outcome over the rounds left."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import compiled
from rising_bandits.errors import InputError
from rising_bandits.policies.rules.checking import bounded, check_lines, check_sums
from rising_bandits.policies.rules.decay import mean_outlook, mean_rise
from rising_bandits.policies.rules.operations import assume, indices, roomy, update
from rising_bandits.policies.rules.prefix_sums import fit_windows, push, step_of
from rising_bandits.policies.rules.terms import AVERAGE, BONUS, IMPROVEMENT
from rising_bandits.policies.rules.usual import roomy_always

PARTS = 6
"""Indices are for rounds and plays rounded to a 64th; see `clock`."""


class Outlook(NamedTuple):
    """State of the index: counts, prefix sums, the lines through each unit's windows, and cached indices."""

    plays: Ints
    sums: Floats
    lines: Floats
    """Per unit and window: mean, slope and size of the line; the size is 0 if there are too few plays."""
    value: Floats
    """The cached index of each unit."""
    stamp: Ints
    """The round of the cached index; -1 if the lines have changed since."""
    noise: Floats
    """Sigma. If it is measured, also half the sum of squared steps, their number, and the number at the next update."""
    last: Floats
    """The last outcome of each unit."""
    horizon: int
    """The horizon; 0 if it is unknown."""
    ahead: int
    measured: bool
    constant: float
    proved: bool
    decay: float
    patience: float
    share: float
    """The largest size of a super arm, divided by the number of arms."""
    largest: bool
    """Whether the reward is the largest outcome."""

    @property
    def draws(self) -> bool:
        """Whether it uses the generator."""
        return False

    def inheritance(self) -> dict[str, str]:
        """For `rebase`: the noise is copied as a whole, and cached indices are not copied."""
        return {"noise": "whole", "stamp": "none"}

    def check(self) -> None:
        short = self.plays < 2
        known = np.isfinite(self.value) | (short & np.isposinf(self.value)) | (~short & (self.stamp < 0))
        if not known.all() or not all(np.isfinite(part).all() for part in (self.sums, self.lines)):
            raise InputError("state holds sums, lines or indices that are not finite numbers")
        if not bounded(self.noise) or (self.noise < 0.0).any() or self.noise[2] == 0.0:
            raise InputError("state holds a measure of noise that is not a finite number of at least 0")
        if not ((self.last >= 0.0) & (self.last <= 1.0)).all():
            raise InputError("state holds outcomes outside 0 to 1")
        check_sums(self.sums, self.plays)
        check_lines(self.lines, self.plays, self.plays / 16)

    def terms(self, t: int) -> dict[str, Floats]:
        average, calm, index = outlook_terms(self, t)
        return {AVERAGE: average, IMPROVEMENT: calm - average, BONUS: index - calm}


@compiled
def clock(t: int, scale: int, parts: int) -> int:
    """Round ``t`` down to a multiple of the largest power of two that is at most ``scale / 2**parts`` (at least 1).

    Rounds are rounded with the number of rounds so far or left as the scale, whichever is less. Plays are rounded with
    themselves as the scale. So an index stays valid for several rounds, which saves time.

    >>> [clock(t, t, 6) for t in (100, 129, 1001, 50_001)], clock(50_001, 500, 6), clock(50_001, 900, 4)
    ([100, 128, 1000, 49664], 50000, 49984)
    """
    bits = 0
    while scale >> (bits + parts + 1) > 0:
        bits += 1
    return t >> bits << bits


@update.register(Outlook)
def _update(state: Outlook, unit: int, outcome: float) -> None:
    plays = state.plays[unit] + 1
    state.plays[unit] = plays
    step = step_of(plays)
    push(state.sums[unit], plays, step, outcome)
    # The step of the grid is about an eighth of the plays. The step of the clock is an eighth of that.
    if plays > 1 and (step <= 3 or plays & ((1 << (step - 3)) - 1) == 0):
        fit_windows(state.sums[unit], plays, step, state.lines[unit])
        state.stamp[unit] = -1
    if state.measured:
        noise = state.noise
        if plays > 1:
            # The mean of half the squared steps is the variance, even if the arm rises slowly.
            jump = outcome - state.last[unit]
            noise[1] += 0.5 * (jump * jump)
            noise[2] += 1.0
        state.last[unit] = outcome
        if noise[2] >= noise[3]:
            noise[0] = math.sqrt(noise[1] / noise[2])
            noise[3] = 1.25 * noise[2]
            for other in range(state.stamp.size):
                state.stamp[other] = -1


@compiled
def _evaluate(state: Outlook, unit: int, now: int) -> float:
    """The index of a unit with at least two plays at round ``now``: the smallest over its windows."""
    left = max(1, state.horizon - now + 1) if state.horizon > 0 else max(state.ahead, now)
    horizon = float(max(state.horizon, now - 1 + left))
    plays = clock(state.plays[unit], state.plays[unit], PARTS)
    if state.proved:
        root = math.sqrt(state.constant * math.log(horizon))
    else:
        root = math.sqrt(state.constant * math.log1p(state.share * now * (left / horizon) / plays))
    width = state.noise[0] * root
    start = plays + state.patience * horizon
    return least_bound(state.lines[unit], plays, width, start, float(left), state.decay, state.proved)


@compiled
def least_bound(
    lines: Floats, plays: int, width: float, start: float, left: float, decay: float, proved: bool
) -> float:
    """The smallest bound over the windows of a unit on its mean outcome over the next ``left`` plays.

    ``width`` is the bonus times sigma, ``start`` the plays plus the patience. See `HorizonCRUCB` for the two bounds.
    The second one is left out if ``proved``.
    """
    ahead = mean_rise(start, left, decay)
    # The lines are used until the clock of this unit advances. So they are extended to the last play before that.
    beyond = max(0, (1 << max(0, step_of(plays) - 3)) - 1)
    best = np.inf
    for place in range(lines.shape[0]):
        mean, slope, size = lines[place, 0], lines[place, 1], lines[place, 2]
        if size == 0.0:
            break
        spread = size * (size * size - 1.0) / 12.0
        middle = 0.5 * (size + 1.0) + beyond
        steep = max(0.0, slope + width / math.sqrt(spread))
        high = mean + width / math.sqrt(size) + steep * middle
        best = min(best, mean_outlook(high, steep, start, left, decay))
        if not proved:
            # The deviation of the extended line's mean is less than the deviations of level and slope together.
            reach = middle + ahead
            best = min(best, mean + max(0.0, slope) * reach + width * math.sqrt(1.0 / size + reach * reach / spread))
    return float(best)


@compiled
def recent_mean(lines: Floats) -> float:
    """The mean of the shortest window."""
    place = 0
    while place + 1 < lines.shape[0] and lines[place + 1, 2] > 0.0:
        place += 1
    return float(lines[place, 0])


def outlook_terms(state: Outlook, t: int) -> tuple[Floats, Floats, Floats]:
    """Per unit: the recent average, the index for sigma 0, and the index; NaN for fewer than two plays."""
    values = np.full((3, state.plays.size), np.nan)
    calm = state._replace(noise=np.zeros_like(state.noise))
    now = _now(state, t)
    for unit in np.flatnonzero(state.plays > 1):
        lines = (recent_mean(state.lines[unit]), _evaluate(calm, int(unit), now), _evaluate(state, int(unit), now))
        values[:, unit] = lines
    return values[0], values[1], values[2]


@compiled
def _now(state: Outlook, t: int) -> int:
    """The round, rounded by `clock`."""
    return clock(t, t if state.horizon == 0 else max(1, min(t, state.horizon - t + 1)), PARTS)


@compiled
def _refresh(state: Outlook, unit: int, now: int) -> None:
    """Compute the cached index of a unit if it is out of date."""
    if state.stamp[unit] != now and state.plays[unit] > 1:
        state.value[unit] = _evaluate(state, unit, now)
        state.stamp[unit] = now


@compiled
def _keep_best(state: Outlook, out: Floats) -> None:
    """Raise the index of the arm with the best recent average, so that it is in the super arm.

    With the largest outcome as the reward, the other arms can then be tried without loss.
    """
    best = 0
    for unit in range(1, out.size):
        if recent_mean(state.lines[unit]) > recent_mean(state.lines[best]):
            best = unit
    out[best] += 1.0


def _all_indices(state: Outlook, t: int, rng: object, out: Floats) -> None:
    """`_indices` in plain Python. It visits only units whose index is out of date."""
    now = _now(state, t)
    for unit in np.flatnonzero((state.stamp != now) & (state.plays > 1)).tolist():
        _refresh(state, unit, now)
    out[:] = state.value
    if state.largest:
        _keep_best(state, out)


@indices.register(Outlook, plain=_all_indices)
def _indices(state: Outlook, t: int, rng: object, out: Floats) -> None:
    now = _now(state, t)
    for unit in range(out.size):
        _refresh(state, unit, now)
        out[unit] = state.value[unit]
    if state.largest:
        _keep_best(state, out)


@assume.register(Outlook)
def _assume(state: Outlook, unit: int, value: float) -> None:
    state.value[unit] = value


roomy.register(Outlook)(roomy_always)
