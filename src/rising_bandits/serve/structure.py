"""The structure of a problem as a picture: nodes with places, and an edge or a dot for each arm."""

from __future__ import annotations

import math
from collections import deque
from typing import Any

import networkx as nx

from rising_bandits.errors import TooManySuperArmsError
from rising_bandits.oracles import Assignments, CostPaths, DagPaths, KSubsets, SpanningTrees
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
        ``kind`` is paths, tree, matching, choice or list. Graphs have ``nodes`` (name, x and y from 0 to 1) and
        ``edges`` (for each arm the numbers of two nodes). Others have the ``groups`` of arms that can be chosen, as far
        as these can be listed.
    """
    oracle = problem.oracle
    names = _node_names(problem)
    if isinstance(oracle, DagPaths | CostPaths):
        arcs = oracle.arcs
        edges = list(zip(arcs.tail.tolist(), arcs.head.tolist(), strict=True))
        places = _columns(edges, arcs.n_nodes, arcs.source, arcs.target, arcs.directed)
        ends = {"source": arcs.source, "target": arcs.target, "directed": arcs.directed}
        return {"kind": "paths", **_graph(edges, places, names), **ends}
    if isinstance(oracle, SpanningTrees):
        edges = list(zip(oracle.left.tolist(), oracle.right.tolist(), strict=True))
        return {"kind": "tree", **_graph(edges, _ring(edges, oracle.n_nodes), names)}
    if isinstance(oracle, Assignments):
        workers, jobs = oracle.n_workers, oracle.n_jobs
        edges = [(worker, workers + job) for worker, job in oracle.pairs]
        places = [(0.0, (place + 0.5) / workers) for place in range(workers)]
        places += [(1.0, (place + 0.5) / jobs) for place in range(jobs)]
        return {"kind": "matching", **_graph(edges, places, names), "workers": workers}
    if isinstance(oracle, KSubsets):
        return {"kind": "choice", "k": oracle.max_size}
    try:
        listed = oracle.super_arms(MOST_GROUPS)
    except TooManySuperArmsError:
        listed = []
    groups = [[texts.text(problem.labels[arm]) for arm in arms.tolist()] for arms in listed]
    return {"kind": "list", "groups": groups}


def _graph(edges: list[tuple[int, int]], places: list[tuple[float, float]], names: dict[int, str]) -> dict[str, Any]:
    """Nodes and edges."""
    nodes = [
        {"name": names.get(node, str(node)), "x": round(x, 4), "y": round(y, 4)} for node, (x, y) in enumerate(places)
    ]
    return {"nodes": nodes, "edges": [list(ends) for ends in edges]}


def _node_names(problem: Problem) -> dict[int, str]:
    """The names of nodes, as far as other names of the arms (pairs of nodes) or their labels tell them."""
    oracle = problem.oracle
    if isinstance(oracle, DagPaths | CostPaths):
        ends = list(zip(oracle.arcs.tail.tolist(), oracle.arcs.head.tolist(), strict=True))
    elif isinstance(oracle, SpanningTrees):
        ends = list(zip(oracle.left.tolist(), oracle.right.tolist(), strict=True))
    elif isinstance(oracle, Assignments):
        ends = [(worker, oracle.n_workers + job) for worker, job in oracle.pairs]
    else:
        return {}
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
    edges: list[tuple[int, int]], count: int, source: int, target: int, directed: bool
) -> list[tuple[float, float]]:
    """Nodes in columns by their distance in edges from the source; the target in the last one."""
    steps: list[list[int]] = [[] for _ in range(count)]
    for tail, head in edges:
        steps[tail].append(head)
        if not directed:
            steps[head].append(tail)
    depth, queue = {source: 0}, deque([source])
    while queue:
        node = queue.popleft()
        for other in steps[node]:
            if other not in depth:
                depth[other] = depth[node] + 1
                queue.append(other)
    last = max(depth.values())
    if depth.get(target) != last:
        last += 1
        depth[target] = last
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
