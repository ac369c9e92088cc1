"""Pictures: data first, then drawing."""

from rising_bandits.plots.regret import draw_regret, plot_regret, regret_bands
from rising_bandits.plots.style import look, title

__all__ = ["draw_regret", "look", "plot_regret", "regret_bands", "title"]
