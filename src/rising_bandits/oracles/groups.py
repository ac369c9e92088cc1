"""One arm of each group: the stages of a pipeline, or a model for each data set."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple, cast

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import compiled
from rising_bandits.errors import InputError
from rising_bandits.oracles.base import MOST_ARMS, KernelOracle
from rising_bandits.oracles.listing import distinct_arms
from rising_bandits.oracles.operations import choose, solve, takes_over


class Groups(NamedTuple):
    """State of the solver: group ``g`` is ``members[first[g]:first[g + 1]]``."""

    first: Ints
    members: Ints


@solve.register(Groups)
def _solve(state: Groups, weights: Floats, out: Ints) -> int:
    return _largest(state, weights, 0, out)


@choose.register(Groups)
@compiled
def _largest(state: Groups, weights: Floats, draw: int, out: Ints) -> int:
    """An arm of largest weight in every group."""
    groups = state.first.size - 1
    for group in range(groups):
        best = -np.inf
        chosen = -1
        equals = 1
        for place in range(state.first[group], state.first[group + 1]):
            arm = state.members[place]
            if weights[arm] > best:
                best = weights[arm]
                chosen = arm
                equals = 1
            elif weights[arm] == best and chosen >= 0:
                equals += 1
                if takes_over(draw, arm, equals):
                    chosen = arm
        if chosen < 0:
            return 0
        out[group] = chosen
    return int(groups)


def pack_groups(groups: Sequence[Sequence[int]], n_arms: int | None = None) -> tuple[list[list[int]], Groups, int]:
    """Check that groups are lists of arms without an arm in two, and lay them out; also the number of base arms."""
    if not isinstance(cast(object, groups), list | tuple) or len(groups) == 0:
        raise InputError(f"groups must be a list of at least one list of arm numbers, got {groups!r}")
    found: list[list[int]] = []
    for group in groups:
        if not isinstance(cast(object, group), list | tuple | range | np.ndarray) or len(group) == 0:
            raise InputError(f"each group must be a non-empty list of arm numbers, got {group!r}")
        found.append([_checks.integer("an arm of groups", arm, low=0, limit=MOST_ARMS) for arm in group])
    members = [arm for group in found for arm in group]
    if len(set(members)) != len(members):
        twice = next(arm for arm in members if members.count(arm) > 1)
        raise InputError(f"groups must not share an arm, got arm {twice} twice")
    highest = 1 + max(members)
    count = _checks.integer("n_arms", highest if n_arms is None else n_arms, low=highest, limit=MOST_ARMS)
    first = np.concatenate([[0], np.cumsum([len(group) for group in found])]).astype(np.int64)
    return found, Groups(first, np.array(members, dtype=np.int64)), count


class GroupChoices(KernelOracle):
    """Exactly one arm of each group.

    The solver takes the arm of largest weight in every group. This is best for every reward that no outcome can lower,
    so it is exact for all built-in rewards.

    Parameters
    ----------
    groups
        The groups, each a non-empty list of arm numbers, in the order in which they are played. No arm is in two.
    n_arms
        Number of base arms. By default the largest arm number plus one. An arm of no group is in no super arm.

    >>> GroupChoices([[0, 1], [2, 3, 4]]).solve([0.2, 0.5, 0.1, 0.9, 0.3])
    array([1, 3])
    >>> GroupChoices([[0, 1], [2, 3, 4]]).count()
    6
    """

    exact_for = frozenset({"sum", "max", "product", "harmonic"})

    def __init__(self, groups: Sequence[Sequence[int]], n_arms: int | None = None) -> None:
        self.groups, self._kernel, self.n_arms = pack_groups(groups, n_arms)
        self.max_size = len(self.groups)
        self._group = np.full(self.n_arms, -1, dtype=np.int64)
        for number, group in enumerate(self.groups):
            self._group[group] = number

    def is_feasible(self, arms: Sequence[int] | Ints) -> bool:
        chosen = distinct_arms(arms, self.n_arms)
        return chosen is not None and sorted(self._group[chosen].tolist()) == list(range(self.max_size))

    def ordered(self, arms: Sequence[int] | Ints) -> Ints:
        numbers = _checks.arms(arms, self.n_arms)
        return numbers[np.lexsort((numbers, self._group[numbers]))]

    def count(self) -> int:
        return math.prod(len(group) for group in self.groups)

    def known_count(self) -> int:
        return self.count()

    def cover_rounds(self, times: int) -> int:
        return _checks.integer("times", times, low=0) * max(len(group) for group in self.groups)

    def enumerate(self) -> Iterator[Sequence[int]]:
        return product(*self.groups)

    def sample(self, rng: np.random.Generator, mask: Any = None) -> Ints:
        _checks.generator("rng", rng)
        blocked = _checks.mask(mask, self.n_arms)
        free = [[arm for arm in group if blocked is None or not blocked[arm]] for group in self.groups]
        if not all(free):
            raise self.nothing_left(blocked)
        return np.sort(np.array([group[int(rng.integers(len(group)))] for group in free], dtype=np.int64))

    def spec(self) -> dict[str, Any]:
        return {"type": "GroupChoices", "groups": self.groups, "n_arms": self.n_arms}
