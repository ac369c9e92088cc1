"""The two mazes of the paper, and mazes from files: a text map and a list of nodes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rising_bandits.antmaze.floor import Box
from rising_bandits.antmaze.maze import Maze
from rising_bandits.errors import InfeasibleError, InputError


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
