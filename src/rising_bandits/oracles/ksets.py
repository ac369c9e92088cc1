"""Sets of exactly k arms. The k largest weights are best for the sum (top-k) and for the maximum (k-MAX)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import compiled
from rising_bandits.errors import InputError
from rising_bandits.oracles.base import MOST_ARMS, KernelOracle
from rising_bandits.oracles.listing import distinct_arms
from rising_bandits.oracles.operations import solve
from rising_bandits.oracles.sorting import sort_ascending


class KSets(NamedTuple):
    """State of the solver: the size of a super arm."""

    k: int


@compiled
def _worse(weights: Floats, a: int, b: int) -> bool:
    """Whether arm ``a`` ranks below arm ``b``: by weight, and among equal weights by number."""
    return bool(weights[a] < weights[b] or (weights[a] == weights[b] and a > b))


@compiled
def _sink(weights: Floats, heap: Ints, root: int, size: int) -> None:
    """Restore the heap order after the arm at ``root`` was replaced. The worst arm is at the top."""
    item = heap[root]
    while True:
        child = 2 * root + 1
        if child >= size:
            break
        if child + 1 < size and _worse(weights, heap[child + 1], heap[child]):
            child += 1
        if not _worse(weights, heap[child], item):
            break
        heap[root] = heap[child]
        root = child
    heap[root] = item


def _solve_sorted(state: KSets, weights: Floats, out: Ints) -> int:
    """`_solve` in NumPy. The sort is stable, so ties are broken by arm number as in `_solve`."""
    best = np.sort(np.argsort(-weights, kind="stable")[: state.k])
    if weights[best].min() == -np.inf:
        return 0
    out[: state.k] = best
    return int(state.k)


@solve.register(KSets, plain=_solve_sorted)
def _solve(state: KSets, weights: Floats, out: Ints) -> int:
    """The k arms of largest weight."""
    # A heap holds the k best arms so far, so most arms need only one comparison with its root.
    k = state.k
    for arm in range(k):
        out[arm] = arm
    for place in range(k // 2 - 1, -1, -1):
        _sink(weights, out, place, k)
    worst = weights[out[0]]
    for arm in range(k, weights.size):
        if weights[arm] > worst:
            out[0] = arm
            _sink(weights, out, 0, k)
            worst = weights[out[0]]
    if worst == -np.inf:
        return 0
    sort_ascending(out, k)
    return k


class KSubsets(KernelOracle):
    """All sets of exactly k base arms; exact for the rewards ``sum`` and ``max``.

    The k largest weights are best for both rewards. For ``max`` any set with the largest weight has the same value;
    this one also holds the next largest weights.

    Parameters
    ----------
    n_arms
        Number of base arms.
    k
        Number of arms in a super arm, from 1 to ``n_arms``.

    >>> KSubsets(4, 2).solve([0.1, 0.9, 0.3, 0.5])
    array([1, 3])
    >>> KSubsets(4, 2).count()
    6
    """

    exact_for = frozenset({"sum", "max"})

    def __init__(self, n_arms: int, k: int) -> None:
        self.n_arms = _checks.integer("n_arms", n_arms, low=1, limit=MOST_ARMS)
        if isinstance(k, int | np.integer) and k > n_arms:
            raise InputError(f"k must be at most the number of arms, {n_arms}, got {k}")
        self.max_size = _checks.integer("k", k, low=1, high=n_arms)
        self._kernel = KSets(self.max_size)

    def is_feasible(self, arms: Sequence[int] | Ints) -> bool:
        return len(distinct_arms(arms, self.n_arms) or ()) == self.max_size

    def containing(
        self, arm: int, mask: npt.ArrayLike | None = None, prefer: npt.ArrayLike | None = None
    ) -> Ints | None:
        arm = _checks.integer("arm", arm, low=0, high=self.n_arms - 1)
        blocked = _checks.mask(mask, self.n_arms)
        if blocked is not None and (blocked[arm] or self.n_arms - int(blocked.sum()) < self.max_size):
            return None
        liked = np.flatnonzero(self.preferred(prefer))
        chosen = {arm}
        for candidate in chain(map(int, liked), range(self.n_arms)):
            if len(chosen) == self.max_size:
                break
            if blocked is None or not blocked[candidate]:
                chosen.add(candidate)
        return np.array(sorted(chosen), dtype=np.int64)

    def cover_rounds(self, times: int) -> int:
        return _checks.integer("times", times, low=0) * -(-self.n_arms // self.max_size)

    def count(self) -> int:
        return math.comb(self.n_arms, self.max_size)

    def known_count(self) -> int:
        return self.count()

    def log_count(self) -> float:
        if self.n_arms <= 1_000:
            return math.log(self.count())
        chosen, others = self.max_size, self.n_arms - self.max_size
        return math.lgamma(self.n_arms + 1) - math.lgamma(chosen + 1) - math.lgamma(others + 1)

    def enumerate(self) -> Iterator[Sequence[int]]:
        return combinations(range(self.n_arms), self.max_size)

    def sample(self, rng: np.random.Generator, mask: Any = None) -> Ints:
        _checks.generator("rng", rng)
        blocked = _checks.mask(mask, self.n_arms)
        free = np.arange(self.n_arms) if blocked is None else np.flatnonzero(~blocked)
        if free.size < self.max_size:
            raise self.nothing_left(blocked)
        return np.sort(rng.choice(free, self.max_size, replace=False)).astype(np.int64)

    def spec(self) -> dict[str, Any]:
        return {"type": "KSubsets", "n_arms": self.n_arms, "k": self.max_size}
