"""Figures of trained AntMaze runs that need nothing but numbers: regret, outcomes, and heatmaps of all policies."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits.experiments.statistics import half_width
from rising_bandits.plots.looks import PALETTE, looks
from rising_bandits.plots.names import title
from rising_bandits.plots.style import current, figure, figures, save

_FLOOR, _WALL = "#F4F3EE", "#737F8F"
_ACROSS = 4
"""How many panels a figure of regret has in a row at most."""
_MAPS = 5
"""How many heatmaps stand side by side at most; more would be too small on a page."""
_BAND = 5
"""From how many seeds on an interval is drawn."""
_LETTERS = 13.0
"""How many letters of a heading fit on an inch in size 10."""
_COLUMNS = 18
"""How many paths a heatmap of paths has in a row."""


def name_of(label: str) -> str:
    """The name of a policy in figures of training.

    The policy ``oracle`` is called the constant optimal path: its ant has to learn to walk as well, so it need not be
    the best policy. CRUCB in the authors' program and by the printed formula are told apart.

    >>> name_of("oracle"), name_of("sw-ts"), name_of("crucb")
    ('constant optimal path', 'SW-TS', 'CRUCB (printed formula)')
    """
    if label == "oracle":
        return "constant optimal path"
    return "CRUCB (printed formula)" if label == "crucb" else title(label)


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

    axes.set_facecolor(_FLOOR)
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
    with figures(3.4 * sum(shapes) + 0.4, 3.9, widths=shapes) as (drawing, row):
        for axes, (name, floor) in zip(row, floors.items(), strict=True):
            draw_floor(axes, floor)
            start, way = _arrows(floor)
            axes.quiver(
                *start.T, *way.T, angles="xy", scale_units="xy", scale=1.0, units="inches", width=0.045, headwidth=3.2,
                headlength=3.2, headaxislength=3.2, color=[colours[kind] for kind in kinds[name]], zorder=3,
            )  # fmt: skip
            for node, at in enumerate(floor.nodes):
                axes.plot(*at, "o", markersize=13, color="white", markeredgecolor="#222222", zorder=4)
                axes.text(*at, str(node), ha="center", va="center", fontsize=8, zorder=5)
            for end, node, down in (("start", floor.start, -15), ("goal", floor.goal, 9)):
                axes.annotate(
                    end, floor.nodes[node], (0, down), textcoords="offset points", ha="center", fontsize=8, zorder=5
                )
            axes.set(xticks=[], yticks=[])
            axes.grid(visible=False)
            axes.set_title(f"AntMaze-{name}", fontsize=10)
        for kind, colour in colours.items():
            row[-1].plot([], [], color=colour, linewidth=3, label=kind)
        row[-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9, title="edge")
        return save(drawing, path)


def _arrows(floor: Floor) -> tuple[Floats, Floats]:
    """Where the arrow of each edge begins, and how far it goes; the two directions of an edge are side by side."""
    tail, head = floor.nodes[floor.edges[:, 0]], floor.nodes[floor.edges[:, 1]]
    way = head - tail
    aside = np.stack([way[:, 1], -way[:, 0]], axis=1)
    both = {(int(b), int(a)) for a, b in floor.edges}
    paired = np.array([(int(a), int(b)) in both for a, b in floor.edges])
    return tail + 0.12 * way + 0.08 * aside * paired[:, None], 0.76 * way


@contextlib.contextmanager
def _grid(rows: Sequence[str], columns: Sequence[str], size: tuple[float, float]) -> Iterator[tuple[Any, Any, Any]]:
    """A figure with a panel for every row and column, and narrow panels for the colour scale of each row.

    Columns that do not fit beside each other stand below, with the same rows. Yields the figure, the panels, and the
    narrow panels of each row. Places are computed here, because matplotlib's own layout takes seconds for so many.
    """
    left, top, head, bar = 0.45, 0.3, 0.5, 0.62
    across = -(-len(columns) // -(-len(columns) // (3 if current().narrow else _MAPS)))
    blocks = -(-len(columns) // across)
    block = head + size[1] * len(rows)
    width, height = left + size[0] * across + bar, top + block * blocks + 0.08
    with figure(width, height) as (drawing, first):
        first.remove()
        drawing.set_layout_engine("none")
        drawing.set_size_inches(*((current().width or width) / width * side for side in (width, height)))
        panels = np.empty((len(rows), len(columns)), dtype=object)
        bars = np.empty((len(rows), blocks), dtype=object)
        for row, name in enumerate(rows):
            for column in range(len(columns)):
                down, right = divmod(column, across)
                bottom = (height - top - block * down - head - size[1] * (row + 1)) / height
                place = ((left + size[0] * right) / width, bottom, 0.95 * size[0] / width, 0.94 * size[1] / height)
                panels[row, column] = drawing.add_axes(place, xticks=[], yticks=[])
                panels[row, column].grid(visible=False)
                if right == 0:
                    panels[row, column].set_ylabel(name, fontsize=8)
                    at = ((left + size[0] * across + 0.05) / width, bottom, 0.1 / width, 0.94 * size[1] / height)
                    bars[row, down] = drawing.add_axes(at)
        for column, name in enumerate(columns):
            panels[0, column].set_title(name, fontsize=8, loc="center")
        yield drawing, panels, bars


def _scales(drawing: Any, picture: Any, bars: Any) -> None:
    """Draw the colour scale of a row of panels, once for each block."""
    for axes in bars:
        drawing.colorbar(picture, cax=axes)
        axes.tick_params(labelsize=7)


def _heads(names: Sequence[str], runs: Sequence[int]) -> list[str]:
    """The headings of the columns of a heatmap: the policy, in two lines if it is long, and its number of runs."""
    heads = []
    for name, count in zip(names, runs, strict=True):
        first, bracket, rest = name.partition(" (")
        words = f"{first}\n({rest}" if bracket else name.replace("constant ", "constant\n")
        many = f"{count} {'run' if count == 1 else 'runs'}"
        heads.append(f"{words}\n{many}")
    return heads


def _scale(counts: Floats) -> Any:
    """A logarithmic colour scale from the smallest positive count to the largest."""
    from matplotlib.colors import LogNorm

    positive = counts[counts > 0]
    low = float(positive.min()) if positive.size else 1.0
    return LogNorm(low, max(2.0 * low, float(counts.max(initial=0.0))))


def _colours() -> Any:
    """Yellow to dark red. The palest yellows are left out: on the colour of the floor they could not be seen."""
    import matplotlib as mpl
    from matplotlib.colors import ListedColormap

    return ListedColormap(mpl.colormaps["YlOrRd"](np.linspace(0.2, 1.0, 256)))


def _rows(marks: Sequence[int]) -> list[str]:
    return [f"to episode\n{mark:,}" for mark in marks]


def plot_positions(
    floor: Floor,
    counts: Mapping[str, Floats],
    runs: Mapping[str, int],
    marks: Sequence[int],
    heading: str,
    path: str | Path,
) -> list[Path]:
    """Write heatmaps of where the ant was: a column for each policy, a row for each episode of ``marks``.

    More than five policies stand in two blocks, one below the other.

    Parameters
    ----------
    floor
        The floor plan.
    counts
        For each policy the mean number of steps in each cell, of shape (marks, height, width).
    runs
        For each policy the number of runs in the mean.
    marks
        The episodes.
    heading
        The heading of the figure.
    path
        The file to write, as PNG and as SVG.
    """
    left, _, bottom, _ = floor.bounds
    high, wide = next(iter(counts.values())).shape[1:]
    size = (1.45, 1.45 * high / wide)
    heads = _heads([name_of(label) for label in counts], [runs[label] for label in counts])
    with _grid(_rows(marks), heads, size) as (drawing, panels, bars):
        for row in range(len(marks)):
            norm = _scale(np.stack([values[row] for values in counts.values()]))
            for axes, values in zip(panels[row], counts.values(), strict=True):
                draw_floor(axes, floor)
                picture = axes.imshow(
                    np.where(values[row] > 0, values[row], np.nan),
                    origin="lower",
                    extent=(left, left + floor.cell * wide, bottom, bottom + floor.cell * high),
                    cmap=_colours(),
                    norm=norm,
                    zorder=1,
                    interpolation="nearest",
                )
            _scales(drawing, picture, bars[row])
        return _finish(drawing, heading, path)


def plot_tries(
    floor: Floor,
    counts: Mapping[str, Floats],
    runs: Mapping[str, int],
    marks: Sequence[int],
    heading: str,
    path: str | Path,
) -> list[Path]:
    """Write maps of how often each edge was tried: a column for each policy, a row for each episode of ``marks``.

    ``counts`` has for each policy the mean number of tries, of shape (marks, edges). An arrow is an edge; the two
    directions of an edge are side by side.
    """
    start, way = _arrows(floor)
    size = (1.45, 1.45 * float((floor.bounds[3] - floor.bounds[2]) / (floor.bounds[1] - floor.bounds[0])))
    heads = _heads([name_of(label) for label in counts], [runs[label] for label in counts])
    with _grid(_rows(marks), heads, size) as (drawing, panels, bars):
        for row in range(len(marks)):
            norm = _scale(np.stack([values[row] for values in counts.values()]))
            for axes, values in zip(panels[row], counts.values(), strict=True):
                draw_floor(axes, floor)
                tried = values[row] > 0
                order = np.flatnonzero(tried)[np.argsort(values[row][tried])]
                picture = axes.quiver(
                    *start[order].T,
                    *way[order].T,
                    values[row][order],
                    angles="xy",
                    scale_units="xy",
                    scale=1.0,
                    units="xy",
                    width=0.75,
                    headwidth=2.6,
                    headlength=2.6,
                    headaxislength=2.6,
                    cmap=_colours(),
                    norm=norm,
                    zorder=3,
                )
                for node, colour in ((floor.start, "#009E73"), (floor.goal, "#0072B2")):
                    axes.plot(*floor.nodes[node], "o", markersize=4, color=colour, zorder=4)
            _scales(drawing, picture, bars[row])
        return _finish(drawing, heading, path)


def plot_paths(
    walkable: Bools,
    counts: Mapping[str, Floats],
    runs: Mapping[str, int],
    marks: Sequence[int],
    heading: str,
    path: str | Path,
) -> list[Path]:
    """Write heatmaps of how often each path was chosen, a cell a path; columns and rows as in `plot_positions`.

    ``counts`` has for each policy the mean number of episodes, of shape (marks, paths). ``walkable`` says which paths
    no wall blocks; these get a frame. Paths are drawn row by row from the top left, in the order given.
    """
    from matplotlib.patches import Rectangle

    n_paths = walkable.size
    wide = min(_COLUMNS, n_paths)
    high = -(-n_paths // wide)
    size = (1.45, max(0.6, 1.45 * high / wide))
    heads = _heads([name_of(label) for label in counts], [runs[label] for label in counts])
    with _grid(_rows(marks), heads, size) as (drawing, panels, bars):
        for row in range(len(marks)):
            norm = _scale(np.stack([values[row] for values in counts.values()]))
            for axes, values in zip(panels[row], counts.values(), strict=True):
                cells = np.full(high * wide, np.nan)
                cells[:n_paths] = np.where(values[row] > 0, values[row], np.nan)
                axes.set_facecolor(_FLOOR)
                picture = axes.imshow(
                    cells.reshape(high, wide), cmap=_colours(), norm=norm, aspect="auto", interpolation="nearest"
                )
                for place in np.flatnonzero(walkable):
                    down, across = divmod(int(place), wide)
                    box = Rectangle((across - 0.5, down - 0.5), 1, 1, fill=False, edgecolor="#0072B2", linewidth=0.9)
                    axes.add_patch(box)
            _scales(drawing, picture, bars[row])
        return _finish(drawing, heading, path)


def _finish(drawing: Any, heading: str, path: str | Path) -> list[Path]:
    """Write the heading of a grid of panels, smaller if it would not fit, and the figure."""
    size = min(10.0, _LETTERS * drawing.get_figwidth() * 10.0 / max(1, len(heading)))
    drawing.suptitle(heading, fontsize=size, x=0.01, y=0.995, ha="left", va="top")
    return save(drawing, path)


def plot_outcomes(tries: Ints, outcomes: Floats, labels: Sequence[str], heading: str, path: str | Path) -> list[Path]:
    """Write a figure of the mean outcome of each edge by the number of its tries.

    Parameters
    ----------
    tries
        The numbers of tries at the middle of the blocks over which outcomes are averaged.
    outcomes
        The mean outcome of each edge in each block, of shape (edges, blocks); NaN where an edge has too few tries.
    labels
        The names of the edges.
    heading
        The heading of the figure.
    path
        The file to write, as PNG and as SVG.
    """
    tried = [int(arm) for arm in np.flatnonzero(~np.isnan(outcomes).all(axis=1))]
    named = sorted(tried, key=lambda arm: -float(np.nanmax(outcomes[arm])))
    if len(named) > len(PALETTE):
        named = named[: len(PALETTE)]
    with figure(7.4, 3.8) as (drawing, axes):
        for arm in tried:
            if arm not in named:
                axes.plot(tries, outcomes[arm], color="#BBBBBB", linewidth=0.8, zorder=1)
        for place, arm in enumerate(named):
            axes.plot(tries, outcomes[arm], color=PALETTE[place], label=labels[arm].replace("->", "→"), zorder=2)
        others = f" ({len(tried) - len(named)} others in grey)" if len(tried) > len(named) else ""
        axes.legend(title=f"edge{others}", frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8)
        axes.set_xlabel("tries of the edge")
        axes.set_ylabel("outcome, 1 / steps or 0")
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        axes.set_title(heading, fontsize=10)
        return save(drawing, path)


def plot_training_regret(
    episodes: Ints,
    table: Mapping[str, Floats],
    partial: Mapping[str, Mapping[int, Floats]],
    heading: str,
    path: str | Path,
) -> list[Path]:
    """Write a figure of the regret of every policy, a panel each, all with one scale; the least regret comes first.

    A panel has the mean over seeds, a thin line for each seed, and from five seeds on a 99% t-interval. The means of
    the other policies over the same seeds are grey. Intervals of several policies in one panel would cover each other.
    Policies with fewer seeds come last, and their panels say how many.

    Parameters
    ----------
    episodes
        The episodes at which regret is given.
    table
        The regret of each policy with all seeds, a row per seed. The policy ``oracle``, whose regret is 0, has no
        panel.
    partial
        The regret of each policy with fewer seeds, by the row that the same seed has in ``table``.
    heading
        The heading of the figure.
    path
        The file to write, as PNG and as SVG.
    """
    regret = {label: rows for label, rows in table.items() if label != "oracle"}
    whole = list(regret)
    regret |= {label: np.stack(list(rows.values())) for label, rows in partial.items()}
    means = {label: rows.mean(axis=0) for label, rows in regret.items()}
    labels = sorted(means, key=lambda label: (label in partial, float(means[label][-1])))
    halves = {label: half_width(regret[label], 0.99) if len(regret[label]) >= _BAND else None for label in labels}
    styles = looks([*table, *partial])
    rows = max(1, -(-len(labels) // (2 if current().narrow else _ACROSS)))
    columns = max(1, -(-len(labels) // rows))
    with figure(0.6 + 2.35 * columns, 0.75 + 2.05 * rows) as (drawing, first):
        first.remove()
        panels = drawing.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        # A place without a panel keeps its room, so that all panels stay equally wide.
        for panel in panels.flat[len(labels) :]:
            panel.set_axis_off()
        for panel in panels.flat[max(0, len(labels) - columns) : len(labels)]:
            panel.tick_params(labelbottom=True)
        for axes, label in zip(panels.flat, labels, strict=False):
            colour, mean, half = styles[label].colour, means[label], halves[label]
            shared = list(partial[label]) if label in partial else slice(None)
            for other in whole:
                if other != label:
                    axes.plot(episodes, regret[other][shared].mean(axis=0), color="#CCCCCC", linewidth=0.8, zorder=1)
            if half is not None:
                axes.fill_between(episodes, mean - half, mean + half, color=colour, alpha=0.15, linewidth=0, zorder=2)
            axes.plot(episodes, regret[label].T, color=colour, linewidth=0.5, alpha=0.6, zorder=3)
            axes.plot(episodes, mean, color=colour, linewidth=2.0, zorder=4)
            axes.axhline(0.0, color="black", linestyle=":", linewidth=1.0, zorder=2)
            last = f"{mean[-1]:.2f}" + ("" if half is None else f" ± {half[-1]:.2f}")
            if label in partial:
                last += f" ({len(regret[label])} {'seed' if len(regret[label]) == 1 else 'seeds'} only)"
            axes.set_title(f"{name_of(label)}\n{last}", fontsize=8, loc="left", color=colour)
            axes.set_xlim(0, int(episodes[-1]))
            axes.tick_params(labelsize=7)
        drawing.supxlabel("episode", fontsize=9)
        drawing.supylabel("cumulative regret (1 / steps)", fontsize=9)
        drawing.suptitle(heading, fontsize=10, x=0.01, ha="left")
        return save(drawing, path)
