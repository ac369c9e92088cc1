"""Tasks by name: those of the paper, families of many tasks, and tasks of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import cast

from rising_bandits import _checks
from rising_bandits.curves import Curve, Flat, LateBloomer, Linear, Noiseless, Scaled
from rising_bandits.errors import InputError
from rising_bandits.problems.graphs import ShortestPath, SpanningTree
from rising_bandits.problems.matching import Matching
from rising_bandits.problems.sets import KMax
from rising_bandits.problems.task import Task, check_task

__all__ = [
    "Family",
    "Task",
    "check_task",
    "families",
    "get",
    "grid_edges",
    "names",
    "register",
    "register_family",
    "shared",
]

_EASY = LateBloomer(block=250, stop=5_000)
_COMPLEX = LateBloomer(block=1_000, stop=20_000)
_LEVELS: dict[str, tuple[Curve, Curve, int]] = {
    "easy": (_EASY, Flat(0.9), 300_000),
    "complex": (_COMPLEX, Flat(0.6), 500_000),
}


def grid_edges(size: int) -> list[tuple[str, str]]:
    """The edges of a square grid, directed to the right and down.

    For each row, the edges within the row come first, then the edges to the next row.

    Parameters
    ----------
    size
        The number of nodes along a side, at least 2.

    >>> grid_edges(2)
    [('0,0', '0,1'), ('0,0', '1,0'), ('0,1', '1,1'), ('1,0', '1,1')]
    """
    size = _checks.integer("size", size, low=2, limit=500)
    edges = []
    for row in range(size):
        edges += [(f"{row},{column}", f"{row},{column + 1}") for column in range(size - 1)]
        if row < size - 1:
            edges += [(f"{row},{column}", f"{row + 1},{column}") for column in range(size)]
    return edges


def _mixed(level: str, n_arms: int, late: Sequence[int]) -> tuple[tuple[Curve, ...], int]:
    """The curves of a level, late bloomers for the arms ``late`` and early peakers for the others, and its horizon."""
    bloomer, peaker, horizon = _LEVELS[level]
    return tuple(bloomer if arm in late else peaker for arm in range(n_arms)), horizon


def _path(level: str, size: int, late: Sequence[int]) -> Task:
    """Shortest path on a grid."""
    problem = ShortestPath(grid_edges(size), "0,0", f"{size - 1},{size - 1}")
    curves, horizon = _mixed(level, problem.n_arms, late)
    return Task(f"path-{level}", problem, curves, horizon, description=f"shortest path on a {size} x {size} grid")


def _matching(level: str, workers: int, jobs: int) -> Task:
    """Workers matched to jobs. The pairs (worker i, job i) are late bloomers."""
    problem = Matching([f"w{i}" for i in range(workers)], [f"j{i}" for i in range(jobs)])
    curves, horizon = _mixed(level, problem.n_arms, [i * jobs + i for i in range(workers)])
    return Task(f"matching-{level}", problem, curves, horizon, description=f"{workers} workers matched to {jobs} jobs")


def _spanning(level: str, nodes: int, late: Sequence[int]) -> Task:
    """Spanning trees of a complete graph."""
    problem = SpanningTree([(i, j) for i in range(nodes) for j in range(i + 1, nodes)])
    curves, horizon = _mixed(level, problem.n_arms, late)
    return Task(f"spanning-{level}", problem, curves, horizon, description=f"spanning tree of K{nodes}")


def _toy() -> Task:
    """The paper's example with three arms."""
    horizon = 500_000
    problem = ShortestPath([("a", "b", "shared"), ("b", "c", "early"), ("b", "c", "late")], "a", "c")
    shared = LateBloomer(block=1_000, stop=500_000)
    # Without scaling the mean would exceed 1 within the horizon.
    top = float(shared(horizon - 1))
    curves = (Scaled(shared, factor=1.0 / top), Flat(0.9), Linear(duration=5_000))
    return Task("toy", problem, curves, horizon, Noiseless(), description="a shared edge, then an early or a late one")


def _k_max() -> Task:
    """The paper's k-MAX task."""
    curves = (_EASY, Scaled(_EASY, 0.5, 0.3), Scaled(_EASY, 0.1, 0.5), Flat(0.7), Flat(0.9))
    return Task("k-max", KMax(5, k=2), curves, 300_000, description="the better of two out of five arms")


_BUILDERS: dict[str, Callable[[], Task]] = {
    "toy": _toy,
    "path-easy": lambda: _path("easy", 3, [2, 5, 6, 9]),
    "path-complex": lambda: _path("complex", 6, [5, 16, 27, 38, 49, 55, 56, 57, 58, 59]),
    "matching-easy": lambda: _matching("easy", 2, 4),
    "matching-complex": lambda: _matching("complex", 4, 7),
    "spanning-easy": lambda: _spanning("easy", 4, [1, 3, 5]),
    "spanning-complex": lambda: _spanning("complex", 6, [1, 3, 5, 6, 8]),
    "k-max": _k_max,
}


