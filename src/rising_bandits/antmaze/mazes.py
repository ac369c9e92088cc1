"""Mazes as data: walls, nodes and edges.

The two mazes of the paper are built in. A maze of your own is a text map and a list of nodes.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self, cast

import networkx as nx
import numpy as np

from rising_bandits import _checks
from rising_bandits.errors import InfeasibleError, InputError
from rising_bandits.problems import ShortestPath

CLEARANCE = 0.25
"""The radius of the torso. The straight line of a passable edge keeps this distance from every wall."""
MOST_AREA = 1e6
"""The largest area of a maze, in square units."""
MOST_PARTS = 10_000
"""The largest number of nodes, of edges and of walls of a maze."""


class Box(NamedTuple):
    """A wall: a rectangle of the floor plan.

    Parameters
    ----------
    left, right
        The ends in x.
    bottom, top
        The ends in y.
    """

    left: float
    right: float
    bottom: float
    top: float

    def holds(self, x: float, y: float, margin: float = 0.0) -> bool:
        """Whether a point lies inside the rectangle enlarged by a margin on all sides.

        Parameters
        ----------
        x, y
            The point.
        margin
            The margin.
        """
        return self.left - margin < x < self.right + margin and self.bottom - margin < y < self.top + margin


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
        if self._is_open:
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
            walls=tuple(_boxes(wall, cell, west, south)),
            nodes=places,
            edges=_neighbours(places) if joined is None else joined,
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
        return not any(_crosses(a, b, box) for box in self.walls)

    @cached_property
    def _is_open(self) -> bool:
        """Whether one can leave the maze from the start, found by a flood fill over cells of half a unit."""
        box, fine = self.bounds, 0.5
        columns = np.arange(box.left - fine / 2, box.right + fine, fine)
        rows = np.arange(box.bottom - fine / 2, box.top + fine, fine)
        wall = np.zeros((rows.size, columns.size), dtype=bool)
        for w in self.walls:
            wall |= ((rows > w.bottom) & (rows < w.top))[:, None] & ((columns > w.left) & (columns < w.right))[None, :]
        x, y = self.nodes[self.start]
        seen = {(int(np.abs(rows - y).argmin()), int(np.abs(columns - x).argmin()))}
        front = list(seen)
        while front:
            i, j = front.pop()
            if i in (0, rows.size - 1) or j in (0, columns.size - 1):
                return True
            for near in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
                if near not in seen and not wall[near]:
                    seen.add(near)
                    front.append(near)
        return False


def _whole(node: Any) -> int:
    """The number of a node in a list of edges, checked."""
    return _checks.integer("edges", node, low=0, wanted="pairs of numbers of nodes")


def _crosses(a: tuple[float, float], b: tuple[float, float], box: Box) -> bool:
    """Whether a segment crosses a wall enlarged by the clearance (line clipping of Liang and Barsky)."""
    enter, leave = 0.0, 1.0
    for at, to, low, high in ((a[0], b[0], box.left, box.right), (a[1], b[1], box.bottom, box.top)):
        low, high, move = low - CLEARANCE, high + CLEARANCE, to - at
        if move == 0.0:
            if not low < at < high:
                return False
            continue
        first, second = sorted(((low - at) / move, (high - at) / move))
        enter, leave = max(enter, first), min(leave, second)
    return enter < leave


def _boxes(wall: Any, cell: float, x: float, y: float) -> list[Box]:
    """A few rectangles that cover the wall cells.

    From the top row down, each rectangle is extended to the right as far as possible and then downwards.
    """
    left = wall.copy()
    out = []
    for row in range(len(wall) - 1, -1, -1):
        for column in range(wall.shape[1]):
            if not left[row, column]:
                continue
            end = column
            while end < wall.shape[1] and left[row, end]:
                end += 1
            low = row
            while low > 0 and left[low - 1, column:end].all():
                low -= 1
            left[low : row + 1, column:end] = False
            out.append(
                Box(
                    x + (column - 0.5) * cell,
                    x + (end - 0.5) * cell,
                    y + (low - 0.5) * cell,
                    y + (row + 0.5) * cell,
                )
            )
    return out


def _neighbours(nodes: tuple[tuple[float, float], ...]) -> tuple[tuple[int, int], ...]:
    """Edges from each node to the nearest node exactly to its right, left, top and bottom."""
    edges = []
    for tail, (x, y) in enumerate(nodes):
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            ahead = [
                ((u - x) * dx + (v - y) * dy, head)
                for head, (u, v) in enumerate(nodes)
                if (v == y if dx else u == x) and (u - x) * dx + (v - y) * dy > 0
            ]
            if ahead:
                edges.append((tail, min(ahead)[1]))
    return tuple(edges)


def _easy() -> Maze:
    """The easy maze of the paper."""
    frame = (Box(-3, 19, 10, 11), Box(-3, 19, -3, -2), Box(-3, -2, -2, 10), Box(18, 19, -2, 10))
    return Maze(
        name="easy",
        walls=(*frame, Box(-2, 7, 2, 6), Box(9, 14, 2, 6)),
        nodes=((0, 0), (8, 0), (16, 0), (0, 8), (8, 8), (16, 8)),
        edges=((0, 1), (0, 3), (1, 2), (1, 4), (2, 5), (5, 4), (4, 3)),
        start=0,
        goal=3,
        episodes=2_000,
        steps=500,
    )


_COMPLEX_MAP = """\
#########
#.......#
#.###.###
#.#...#.#
#.#.#.#.#
#...#...#
###.#.###
#.......#
#########
"""

EASY = _easy()
COMPLEX = Maze.from_text(
    "complex",
    _COMPLEX_MAP,
    [(8.0 * (node % 4), 8.0 * (node // 4)) for node in range(16)],
    origin=(-4.0, -4.0),
    goal=12,
    episodes=3_000,
    steps=1_000,
)
MAZES = {"easy": EASY, "complex": COMPLEX}
"""The mazes of the paper by name."""


def get(name: str) -> Maze:
    """A built-in maze, or one from a TOML file.

    Parameters
    ----------
    name
        A name from `MAZES`, or the path of a TOML file. The file holds ``text`` and ``nodes``, and may hold the other
        arguments of `Maze.from_text`.

    Raises
    ------
    InputError
        There is no such maze or file, or the file is not valid.
    """
    if name in MAZES:
        return MAZES[name]
    path = Path(name)
    if path.suffix != ".toml" or not path.is_file():
        raise InputError(f"map must be one of {', '.join(MAZES)}, or a TOML file with text and nodes, got {name!r}")
    try:
        return from_fields(path.stem, tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"map file {name!r} is not TOML: {error}") from None


def from_fields(name: str, fields: Mapping[str, Any]) -> Maze:
    """A maze from the fields of a file; ``name`` is used if they hold no name."""
    known = {"name", "text", "nodes", "cell", "origin", "edges", "start", "goal", "episodes", "steps", "edge_steps"}
    if unknown := sorted(set(fields) - known):
        raise InputError(f"a map knows {', '.join(sorted(known))}, got {', '.join(unknown)}")
    if missing := sorted({"text", "nodes"} - set(fields)):
        raise InputError(f"a map needs text and nodes, but there is no {' and no '.join(missing)}")
    try:
        return Maze.from_text(**{"name": name, **fields})
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError | InfeasibleError):
            raise
        raise InputError(f"map {name!r} cannot be read: {error}") from None
