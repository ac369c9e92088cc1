"""The structure of a problem as a picture: nodes with places, and an edge or a dot for each arm."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

import networkx as nx

from rising_bandits.errors import TooManySuperArmsError
from rising_bandits.oracles import (
    Assignments,
    BudgetSets,
    CapacityMatchings,
    CostPaths,
    DagPaths,
    GroupChoices,
    KSubsets,
    SpanningTrees,
)
from rising_bandits.problems.base import Problem
from rising_bandits.serve.labels import Texts

MOST_GROUPS = 200
"""How many listed super arms are shown at most."""
_FORCES = 150
"""Up to how many nodes are placed by forces; more stand on a circle or in columns."""


def structure(problem: Problem, texts: Texts) -> dict[str, Any]:
    """The picture of a problem.

    Returns
    -------
    dict
        ``kind`` is paths, tree, matching, groups, choice or list. Graphs have ``nodes`` (name, x and y from 0 to 1) and
        ``edges`` (for each arm the numbers of two nodes). Groups have a name and the arms of which one is chosen.
        Others have the ``groups`` of arms that can be chosen, as far as these can be listed. Where arms have costs,
        ``costs`` and ``budget`` say so.
    """
    oracle = problem.oracle
    parts = [oracle.among(choice) for choice in oracle.choices] or [oracle]
    first = parts[0]
    if isinstance(first, DagPaths | CostPaths):
        return _paths(problem, parts)
    names = _node_names(problem, first)
    if isinstance(first, SpanningTrees):
        edges = _ends(first)
        return {"kind": "tree", **_graph(edges, _ring(edges, first.n_nodes), names)}
    if isinstance(first, Assignments | CapacityMatchings):
        workers, jobs = first.n_workers, first.n_jobs
        places = [(0.0, (place + 0.5) / workers) for place in range(workers)]
        places += [(1.0, (place + 0.5) / jobs) for place in range(jobs)]
        return {"kind": "matching", **_graph(_ends(first), places, names), "workers": workers}
    if isinstance(first, KSubsets):
        return {"kind": "choice", "k": first.max_size}
    costs = {"costs": first.costs.tolist(), "budget": first.budget} if isinstance(first, BudgetSets) else {}
    if isinstance(first, GroupChoices) or (isinstance(first, BudgetSets) and first.grouped):
        return {"kind": "groups", "groups": _named_groups(problem, first.groups, texts), **costs}
    if costs:
        return {"kind": "choice", "k": first.max_size, **costs}
    try:
        listed = oracle.super_arms(MOST_GROUPS)
    except TooManySuperArmsError:
        listed = []
    return {"kind": "list", "groups": [{"name": "", "arms": _shown(problem, arms.tolist(), texts)} for arms in listed]}


def _shown(problem: Problem, arms: Iterable[int], texts: Texts) -> list[str]:
    """The texts of some arms."""
    return [texts.text(problem.labels[arm]) for arm in arms]


def _named_groups(problem: Problem, groups: Iterable[Iterable[int]], texts: Texts) -> list[dict[str, Any]]:
    """Groups of arms with their names, as far as other names of the arms (group and member) tell them."""
    named = {
        arm: str(alias[0]) for alias, arm in problem._number.items() if isinstance(alias, tuple) and len(alias) == 2
    }
    made = []
    for group in groups:
        arms = [int(arm) for arm in group]
        made.append({"name": named.get(arms[0], ""), "arms": _shown(problem, arms, texts)})
    return made


def _paths(problem: Problem, parts: Sequence[Any]) -> dict[str, Any]:
    """A graph with its sources and targets. Families of paths may have several."""
    arcs = parts[0].arcs
    sources = sorted({int(part.arcs.source) for part in parts})
    targets = sorted({int(part.arcs.target) for part in parts})
    edges = _ends(parts[0])
    places = _columns(edges, arcs.n_nodes, sources, targets, arcs.directed)
    graph = _graph(edges, places, _node_names(problem, parts[0]))
    return {"kind": "paths", **graph, "sources": sources, "targets": targets, "directed": arcs.directed}


def _ends(oracle: Any) -> list[tuple[int, int]]:
    """The two nodes of each arm."""
    if isinstance(oracle, DagPaths | CostPaths):
        return list(zip(oracle.arcs.tail.tolist(), oracle.arcs.head.tolist(), strict=True))
    if isinstance(oracle, SpanningTrees):
        return list(zip(oracle.left.tolist(), oracle.right.tolist(), strict=True))
    return [(worker, oracle.n_workers + job) for worker, job in oracle.pairs]


def _graph(edges: list[tuple[int, int]], places: list[tuple[float, float]], names: dict[int, str]) -> dict[str, Any]:
    """Nodes and edges."""
    nodes = [
        {"name": names.get(node, str(node)), "x": round(x, 4), "y": round(y, 4)} for node, (x, y) in enumerate(places)
    ]
    return {"nodes": nodes, "edges": [list(ends) for ends in edges]}


def _node_names(problem: Problem, oracle: Any) -> dict[int, str]:
    """The names of nodes, as far as other names of the arms (pairs of nodes) or their labels tell them."""
    if not isinstance(oracle, DagPaths | CostPaths | SpanningTrees | Assignments | CapacityMatchings):
        return {}
    ends = _ends(oracle)
    found: dict[int, str] = {}
    taken: set[int] = set()
    for alias, arm in problem._number.items():
        # An undirected edge has its pair both ways; the first one is the one that was given.
        if isinstance(alias, tuple) and len(alias) >= 2 and arm not in taken and alias != problem.labels[arm]:
            taken.add(arm)
            for node, name in zip(ends[arm], alias[:2], strict=True):
                found.setdefault(node, str(name))
    return found


def _columns(
    edges: list[tuple[int, int]], count: int, sources: list[int], targets: list[int], directed: bool
) -> list[tuple[float, float]]:
    """Nodes in columns by their distance in edges from the sources; a single target stands in the last one."""
    steps: list[list[int]] = [[] for _ in range(count)]
    for tail, head in edges:
        steps[tail].append(head)
        if not directed:
            steps[head].append(tail)
    depth, queue = dict.fromkeys(sources, 0), deque(sources)
    while queue:
        node = queue.popleft()
        for other in steps[node]:
            if other not in depth:
                depth[other] = depth[node] + 1
                queue.append(other)
    last = max(depth.values())
    if len(targets) == 1 and list(depth.values()).count(last) > (depth.get(targets[0]) == last):
        # Nothing stands in the column of the target but the target.
        last += 1
        depth[targets[0]] = last
    columns: dict[int, list[int]] = {}
    for node in range(count):
        columns.setdefault(depth.get(node, 0), []).append(node)
    # Nodes stand near the middle of those before them, so that edges cross less.
    height: dict[int, float] = {}
    before: dict[int, list[int]] = {node: [] for node in range(count)}
    for tail, head in edges:
        before[head].append(tail)
    for column in sorted(columns):
        nodes = columns[column]

        def middle(node: int) -> float:
            known = [height[other] for other in before[node] if other in height]
            return sum(known) / len(known) if known else 0.5

        nodes.sort(key=lambda node: (middle(node), node))
        for place, node in enumerate(nodes):
            height[node] = (place + 0.5) / len(nodes)
    # Neighbouring columns are shifted a little, so that no edge hides behind a node.
    return [
        (depth.get(node, 0) / max(1, last), height[node] + 0.02 * (depth.get(node, 0) % 2)) for node in range(count)
    ]


def _ring(edges: list[tuple[int, int]], count: int) -> list[tuple[float, float]]:
    """Nodes of a graph without a direction: by forces if there are few, else on a circle."""
    if 8 < count <= _FORCES:
        graph = nx.Graph(edges)
        graph.add_nodes_from(range(count))
        found = nx.spring_layout(graph, seed=1, iterations=100)
        low = [min(place[axis] for place in found.values()) for axis in (0, 1)]
        high = [max(place[axis] for place in found.values()) for axis in (0, 1)]
        return [
            (
                float((found[node][0] - low[0]) / ((high[0] - low[0]) or 1.0)),
                float((found[node][1] - low[1]) / ((high[1] - low[1]) or 1.0)),
            )
            for node in range(count)
        ]
    turn = 2 * math.pi / count
    return [(0.5 + 0.5 * math.sin(turn * node), 0.5 - 0.5 * math.cos(turn * node)) for node in range(count)]
