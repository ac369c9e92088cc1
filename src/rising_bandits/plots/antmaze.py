"""Figures of trained AntMaze runs that need the runs themselves: how well the ant walks, and a walk from above."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rising_bandits.antmaze.drawing import draw_ant, draw_walls
from rising_bandits.plots.style import figure, figures, one_of_many, save
from rising_bandits.plots.trained import name_of

if TYPE_CHECKING:
    from rising_bandits._checks import Floats
    from rising_bandits.antmaze.drawing import Segment
    from rising_bandits.antmaze.record import Record
    from rising_bandits.antmaze.results import Result


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


def plot_learning(results: Sequence[Result], edges: Sequence[str], path: Path) -> list[Path]:
    """Write a figure of the success rates of the given edges by episode, one line per seed."""
    maze = results[0].maze
    with figures(4.6 * len(edges), 3.6, widths=[1.0] * len(edges)) as (drawing, row):
        for axes, edge in zip(row, edges, strict=True):
            arm = maze.labels.index(edge)
            for place, result in enumerate(results):
                share = success_by_episode(result.record, arm)
                axes.plot(np.arange(1, share.size + 1), share, label=f"seed {result.spec.seed}", **one_of_many(place))
            axes.axhline(0.5, color="#666666", linewidth=0.8, linestyle=":")
            axes.set_ylim(0, 1.02)
            axes.set_xlim(0, results[0].record.episodes)
            axes.set_xlabel("episode")
            axes.set_title(f"edge {edge.replace('->', '→')}")
        drawing.suptitle(
            f"AntMaze-{maze.name} (trained), {name_of(results[0].spec.label)}: success by episode", fontsize=10
        )
        row[0].set_ylabel("success within the last 100 episodes")
        row[-1].legend(frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5))
        return save(drawing, path)


def plot_walk(result: Result, poses: Sequence[Sequence[Segment]], path: Path) -> list[Path]:
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
