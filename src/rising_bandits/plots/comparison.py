"""A figure of mean ranks with their critical difference."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from rising_bandits._text import figure_text
from rising_bandits.errors import InputError
from rising_bandits.experiments.comparison import Comparison
from rising_bandits.experiments.ranks import Ranks
from rising_bandits.plots.ends import broken
from rising_bandits.plots.looks import looks
from rising_bandits.plots.names import title
from rising_bandits.plots.style import current, figure, save

_ROW = 0.42
"""The height of a line of names, in the units of the figure."""
_LETTERS, _NARROW_LETTERS = 26, 16
"""How many letters a name has on a line, so that ranks keep their room; fewer in a narrow figure."""


def _shown(label: str) -> str:
    """The name of a policy; if it is long, its parameters begin a line of their own."""
    return broken(figure_text(title(label)), _NARROW_LETTERS if current().narrow else _LETTERS)


def draw_critical_difference(axes: Any, ranks: Ranks) -> None:
    """Draw mean ranks on a line, with bars over policies that Nemenyi's test does not tell apart.

    Parameters
    ----------
    axes
        The matplotlib axes to draw on.
    ranks
        The mean ranks, as `experiments.compare` finds them.
    """
    names = list(ranks.mean)
    styles = looks(names)
    narrow = current().narrow
    shown = {name: _shown(name) for name in names}
    groups = ranks.cliques() if not math.isnan(ranks.critical) else []
    axes.set_axis_off()
    axes.plot([1, len(names)], [0, 0], color="#444444", linewidth=1)
    step = math.ceil(len(names) / 6) if narrow else 1
    for tick in range(1, len(names) + 1):
        axes.plot([tick, tick], [0, 0.12], color="#444444", linewidth=1)
        if (len(names) - tick) % step == 0:
            axes.text(tick, 0.22, str(tick), ha="center", va="bottom")
    for number, group in enumerate(groups):
        height = -0.22 - 0.18 * number
        ends = (ranks.mean[group[0]] - 0.03, ranks.mean[group[-1]] + 0.03)
        axes.plot(ends, [height, height], color="#222222", linewidth=2.0 if narrow else 3.2, solid_capstyle="round")
    # The better half is named to the left, the best on top; the other half to the right.
    left = math.ceil(len(names) / 2)
    lowest = 0.0
    for half, first in ((names[:left], True), (names[: left - 1 : -1], False)):
        height = -0.3 - 0.18 * len(groups)
        side, towards = (1 - 0.12, "right") if first else (len(names) + 0.12, "left")
        for name in half:
            lines = shown[name].splitlines()
            height -= _ROW
            rank, colour = ranks.mean[name], styles[name].colour
            axes.plot([rank, rank, side], [0, height, height], color=colour, linewidth=1.2)
            lines[0] = f"{lines[0]}  {rank:.2f}" if first else f"{rank:.2f}  {lines[0]}"
            for place, line in enumerate(lines):
                axes.text(side + (-0.05 if first else 0.05), height - place * _ROW, line, ha=towards, va="center")
            height -= _ROW * (len(lines) - 1)
        lowest = min(lowest, height)
    if not math.isnan(ranks.critical):
        width = min(ranks.critical, len(names) - 1)
        axes.plot([1, 1 + width], [0.95, 0.95], color="#444444", linewidth=1)
        for end in (1, 1 + width):
            axes.plot([end, end], [0.87, 1.03], color="#444444", linewidth=1)
        axes.text(1 + width / 2, 1.05, f"critical difference {ranks.critical:.2f}", ha="center", va="bottom")
    axes.set_xlim(0.8, len(names) + 0.2)
    axes.set_ylim(lowest - _ROW, 1.6)


def plot_critical_difference(comparison: Comparison, path: str | Path, width: float = 7.2) -> list[Path]:
    """Write a figure of the mean ranks of a comparison with their critical difference.

    Parameters
    ----------
    comparison
        What `experiments.compare` returned.
    path
        The file to write; see `plots.style.save` for its suffix.
    width
        The width in inches.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    InputError
        There are no ranks: no task and seed has runs of all policies.
    """
    ranks = comparison.ranks
    if ranks is None:
        raise InputError("mean ranks need a task and a seed that have runs of all policies, but there is none")
    names = list(ranks.mean)
    half = math.ceil(len(names) / 2)
    lines = max(sum(_shown(name).count("\n") + 1 for name in side) for side in (names[:half], names[half:]))
    height = 1.5 + 0.26 * lines
    if current().narrow:
        # A theme sets the width and keeps the shape; letters are smaller, so lines need less.
        height = (1.1 + 0.15 * lines) * width / (current().width or width)
    with figure(width, height) as (drawing, axes):
        draw_critical_difference(axes, ranks)
        axes.set_title(f"mean ranks of {comparison.measure} over {ranks.blocks} {ranks.of}s, 1 is least", fontsize=10)
        return save(drawing, path)
