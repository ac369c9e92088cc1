"""Floor plans: walls as rectangles, what crosses them, and whether they close a room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

CLEARANCE = 0.25
"""The radius of the torso. The straight line of a passable edge keeps this distance from every wall."""


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


def crosses(a: tuple[float, float], b: tuple[float, float], box: Box) -> bool:
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


def cover(wall: Any, cell: float, x: float, y: float) -> list[Box]:
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


def neighbours(nodes: tuple[tuple[float, float], ...]) -> tuple[tuple[int, int], ...]:
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


def is_open(walls: Sequence[Box], bounds: Box, place: tuple[float, float]) -> bool:
    """Whether one can leave the bounds from a place, found by a flood fill over cells of half a unit."""
    fine = 0.5
    columns = np.arange(bounds.left - fine / 2, bounds.right + fine, fine)
    rows = np.arange(bounds.bottom - fine / 2, bounds.top + fine, fine)
    wall = np.zeros((rows.size, columns.size), dtype=bool)
    for w in walls:
        wall |= ((rows > w.bottom) & (rows < w.top))[:, None] & ((columns > w.left) & (columns < w.right))[None, :]
    x, y = place
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
