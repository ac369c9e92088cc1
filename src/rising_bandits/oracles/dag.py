"""The path of largest total weight in an acyclic graph, by dynamic programming over its nodes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Bools, Ints
from rising_bandits._compile import compiled
from rising_bandits.errors import InfeasibleError, InputError
from rising_bandits.oracles.arcs import Arcs, check_walk, walk_order
from rising_bandits.oracles.base import KernelOracle
from rising_bandits.oracles.listing import Partial, leaves
from rising_bandits.oracles.operations import choose, solve, takes_over


class Dag(NamedTuple):
    """State of the solver: nodes in topological order, arcs sorted by their head, and work space.

    Node 0 is the source and the last node is the target.
    """

    first: Ints
    """Arcs into node ``v`` are ``first[v]`` to ``first[v + 1]``."""
    tail: Ints
    arm: Ints
    value: Any
    via: Ints


@solve.register(Dag)
def _solve(state: Dag, weights: Any, out: Ints) -> int:
    return _longest(state, weights, 0, out)


@choose.register(Dag)
@compiled
def _longest(state: Dag, weights: Any, draw: int, out: Ints) -> int:
    """The best path to every node in turn, then the path to the target read backwards.

    Where several arcs end best paths to a node, one of them is drawn.
    """
    value, via, first, tail, arm = state.value, state.via, state.first, state.tail, state.arm
    value[0] = 0.0
    for node in range(1, value.size):
        best = -np.inf
        chosen = -1
        equals = 1
        for arc in range(first[node], first[node + 1]):
            total = value[tail[arc]] + weights[arm[arc]]
            if total == best and chosen >= 0:
                equals += 1
                if takes_over(draw, arc, equals):
                    chosen = arc
            better = total > best
            equals = 1 if better else equals
            best = total if better else best
            chosen = arc if better else chosen
        value[node] = best
        via[node] = chosen
    node = value.size - 1
    if via[node] < 0:
        return 0
    size = 0
    while node > 0:
        arc = via[node]
        out[size] = arm[arc]
        size += 1
        node = tail[arc]
    for place in range(size // 2):
        out[place], out[size - 1 - place] = out[size - 1 - place], out[place]
    return size


class DagPaths(KernelOracle):
    """Paths from a source to a target in a directed acyclic graph; exact for sums of weights of any sign.

    The base arms are the arcs, in the order given. An arc that lies on no path from the source to the target is a base
    arm that no super arm holds.

    Parameters
    ----------
    tails, heads
        The start and the end of each arc, in any hashable type.
    source, target
        The nodes between which paths run.

    Raises
    ------
    InputError
        There is a directed cycle on a way from the source to the target. Use `CostPaths` for such a graph.
    InfeasibleError
        There is no path from the source to the target.

    >>> oracle = DagPaths(tails=["s", "s", "a"], heads=["a", "t", "t"], source="s", target="t")
    >>> oracle.solve([0.2, 0.5, 0.4])
    array([0, 2])
    >>> oracle.count()
    2
    """

    def __init__(self, tails: Sequence[Any], heads: Sequence[Any], source: Any, target: Any) -> None:
        self.arcs = Arcs.make(tails, heads, source, target)
        order = self.arcs.topological_order()
        if order is None:
            raise InputError("the graph must have no directed cycle; for a graph with cycles use CostPaths")
        self.n_arms = self.arcs.n_arms
        useful = self.arcs.useful_arcs()
        if not useful.any():
            raise InfeasibleError(f"there is no path from source {source!r} to target {target!r}")
        keep = np.flatnonzero(useful)
        nodes = (
            {self.arcs.source, self.arcs.target}
            | set(self.arcs.tail[keep].tolist())
            | set(self.arcs.head[keep].tolist())
        )
        rank = {node: place for place, node in enumerate(node for node in order if node in nodes)}
        arcs = sorted((rank[int(self.arcs.head[a])], rank[int(self.arcs.tail[a])], int(a)) for a in keep)
        first = np.zeros(len(rank) + 1, dtype=np.int64)
        for head, _, _ in arcs:
            first[head + 1] += 1
        self._first = np.cumsum(first)
        self._tail = np.array([tail for _, tail, _ in arcs], dtype=np.int64)
        self._arm = np.array([a for _, _, a in arcs], dtype=np.int64)
        longest = [0] * len(rank)
        for head, tail, _ in arcs:
            longest[head] = max(longest[head], longest[tail] + 1)
        self.max_size = longest[-1]
        self._ways = self._count_ways(np.zeros(self.n_arms, dtype=np.bool_))
        self._kernel = Dag(
            first=self._first,
            # Unsigned, so that compiled code does not check for negative positions.
            tail=self._tail.astype(np.uint32),
            arm=self._arm.astype(np.uint32),
            value=np.zeros(len(rank)),
            via=np.full(len(rank), -1, dtype=np.int64),
        )

    def _count_ways(self, blocked: Bools) -> list[int]:
        """For every node, the number of paths from the source to it that avoid the blocked arms."""
        ways = [1] + [0] * (self._first.size - 2)
        for node in range(1, len(ways)):
            arcs = range(int(self._first[node]), int(self._first[node + 1]))
            ways[node] = sum(ways[int(self._tail[arc])] for arc in arcs if not blocked[self._arm[arc]])
        return ways

    def is_feasible(self, arms: Sequence[int] | Ints) -> bool:
        return check_walk(self.arcs, arms)

    def ordered(self, arms: Sequence[int] | Ints) -> Ints:
        return walk_order(self.arcs, _checks.arms(arms, self.n_arms))

    def count(self) -> int:
        return self._ways[-1]

    def known_count(self) -> int:
        return self._ways[-1]

    def enumerate(self) -> Iterator[Sequence[int]]:
        end: Partial = (len(self._ways) - 1, ())

        def back(node: Partial) -> list[Partial] | None:
            at, path = node
            if at == 0:
                return None
            arcs = range(int(self._first[at]), int(self._first[at + 1]))
            return [(int(self._tail[arc]), (int(self._arm[arc]), *path)) for arc in arcs]

        return (path for _, path in leaves(end, back))

    def sample(self, rng: np.random.Generator, mask: Any = None) -> Ints:
        _checks.generator("rng", rng)
        blocked = _checks.mask(mask, self.n_arms)
        ways = self._ways if blocked is None else self._count_ways(blocked)
        if ways[-1] == 0:
            raise self.nothing_left(blocked)
        path: list[int] = []
        node = len(ways) - 1
        while node > 0:
            # Each step back is drawn in proportion to the number of paths, so all paths are equally likely.
            arcs = range(int(self._first[node]), int(self._first[node + 1]))
            open_ways = (
                0 if blocked is not None and blocked[self._arm[arc]] else ways[int(self._tail[arc])] for arc in arcs
            )
            shares = list(accumulate(open_ways))
            # The number of paths can exceed the range of floats, so an integer is drawn.
            mark = int.from_bytes(rng.bytes(shares[-1].bit_length() // 8 + 9)) % shares[-1]
            arc = arcs[bisect_right(shares, mark)]
            path.append(int(self._arm[arc]))
            node = int(self._tail[arc])
        return np.sort(np.array(path, dtype=np.int64))

    def spec(self) -> dict[str, Any]:
        return {"type": "DagPaths", **self.arcs.spec()}
