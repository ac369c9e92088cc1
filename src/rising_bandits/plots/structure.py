"""Figures of a task: its arms as a graph with the late bloomers coloured, and its outcome curves."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from rising_bandits._text import figure_text
from rising_bandits.oracles import Assignments, KSubsets
from rising_bandits.plots.ends import End, name_ends
from rising_bandits.plots.looks import EARLY, LATE
from rising_bandits.plots.names import shortened
from rising_bandits.problems import ShortestPath, SpanningTree, Task

_ROW = 8
"""At most this many arms are drawn in one row; more are listed."""
_LETTERS = 6
"""Arms with longer labels are listed too."""
_ROWS = 14
"""The most arms in a list, and the most names beside curves."""
_TOP = 1.05
"""The upper end of an axis of outcomes."""
_MANY = 10_000
"""An axis that reaches this many plays counts in thousands."""
Point = tuple[float, float]
Lines = list[tuple[Any, Any]]


def layout(task: Task) -> tuple[dict[Any, Point], Lines] | None:
    """Positions of the nodes of a task and the two end nodes of each base arm; None if the task is not a graph.

    >>> from rising_bandits.problems import tasks
    >>> places, arms = layout(tasks.get("path-easy"))
    >>> places["0,2"], arms[0]
    ((2.0, 0.0), ('0,0', '0,1'))
    """
    problem = task.problem
    if isinstance(problem, ShortestPath):
        lines = list(problem.edges)
        grid = [re.fullmatch(r"(\d+),(\d+)", str(node)) for ends in lines for node in ends]
        if all(grid):
            return {match[0]: (float(match[2]), 0.0 - float(match[1])) for match in grid if match}, lines
        return _layered(lines, problem.source), lines
    if isinstance(problem, SpanningTree):
        nodes = list(dict.fromkeys(node for ends in problem.edges for node in ends))
        turn = 2 * math.pi / len(nodes)
        round_table = {node: (math.sin(turn * i), math.cos(turn * i)) for i, node in enumerate(nodes)}
        return round_table, list(problem.edges)
    if isinstance(problem.oracle, Assignments):
        workers, jobs = problem.oracle.n_workers, problem.oracle.n_jobs
        left = {("worker", i): (0.0, -(i + 0.5) / workers) for i in range(workers)}
        right = {("job", j): (1.0, -(j + 0.5) / jobs) for j in range(jobs)}
        pairs: Lines = [(("worker", i), ("job", j)) for i, j in problem.oracle.pairs]
        return {**left, **right}, pairs
    return None


def _layered(lines: Lines, source: Any) -> dict[Any, Point]:
    """Positions of nodes in columns by their distance in edges from the source."""
    depth = {source: 0}
    for _ in range(len(lines)):
        for tail, head in lines:
            if tail in depth:
                depth.setdefault(head, depth[tail] + 1)
    layers: dict[int, list[Any]] = {}
    for node in dict.fromkeys(node for ends in lines for node in ends):
        layers.setdefault(depth.get(node, 0), []).append(node)
    return {
        node: (float(column), (len(nodes) - 1) / 2 - row)
        for column, nodes in layers.items()
        for row, node in enumerate(nodes)
    }


def draw_structure(axes: Any, task: Task) -> None:
    """Draw the arms of a task: late bloomers thick and coloured, early peakers grey.

    Paths, spanning trees and matchings are drawn as graphs, other problems as a row of dots.

    Parameters
    ----------
    axes
        The matplotlib axes to draw on.
    task
        The task.
    """
    from matplotlib.patches import FancyArrowPatch

    late = set(task.late)
    axes.set_axis_off()
    drawn = layout(task)
    size = task.problem.n_arms
    if drawn is None and (size > _ROW or max(len(str(label)) for label in task.problem.labels) > _LETTERS):
        _list_arms(axes, task)
        return
    if drawn is None:
        axes.scatter(range(size), [0] * size, s=420, color=[LATE if arm in late else EARLY for arm in range(size)])
        for arm, label in enumerate(task.problem.labels):
            axes.text(arm, 0, figure_text(label), ha="center", va="center", color="white")
        if isinstance(task.problem.oracle, KSubsets):
            axes.text(-0.4, -0.6, f"any {task.problem.oracle.max_size} of {size}", va="center")
        axes.set_ylim(-1, 1)
        axes.set_xlim(-1, size)
        return
    places, lines = drawn
    directed = isinstance(task.problem, ShortestPath)
    seen: dict[tuple[Any, Any], int] = {}
    total: dict[tuple[Any, Any], int] = {}
    for ends in lines:
        total[ends] = total.get(ends, 0) + 1
    for arm, (tail, head) in enumerate(lines):
        copy = seen.get((tail, head), 0)
        seen[tail, head] = copy + 1
        # Parallel edges are bent to different sides.
        bend = 0.0 if total[tail, head] == 1 else 0.35 - 0.7 * copy / (total[tail, head] - 1)
        axes.add_patch(
            FancyArrowPatch(
                places[tail],
                places[head],
                arrowstyle="-|>" if directed else "-",
                mutation_scale=10,
                connectionstyle=f"arc3,rad={bend}",
                color=LATE if arm in late else EARLY,
                linewidth=2.4 if arm in late else 1.2,
                zorder=2 if arm in late else 1,
                shrinkA=5,
                shrinkB=5,
            )
        )
    points = np.array(list(places.values()))
    axes.scatter(points[:, 0], points[:, 1], s=55, color="white", edgecolor="#444444", zorder=3)
    if isinstance(task.problem, ShortestPath):
        for node, name, side in ((task.problem.source, "start", "right"), (task.problem.target, "goal", "left")):
            x, y = places[node]
            axes.annotate(
                name, (x, y), (-8 if side == "right" else 8, 0), textcoords="offset points", ha=side, va="center"
            )
    margin = 0.25 * max(1.0, float(np.ptp(points[:, 0])) / 3)
    axes.set_xlim(points[:, 0].min() - 1.6 * margin, points[:, 0].max() + 1.6 * margin)
    axes.set_ylim(points[:, 1].min() - margin, points[:, 1].max() + margin)
    axes.set_aspect("equal" if directed or isinstance(task.problem, SpanningTree) else "auto")


def _list_arms(axes: Any, task: Task) -> None:
    """List the arms of a task in rows, for more arms or longer names than fit beside each other."""
    late, labels = set(task.late), [str(label) for label in task.problem.labels]
    shown = labels if len(labels) <= _ROWS else labels[: _ROWS - 1]
    for arm, label in enumerate(map(figure_text, shortened(shown, 24))):
        colour = LATE if arm in late else EARLY
        axes.scatter([0.0], [-arm], s=55, color=colour)
        axes.text(0.06, -arm, label, va="center", color=colour if arm in late else "#666666", fontsize=8)
    if len(shown) < len(labels):
        axes.text(0.06, -len(shown), f"and {len(labels) - len(shown)} more", va="center", color="#666666", fontsize=9)
    rows = min(len(labels), _ROWS)
    if isinstance(task.problem.oracle, KSubsets):
        axes.text(-0.03, -rows, f"any {task.problem.oracle.max_size} of {len(labels)}", va="center")
    axes.set_ylim(-rows - 0.8, 0.8)
    axes.set_xlim(-0.08, 1.0)


def draw_curves(axes: Any, task: Task) -> None:
    """Draw the outcome curves of a task and name them; arms with equal curves share a line.

    Parameters
    ----------
    axes
        The matplotlib axes to draw on.
    task
        The task.
    """
    late = set(task.late)
    distinct = dict.fromkeys(task.curves)
    settled = [curve.settled or 0 for curve in distinct if (curve.settled or 0) < task.horizon / 2]
    # Twice the plays after which the curves stay constant; the whole horizon if none does so within half of it.
    last = max(1, min(task.horizon - 1, 2 * (max(settled, default=0) or task.horizon)))
    per = 1e3 if last >= _MANY else 1.0
    plays = np.unique(np.linspace(0, last, 400).astype(np.int64))
    ends: dict[str, tuple[float, bool]] = {}
    for curve in distinct:
        arms = [arm for arm in range(task.problem.n_arms) if task.curves[arm] == curve]
        rising = arms[0] in late
        axes.plot(plays / per, curve(plays), color=LATE if rising else EARLY, linewidth=2.4 if rising else 1.6)
        kind = "late bloomers" if rising else "early peakers"
        ends[kind if len(distinct) == 2 else str(task.problem.labels[arms[0]])] = (float(curve(last)), rising)
    axes.set_xlim(0, last / per)
    axes.set_ylim(0, _TOP)
    axes.set_xlabel("plays of the arm" if per == 1.0 else "plays of the arm (thousands)")
    axes.set_ylabel("mean outcome")
    _name_curves(axes, ends, last / per)


def _name_curves(axes: Any, ends: dict[str, tuple[float, bool]], last: float) -> None:
    """Name the curves: one or two above and below their ends, more to the right of the axes."""
    ends = dict(sorted(ends.items(), key=lambda item: -item[1][0]))
    if len(ends) > _ROWS:
        # There is no room for all names.
        step = -(-len(ends) // _ROWS)
        ends = {name: end for place, (name, end) in enumerate(ends.items()) if place % step == 0}
    if len(ends) > 2:
        names = shortened(list(ends), 18)
        named = [
            End(figure_text(name), end, LATE if late else "#666666")
            for name, (end, late) in zip(names, ends.values(), strict=True)
        ]
        name_ends(axes, named, 0.0, _TOP, size=8.0)
        return
    for name, (end, rising) in ends.items():
        shift, side, colour = (4, "bottom", LATE) if rising else (-4, "top", "#666666")
        axes.annotate(
            figure_text(name), (last, end), (0, shift), textcoords="offset points", ha="right", va=side, color=colour
        )
