"""The optimal constant super arm: what a policy is compared with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits.curves import Curve
from rising_bandits.errors import TooManySuperArmsError
from rising_bandits.problems.tasks import Task
from rising_bandits.theory.cascade import best_of_cascade, cascade_reward


@dataclass(frozen=True)
class OptimalConstant:
    """The best super arm to play in every round, and what it brings."""

    super_arm: Ints
    """Arm numbers, ascending."""
    total: float
    """Expected reward over the horizon."""
    horizon: int
    task: Task

    def cumulative(self, rounds: Ints) -> Floats:
        """Its expected reward after each of these numbers of rounds."""
        reward = cascade_reward if self.task.cascade else constant_reward
        return reward(self.task, self.super_arm, int(np.max(rounds)))[np.asarray(rounds) - 1]


def _tables(curves: list[Curve], horizon: int) -> Floats:
    """Means by play (rows) and curve (columns), up to where the last curve settles."""
    tables = [curve.table(horizon) for curve in curves]
    length = max(table.size for table in tables)
    return np.stack([np.concatenate([t, np.full(length - t.size, t[-1])]) for t in tables], axis=1)


def constant_reward(task: Task, super_arm: Ints, horizon: int) -> Floats:
    """Cumulative expected reward of playing one super arm in rounds 1 to ``horizon``."""
    rewards = task.problem.reward.over_plays(_tables([task.curves[int(arm)] for arm in super_arm], horizon))
    return np.cumsum(np.concatenate([rewards, np.full(horizon - rewards.size, rewards[-1])]))


def optimal_constant(task: Task, horizon: int | None = None) -> OptimalConstant:
    r"""The super arm that brings the most when it is played in every round.

    For additive rewards a solver call on the summed curves, :math:`\sum_{n<T} \mu_i(n)`, which is exact
    (and, by Corollary 1 of the paper, no policy does better); for other rewards every listed super
    arm is tried. With cascading feedback see `rising_bandits.theory.cascade`.

    >>> import rising_bandits as rb
    >>> best = optimal_constant(rb.tasks.get("path-easy"), 300_000)
    >>> best.super_arm.tolist()
    [2, 5, 6, 9]
    """
    horizon = _checks.integer("horizon", task.horizon if horizon is None else horizon, low=1)
    oracle, reward = task.problem.oracle, task.problem.reward
    if task.cascade:
        super_arm = best_of_cascade(task, horizon)
        return OptimalConstant(super_arm, float(cascade_reward(task, super_arm, horizon)[-1]), horizon, task)
    if reward.additive and task.problem.exact:
        distinct = {curve: curve.total(horizon) for curve in dict.fromkeys(task.curves)}
        totals = np.array([distinct[curve] for curve in task.curves])
        super_arm = oracle.solve(totals)
        return OptimalConstant(super_arm, float(totals[super_arm].sum()), horizon, task)
    try:
        candidates = oracle.super_arms()
    except TooManySuperArmsError as error:
        raise TooManySuperArmsError(
            f"the optimum is found by listing where the solver does not maximise the reward itself, but {error}"
        ) from None
    tables = _tables(list(task.curves), horizon)
    best, found = -np.inf, candidates[0]
    for arms in candidates:
        rewards = reward.over_plays(tables[:, arms])
        total = float(rewards.sum() + rewards[-1] * (horizon - rewards.size))
        if total > best:
            best, found = total, arms
    return OptimalConstant(found, best, horizon, task)
