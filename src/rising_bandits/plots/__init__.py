"""Pictures: data first, then drawing."""

from rising_bandits.plots.benchmark import draw_frontier, draw_map, draw_ranks, plot_frontier, plot_map, plot_ranks
from rising_bandits.plots.diagnosis import draw_diagnosis, plot_diagnosis
from rising_bandits.plots.overview import plot_overview
from rising_bandits.plots.regret import draw_regret, plot_regret, regret_bands
from rising_bandits.plots.structure import draw_curves, draw_structure
from rising_bandits.plots.style import look, title

__all__ = [
    "draw_curves",
    "draw_diagnosis",
    "draw_frontier",
    "draw_map",
    "draw_ranks",
    "draw_regret",
    "draw_structure",
    "look",
    "plot_diagnosis",
    "plot_frontier",
    "plot_map",
    "plot_overview",
    "plot_ranks",
    "plot_regret",
    "regret_bands",
    "title",
]
