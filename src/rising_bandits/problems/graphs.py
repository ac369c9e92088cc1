"""Problems on graphs, which are given as networkx graphs or as lists of edges."""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from rising_bandits import _checks
from rising_bandits._checks import Floats
from rising_bandits.errors import InfeasibleError, InputError
from rising_bandits.oracles import CostPaths, DagPaths, SpanningTrees
from rising_bandits.oracles.arcs import Arcs
from rising_bandits.problems.base import Label, Problem
from rising_bandits.problems.rewards import Reward, as_reward


@dataclass(frozen=True)
class Edges:
    """The edges of a graph in the order given, with labels and aliases."""

    ends: list[tuple[Any, Any]]
    labels: list[Label]
    aliases: dict[Label, int]
    nodes: list[Any]
    directed: bool

    @property
    def groups(self) -> dict[Label, list[int]]:
        """The edges of each node, by the node and by ``("node", node)``."""
        found: dict[Label, list[int]] = {}
        for arm, ends in enumerate(self.ends):
            for node in dict.fromkeys(ends):
                found.setdefault(node, []).append(arm)
        return found | {("node", node): arms for node, arms in found.items()}


def read_edges(graph: Any, *, directed: bool) -> Edges:
    """Read the edges of a networkx graph or of a list.

    An edge with a name has this name as its label. Other edges are labelled by their ends: ``"a->b"`` if the graph is
    directed, ``"a--b"`` if it is not. Parallel edges get a suffix: ``#key`` in a multigraph, ``#number`` in a list.
    An edge that has no parallel edge can also be looked up by the pair of its ends.

    Parameters
    ----------
    graph
        A networkx graph, where a name is the edge attribute ``name``; or a list of pairs of nodes, or of triples of two
        nodes and a third entry. A text or a tuple there is the name. A number or a mapping is an attribute, as in
        networkx, and is not used, except for the entry ``name`` of a mapping.
    directed
        Whether the edges of a list are directed. A networkx graph tells it by itself.

    >>> read_edges([("a", "b", 12.5), ("b", "c", "bridge"), ("c", "d", {"ms": 3})], directed=True).labels
    ['a->b', 'bridge', 'c->d']
    """
    rows: list[tuple[Any, Any, Any, Any]] = []
    nodes: Iterable[Any]
    if hasattr(graph, "edges") and hasattr(graph, "is_directed"):
        directed = bool(graph.is_directed())
        nodes = list(graph.nodes)
        if graph.is_multigraph():
            rows = [(u, v, data.get("name"), key) for u, v, key, data in graph.edges(keys=True, data=True)]
        else:
            rows = [(u, v, data.get("name"), None) for u, v, data in graph.edges(data=True)]
    else:
        found = _checks.listed(graph)
        if found is None:
            raise InputError(f"graph must be a networkx graph or a list of edges, got {graph!r:.80}")
        for edge in found:
            if not isinstance(edge, tuple | list) or len(edge) not in (2, 3):
                raise InputError(f"each edge must be a pair of nodes, or a triple with a name, got {edge!r}")
            rows.append((edge[0], edge[1], _name_of(edge), None))
        nodes = dict.fromkeys(_checks.labels("nodes", (node for u, v, _, _ in rows for node in (u, v))))
    # The order of the two ends does not matter in an undirected graph.
    between = Counter((u, v) if directed else frozenset((u, v)) for u, v, _, _ in rows)
    arrow = "->" if directed else "--"
    labels: list[Label] = []
    aliases: dict[Label, int] = {}
    for arm, (u, v, name, key) in enumerate(rows):
        alone = between[(u, v) if directed else frozenset((u, v))] == 1
        ends = f"{u}{arrow}{v}" if alone else f"{u}{arrow}{v}#{arm if key is None else key}"
        labels.append(ends if name is None else name)
        aliases[ends] = arm
        if not directed:
            # The same link, spelt from its other end.
            aliases.setdefault(f"{v}{arrow}{u}{ends[len(f'{u}{arrow}{v}') :]}", arm)
        if key is not None:
            aliases[u, v, key] = arm
            if not directed:
                aliases[v, u, key] = arm
        if alone:
            aliases[u, v] = arm
            if not directed:
                aliases[v, u] = arm
    return Edges([(u, v) for u, v, _, _ in rows], labels, aliases, list(nodes), directed)


def _name_of(edge: Sequence[Any]) -> Label | None:
    """The name of an edge in a list, or None if it has none."""
    third = edge[2] if len(edge) == 3 else None
    if isinstance(third, Mapping):
        third = third.get("name")
    elif isinstance(third, numbers.Number):
        third = None
    if third is not None and not isinstance(third, str | tuple):
        raise InputError(
            f"the third entry of an edge must be a name, or a number or a mapping of attributes, got {edge!r}"
        )
    return third


