"""Figures of best super arm identification: error probability and simple regret by budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rising_bandits.plots.looks import looks
from rising_bandits.plots.names import title
from rising_bandits.plots.style import figures, save
from rising_bandits.simulation.identification import ErrorRate

_ASIDE = 1.055
"""Points of one budget are drawn side by side. Each is drawn at the budget of the one before, times this factor."""
Rates = Mapping[str, Sequence[tuple[int, ErrorRate]]]
"""For each policy, by label: its budgets, each with what was measured at that budget."""


def draw_identification(axes: Any, rates: Rates, what: str = "probability") -> None:
    """Draw the error probability or the simple regret of every policy by budget.

    Parameters
    ----------
    axes
        Matplotlib axes.
    rates
        For each policy, by label: its budgets, each with what was measured at that budget.
    what
        ``"probability"`` for the error probability with its interval, or ``"simple_regret"``.
    """
    styles = looks(rates)
    for place, (label, points) in enumerate(rates.items()):
        style = styles[label]
        # Points of one budget stand side by side, so that none hides another.
        budgets = np.array([budget for budget, _ in points]) * _ASIDE ** (place - (len(rates) - 1) / 2)
        values = np.array([getattr(rate, what) for _, rate in points])
        if what == "probability":
            ends = [values - [rate.low for _, rate in points], [rate.high for _, rate in points] - values]
            axes.errorbar(budgets, values, yerr=np.maximum(ends, 0.0), fmt="none", ecolor=style.colour, elinewidth=1.1)
        axes.plot(
            budgets,
            values,
            marker="o",
            markersize=4,
            linewidth=1.2,
            color=style.colour,
            linestyle=style.line,
            alpha=0.95,
        )
    axes.set_xscale("log")
    every = sorted({budget for points in rates.values() for budget, _ in points})
    axes.set_xticks(every, [f"{budget:,}" for budget in every])
    axes.minorticks_off()
    axes.set_xlabel("budget: rounds before the choice")
    axes.set_ylabel("error probability, with 95% intervals" if what == "probability" else "simple regret")
    # A little room on both sides, so that marks at 0 and at 1 are whole.
    most = 1.0 if what == "probability" else axes.get_ylim()[1]
    axes.set_ylim(-0.03 * most, 1.04 * most)


def draw_names(axes: Any, rates: Rates, what: str = "simple_regret") -> None:
    """Write the name of each policy beside the axes, in the order of the lines at the smallest budget."""
    styles = looks(rates)
    order = sorted(rates, key=lambda label: -float(getattr(rates[label][0][1], what)))
    for place, label in enumerate(order):
        style = styles[label]
        height = 0.97 - 0.085 * place
        axes.plot(
            [1.03, 1.09],
            [height] * 2,
            color=style.colour,
            linestyle=style.line,
            transform=axes.transAxes,
            clip_on=False,
        )
        axes.text(1.11, height, title(label), color=style.colour, va="center", fontsize=9, transform=axes.transAxes)


def plot_identification(rates: Rates, path: str | Path) -> list[Path]:
    """Draw the error probability and the simple regret of policies on one task, side by side.

    Parameters
    ----------
    rates
        What `draw_identification` takes.
    path
        The file; its suffix is replaced by those of PNG and SVG.

    Returns
    -------
    list of Path
        The files.
    """
    with figures(11.0, 3.8, [1.0, 1.0]) as (drawing, axes):
        for one, what in zip(axes, ("probability", "simple_regret"), strict=True):
            draw_identification(one, rates, what)
        draw_names(axes[-1], rates)
        return save(drawing, path)
