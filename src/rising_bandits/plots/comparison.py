"""A figure of mean ranks with their critical difference."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from rising_bandits.errors import InputError
from rising_bandits.experiments.comparison import Comparison
from rising_bandits.experiments.ranks import Ranks
from rising_bandits.plots.looks import looks
from rising_bandits.plots.names import title
from rising_bandits.plots.style import figure, save


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
    left = math.ceil(len(names) / 2)
    groups = ranks.cliques() if not math.isnan(ranks.critical) else []
    axes.set_axis_off()
    axes.plot([1, len(names)], [0, 0], color="#444444", linewidth=1)
    for tick in range(1, len(names) + 1):
        axes.plot([tick, tick], [0, 0.12], color="#444444", linewidth=1)
        axes.text(tick, 0.22, str(tick), ha="center", va="bottom")
    for number, group in enumerate(groups):
        height = -0.22 - 0.18 * number
        ends = (ranks.mean[group[0]] - 0.03, ranks.mean[group[-1]] + 0.03)
        axes.plot(ends, [height, height], color="#222222", linewidth=3.2, solid_capstyle="round")
    base = -0.3 - 0.18 * len(groups)
    for place, name in enumerate(names):
        first = place < left
        # The better half is named to the left, the best on top; the other half to the right.
        row = place if first else len(names) - 1 - place
        height, side = base - 0.42 * (row + 1), 1 - 0.12 if first else len(names) + 0.12
        rank, colour = ranks.mean[name], styles[name].colour
        axes.plot([rank, rank, side], [0, height, height], color=colour, linewidth=1.2)
        text = f"{title(name)}  {rank:.2f}" if first else f"{rank:.2f}  {title(name)}"
        axes.text(side + (-0.05 if first else 0.05), height, text, ha="right" if first else "left", va="center")
    if not math.isnan(ranks.critical):
        width = min(ranks.critical, len(names) - 1)
        axes.plot([1, 1 + width], [0.95, 0.95], color="#444444", linewidth=1)
        for end in (1, 1 + width):
            axes.plot([end, end], [0.87, 1.03], color="#444444", linewidth=1)
        axes.text(1 + width / 2, 1.05, f"critical difference {ranks.critical:.2f}", ha="center", va="bottom")
    axes.set_xlim(0.8, len(names) + 0.2)
    axes.set_ylim(base - 0.42 * (left + 1), 1.6)


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
    with figure(width, 1.5 + 0.26 * math.ceil(len(ranks.mean) / 2)) as (drawing, axes):
        draw_critical_difference(axes, ranks)
        axes.set_title(f"mean ranks of {comparison.measure} over {ranks.blocks} {ranks.of}s, 1 is least", fontsize=10)
        return save(drawing, path)
