"""Checks of saved states that several rules share. Each refuses what plays could not have led to."""

from __future__ import annotations

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits.errors import InputError
from rising_bandits.policies.rules.prefix_sums import POINTS, step_of
from rising_bandits.policies.rules.rings import Rings

LARGEST = 1e100
"""Sums and coefficients of saved states are at most this large, so that indices made of them cannot overflow."""


def bounded(*arrays: Floats) -> bool:
    """Whether all numbers of some arrays are finite and at most `LARGEST`, whatever their sign.

    >>> bounded(np.array([1.0, -2.0])), bounded(np.array([np.nan])), bounded(np.array([1e200]))
    (True, False, False)
    """
    return all(bool((np.abs(array) <= LARGEST).all()) for array in arrays)


def check_unplayed(unplayed: Floats) -> None:
    """Refuse indices of unplayed units other than infinity and, for units that were given up, outcomes in [0, 1].

    >>> check_unplayed(np.array([np.inf, 1.0]))
    """
    if not (np.isposinf(unplayed) | ((unplayed >= 0.0) & (unplayed <= 1.0))).all():
        raise InputError("state holds an index of an unplayed arm that is neither infinite nor in [0, 1]")


def check_totals(total: Floats, rings: Rings, plays: Ints, held: Ints) -> None:
    """Refuse sums that are not those of the newest ``held`` outcomes of each unit, apart from rounding errors.

    >>> from rising_bandits.policies.rules.rings import make_rings, write
    >>> rings = make_rings(1)
    >>> write(rings, 0, 1, 0.5)
    >>> check_totals(np.array([0.5]), rings, np.array([1]), np.array([1]))
    """
    unit = np.repeat(np.arange(plays.size), held)
    back = np.arange(unit.size) - np.repeat(np.cumsum(held) - held, held)
    place = (plays[unit] - back) & (rings.capacity[unit] - 1)
    sums = np.bincount(unit, weights=rings.pool[rings.offset[unit] + place], minlength=plays.size)
    if not (np.abs(total - sums) <= 1e-6 * (1.0 + held)).all():
        raise InputError("state holds sums of outcomes that differ from its outcomes")


def check_lines(lines: Floats, plays: Ints, waiting: Floats) -> None:
    """Refuse lines through windows that do not end at the play that they were fitted at.

    Parameters
    ----------
    lines
        Mean, slope and size per unit and window. The first window holds all plays.
    plays
        The plays of each unit.
    waiting
        How many of them may have come since the lines were fitted.
    """
    sizes = lines[..., 2]
    if not bounded(lines) or (sizes < 0.0).any() or ((sizes > 0.0) & (sizes < 2.0)).any():
        raise InputError("state holds lines that are not finite numbers, or go through fewer than two plays")
    late = plays - sizes[:, 0]
    if ((plays >= 2) & ((late < 0) | (late > waiting))).any() or (sizes > np.maximum(plays, 0)[:, None]).any():
        raise InputError("state holds lines through other numbers of plays than its units have")


def check_sums(sums: Floats, plays: Ints) -> None:
    """Refuse prefix sums (see `prefix_sums`) that outcomes from 0 to 1 cannot have.

    Parameters
    ----------
    sums
        Per unit: the sums of x and of l·x at the points of the grid, and over all plays.
    plays
        The plays of each unit.
    """
    if not bounded(sums):
        raise InputError("state holds sums that are not finite numbers")
    for unit in np.flatnonzero(plays).tolist():
        count = int(plays[unit])
        step = step_of(count)
        points = count >> step
        grid = np.vstack([np.zeros(2), sums[unit, 1 : points + 1], sums[unit, POINTS]])
        between = np.diff(grid, axis=0)
        most = np.array([1.0, float(count)]) * (1 << step)
        rounding = 1e-6 * (1.0 + np.abs(grid[-1]))
        if (between < -rounding).any() or (between > most + rounding).any():
            raise InputError("state holds sums that its plays cannot have")
