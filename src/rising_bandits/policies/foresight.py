"""Foresight: plays what is forecast to be best over the rounds left, and explores within a budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from rising_bandits import _checks
from rising_bandits.policies.horizon_crucb import AHEAD
from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.rules.foresight import LEVELS, RISES, Foresee
from rising_bandits.policies.rules.prefix_sums import make_sums
from rising_bandits.policies.rules.shapes import ALPHAS, FLAT, TAUS
from rising_bandits.problems.base import Problem

_FIRST_NOISE = 0.1
"""Sigma before it is measured. It counts as one measured step."""


@dataclass(kw_only=True, eq=False)
class Foresight(BaseArmPolicy):
    r"""Forecast each arm over the rounds left, play the best, and explore only as far as a budget allows.

    Most rounds play what is forecast to be best. The forecast of an arm is its expected mean outcome over the rounds
    left. It comes from a posterior over curves :math:`b_0 + b_1 (1 - (1 + n/\tau)^{-\alpha})` of 18 shapes and a flat
    one (`rising_bandits.policies.rules.shapes`). Arms of one problem are alike: how levels, rises and shapes are
    distributed is learnt from all arms, so an arm that was played once is expected to rise as the others did.

    Some rounds explore. They use the upper bounds of `HorizonCRUCB` as indices. What they cost is added up: how far
    their outcomes stay below those of other rounds. A round explores only while that is less than ``budget`` times what
    the whole run can be expected to earn. So a short run hardly explores, and a long one as far as it needs to.

    Every arm is played once first. Noise is measured. If the reward is the largest outcome, the arm with the best
    recent average is always chosen. Nothing is proved about this policy: its parts were chosen by measurement, on seeds
    below 1000 and on LCDB data sets with even numbers. It is not the recommended policy: on a chain of tools with
    outcomes of 0 and 1 it earned less than HorizonCRUCB.

    Parameters
    ----------
    budget
        The share of what can be earned that exploring may cost, from 0 to 1. With an unknown horizon it is a share of
        the rounds so far.
    bonus
        The constant C of the bounds in rounds that explore, as in `HorizonCRUCB`.
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
    [2, 28]
    """

    name = "foresight"
    title = "Foresight"
    colour = "#B2182B"
    first_plays = 1

    budget: float = 0.003
    bonus: float = 1.5
    ahead: int | None = None

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        return [{}, {"budget": 0.2, "bonus": 2.0, "ahead": 200}]

    def __post_init__(self) -> None:
        self.budget = _checks.number("budget", self.budget, low=0.0, high=1.0)
        self.bonus = _checks.number("bonus", self.bonus, low=0.0)
        if self.ahead is not None:
            self.ahead = _checks.integer("ahead", self.ahead, low=1, limit=10**12)

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> Foresee:
        shapes = np.array([(tau, alpha) for alpha in ALPHAS for tau in TAUS])
        count = len(shapes)
        weights = [math.log((1.0 - FLAT) / count)] * count + [math.log(FLAT)]
        belief = [LEVELS[0], LEVELS[1] ** 2, RISES[0], RISES[1] ** 2]
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
            prior=np.array(weights + belief),
            spent=np.zeros(5),
            value=np.full(n_units, np.inf),
            hope=np.full(n_units, np.inf),
            stamp=np.full(n_units, -1, dtype=np.int64),
            work=np.zeros((count + 1, 4)),
            horizon=horizon if horizon is not None and self.ahead is None else 0,
            ahead=AHEAD if self.ahead is None else self.ahead,
            constant=float(self.bonus),
            budget=float(self.budget),
            size=problem.oracle.max_size,
            largest=problem.reward.name == "max",
        )
