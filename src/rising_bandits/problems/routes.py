"""Paths between many pairs of nodes over one set of links."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy.typing as npt

from rising_bandits import _checks
from rising_bandits._checks import Floats
from rising_bandits.errors import InputError
from rising_bandits.oracles import Families
from rising_bandits.problems.base import Problem, choice_name
from rising_bandits.problems.graphs import ShortestPath
from rising_bandits.problems.rewards import Reward


class Routes(Problem):
    """Paths between many pairs of a source and a target in one graph; the base arms are the edges.

    Which pair a decision is for is said when it is asked: ``study.ask(among=("a", "d"))`` in a study, or
    ``policy.among(("a", "d")).select()``. What is learnt of a link counts for every pair.

    Parameters
    ----------
    graph
        A graph as for `ShortestPath`.
    pairs
        The pairs (source, target).
    reward, cost
        As for `ShortestPath`, the same for all pairs. If paths of some pairs can have cycles, the default reward is
        ``"harmonic"``.

    Raises
    ------
    InfeasibleError
        A pair has no path.

    >>> links = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")]
    >>> problem = Routes(links, [("a", "c"), ("a", "d"), ("b", "d")])
    >>> problem.choices
    ('a->c', 'a->d', 'b->d')
    >>> route = problem.among(("b", "d"))
    >>> route.labels_of(route.oracle.solve([0.9, 0.1, 0.9, 0.1]))
    ['b->c', 'c->d']
    """

    def __init__(
        self,
        graph: Any,
        pairs: Sequence[tuple[Any, Any]],
        *,
        reward: Reward | str | None = None,
        cost: str | Callable[[Floats], npt.ArrayLike] | None = None,
    ) -> None:
        if not isinstance(pairs, list | tuple) or len(pairs) == 0:
            raise InputError(f"pairs must be a list of at least one pair (source, target), got {pairs!r:.80}")
        for pair in pairs:
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise InputError(f"pairs must be pairs (source, target), got {pair!r:.80}")
        names = [choice_name(tuple(pair)) for pair in pairs]
        if len(set(names)) != len(names):
            raise InputError("pairs must be different")
        # A list may be an iterator, which can be read once.
        graph = graph if hasattr(graph, "edges") else _checks.listed(graph)
        paths = [ShortestPath(graph, source, target, reward=reward, cost=cost) for source, target in pairs]
        if len({path.reward.name for path in paths}) > 1:
            paths = [ShortestPath(graph, source, target, reward="harmonic", cost=cost) for source, target in pairs]
        first = paths[0]
        oracle = Families({name: path.oracle for name, path in zip(names, paths, strict=True)})
        super().__init__(oracle, first.reward, first.labels, first._number)
        self.edges = first.edges
        self.pairs = [(source, target) for source, target in pairs]
