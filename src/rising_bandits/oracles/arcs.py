"""Arcs between a source and a target node: the graph that all path oracles use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Bools, Ints
from rising_bandits.errors import InputError
from rising_bandits.oracles.listing import distinct_arms


@dataclass(frozen=True)
class Arcs:
    """Arcs between numbered nodes. Arc ``a`` is base arm ``a``.

    If ``directed`` is False, a path may use every arc in both directions.
    """

    tail: Ints
    head: Ints
    n_nodes: int
    source: int
    target: int
    directed: bool = True

    @classmethod
    def make(
        cls, tails: Sequence[Any], heads: Sequence[Any], source: Any, target: Any, *, directed: bool = True
    ) -> Arcs:
        """Number the nodes in order of appearance, and check the source and the target."""
        tails, heads = _nodes("tails", tails), _nodes("heads", heads)
        _nodes("source and target", [source, target])
        if len(tails) != len(heads):
            raise InputError(f"tails and heads must be equally long, got {len(tails)} and {len(heads)}")
        if len(tails) == 0:
            raise InputError("the graph must have at least one edge, got none")
        number: dict[Any, int] = {}
        for node in [*tails, *heads]:
            number.setdefault(node, len(number))
        for name, node in (("source", source), ("target", target)):
            if node not in number:
                raise InputError(f"{name} must be a node with an edge, got {node!r}")
        if source == target:
            raise InputError(f"source and target must differ, got {source!r} for both")
        return cls(
            tail=np.array([number[node] for node in tails], dtype=np.int64),
            head=np.array([number[node] for node in heads], dtype=np.int64),
            n_nodes=len(number),
            source=number[source],
            target=number[target],
            directed=directed,
        )

    @property
    def n_arms(self) -> int:
        """Number of arcs, which are the base arms."""
        return int(self.tail.size)

    def steps(self) -> list[list[tuple[int, int]]]:
        """For each node, the pairs (arm, next node) of the arcs that leave it. Loops are left out."""
        out: list[list[tuple[int, int]]] = [[] for _ in range(self.n_nodes)]
        for arm, (tail, head) in enumerate(zip(self.tail.tolist(), self.head.tolist(), strict=True)):
            if tail == head:
                continue
            out[tail].append((arm, head))
            if not self.directed:
                out[head].append((arm, tail))
        return out

    def topological_order(self) -> list[int] | None:
        """The nodes in topological order, or None if there is a cycle.

        Only arcs that can lie on a way from the source to the target are considered (see `useful_arcs`).
        """
        if not self.directed:
            return None
        useful = self.useful_arcs()
        waiting = np.bincount(self.head[useful], minlength=self.n_nodes)
        out = [[(arm, head) for arm, head in ways if useful[arm]] for ways in self.steps()]
        ready = [node for node in range(self.n_nodes) if waiting[node] == 0]
        order: list[int] = []
        while ready:
            node = ready.pop()
            order.append(node)
            for _, after in out[node]:
                waiting[after] -= 1
                if waiting[after] == 0:
                    ready.append(after)
        return order if len(order) == self.n_nodes else None

    def reach(self, start: int, *, backwards: bool = False) -> Bools:
        """Which nodes can be reached from ``start``; with ``backwards``, from which nodes it can be reached."""
        tail, head = (self.head, self.tail) if backwards else (self.tail, self.head)
        out = Arcs(tail, head, self.n_nodes, start, start, self.directed).steps()
        seen = np.zeros(self.n_nodes, dtype=np.bool_)
        seen[start] = True
        stack = [start]
        while stack:
            for _, after in out[stack.pop()]:
                if not seen[after]:
                    seen[after] = True
                    stack.append(after)
        return seen

    def useful_arcs(self) -> Bools:
        """Which arcs start at a node that the source reaches and end at a node that reaches the target."""
        forward, back = self.reach(self.source), self.reach(self.target, backwards=True)
        useful = forward[self.tail] & back[self.head]
        if not self.directed:
            useful |= forward[self.head] & back[self.tail]
        return np.asarray(useful & (self.tail != self.head), dtype=np.bool_)

    def spec(self) -> dict[str, Any]:
        """Plain data from which `make` builds the same arcs."""
        return {
            "tails": self.tail.tolist(),
            "heads": self.head.tolist(),
            "source": self.source,
            "target": self.target,
        }


def _nodes(name: str, nodes: object) -> list[Any]:
    """Nodes as a list; a text stands for its letters."""
    return _checks.labels(name, list(nodes) if isinstance(nodes, str) else cast(Any, nodes))


def walk_order(arcs: Arcs, arms: Sequence[int] | Ints) -> Ints:
    """The arms of a path in the order in which the path uses them. Arms that are not a path keep their order."""
    path: list[int] = []
    node = arcs.source
    tail, head = arcs.tail, arcs.head
    if arcs.directed:
        numbers = np.asarray(arms, dtype=np.int64)
        if numbers.size and tail[numbers[0]] == node and np.array_equal(tail[numbers[1:]], head[numbers[:-1]]):
            # Most graphs list their arcs from the source on, so that ascending arms follow each other.
            return numbers
        after = dict(
            zip(tail[numbers].tolist(), zip(numbers.tolist(), head[numbers].tolist(), strict=True), strict=True)
        )
        # Each node of a path is left once.
        if len(after) == numbers.size:
            while (step := after.pop(node, None)) is not None:
                path.append(step[0])
                node = step[1]
            return numbers if after else np.array(path, dtype=np.int64)
    left = {int(arm) for arm in arms}
    if len(left) != len(arms):
        return np.asarray(arms, dtype=np.int64)
    out: dict[int, list[int]] = {}
    for arm in left:
        out.setdefault(int(tail[arm]), []).append(arm)
        if not arcs.directed:
            out.setdefault(int(head[arm]), []).append(arm)
    while left:
        following = [arm for arm in out.get(node, ()) if arm in left]
        if len(following) != 1:
            return np.asarray(arms, dtype=np.int64)
        arm = following[0]
        left.remove(arm)
        path.append(arm)
        node = int(head[arm]) if int(tail[arm]) == node else int(tail[arm])
    return np.array(path, dtype=np.int64)


def check_walk(arcs: Arcs, arms: Sequence[int] | Ints) -> bool:
    """Whether the arms, in any order, are a simple path from the source to the target."""
    numbers = distinct_arms(arms, arcs.n_arms)
    if numbers is None:
        return False
    node = arcs.source
    seen = {node}
    for arm in walk_order(arcs, numbers).tolist():
        tail, head = int(arcs.tail[arm]), int(arcs.head[arm])
        if node == tail:
            node = head
        elif node == head and not arcs.directed:
            node = tail
        else:
            return False
        if node in seen:
            return False
        seen.add(node)
    return node == arcs.target
