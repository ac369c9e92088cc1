"""Figures of the benchmark: mean ranks, the best policy by setting, and a plot of two kinds of regret."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import numpy as np

from rising_bandits.benchmark import FAMILIES, HORIZONS, NOISES
from rising_bandits.plots.ends import placed, shares
from rising_bandits.plots.looks import look, looks
from rising_bandits.plots.names import title
from rising_bandits.plots.style import figure, save
from rising_bandits.policies import recommended
from rising_bandits.problems import TopK


def draw_ranks(axes: Any, ranked: dict[str, Any]) -> None:
    """Draw the mean rank of every policy with its 95% interval, the best on top.

    Parameters
    ----------
    axes
        The matplotlib axes to draw on.
    ranked
        For each policy its mean rank and half the width of the interval, best policy first, as `benchmark.ranks`
        returns them.
    """
    from matplotlib.ticker import MultipleLocator

    labels = list(ranked)
    styles = looks(labels)
    for row, label in enumerate(labels):
        mean, half = ranked[label]
        style = styles[label]
        axes.errorbar(mean, row, xerr=half or 0.0, fmt="o", color=style.colour, capsize=3, markersize=6)
    axes.set_yticks(range(len(labels)), [title(label) for label in labels])
    axes.invert_yaxis()
    # An interval may reach beyond the first and the last rank.
    ends = [mean + side * (half or 0.0) for mean, half in ranked.values() for side in (-1, 1)]
    axes.set_xlim(min(1.0, *ends) - 0.2, max(2.0, len(labels), *ends) + 0.2)
    axes.xaxis.set_major_locator(MultipleLocator(1 if len(labels) <= 12 else 2))
    axes.set_xlabel("mean rank over all instances (1 is best), with 95% interval")


def plot_ranks(data: dict[str, Any], path: str | Path) -> list[Path]:
    """Write a figure of the mean ranks as PNG and SVG.

    Parameters
    ----------
    data
        A result of the benchmark, as `benchmark.as_data` returns it.
    path
        The file to write; its suffix is replaced by ``.png`` and by ``.svg``.

    Returns
    -------
    list of Path
        The PNG file and the SVG file; empty, and nothing is written, if no instance was run by every policy.
    """
    if not data["ranks"]:
        return []
    with figure(6.4, 1.2 + 0.38 * len(data["ranks"])) as (drawing, axes):
        draw_ranks(axes, data["ranks"])
        instances = sum(all(value is not None for value in row[6:]) for row in data["instances"])
        axes.set_title(f"{instances} instances that every policy ran on")
        return save(drawing, path)


def draw_frontier(
    axes: Any, points: dict[str, Any], across: str = "the paper's tasks", up: str = "random curves except late"
) -> None:
    """Draw each policy as a point: its regret on one kind of instances against its regret on another kind.

    Lower left is better. A dotted line joins the policies that no other policy beats on both axes.

    Parameters
    ----------
    axes
        The matplotlib axes to draw on.
    points
        For each policy its mean regret on both kinds, as shares of the optimum, as `benchmark.frontier` returns them.
    across, up
        What the two kinds of instances are called.
    """
    for label, (paper, benign) in points.items():
        axes.scatter(100 * paper, 100 * benign, color=_hue(label), s=36, zorder=3)
    best = float("inf")
    corner = []
    for paper, benign in sorted(tuple(pair) for pair in points.values()):
        if benign < best:
            best = benign
            corner.append((100 * paper, 100 * benign))
    axes.plot(*zip(*corner, strict=True), color="#999999", linewidth=1.0, linestyle=":", zorder=1)
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for axis, scale in ((axes.xaxis, axes.set_xscale), (axes.yaxis, axes.set_yscale)):
        scale("log")
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    axes.margins(0.12)
    axes.set_xlabel(f"regret on {across} (% of the optimum)")
    axes.set_ylabel(f"regret on {up} (% of the optimum)")
    _name_points(axes, points)


def _hue(label: str) -> str:
    """The colour of a policy; variants of a policy share it."""
    return look(label.partition("(")[0]).colour


def _name_points(axes: Any, points: dict[str, Any]) -> None:
    """Write the name of each point beside it where there is room, else beside the axes with a line to the point."""
    from matplotlib.transforms import Bbox

    ordered = sorted(points, key=lambda label: points[label][1], reverse=True)
    at = {label: tuple(100 * share for share in points[label]) for label in ordered}
    # First all names stand beside the axes. Once they have taken their room, places are known in pixels.
    low, high = axes.get_ylim()
    gap = min(0.06, 0.98 / max(1, len(ordered)))
    column = _column(axes, ordered, at, low, high, gap)
    axes.figure.draw_without_rendering()
    dots = axes.transData.transform([at[label] for label in ordered])
    taken = [Bbox.from_extents(x - 5, y - 5, x + 5, y + 5) for x, y in dots]
    inside = axes.get_window_extent()
    left = []
    for place, label in enumerate(ordered):
        for side, shift in (("left", 7), ("right", -7)):
            style = {"fontsize": 8, "color": _hue(label), "ha": side, "va": "center"}
            name = axes.annotate(title(label), at[label], (shift, 0), textcoords="offset points", zorder=4, **style)
            box = name.get_window_extent()
            others = [other for number, other in enumerate(taken) if number != place]
            if inside.containsx(box.x0) and inside.containsx(box.x1) and not box.count_overlaps(others):
                taken.append(box)
                break
            name.remove()
        else:
            left.append(label)
    for text in column:
        text.remove()
    _column(axes, left, at, low, high, gap)


def _column(axes: Any, names: list[str], at: dict[str, Any], low: float, high: float, gap: float) -> list[Any]:
    """Write names beside the axes, from the highest point to the lowest, each joined to its point by a line."""
    heights = placed(shares([at[label][1] for label in names], low, high, log=True), gap)
    written = []
    for label, height in zip(names, heights, strict=True):
        line = {"arrowstyle": "-", "color": _hue(label), "linewidth": 0.7, "shrinkA": 1, "shrinkB": 3}
        written.append(
            axes.annotate(
                title(label),
                at[label],
                (1.03, height),
                textcoords="axes fraction",
                fontsize=8,
                va="center",
                color=_hue(label),
                arrowprops={**line, "relpos": (0.0, 0.5)},
            )
        )
    return written


def plot_frontier(
    data: dict[str, Any], path: str | Path, across: str = "the paper's tasks", up: str = "random curves except late"
) -> list[Path]:
    """Write the figure that `draw_frontier` draws as PNG and SVG.

    Parameters
    ----------
    data
        A result of the benchmark, as `benchmark.as_data` returns it. Its ``frontier`` must not be empty.
    path
        The file to write; its suffix is replaced by ``.png`` and by ``.svg``.
    across, up
        What the two kinds of instances are called.

    Returns
    -------
    list of Path
        The PNG file and the SVG file.
    """
    with figure(8.4, 4.2) as (drawing, axes):
        draw_frontier(axes, data["frontier"], across, up)
        return save(drawing, path)


def best_where(data: dict[str, Any]) -> dict[tuple[str, int, str], dict[str, float]]:
    """The mean regret of policies on the random instances, as a share of the optimum, by (noise, horizon, family)."""
    cells: dict[tuple[str, int, str], dict[str, list[float]]] = {}
    for _, family, _, noise, horizon, _, *lost in data["instances"]:
        if family in FAMILIES:
            cell = cells.setdefault((noise, horizon, family), {})
            for policy, share in zip(data["policies"], lost, strict=True):
                if share is not None:
                    cell.setdefault(policy, []).append(share)
    return {place: {policy: float(np.mean(found)) for policy, found in cell.items()} for place, cell in cells.items()}


def draw_map(axes: Any, data: dict[str, Any], mine: str | None = None) -> None:
    """Draw a table of the random instances that shows which policy is best in which setting.

    Each cell is one combination of noise, horizon and family. It has the colour and the name of the policy with the
    smallest mean regret, and that regret as a share of the optimum.

    Parameters
    ----------
    axes
        The matplotlib axes to draw on.
    data
        A result of the benchmark, as `benchmark.as_data` returns it.
    mine
        The policy whose regret is added to the cells in which another policy is best; by default the recommended one.
    """
    mine = recommended(TopK(2, k=1)).name if mine is None else mine
    found = best_where(data)
    rows = [
        (noise, horizon)
        for noise in NOISES
        for horizon in HORIZONS
        if any(key[:2] == (noise, horizon) for key in found)
    ]
    families = [family for family in FAMILIES if any(key[2] == family for key in found)]
    for row, (noise, horizon) in enumerate(rows):
        for column, family in enumerate(families):
            cell = found.get((noise, horizon, family))
            if not cell:
                continue
            best = min(cell, key=lambda policy: cell[policy])
            colour = look(best).colour
            axes.add_patch(_square(column, row, colour))
            # Parameters go on a line of their own, and so does the rest of a long name.
            name = "\n".join(textwrap.fill(part, 16) for part in title(best).replace(" (", "\n(").splitlines())
            beside = mine in cell and best != mine
            text = f"{name}\n{cell[best]:.1%}"
            middle = row - 0.13 if beside else row
            axes.text(column, middle, text, ha="center", va="center", fontsize=8, color="#222222", linespacing=1.1)
            if beside:
                words = f"{title(mine)} {cell[mine]:.1%}"
                axes.text(column, row + 0.29, words, ha="center", va="center", fontsize=7, color="#555555")
    axes.set_xticks(range(len(families)), families)
    axes.set_yticks(range(len(rows)), [f"{_noise(noise)}, {horizon:,} rounds" for noise, horizon in rows])
    axes.set_xlim(-0.5, len(families) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(visible=False)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)


def _noise(name: str) -> str:
    """A noise model in words.

    >>> _noise("gaussian-0.1"), _noise("bernoulli")
    ('noise 0.1', 'outcomes 0 or 1')
    """
    kind, _, deviation = name.partition("-")
    return {"gaussian": f"noise {deviation}", "bernoulli": "outcomes 0 or 1"}.get(kind, name)


def _square(column: int, row: int, colour: str) -> Any:
    """The coloured background of a cell."""
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.47, row - 0.44), 0.94, 0.88, facecolor=colour, alpha=0.28, linewidth=0)


def plot_map(data: dict[str, Any], path: str | Path) -> list[Path]:
    """Write the figure that `draw_map` draws as PNG and SVG.

    Parameters
    ----------
    data
        A result of the benchmark, as `benchmark.as_data` returns it.
    path
        The file to write; its suffix is replaced by ``.png`` and by ``.svg``.

    Returns
    -------
    list of Path
        The PNG file and the SVG file.
    """
    with figure(9.6, 1.0 + 0.6 * len({key[:2] for key in best_where(data)})) as (drawing, axes):
        draw_map(axes, data)
        for side in axes.spines.values():
            side.set_visible(False)
        return save(drawing, path)
