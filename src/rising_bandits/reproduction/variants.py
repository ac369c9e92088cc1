"""Tasks that only the report needs: k-MAX as the authors' program scales it, and arms that are flat or soon settle."""

from __future__ import annotations

import math
from dataclasses import replace

from rising_bandits import _checks
from rising_bandits.curves import Exponential, Flat, Gaussian
from rising_bandits.problems import KMax, Task, tasks
from rising_bandits.theory.instances import choices

SIGMA = 0.01
"""The noise of the pairs without rising means, that of the paper's synthetic tasks."""
_BEST = math.exp(-0.5) / 16.0


class HalvedKMax(KMax):
    """k-MAX whose policies on super arms see the reward divided by k, as in the authors' program."""

    @property
    def scale(self) -> float:
        return float(self.oracle.max_size)


def k_max_halved() -> Task:
    """The task ``k-max`` with rewards divided by 2 for policies on super arms; regret is not divided.

    >>> k_max_halved().problem.scale, tasks.get("k-max").problem.scale
    (2.0, 1.0)
    """
    task = tasks.get("k-max")
    return replace(task, name="k-max-halved", problem=HalvedKMax(task.problem.n_arms, k=2))


def flat_gap(horizon: int) -> float:
    """The difference of means at which a pair without rising means costs most by the bound of `flat_bound`."""
    return SIGMA / (2.0 * math.sqrt(horizon))


def flat_bound(horizon: int, copies: int = 1) -> float:
    r"""A lower bound on the larger regret of any policy on a pair `flat`: :math:`L \sigma \sqrt{T} e^{-1/2} / 16`.

    It is the part :math:`L\sqrt{T}` of Theorem 5. The second arm is better by :math:`\Delta` on A and worse by it on B.
    All T plays of it tell A from B with a divergence of at most :math:`2T\Delta^2/\sigma^2`. By the inequality of
    Bretagnolle and Huber the larger regret is at least :math:`(T\Delta/8) e^{-2T\Delta^2/\sigma^2}`, which is largest
    at :math:`\Delta = \sigma/(2\sqrt{T})`. For L copies each is drawn by itself, as for the other lower bounds.

    Parameters
    ----------
    horizon
        The number of rounds, T.
    copies
        The number of copies, L.

    >>> round(flat_bound(10_000), 4)
    0.0379
    """
    horizon = _checks.integer("horizon", horizon, low=1)
    return copies * _BEST * SIGMA * math.sqrt(horizon)


def flat(horizon: int, better: bool, copies: int = 1) -> Task:
    """A pair without rising means: an arm at 1/2, and one that is better (A) or worse (B) by `flat_gap`.

    Parameters
    ----------
    horizon
        The number of rounds.
    better
        Whether the second arm is the better one.
    copies
        How many such pairs are played at a time.
    """
    gap = flat_gap(_checks.integer("horizon", horizon, low=1))
    curves = (Flat(0.5),) * copies + (Flat(0.5 + gap if better else 0.5 - gap),) * copies
    name = f"flat-{'A' if better else 'B'}"
    return Task(name, choices(copies), curves, horizon, Gaussian(SIGMA), description="two arms of nearly equal means")


def steep(horizon: int) -> Task:
    """Two arms whose slopes are below exp(-n): they rise to 0.4 and to 0.9, with the noise of the synthetic tasks.

    Parameters
    ----------
    horizon
        The number of rounds.

    >>> steep(1_000).means(10).round(3).tolist()
    [0.4, 0.9]
    """
    horizon = _checks.integer("horizon", horizon, low=1)
    curves = (Exponential(1.0, end=0.4), Exponential(1.0, end=0.9))
    return Task("steep", choices(1), curves, horizon, Gaussian(SIGMA), description="slopes below exp(-n)")
