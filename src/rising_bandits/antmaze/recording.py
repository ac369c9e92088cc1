"""Measure outcome curves from trained runs and write them to the file that the tasks ``antmaze-*`` replay.

For each edge, the chance of success and the mean outcome are measured as functions of the number of its tries. They are
averaged over all runs, in blocks of at least `BLOCK` tries, so that no value depends on a few lucky tries. Both curves
are then made non-decreasing by isotonic regression and kept at up to `KNOTS` knots. An edge that a wall blocks stays at
0. A passable edge with fewer than `ENOUGH` tries in all runs together gets the curve of all passable edges pooled; the
file marks it as borrowed. A run of the policy ``tour`` tries every edge that an ant can reach.

A replay is rested: the chance of success of an edge depends only on the number of its own tries. In training an edge
also gains from what the ant learns on other edges. So a replay differs from training and is easier to predict. It
serves to test policies.
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
from rising_bandits.antmaze.maze import Maze
from rising_bandits.antmaze.results import Result, check_alike
from rising_bandits.errors import InputError
from rising_bandits.problems.recorded import FORMAT

ENOUGH = 200
"""The least number of tries for which an edge gets a curve of its own."""
BLOCK = 50
"""The least number of tries in a block."""
KNOTS = 48
"""The largest number of knots of a curve."""


def _rising(tries: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Non-decreasing curves of success chance and mean outcome by number of tries, from the outcomes of some runs."""
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
    # An outcome is at most 1, so the mean cannot exceed the chance; rounding errors must not break this.
    return chance, np.minimum(mean, chance)


def _blocks(count: Floats) -> list[int]:
    """Where blocks of at least `BLOCK` tries begin; the last block takes the tries that are left over.

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
    """The positions of the knots of a curve, from first to last, evenly spaced on a logarithmic scale."""
    places = np.unique(np.geomspace(1, values.size, KNOTS).round().astype(int) - 1)
    return [int(place) for place in places]


def record(results: Sequence[Result]) -> dict[str, Any]:
    """The recording of a maze from trained runs, as plain data."""
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
    """The edges that a run walked although walls block them; there should be none."""
    return [
        label
        for arm, (label, free) in enumerate(zip(maze.labels, maze.passable, strict=True))
        if not free and any((result.record.outcomes(arm)[1] > 0).any() for result in results)
    ]


def write_recording(results: Sequence[Result], path: str | Path) -> dict[str, Any]:
    """Write the recording of a maze to a JSON file and return its content.

    Parameters
    ----------
    results
        Finished runs on one maze with the same settings.
    path
        The file to write.

    Raises
    ------
    InputError
        The runs do not fit together, no passable edge was tried, or an edge was walked that walls block.
    """
    data = record(results)
    if walked := check_walls(results[0].maze, results):
        raise InputError(
            f"edges {', '.join(walked)} are blocked by walls but were walked; these runs are not of this maze"
        )
    with replacing(Path(path)) as aside:
        aside.write_text(json.dumps(data, indent=None, separators=(",", ":")) + "\n", encoding="utf-8")
    return data
