"""Drawings of a maze and an ant from above, made by matplotlib or with letters."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rising_bandits.antmaze.maze import Maze

WALL, FLOOR, ANT = "#737F8F", "#F4F3EE", "#D55E00"

Segment = tuple[tuple[float, float], tuple[float, float]]
"""A line from one point (x, y) to another."""


def draw_walls(axes: Any, maze: Maze) -> None:
    """Draw the floor plan of a maze on matplotlib axes."""
    from matplotlib.patches import Rectangle

    box = maze.bounds
    axes.set_facecolor(FLOOR)
    for wall in maze.walls:
        size = (wall.right - wall.left, wall.top - wall.bottom)
        axes.add_patch(Rectangle((wall.left, wall.bottom), *size, facecolor=WALL, linewidth=0, zorder=2))
    axes.set_xlim(box.left, box.right)
    axes.set_ylim(box.bottom, box.top)
    axes.set_aspect("equal")
    axes.grid(False)
    axes.set_xticks([])
    axes.set_yticks([])


def draw_ant(axes: Any, segments: Sequence[Segment], alpha: float = 1.0) -> None:
    """Draw the parts of the ant as thick lines."""
    from matplotlib.collections import LineCollection

    axes.add_collection(LineCollection(list(segments), colors=ANT, linewidths=2.2, alpha=alpha, zorder=3))


def paint(maze: Maze, segments: Sequence[Segment], width: int, height: int) -> npt.NDArray[np.uint8]:
    """A picture of the maze and the ant as an array of shape (height, width, 3)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(width / 100, height / 100), dpi=100)
    canvas = FigureCanvasAgg(drawing)
    axes = drawing.add_axes((0.0, 0.0, 1.0, 1.0))
    draw_walls(axes, maze)
    draw_ant(axes, segments)
    drawn: Any = canvas
    drawn.draw()
    return np.asarray(drawn.buffer_rgba())[..., :3].copy()


def sketch(maze: Maze) -> str:
    r"""A maze drawn with letters: ``#`` for walls, and the numbers of the nodes.

    >>> print(sketch(Maze.from_text("hall", "#####\n#...#\n#####", [(4, 4), (12, 4)])))
    ####################
    ####################
    ####            ####
    #### 0       1  ####
    ####################
    ####################
    """
    box = maze.bounds
    # A letter is about twice as high as wide, so it stands for 1 by 2 units. Its upper and lower half are both checked
    # for walls, which may be thin.
    columns = np.arange(box.left + 0.5, box.right, 1.0)
    rows = np.arange(box.bottom + 1.0, box.top, 2.0)
    letters = [[" "] * columns.size for _ in rows]
    for (row, y), (column, x) in itertools.product(enumerate(rows), enumerate(columns)):
        if any(wall.holds(x, y + part) for wall in maze.walls for part in (-0.5, 0.5)):
            letters[row][column] = "#"
    for number, (x, y) in enumerate(maze.nodes):
        row, column = int(np.abs(rows - y).argmin()), int(np.abs(columns - x).argmin())
        for place, letter in enumerate(str(number)):
            letters[row][column + place] = letter
    return "\n".join("".join(row) for row in reversed(letters))
