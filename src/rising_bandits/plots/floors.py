"""Floor plans of mazes: walls, nodes and edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits.plots.style import figures, save

GROUND = "#F4F3EE"
"""The colour of the floor."""
_WALL = "#737F8F"
_SIDE = 3.4
"""The height of a floor plan in inches."""
_AROUND = 10.0
"""How far from the middle of a node an arrow begins and ends, in points."""


@dataclass(frozen=True)
class Floor:
    """The floor plan of a maze, as far as drawings need it.

    Attributes
    ----------
    walls
        A row for each wall: left, right, bottom and top.
    bounds
        Left, right, bottom and top of the whole plan.
    nodes
        A row (x, y) for each node.
    edges
        A row for each edge: the node it comes from, the node it goes to.
    start, goal
        The numbers of the first and the last node.
    cell
        The width of the cells in which positions are counted.
    """

    walls: Floats
    bounds: Floats
    nodes: Floats
    edges: Ints
    start: int
    goal: int
    cell: float


def draw_floor(axes: Any, floor: Floor) -> None:
    """Draw the walls of a maze and nothing else."""
    from matplotlib.collections import PolyCollection

    axes.set_facecolor(GROUND)
    # All walls at once: a patch for each would take most of the time of a figure with many panels.
    corners = floor.walls[:, [[0, 2], [1, 2], [1, 3], [0, 3]]]
    axes.add_collection(PolyCollection(list(corners), facecolors=_WALL, linewidths=0, zorder=2))
    axes.set_xlim(*floor.bounds[:2])
    axes.set_ylim(*floor.bounds[2:])
    axes.set_aspect("equal")


def plot_floors(
    floors: Mapping[str, Floor], kinds: Mapping[str, Sequence[str]], colours: Mapping[str, str], path: str | Path
) -> list[Path]:
    """Write the floor plans of mazes side by side, with nodes and edges.

    Parameters
    ----------
    floors
        The floor plans by the name of the maze.
    kinds
        For each maze the kind of every edge.
    colours
        The colour of each kind.
    path
        The file to write, as PNG and as SVG.
    """
    shapes = [float((f.bounds[1] - f.bounds[0]) / (f.bounds[3] - f.bounds[2])) for f in floors.values()]
    with figures(_SIDE * sum(shapes) + 0.4, _SIDE + 0.5, widths=shapes) as (drawing, row):
        for axes, (name, floor) in zip(row, floors.items(), strict=True):
            draw_floor(axes, floor)
            # Nodes have a fixed size on paper, so arrows end at a fixed distance from them.
            apart = np.linalg.norm(floor.nodes[floor.edges[:, 1]] - floor.nodes[floor.edges[:, 0]], axis=1).min()
            points = _SIDE * 72 * float(apart) / float(floor.bounds[3] - floor.bounds[2])
            start, way = arrows(floor, gap=min(0.3, _AROUND / points))
            axes.quiver(
                *start.T, *way.T, angles="xy", scale_units="xy", scale=1.0, units="inches", width=0.045, headwidth=3.2,
                headlength=3.2, headaxislength=3.2, color=[colours[kind] for kind in kinds[name]], zorder=3,
            )  # fmt: skip
            for node, at in enumerate(floor.nodes):
                axes.plot(*at, "o", markersize=13, color="white", markeredgecolor="#222222", zorder=4)
                axes.text(*at, str(node), ha="center", va="center", fontsize=8, zorder=5)
            for end, node, down in (("start", floor.start, -16), ("goal", floor.goal, 10)):
                # A label may lie on the edge of a wall; its box, which is below the nodes, keeps it legible there.
                axes.annotate(
                    end, floor.nodes[node], (0, down), textcoords="offset points", ha="center", fontsize=8, zorder=3.5,
                    bbox={"boxstyle": "round,pad=0.15", "facecolor": GROUND, "edgecolor": "none"},
                )  # fmt: skip
            axes.set(xticks=[], yticks=[])
            axes.grid(visible=False)
            axes.set_title(f"AntMaze-{name}", fontsize=10)
        for kind, colour in colours.items():
            row[-1].plot([], [], color=colour, linewidth=3, label=kind)
        row[-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9, title="edge")
        return save(drawing, path)


def arrows(floor: Floor, gap: float = 0.12) -> tuple[Floats, Floats]:
    """Where the arrow of each edge begins, and how far it goes; the two directions of an edge are side by side.

    ``gap`` is the share of an edge that is left free at both ends.
    """
    tail, head = floor.nodes[floor.edges[:, 0]], floor.nodes[floor.edges[:, 1]]
    way = head - tail
    aside = np.stack([way[:, 1], -way[:, 0]], axis=1)
    both = {(int(b), int(a)) for a, b in floor.edges}
    paired = np.array([(int(a), int(b)) in both for a, b in floor.edges])
    return tail + gap * way + 0.08 * aside * paired[:, None], (1.0 - 2.0 * gap) * way
