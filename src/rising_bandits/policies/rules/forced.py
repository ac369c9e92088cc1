"""Forced plays: every unit gets a number of plays before indices decide."""

from __future__ import annotations

from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import compiled


@compiled
def must_play(plays: Ints, forced: int, t: int, out: Floats) -> bool:
    """Whether units still need forced plays. If so, weights that choose these units are written into ``out``.

    Each round brings at least one of the missing plays, unless feedback is partial. So the forced plays end after
    ``forced`` times the number of units, even if a unit cannot be reached.

    Parameters
    ----------
    plays
        The plays of each unit.
    forced
        How many plays each unit gets.
    t
        The round.
    out
        Where the weights go: 1 for a unit that needs plays, and little for the others.

    >>> import numpy as np
    >>> out = np.zeros(3)
    >>> must_play(np.array([5, 2, 4]), 4, 6, out), out.tolist()
    (True, [0.25, 1.0, 0.25])
    >>> must_play(np.array([5, 2, 4]), 4, 13, out), must_play(np.array([5, 4, 4]), 4, 6, out)
    (False, False)
    """
    size = plays.size
    if t > forced * size:
        return False
    short = False
    for unit in range(size):
        if plays[unit] < forced:
            short = True
    if short:
        for unit in range(size):
            # All the others together weigh less than one unit that needs plays.
            out[unit] = 1.0 if plays[unit] < forced else 1.0 / (size + 1.0)
    return short
