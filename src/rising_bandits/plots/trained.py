"""Figures of trained AntMaze runs that need nothing but numbers: outcomes of edges, and regret of policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits.experiments.statistics import half_width
from rising_bandits.plots.looks import PALETTE, looks
from rising_bandits.plots.names import title
from rising_bandits.plots.style import current, figure, save

_ACROSS = 4
"""How many panels a figure of regret has in a row at most."""
_BAND = 5
"""From how many seeds on an interval is drawn."""


def name_of(label: str) -> str:
    """The name of a policy in figures of training.

    The policy ``oracle`` is called the constant optimal path: its ant has to learn to walk as well, so it need not be
    the best policy. CRUCB in the authors' program and by the printed formula are told apart.

    >>> name_of("oracle"), name_of("sw-ts"), name_of("crucb")
    ('constant optimal path', 'SW-TS', 'CRUCB (printed formula)')
    """
    if label == "oracle":
        return "constant optimal path"
    return "CRUCB (printed formula)" if label == "crucb" else title(label)


def plot_outcomes(tries: Ints, outcomes: Floats, labels: Sequence[str], heading: str, path: str | Path) -> list[Path]:
    """Write a figure of the mean outcome of each edge by the number of its tries.

    Parameters
    ----------
    tries
        The numbers of tries at the middle of the blocks over which outcomes are averaged.
    outcomes
        The mean outcome of each edge in each block, of shape (edges, blocks); NaN where an edge has too few tries.
    labels
        The names of the edges.
    heading
        The heading of the figure.
    path
        The file to write, as PNG and as SVG.
    """
    tried = [int(arm) for arm in np.flatnonzero(~np.isnan(outcomes).all(axis=1))]
    named = sorted(tried, key=lambda arm: -float(np.nanmax(outcomes[arm])))
    if len(named) > len(PALETTE):
        named = named[: len(PALETTE)]
    with figure(7.4, 3.8) as (drawing, axes):
        for arm in tried:
            if arm not in named:
                axes.plot(tries, outcomes[arm], color="#BBBBBB", linewidth=0.8, zorder=1)
        for place, arm in enumerate(named):
            axes.plot(tries, outcomes[arm], color=PALETTE[place], label=labels[arm].replace("->", "→"), zorder=2)
        others = f" ({len(tried) - len(named)} others in grey)" if len(tried) > len(named) else ""
        if named:
            axes.legend(title=f"edge{others}", frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8)
        else:
            axes.text(0.5, 0.5, "no edge was tried often enough", ha="center", transform=axes.transAxes)
        axes.set_xlabel("tries of the edge")
        axes.set_ylabel("outcome, 1 / steps or 0")
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        axes.set_title(heading, fontsize=10)
        return save(drawing, path)


def plot_training_regret(
    episodes: Ints,
    table: Mapping[str, Floats],
    partial: Mapping[str, Mapping[int, Floats]],
    heading: str,
    path: str | Path,
) -> list[Path]:
    """Write a figure of the regret of every policy, a panel each, all with one scale; the least regret comes first.

    A panel has the mean over seeds, a thin line for each seed, and from five seeds on a 99% t-interval. The means of
    the other policies over the same seeds are grey. Intervals of several policies in one panel would cover each other.
    Policies with fewer seeds come last, and their panels say how many.

    Parameters
    ----------
    episodes
        The episodes at which regret is given.
    table
        The regret of each policy with all seeds, a row per seed. The policy ``oracle``, whose regret is 0, has no
        panel.
    partial
        The regret of each policy with fewer seeds, by the row that the same seed has in ``table``.
    heading
        The heading of the figure.
    path
        The file to write, as PNG and as SVG.
    """
    regret = {label: rows for label, rows in table.items() if label != "oracle"}
    whole = list(regret)
    regret |= {label: np.stack(list(rows.values())) for label, rows in partial.items()}
    means = {label: rows.mean(axis=0) for label, rows in regret.items()}
    labels = sorted(means, key=lambda label: (label in partial, float(means[label][-1])))
    halves = {label: half_width(regret[label], 0.99) if len(regret[label]) >= _BAND else None for label in labels}
    styles = looks([*table, *partial])
    rows = max(1, -(-len(labels) // (2 if current().narrow else _ACROSS)))
    columns = max(1, -(-len(labels) // rows))
    with figure(0.6 + 2.35 * columns, 0.75 + 2.05 * rows) as (drawing, first):
        first.remove()
        panels = drawing.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        # A place without a panel keeps its room, so that all panels stay equally wide.
        for panel in panels.flat[len(labels) :]:
            panel.set_axis_off()
        for panel in panels.flat[max(0, len(labels) - columns) : len(labels)]:
            panel.tick_params(labelbottom=True)
        for axes, label in zip(panels.flat, labels, strict=False):
            colour, mean, half = styles[label].colour, means[label], halves[label]
            shared = list(partial[label]) if label in partial else slice(None)
            for other in whole:
                if other != label:
                    axes.plot(episodes, regret[other][shared].mean(axis=0), color="#CCCCCC", linewidth=0.8, zorder=1)
            if half is not None:
                axes.fill_between(episodes, mean - half, mean + half, color=colour, alpha=0.15, linewidth=0, zorder=2)
            axes.plot(episodes, regret[label].T, color=colour, linewidth=0.5, alpha=0.6, zorder=3)
            axes.plot(episodes, mean, color=colour, linewidth=2.0, zorder=4)
            axes.axhline(0.0, color="black", linestyle=":", linewidth=1.0, zorder=2)
            last = f"{mean[-1]:.2f}" + ("" if half is None else f" ± {half[-1]:.2f}")
            if label in partial:
                last += f" ({len(regret[label])} {'seed' if len(regret[label]) == 1 else 'seeds'} only)"
            axes.set_title(f"{name_of(label)}\n{last}", fontsize=8, loc="left", color=colour)
            axes.set_xlim(0, int(episodes[-1]))
            axes.tick_params(labelsize=7)
        drawing.supxlabel("episode", fontsize=9)
        drawing.supylabel("cumulative regret (1 / steps)", fontsize=9)
        drawing.suptitle(heading, fontsize=10, x=0.01, ha="left")
        return save(drawing, path)
