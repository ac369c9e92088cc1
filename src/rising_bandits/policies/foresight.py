"""Foresight: plays what is forecast to be best over the rounds left, and explores within a budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rising_bandits import _checks
from rising_bandits.policies.horizon_crucb import AHEAD
from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.rules.beliefs import first_belief
from rising_bandits.policies.rules.evidence import first_evidence
from rising_bandits.policies.rules.foresight import Foresee
from rising_bandits.policies.rules.prefix_sums import make_sums
from rising_bandits.policies.rules.shapes import ALPHAS, TAUS
from rising_bandits.problems.base import Problem

_FIRST_NOISE = 0.1
"""Sigma before it is measured. It counts as one measured step."""


@dataclass(kw_only=True, eq=False)
class Foresight(BaseArmPolicy):
    r"""Forecast each arm over the rounds left, play the best, and explore only as far as a budget allows.

    The forecast of an arm is its expected mean outcome over the rounds left. It comes from a posterior over curves
    :math:`b_0 + b_1 (1 - (1 + n/\tau)^{-\alpha})` of 18 shapes and a flat one
    (`rising_bandits.policies.rules.shapes`). The policy assumes that the arms of one problem are alike. It learns from
    all arms how levels, rises and shapes are distributed. So it expects an arm that was played once to rise as the
    others did.

    With :math:`N` plays and :math:`m` rounds left, the index of an ordinary round is

    .. math::

        \hat v + \varphi \sqrt{\left((0.02\,(c - \hat v)^+)^2 + (0.25\,c\,s)^2\right)
        \left(\min(1, r/20)\,W(m/N)\right)^2
        + \left((b\,\min(1, r/1000)\,\sigma_i^2/\sqrt{w})\,W(m L/(K N))\right)^2}.

    Here :math:`\hat v` is the forecast and :math:`s` its deviation, :math:`c` the smaller of 1 and twice the highest
    mean seen, :math:`\sigma_i` the measured noise of the arm or of all arms, whichever is more, :math:`b` is ``luck``,
    :math:`w = \max(1, \lfloor N/2 \rfloor)`, :math:`K` the number of arms, :math:`L` the largest size of a super arm,
    :math:`r = T L/K`, and :math:`W` Lambert's function. If what an arm may gain has an exponential tail with scale
    :math:`x`, then :math:`x\,W(m/N)` is the gain at which a probe of :math:`N` more plays is just worth its cost. An
    index is cut at the upper bound of `HorizonCRUCB` with two more deviations, so an arm that has fallen is soon played
    less.

    The factor :math:`\varphi` is what is still believed about rises. Let :math:`d_i` be the rise of the line through
    all outcomes of an arm, and :math:`e_i = \sigma_i \sqrt{12/N_i}` its error. Sums are over the :math:`k` arms with
    at least :math:`\max(8, r/500)` plays. If some :math:`d_i > 5 e_i`, from 16 plays on, or if
    :math:`\sum d_i > 3.5 \sqrt{\sum e_i^2}`, arms rise, and :math:`\varphi = 1` from then on. Until then

    .. math::

        \varphi = \max\left(0.05, 1 - \frac kK + \frac kK \min\left(1,
        \frac{(\sum d_i)^+ + 2 \sqrt{\sum e_i^2}}{0.1\,c\,k}\right)\right).

    So where all arms are flat, the policy explores less and less.

    A rise that is seen is pursued: from 16 plays on, an index is at least what the lines of `HorizonCRUCB` promise when
    they are lowered by one and a half deviations.

    Every other round may explore: its indices are the bounds of `HorizonCRUCB`, which find arms that rise late. What
    these rounds cost, by the means of the arms that they play, is added up. A round explores only if the sum would
    stay within a share of what the whole run is expected to earn, even if the round earned nothing. With
    :math:`q = T \ell/(750 K)` and :math:`\ell` arms per round, the share is the product of ``budget``, of
    :math:`\min(q^4, 1/\sqrt q)` or a twentieth, and of :math:`\varphi` or a half, whichever is more. So a short run
    hardly explores in this way, because it could not see a rise anyway. A long run needs a smaller share.

    Every arm is played once first. Noise is measured. If the reward is the largest outcome, the arm with the best
    recent average is always chosen. Nothing is proved about this policy: its parts and numbers were chosen by
    measurement, on seeds below 1000 and on LCDB data sets with even numbers.

    Parameters
    ----------
    budget
        The most that exploring may cost, as a share of what a run can earn, from 0 to 1. With an unknown horizon, the
        run counts up to the present round.
    bonus
        The constant C of the bounds in rounds that explore, as in `HorizonCRUCB`.
    luck
        How much to explore because of noise. A larger number finds out more about arms with outcomes of 0 and 1, and
        costs more where there is nothing to find. It counts in full from 1000 rounds per arm on.
    ahead
        A number makes the policy ignore the horizon. The rounds left are then assumed to be as many as the rounds so
        far, and at least ``ahead``. None uses the horizon, or 100 000 as ``ahead`` if there is no horizon.

    >>> import numpy as np, rising_bandits as rb
    >>> policy = Foresight()
    >>> policy.start(rb.problems.TopK(["x", "y"], k=1), horizon=100, rng=np.random.default_rng(0))
    >>> for _ in range(30):
    ...     arms = policy.select()
    ...     policy.observe(arms, [0.2 if arms[0] == 0 else 0.5])
    >>> policy.plays.tolist()
    [1, 29]
    """

    name = "foresight"
    title = "Foresight"
    colour = "#B2182B"
    first_plays = 1

    budget: float = 0.02
    bonus: float = 1.3
    luck: float = 5.0
    ahead: int | None = None

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        return [{}, {"budget": 0.2, "bonus": 2.0, "luck": 2.0, "ahead": 200}]

    def __post_init__(self) -> None:
        self.budget = _checks.number("budget", self.budget, low=0.0, high=1.0)
        self.bonus = _checks.number("bonus", self.bonus, low=0.0, limit=1e9)
        self.luck = _checks.number("luck", self.luck, low=0.0, limit=1e9)
        if self.ahead is not None:
            self.ahead = _checks.integer("ahead", self.ahead, low=1, limit=10**12)

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> Foresee:
        shapes = np.array([(tau, alpha) for alpha in ALPHAS for tau in TAUS])
        count = len(shapes)
        return Foresee(
            plays=np.zeros(n_units, dtype=np.int64),
            shapes=shapes,
            sums=np.zeros((n_units, count, 3)),
            totals=np.zeros((n_units, 4)),
            prefix=make_sums(n_units),
            lines=np.zeros((n_units, 3, 3)),
            last=np.zeros(n_units),
            noise=np.array([_FIRST_NOISE, _FIRST_NOISE**2, 1.0, 2.0]),
            told=np.zeros((n_units, count + 6)),
            pool=np.zeros(count + 8),
            prior=first_belief(count),
            spent=np.zeros(10),
            jumps=np.zeros(n_units),
            waiting=np.zeros(n_units),
            mean=np.zeros(n_units),
            value=np.full(n_units, np.inf),
            hope=np.full(n_units, np.inf),
            stamp=np.full(n_units, -1, dtype=np.int64),
            work=np.zeros((count + 1, 4)),
            evidence=first_evidence(),
            horizon=horizon if horizon is not None and self.ahead is None else 0,
            ahead=AHEAD if self.ahead is None else self.ahead,
            constant=float(self.bonus),
            budget=float(self.budget),
            luck=float(self.luck),
            size=problem.oracle.max_size,
            largest=problem.reward.name == "max",
        )
