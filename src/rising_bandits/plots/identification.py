"""Figures of best super arm identification: error probability and simple regret by budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rising_bandits.plots.style import figures, one_of_many, save, title
from rising_bandits.simulation.identification import ErrorRate

Rates = Mapping[str, Sequence[tuple[int, ErrorRate]]]
"""For each policy, by label, its budgets with what was measured there."""


def draw_identification(axes: Any, rates: Rates, what: str = "probability") -> None:
    """Draw a measure of every policy by budget.

    Parameters
    ----------
    axes
        Matplotlib axes.
    rates
        For each policy, by label, its budgets with what was measured there.
    what
        ``"probability"`` for the error probability with its interval, or ``"simple_regret"``.
    """
    for place, (label, points) in enumerate(rates.items()):
        look = one_of_many(place)
        budgets = [budget for budget, _ in points]
        values = [getattr(rate, what) for _, rate in points]
        if what == "probability":
            low, high = [rate.low for _, rate in points], [rate.high for _, rate in points]
            axes.fill_between(budgets, low, high, color=look["color"], alpha=0.1, linewidth=0)
        axes.plot(budgets, values, marker="o", markersize=3.5, linewidth=1.7, label=title(label), **look)
    axes.set_xscale("log")
    axes.set_xlabel("budget T, rounds")
    axes.set_ylabel("error probability" if what == "probability" else "simple regret")
    axes.set_ylim(bottom=0.0)


def plot_identification(rates: Rates, path: Path | str) -> list[Path]:
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
        axes[-1].legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=9)
        return save(drawing, Path(path))
