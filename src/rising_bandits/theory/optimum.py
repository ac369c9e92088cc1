"""The optimal constant super arm, which is the comparator of the regret."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits.curves import Curve, Failing
from rising_bandits.errors import InputError, TooManySuperArmsError
from rising_bandits.problems.tasks import Task, check_task
from rising_bandits.theory.cascade import all_must_succeed, best_of_cascade, cascade_reward, of_success, round_reward


@dataclass(frozen=True)
class OptimalConstant:
    """The super arm with the largest expected reward if it is played in every round."""

    super_arm: Ints
    """Arm numbers, ascending."""
    total: float
    """Its expected reward over the horizon."""
    horizon: int
    """The number of rounds."""
    task: Task
    """The task."""

    def cumulative(self, rounds: Ints) -> Floats:
        """The cumulative expected reward of the super arm.

        Parameters
        ----------
        rounds
            Numbers of rounds, from 1.

        Returns
        -------
        array of float
            The expected reward after each number of rounds.

        Raises
        ------
        InputError
            A number of rounds is not a whole number of at least 1.
        """
        given = _checks.array(rounds)
        if given.dtype.kind not in "iu" or (given.size and not 1 <= int(given.min()) <= int(given.max()) <= 10**12):
            raise InputError(f"rounds must be whole numbers of rounds of at least 1, got {rounds!r:.80}")
        if given.size == 0:
            return np.zeros(given.shape)
        reward = cascade_reward if self.task.cascade else constant_reward
        return np.asarray(reward(self.task, self.super_arm, int(given.max()))[given - 1])


def _tables(curves: Sequence[Curve], horizon: int) -> Floats:
    """A table of means with a row per play and a column per curve, up to where all curves are constant."""
    tables = [curve.table(horizon) for curve in curves]
    length = max(table.size for table in tables)
    return np.stack([np.concatenate([t, np.full(length - t.size, t[-1])]) for t in tables], axis=1)


def _by_play(task: Task, arms: Sequence[int], horizon: int) -> Callable[[Ints], Floats]:
    """A function that computes the expected reward of a super arm for every play, up to where all curves are constant.

    The function takes positions in ``arms``, not arm numbers.
    """
    reward = task.problem.reward
    means = [task.curves[arm] for arm in arms]
    if not all_must_succeed(task):
        table = _tables(means, horizon)
        return lambda places: reward.over_plays(table[:, places])
    assert isinstance(task.noise, Failing)
    both = _tables([*means, *(task.noise.chances[arm] for arm in arms)], horizon).T
    mean, chance = both[: len(means)], both[len(means) :]
    gain = of_success(mean, chance)
    return lambda places: round_reward(reward, chance[places], gain[places])


def constant_reward(task: Task, super_arm: Ints, horizon: int) -> Floats:
    """The cumulative expected reward of always playing one super arm, after rounds 1 to ``horizon``. No cascades."""
    _checks.memory(f"the rewards of {horizon} rounds", 3.0 * horizon)
    rewards = _by_play(task, super_arm.tolist(), horizon)(np.arange(super_arm.size))
    return np.cumsum(np.concatenate([rewards, np.full(horizon - rewards.size, rewards[-1])]))


def optimal_constant(task: Task, horizon: int | None = None) -> OptimalConstant:
    r"""Find the super arm with the largest expected reward if it is played in every round.

    For the reward ``sum`` with an exact oracle this is one call of the oracle, with the weights
    :math:`\sum_{n<T} \mu_i(n)`. No other policy earns more then (Corollary 1). For other rewards all super arms are
    listed and tried. With cascading feedback it is an approximation; see `rising_bandits.theory.cascade`.

    Parameters
    ----------
    task
        The task.
    horizon
        The number of rounds, T. By default the horizon of the task.

    Raises
    ------
    TooManySuperArmsError
        All super arms have to be tried, but there are too many to list.
    InputError
        The task has cascading feedback, and its noise or reward is not supported there; or an argument is not valid.

    >>> import rising_bandits as rb
    >>> best = optimal_constant(rb.tasks.get("path-easy"), 300_000)
    >>> best.super_arm.tolist()
    [2, 5, 6, 9]
    """
    check_task(task)
    horizon = _checks.integer("horizon", task.horizon if horizon is None else horizon, low=1, limit=10**12)
    oracle = task.problem.oracle
    if task.cascade:
        super_arm = best_of_cascade(task, horizon)
        return OptimalConstant(super_arm, float(cascade_reward(task, super_arm, horizon)[-1]), horizon, task)
    if task.problem.reward.additive and task.problem.exact:
        distinct = {curve: curve.total(horizon) for curve in dict.fromkeys(task.curves)}
        totals = np.array([distinct[curve] for curve in task.curves])
        super_arm = oracle.solve(totals)
        return OptimalConstant(super_arm, float(totals[super_arm].sum()), horizon, task)
    try:
        candidates = oracle.super_arms()
    except TooManySuperArmsError as error:
        raise TooManySuperArmsError(
            f"the optimum is found by listing where the oracle does not maximise the reward itself, but {error}"
        ) from None
    bring = _by_play(task, range(task.problem.n_arms), horizon)
    best, found = -np.inf, candidates[0]
    for arms in candidates:
        rewards = bring(arms)
        total = float(rewards.sum() + rewards[-1] * (horizon - rewards.size))
        if total > best:
            best, found = total, arms
    return OptimalConstant(found, best, horizon, task)
