r"""Constant super arms under cascading feedback, where how often an arm is played depends on chance.

Played in every round, the first arm of a super arm is tried in each of them, the next only after a success
of the first, and so on. Two answers are given. The *mean field* lets an arm that is tried with chance p
advance by p plays, and is used to find the best super arm of many. What that one earns is then averaged over
simulated runs, with the standard error of `REPLICAS` of them.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits.curves import Bernoulli, Failing
from rising_bandits.errors import InputError, TooManySuperArmsError
from rising_bandits.problems.rewards import Reward
from rising_bandits.problems.tasks import Task

REPLICAS = 512
"""Runs over which the reward of a constant super arm is averaged."""
_SEED = 20_260


def known(task: Task) -> bool:
    """Whether the chances of failure are known, so that expected rewards and the comparator can be computed."""
    reward = task.problem.reward
    if isinstance(task.noise, Bernoulli):
        return reward in (Reward("sum"), Reward("product"))
    return isinstance(task.noise, Failing) and reward in (Reward("sum"), Reward("product"), Reward("harmonic"))


def expects(task: Task) -> bool:
    """Whether the reward that a cascade is expected to bring can be told round by round.

    Arms that fail by chance need `known`. Others stop a cascade only where noise takes an outcome to 0, and count with
    the means of those that were reached.
    """
    return known(task) or not isinstance(task.noise, Bernoulli | Failing)


def all_must_succeed(task: Task) -> bool:
    """Whether a round is worth the chance that no arm fails, times the reward of the successes.

    So it is for the harmonic reward of arms that fail, with cascading feedback or without: the reward of their means
    would be another number.
    """
    return isinstance(task.noise, Failing) and task.problem.reward == Reward("harmonic")


def success_tables(task: Task, horizon: int) -> tuple[Floats, Floats]:
    """Chance of success and outcome of a success, by arm (rows) and plays (columns)."""
    plays = np.arange(horizon)
    means = np.stack([curve(plays) for curve in task.curves])
    if not isinstance(task.noise, Failing):
        return means, np.ones_like(means)
    chances = np.stack([curve(plays) for curve in task.noise.chances])
    return chances, of_success(means, chances)


def of_success(means: Floats, chances: Floats) -> Floats:
    """What a success brings, where a try brings so much on average; 0 where there is none.

    >>> of_success(np.array([0.2, 0.0]), np.array([0.5, 0.0])).tolist()
    [0.4, 0.0]
    """
    return np.divide(means, chances, out=np.zeros_like(means), where=chances > 0.0)


def _check(task: Task) -> None:
    if not known(task):
        raise InputError(
            "the optimal constant super arm under cascading feedback is known for arms that fail by chance "
            "(Failing noise with a sum, product or harmonic reward, Bernoulli with a sum or product); compare with "
            "rb.simulate(task, rb.Oracle(super_arm=[...]))"
        )


def round_reward(reward: Reward, chance: Floats, gain: Floats) -> Floats:
    """The expected reward of one round under a cascade, for chances and outcomes of success by place (first axis).

    The product and the harmonic reward are 0 after any failure, so for them it is that of a round without a cascade.
    """
    if reward.additive:
        return np.asarray((np.cumprod(chance, axis=0) * gain).sum(axis=0))
    if reward.name == "product":
        return np.asarray(np.prod(chance * gain, axis=0))
    hopeless = (gain <= 0.0).any(axis=0)
    with np.errstate(divide="ignore"):
        return np.where(hopeless, 0.0, np.prod(chance, axis=0) / (1.0 / gain).sum(axis=0))


@lru_cache(maxsize=32)
def best_of_cascade(task: Task, horizon: int) -> Ints:
    """The best constant super arm by the mean field, over all that can be listed."""
    _check(task)
    oracle = task.problem.oracle
    try:
        candidates = [oracle.ordered(arms) for arms in oracle.super_arms()]
    except TooManySuperArmsError as error:
        raise TooManySuperArmsError(f"the optimum under cascading feedback is found by listing, but {error}") from None
    chances, gains = success_tables(task, horizon)
    best, found = -np.inf, candidates[0]
    for size in sorted({arms.size for arms in candidates}):
        group = np.stack([arms for arms in candidates if arms.size == size], axis=1)
        plays = np.zeros(group.shape)
        total = np.zeros(group.shape[1])
        for _ in range(horizon):
            n = plays.astype(np.int64)
            chance = chances[group, n]
            total += round_reward(task.problem.reward, chance, gains[group, n])
            plays += np.vstack([np.ones((1, group.shape[1])), np.cumprod(chance, axis=0)[:-1]])
        if total.max() > best:
            best, found = float(total.max()), group[:, int(total.argmax())]
    return np.sort(found)


@lru_cache(maxsize=32)
def _cascade_reward(task: Task, super_arm: tuple[int, ...], horizon: int) -> Floats:
    arms = task.problem.oracle.ordered(np.array(super_arm, dtype=np.int64))
    chances, gains = (table[arms] for table in success_tables(task, horizon))
    rng = np.random.default_rng(_SEED)
    plays = np.zeros((arms.size, REPLICAS), dtype=np.int64)
    place = np.arange(arms.size)[:, None]
    rewards = np.zeros(horizon)
    for t in range(horizon):
        chance = chances[place, plays]
        rewards[t] = round_reward(task.problem.reward, chance, gains[place, plays]).mean()
        success = rng.random(chance.shape) < chance
        plays[0] += 1
        plays[1:] += np.cumprod(success, axis=0, dtype=np.int64)[:-1]
    return np.cumsum(rewards)


def cascade_reward(task: Task, super_arm: Ints, horizon: int) -> Floats:
    """Cumulative expected reward of one super arm in rounds 1 to ``horizon``, averaged over simulated runs.

    >>> from rising_bandits.curves import Flat
    >>> from rising_bandits.problems import Explicit
    >>> task = Task("two", Explicit([[0, 1]]), (Flat(0.5), Flat(0.5)), 10, Bernoulli(), cascade=True)
    >>> float(cascade_reward(task, np.array([0, 1]), 10)[-1])
    7.5
    """
    _check(task)
    return _cascade_reward(task, tuple(int(arm) for arm in super_arm), horizon)
