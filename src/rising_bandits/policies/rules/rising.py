r"""The Future-UCB index of rising bandits, in O(1) time per play for any window.

For a unit with :math:`N` plays and window :math:`h`, the index at round :math:`t` is (*Combinatorial Rising Bandits*,
Section 4; Metelli et al., *Stochastic Rising Bandits*, ICML 2022, for single arms)

.. math::

    \frac1h \sum_l X(l) + \frac1h \sum_l (t-l)\,\frac{X(l)-X(l-h)}{h}
    + \sigma\,(t-N+h-1)\sqrt{\frac{C \log t}{h^3}}, \qquad l = N-h+1, \dots, N.

Let :math:`A, B` be the sums over the newer and the older window. Let :math:`U, V` be the same sums with each outcome
weighted by its age inside its window. Then the second term is :math:`((t-N)(A-B) + U - V)/h^2`. A new play changes each
of these sums by O(1) terms. Between two plays of a unit, its index is :math:`a + b t + w (t-d) \sqrt{C\log t}` with
fixed coefficients :math:`a, b, w, d`.

For the means of rising arms the second term is at least 0. With ``upward``, an estimate below 0 is replaced by 0, which
can only bring it nearer to the true value.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import compiled
from rising_bandits.errors import InputError
from rising_bandits.policies.rules.checking import bounded
from rising_bandits.policies.rules.operations import assume, indices, roomy, update
from rising_bandits.policies.rules.rings import Rings, grow, make_rings
from rising_bandits.policies.rules.terms import AVERAGE, BONUS, IMPROVEMENT
from rising_bandits.policies.rules.usual import assume_level, roomy_rings


class Rising(NamedTuple):
    """State of the rising index: counts, windows, window sums and the four coefficients."""

    plays: Ints
    window: Ints
    sums: Floats
    """Per unit: A, B, U, V, and the rounding errors of A and B."""
    level: Floats
    """The coefficient a."""
    slope: Floats
    """The coefficient b."""
    width: Floats
    """The coefficient w."""
    delay: Floats
    """The coefficient d."""
    rings: Rings
    epsilon: float
    sigma: float
    constant: float
    upward: bool

    @property
    def draws(self) -> bool:
        """Whether it uses the generator."""
        return False

    def check(self) -> None:
        check_lines(self, self.plays)

    def terms(self, t: int) -> dict[str, Floats]:
        return rising_terms(self, self.sums[:, 0] / np.maximum(self.window, 1), t)


def check_lines(rule: Any, plays: Ints) -> None:
    """Refuse windows, buffers and coefficients that cannot come from these numbers of outcomes."""
    windows = [window_of(count, rule.epsilon) if count > 1 else 0 for count in plays.tolist()]
    if rule.window.tolist() != windows:
        raise InputError("state holds windows that do not fit its plays")
    if (rule.rings.capacity < np.minimum(plays, 2 * rule.window + 1)).any():
        raise InputError("state holds buffers that are smaller than its windows")
    check_coefficients(plays, rule.level, rule.slope, rule.width, rule.delay, rule.sums)


def check_coefficients(plays: Ints, level: Floats, *others: Floats) -> None:
    """Refuse coefficients beyond any use. Only units with fewer than two plays may have an infinite level."""
    infinite = (plays < 2) & np.isposinf(level)
    if not bounded(np.where(infinite, 0.0, level), *others):
        raise InputError("state holds coefficients that outcomes cannot have")


def rising_terms(rule: Any, average: Floats, t: int) -> dict[str, Floats]:
    """The parts of which a rising index is the sum."""
    short = rule.plays < 2
    improvement = np.where(short, 0.0, rule.level) + rule.slope * t - average
    bonus = rule.width * (t - rule.delay) * math.sqrt(rule.constant * math.log(t))
    parts = {
        AVERAGE: average,
        IMPROVEMENT: np.maximum(improvement, 0.0) if rule.upward else improvement,
        BONUS: bonus,
    }
    return {name: np.where(short, np.nan, part) for name, part in parts.items()}


def make_rising(n_units: int, *, epsilon: float, sigma: float, constant: float, upward: bool = False) -> Rising:
    """The state before the first play: every index is infinite."""
    return Rising(**new_lines(n_units), epsilon=epsilon, sigma=sigma, constant=constant, upward=upward)


def new_lines(n_units: int) -> dict[str, Any]:
    """Counts, windows, sums, coefficients and buffers before the first play."""
    return {
        "plays": np.zeros(n_units, dtype=np.int64),
        "window": np.zeros(n_units, dtype=np.int64),
        "sums": np.zeros((n_units, 6)),
        **new_coefficients(n_units),
        "rings": make_rings(n_units),
    }


def new_coefficients(n_units: int) -> dict[str, Any]:
    """The four coefficients before the first play: the level, and so the index, is infinite."""
    zeros = {name: np.zeros(n_units) for name in ("slope", "width", "delay")}
    return {"level": np.full(n_units, np.inf), **zeros}


@compiled
def window_of(plays: int, epsilon: float) -> int:
    """``max(1, ceil(epsilon * N))`` capped at ``N // 2``.

    >>> [window_of(n, 0.125) for n in (2, 8, 9, 17, 5000)]
    [1, 1, 2, 3, 625]
    """
    return min(max(1, math.ceil(epsilon * plays)), plays // 2)


@update.register(Rising)
@compiled
def update_rising(state: Any, unit: int, outcome: float) -> None:
    """Learn an outcome. The state is a `Rising`, or another one with its fields."""
    before = state.plays[unit]
    rings = state.rings
    old = state.window[unit]
    # Room for two windows, after h has grown by one, and the outcome before them.
    if 2 * old + 4 > rings.capacity[unit]:
        grow(rings, unit, before)
    plays = before + 1
    state.plays[unit] = plays
    # Numbers in arrays are read once into variables. The compiler cannot know that arrays do not overlap.
    pool, start, cut = rings.pool, rings.offset[unit], rings.capacity[unit] - 1
    pool[start + (plays & cut)] = outcome
    if plays < 2:
        return
    sums = state.sums[unit]
    newer, older, newer_aged, older_aged = sums[0], sums[1], sums[2], sums[3]
    h = window_of(plays, state.epsilon)
    if plays == 2:
        joins, passes = outcome, pool[start + (1 & cut)]
    elif h == old:
        middle, oldest = pool[start + ((plays - h) & cut)], pool[start + ((plays - 2 * h) & cut)]
        newer_aged += newer - h * middle
        older_aged += older - h * oldest
        joins, passes = outcome - middle, middle - oldest
    else:
        # The window grew by one: the newer window gets the new outcome and loses none.
        oldest = pool[start + ((before - 2 * old) & cut)]
        newer_aged += newer
        older_aged += old * oldest
        joins, passes = outcome, oldest
    # The rounding errors of the two sums are kept (Knuth's two-sum), so that their difference stays exact.
    lost_newer, newer = sums[4] + lost(newer, joins), newer + joins
    lost_older, older = sums[5] + lost(older, passes), older + passes
    sums[0], sums[1], sums[2], sums[3] = newer, older, newer_aged, older_aged
    sums[4], sums[5] = lost_newer, lost_older
    width = 1.0 / h
    if h != old:
        state.window[unit] = h
        state.width[unit] = state.sigma * math.sqrt(width) * width
    squared = width * width
    slope = ((newer - older) + (lost_newer - lost_older)) * squared
    state.slope[unit] = slope
    state.level[unit] = newer * width + (newer_aged - older_aged) * squared - plays * slope
    state.delay[unit] = plays - h + 1


@compiled
def lost(total: float, value: float) -> float:
    """The exact rounding error of a sum of two numbers."""
    new = total + value
    part = new - total
    return (total - (new - part)) + (value - part)


@compiled
def line_at(level: float, slope: float, width: float, delay: float, t: int, root: float) -> float:
    """The index from its coefficients, for one unit (numbers) or for all units (arrays)."""
    return level + slope * t + width * (t - delay) * root


@compiled
def write_lines(state: Any, t: int, out: Floats) -> None:
    """Write the index of every unit, before ``upward`` is considered. The state has the four coefficients."""
    root = math.sqrt(state.constant * math.log(t))
    for unit in range(out.size):
        out[unit] = line_at(state.level[unit], state.slope[unit], state.width[unit], state.delay[unit], t, root)


def write_lines_at_once(state: Any, t: int, out: Floats) -> None:
    """`write_lines` as one NumPy expression."""
    root = math.sqrt(state.constant * math.log(t))
    out[:] = line_at(state.level, state.slope, state.width, state.delay, t, root)


@compiled
def improvement(state: Any, unit: Any, average: Any, t: int) -> Any:
    """The predicted improvement of a unit: what its line adds to the average at play ``t``."""
    return state.level[unit] + state.slope[unit] * t - average


def _all_indices(state: Rising, t: int, rng: object, out: Floats) -> None:
    """`_indices` for all units at once."""
    write_lines_at_once(state, t, out)
    if state.upward:
        known = np.flatnonzero(state.plays >= 2)
        out[known] -= np.minimum(improvement(state, known, state.sums[known, 0] / state.window[known], t), 0.0)


@indices.register(Rising, plain=_all_indices)
def _indices(state: Rising, t: int, rng: object, out: Floats) -> None:
    write_lines(state, t, out)
    if state.upward:
        for unit in range(out.size):
            if state.plays[unit] >= 2:
                out[unit] -= min(improvement(state, unit, state.sums[unit, 0] / state.window[unit], t), 0.0)


assume.register(Rising)(assume_level)
roomy.register(Rising)(roomy_rings)
