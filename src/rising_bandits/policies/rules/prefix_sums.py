r"""Sums over windows of the last N, N/2, N/4, ... outcomes in O(1) per play and a fixed memory per unit.

A window sum is the difference of two prefix sums. Prefix sums are kept at the multiples of a grid
whose step is the largest power of two of at most N/8 (1 at first), so a unit keeps at most 16 of
them, whatever N is; when N reaches the next power of two every other one is dropped. A window of
N/2^k plays starts at the grid point at or before its first play: it is never shorter than asked
and at most N/8 longer.
"""

from __future__ import annotations

import numpy as np

from rising_bandits._checks import Floats
from rising_bandits._compile import compiled

POINTS = 16
"""Grid points 0 to 15; the row after them holds the sums over all plays."""


def make_sums(n_units: int) -> Floats:
    """Room for the prefix sums of x and of l·x (l is the number of the play, from 1) of every unit."""
    return np.zeros((n_units, POINTS + 1, 2), dtype=np.float64)


@compiled
def step_of(plays: int) -> int:
    """The binary logarithm of the grid's step after ``plays`` plays.

    >>> [step_of(n) for n in (2, 15, 16, 31, 32, 1000)]
    [0, 0, 1, 1, 2, 6]
    """
    step = 0
    while plays >> (step + 4) > 0:
        step += 1
    return step


@compiled
def push(sums: Floats, plays: int, step: int, outcome: float) -> None:
    """Add the outcome of play number ``plays`` to the sums of one unit; ``step`` is that of the grid."""
    total = sums[POINTS]
    total[0] += outcome
    total[1] += plays * outcome
    if plays & ((1 << step) - 1) != 0:
        return
    if step > 0 and plays == 8 << step:
        # The step has just doubled: what was point 2p is point p now.
        for point in range(1, 8):
            sums[point, 0] = sums[2 * point, 0]
            sums[point, 1] = sums[2 * point, 1]
    sums[plays >> step, 0] = total[0]
    sums[plays >> step, 1] = total[1]


@compiled
def start_of(plays: int, halvings: int, step: int) -> int:
    """How many of ``plays`` plays lie before the window of the last ``plays / 2**halvings``.

    >>> [start_of(1000, k, step_of(1000)) for k in range(4)]
    [0, 448, 704, 832]
    """
    return (plays - (plays >> halvings)) >> step << step


@compiled
def fit(sums: Floats, plays: int, halvings: int, step: int, out: Floats) -> None:
    """Write mean, slope and size of the least-squares line through a window of one unit's outcomes."""
    before = start_of(plays, halvings, step)
    point = before >> step
    size = float(plays - before)
    total = sums[POINTS, 0] - sums[point, 0]
    moment = sums[POINTS, 1] - sums[point, 1] - (before + 0.5 * (size + 1.0)) * total
    out[0] = total / size
    out[1] = 12.0 * moment / (size * (size * size - 1.0))
    out[2] = size
