"""Spanning trees of a connected graph, solved by Kruskal's algorithm with the heaviest edge first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import compiled
from rising_bandits.errors import InfeasibleError, InputError
from rising_bandits.oracles.base import KernelOracle
from rising_bandits.oracles.listing import Partial, distinct_arms, leaves
from rising_bandits.oracles.operations import solve
from rising_bandits.oracles.sorting import sort_ascending

_MOST_NODES = 200
"""Trees of larger graphs are counted in floating point."""


class Graph(NamedTuple):
    """State of the solver: the ends of the edges, their order by weight at the last call, and the growing forest."""

    left: Ints
    right: Ints
    order: Ints
    parent: Ints


@compiled
def _root(parent: Ints, node: int) -> int:
    """The root of a node's tree in the forest. It shortens the path to the root on the way."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@compiled
def _before(weights: Floats, a: int, b: int) -> bool:
    """Whether edge ``a`` comes before edge ``b``: by weight, and among equal weights by number."""
    return bool(weights[a] > weights[b] or (weights[a] == weights[b] and a < b))


@compiled
def _sort(weights: Floats, order: Ints) -> None:
    """Sort the edges by weight: Shell sort, or insertion sort if they are nearly sorted since the last call."""
    size = order.size
    disorder = 0
    for place in range(1, size):
        if _before(weights, order[place], order[place - 1]):
            disorder += 1
    gap = 1
    if disorder * 8 > size:
        while gap < size // 3:
            gap = 3 * gap + 1
    while gap > 0:
        for place in range(gap, size):
            item = order[place]
            at = place
            while at >= gap and _before(weights, item, order[at - gap]):
                order[at] = order[at - gap]
                at -= gap
            order[at] = item
        gap //= 3


@solve.register(Graph)
def _solve(state: Graph, weights: Floats, out: Ints) -> int:
    """The spanning tree of largest total weight, by Kruskal's algorithm."""
    parent, order = state.parent, state.order
    for node in range(parent.size):
        parent[node] = node
    _sort(weights, order)
    size = 0
    for edge in order:
        if weights[edge] == -np.inf:
            return 0
        a, b = _root(parent, state.left[edge]), _root(parent, state.right[edge])
        if a != b:
            parent[a] = b
            out[size] = edge
            size += 1
            if size == parent.size - 1:
                break
    if size < parent.size - 1:
        return 0
    sort_ascending(out, size)
    return size


