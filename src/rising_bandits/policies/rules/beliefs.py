"""What the arms of one problem tell about each other: a belief about levels, rises and shapes that they share.

Each arm tells the pool its weights of shapes, its level and its rise (`tell`). The belief about a new arm follows from
the sums over all arms (`believe`), as in empirical Bayes. An arm that tells again replaces what it told before.

A row of ``told`` is what one arm tells, in this order: its weights of the shapes, the flat one last; 1 if it tells; how
much it counts for the shapes, from 0 to 1; how much it knows about its rise, from 0 to 1; its level; its rise.

``pool`` has sums over arms: the weights of shapes, each times how much the arm counts for them; the three numbers after
the weights; levels and squared levels; rises and squared rises, each times how much the arm knows about its rise.
"""

from __future__ import annotations

import math

import numpy as np

from rising_bandits._checks import Floats
from rising_bandits._compile import compiled
from rising_bandits.errors import InputError
from rising_bandits.policies.rules.shapes import FLAT, LEVEL, RISE, VAR_RISE, WEIGHT

# Before the first play: mean and deviation of levels and of rises, and how many arms this belief is worth.
LEVELS, RISES = (0.5, 0.5), (0.2, 0.3)
WORTH_SHAPES, WORTH_LEVELS, WORTH_RISES = 0.3, 2.0, 0.3
SURE = 8.0
"""After this many plays an arm counts in full for the shapes of the others."""
FARTHEST = 1e6
"""The largest level, rise or logarithm of a weight of a saved state."""


def first_belief(shapes: int) -> Floats:
    """The belief before the first play, for so many shapes that rise.

    >>> first_belief(18).size
    23
    """
    weights = [math.log((1.0 - FLAT) / shapes)] * shapes + [math.log(FLAT)]
    return np.array([*weights, LEVELS[0], LEVELS[1] ** 2, RISES[0], RISES[1] ** 2])


@compiled
def believe(pool: Floats, prior: Floats) -> None:
    """Write the belief about a new arm that follows from what all arms told."""
    rest = prior.size - 4
    shapes = rest - 1
    for shape in range(rest):
        first = FLAT if shape == shapes else (1.0 - FLAT) / shapes
        prior[shape] = math.log((WORTH_SHAPES * first + max(0.0, pool[shape])) / (WORTH_SHAPES + pool[rest + 1]))
    units = WORTH_LEVELS + pool[rest]
    level = (WORTH_LEVELS * LEVELS[0] + pool[rest + 3]) / units
    squares = WORTH_LEVELS * (LEVELS[1] * LEVELS[1] + LEVELS[0] * LEVELS[0]) + pool[rest + 4]
    prior[rest] = level
    prior[rest + 1] = max(1e-6, squares / units - level * level)
    known = WORTH_RISES + pool[rest + 2]
    rise = (WORTH_RISES * RISES[0] + pool[rest + 5]) / known
    squares = WORTH_RISES * (RISES[1] * RISES[1] + RISES[0] * RISES[0]) + pool[rest + 6]
    prior[rest + 2] = rise
    prior[rest + 3] = max(1e-6, squares / known - rise * rise)


@compiled
def tell(posterior: Floats, plays: float, prior: Floats, told: Floats, pool: Floats) -> None:
    """Replace what an arm told the pool by what its posterior (see `shapes.weigh`) says now."""
    rest = prior.size - 4
    shapes = rest - 1
    for way in range(2):
        if way == 1:
            level, rise, known = 0.0, 0.0, 0.0
            for shape in range(rest):
                weight = posterior[shape, WEIGHT]
                told[shape] = weight
                level += weight * posterior[shape, LEVEL]
                if shape < shapes:
                    learnt = weight * max(0.0, 1.0 - posterior[shape, VAR_RISE] / prior[rest + 3])
                    known += learnt
                    rise += learnt * posterior[shape, RISE]
            told[rest] = 1.0
            told[rest + 1] = min(1.0, (plays - 1.0) / SURE)
            told[rest + 2] = known
            told[rest + 3] = level
            told[rest + 4] = rise / max(known, 1e-12)
        sign = -1.0 if way == 0 else 1.0
        for shape in range(rest):
            pool[shape] += sign * told[rest + 1] * told[shape]
        pool[rest] += sign * told[rest]
        pool[rest + 1] += sign * told[rest + 1]
        pool[rest + 2] += sign * told[rest + 2]
        pool[rest + 3] += sign * told[rest] * told[rest + 3]
        pool[rest + 4] += sign * told[rest] * told[rest + 3] * told[rest + 3]
        pool[rest + 5] += sign * told[rest + 2] * told[rest + 4]
        pool[rest + 6] += sign * told[rest + 2] * told[rest + 4] * told[rest + 4]


def check_beliefs(told: Floats, pool: Floats, prior: Floats) -> None:
    """Refuse what no arms could have told, and a belief that is not one.

    >>> check_beliefs(np.zeros((2, 24)), np.zeros(26), first_belief(18))
    """
    rest = prior.size - 4
    variances, weights = prior[[rest + 1, rest + 3]], prior[:rest]
    if (variances < 1e-7).any() or (weights > 1e-9).any() or (np.abs(prior) > FARTHEST).any():
        raise InputError("state holds a belief with a variance near 0 or a weight outside 0 to 1")
    shares, level, rise = told[:, : rest + 3], told[:, rest + 3], told[:, rest + 4]
    if ((shares < 0.0) | (shares > 1.0 + 1e-9)).any() or (np.abs(told) > FARTHEST).any():
        raise InputError("state holds a weight outside 0 to 1")
    tells, sure, known = told[:, rest], told[:, rest + 1], told[:, rest + 2]
    moments = (tells, sure, known, tells * level, tells * level**2, known * rise, known * rise**2)
    sums = np.array([*(sure @ told[:, :rest]), *(part.sum() for part in moments)])
    # The pool also keeps what arms told before a reset, and what arms told that the problem no longer has.
    others = pool - sums
    near = 1e-6 * (1.0 + np.abs(pool).max(initial=0.0) + np.abs(told).max(initial=0.0)) ** 2
    counts = others[: rest + 3]
    spreads = (
        others[rest] * others[rest + 4] - others[rest + 3] ** 2,
        others[rest + 2] * others[rest + 6] - others[rest + 5] ** 2,
    )
    if (counts < -near).any() or others[rest + 4] < -near or others[rest + 6] < -near or min(spreads) < -near:
        raise InputError("state holds sums over units that are not what the units told")
