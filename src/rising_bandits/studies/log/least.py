"""Least shares: arms that must stay in use, whatever the policy thinks of them.

An arm with the least share p is in at least one of any 1/p (rounded down) decisions that follow each other. So among
any W decisions of the study's own policy, at least p·W (rounded down) use it. Decisions are made by the policy until
waiting longer would break this for some arm. Then the arm that is due first decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rising_bandits._checks import Bools, Ints
from rising_bandits.errors import InfeasibleError, InputError
from rising_bandits.oracles.base import finite_weights
from rising_bandits.policies.levels import RulePolicy, SuperArmPolicy
from rising_bandits.policies.policy import Policy


def gap(share: float) -> int:
    """Among how many decisions an arm with a least share must be used once.

    >>> gap(0.05), gap(0.3)
    (20, 3)
    """
    # A share such as 0.05 is not exact as a float.
    return int(1.0 / share + 1e-9)


def misses(due: Mapping[int, int], gaps: Mapping[int, int], start: int) -> int | None:
    """The first arm that is used too late if, from a decision on, each decision uses the arm that is due first.

    Parameters
    ----------
    due
        For each arm, the last decision that may use it.
    gaps
        For each arm, how many decisions later it is due again.
    start
        The first decision.

    Returns
    -------
    int or None
        The arm; None if every arm is used in time until each has been used once.
    """
    left, waiting = dict(due), set(due)
    now = start
    while waiting:
        arm = min(left, key=lambda key: (left[key], key))
        if left[arm] < now:
            return arm
        left[arm] = now + gaps[arm]
        waiting.discard(arm)
        now += 1
    return None


def check_least(least: Mapping[Any, float]) -> None:
    """Refuse least shares that cannot be held together if each decision uses one of these arms."""
    for label, share in least.items():
        if not 0.0 < share <= 1.0:
            raise InputError(f"the least share of {label!r} must be above 0 and at most 1, got {share!r}")
    gaps = {place: gap(share) for place, share in enumerate(least.values())}
    if sum(1.0 / each for each in gaps.values()) > 1.0 or misses(gaps, gaps, 1) is not None:
        raise InputError(
            f"least shares must be possible with one of these arms in each decision, so together at most about 1, "
            f"got {sum(least.values()):.4g} for {len(least)} arms"
        )


class Duties:
    """The arms that must stay in use, with the decision at which each is due."""

    def __init__(self, least: Mapping[int, float], used: Mapping[int, int], own: int, mask: Bools | None) -> None:
        """``least`` and ``used`` are by arm number; arms in the mask cannot be used now and are left out."""
        free = [arm for arm in least if mask is None or not mask[arm]]
        self.gaps = {arm: gap(least[arm]) for arm in free}
        self.due = {arm: used[arm] + self.gaps[arm] for arm in free}
        self.now = own + 1

    def holds(self, arms: Ints) -> bool:
        """Whether every arm is still used in time after a decision for these arms."""
        after = {arm: self.now + self.gaps[arm] if arm in arms else due for arm, due in self.due.items()}
        return misses(after, self.gaps, self.now + 1) is None

    def first(self) -> list[int]:
        """The arms, those that are due first before the others."""
        return sorted(self.due, key=lambda arm: (self.due[arm], arm))

    def take(self, arms: Ints) -> None:
        """Note a decision."""
        for arm in arms.tolist():
            if arm in self.due:
                self.due[arm] = self.now + self.gaps[arm]
        self.now += 1


def through(policy: Policy, arm: int, wanted: list[int], mask: Bools | None) -> Ints | None:
    """A good super arm that contains an arm, and others of ``wanted`` where it can; None if there is none."""
    oracle = policy.problem.oracle
    if isinstance(policy, SuperArmPolicy):
        indices = policy.indices()
        sets = oracle.super_arms()
        found = [
            place for place, members in enumerate(sets) if arm in members and (mask is None or not mask[members].any())
        ]
        return sets[max(found, key=lambda place: float(indices[place]))] if found else None
    weights = finite_weights(policy.indices()) if isinstance(policy, RulePolicy) else np.zeros(policy.problem.n_arms)
    large = 1.0 + 2.0 * float(np.abs(weights).sum())
    weights = weights.copy()
    weights[arm] += large
    try:
        solved = oracle.solve(weights, mask)
    except InfeasibleError:
        return None
    if arm in solved:
        return np.sort(solved)
    prefer = np.zeros(weights.size, dtype=np.bool_)
    prefer[wanted] = True
    held = oracle.containing(arm, mask=mask, prefer=prefer)
    return None if held is None else np.sort(held)