class SpanningTrees(KernelOracle):
    """Spanning trees of a connected graph; exact for sums of weights.

    The base arms are the edges, in the order given.

    Parameters
    ----------
    edges
        The edges as pairs of nodes, in any hashable type. Parallel edges are allowed.

    Raises
    ------
    InfeasibleError
        The graph is not connected.

    >>> oracle = SpanningTrees([("a", "b"), ("b", "c"), ("a", "c")])
    >>> oracle.solve([0.5, 0.1, 0.9])
    array([0, 2])
    >>> oracle.count()
    3
    """

    def __init__(self, edges: Sequence[tuple[Any, Any]]) -> None:
        found = _checks.listed(edges)
        if found is None:
            raise InputError(f"edges must be a list of pairs of nodes, got {edges!r:.80}")
        if not found:
            raise InputError("the graph must have at least one edge, got none")
        number: dict[Any, int] = {}
        pairs = [_checks.listed(edge) for edge in found]
        for edge, pair in zip(found, pairs, strict=True):
            if pair is None or len(pair) != 2:
                raise InputError(f"each edge must be a pair of nodes, got {edge!r:.80}")
            for node in _checks.labels("the nodes of edges", pair):
                number.setdefault(node, len(number))
        edges = [(ends[0], ends[1]) for ends in pairs if ends]
        self.n_arms = len(edges)
        self.n_nodes = len(number)
        self.left = np.array([number[a] for a, _ in edges], dtype=np.int64)
        self.right = np.array([number[b] for _, b in edges], dtype=np.int64)
        self.max_size = self.n_nodes - 1
        self._kernel = Graph(
            left=self.left,
            right=self.right,
            order=np.arange(self.n_arms, dtype=np.int64),
            parent=np.zeros(self.n_nodes, dtype=np.int64),
        )
        parts = self._parts(range(self.n_arms))
        if parts > 1:
            raise InfeasibleError(f"the graph must be connected to have a spanning tree, got {parts} separate parts")
        if self.max_size == 0:
            raise InputError("the graph must join at least two nodes")

    def _parts(self, arms: Sequence[int]) -> int:
        """The number of connected components of the graph with these edges only."""
        parent = list(range(self.n_nodes))

        def root(node: int) -> int:
            while parent[node] != node:
                parent[node] = parent[parent[node]]
                node = parent[node]
            return node

        parts = self.n_nodes
        for arm in arms:
            a, b = root(int(self.left[arm])), root(int(self.right[arm]))
            if a != b:
                parent[a] = b
                parts -= 1
        return parts

    def is_feasible(self, arms: Sequence[int] | Ints) -> bool:
        chosen = distinct_arms(arms, self.n_arms) or []
        return len(chosen) == self.max_size and self._parts(chosen) == 1

    def count(self) -> int:
        """The number of spanning trees, by Kirchhoff's theorem.

        It is a minor of the Laplacian, computed in exact integers by Bareiss' elimination.
        """
        laplacian = [[0] * self.n_nodes for _ in range(self.n_nodes)]
        for a, b in zip(self.left.tolist(), self.right.tolist(), strict=True):
            if a != b:
                laplacian[a][a] += 1
                laplacian[b][b] += 1
                laplacian[a][b] -= 1
                laplacian[b][a] -= 1
        minor = [row[1:] for row in laplacian[1:]]
        previous = 1
        for k in range(len(minor) - 1):
            # The minor of a connected graph is positive definite, so no pivot is zero.
            for i in range(k + 1, len(minor)):
                for j in range(k + 1, len(minor)):
                    minor[i][j] = (minor[i][j] * minor[k][k] - minor[i][k] * minor[k][j]) // previous
            previous = minor[k][k]
        return minor[-1][-1]

    def known_count(self) -> int | None:
        # Exact elimination is slow on large graphs, and they have too many trees to list in any case.
        return self.count() if self.n_nodes <= _MOST_NODES else None

    def log_count(self) -> float:
        if self.n_nodes <= _MOST_NODES:
            return math.log(self.count())
        laplacian = np.zeros((self.n_nodes, self.n_nodes))
        apart = self.left != self.right
        left, right = self.left[apart], self.right[apart]
        np.add.at(laplacian, (left, left), 1.0)
        np.add.at(laplacian, (right, right), 1.0)
        np.add.at(laplacian, (left, right), -1.0)
        np.add.at(laplacian, (right, left), -1.0)
        return float(np.linalg.slogdet(laplacian[1:, 1:])[1])

    def enumerate(self) -> Iterator[Sequence[int]]:
        begin: Partial = (0, ())

        def extend(partial: Partial) -> list[Partial] | None:
            edge, chosen = partial
            if len(chosen) == self.max_size:
                return None
            if edge == self.n_arms or self._parts([*chosen, *range(edge, self.n_arms)]) > 1:
                return []
            joined = (*chosen, edge)
            forest = self._parts(joined) == self.n_nodes - len(joined)
            return [(edge + 1, chosen), (edge + 1, joined)] if forest else [(edge + 1, chosen)]

        return (chosen for _, chosen in leaves(begin, extend))

    def sample(self, rng: np.random.Generator, mask: Any = None) -> Ints:
        """Draw a spanning tree, each with the same probability, by Wilson's algorithm (loop-erased random walks).

        Parameters
        ----------
        rng, mask
            As in `SuperArmOracle.sample`.
        """
        _checks.generator("rng", rng)
        blocked = _checks.mask(mask, self.n_arms)
        if blocked is not None and not self.can(blocked):
            raise self.nothing_left(blocked)
        around: list[list[tuple[int, int]]] = [[] for _ in range(self.n_nodes)]
        for arm, (a, b) in enumerate(zip(self.left.tolist(), self.right.tolist(), strict=True)):
            if a != b and (blocked is None or not blocked[arm]):
                around[a].append((arm, b))
                around[b].append((arm, a))
        inside = [True] + [False] * (self.n_nodes - 1)
        step: list[tuple[int, int]] = [(-1, -1)] * self.n_nodes
        chosen: list[int] = []
        for start in range(1, self.n_nodes):
            node = start
            while not inside[node]:
                step[node] = around[node][int(rng.random() * len(around[node]))]
                node = step[node][1]
            node = start
            while not inside[node]:
                inside[node] = True
                chosen.append(step[node][0])
                node = step[node][1]
        return np.sort(np.array(chosen, dtype=np.int64))

    def spec(self) -> dict[str, Any]:
        pairs = zip(self.left.tolist(), self.right.tolist(), strict=True)
        return {"type": "SpanningTrees", "edges": [list(pair) for pair in pairs]}
