"""Dijkstra's method: the cheapest path between two nodes of a graph, compiled, and around given nodes in Python."""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import compiled
from rising_bandits.oracles.operations import takes_over


class Roads(NamedTuple):
    """State of the solver: the steps out of each node, the kind of cost, and work space.

    The steps out of node ``v`` are ``first[v]`` to ``first[v + 1]``. ``key``, ``rank`` and ``item`` hold a binary heap
    in the order of ``key``, and of ``rank`` where keys are equal.
    """

    first: Ints
    head: Ints
    arm: Ints
    ends: Ints
    """Source and target."""
    cost: Floats
    second_cost: Floats
    """The second cost of each arm. It decides between paths of equal cost."""
    distance: Floats
    second_distance: Floats
    """The sum of second costs along the cheapest known path to each node."""
    via: Ints
    """The last step of the cheapest known path to each node."""
    equals: Ints
    """How many last steps of equally cheap paths to each node are known; 0 once the path to the node is settled."""
    tail: Ints
    key: Floats
    rank: Floats
    item: Ints
    kind: int


@compiled
def _push(state: Roads, size: int, value: float, rank: float, node: int) -> int:
    """Add a node to the heap and return the new size."""
    key, ranks, item = state.key, state.rank, state.item
    at = size
    while at > 0:
        above = (at - 1) // 2
        if key[above] < value or (key[above] == value and ranks[above] <= rank):
            break
        key[at] = key[above]
        ranks[at] = ranks[above]
        item[at] = item[above]
        at = above
    key[at] = value
    ranks[at] = rank
    item[at] = node
    return size + 1


@compiled
def _pop(state: Roads, size: int) -> int:
    """Remove the smallest key, which is at the root, from the heap and return the new size."""
    key, ranks, item = state.key, state.rank, state.item
    size -= 1
    value, rank, node = key[size], ranks[size], item[size]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and (
            key[child + 1] < key[child] or (key[child + 1] == key[child] and ranks[child + 1] < ranks[child])
        ):
            child += 1
        if key[child] > value or (key[child] == value and ranks[child] >= rank):
            break
        key[at] = key[child]
        ranks[at] = ranks[child]
        item[at] = item[child]
        at = child
    key[at] = value
    ranks[at] = rank
    item[at] = node
    return size


@compiled
def cheapest(state: Roads, draw: int, out: Ints) -> int:
    """Write the path of smallest ``state.cost`` into ``out`` and return its length. Infinite cost forbids an arm.

    Of several cheapest paths it is the one with the smallest sum of ``state.second_cost``. Where paths to a node are
    equal in both, the last step is drawn, or is the first one found if ``draw`` is 0.
    """
    source, target = state.ends[0], state.ends[1]
    for node in range(state.distance.size):
        state.distance[node] = np.inf
        state.second_distance[node] = np.inf
        state.via[node] = -1
        state.equals[node] = 1
    state.distance[source] = 0.0
    state.second_distance[source] = 0.0
    size = _push(state, 0, 0.0, 0.0, source)
    while size > 0:
        distance, second_distance, node = state.key[0], state.rank[0], state.item[0]
        size = _pop(state, size)
        if distance > state.distance[node] or second_distance > state.second_distance[node]:
            continue
        if node == target:
            break
        # From here on the path to this node stays as it is: steps of no cost must not lead it in a circle.
        state.equals[node] = 0
        for step in range(state.first[node], state.first[node + 1]):
            arm = state.arm[step]
            reach = distance + state.cost[arm]
            also = second_distance + state.second_cost[arm]
            head = state.head[step]
            if reach < state.distance[head] or (
                reach == state.distance[head] and reach < np.inf and also < state.second_distance[head]
            ):
                state.distance[head] = reach
                state.second_distance[head] = also
                state.via[head] = step
                state.equals[head] = 1
                size = _push(state, size, reach, also, head)
            elif (
                reach == state.distance[head] < np.inf
                and also == state.second_distance[head]
                and state.equals[head] > 0
            ):
                state.equals[head] += 1
                if takes_over(draw, step, state.equals[head]):
                    state.via[head] = step
    if state.via[target] < 0:
        return 0
    length = 0
    node = target
    while node != source:
        step = state.via[node]
        out[length] = state.arm[step]
        length += 1
        node = state.tail[step]
    for place in range(length // 2):
        out[place], out[length - 1 - place] = out[length - 1 - place], out[place]
    return length


def path_between(
    steps: list[list[tuple[int, int]]], cost: Floats, start: int, end: int, avoid: set[int]
) -> tuple[list[int], set[int]] | None:
    """The cheapest path between two nodes that avoids given nodes: its arms, and the nodes that it visits."""
    if start in avoid or end in avoid:
        return None
    best: dict[int, float] = {start: 0.0}
    via: dict[int, tuple[int, int]] = {}
    heap = [(0.0, start)]
    while heap:
        distance, node = heapq.heappop(heap)
        if node == end:
            break
        if distance > best[node]:
            continue
        for arm, head in steps[node]:
            reach = distance + float(cost[arm])
            if head not in avoid and reach < best.get(head, math.inf):
                best[head] = reach
                via[head] = (arm, node)
                heapq.heappush(heap, (reach, head))
    if end not in best:
        return None
    arms: list[int] = []
    nodes = {end}
    while end != start:
        arm, end = via[end]
        arms.append(arm)
        nodes.add(end)
    return arms[::-1], nodes
