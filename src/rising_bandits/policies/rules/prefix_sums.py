r"""Sums over windows of the last N, N/2, N/4, ... outcomes, in O(1) time per play and fixed memory per unit.

A window sum is the difference of two prefix sums. Prefix sums are kept on a grid of plays. The step of the grid is the
largest power of two of at most N/8 (at least 1). So at most 16 prefix sums are kept per unit, whatever N is. When N
reaches the next power of two, every other one is dropped. A window of N/2^k plays starts at the last grid point before
its first play. So it is never shorter than N/2^k, and longer by at most N/8.
"""

from __future__ import annotations

import numpy as np

from rising_bandits._checks import Floats
from rising_bandits._compile import compiled

SHORTEST = 16
"""The least number of plays in a window, except for the window of all plays. Shorter windows show mostly noise."""
POINTS = 16
"""The number of grid points. The row after them has the sums over all plays."""


def make_sums(n_units: int) -> Floats:
    """Empty prefix sums of x and of l·x for each unit, where l is the number of the play, from 1."""
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
    """Add the outcome of play number ``plays`` to the sums of one unit; ``step`` is `step_of` this number."""
    total = sums[POINTS]
    total[0] += outcome
    total[1] += plays * outcome
    if plays & ((1 << step) - 1) != 0:
        return
    if step > 0 and plays == 8 << step:
        # The step has just doubled: point 2p becomes point p.
        for point in range(1, 8):
            sums[point, 0] = sums[2 * point, 0]
            sums[point, 1] = sums[2 * point, 1]
    sums[plays >> step, 0] = total[0]
    sums[plays >> step, 1] = total[1]


@compiled
def start_of(plays: int, halvings: int, step: int) -> int:
    """How many plays are before the window of the last ``plays / 2**halvings`` plays.

    >>> [start_of(1000, k, step_of(1000)) for k in range(4)]
    [0, 448, 704, 832]
    """
    return (plays - (plays >> halvings)) >> step << step


@compiled
def newer_half(sums: Floats, plays: int, step: int) -> float:
    """The mean of the newer half of one unit's outcomes; with one play, of that one."""
    before = start_of(plays, 1, step) if plays > 1 else 0
    return float((sums[POINTS, 0] - sums[before >> step, 0]) / (plays - before))


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


@compiled
def fit_windows(sums: Floats, plays: int, step: int, lines: Floats) -> None:
    """Fit the lines of all windows of one unit that are long enough; ``lines`` has a row per window."""
    for halvings in range(lines.shape[0]):
        if halvings == 0 or plays >> halvings >= SHORTEST:
            fit(sums, plays, halvings, step, lines[halvings])
