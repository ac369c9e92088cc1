r"""The Future-UCB index of rising bandits in O(1) per play, whatever the window.

For a unit played :math:`N` times, window :math:`h` and round :math:`t` (SPEC section 2; paper,
Section 4; Metelli et al., ICML 2022, for the single-arm form)

.. math::

    \frac1h \sum_l X(l) + \frac1h \sum_l (t-l)\,\frac{X(l)-X(l-h)}{h}
    + \sigma\,(t-N+h-1)\sqrt{\frac{C \log t}{h^3}}, \qquad l = N-h+1, \dots, N.

With :math:`A, B` the sums over the newer and the older window and :math:`U, V` the same sums with
each outcome weighted by its age inside its window, the second term is
:math:`((t-N)(A-B) + U - V)/h^2`. All four sums move by O(1) numbers when a play is added, so
between two plays of a unit its index is :math:`a + b t + w (t-d) \sqrt{C\log t}` with fixed
:math:`a, b, w, d`.

Means that rise have a second term of at least 0. With ``upward`` its estimate is raised to 0 where noise took it
below, which can only bring it nearer to the truth.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import compiled
from rising_bandits.policies.operations import assume, indices, roomy, update
from rising_bandits.policies.rings import Rings, grow, has_room, make_rings, read, write


class Rising(NamedTuple):
    """State of the rising index: counts, windows, window sums and the four coefficients."""

    plays: Ints
    window: Ints
    sums: Floats
    """Per unit: A, B, U, V, and what rounding took from A and B."""
    level: Floats
    slope: Floats
    width: Floats
    delay: Floats
    rings: Rings
    epsilon: float
    sigma: float
    constant: float
    upward: bool


def make_rising(n_units: int, *, epsilon: float, sigma: float, constant: float, upward: bool = False) -> Rising:
    """The state before the first play: every index is infinite."""
    return Rising(
        plays=np.zeros(n_units, dtype=np.int64),
        window=np.zeros(n_units, dtype=np.int64),
        sums=np.zeros((n_units, 6), dtype=np.float64),
        level=np.full(n_units, np.inf),
        slope=np.zeros(n_units),
        width=np.zeros(n_units),
        delay=np.zeros(n_units),
        rings=make_rings(n_units),
        epsilon=float(epsilon),
        sigma=float(sigma),
        constant=float(constant),
        upward=bool(upward),
    )


@compiled
def window_of(plays: int, epsilon: float) -> int:
    """``max(1, ceil(epsilon * N))`` capped at ``N // 2``.

    >>> [window_of(n, 0.125) for n in (2, 8, 9, 17, 5000)]
    [1, 1, 2, 3, 625]
    """
    return min(max(1, math.ceil(epsilon * plays)), plays // 2)


@compiled
def _add(sums: Floats, place: int, value: float) -> None:
    """Add to A or B and keep what rounding loses (Knuth's two-sum), so that A - B stays exact."""
    old = sums[place]
    new = old + value
    part = new - old
    sums[4 + place] += (old - (new - part)) + (value - part)
    sums[place] = new


@update.register(Rising)
def _update(state: Rising, unit: int, outcome: float) -> None:
    before = state.plays[unit]
    rings = state.rings
    # Two windows and the outcome before them are all that this play can ask for, after h grew by one.
    if 2 * state.window[unit] + 4 > rings.capacity[unit]:
        grow(rings, unit, before)
    plays = before + 1
    state.plays[unit] = plays
    write(rings, unit, plays, outcome)
    if plays < 2:
        return
    sums = state.sums[unit]
    old = state.window[unit]
    h = window_of(plays, state.epsilon)
    if plays == 2:
        sums[0] = outcome
        sums[1] = read(rings, unit, 1)
        state.window[unit] = h
    elif h == old:
        middle = read(rings, unit, plays - h)
        oldest = read(rings, unit, plays - 2 * h)
        sums[2] += sums[0] - h * middle
        sums[3] += sums[1] - h * oldest
        _add(sums, 0, outcome - middle)
        _add(sums, 1, middle - oldest)
    else:
        # The window grew by one: the newer half takes the new outcome and gives none away.
        oldest = read(rings, unit, before - 2 * old)
        sums[2] += sums[0]
        sums[3] += old * oldest
        _add(sums, 0, outcome)
        _add(sums, 1, oldest)
        state.window[unit] = h
    width = 1.0 / h
    squared = width * width
    difference = (sums[0] - sums[1]) + (sums[4] - sums[5])
    slope = difference * squared
    state.slope[unit] = slope
    state.level[unit] = sums[0] * width + (sums[2] - sums[3]) * squared - plays * slope
    state.width[unit] = state.sigma * math.sqrt(width) * width
    state.delay[unit] = plays - h + 1


@indices.register(Rising)
def _indices(state: Rising, t: int, rng: np.random.Generator, out: Floats) -> None:
    root = math.sqrt(state.constant * math.log(t))
    for unit in range(out.size):
        out[unit] = state.level[unit] + state.slope[unit] * t + state.width[unit] * (t - state.delay[unit]) * root
    if state.upward:
        for unit in range(out.size):
            if state.plays[unit] >= 2:
                trend = state.level[unit] + state.slope[unit] * t - state.sums[unit, 0] / state.window[unit]
                out[unit] -= min(trend, 0.0)


@assume.register(Rising)
def _assume(state: Rising, unit: int, value: float) -> None:
    state.level[unit] = value


@roomy.register(Rising)
def _roomy(state: Rising, pushes: int) -> bool:
    return has_room(state.rings, pushes)
