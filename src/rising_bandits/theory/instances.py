r"""Instances of the proofs as tasks: pairs A and B on which no policy does well, and Theorem 1's k-MAX."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits.curves import Curve, Flat, Linear, Noiseless, Scaled, Tabulated
from rising_bandits.problems.base import Problem
from rising_bandits.problems.graphs import ShortestPath
from rising_bandits.problems.sets import KMax
from rising_bandits.problems.tasks import Task


def choices(copies: int) -> Problem:
    """``copies`` independent choices between an arm that is flat and one that rises: a path of double edges.

    >>> choices(3).oracle.count()
    8
    """
    copies = _checks.integer("copies", copies, low=1)
    flat = [(i, i + 1, f"flat {i}") for i in range(copies)]
    rising = [(i, i + 1, f"rising {i}") for i in range(copies)]
    return ShortestPath([*flat, *rising], 0, copies)


def _task(name: str, flat: Curve, rising: Curve, horizon: int, copies: int) -> Task:
    curves = (flat,) * copies + (rising,) * copies
    return Task(name, choices(copies), curves, horizon, Noiseless(), description="an instance of a lower bound")


def general(horizon: int, copies: int = 1) -> tuple[Task, Task]:
    r"""Theorem 5's pair: a flat arm at 1/2 beside one that rises to 1 (A) or stops at 1/2 (B).

    Up to T/3 plays the two are the same, so a policy that gives up on the rising arm loses on A, and
    one that does not loses on B: T/6 on A or T/12 on B, so that a random choice between the two costs T/18.

    >>> a, b = general(3000)
    >>> a.means(500).tolist() == b.means(500).tolist()
    True
    >>> a.means(2999).tolist(), b.means(2999).tolist()
    ([0.5, 1.0], [0.5, 0.5])
    """
    horizon = _checks.integer("horizon", horizon, low=6)
    third = horizon // 3
    return (
        _task("general-A", Flat(0.5), Linear(duration=2 * third), horizon, copies),
        _task("general-B", Flat(0.5), Linear(duration=third, end=0.5), horizon, copies),
    )


def general_a(horizon: int, copies: int = 1) -> Task:
    """The first of the `general` pair."""
    return general(horizon, copies)[0]


def general_b(horizon: int, copies: int = 1) -> Task:
    """The second of the `general` pair."""
    return general(horizon, copies)[1]


@dataclass(frozen=True)
class PowerSum(Curve):
    r""":math:`\mu(m) = \sum_{n=1}^{m} (n+1)^{-c}`, constant after ``stop`` plays.

    The play with n plays before it is the (n+1)-th, as in the proof.

    >>> PowerSum(c=2.0, stop=100)([0, 1]).round(4).tolist()
    [0.25, 0.3611]
    """

    c: float
    stop: int

    @property
    def settled(self) -> int:
        return self.stop - 1

    @cached_property
    def _sums(self) -> Floats:
        return np.cumsum((np.arange(1, self.stop + 1) + 1.0) ** -self.c)

    def mean(self, plays: Ints) -> Floats:
        return np.asarray(self._sums[np.minimum(plays, self.stop - 1)])


@dataclass(frozen=True)
class Level:
    """Where the flat arm of a fine-grained pair lies, and what the pair costs any policy."""

    flat: float
    switch: int
    """P: the plays up to which A and B are the same."""
    scale: float
    """What every mean is multiplied by, so that none passes 1."""
    given_up: float
    """Regret on A of a policy that never plays the rising arm."""
    insisted: float
    """Regret on B of a policy that plays the rising arm at least P times."""

    @property
    def bound(self) -> float:
        """What any policy, also a randomised one, suffers on A or on B.

        One that plays the rising arm P times with chance p suffers at least (1 - p) ``given_up`` on A and
        p ``insisted`` on B; the larger of the two is smallest where they are equal.
        """
        return self.given_up * self.insisted / (self.given_up + self.insisted)


def _sums(horizon: int, c: float) -> tuple[Floats, Floats, float]:
    """The means of the plays, their running totals from 0, and the factor that keeps them below 1."""
    means = PowerSum(c, horizon)(np.arange(horizon))
    return means, np.concatenate([[0.0], np.cumsum(means)]), 1.0 / max(1.0, float(means[-1]))


def fine_grained_level(horizon: int, c: float) -> Level:
    r"""The flat level and the switch at which the pair costs most.

    The flat arm lies at :math:`\mu(P)`, where the rising arm of B stops. With
    :math:`F(m) = \sum_{n\le m}\mu(n)`, giving up costs :math:`F(T) - T\mu(P)` on A, and insisting costs
    :math:`P\mu(P) - F(P)` on B; P is where the bound that follows is largest. Both grow like
    :math:`T^{2-c}`. The paper puts the flat arm lower, at :math:`\mu(P)-\varepsilon`; see `paper_step`.

    >>> level = fine_grained_level(10_000, 1.2)
    >>> level.bound > 0.02 * 10_000 ** 0.8
    True
    """
    horizon = _checks.integer("horizon", horizon, low=6)
    c = _checks.number("c", c, low=1.0, high=2.0, open_low=True, open_high=True)
    means, totals, scale = _sums(horizon, c)
    plays = np.arange(1, horizon + 1)
    given_up = totals[horizon] - horizon * means
    insisted = plays * means - totals[1:]
    positive = np.maximum(given_up, 0.0)
    bound = np.divide(positive * insisted, positive + insisted, out=np.zeros(horizon), where=positive > 0.0)
    best = int(np.argmax(bound))
    return Level(
        float(means[best] * scale), best + 1, scale, float(given_up[best] * scale), float(insisted[best] * scale)
    )


@dataclass(frozen=True)
class PaperStep:
    """A step in the paper's proof of Theorem 6, computed on the instances that it defines."""

    claimed: float
    """The regret on B that the proof finds for a policy that only plays the rising arm."""
    real: float
    """The regret of that policy."""


