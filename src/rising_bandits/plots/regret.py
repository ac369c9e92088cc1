"""Regret against rounds: every policy of a comparison, mean and 99% band over seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rising_bandits.experiments import Band, StoredRun, band, group, make_task
from rising_bandits.plots.style import figure, look, looks, save, spread, title

_THOUSANDS = 1e3
_MANY = 10_000
"""From here on an axis counts in thousands."""


def regret_heading(task: str) -> str:
    """What the figure is of; a task that replays measured curves says so.

    >>> regret_heading("path-easy")
    'path-easy'
    """
    made = make_task(task)
    return f"{made.name} (replayed)" if made.recorded else task


def regret_bands(runs: Sequence[StoredRun], task: str) -> dict[str, Band]:
    """The data of the figure: a band for each policy on the task, highest final regret first."""
    bands = {label: band(members) for (name, label), members in group(runs).items() if name == task}
    return dict(sorted(bands.items(), key=lambda item: -float(item[1].mean[-1])))


def draw_regret(axes: Any, bands: dict[str, Band], heading: str) -> None:
    """Draw the bands with a label at the end of each line."""
    top = max(float(curve.high.max()) for curve in bands.values())
    bottom = min(0.0, *(float(curve.low.min()) for curve in bands.values()))
    last = max(float(curve.rounds[-1]) for curve in bands.values())
    across, up = (_THOUSANDS if far >= _MANY else 1.0 for far in (last, max(top, -bottom)))
    styles = looks(bands)
    for label, curve in bands.items():
        style = styles[label]
        x = np.concatenate([[0], curve.rounds]) / across
        mean, low, high = (np.concatenate([[0.0], part]) / up for part in (curve.mean, curve.low, curve.high))
        axes.fill_between(x, low, high, color=style.colour, alpha=0.18, linewidth=0)
        axes.plot(x, mean, color=style.colour, linestyle=style.line, linewidth=style.width)
    draw_ends(axes, bands, across=across, up=up)
    runs = next(iter(bands.values())).runs
    # A comparison in which nobody has any regret still needs an axis.
    axes.set_ylim(1.05 * bottom / up, 1.05 * max(top, bottom + 1e-9) / up)
    axes.set_xlabel("round (thousands)" if across > 1.0 else "round")
    axes.set_ylabel("cumulative expected regret (thousands)" if up > 1.0 else "cumulative expected regret")
    seeds = "one seed" if runs == 1 else f"mean and 99% t-interval over {runs} seeds"
    axes.set_title(f"{heading}: {seeds}")


def draw_ends(
    axes: Any,
    bands: dict[str, Band],
    *,
    across: float = 1.0,
    up: float = 1.0,
    named: Callable[[str], str] = title,
) -> None:
    """Write the name of each policy at the end of its line, in the units of the axes; bands come highest first."""
    top = max(float(curve.high.max()) for curve in bands.values())
    bottom = min(0.0, *(float(curve.low.min()) for curve in bands.values()))
    ends = [float(curve.mean[-1]) / up for curve in bands.values()]
    gap = 0.062 * (top - bottom) / up
    heights = spread(ends, gap=gap)
    for place, height in enumerate(heights):
        # Not above the axes, where the title is.
        heights[place] = min(height, 1.04 * top / up if place == 0 else heights[place - 1] - gap)
    last = max(float(curve.rounds[-1]) for curve in bands.values()) / across
    styles = looks(bands)
    for label, end, height in zip(bands, ends, heights, strict=True):
        style = styles[label]
        # A thin leader ties a label that had to move to the line it belongs to.
        axes.plot(
            [last, 1.02 * last, 1.04 * last],
            [end, height, height],
            color=style.colour,
            linewidth=0.8,
            linestyle=style.line if style.line != ":" else "-",
            clip_on=False,
        )
        weight = "bold" if style == look("crucb") else "normal"
        axes.text(1.05 * last, height, named(label), color=style.colour, va="center", fontweight=weight)
    axes.set_xlim(0, last)


def plot_regret(runs: Sequence[StoredRun], task: str, path: Path) -> list[Path]:
    """Draw the regret of every policy on a task and write it as PNG and SVG."""
    with figure() as (drawing, axes):
        draw_regret(axes, regret_bands(runs, task), regret_heading(task))
        return save(drawing, path)
