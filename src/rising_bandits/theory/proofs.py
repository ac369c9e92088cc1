"""Steps of the paper's proofs, computed: where a printed line does not say what the proof needs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rising_bandits import _checks
from rising_bandits.curves import Flat, Linear, Noiseless
from rising_bandits.problems.sets import Explicit
from rising_bandits.problems.tasks import Task
from rising_bandits.theory.instances import fine_grained, fine_grained_level, general, power_sums


@dataclass(frozen=True)
class ProofOfTheorem3:
    """A round of CRUCB that costs more than the paper's proof of Theorem 3 counts for it."""

    task: Task
    """The instance."""
    round: int
    """The round: the first in which CRUCB chooses the rising arm by its index."""
    regret: float
    """The regret of the round."""
    counted: float
    """What the proof counts: the error of each arm's forecast, at most 1 for each arm."""


def theorem_3(rise: int = 1_000, size: int = 4) -> ProofOfTheorem3:
    """Compute a step in the paper's proof of Theorem 3 that does not hold as printed.

    On the event that all estimates are good, a round costs at most the sum of the errors of its arms' forecasts. It
    also costs at most L. The proof (term B1) caps the error of every single arm at 1 instead. The instance here has two
    super arms and no noise. One has a rising arm and arms at 0, the other has arms at (nearly) 1. CRUCB comes back to
    the first one when the straight forecast of its rising arm passes L. That round costs nearly L; the proof counts 1.

    With the cap L for a round the proof gives a bound that is larger by a factor that depends on L only. The page on
    the upper bound in the documentation has it.

    Parameters
    ----------
    rise
        The number of plays in which the rising arm rises from 0 to 1, at least 2.
    size
        The size L of the super arms, at least 2.

    >>> found = theorem_3()
    >>> found.round, round(found.regret, 3), found.counted
    (4001, 3.998, 1.0)
    """
    rise = _checks.integer("rise", rise, low=2, limit=10**6)
    size = _checks.integer("size", size, low=2, limit=10**4)
    high = 1.0 - 0.25 / (size * rise)  # a little below 1, so that the two super arms never tie
    curves = (Linear(duration=rise), *(Flat(0.0),) * (size - 1), *(Flat(high),) * size)
    first, second, earned = curves[0](np.arange(3)).tolist()
    # The rising arm has two plays and a window of one; its forecast for round t is second + (t - 2) (second - first).
    t = math.floor(2 + (size * high - second) / (second - first)) + 1
    forecast = second + (t - 2) * (second - first)
    problem = Explicit([list(range(size)), list(range(size, 2 * size))])
    task = Task("theorem-3", problem, curves, t, Noiseless(), description="a step of the proof of Theorem 3")
    return ProofOfTheorem3(task, t, size * high - earned, min(1.0, forecast - earned))


@dataclass(frozen=True)
class ProofOfTheorem5:
    """Two steps in the paper's proof of Theorem 5, computed with the means of the proof."""

    highest: float
    """The highest mean of instance A, which the paper's setting allows to be at most 1."""
    claimed: float
    """First step: the regret on B that the proof states for a policy that always plays the rising arm."""
    real: float
    """First step: the actual regret of that policy."""
    exact: float
    """Second step: F(T) - F(T-P) - P mu(P), of which the proof needs a lower bound."""
    printed: float
    """Second step: the lower bound that the proof calls c_2 T^(2-c) + o(T^(2-c))."""


def theorem_5(horizon: int, c: float) -> ProofOfTheorem5:
    r"""Compute two steps in the paper's proof of Theorem 5 that do not hold as printed.

    The proof uses :math:`P = (2-c)^{1/(c-1)}T` and a flat arm at :math:`\mu(P) - \varepsilon`. Its means are sums of
    :math:`(n+1)^{-c}`, which pass 1 for c below about 1.73, and all numbers here are for these means.
    `instances.fine_grained` divides its means by the highest one, so that they fit the paper's setting.

    First step, on B: it assumes that the reward is largest if the flat arm is played as often as possible. But B's
    rising arm ends at :math:`\mu(P)`, above the flat arm. A policy that always plays the rising arm therefore has less
    regret than the proof states. For larger c it even earns more than the flat arm. With :math:`\varepsilon = 0` the
    step is right; see `instances.fine_grained_level`.

    Second step, on A, computed with :math:`\varepsilon = 0`: the proof bounds :math:`F(T)-F(T-P)-\mu(P)P` from below by
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

    >>> steps = theorem_5(100_000, 1.6)
    >>> steps.claimed > 0 > steps.real
    True
    >>> steps = theorem_5(100_000, 1.4)
    >>> round(steps.exact), round(steps.printed)
    (420, -62095)
    """
    sums = power_sums(horizon, c)
    means, totals = sums.means, sums.totals
    share = (2.0 - c) ** (1.0 / (c - 1.0))
    played = share * horizon
    switch = max(1, math.floor(played))
    flat = (totals[horizon] - totals[horizon - switch] + totals[switch]) / (2.0 * switch)  # what the proof's ε leaves
    stopped = totals[switch] + (horizon - switch) * means[switch - 1]
    exact = totals[horizon] - totals[horizon - switch] - switch * means[switch - 1]
    level = 2.0 ** (1.0 - c) / (c - 1.0) - (played + 1.0) ** (1.0 - c) / (c - 1.0) + 2.0**-c
    printed = played * (horizon + 1.0) ** -c + (horizon - played) * played * (horizon + played - 1.0) ** -c
    return ProofOfTheorem5(
        highest=float(means[-1]),
        claimed=float(flat * switch - totals[switch]),
        real=float(flat * horizon - stopped),
        exact=float(exact),
        printed=float(printed - level * played),
    )


@dataclass(frozen=True)
class Mixture:
    """The regret of a randomised policy on the pair of Theorem 4."""

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
    # On B, a policy that plays the rising arm sees at play T/3 + 1 that it has stopped at 1/2. It has no regret then.
    played = b.curves[1].table(third)
    insisted = float((0.5 - played).sum())
    share = given_up / (given_up + insisted)
    return Mixture(share, (1.0 - share) * given_up, share * insisted)


@dataclass(frozen=True)
class Spy:
    """The regret of a policy that tries the rising arm in one copy only. All copies are A, or all are B."""

    a: float
    """Its regret if all copies are A."""
    b: float
    """Its regret if all copies are B."""
    bound: float
    """The number of copies times the bound of one copy."""


def spy(horizon: int, c: float, copies: int = 2) -> Spy:
    """A policy on copies that are all A or all B. It tries one copy and treats the others as that one shows.

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
    copies = _checks.integer("copies", copies, low=1, limit=100_000)
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