class ShortestPath(Problem):
    """Paths from a source to a target in a graph; the base arms are the edges.

    For the reward ``sum`` without ``cost`` the graph must be acyclic. Dynamic programming then finds the path of
    largest total index, for indices of any sign (`DagPaths`). Otherwise Dijkstra's method finds the path of smallest
    total cost, in graphs with or without cycles (`CostPaths`).

    Parameters
    ----------
    graph
        A networkx graph (directed or not, multigraphs included), or a list of directed edges: pairs of nodes, or
        triples of two nodes and a name.
    source, target
        The nodes between which paths run.
    reward
        The reward of a path. By default ``"sum"`` for an acyclic graph without ``cost``, ``"product"`` if ``cost`` is
        ``"log"``, and ``"harmonic"`` otherwise. For ``"harmonic"`` an outcome is one over a time, for ``"product"`` it
        is a probability of success.
    cost
        How an index becomes the cost of an edge: ``"inverse"`` is 1/index, ``"log"`` is -log(index), and a function
        takes the array of indices and returns an array of costs of at least 0. By default ``"log"`` for the product
        reward and ``"inverse"`` for other rewards than ``"sum"``.

    Raises
    ------
    InputError
        The reward is ``sum``, no ``cost`` is given and the graph has a cycle; or an argument is not valid.
    InfeasibleError
        There is no path from the source to the target.

    >>> roads = [("home", "bridge"), ("home", "tunnel"), ("bridge", "work"), ("tunnel", "work")]
    >>> problem = ShortestPath(roads, "home", "work")
    >>> problem.labels_of(problem.oracle.solve([0.2, 0.5, 0.3, 0.6]))
    ['home->tunnel', 'tunnel->work']
    """

    def __init__(
        self,
        graph: Any,
        source: Any,
        target: Any,
        *,
        reward: Reward | str | None = None,
        cost: str | Callable[[Floats], npt.ArrayLike] | None = None,
    ) -> None:
        edges = read_edges(graph, directed=True)
        tails, heads = [u for u, _ in edges.ends], [v for _, v in edges.ends]
        for name, node in (("source", source), ("target", target)):
            if _checks.labels(name, [node])[0] not in edges.nodes:
                raise InputError(f"{name} must be a node of the graph, got {node!r}")
        if source != target and (node := _lonely(edges, source, target)) is not None:
            raise InfeasibleError(f"there is no path from source {source!r} to target {target!r}: {node!r} has no edge")
        acyclic = Arcs.make(tails, heads, source, target, directed=edges.directed).topological_order() is not None
        if reward is None:
            reward = "sum" if acyclic and cost is None else "product" if cost == "log" else "harmonic"
        reward = as_reward(reward)
        if cost is None and reward == Reward("sum"):
            if not acyclic:
                raise InputError(
                    "the best path by a sum of indices is hard in a graph with cycles; "
                    "use reward='harmonic' or 'product', or a graph without cycles"
                )
            oracle: DagPaths | CostPaths = DagPaths(tails, heads, source, target)
        else:
            if cost is None:
                cost = "log" if reward.name == "product" else "inverse"
            oracle = CostPaths(tails, heads, source, target, cost=cost, directed=edges.directed)
        super().__init__(oracle, reward, edges.labels, edges.aliases, edges.groups)
        self.edges = edges.ends
        self.source, self.target = source, target


def _lonely(edges: Edges, *nodes: Any) -> Any:
    """The first of these nodes that has no edge, or None."""
    joined = {node for ends in edges.ends for node in ends}
    return next((node for node in nodes if node not in joined), None)


class SpanningTree(Problem):
    """Spanning trees of a connected graph; the base arms are the edges.

    Parameters
    ----------
    graph
        An undirected networkx graph, or a list of edges: pairs of nodes, or triples of two nodes and a name.
    reward
        The reward of a tree: a `Reward`, or the name of a built-in one.

    Raises
    ------
    InfeasibleError
        The graph is not connected.

    >>> problem = SpanningTree([("a", "b"), ("b", "c"), ("a", "c")])
    >>> problem.labels_of(problem.oracle.solve([0.9, 0.1, 0.5]))
    ['a--b', 'a--c']
    """

    def __init__(self, graph: Any, *, reward: Reward | str = "sum") -> None:
        edges = read_edges(graph, directed=False)
        if edges.directed:
            raise InputError("graph must be undirected to have spanning trees; use graph.to_undirected()")
        if (node := _lonely(edges, *edges.nodes)) is not None and len(edges.nodes) > 1:
            raise InfeasibleError(f"the graph must be connected to have a spanning tree, but {node!r} has no edge")
        super().__init__(SpanningTrees(edges.ends), reward, edges.labels, edges.aliases, edges.groups)
        self.edges: Sequence[tuple[Any, Any]] = edges.ends
