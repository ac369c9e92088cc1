"""A simple path through a given arc.

In a directed graph this is NP-hard. A maximum flow first rules out most arcs that lie on no path; a bounded search
decides the others.
"""

from __future__ import annotations

import numpy as np

from rising_bandits._checks import Bools, Ints
from rising_bandits.oracles.arcs import Arcs

Steps = list[list[tuple[int, int]]]

SEARCH_LIMIT = 2_000
"""Number of steps after which the search for a path gives up. It is not a time, so results are reproducible."""


def two_ways(arcs: Arcs, arm: int, blocked: Bools | None) -> bool:
    """Whether two node-disjoint paths lead from {source, head of the arc} to {tail of the arc, target}.

    Every simple path through the arc contains such a pair. If there is none, the arc lies on no simple path. The answer
    is a maximum flow in which every node has capacity one (networkx).
    """
    import networkx as nx

    graph = nx.DiGraph()
    for node, out in enumerate(arcs.steps()):
        graph.add_edge((node, "in"), (node, "out"), capacity=1)
        for step, head in out:
            if step != arm and (blocked is None or not blocked[step]):
                graph.add_edge((node, "out"), (head, "in"), capacity=1)
    for leave, enter in turns(arcs, arm):
        ends = graph.copy()
        for node in {arcs.source, enter}:
            ends.add_edge("start", (node, "in"), capacity=1)
        for node in {arcs.target, leave}:
            ends.add_edge((node, "out"), "end", capacity=1)
        if nx.maximum_flow_value(ends, "start", "end") == 2:
            return True
    return False


def turns(arcs: Arcs, arm: int) -> list[tuple[int, int]]:
    """The directions in which an arc can be used, as pairs (tail, head)."""
    tail, head = int(arcs.tail[arm]), int(arcs.head[arm])
    return [(tail, head)] if arcs.directed else [(tail, head), (head, tail)]


def simple_path_through(arcs: Arcs, arm: int, blocked: Bools | None) -> Ints | None:
    """The arms of a simple path from source to target that uses ``arm``, ascending, or None if none was found.

    The search is depth-first, from the source to the tail of the arc. It drops a partial path that can no longer reach
    the tail, or that blocks all ways from the head to the target. It is exhaustive unless it takes more than
    `SEARCH_LIMIT` steps.
    """
    steps: Steps = [
        [(step, head) for step, head in out if step != arm and (blocked is None or not blocked[step])]
        for out in arcs.steps()
    ]
    for tail, head in turns(arcs, arm):
        if arcs.source == head or arcs.target == tail:
            continue
        waiting: list[tuple[int, tuple[int, ...], frozenset[int]]] = [(arcs.source, (), frozenset({arcs.source, head}))]
        for _ in range(SEARCH_LIMIT):
            if not waiting:
                break
            node, path, seen = waiting.pop()
            rest = _walk(steps, head, arcs.target, seen | {tail})
            if rest is None:
                continue
            if node == tail:
                return np.sort(np.array([*path, arm, *rest], dtype=np.int64))
            if _walk(steps, node, tail, seen - {node} | {arcs.target} - {tail}) is None:
                continue
            waiting += [(after, (*path, step), seen | {after}) for step, after in steps[node] if after not in seen]
    return None


def _walk(steps: Steps, start: int, end: int, avoid: frozenset[int]) -> list[int] | None:
    """The arcs of a shortest path between two nodes that visits none of the nodes in ``avoid``, or None."""
    via: dict[int, tuple[int, int]] = {}
    layer = [start]
    found = {start}
    while layer and end not in found:
        following = []
        for node in layer:
            for step, after in steps[node]:
                if after not in found and after not in avoid:
                    found.add(after)
                    via[after] = (step, node)
                    following.append(after)
        layer = following
    if end not in found:
        return None
    path: list[int] = []
    while end != start:
        step, end = via[end]
        path.append(step)
    return path[::-1]
