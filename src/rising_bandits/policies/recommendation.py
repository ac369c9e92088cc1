"""The policy that the guide recommends."""

from __future__ import annotations

from rising_bandits import _checks
from rising_bandits.policies.foresight import Foresight
from rising_bandits.policies.policy import MOST_ROUNDS, Policy
from rising_bandits.problems.base import Problem, check_problem


def recommended(problem: Problem, horizon: int | None = None) -> Policy:
    """Make the policy that the guide "Which policy should I use?" recommends.

    There is one default for every problem. It measures the noise by itself, so no sigma is given.

    Parameters
    ----------
    problem
        The problem to decide about.
    horizon
        How many rounds there will be; None if nobody knows.

    Returns
    -------
    Policy
        The policy, not started yet. Pass the same problem and horizon to its `start`.

    >>> import rising_bandits as rb
    >>> problem = rb.problems.TopK(["ann", "bob", "cy"], k=2)
    >>> policy = recommended(problem)
    >>> policy.start(problem, rng=0)
    >>> problem.labels_of(policy.select())
    ['ann', 'bob']
    """
    check_problem(problem)
    if horizon is not None:
        _checks.integer("horizon", horizon, low=1, limit=MOST_ROUNDS)
    return Foresight()
