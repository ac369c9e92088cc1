"""Figures of tasks, runs, benchmark results, diagnoses and studies.

Functions named ``draw_...`` draw on matplotlib axes that the caller provides. Functions named ``plot_...`` make a whole
figure and write it as PNG and SVG. Within `theme` they have another width, dark colours or other formats. Figures need
the extra ``lab``; figures of studies need the extra ``studies`` too.
"""

from importlib import import_module
from typing import Any

from rising_bandits.plots.animation import animate_run
from rising_bandits.plots.benchmark import draw_frontier, draw_map, draw_ranks, plot_frontier, plot_map, plot_ranks
from rising_bandits.plots.comparison import draw_critical_difference, plot_critical_difference
from rising_bandits.plots.diagnosis import draw_diagnosis, plot_diagnosis
from rising_bandits.plots.identification import draw_identification, plot_identification
from rising_bandits.plots.looks import look
from rising_bandits.plots.names import title
from rising_bandits.plots.overview import plot_overview
from rising_bandits.plots.recorded import plot_recording
from rising_bandits.plots.regret import draw_regret, plot_regret, regret_bands
from rising_bandits.plots.structure import draw_curves, draw_structure
from rising_bandits.plots.style import theme

__all__ = [
    "animate_run",
    "draw_critical_difference",
    "draw_curves",
    "draw_diagnosis",
    "draw_frontier",
    "draw_identification",
    "draw_map",
    "draw_ranks",
    "draw_regret",
    "draw_structure",
    "look",
    "plot_critical_difference",
    "plot_diagnosis",
    "plot_frontier",
    "plot_identification",
    "plot_map",
    "plot_overview",
    "plot_ranks",
    "plot_recording",
    "plot_regret",
    "regret_bands",
    "theme",
    "title",
]

_STUDIES = ("draw_explanation", "plot_explanation", "plot_study")


def __getattr__(name: str) -> Any:
    # Imported on demand: only the figures of studies need the extra "studies".
    if name in _STUDIES:
        return getattr(import_module("rising_bandits.plots.studies"), name)
    raise AttributeError(f"module 'rising_bandits.plots' has no attribute {name!r}")
