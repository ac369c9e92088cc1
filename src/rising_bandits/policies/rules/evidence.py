"""Whether the arms of one problem rise at all.

The line through all outcomes of an arm has a rise, its slope times the arm's plays, and an error of this rise. If one
rise, or all rises together, are far above their errors, arms rise. Until that is seen, an upper bound on the mean rise
says how much may still be hidden. Where all arms are flat it falls towards 0, and exploring is worth less and less.
"""

from __future__ import annotations

import math

import numpy as np

from rising_bandits._checks import Floats
from rising_bandits._compile import compiled
from rising_bandits.errors import InputError

OWN_NOISE = 4.0
"""In the measure of an arm's noise, the noise of all arms counts as this many steps of the arm."""
FIRST, SURE = 8.0, 16.0
"""The least plays of an arm whose rise counts, and the least plays for a rise that is seen alone."""
EARLY = 0.002
"""Plays that are less than this share of the rounds per arm tell nothing of rises that come later."""
ALONE, TOGETHER = 5.0, 3.5
"""A rise is seen if it is above this many errors: of one arm, and of all arms together."""
DEVIATIONS = 2.0
"""The upper bound on the mean rise is this many errors above it."""
MATTERS = 0.1
"""A mean rise that matters in full, as a share of what an arm may reach."""
LEAST = 0.05
"""Arms are never believed to rise less than this."""
# The places in the evidence: the belief that arms rise, from `LEAST` to 1; 1 if a rise was seen.
RISING, SEEN = range(2)


def first_evidence() -> Floats:
    """The evidence before the first play: arms may rise."""
    return np.array([1.0, 0.0])


@compiled
def own_noise(pooled: float, jumps: float, plays: float) -> float:
    """The noise of an arm or of all arms, whichever is more.

    ``jumps`` is half the sum of the squared steps between the arm's outcomes.

    >>> own_noise(0.1, 0.0, 100.0), round(own_noise(0.1, 25.0, 101.0), 3)
    (0.1, 0.491)
    """
    own = math.sqrt((jumps + OWN_NOISE * pooled * pooled) / (max(0.0, plays - 1.0) + OWN_NOISE))
    return float(max(pooled, own))


@compiled
def judge(lines: Floats, jumps: Floats, pooled: float, top: float, rounds: float, evidence: Floats) -> None:
    """Update the evidence from the lines through all outcomes of each arm (mean, slope and number of plays).

    ``pooled`` is the noise of all arms, ``top`` what an arm may reach, and ``rounds`` the rounds per arm.
    """
    if evidence[SEEN] > 0.0:
        return
    least = max(FIRST, EARLY * rounds)
    total = 0.0
    variance = 0.0
    known = 0
    for unit in range(lines.shape[0]):
        plays = lines[unit, 0, 2]
        if plays < FIRST:
            continue
        # The slope's error is sigma over the root of n³/12, for n plays; the rise is n times the slope.
        error = own_noise(pooled, jumps[unit], plays) * math.sqrt(12.0 / plays)
        rise = lines[unit, 0, 1] * plays
        if plays >= SURE and rise > ALONE * error:
            evidence[SEEN] = 1.0
        if plays < least:
            continue
        total += rise
        variance += error * error
        known += 1
    if known > 0 and total > TOGETHER * math.sqrt(variance):
        evidence[SEEN] = 1.0
    if evidence[SEEN] > 0.0:
        evidence[RISING] = 1.0
        return
    if top == 0.0:
        return
    arms = lines.shape[0]
    hidden = 0.0
    if known > 0:
        hidden = min(1.0, (max(0.0, total) + DEVIATIONS * math.sqrt(variance)) / (known * MATTERS * top))
    # Nothing is known of the other arms, so they may rise.
    evidence[RISING] = max(LEAST, (known * hidden + arms - known) / arms)


def check_evidence(evidence: Floats) -> None:
    """Refuse evidence that no outcomes could have led to.

    >>> check_evidence(first_evidence())
    """
    rising, seen = evidence[RISING], evidence[SEEN]
    if not (LEAST <= rising <= 1.0 and (seen == 0.0 or (seen == 1.0 and rising == 1.0))):
        raise InputError("state holds evidence of rises that no outcomes could have led to")
