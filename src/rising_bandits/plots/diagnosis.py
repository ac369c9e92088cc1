"""Figures of a diagnosis of logged outcomes: one panel per arm, with the verdicts in its title."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np

from rising_bandits._checks import Floats
from rising_bandits._text import figure_text, shown_text
from rising_bandits.plots.looks import EARLY, LATE
from rising_bandits.plots.style import current, figures, save
from rising_bandits.theory.diagnosis import ArmDiagnosis, Diagnosis

MOST_PANELS = 12
"""How many arms are drawn at most; the others are named below the figure."""
MOST_DOTS = 500
"""How many outcomes of an arm are drawn as dots at most."""


def running_mean(outcomes: Floats, width: int) -> Floats:
    """At each position, the mean of the outcome and up to ``width`` neighbours on either side.

    >>> running_mean(np.array([0.0, 1.0, 0.5, 0.5]), width=1).round(2).tolist()
    [0.5, 0.5, 0.67, 0.5]
    """
    sums = np.concatenate([[0.0], np.cumsum(outcomes)])
    places = np.arange(outcomes.size)
    # Equal numbers of neighbours on both sides do not shift a trend; a least number keeps the ends from jumping.
    reach = np.clip(np.minimum(places, places[::-1]), max(1, width // 3), width)
    low, high = np.maximum(places - reach, 0), np.minimum(places + reach + 1, outcomes.size)
    return np.asarray((sums[high] - sums[low]) / (high - low))


def _name(label: Hashable, width: int) -> str:
    """A label cut to ``width`` letters, drawn as it is."""
    return figure_text(textwrap.shorten(shown_text(label), width, placeholder="...")) or repr(label)


def _verdicts(found: ArmDiagnosis) -> str:
    """The verdicts on an arm, always three lines, so that all panels of a row have the same height."""
    if found.missing_plays:
        return f"too few plays:\n{found.missing_plays} more are needed\n "
    answers = {"rising": found.rising, "concave": found.concave, "plateaued": found.plateaued}
    return "\n".join(f"{question}: {finding.verdict}" for question, finding in answers.items())


def draw_diagnosis(axes: Any, diagnosis: Diagnosis, arm: Hashable) -> None:
    """Draw the outcomes of one arm as dots, with their running mean as a line.

    The line is thick and coloured if the arm was found to rise.

    Parameters
    ----------
    axes
        The matplotlib axes to draw on.
    diagnosis
        What `theory.diagnose` returned.
    arm
        The label of the arm.
    """
    from matplotlib.ticker import MaxNLocator

    found = diagnosis.arm(arm)
    shown = np.unique(np.linspace(0, found.n_plays - 1, MOST_DOTS).astype(np.int64))
    rises = found.rising.verdict == "yes"
    dot = 5 if found.n_plays > 200 else 12
    axes.scatter(found.plays[shown], found.outcomes[shown], s=dot, color=EARLY, alpha=0.5, linewidth=0)
    if not found.missing_plays:
        mean = running_mean(found.outcomes, width=max(2, found.n_plays // 25))
        axes.plot(found.plays, mean, color=LATE if rises else "#444444", linewidth=2.2 if rises else 1.4)
    axes.set_title(_verdicts(found), fontsize=8.5, color="#555555", pad=5, linespacing=1.3)
    above = {"xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate(_name(arm, 28), (0, 1), (0, 43), **above, fontsize=10, fontweight="bold")
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))
    axes.set_xlabel("play")
    axes.set_ylabel("outcome")


def plot_diagnosis(diagnosis: Diagnosis, path: str | Path) -> list[Path]:
    """Write a figure with one panel for each of the first twelve arms as PNG and SVG.

    The other arms are named below the panels.

    Parameters
    ----------
    diagnosis
        What `theory.diagnose` returned.
    path
        The file to write; its suffix is replaced by ``.png`` and by ``.svg``.

    Returns
    -------
    list of Path
        The PNG file and the SVG file.
    """
    drawn, others = diagnosis.arms[:MOST_PANELS], diagnosis.arms[MOST_PANELS:]
    # Three panels stand side by side, more in a square.
    columns = min(2 if current().narrow else 4, max(3, math.ceil(math.sqrt(len(drawn)))), len(drawn))
    rows = math.ceil(len(drawn) / columns)
    width = max(4.2, 2.7 * columns)
    with figures(width, max(3.8, 2.6 * rows + 0.7)) as (drawing, _):
        drawing.clear()
        drawing.get_layout_engine().set(h_pad=0.09)
        grid = drawing.subplots(rows, columns, sharey=True, squeeze=False).ravel()
        for axes, found in zip(grid, drawn, strict=False):
            draw_diagnosis(axes, diagnosis, found.label)
            axes.set(xlabel="", ylabel="")
            axes.set_axisbelow(True)
        for axes in grid[len(drawn) :]:
            axes.set_axis_off()
        letters = int(14 * width)
        names = textwrap.shorten(", ".join(_name(found.label, 28) for found in others), letters, placeholder=" ...")
        drawing.supylabel("outcome", fontsize=10)
        drawing.supxlabel(f"play\nnot drawn: {names}" if others else "play", fontsize=10)
        key = f"Verdicts at {100 * diagnosis.level:g}%. Line: running mean, coloured where the arm rises."
        drawing.suptitle(textwrap.fill(key, letters), fontsize=9, color="#555555", x=0.01, ha="left")
        return save(drawing, path)
