"""The reward of a constant super arm under cascading feedback.

In every round the first arm of the super arm is played. The next arm is played only if the first one succeeds, and so
on. So the number of plays of an arm is random, and the expected reward has no simple formula. Two approximations are
used:

- The best super arm is found with a mean-field approximation: an arm that is reached with probability p counts as
  played p times. This is fast enough for all super arms.
- The reward of that super arm is then the average over `REPLICAS` simulated runs.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits.curves import Bernoulli, Failing
from rising_bandits.errors import InputError, TooManySuperArmsError
from rising_bandits.problems.rewards import Reward
from rising_bandits.problems.tasks import Task

REPLICAS = 512
"""The number of simulated runs over which the reward of a constant super arm is averaged."""
_SEED = 20_260


def known(task: Task) -> bool:
    """Whether expected rewards and the best constant super arm of a cascading task can be computed.

    This needs a noise model with known probabilities of failure, and a reward for which there is a formula.
    """
    reward = task.problem.reward
    if isinstance(task.noise, Bernoulli):
        return reward in (Reward("sum"), Reward("product"))
    return isinstance(task.noise, Failing) and reward in (Reward("sum"), Reward("product"), Reward("harmonic"))


def expects(task: Task) -> bool:
    """Whether the expected reward of a round can be computed for a cascading task.

    For arms that fail at random, `known` must hold. With other noise models a cascade ends only if noise makes an
    outcome 0; the expected reward is then that of the means of the arms that were reached.
    """
    return known(task) or not isinstance(task.noise, Bernoulli | Failing)


def all_must_succeed(task: Task) -> bool:
    """Whether the expected reward is the probability that all arms succeed, times the reward of the successes.

    This is so for the harmonic reward of arms that fail at random, with or without cascading feedback. For them the
    expected reward is not the reward of the means.
    """
    return isinstance(task.noise, Failing) and task.problem.reward == Reward("harmonic")


def success_tables(task: Task, horizon: int) -> tuple[Floats, Floats]:
    """Two tables with a row per arm and a column per play: the probability of success, and the outcome of a success."""
    _checks.memory(f"the chances of {len(task.curves)} arms over {horizon} rounds", 4.0 * horizon * len(task.curves))
    plays = np.arange(horizon)
    means = np.stack([curve(plays) for curve in task.curves])
    if not isinstance(task.noise, Failing):
        return means, np.ones_like(means)
    chances = np.stack([curve(plays) for curve in task.noise.chances])
    return chances, of_success(means, chances)


def of_success(means: Floats, chances: Floats) -> Floats:
    """The outcome of a success: the mean outcome divided by the probability of success, or 0 if that is 0.

    >>> of_success(np.array([0.2, 0.0]), np.array([0.5, 0.0])).tolist()
    [0.4, 0.0]
    """
    return np.divide(means, chances, out=np.zeros_like(means), where=chances > 0.0)


def _check(task: Task) -> None:
    """Raise `InputError` if the best constant super arm cannot be computed."""
    if not known(task):
        raise InputError(
            "the optimal constant super arm under cascading feedback is only known for arms that fail by chance "
            "(Failing noise with a sum, product or harmonic reward, Bernoulli with a sum or product); compare with "
            "rb.simulate(task, rb.Oracle(super_arm=[...]))"
        )


def round_reward(reward: Reward, chance: Floats, gain: Floats) -> Floats:
    """The expected reward of one round with cascading feedback.

    The first axis of ``chance`` (probabilities of success) and ``gain`` (outcomes of successes) is the position in the
    super arm. The product and the harmonic reward are 0 if any arm fails, so for them the result is the same as
    without cascading feedback.
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
    """The best constant super arm in the mean-field approximation. All super arms must be listable."""
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
    """`cascade_reward` with hashable arguments, so that results are cached."""
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
    """The cumulative expected reward after rounds 1 to ``horizon`` if one super arm is always played.

    It is an average over `REPLICAS` simulated runs.

    >>> from rising_bandits.curves import Flat
    >>> from rising_bandits.problems import Explicit
    >>> task = Task("two", Explicit([[0, 1]]), (Flat(0.5), Flat(0.5)), 10, Bernoulli(), cascade=True)
    >>> float(cascade_reward(task, np.array([0, 1]), 10)[-1])
    7.5
    """
    _check(task)
    return _cascade_reward(task, tuple(int(arm) for arm in super_arm), horizon)
