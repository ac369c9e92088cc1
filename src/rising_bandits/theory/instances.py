"""The instances of the paper's proofs as tasks.

Each lower bound (Theorems 4 and 5) has two instances A and B: no policy has small regret on both. Theorem 1 has a k-MAX
instance on which a constant super arm is not optimal.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ParamSpec

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits.curves import Curve, Flat, Linear, Noiseless, Scaled, Tabulated
from rising_bandits.problems.base import Problem
from rising_bandits.problems.graphs import ShortestPath
from rising_bandits.problems.sets import KMax
from rising_bandits.problems.tasks import Task

_P = ParamSpec("_P")
_MOST_COPIES = 10_000
_MOST_ROUNDS = 10_000_000
"""The largest horizon of instances that hold a number for each round."""


def choices(copies: int) -> Problem:
    """A problem of independent choices between a flat and a rising arm.

    It is a shortest path over a chain of double edges. The flat arms have the numbers 0 to ``copies - 1``; the rising
    arms follow.

    Parameters
    ----------
    copies
        The number of choices, which is the size of a super arm.

    >>> choices(3).oracle.count()
    8
    """
    copies = _checks.integer("copies", copies, low=1, limit=_MOST_COPIES)
    flat = [(i, i + 1, f"flat {i}") for i in range(copies)]
    rising = [(i, i + 1, f"rising {i}") for i in range(copies)]
    return ShortestPath([*flat, *rising], 0, copies)


def _task(name: str, flat: Curve, rising: Curve, horizon: int, copies: int) -> Task:
    """The task of `choices` with these two curves and without noise."""
    problem = choices(copies)
    curves = (flat,) * copies + (rising,) * copies
    return Task(name, problem, curves, horizon, Noiseless(), description="an instance of a lower bound")


def _each(pair: Callable[_P, tuple[Task, Task]]) -> tuple[Callable[_P, Task], Callable[_P, Task]]:
    """The two instances of a pair as functions of their own, for tasks that are given as text."""

    def one(place: int) -> Callable[_P, Task]:
        @functools.wraps(pair)
        def instance(*args: _P.args, **kwargs: _P.kwargs) -> Task:
            return pair(*args, **kwargs)[place]

        instance.__name__ = instance.__qualname__ = f"{pair.__name__}_{'ab'[place]}"
        instance.__annotations__ = {**pair.__annotations__, "return": "Task"}
        parameters = (pair.__doc__ or "").partition("    Parameters\n")[2].partition("    Returns\n")[0]
        instance.__doc__ = f"Instance {'AB'[place]} of `{pair.__name__}`.\n\n    Parameters\n{parameters}"
        return instance

    return one(0), one(1)


def general(horizon: int, copies: int = 1) -> tuple[Task, Task]:
    """The two instances of Theorem 4: a flat arm at 1/2, and an arm that rises to 1 (A) or stops at 1/2 (B).

    The two instances give the same outcomes for the first T/3 plays of the rising arm. A policy that never plays the
    rising arm has regret T/6 on A. A policy that plays it T/3 times has regret T/12 on B. The best mixture of the two
    has regret T/18 on both.

    Parameters
    ----------
    horizon
        The number of rounds, T, at least 6.
    copies
        The number of independent copies, which is the size of a super arm.

    Returns
    -------
    tuple of Task
        The instances A and B.

    >>> a, b = general(3000)
    >>> a.means(500).tolist() == b.means(500).tolist()
    True
    >>> a.means(2999).tolist(), b.means(2999).tolist()
    ([0.5, 1.0], [0.5, 0.5])
    """
    horizon = _checks.integer("horizon", horizon, low=6, limit=10**12)
    third = horizon // 3
    return (
        _task("general-A", Flat(0.5), Linear(duration=2 * third), horizon, copies),
        _task("general-B", Flat(0.5), Linear(duration=third, end=0.5), horizon, copies),
    )


general_a, general_b = _each(general)


@dataclass(frozen=True)
class PowerSum(Curve):
    r"""A curve with power-law slopes: the mean of the m-th play is :math:`\sum_{n=1}^{m} (n+1)^{-c}`.

    The proof of Theorem 5 counts plays from 1. So the mean after 0 plays, that of the first play, is
    :math:`2^{-c}`.

    Parameters
    ----------
    c
        The exponent of the slopes.
    stop
        The play from which on the curve is constant.

    >>> PowerSum(c=2.0, stop=100)([0, 1]).round(4).tolist()
    [0.25, 0.3611]
    """

    c: float
    stop: int

    def __post_init__(self) -> None:
        _checks.number("c", self.c, low=0.0)
        _checks.integer("stop", self.stop, low=1, limit=10**12)
        _checks.memory(f"the means of {self.stop} plays", 3.0 * self.stop)

    @property
    def settled(self) -> int:
        return self.stop - 1

    @cached_property
    def _sums(self) -> Floats:
        """The means of the plays 1 to ``stop``."""
        return np.cumsum((np.arange(1, self.stop + 1) + 1.0) ** -self.c)

    def mean(self, plays: Ints) -> Floats:
        return np.asarray(self._sums[np.minimum(plays, self.stop - 1)])


@dataclass(frozen=True)
class Level:
    """The parameters of the `fine_grained` instances, and the regret that they force on every policy."""

    flat: float
    """The mean of the flat arm."""
    switch: int
    """The number of plays P of the rising arm for which A and B give the same outcomes."""
    scale: float
    """The factor by which all means are multiplied, so that none exceeds 1."""
    given_up: float
    """The regret on A of a policy that never plays the rising arm."""
    insisted: float
    """The smallest regret on B of a policy that plays the rising arm at least P times."""

    @property
    def bound(self) -> float:
        """The lower bound on the larger of a policy's regrets on A and on B, also for randomised policies.

        Let p be the probability that a policy plays the rising arm at least P times. Its regret is at least
        (1 - p) ``given_up`` on A and p ``insisted`` on B. The larger of the two is smallest if they are equal.
        """
        return self.given_up * self.insisted / (self.given_up + self.insisted)


@dataclass(frozen=True)
class PowerSums:
    """The means of an arm with slopes (n+1)^(-c), summed; `power_sums` makes them."""

    means: Floats
    """The means of the plays 1 to T."""
    totals: Floats
    """The sums F(m) of the first m means, for m = 0 to T."""
    scale: float
    """The factor that keeps means at 1 or below."""


def power_sums(horizon: int, c: float) -> PowerSums:
    """The means of an arm with slopes (n+1)^(-c) over a horizon, and their sums.

    Parameters
    ----------
    horizon
        The number of rounds, T, at least 6.
    c
        The exponent of the slopes, between 1 and 2.
    """
    horizon = _checks.integer("horizon", horizon, low=6, limit=_MOST_ROUNDS)
    c = _checks.number("c", c, low=1.0, high=2.0, open_low=True, open_high=True)
    means = PowerSum(c, horizon)(np.arange(horizon))
    return PowerSums(means, np.concatenate([[0.0], np.cumsum(means)]), 1.0 / max(1.0, float(means[-1])))


def fine_grained_level(horizon: int, c: float) -> Level:
    r"""The parameters at which the `fine_grained` instances force the largest regret.

    Let :math:`\mu(m)` be the mean of the m-th play of A's rising arm, and :math:`F(m) = \sum_{n\le m}\mu(n)`. B's
    rising arm stops at :math:`\mu(P)`, and the flat arm has this mean. A policy that never plays the rising arm has
    regret :math:`F(T) - T\mu(P)` on A. A policy that plays it at least P times has regret :math:`P\mu(P) - F(P)` or
    more on B. P is chosen to make the resulting bound as large as possible. The bound grows like :math:`T^{2-c}`.

    The paper has a lower flat arm, at :math:`\mu(P)-\varepsilon`. `proofs.theorem_5`
    shows the problem with it.

    Parameters
    ----------
    horizon
        The number of rounds, T, at least 6.
    c
        The exponent of the slopes, between 1 and 2.

    Returns
    -------
    Level
        The parameters and the bound.

    >>> level = fine_grained_level(10_000, 1.2)
    >>> level.bound > 0.02 * 10_000 ** 0.8
    True
    """
    sums = power_sums(horizon, c)
    given_up = sums.totals[horizon] - horizon * sums.means
    insisted = np.arange(1, horizon + 1) * sums.means - sums.totals[1:]
    positive = np.maximum(given_up, 0.0)
    bound = np.divide(positive * insisted, positive + insisted, out=np.zeros(horizon), where=positive > 0.0)
    best = int(np.argmax(bound))
    flat, lost_on_a, lost_on_b = (float(values[best] * sums.scale) for values in (sums.means, given_up, insisted))
    return Level(flat, best + 1, sums.scale, lost_on_a, lost_on_b)


def fine_grained(horizon: int, c: float, copies: int = 1) -> tuple[Task, Task]:
    r"""Two instances for Theorem 5: a flat arm, and an arm with slopes :math:`(n+1)^{-c}`.

    On A the second arm rises until the horizon. On B it stops after P plays, at the mean of the flat arm. If the
    largest mean exceeds 1, all means are divided by it. Slopes then stay below :math:`(n+1)^{-c}`.

    Parameters
    ----------
    horizon
        The number of rounds, T, at least 6.
    c
        The exponent of the slopes, between 1 and 2.
    copies
        The number of independent copies, which is the size of a super arm.

    Returns
    -------
    tuple of Task
        The instances A and B.

    >>> a, b = fine_grained(1000, 1.5)
    >>> bool(a.means(999)[1] > a.means(0)[0] >= b.means(999)[1])
    True
    """
    level = fine_grained_level(horizon, c)
    flat = Flat(min(1.0, level.flat))
    return (
        _task(f"fine-A-{c:g}", flat, Scaled(PowerSum(c, horizon), level.scale), horizon, copies),
        _task(f"fine-B-{c:g}", flat, Scaled(PowerSum(c, level.switch), level.scale), horizon, copies),
    )


fine_grained_a, fine_grained_b = _each(fine_grained)


def best_constant_is_not_optimal(horizon: int = 120) -> Task:
    """The instance of Theorem 1, on which the best constant super arm is not optimal.

    It is a k-MAX problem with three arms and k = 2. The best constant super arm is (1, 2). A policy that plays
    (2, 3) in the first round and (1, 2) in all others earns 0.3 more.

    Parameters
    ----------
    horizon
        The number of rounds, T, from 101 to ten million.

    >>> best_constant_is_not_optimal(120).means(0).round(4).tolist()
    [0.0833, 0.1, 0.5]
    """
    wanted = "an integer above 100, so that 10/T is below 0.1"
    horizon = _checks.integer("horizon", horizon, low=101, limit=_MOST_ROUNDS, wanted=wanted)
    rising = Tabulated(tuple(min(1.0, 10.0 * (n + 1) / horizon) for n in range(math.ceil(horizon / 10) + 1)))
    curves = (rising, Tabulated((0.1, 0.9)), Flat(0.5))
    return Task("theorem-1", KMax(["1", "2", "3"], k=2), curves, horizon, Noiseless(), description="Theorem 1's k-MAX")
