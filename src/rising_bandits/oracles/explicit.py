"""A family of super arms that is given as a list. The solver tries all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits.errors import InputError
from rising_bandits.oracles.answers import accepts, in_order, no_super_arm
from rising_bandits.oracles.base import MOST_ARMS, KernelOracle, SuperArmOracle
from rising_bandits.oracles.listing import distinct_arms
from rising_bandits.oracles.operations import solve


class SetList(NamedTuple):
    """State of the solver: super arm ``s`` is ``members[first[s]:first[s + 1]]``."""

    first: Ints
    members: Ints


def pack(super_arms: Sequence[Ints]) -> SetList:
    """Store super arms one after another in a single array, as compiled code reads them.

    >>> pack([np.array([0]), np.array([1, 2])]).first.tolist()
    [0, 1, 3]
    """
    sizes = [len(arms) for arms in super_arms]
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return SetList(first, np.concatenate(super_arms).astype(np.int64))


def packed(oracle: SuperArmOracle, super_arms: Sequence[Ints]) -> SetList:
    """Store super arms of an oracle for compiled code, each in the order in which it is played.

    Parameters
    ----------
    oracle
        The oracle.
    super_arms
        Checked sets of arms, at least one.

    Raises
    ------
    InputError
        The oracle is a user's own, and its answers are no super arms.
    """
    if not super_arms:
        raise oracle.nothing_left(None)
    if oracle.kernel() is None:
        for arms in super_arms:
            if not accepts(oracle, arms):
                raise no_super_arm(oracle, "enumerate", arms)
    found: list[Any] = [oracle.ordered(arms) for arms in super_arms]
    if not _same_sets(super_arms, found):
        found = [in_order(oracle, arms) for arms in super_arms]
    return pack(found)


def _same_sets(super_arms: Sequence[Ints], found: Sequence[Any]) -> bool:
    """Whether arrays have the same arms, one by one, in whatever order."""
    try:
        sizes, members = np.array([len(arms) for arms in found]), np.concatenate(found)
    except (TypeError, ValueError):
        return False
    given = pack(super_arms)
    if members.dtype.kind not in "iu" or not np.array_equal(sizes, np.diff(given.first)):
        return False
    row = np.repeat(np.arange(sizes.size), sizes)
    return np.array_equal(members[np.lexsort((members, row))], given.members[np.lexsort((given.members, row))])


def _solve_all(state: SetList, weights: Floats, out: Ints) -> int:
    """`_solve` in NumPy. It adds members in the same order as `_solve`, so that sums have the same rounding."""
    sizes = np.diff(state.first)
    totals = weights[state.members[state.first[:-1]]].copy()
    with np.errstate(invalid="ignore"):
        for place in range(1, int(sizes.max())):
            longer = np.flatnonzero(sizes > place)
            totals[longer] += weights[state.members[state.first[longer] + place]]
    totals[np.isnan(totals)] = -np.inf
    chosen = int(totals.argmax())
    if totals[chosen] == -np.inf:
        return 0
    start, size = state.first[chosen], sizes[chosen]
    out[:size] = state.members[start : start + size]
    return int(size)


@solve.register(SetList, plain=_solve_all)
def _solve(state: SetList, weights: Floats, out: Ints) -> int:
    """The first super arm of largest total weight."""
    best = -np.inf
    chosen = -1
    for place in range(state.first.size - 1):
        total = 0.0
        for member in range(state.first[place], state.first[place + 1]):
            total += weights[state.members[member]]
        if total > best:
            best = total
            chosen = place
    if chosen < 0:
        return 0
    start = state.first[chosen]
    size = state.first[chosen + 1] - start
    for place in range(size):
        out[place] = state.members[start + place]
    return int(size)


class ExplicitSets(KernelOracle):
    """A list of super arms; exact for sums of weights.

    Parameters
    ----------
    super_arms
        The super arms, each a non-empty list of arm numbers. The order within a list is the order in which its arms
        are played.
    n_arms
        Number of base arms. By default the largest arm number plus one.

    >>> ExplicitSets([[0], [1, 2]]).solve([0.5, 0.3, 0.4])
    array([1, 2])
    """

    def __init__(self, super_arms: Sequence[Sequence[int]], n_arms: int | None = None) -> None:
        listed = _checks.listed(super_arms)
        if listed is None:
            raise InputError(f"super_arms must be a list of lists of arm numbers, got {super_arms!r:.80}")
        if not listed:
            raise InputError("super_arms must hold at least one super arm, got none")
        for arms in listed:
            numbers = _checks.listed(arms)
            if not numbers or not all(isinstance(arm, int | np.integer) for arm in numbers):
                raise InputError(f"each super arm must be a non-empty list of arm numbers, got {arms!r:.80}")
        super_arms = [list(arms) for arms in listed]
        highest = 1 + max(max(arms) for arms in super_arms)
        given_arms = highest if n_arms is None else n_arms
        self.n_arms = _checks.integer("n_arms", given_arms, low=max(1, highest), limit=MOST_ARMS)
        seen: dict[tuple[int, ...], tuple[int, ...]] = {}
        for arms in super_arms:
            given = tuple(_checks.arms(list(arms), self.n_arms).tolist())
            key = tuple(sorted(given))
            if key in seen:
                raise InputError(f"super_arms must not repeat, got {list(key)} twice")
            seen[key] = given
        self._known = sorted(seen)
        self._given = seen
        self.max_size = max(len(arms) for arms in self._known)
        self._kernel = pack([np.array(seen[arms], dtype=np.int64) for arms in self._known])

    def is_feasible(self, arms: Sequence[int] | Ints) -> bool:
        return tuple(sorted(distinct_arms(arms, self.n_arms) or ())) in self._given

    def ordered(self, arms: Sequence[int] | Ints) -> Ints:
        """The arms in the order in which the super arm was given to the constructor.

        Parameters
        ----------
        arms
            The arm numbers of a super arm. Other arms are returned ascending.
        """
        key = tuple(sorted(_checks.arms(arms, self.n_arms).tolist()))
        return np.array(self._given.get(key, key), dtype=np.int64)

    def count(self) -> int:
        return len(self._known)

    def known_count(self) -> int:
        return len(self._known)

    def enumerate(self) -> Iterator[Sequence[int]]:
        return iter(self._known)

    def spec(self) -> dict[str, Any]:
        return {
            "type": "ExplicitSets",
            "super_arms": [list(self._given[arms]) for arms in self._known],
            "n_arms": self.n_arms,
        }