def paper_step(horizon: int, c: float) -> PaperStep:
    r"""The paper's own pair: :math:`P = (2-c)^{1/(c-1)}T`, and a flat arm at :math:`\mu(P) - \varepsilon`.

    The proof takes the reward on B to be largest when the flat arm is played most. But the rising arm of
    B ends at :math:`\mu(P)`, above the flat one, so whoever insists earns more than that, and for larger c
    even more than the flat arm. With :math:`\varepsilon = 0` the step is right; see `fine_grained_level`.

    >>> step = paper_step(100_000, 1.6)
    >>> step.claimed > 0 > step.real
    True
    """
    horizon = _checks.integer("horizon", horizon, low=6)
    c = _checks.number("c", c, low=1.0, high=2.0, open_low=True, open_high=True)
    means, totals, scale = _sums(horizon, c)
    switch = max(1, math.floor((2.0 - c) ** (1.0 / (c - 1.0)) * horizon))
    flat = (totals[horizon] - totals[horizon - switch] + totals[switch]) / (2.0 * switch)
    stopped = totals[switch] + (horizon - switch) * means[switch - 1]
    return PaperStep(float((flat * switch - totals[switch]) * scale), float((flat * horizon - stopped) * scale))


def fine_grained(horizon: int, c: float, copies: int = 1) -> tuple[Task, Task]:
    r"""A pair for Theorem 6: slopes :math:`(n+1)^{-c}` that go on (A) or stop at play P (B), beside a flat arm.

    Means are divided by the largest one where that passes 1, which keeps the slopes within the class.

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


def fine_grained_a(horizon: int, c: float, copies: int = 1) -> Task:
    """The first of the `fine_grained` pair."""
    return fine_grained(horizon, c, copies)[0]


def fine_grained_b(horizon: int, c: float, copies: int = 1) -> Task:
    """The second of the `fine_grained` pair."""
    return fine_grained(horizon, c, copies)[1]


def best_constant_is_not_optimal(horizon: int = 120) -> Task:
    """Theorem 1's three-arm k-MAX instance, where playing (2, 3) once first gains 0.3.

    >>> best_constant_is_not_optimal(120).means(0).round(4).tolist()
    [0.0833, 0.1, 0.5]
    """
    horizon = _checks.integer("horizon", horizon, low=101, wanted="an integer above 100, so that 10/T is below 0.1")
    rising = Tabulated(tuple(min(1.0, 10.0 * (n + 1) / horizon) for n in range(math.ceil(horizon / 10) + 1)))
    curves = (rising, Tabulated((0.1, 0.9)), Flat(0.5))
    return Task("theorem-1", KMax(["1", "2", "3"], k=2), curves, horizon, Noiseless(), description="Theorem 1's k-MAX")
