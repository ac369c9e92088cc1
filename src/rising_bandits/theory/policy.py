"""The optimal policy of a small instance, by dynamic programming over the play counts of all arms."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Ints
from rising_bandits.errors import InputError
from rising_bandits.oracles import LIST_LIMIT
from rising_bandits.problems.tasks import Task, check_task
from rising_bandits.theory.cascade import all_must_succeed, round_reward, success_tables

STATE_LIMIT = 5_000_000
"""The largest number of states of the dynamic program, by default."""


@dataclass(frozen=True)
class OptimalPolicy:
    """The sequence of super arms with the largest expected reward."""

    total: float
    """Its expected reward over the horizon."""
    super_arms: list[Ints]
    """The super arm of each round, as ascending arm numbers."""
    states: int
    """The number of states of the dynamic program."""


def count_states(n_super_arms: int, horizon: int) -> int:
    """An upper bound on the number of states: the ways to play super arms in any numbers, at most ``horizon`` in all.

    Parameters
    ----------
    n_super_arms
        The number of super arms.
    horizon
        The number of rounds.

    >>> count_states(2, 3)
    10
    """
    n_super_arms = _checks.integer("n_super_arms", n_super_arms, low=1, limit=LIST_LIMIT)
    horizon = _checks.integer("horizon", horizon, low=0, limit=10**12)
    return math.comb(horizon + n_super_arms, n_super_arms)


def _expected(task: Task, horizon: int) -> Callable[[list[int], list[int]], float]:
    """A function that takes arms and their play counts and returns the expected reward of the round."""
    reward = task.problem.reward
    if all_must_succeed(task):
        chances, gains = success_tables(task, horizon)
        return lambda arms, plays: float(round_reward(reward, chances[arms, plays], gains[arms, plays]))
    means = np.array([curve(np.arange(horizon)) for curve in task.curves])
    return lambda arms, plays: reward.combine(means[arms, plays])


def optimal_policy(task: Task, horizon: int | None = None, *, limit: int = STATE_LIMIT) -> OptimalPolicy:
    """Find the optimal policy of a small instance whose curves are known. It is exact.

    The optimal policy may change its super arm, unlike `optimal_constant`. Means depend on the play counts of the arms
    only, so a state is a vector of play counts. The best way to reach every state is computed round by round.

    Parameters
    ----------
    task
        The task. It must not have cascading feedback, because play counts would be random.
    horizon
        The number of rounds. By default the horizon of the task.
    limit
        The largest number of states.

    Raises
    ------
    InputError
        There may be more than ``limit`` states, or the task has cascading feedback.

    >>> from rising_bandits.theory.instances import best_constant_is_not_optimal
    >>> from rising_bandits.theory.optimum import optimal_constant
    >>> task = best_constant_is_not_optimal(110)
    >>> round(optimal_policy(task).total - optimal_constant(task).total, 9)
    0.3
    """
    check_task(task)
    horizon = _checks.integer("horizon", task.horizon if horizon is None else horizon, low=1, limit=10**12)
    limit = _checks.integer("limit", limit, low=1)
    if task.cascade:
        raise InputError("task must not have cascading feedback, where plays depend on chance; use optimal_constant")
    family = task.problem.oracle.super_arms()
    size = count_states(len(family), horizon)
    if size > limit:
        # The number may have thousands of digits.
        shown = str(size) if size < 10**40 else f"about 10^{math.log10(size):.0f}"
        raise InputError(
            f"the exact optimum of {len(family)} super arms over {horizon} rounds has up to {shown} states, more than "
            f"the limit of {limit}; use a shorter horizon, fewer super arms, or optimal_constant"
        )
    reward = _expected(task, horizon)
    members = [tuple(arms.tolist()) for arms in family]
    start = (0,) * task.problem.n_arms
    layers: list[dict[tuple[int, ...], tuple[float, int]]] = [{start: (0.0, -1)}]
    for _ in range(horizon):
        following: dict[tuple[int, ...], tuple[float, int]] = {}
        for plays, (total, _) in layers[-1].items():
            for place, arms in enumerate(members):
                gained = total + reward(list(arms), [plays[arm] for arm in arms])
                after = list(plays)
                for arm in arms:
                    after[arm] += 1
                key = tuple(after)
                if key not in following or gained > following[key][0]:
                    following[key] = (gained, place)
        layers.append(following)
    key, (total, _) = max(layers[-1].items(), key=lambda item: item[1][0])
    chosen: list[Ints] = []
    for layer in reversed(layers[1:]):
        place = layer[key][1]
        chosen.append(family[place])
        before = list(key)
        for arm in members[place]:
            before[arm] -= 1
        key = tuple(before)
    return OptimalPolicy(total, chosen[::-1], sum(map(len, layers)))
