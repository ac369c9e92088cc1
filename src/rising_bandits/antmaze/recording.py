"""Outcome curves measured from trained runs, as the small file that the tasks ``antmaze-*`` replay.

For each edge and each number of its own tries, the chance of success and the mean outcome are averaged over all
runs that tried it so often, in blocks of at least `BLOCK` tries, so that no end rests on a few lucky ones. Both are
made non-decreasing by isotonic regression (weighted least squares under the order, by pooling adjacent violators) and
kept at few knots. An edge that is blocked by a wall stays at 0. A passable edge with fewer than `ENOUGH` tries in all
borrows the curve of all passable edges together, and the file says which did. A run of the policy ``tour`` tries
every edge that any path can try: it is on a path, and not behind a wall there.

What is kept is rested: the chance at the n-th try of an edge. In training an edge also gains from what the ant learns
on others, so a replay is easier to predict than training and not the same; it is for testing policies.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression

from rising_bandits._checks import Floats
from rising_bandits._files import replacing
from rising_bandits.antmaze.mazes import Maze
from rising_bandits.antmaze.runs import Result, check_alike
from rising_bandits.errors import InputError
from rising_bandits.problems.recorded import FORMAT

ENOUGH = 200
BLOCK = 50
KNOTS = 48


def _rising(tries: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Non-decreasing chance of success and mean outcome by number of tries, over several runs of one edge."""
    length = max(values.size for values in tries)
    count, success, total = np.zeros(length), np.zeros(length), np.zeros(length)
    for values in tries:
        count[: values.size] += 1
        success[: values.size] += values > 0
        total[: values.size] += values
    starts = _blocks(count)
    weight = np.add.reduceat(count, starts)
    centre = np.add.reduceat(count * np.arange(length), starts) / weight
    chance, mean = (
        np.interp(
            np.arange(length), centre, isotonic_regression(np.add.reduceat(sums, starts) / weight, weights=weight).x
        )
        for sums in (success, total)
    )
    # The order of rounding must not make a success bring more than is possible.
    return chance, np.minimum(mean, chance)


def _blocks(count: Floats) -> list[int]:
    """Where blocks of at least `BLOCK` tries begin; what is left at the end goes to the last one.

    >>> _blocks(np.full(120, 1.0)), _blocks(np.full(120, 25.0))[:3], _blocks(np.ones(3))
    ([0, 50], [0, 2, 4], [0])
    """
    starts, held = [0], 0.0
    for place, tries in enumerate(count):
        if held >= BLOCK:
            starts.append(place)
            held = 0.0
        held += tries
    return starts[:-1] if held < BLOCK and len(starts) > 1 else starts


def _knots(values: Floats) -> list[int]:
    """Few places between which the curve is taken as straight: from first to last, evenly spaced in the logarithm."""
    places = np.unique(np.geomspace(1, values.size, KNOTS).round().astype(int) - 1)
    return [int(place) for place in places]


def record(results: Sequence[Result]) -> dict[str, Any]:
    """The curves of one maze from its trained runs, as plain data."""
    check_alike(results)
    maze = results[0].maze
    tries = [[result.record.outcomes(arm)[1] for result in results] for arm in range(len(maze.edges))]
    tries = [[values for values in runs if values.size] for runs in tries]
    passable = [runs for runs, free in zip(tries, maze.passable, strict=True) if free]
    if not any(passable):
        raise InputError(f"runs must have tried a passable edge of maze {maze.name!r}, but none was tried")
    typical = _rising([values for runs in passable for values in runs])
    edges = []
    for label, runs, free in zip(maze.labels, tries, maze.passable, strict=True):
        seen = int(sum(values.size for values in runs))
        curve = typical if free and seen < ENOUGH else _rising(runs) if runs else (np.zeros(1), np.zeros(1))
        at = _knots(curve[0])
        edges.append(
            {
                "edge": label,
                "passable": free,
                "tries": seen,
                "borrowed": bool(free and seen < ENOUGH),
                "plays": at,
                "chance": [round(float(curve[0][n]), 5) for n in at],
                "mean": [round(float(curve[1][n]), 7) for n in at],
            }
        )
    return {
        "format": FORMAT,
        "maze": maze.name,
        "edges": edges,
        "arcs": [list(edge) for edge in maze.edges],
        "start": maze.start,
        "goal": maze.goal,
        "episodes": maze.episodes,
        "made": {
            "how": "rising antmaze record: isotonic regression of outcomes by tries, over trained runs",
            "least_tries_of_an_own_curve": ENOUGH,
            "least_tries_of_a_block": BLOCK,
            "most_knots": KNOTS,
            "runs": [{"policy": r.spec.label, "seed": r.spec.seed, "episodes": r.record.episodes} for r in results],
            "settings": results[0].spec.settings,
        },
    }


def check_walls(maze: Maze, results: Sequence[Result]) -> list[str]:
    """Blocked edges that some run nevertheless walked: there must be none."""
    return [
        label
        for arm, (label, free) in enumerate(zip(maze.labels, maze.passable, strict=True))
        if not free and any((result.record.outcomes(arm)[1] > 0).any() for result in results)
    ]


def write_recording(results: Sequence[Result], path: Path) -> dict[str, Any]:
    """Write the file of one maze and return what it holds."""
    data = record(results)
    if walked := check_walls(results[0].maze, results):
        raise InputError(
            f"edges {', '.join(walked)} are blocked by walls but were walked; these runs are not of this maze"
        )
    with replacing(path) as aside:
        aside.write_text(json.dumps(data, indent=None, separators=(",", ":")) + "\n", encoding="utf-8")
    return data
