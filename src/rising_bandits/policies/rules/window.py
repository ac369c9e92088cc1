r"""Indices from means of plays: UCB and Thompson sampling on the last plays of each unit, or on all of them.

For a unit with :math:`N` plays, both use the last :math:`h` plays. The UCB index is
:math:`\frac1h\sum X(l) + \sqrt{C\log t/N}`; SW-UCB (Garivier and Moulines, 2011), SW-CUCB (Chen et al., 2021), as the
paper runs them, and CUCB have :math:`C = 3/2`. The index of Thompson sampling is a sample: of
:math:`\mathrm{Beta}(1+\sum x, 1+h-\sum x)`, or of a normal distribution around the mean with variance
:math:`\sigma^2/h`. Thompson sampling may have forced plays first (`rising_bandits.policies.rules.forced`).

There are three kinds of windows: a number of plays, :math:`h = \min(N, \text{window})`; a share of the plays so far,
:math:`h = \max(1, \lfloor share \cdot N \rfloor)`; and all plays, :math:`h = N`. All plays need O(1) memory per unit.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import compiled
from rising_bandits.errors import InputError
from rising_bandits.policies.rules.checking import check_totals, check_unplayed
from rising_bandits.policies.rules.forced import must_play
from rising_bandits.policies.rules.operations import assume, indices, roomy, update
from rising_bandits.policies.rules.rings import Rings, grow, make_rings, read, write
from rising_bandits.policies.rules.terms import AVERAGE, BONUS
from rising_bandits.policies.rules.usual import assume_unplayed, roomy_rings

ALL_PLAYS = 0
"""The window that has all plays of a unit."""


class WindowUCB(NamedTuple):
    """State of the UCB index on a window."""

    plays: Ints
    total: Floats
    unplayed: Floats
    """The index of each unit while it has no plays."""
    rings: Rings
    window: int
    share: float
    """If it is above 0, the window is this share of the plays, and ``window`` is not used."""
    constant: float
    """The constant C of the bonus."""

    @property
    def draws(self) -> bool:
        """Whether it uses the generator."""
        return False

    def check(self) -> None:
        check_windows(self.plays, self.total, self.rings, self.window, self.share)
        check_unplayed(self.unplayed)

    def terms(self, t: int) -> dict[str, Floats]:
        plays = np.where(self.plays == 0, np.nan, self.plays)
        recent = _recent(self.plays, self.total, self.window, self.share)
        return {AVERAGE: recent, BONUS: np.sqrt(self.constant * math.log(t) / plays)}


class WindowTS(NamedTuple):
    """State of Thompson sampling on a window."""

    plays: Ints
    total: Floats
    rings: Rings
    window: int
    share: float
    forced: int
    """How many plays each unit gets before samples decide."""
    sigma: float
    """The standard deviation of an outcome for normal samples; 0 for samples of a Beta distribution."""

    @property
    def draws(self) -> bool:
        """Whether it uses the generator."""
        return True

    def check(self) -> None:
        check_windows(self.plays, self.total, self.rings, self.window, self.share)

    def terms(self, t: int) -> dict[str, Floats]:
        return {AVERAGE: _recent(self.plays, self.total, self.window, self.share)}


def check_windows(plays: Ints, total: Floats, rings: Rings, window: int, share: float) -> None:
    """Refuse a state whose buffers or sums do not fit its windows."""
    held = _all_held(window, share, plays)
    if not ((total >= -1e-6) & (total <= held + 1e-6)).all():
        raise InputError("state holds sums of outcomes that its windows cannot have")
    if window != ALL_PLAYS or share > 0.0:
        if (rings.capacity < held).any():
            raise InputError("state holds buffers that are smaller than its windows")
        check_totals(total, rings, plays, held)


def _recent(plays: Ints, total: Floats, window: int, share: float) -> Floats:
    """The mean outcome in the window of each unit; NaN without plays."""
    held = _all_held(window, share, plays).astype(np.float64)
    return np.asarray(np.divide(total, held, out=np.full(plays.size, np.nan), where=plays > 0))


def _window_of(window: int | float) -> tuple[int, float]:
    """The window as a number of plays and as a share; one of them is 0."""
    return (0, float(window)) if isinstance(window, float) else (int(window), 0.0)


def make_window_ucb(n_units: int, window: int | float, constant: float = 1.5) -> WindowUCB:
    """The state before the first play: every index is infinite. A float is a share of the plays."""
    return WindowUCB(
        np.zeros(n_units, dtype=np.int64),
        np.zeros(n_units),
        np.full(n_units, np.inf),
        make_rings(n_units),
        *_window_of(window),
        constant,
    )


def make_window_ts(n_units: int, window: int | float, forced: int = 0, sigma: float = 0.0) -> WindowTS:
    """The state before the first play: every posterior is uniform. A float is a share of the plays."""
    plays, total = np.zeros(n_units, dtype=np.int64), np.zeros(n_units)
    return WindowTS(plays, total, make_rings(n_units), *_window_of(window), forced, sigma)


@compiled
def held_plays(window: int, share: float, plays: int) -> int:
    """How many plays of a unit are in its window."""
    if share > 0.0:
        return min(plays, max(1, int(share * plays)))
    return min(plays, window) if window != ALL_PLAYS else plays


@compiled
def slide(plays: Ints, total: Floats, rings: Rings, window: int, share: float, unit: int, outcome: float) -> None:
    """Add an outcome to the window of a unit, and subtract the outcome that leaves it from the sum."""
    before = plays[unit]
    held = held_plays(window, share, before)
    wanted = held_plays(window, share, before + 1)
    capacity = rings.capacity[unit]
    limited = window != ALL_PLAYS or share > 0.0
    if limited and before >= capacity and capacity < wanted:
        grow(rings, unit, before)
    leaving = read(rings, unit, before + 1 - held) if wanted == held else 0.0
    write(rings, unit, before + 1, outcome)
    plays[unit] = before + 1
    # The difference is computed first, so that equal outcomes leave the sum exactly as it was.
    total[unit] += outcome - leaving


@update.register(WindowUCB)
def _update_ucb(state: WindowUCB, unit: int, outcome: float) -> None:
    slide(state.plays, state.total, state.rings, state.window, state.share, unit, outcome)


@update.register(WindowTS)
def _update_ts(state: WindowTS, unit: int, outcome: float) -> None:
    slide(state.plays, state.total, state.rings, state.window, state.share, unit, outcome)


def _all_held(window: int, share: float, plays: Ints) -> Ints:
    """`held_plays` of all units at once."""
    if share > 0.0:
        return np.minimum(plays, np.maximum(1, (share * plays).astype(np.int64)))
    return np.minimum(plays, window) if window != ALL_PLAYS else plays


def _all_ucb(state: WindowUCB, t: int, rng: object, out: Floats) -> None:
    """`_indices_ucb` of all units at once."""
    out[:] = state.unplayed
    known = np.flatnonzero(state.plays)
    plays = state.plays[known]
    held = _all_held(state.window, state.share, plays)
    out[known] = state.total[known] / held + np.sqrt(state.constant * math.log(t) / plays)


@indices.register(WindowUCB, plain=_all_ucb)
def _indices_ucb(state: WindowUCB, t: int, rng: object, out: Floats) -> None:
    confidence = state.constant * math.log(t)
    for unit in range(out.size):
        plays = state.plays[unit]
        if plays == 0:
            out[unit] = state.unplayed[unit]
        else:
            out[unit] = state.total[unit] / held_plays(state.window, state.share, plays) + math.sqrt(confidence / plays)


def _all_ts(state: WindowTS, t: int, rng: np.random.Generator, out: Floats) -> None:
    """`_indices_ts` of all units at once, with the same draws in the same order."""
    if must_play(state.plays, state.forced, t, out):
        return
    held = _all_held(state.window, state.share, state.plays).astype(np.float64)
    good = np.minimum(np.maximum(state.total, 0.0), held)
    if state.sigma > 0.0:
        # A unit without plays, which was given up, counts as one with a single outcome of 1/2.
        known = np.maximum(held, 1.0)
        mean = np.where(held > 0.0, good / known, 0.5)
        out[:] = mean + state.sigma / np.sqrt(known) * rng.standard_normal(out.size)
    else:
        out[:] = rng.beta(1.0 + good, 1.0 + held - good)


@indices.register(WindowTS, plain=_all_ts)
def _indices_ts(state: WindowTS, t: int, rng: np.random.Generator, out: Floats) -> None:
    if must_play(state.plays, state.forced, t, out):
        return
    for unit in range(out.size):
        held = held_plays(state.window, state.share, state.plays[unit])
        # Rounding may leave a sum slightly outside [0, held], where the posterior is not defined.
        good = min(max(state.total[unit], 0.0), float(held))
        if state.sigma > 0.0:
            mean = good / held if held > 0 else 0.5
            out[unit] = mean + state.sigma / math.sqrt(max(held, 1)) * rng.standard_normal()
        else:
            out[unit] = rng.beta(1.0 + good, 1.0 + held - good)


assume.register(WindowUCB)(assume_unplayed)


@assume.register(WindowTS)
def _assume_ts(state: WindowTS, unit: int, value: float) -> None:
    pass


roomy.register(WindowUCB)(roomy_rings)
roomy.register(WindowTS)(roomy_rings)
