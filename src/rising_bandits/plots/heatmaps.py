"""Heatmaps of trained AntMaze runs: where the ant was, and which edges and paths it tried, for every policy."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rising_bandits._checks import Bools, Floats
from rising_bandits.plots.floors import GROUND, Floor, arrows, draw_floor
from rising_bandits.plots.style import current, figure, save
from rising_bandits.plots.trained import name_of

_MAPS = 5
"""How many heatmaps stand side by side at most; more would be too small on a page."""
_LETTERS = 13.0
"""How many letters of a heading fit on an inch in size 10."""
_COLUMNS = 18
"""How many paths a heatmap of paths has in a row."""


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
                    beside = min(across, len(columns) - across * down)
                    at = ((left + size[0] * beside + 0.05) / width, bottom, 0.1 / width, 0.94 * size[1] / height)
                    bars[row, down] = drawing.add_axes(at)
        for column, name in enumerate(columns):
            panels[0, column].set_title(name, fontsize=8, loc="center")
        yield drawing, panels, bars


def _scales(drawing: Any, picture: Any, bars: Any) -> None:
    """Draw the colour scale of a row of panels, once for each block."""
    for axes in bars:
        drawing.colorbar(picture, cax=axes)
        axes.grid(visible=False)
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


def _maps(
    counts: Mapping[str, Floats],
    runs: Mapping[str, int],
    marks: Sequence[int],
    size: tuple[float, float],
    draw: Callable[[Any, Floats, Any], Any],
    heading: str,
    path: str | Path,
) -> list[Path]:
    """Write heatmaps: a column for each policy and a row for each episode of ``marks``, all of a row in one scale.

    ``draw`` is called with the axes, the counts and the colour scale of a panel, and returns what it has coloured.
    """
    heads = _heads([name_of(label) for label in counts], [runs[label] for label in counts])
    with _grid([f"to episode\n{mark:,}" for mark in marks], heads, size) as (drawing, panels, bars):
        for row in range(len(marks)):
            norm = _scale(np.stack([values[row] for values in counts.values()]))
            for axes, values in zip(panels[row], counts.values(), strict=True):
                picture = draw(axes, values[row], norm)
            _scales(drawing, picture, bars[row])
        # A heading that would not fit is smaller.
        letters = min(10.0, _LETTERS * drawing.get_figwidth() * 10.0 / max(1, len(heading)))
        drawing.suptitle(heading, fontsize=letters, x=0.01, y=0.995, ha="left", va="top")
        return save(drawing, path)


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

    def draw(axes: Any, steps: Floats, norm: Any) -> Any:
        draw_floor(axes, floor)
        return axes.imshow(
            np.where(steps > 0, steps, np.nan),
            origin="lower",
            extent=(left, left + floor.cell * wide, bottom, bottom + floor.cell * high),
            cmap=_colours(),
            norm=norm,
            zorder=1,
            interpolation="nearest",
        )

    return _maps(counts, runs, marks, size, draw, heading, path)


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
    start, way = arrows(floor)
    size = (1.45, 1.45 * float((floor.bounds[3] - floor.bounds[2]) / (floor.bounds[1] - floor.bounds[0])))

    def draw(axes: Any, tries: Floats, norm: Any) -> Any:
        draw_floor(axes, floor)
        tried = tries > 0
        order = np.flatnonzero(tried)[np.argsort(tries[tried])]
        for node, colour in ((floor.start, "#009E73"), (floor.goal, "#0072B2")):
            axes.plot(*floor.nodes[node], "o", markersize=4, color=colour, zorder=4)
        return axes.quiver(
            *start[order].T,
            *way[order].T,
            tries[order],
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

    return _maps(counts, runs, marks, size, draw, heading, path)


def plot_paths(
    walkable: Bools,
    counts: Mapping[str, Floats],
    runs: Mapping[str, int],
    marks: Sequence[int],
    heading: str,
    path: str | Path,
) -> list[Path]:
    """Write heatmaps of how often each path was chosen, with one cell for each path.

    Columns and rows are those of `plot_positions`.

    ``counts`` has for each policy the mean number of episodes, of shape (marks, paths). ``walkable`` says which paths
    no wall blocks; these get a frame. Paths are drawn row by row from the top left, in the order given.
    """
    from matplotlib.patches import Rectangle

    n_paths = walkable.size
    wide = min(_COLUMNS, n_paths)
    high = -(-n_paths // wide)
    size = (1.45, max(0.6, 1.45 * high / wide))

    def draw(axes: Any, chosen: Floats, norm: Any) -> Any:
        cells = np.full(high * wide, np.nan)
        cells[:n_paths] = np.where(chosen > 0, chosen, np.nan)
        axes.set_facecolor(GROUND)
        for place in np.flatnonzero(walkable):
            down, across = divmod(int(place), wide)
            box = Rectangle((across - 0.5, down - 0.5), 1, 1, fill=False, edgecolor="#0072B2", linewidth=0.9)
            axes.add_patch(box)
        return axes.imshow(
            cells.reshape(high, wide), cmap=_colours(), norm=norm, aspect="auto", interpolation="nearest"
        )

    return _maps(counts, runs, marks, size, draw, heading, path)
