"""Figures of trained AntMaze runs: how well the ant walks, which paths the bandit chose, and where the ant was."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rising_bandits.antmaze.drawing import draw_ant, draw_walls
from rising_bandits.antmaze.record import CELL
from rising_bandits.antmaze.runs import POLICIES
from rising_bandits.experiments import Band
from rising_bandits.experiments.statistics import half_width
from rising_bandits.plots.regret import draw_ends
from rising_bandits.plots.style import PALETTE, figure, figures, looks, one_of_many, save, title

if TYPE_CHECKING:
    from rising_bandits._checks import Floats
    from rising_bandits.antmaze.drawing import Segment
    from rising_bandits.antmaze.mazes import Maze
    from rising_bandits.antmaze.record import Record
    from rising_bandits.antmaze.runs import Result

WINDOW = 50
"""How many tries of an edge are averaged in figures of outcomes."""


def trailing_mean(values: Floats, window: int = WINDOW) -> Floats:
    """At each position, the mean of that value and the ``window - 1`` values before it.

    The first positions have fewer values before them and average those.

    >>> trailing_mean(np.array([0.0, 1.0, 1.0]), window=2).tolist()
    [0.0, 0.5, 1.0]
    """
    sums = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.arange(1, values.size + 1)
    starts = np.maximum(ends - window, 0)
    return np.asarray((sums[ends] - sums[starts]) / (ends - starts))


def marks(record: Record) -> list[int]:
    """The episodes after which the record kept a copy of the position counts, in ascending order."""
    return sorted(record.pictures)


def draw_outcomes(axes: Any, result: Result) -> None:
    """Draw the averaged outcomes of each edge against its tries; only the most tried edges are named."""
    maze, record = result.maze, result.record
    tried = [(record.outcomes(arm)[1], label) for arm, label in enumerate(maze.labels)]
    tried = sorted(((values, label) for values, label in tried if values.size), key=lambda item: -item[0].size)
    for place, (values, label) in enumerate(tried):
        named = place < len(PALETTE)
        colour = PALETTE[place] if named else "#BBBBBB"
        line = trailing_mean(values)
        axes.plot(
            np.arange(1, values.size + 1),
            line,
            color=colour,
            linewidth=1.6 if named else 0.7,
            zorder=3 if named else 2,
            label=f"{label.replace('->', '→')}: {values.size:,}" if named else None,
        )
    # A legend beside the axes: names at the ends of the lines would overlap.
    others = f", and {len(tried) - len(PALETTE)} others" if len(tried) > len(PALETTE) else ""
    axes.legend(
        title=f"edge: tries{others}", frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8
    ).get_title().set_fontsize(8)
    axes.set_xlabel("tries of the edge")
    axes.set_ylabel(f"outcome, 1 / steps (mean of {WINDOW} tries)")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.set_title(_heading(result, "outcomes by tries"), fontsize=10)


def plot_outcomes(result: Result, path: Path) -> list[Path]:
    """Write a figure of the outcomes of each edge against its tries."""
    with figure(7.0, 4.0) as (drawing, axes):
        draw_outcomes(axes, result)
        return save(drawing, path)


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


def comparable(results: Sequence[Result]) -> list[Result]:
    """The runs whose regret can be compared.

    The regret of a run is measured against the run of the constant optimal path with the same seed and the same number
    of episodes, so both must be there. Only runs as long as the longest run of the constant optimal path are used.

    Results differ much between seeds. Therefore only those seeds are used that all of the paper's policies have which
    are among the results. If they have no seed in common, all seeds of the constant optimal path are used. Variants of
    a policy do not narrow this choice: they are compared on those of the chosen seeds that they have.
    """
    longest = max((r.record.episodes for r in results if r.spec.label == "oracle"), default=0)
    runs = [result for result in results if result.competes and result.record.episodes == longest]
    seeds: dict[str, set[int]] = {}
    for result in runs:
        seeds.setdefault(result.spec.label, set()).add(result.spec.seed)
    if not seeds:
        return []
    common = [mine & seeds["oracle"] for label, mine in seeds.items() if label in POLICIES]
    wanted = set.intersection(*common) or seeds["oracle"]
    return [result for result in runs if result.spec.seed in wanted]


def regrets(results: Sequence[Result]) -> dict[str, Floats]:
    """Cumulative regret of each policy, one row per seed, over the runs that `comparable` selects."""
    runs = comparable(results)
    earned = {(r.spec.label, r.spec.seed): np.cumsum(r.record.rewards()) for r in runs}
    out: dict[str, list[Floats]] = {}
    for (name, seed), total in earned.items():
        out.setdefault(name, []).append(earned["oracle", seed] - total)
    return {name: np.stack(rows) for name, rows in out.items()}


def plot_training_regret(results: Sequence[Result], path: Path) -> list[Path]:
    """Write a figure of the regret of every policy: a thick line for the mean, a thin line for each seed."""
    table = regrets(results)
    bands = {}
    for name, rows in sorted(table.items(), key=lambda item: -float(item[1][:, -1].mean())):
        half = np.nan_to_num(half_width(rows, 0.9))
        mean = rows.mean(axis=0)
        bands[name] = Band(np.arange(1, rows.shape[1] + 1), mean, mean - half, mean + half, len(rows))
    with figure(7.4, 4.4) as (drawing, axes):
        styles = looks(table)
        for name, rows in table.items():
            style = styles[name]
            x = np.arange(1, rows.shape[1] + 1)
            for row in rows:
                axes.plot(x, row, color=style.colour, linewidth=0.5, alpha=0.5)
            axes.plot(x, rows.mean(axis=0), color=style.colour, linestyle=style.line, linewidth=style.width)
        draw_ends(axes, bands, named=name_of)
        axes.set_xlabel("episode")
        axes.set_ylabel("cumulative regret (1 / steps)")
        seeds = max(band.runs for band in bands.values())
        axes.set_title(
            f"AntMaze-{results[0].maze.name} (trained): regret against the constant optimal path, "
            f"{seeds} {'seed' if seeds == 1 else 'seeds'}",
            fontsize=10,
        )
        return save(drawing, path)


def _tries_until(record: Record, episode: int, n_arms: int) -> Floats:
    """How often each edge was tried up to and including an episode."""
    arms = np.array(record.arm)[np.array(record.episode) <= episode]
    return np.bincount(arms, minlength=n_arms).astype(float)


def plot_positions(result: Result, path: Path) -> list[Path]:
    """Write heatmaps of where the ant was, one for each episode of `marks`."""
    from matplotlib.colors import LogNorm

    times = marks(result.record)
    box = result.maze.bounds
    with figures(_wide(times), 3.2, widths=[1.0] * len(times)) as (drawing, row):
        for axes, episode in zip(row, times, strict=True):
            counts = result.record.pictures[episode].astype(float)
            draw_walls(axes, result.maze)
            picture = axes.imshow(
                np.where(counts > 0, counts, np.nan),
                origin="lower",
                extent=(box.left, box.left + CELL * counts.shape[1], box.bottom, box.bottom + CELL * counts.shape[0]),
                cmap="YlOrRd",
                norm=LogNorm(1, max(2.0, counts.max())),
                zorder=1,
            )
            drawing.colorbar(picture, ax=axes, shrink=0.7)
            axes.set_title(f"steps up to episode {episode:,}", fontsize=9)
        drawing.suptitle(_heading(result, "where the ant was"), fontsize=10)
        return save(drawing, path)


def plot_edges(result: Result, path: Path) -> list[Path]:
    """Write drawings of the maze with the tries of each edge, one for each episode of `marks`."""
    times = marks(result.record)
    maze = result.maze
    with figures(_wide(times), 3.3, widths=[1.0] * len(times)) as (drawing, row):
        for axes, episode in zip(row, times, strict=True):
            draw_walls(axes, maze)
            draw_edges(axes, maze, _tries_until(result.record, episode, len(maze.edges)))
            axes.set_title(f"tries up to episode {episode:,}", fontsize=9)
        drawing.suptitle(_heading(result, "tries per edge"), fontsize=10)
        return save(drawing, path)


def draw_edges(axes: Any, maze: Maze, tries: Floats) -> None:
    """Draw each tried edge as an arrow whose width grows with its tries; opposite edges are drawn side by side."""
    both = {(head, tail) for tail, head in maze.edges}
    top = max(tries.max(), 1.0)
    for (tail, head), count in zip(maze.edges, tries, strict=True):
        if count == 0:
            continue
        (x, y), (u, v) = maze.nodes[tail], maze.nodes[head]
        length = float(np.hypot(u - x, v - y))
        aside = 0.45 if (tail, head) in both else 0.0
        dx, dy = aside * (v - y) / length, -aside * (u - x) / length
        axes.annotate(
            "",
            (u + dx - 0.12 * (u - x), v + dy - 0.12 * (v - y)),
            (x + dx + 0.12 * (u - x), y + dy + 0.12 * (v - y)),
            arrowprops={"arrowstyle": "-|>", "linewidth": 0.6 + 4.0 * count / top, "color": "#D55E00", "alpha": 0.85},
            zorder=4,
        )
        if len(maze.edges) <= 12 or count > 0.15 * top:
            middle = ((x + u) / 2 + 2.4 * dx, (y + v) / 2 + 2.4 * dy)
            axes.text(
                *middle,
                f"{count:,.0f}",
                fontsize=7,
                ha="center",
                va="center",
                zorder=5,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.85},
            )
    for node, (x, y) in enumerate(maze.nodes):
        role = "#009E73" if node == maze.start else "#0072B2" if node == maze.goal else "#FFFFFF"
        axes.plot([x], [y], "o", markersize=9, color=role, markeredgecolor="#444444", markeredgewidth=0.7, zorder=6)
        colour = "white" if node in (maze.start, maze.goal) else "#222222"
        axes.text(x, y, str(node), fontsize=6, ha="center", va="center", zorder=7, color=colour)


def plot_paths(result: Result, path: Path, limit: int = 8) -> list[Path]:
    """Write bar charts of how often each path was chosen, one for each episode of `marks`.

    The constant optimal path is on top, followed by the most chosen paths, ``limit`` paths in all.
    """
    maze, record = result.maze, result.record
    times = marks(record)
    best = tuple(maze.arms(maze.shortest))
    counts = {chosen: record.paths.count(chosen) for chosen in dict.fromkeys([best, *record.paths])}
    shown = sorted(counts, key=lambda chosen: (chosen != best, -counts[chosen]))[:limit]
    with figures(_wide(times), 0.9 + 0.32 * (len(shown) + 1), widths=[1.0] * len(times)) as (drawing, row):
        for axes, episode in zip(row, times, strict=True):
            early = record.paths[:episode]
            heights = [early.count(chosen) for chosen in shown]
            rest = len(early) - sum(heights)
            names = [_short_name(maze, chosen) for chosen in shown]
            others = len(counts) - len(shown)
            bars = [*heights, rest] if others else heights
            labels = [*names, f"{others} other paths"] if others else names
            colours = ["#D55E00" if chosen == best else "#888888" for chosen in shown] + ["#CCCCCC"]
            axes.barh(range(len(bars)), bars, color=colours[: len(bars)])
            axes.set_yticks(range(len(bars)), labels if axes is row[0] else [""] * len(bars), fontsize=7)
            axes.invert_yaxis()
            axes.set_xlabel("episodes")
            axes.set_title(f"up to episode {episode:,}", fontsize=9)
        drawing.suptitle(_heading(result, "tries per path (orange: constant optimal path)"), fontsize=10)
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


def _short_name(maze: Maze, arms: Sequence[int]) -> str:
    """The nodes of a path; a long path is shortened in the middle."""
    nodes = maze.path_name(arms)
    return nodes if len(nodes) < 24 else f"{nodes[:18]}…{nodes[-4:]} ({len(arms)})"


def _wide(times: Sequence[int]) -> float:
    """The width of a figure with one panel per time, wide enough for its heading."""
    return max(3.6 * len(times), 6.4)


def name_of(label: str) -> str:
    """The name of a policy in figures of training.

    The policy ``oracle`` is called the constant optimal path: its ant has to learn to walk as well, so it need not be
    the best policy.

    >>> name_of("oracle"), name_of("sw-ts")
    ('constant optimal path', 'SW-TS')
    """
    return "constant optimal path" if label == "oracle" else title(label)


def _heading(result: Result, what: str) -> str:
    """The heading of a figure of one run."""
    return f"AntMaze-{result.maze.name} (trained), {name_of(result.spec.label)}, seed {result.spec.seed}: {what}"
