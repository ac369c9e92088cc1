"""Best super arm identification: a policy explores for a budget of rounds and then recommends a super arm."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits.errors import InputError, TooManySuperArmsError
from rising_bandits.problems.tasks import Task, check_task
from rising_bandits.simulation.run import Simulation

_EQUAL = 1e-9
"""Super arms whose values differ by less are equally good."""


@dataclass(frozen=True)
class Identification:
    """What a policy recommended after its budget, and what would have been best."""

    task: Task = field(repr=False)
    """The task."""
    policy: str
    """The policy with its parameters."""
    budget: int
    """The number of rounds before the recommendation."""
    seed: int
    """The seed."""
    super_arm: Ints
    """The super arm that was recommended, by arm numbers, ascending."""
    value: float
    """The reward of its means after ``budget`` plays of each arm."""
    best: Ints = field(repr=False)
    """The super arm with the largest such reward."""
    best_value: float
    """The largest such reward."""
    plays: Ints = field(repr=False)
    """Plays of each base arm."""

    @property
    def simple_regret(self) -> float:
        """How much less the recommended super arm is worth than the best one."""
        return max(0.0, self.best_value - self.value)

    @property
    def correct(self) -> bool:
        """Whether a super arm was recommended that is as good as the best one."""
        return self.simple_regret <= _EQUAL


def best_after(task: Task, budget: int) -> tuple[Ints, float]:
    """The super arm that is best if all arms have been played ``budget`` times.

    This is the goal of Mussi et al., *Best Arm Identification for Stochastic Rising Bandits* (ICML 2024): the largest
    mean of play number :math:`T`, here for super arms.

    Parameters
    ----------
    task
        The task.
    budget
        The number of plays, at least 1.

    Returns
    -------
    tuple
        Its arm numbers, ascending, and the reward of the means.

    Raises
    ------
    InputError
        The task has cascading feedback, or its best super arm cannot be computed: the oracle is not exact for its
        reward, and its super arms are too many to list.

    >>> import rising_bandits as rb
    >>> task = rb.tasks.get("identify-models")
    >>> [task.problem.labels_of(best_after(task, budget)[0]) for budget in (100, 300, 1_000)]
    [['middle'], ['large'], ['huge']]
    """
    check_task(task)
    if task.cascade:
        raise InputError(f"task must not have cascading feedback, but {task.name!r} has it")
    means = task.means(_checks.integer("budget", budget, low=1) - 1)
    problem = task.problem
    if problem.exact:
        best = np.sort(problem.oracle.solve(means))
        return best, reward_of(task, best, means)
    try:
        sets = problem.oracle.super_arms()
    except TooManySuperArmsError as error:
        raise InputError(f"the best super arm of task {task.name!r} is not known: {error}") from None
    values = [reward_of(task, arms, means) for arms in sets]
    place = int(np.argmax(values))
    return sets[place], values[place]


def reward_of(task: Task, arms: Ints, means: Floats) -> float:
    """The reward of the means of a super arm."""
    return float(task.problem.reward.combine(means[task.problem.ordered(arms)]))


def identify(
    task: Task, policy: Any, budget: int | None = None, seed: int = 0, *, compiled: bool = True
) -> Identification:
    """Let a policy explore for a budget of rounds, and judge the super arm that it then recommends.

    Parameters
    ----------
    task
        The task.
    policy
        A policy with ``recommend``, such as `RUCBE` or `RSR`. Its ``start`` is called.
    budget
        The number of rounds; by default the task's horizon.
    seed
        The seed of outcomes and of the policy.
    compiled
        False runs the loop as plain Python.

    Returns
    -------
    Identification
        The recommendation, and how good it is.

    >>> import rising_bandits as rb
    >>> task = rb.tasks.get("identify-models")
    >>> found = identify(task, rb.policies.RUCBE(sigma=task.sigma), budget=4_000, seed=0)
    >>> task.problem.labels_of(found.super_arm), found.correct, found.simple_regret
    (['huge'], True, 0.0)
    """
    if not callable(getattr(policy, "recommend", None)):
        raise InputError(f"policy must have a method recommend, as RUCBE and RSR have, got {policy!r}")
    check_task(task)
    rounds = task.horizon if budget is None else _checks.integer("budget", budget, low=1)
    best, best_value = best_after(task, rounds)
    run = Simulation(task, policy, rounds, seed, compiled=compiled)
    run.advance()
    arms = task.problem.oracle.check_super_arm(policy.recommend())
    return Identification(
        task=task,
        policy=repr(policy),
        budget=rounds,
        seed=seed,
        super_arm=arms,
        value=reward_of(task, arms, task.means(rounds - 1)),
        best=best,
        best_value=best_value,
        plays=run.result().plays,
    )


@dataclass(frozen=True)
class ErrorRate:
    """How often recommendations were wrong, and what that cost."""

    runs: int
    """The number of recommendations."""
    errors: int
    """How many of them were wrong."""
    simple_regret: float
    """The mean simple regret."""
    low: float
    """The lower end of a 95% interval (Wilson) of the error probability."""
    high: float
    """The upper end."""

    @property
    def probability(self) -> float:
        """The share of recommendations that were wrong."""
        return self.errors / self.runs


def error_rate(found: Iterable[Identification]) -> ErrorRate:
    """Summarise recommendations of one policy with several seeds.

    Parameters
    ----------
    found
        What `identify` returned, at least once.

    Returns
    -------
    ErrorRate
        The error probability with an interval, and the mean simple regret.

    >>> import rising_bandits as rb
    >>> task = rb.tasks.get("identify-models")
    >>> rate = error_rate(identify(task, rb.policies.RSR(), 300, seed, compiled=False) for seed in range(4))
    >>> rate.runs, rate.low <= rate.probability <= rate.high
    (4, True)
    """
    results = _checks.listed(found)
    if not results or not all(isinstance(cast(object, one), Identification) for one in results):
        raise InputError(f"found must be a list of at least one result of identify, got {found!r:.80}")
    from scipy.stats import binomtest

    errors = sum(not one.correct for one in results)
    interval = binomtest(errors, len(results)).proportion_ci(method="wilson")
    regret = float(np.mean([one.simple_regret for one in results]))
    return ErrorRate(len(results), errors, regret, float(interval.low), float(interval.high))
