"""Least shares: arms that must stay in use, whatever the policy thinks of them.

An arm with the least share p is in at least one of any 1/p (rounded down) decisions that follow each other. So among
any W decisions of the study's own policy, at least p·W (rounded down) use it.

Each such arm owns some of the decisions, at equal distances: its *slots*. The distances are powers of two times one
number, so the slots of several arms can be chosen without a conflict. In its slot an arm decides, unless it was used so
recently that its next slot is early enough. All other decisions are the policy's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rising_bandits._checks import Bools, Ints
from rising_bandits.errors import InfeasibleError, InputError
from rising_bandits.oracles.answers import holding
from rising_bandits.oracles.base import finite_weights
from rising_bandits.policies.levels import RulePolicy, SuperArmPolicy
from rising_bandits.policies.policy import Policy

MOST_GAP = 10_000
"""One over the smallest least share."""


def gap(share: float) -> int:
    """Among how many decisions an arm with a least share must be used once.

    >>> gap(0.05), gap(0.3)
    (20, 3)
    """
    # A share such as 0.05 is not exact as a float.
    return int(1.0 / share + 1e-9)


def slots(gaps: Mapping[int, int]) -> dict[int, tuple[int, int]] | None:
    """Slots for arms: for each its first slot and the distance between two of its slots, at most its gap.

    Parameters
    ----------
    gaps
        For each arm, among how many decisions it must be used once.

    Returns
    -------
    dict or None
        The slots by arm; None if there are not enough decisions for all arms.

    >>> slots({0: 2, 1: 5, 2: 4})
    {0: (0, 2), 1: (1, 4), 2: (3, 4)}
    >>> slots({0: 2, 1: 3, 2: 100}) is None
    True
    """
    shortest = min(gaps.values())
    # The distances of one arm are taken as a base; the others are the largest doublings of it within their gaps.
    tries = [{arm: base << int(np.log2(each // base)) for arm, each in gaps.items()}
             for base in range(shortest // 2 + 1, shortest + 1)]  # fmt: skip
    distances = min(tries, key=lambda found: sum(1.0 / each for each in found.values()))
    if sum(1.0 / each for each in distances.values()) > 1.0 + 1e-9:
        return None
    taken: dict[int, tuple[int, int]] = {}
    for arm in sorted(distances, key=lambda arm: (distances[arm], arm)):
        first = next(
            place for place in range(distances[arm]) if all(place % each != other for other, each in taken.values())
        )
        taken[arm] = (first, distances[arm])
    return taken


def check_least(least: Mapping[Any, float]) -> None:
    """Refuse least shares that cannot be held together if each decision uses one of these arms."""
    for label, share in least.items():
        if not 0.0 < share <= 1.0:
            raise InputError(f"the least share of {label!r} must be above 0 and at most 1, got {share!r}")
        if gap(share) > MOST_GAP:
            raise InputError(f"the least share of {label!r} must be at least {1 / MOST_GAP:g}, got {share!r}")
    if least and slots({place: gap(share) for place, share in enumerate(least.values())}) is None:
        raise InputError(
            "least shares must be possible with one of these arms in each decision (a half of the decisions in all is "
            f"always possible), got {sum(least.values()):.4g} in all for {len(least)} arms"
        )


class Duties:
    """The arms that must stay in use, with the decisions in which they were last used."""

    def __init__(self, least: Mapping[int, float], used: Mapping[int, int], own: int, mask: Bools | None) -> None:
        """``least`` and ``used`` are by arm number; arms in the mask cannot be used now."""
        self._gaps = {arm: gap(share) for arm, share in least.items()}
        self._slots = slots(self._gaps) or {}
        self._used = {arm: used[arm] for arm in least}
        self._free = [arm for arm in least if mask is None or not mask[arm]]
        self._now = own + 1

    def due(self) -> list[int]:
        """The arms of which one has to be used now, the most urgent first."""
        found = []
        for arm in self._free:
            first, distance = self._slots[arm]
            if self._now % distance == first and self._used[arm] + self._gaps[arm] < self._now + distance:
                found.append(arm)
        # Arms that could not be used in time, because they were not available.
        late = [arm for arm in self._free if self._used[arm] + self._gaps[arm] < self._now and arm not in found]
        return found + sorted(late, key=lambda arm: (self._used[arm] + self._gaps[arm], arm))

    def take(self, arms: Ints) -> None:
        """Note a decision."""
        for arm in arms.tolist():
            if arm in self._used:
                self._used[arm] = self._now
        self._now += 1


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
    return holding(oracle, arm, mask, prefer)
