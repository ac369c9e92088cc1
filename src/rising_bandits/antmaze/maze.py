"""A maze as data: walls, nodes and edges, checked; its paths are the super arms of a bandit."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Self, cast

import networkx as nx
import numpy as np

from rising_bandits import _checks
from rising_bandits.antmaze.floor import CLEARANCE, Box, cover, crosses, is_open, neighbours
from rising_bandits.errors import InfeasibleError, InputError
from rising_bandits.problems import ShortestPath

MOST_AREA = 1e6
"""The largest area of a maze, in square units."""
MOST_PARTS = 10_000
"""The largest number of nodes, of edges and of walls of a maze."""


@dataclass(frozen=True)
class Maze:
    """A floor plan with nodes, edges between them, a start and a goal.

    The base arms are the edges, and the super arms are the simple paths from start to goal. Walls may block edges; a
    policy is not told which.

    Parameters
    ----------
    name
        The name of the maze, which must be fit for a folder.
    walls
        The walls.
    nodes
        The positions (x, y) of the nodes.
    edges
        Pairs of node numbers, from and to.
    start, goal
        The numbers of the first and the last node of every path.
    episodes
        How many episodes a run has by default.
    steps
        The largest number of steps of an episode.
    edge_steps
        The largest number of steps for one edge; an edge not finished by then has failed.

    Raises
    ------
    InputError
        An argument is wrong.
    InfeasibleError
        A node stands in a wall, walls block every path, or the maze is open to the outside.

    >>> from rising_bandits.antmaze.mazes import EASY
    >>> EASY.labels
    ('0->1', '0->3', '1->2', '1->4', '2->5', '5->4', '4->3')
    >>> [label for label, free in zip(EASY.labels, EASY.passable) if not free]
    ['0->3']
    >>> EASY.shortest
    (0, 1, 4, 3)
    """

    name: str
    walls: tuple[Box, ...]
    nodes: tuple[tuple[float, float], ...]
    edges: tuple[tuple[int, int], ...]
    start: int
    goal: int
    episodes: int
    steps: int
    edge_steps: int = 100

    def __post_init__(self) -> None:
        object.__setattr__(self, "walls", tuple(Box(*(float(side) for side in wall)) for wall in self.walls))
        object.__setattr__(self, "nodes", tuple((float(x), float(y)) for x, y in self.nodes))
        object.__setattr__(self, "edges", tuple((_whole(tail), _whole(head)) for tail, head in self.edges))
        if not isinstance(cast(object, self.name), str) or not self.name or set(self.name) & set('/\\:*?"<>|'):
            raise InputError(f"name of a maze must be a word that a folder can have, got {self.name!r}")
        for name in ("episodes", "steps", "edge_steps"):
            _checks.integer(name, getattr(self, name), low=1)
        if max(len(self.nodes), len(self.edges), len(self.walls)) > MOST_PARTS:
            raise InputError(f"maze {self.name!r} must have at most {MOST_PARTS} nodes, edges and walls each")
        if len(self.nodes) < 2 or not np.isfinite(self.nodes).all():
            raise InputError(f"nodes must be at least two places (x, y) in finite numbers, got {self.nodes}")
        for wall in self.walls:
            if not np.isfinite(wall).all() or wall.left >= wall.right or wall.bottom >= wall.top:
                raise InputError(f"walls must go from left to right and from bottom to top, got {wall}")
        if len(set(self.nodes)) != len(self.nodes):
            raise InputError(f"nodes of maze {self.name!r} must be at different places")
        for name in ("start", "goal"):
            _checks.integer(name, getattr(self, name), low=0, high=len(self.nodes) - 1)
        if self.start == self.goal:
            raise InputError(f"goal must be another node than start, got {self.goal} for both")
        for number, (x, y) in enumerate(self.nodes):
            if any(box.holds(x, y, CLEARANCE) for box in self.walls):
                raise InfeasibleError(f"node {number} at ({x:g}, {y:g}) of maze {self.name!r} stands in a wall")
        for tail, head in self.edges:
            if tail == head or not (0 <= tail < len(self.nodes) and 0 <= head < len(self.nodes)):
                raise InputError(f"edges must join two of the nodes 0 to {len(self.nodes) - 1}, got {(tail, head)}")
        if len(set(self.edges)) != len(self.edges):
            raise InputError(f"edges of maze {self.name!r} must differ from each other")
        box = self.bounds
        if (box.right - box.left) * (box.top - box.bottom) > MOST_AREA:
            raise InputError(f"maze {self.name!r} must cover at most {MOST_AREA:g} square units, got {box}")
        if not nx.has_path(self._free_graph, self.start, self.goal):
            raise InfeasibleError(
                f"maze {self.name!r}: the goal, node {self.goal}, cannot be reached from the start, "
                f"node {self.start}: every path over its edges crosses a wall"
            )
        if is_open(self.walls, self.bounds, self.nodes[self.start]):
            raise InfeasibleError(f"maze {self.name!r} must be closed by walls, but the start is open to the outside")

    @classmethod
    def from_text(
        cls,
        name: str,
        text: str,
        nodes: Sequence[Sequence[float]],
        *,
        cell: float = 4.0,
        origin: Sequence[float] = (0.0, 0.0),
        edges: Sequence[Sequence[int]] | None = None,
        start: int = 0,
        goal: int | None = None,
        episodes: int = 2_000,
        steps: int = 1_000,
        edge_steps: int = 100,
    ) -> Self:
        r"""A maze from a text map.

        Parameters
        ----------
        name
            The name of the maze.
        text
            Rows of equal length, with ``#`` for walls and any other letter for floor. The last row is the lowest.
        nodes
            The positions (x, y) of the nodes.
        cell
            The width and height of a letter.
        origin
            The centre of the lower left letter.
        edges
            Pairs of node numbers, from and to. By default each node is joined to the nearest node exactly to its
            right, left, top and bottom, even if a wall lies between them.
        start, goal
            The numbers of the first and the last node of every path; by default the first and the last of ``nodes``.
        episodes, steps, edge_steps
            As for the class.

        >>> room = Maze.from_text("room", "####\n#..#\n####", [(4, 4), (8, 4)])
        >>> room.labels, room.walls[0]
        (('0->1', '1->0'), Box(left=-2.0, right=14.0, bottom=6.0, top=10.0))
        """
        if not isinstance(text, str):
            raise InputError(f"text must be rows of equal length, '#' for walls, got {text!r}")
        rows = text.strip("\n").split("\n")[::-1]
        if not rows or len({len(row) for row in rows}) != 1:
            raise InputError("text must be rows of equal length, '#' for walls")
        wall = np.array([[letter == "#" for letter in row] for row in rows])
        cell = _checks.number("cell", cell, low=0.0, open_low=True)
        try:
            places = tuple((float(x), float(y)) for x, y in nodes)
            west, south = (_checks.number("origin", side) for side in origin)
            joined = None if edges is None else tuple((_whole(tail), _whole(head)) for tail, head in edges)
        except InputError:
            raise
        except (TypeError, ValueError):
            raise InputError(
                f"nodes must be places [x, y], origin one of them and edges pairs [from, to] of nodes, "
                f"got nodes {nodes!r}, origin {origin!r} and edges {edges!r}"
            ) from None
        return cls(
            name=name,
            walls=tuple(cover(wall, cell, west, south)),
            nodes=places,
            edges=neighbours(places) if joined is None else joined,
            start=start,
            goal=len(places) - 1 if goal is None else goal,
            episodes=episodes,
            steps=steps,
            edge_steps=edge_steps,
        )

    def as_dict(self) -> dict[str, Any]:
        """The maze as plain data, ready for JSON."""
        return asdict(self) | {
            name: [list(item) for item in getattr(self, name)] for name in ("walls", "nodes", "edges")
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """A maze from plain data.

        Parameters
        ----------
        data
            What `as_dict` returned.

        >>> from rising_bandits.antmaze.mazes import EASY
        >>> Maze.from_dict(EASY.as_dict()) == EASY
        True
        """
        return cls(**data)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the edges as base arms, such as ``0->1``."""
        return tuple(f"{tail}->{head}" for tail, head in self.edges)

    @cached_property
    def passable(self) -> tuple[bool, ...]:
        """For each edge, whether its straight line keeps the distance `CLEARANCE` from every wall."""
        return tuple(self._is_free(self.nodes[tail], self.nodes[head]) for tail, head in self.edges)

    @cached_property
    def shortest(self) -> tuple[int, ...]:
        """The nodes of the shortest path over passable edges, called the constant optimal path."""
        return tuple(nx.shortest_path(self._free_graph, self.start, self.goal, weight="length"))

    @cached_property
    def tour(self) -> tuple[tuple[int, ...], ...]:
        """A few paths, as nodes, that together try every edge of `reachable`.

        They are chosen greedily: the next path is the one that tries most of the edges still missing. A path tries an
        edge only if all edges before it are passable.

        >>> from rising_bandits.antmaze.mazes import EASY
        >>> EASY.tour
        ((0, 1, 2, 5, 4, 3), (0, 1, 4, 3))
        """
        tried = self._tried
        missing, chosen = frozenset().union(*tried.values()), []
        while missing:
            best = max(tried, key=lambda arms: (len(tried[arms] & missing), -len(arms)))
            chosen.append((self.start, *(self.edges[arm][1] for arm in best)))
            missing -= tried[best]
        return tuple(chosen)

    @cached_property
    def reachable(self) -> tuple[bool, ...]:
        """For each edge, whether an ant can walk it: it is passable, and on some path all edges before it are too.

        >>> from rising_bandits.antmaze.mazes import COMPLEX
        >>> sum(COMPLEX.passable), sum(COMPLEX.reachable)
        (34, 20)
        """
        within = frozenset().union(*self._tried.values())
        return tuple(arm in within for arm in range(len(self.edges)))

    @cached_property
    def _tried(self) -> dict[tuple[int, ...], frozenset[int]]:
        """For each path the edges before the first one that a wall blocks."""
        oracle = self.problem.oracle
        return {
            tuple(arms): frozenset(itertools.takewhile(self.passable.__getitem__, arms))
            for arms in (oracle.ordered(found).tolist() for found in oracle.super_arms())
        }

    @property
    def problem(self) -> ShortestPath:
        """The problem of the bandit policy: paths from start to goal.

        The outcome of an edge is one over its number of steps. The reward is harmonic: one over all steps of the path.
        """
        return ShortestPath(list(self.edges), self.start, self.goal, reward="harmonic")

    @property
    def bounds(self) -> Box:
        """The smallest rectangle that holds all walls and nodes."""
        x = [v for box in self.walls for v in (box.left, box.right)] + [x for x, _ in self.nodes]
        y = [v for box in self.walls for v in (box.bottom, box.top)] + [y for _, y in self.nodes]
        return Box(min(x), max(x), min(y), max(y))

    def path_name(self, arms: Sequence[int]) -> str:
        """The name of a path, made of its nodes.

        Parameters
        ----------
        arms
            The base arms of the path, in order.

        >>> from rising_bandits.antmaze.mazes import EASY
        >>> EASY.path_name([0, 3, 6])
        '0-1-4-3'
        """
        return "-".join(map(str, [self.start, *(self.edges[arm][1] for arm in arms)]))

    def arms(self, nodes: Sequence[int]) -> list[int]:
        """The base arms of a path.

        Parameters
        ----------
        nodes
            The nodes of the path, in order.
        """
        return [self.edges.index((tail, head)) for tail, head in itertools.pairwise(nodes)]

    @cached_property
    def _free_graph(self) -> Any:
        """The graph of the passable edges, with their lengths."""
        graph = nx.DiGraph()
        graph.add_nodes_from(range(len(self.nodes)))
        for (tail, head), free in zip(self.edges, self.passable, strict=True):
            if free:
                (x, y), (u, v) = self.nodes[tail], self.nodes[head]
                graph.add_edge(tail, head, length=float(np.hypot(u - x, v - y)))
        return graph

    def _is_free(self, a: tuple[float, float], b: tuple[float, float]) -> bool:
        """Whether the segment from ``a`` to ``b`` keeps the clearance from every wall."""
        return not any(crosses(a, b, box) for box in self.walls)


def _whole(node: Any) -> int:
    """The number of a node in a list of edges, checked."""
    return _checks.integer("edges", node, low=0, wanted="pairs of numbers of nodes")
