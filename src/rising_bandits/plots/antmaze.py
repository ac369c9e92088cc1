"""Figures of trained AntMaze runs that need the runs themselves: how well the ant walks, and a walk from above."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rising_bandits.antmaze.drawing import draw_ant, draw_walls
from rising_bandits.plots.style import figure, figures, save
from rising_bandits.plots.trained import name_of

if TYPE_CHECKING:
    from rising_bandits._checks import Floats
    from rising_bandits.antmaze.drawing import Segment
    from rising_bandits.antmaze.record import Record
    from rising_bandits.antmaze.results import Result


_SEED, _MEDIAN, _LOW = "#9DB8CC", "#0072B2", "#D55E00"


def success_by_episode(record: Record, arm: int, window: int = 100) -> Floats:
    """For each episode, the success rate of an edge over the last ``window`` episodes; NaN where it was not tried."""
    episodes, outcomes = record.outcomes(arm)
    tries, good = np.zeros(record.episodes + 1), np.zeros(record.episodes + 1)
    np.add.at(tries, episodes, 1.0)
    np.add.at(good, episodes, outcomes > 0)
    tries, good = np.cumsum(tries), np.cumsum(good)
    ends = np.arange(1, record.episodes + 1)
    starts = np.maximum(ends - window, 0)
    count = tries[ends] - tries[starts]
    share = np.full(record.episodes, np.nan)
    np.divide(good[ends] - good[starts], count, out=share, where=count > 0)
    return share


def plot_learning(results: Sequence[Result], edges: Sequence[str], path: str | Path) -> list[Path]:
    """Write a figure of the success rates of the given edges by episode.

    A panel has a thin line for each seed and a thick line for their median. A seed that ends below one half on some
    edge is named on all.
    """
    from matplotlib.ticker import MaxNLocator

    maze = results[0].maze
    every = [
        np.array([success_by_episode(result.record, maze.labels.index(edge)) for result in results]) for edge in edges
    ]
    weak = np.any([shares[:, -1] < 0.5 for shares in every], axis=0)
    with figures(4.2 * len(edges), 3.4, widths=[1.0] * len(edges)) as (drawing, row):
        for axes, edge, shares in zip(row, edges, every, strict=True):
            episodes = np.arange(1, shares.shape[1] + 1)
            for result, share, low in zip(results, shares, weak, strict=True):
                axes.plot(episodes, share, color=_LOW if low else _SEED, linewidth=1.2 if low else 0.8)
                late = share[-episodes.size // 3 :]
                # An edge that was not tried in the last third of a run has no line there to be named.
                if low and not np.isnan(late).all():
                    # The text stands on white above its line, near the end.
                    place = int(0.98 * episodes.size)
                    height = float(np.nanmax(late)) + 0.02
                    words = f"seed {result.spec.seed}"
                    axes.text(place, height, words, color=_LOW, ha="right", va="bottom", fontsize=9)
            tried = ~np.isnan(shares).all(axis=0)
            axes.plot(episodes[tried], np.nanmedian(shares[:, tried], axis=0), color=_MEDIAN, linewidth=2.4)
            axes.set_ylim(0, 1.02)
            axes.set_xlim(0, episodes[-1])
            axes.xaxis.set_major_locator(MaxNLocator(4))
            axes.set_xlabel("episode")
            axes.set_title(f"edge {edge.replace('->', '→')}")
        words = (
            f"AntMaze-{maze.name} (trained), {name_of(results[0].spec.label)}: {len(results)} seeds and their median"
        )
        drawing.suptitle(words, fontsize=10, x=0.01, ha="left")
        row[0].set_ylabel("success within the last 100 episodes")
        return save(drawing, path)


def plot_walk(result: Result, poses: Sequence[Sequence[Segment]], path: str | Path) -> list[Path]:
    """Write a drawing of the ant's walk seen from above; later poses are more opaque."""
    box = result.maze.bounds
    wide = 7.0
    with figure(wide, 0.6 + wide * (box.top - box.bottom) / (box.right - box.left)) as (drawing, axes):
        draw_walls(axes, result.maze)
        for place, pose in enumerate(poses):
            draw_ant(axes, pose, alpha=0.25 + 0.75 * (place + 1) / len(poses))
        for node, (x, y) in enumerate(result.maze.nodes):
            axes.text(x, y, str(node), fontsize=8, color="#0072B2", ha="center", va="center", zorder=1)
        axes.set_title(_heading(result, "last walk"), fontsize=10)
        return save(drawing, path)


def _heading(result: Result, what: str) -> str:
    """The heading of a figure of one run."""
    return f"AntMaze-{result.maze.name} (trained), {name_of(result.spec.label)}, seed {result.spec.seed}: {what}"
