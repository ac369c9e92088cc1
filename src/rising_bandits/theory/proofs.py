"""Steps of the paper's proofs of the lower bounds, computed: where a printed line does not say what the proof needs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rising_bandits import _checks
from rising_bandits.theory.instances import _sums, fine_grained, fine_grained_level, general


@dataclass(frozen=True)
class SecondStep:
    """The second step in the proof of Theorem 5: a lower bound on what giving up the rising arm costs on A."""

    exact: float
    """The quantity itself, F(T) - F(T-P) - P mu(P)."""
    printed: float
    """The line of the proof that is called c_2 T^(2-c) + o(T^(2-c))."""


def second_step(horizon: int, c: float) -> SecondStep:
    r"""Compute the line of the proof of Theorem 5 that is called :math:`c_2T^{2-c}+o(T^{2-c})`, with ε = 0.

    The proof bounds :math:`F(T)-F(T-P)-\mu(P)P` from below by
    :math:`P(T+1)^{-c} + (T-P)P(T+P-1)^{-c} - (\ldots)P`. It replaces every summand of
    :math:`\sum_{n \le T-P} P(n+1)^{-c}` by one that is smaller than the last. The sum is of the order of T, its
    replacement of the order of :math:`T^{2-c}`. So the line falls like -T, while the quantity itself grows like
    :math:`T^{2-c}`. The inequality is true and of no use; with :math:`F(T)-F(T-P) \ge P\mu(T-P)` in its place the proof
    goes through.

    Parameters
    ----------
    horizon
        The number of rounds, T, at least 6.
    c
        The exponent of the slopes, between 1 and 2.

    Returns
    -------
    SecondStep
        The quantity and the printed line.

    >>> step = second_step(100_000, 1.4)
    >>> round(step.exact), round(step.printed)
    (420, -62095)
    """
    horizon = _checks.integer("horizon", horizon, low=6)
    c = _checks.number("c", c, low=1.0, high=2.0, open_low=True, open_high=True)
    means, totals, _ = _sums(horizon, c)
    share = (2.0 - c) ** (1.0 / (c - 1.0))
    switch = max(1, math.floor(share * horizon))
    exact = totals[horizon] - totals[horizon - switch] - switch * means[switch - 1]
    played = share * horizon
    level = 2.0 ** (1.0 - c) / (c - 1.0) - (played + 1.0) ** (1.0 - c) / (c - 1.0) + 2.0**-c
    printed = played * (horizon + 1.0) ** -c + (horizon - played) * played * (horizon + played - 1.0) ** -c
    return SecondStep(float(exact), float(printed - level * played))


@dataclass(frozen=True)
class Mixture:
    """What a randomised policy loses on the pair of Theorem 4."""

    share: float
    """The probability with which it plays the rising arm."""
    a: float
    """Its expected regret on A."""
    b: float
    """Its expected regret on B."""


def best_mixture(horizon: int) -> Mixture:
    """The best randomised policy on the pair of Theorem 4, which loses less than T/16.

    With some probability it plays the rising arm until that arm shows whether it is A or B; otherwise it always plays
    the flat arm. The regret is summed from the means of the two instances.

    Parameters
    ----------
    horizon
        The number of rounds, T, at least 6.

    >>> found = best_mixture(1_800)
    >>> round(found.a), round(found.b), 1_800 / 16
    (100, 100, 112.5)
    """
    from rising_bandits.theory.optimum import optimal_constant

    a, b = general(horizon)
    third = horizon // 3
    given_up = optimal_constant(a).total - horizon / 2.0
    # On B the curious policy learns at play T/3 + 1 that the arm has stopped, at 1/2, and loses nothing from then on.
    played = np.array([b.means(n)[1] for n in range(third)])
    insisted = float((0.5 - played).sum())
    share = given_up / (given_up + insisted)
    return Mixture(share, (1.0 - share) * given_up, share * insisted)


@dataclass(frozen=True)
class Spy:
    """What a policy loses that tries the rising arm in one copy only, where all copies are A or all are B."""

    a: float
    """Its regret if all copies are A."""
    b: float
    """Its regret if all copies are B."""
    bound: float
    """The number of copies times the bound of one copy."""


def spy(horizon: int, c: float, copies: int = 2) -> Spy:
    """A policy on copies that are all A or all B: it tries one and does what that one teaches with the others.

    The paper gets the factor L from such copies and calls them independent problems. They are not: one copy tells about
    the others. The factor is right if each copy is A or B by itself.

    Parameters
    ----------
    horizon
        The number of rounds, T, at least 6.
    c
        The exponent of the slopes, between 1 and 2.
    copies
        The number of copies, L.

    >>> found = spy(10_000, 1.6)
    >>> max(found.a, found.b) < found.bound
    True
    """
    level = fine_grained_level(horizon, c)
    tries = level.switch + 1
    lost = []
    for place, task in enumerate(fine_grained(horizon, c, copies)):
        rising = task.curves[-1]
        total, best = rising.total(horizon), max(rising.total(horizon), horizon * level.flat)
        if place == 0:  # A: after its tries it plays the rising arm everywhere
            others = tries * level.flat + rising.total(horizon - tries)
            lost.append(copies * best - total - (copies - 1) * others)
        else:  # B: after its tries it plays the flat arm everywhere
            first = rising.total(tries) + (horizon - tries) * level.flat
            lost.append(copies * best - first - (copies - 1) * horizon * level.flat)
    return Spy(lost[0], lost[1], copies * level.bound)
