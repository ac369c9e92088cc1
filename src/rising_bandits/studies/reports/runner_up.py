"""The super arm that comes second by its indices, and the one that averages alone would choose."""

from __future__ import annotations

import numpy as np

from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits.errors import InfeasibleError, TooManySuperArmsError
from rising_bandits.oracles.base import finite_weights
from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.policy import Policy
from rising_bandits.policies.rules.terms import AVERAGE
from rising_bandits.problems.base import Label, Problem

LISTED = 2_000
"""The runner-up is found by listing all super arms up to this number, and by the solver beyond it."""


def runner_up(problem: Problem, indices: Floats, arms: Ints, mask: Bools | None) -> tuple[Ints | None, bool]:
    """Find the best super arm other than the chosen one.

    If there are few super arms, all of them are compared. Otherwise the solver is called once for each chosen arm, with
    that arm blocked. Every other super arm lacks one of the chosen arms, unless it contains all of them and more. No
    path, tree, matching or k-set contains another one, so for these the best result is the second best super arm.

    Parameters
    ----------
    problem
        The problem.
    indices
        The index of every base arm.
    arms
        The chosen super arm.
    mask
        The arms that could not be used; None if all could.

    Returns
    -------
    tuple
        The arms of the runner-up (None if there is none), and whether it is certainly the second best.
    """
    weights = finite_weights(np.asarray(indices, dtype=np.float64))
    oracle = problem.oracle
    count = oracle.known_count()
    try:
        listed = oracle.super_arms(LISTED) if count is None or count <= LISTED else None
    except TooManySuperArmsError:
        listed = None
    found = [
        members
        for members in listed or ()
        if not np.array_equal(members, arms) and (mask is None or not mask[members].any())
    ]
    exact = True
    if not found:
        # There are too many to list; or a mask leaves smaller ones, as in a matching without one of its workers.
        blocked = np.zeros(problem.n_arms, dtype=np.bool_) if mask is None else mask.copy()
        for arm in arms.tolist():
            blocked[arm], before = True, blocked[arm]
            try:
                other = oracle.solve(weights, blocked)
                # Without this arm a worker may have no job. Such a smaller matching was not there to be chosen.
                if oracle.is_feasible(other) or oracle.is_allowed(other, mask):
                    found.append(other)
            except InfeasibleError:
                pass
            finally:
                blocked[arm] = before
        exact = problem.exact and problem.reward.additive
    if not found:
        return None, True
    # Of super arms of equal score the one with the larger indices comes second.
    return max(found, key=lambda members: (reward_of(problem, weights, members), float(weights[members].sum()))), exact


def reward_of(problem: Problem, weights: Floats, arms: Ints) -> float:
    """The reward if every outcome were equal to its weight.

    For products and harmonic rewards a weight counts as the solver counts it: below 0 as 0, and in a product above 1 as
    1. Otherwise two weights below 0 would make a large product.
    """
    values = weights[problem.ordered(arms)]
    if problem.reward.function is None and problem.reward.name in ("product", "harmonic"):
        values = np.clip(values, 0.0, 1.0 if problem.reward.name == "product" else np.inf)
    return problem.reward.combine(values)


def by_averages(policy: Policy, arms: Ints, mask: Bools | None) -> list[Label] | None:
    """The super arm that recent averages alone would choose, the given one if none is better; None if not known."""
    terms = policy.terms() if isinstance(policy, BaseArmPolicy) else None
    averages = None if terms is None else terms.get(AVERAGE)
    if averages is None:
        return None
    usable = np.ones(len(averages), dtype=np.bool_) if mask is None else ~mask
    if not np.isfinite(averages[usable]).all():
        return None
    problem, weights = policy.problem, np.where(usable, averages, 0.0)
    try:
        best = problem.oracle.solve(weights, mask)
    except InfeasibleError:
        return None
    if reward_of(problem, weights, arms) >= reward_of(problem, weights, best):
        best = arms
    return problem.labels_of(problem.ordered(best))
