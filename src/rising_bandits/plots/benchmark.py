"""The benchmark in pictures: mean ranks, who is best where, and the paper's tasks against benign families."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rising_bandits.benchmark import FAMILIES, HORIZONS, NOISES
from rising_bandits.plots.style import figure, look, save, title


def draw_ranks(axes: Any, ranked: dict[str, Any]) -> None:
    """Draw the mean rank of every policy with its interval, best on top."""
    labels = list(ranked)
    for row, label in enumerate(labels):
        mean, half = ranked[label]
        style = look(label)
        axes.errorbar(mean, row, xerr=half or 0.0, fmt="o", color=style.colour, capsize=3, markersize=6)
    axes.set_yticks(range(len(labels)), [title(label) for label in labels])
    axes.invert_yaxis()
    axes.set_xlim(0.8, max(2.0, len(labels) + 0.2))
    axes.set_xlabel("mean rank over all instances (1 is best), with 95% interval")


def plot_ranks(data: dict[str, Any], path: Path) -> list[Path]:
    """Draw the ranks of a result of the benchmark and write them as PNG and SVG."""
    if not data["ranks"]:
        return []
    with figure(6.4, 1.2 + 0.38 * len(data["ranks"])) as (drawing, axes):
        draw_ranks(axes, data["ranks"])
        instances = sum(all(value is not None for value in row[6:]) for row in data["instances"])
        axes.set_title(f"{instances} instances that every policy ran on")
        return save(drawing, path)


def draw_frontier(axes: Any, points: dict[str, Any]) -> None:
    """Draw every policy by its two shares; down and to the left is better, and the frontier is joined."""
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
    axes.set_xlabel("regret on the paper's tasks (% of the optimum)")
    axes.set_ylabel("regret on benign families (% of the optimum)")
    _name_points(axes, points)


def _hue(label: str) -> str:
    """Variants of a policy share its colour; their numbers tell them apart."""
    return look(label.partition("(")[0]).colour


def _name_points(axes: Any, points: dict[str, Any]) -> None:
    """A list of the points beside the picture, by number, so that no label lies on another."""
    corners = ((5, 4), (5, -10), (-13, 4), (-13, -10))
    ordered = sorted(points, key=lambda label: points[label][1], reverse=True)
    for place, label in enumerate(ordered):
        paper, benign = points[label]
        axes.annotate(
            str(place + 1),
            (100 * paper, 100 * benign),
            corners[place % len(corners)],
            textcoords="offset points",
            fontsize=8,
            zorder=4,
        )
        axes.annotate(
            f"{place + 1}  {title(label)}",
            (1.02, 1.0 - place * min(0.07, 1.0 / len(ordered))),
            xycoords="axes fraction",
            fontsize=8,
            va="top",
            color=_hue(label),
        )


def plot_frontier(data: dict[str, Any], path: Path) -> list[Path]:
    """Draw the frontier of a result of the benchmark and write it as PNG and SVG."""
    with figure(8.4, 4.2) as (drawing, axes):
        draw_frontier(axes, data["frontier"])
        return save(drawing, path)


def best_where(data: dict[str, Any]) -> dict[tuple[str, int, str], dict[str, float]]:
    """The mean share of every policy by noise, horizon and family of the random instances."""
    cells: dict[tuple[str, int, str], dict[str, list[float]]] = {}
    for _, family, _, noise, horizon, _, *shares in data["instances"]:
        if family in FAMILIES:
            cell = cells.setdefault((noise, horizon, family), {})
            for policy, share in zip(data["policies"], shares, strict=True):
                if share is not None:
                    cell.setdefault(policy, []).append(share)
    return {place: {policy: float(np.mean(found)) for policy, found in cell.items()} for place, cell in cells.items()}


def draw_map(axes: Any, data: dict[str, Any], mine: str = "horizon-crucb") -> None:
    """Colour each noise, horizon and family by its best policy; write the best share, and that of ``mine`` below."""
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
            # A policy with parameters has a long name: they go below it.
            name = title(best).replace(" (", "\n(")
            axes.text(column, row - 0.17, name, ha="center", va="center", fontsize=7.5, color=colour, linespacing=1.0)
            text = f"{cell[best]:.1%}"
            if mine in cell and best != mine:
                text += f"  (ours {cell[mine]:.1%})"
            axes.text(column, row + 0.25, text, ha="center", va="center", fontsize=7.5, color="#333333")
    axes.set_xticks(range(len(families)), families)
    axes.set_yticks(range(len(rows)), [f"{noise}, T = {horizon:,}" for noise, horizon in rows])
    axes.set_xlim(-0.5, len(families) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(visible=False)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)


def _square(column: int, row: int, colour: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.47, row - 0.44), 0.94, 0.88, facecolor=colour, alpha=0.13, linewidth=0)


def plot_map(data: dict[str, Any], path: Path) -> list[Path]:
    """Draw who is best where and write it as PNG and SVG."""
    with figure(9.6, 1.0 + 0.52 * len({key[:2] for key in best_where(data)})) as (drawing, axes):
        draw_map(axes, data)
        for side in axes.spines.values():
            side.set_visible(False)
        return save(drawing, path)