def names() -> list[str]:
    """The names of the tasks that `get` can build, without the members of `families`.

    >>> names()[:2]
    ['toy', 'path-easy']
    """
    return list(_BUILDERS)


def get(name: str) -> Task:
    """Build a task.

    Parameters
    ----------
    name
        One of `names`, or a member of one of the `families`.

    Raises
    ------
    InputError
        There is no task of that name.

    >>> get("path-easy").problem
    ShortestPath(12 base arms, 6 super arms of up to 4, sum reward)
    """
    return _builder(name)()


def _builder(name: str) -> Callable[[], Task]:
    """The function that builds the task of that name; the same function for the same name."""
    if isinstance(cast(object, name), str):
        if name in _BUILDERS:
            return _BUILDERS[name]
        for family in _FAMILIES.values():
            if name.startswith(family.prefix):
                return _member(family, name)
    known = ", ".join([*_BUILDERS, *(f"{prefix}..." for prefix in _FAMILIES)])
    raise InputError(f"task must be one of {known}, got {name!r}")


@dataclass(frozen=True)
class Family:
    """Many tasks of one kind, which `get` builds by name and `names` does not list.

    A name is the prefix and the name of the member, as in ``lcdb-3``. A number of rounds may follow after ``@``, as in
    ``lcdb-3@5000``. The family says what that means for its curves.
    """

    prefix: str
    """How the names begin, with the dash: ``lcdb-``."""
    members: Callable[[], Sequence[str]]
    """The names of the members, without the prefix."""
    build: Callable[[str, str, int | None], Task]
    """From the name of the task, the member, and the number of rounds (or None), to the task."""
    description: str
    """One line for the user."""


_FAMILIES: dict[str, Family] = {}


@lru_cache(maxsize=256)
def _member(family: Family, name: str) -> Callable[[], Task]:
    """The builder of one member of a family."""
    member, _, rounds = name.removeprefix(family.prefix).partition("@")
    known = family.members()
    if member not in known:
        raise InputError(
            f"task {name!r} must name one of the {len(known)} members of {family.prefix}..., "
            f"such as {family.prefix}{known[0]}"
        )
    if "@" in name and not (rounds.isascii() and rounds.isdigit() and 0 < int(rounds) <= _MOST_ROUNDS):
        raise InputError(f"task {name!r} must have a number of rounds from 1 to {_MOST_ROUNDS:,} after the @")
    return partial(family.build, name, member, int(rounds) if rounds else None)


_MOST_ROUNDS = 10_000_000


def families() -> list[Family]:
    """The families of tasks, which hold too many to list in `names`.

    >>> [family.prefix for family in families()]
    ['lcdb-', 'live-', 'identify-', 'imdb-', 'tool-', 'two-', 'drop-']
    """
    return list(_FAMILIES.values())


def register_family(family: Family) -> None:
    """Add a family of tasks to `families` and `get`, in this process only.

    Parameters
    ----------
    family
        The family.

    Raises
    ------
    InputError
        It is not a family, or there is one with this prefix already.
    """
    if not isinstance(cast(object, family), Family) or not family.prefix:
        raise InputError(f"family must be a Family with a prefix such as 'lcdb-', got {family!r:.80}")
    if family.prefix in _FAMILIES:
        raise InputError(f"prefix must be new, but there is a family {family.prefix!r} already")
    _FAMILIES[family.prefix] = family


def shared(name: str) -> Task:
    """The task of that name, made once per process.

    What is computed from a task, such as its optimum, is kept with it. Many runs of one task share that.

    Parameters
    ----------
    name
        One of `names`, or a member of one of the `families`.

    >>> shared("path-easy") is shared("path-easy")
    True
    """
    return _built(_builder(name))


@lru_cache(maxsize=16)
def _built(builder: Callable[[], Task]) -> Task:
    return builder()


def register(name: str, builder: Callable[[], Task]) -> None:
    """Add your own task to `names` and `get`, in this process only.

    Experiments on several processes and the command ``rising run`` do not see it; give them
    ``module:function`` as the task.

    Parameters
    ----------
    name
        A name that is not taken yet.
    builder
        A function without arguments that returns the task.

    Raises
    ------
    InputError
        There is a task of that name already.
    """
    if not isinstance(cast(object, name), str) or not name or not callable(builder):
        raise InputError(f"register takes a name and a function that returns a task, got {name!r} and {builder!r}")
    if name in _BUILDERS:
        raise InputError(f"name must be new, but there is a task {name!r} already")
    _BUILDERS[name] = builder
