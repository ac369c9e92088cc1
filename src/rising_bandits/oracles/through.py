"""A simple path through a given arc: hard in general, so a flow rules most arcs out and a search decides the rest."""

from __future__ import annotations

import numpy as np

from rising_bandits._checks import Bools, Ints
from rising_bandits.oracles.arcs import Arcs

Steps = list[list[tuple[int, int]]]

SEARCH_LIMIT = 2_000
"""Steps after which the search for a path gives up. A count and not a time, so that decisions can be repeated."""


def two_ways(arcs: Arcs, arm: int, blocked: Bools | None) -> bool:
    """Whether two paths without a common node can leave {source, head} and end in {tail, target}.

    Every simple path through the arc gives such a pair, so where there is none the arc is on no path. A
    flow with a capacity of one for each node answers it at once (networkx).
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
    """The directions in which an arc can be used, as (tail, head)."""
    tail, head = int(arcs.tail[arm]), int(arcs.head[arm])
    return [(tail, head)] if arcs.directed else [(tail, head), (head, tail)]


def simple_path_through(arcs: Arcs, arm: int, blocked: Bools | None) -> Ints | None:
    """A simple path from source to target that uses ``arm``, ascending, or None where the search found none.

    Depth first from the source to the arc's tail, leaving out what can no longer reach the tail, or keeps
    the head from the target. It is exhaustive, unless it takes more than `SEARCH_LIMIT` steps.
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
    """The arcs of a shortest way between two nodes that enters none of the nodes to avoid."""
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
