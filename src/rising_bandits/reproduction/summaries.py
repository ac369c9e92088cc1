"""Summaries of trained AntMaze runs: what reports need of many result files, counted once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits.plots.floors import Floor
from rising_bandits.reproduction.trained import LAST, Trained, TrainedRun

if TYPE_CHECKING:
    from rising_bandits.antmaze.results import Result

_POINTS = 300
"""At how many episodes the regret is kept."""
_BLOCK = 25
"""How many tries of an edge are averaged in the figure of outcomes."""


def walks_from(result: Result, tries: int = 50) -> int | None:
    """The first episode at which half of the last ``tries`` tries of the optimal path's first edge had succeeded.

    None if there is no such episode.
    """
    episodes, outcomes = result.record.outcomes(result.maze.arms(result.maze.shortest)[0])
    good = np.convolve(outcomes > 0, np.ones(tries, dtype=int), "valid") if outcomes.size >= tries else np.zeros(0)
    reached = np.flatnonzero(good >= 0.5 * tries)
    return int(episodes[reached[0] + tries - 1]) if reached.size else None


def _paths(result: Result) -> tuple[tuple[int, ...], ...]:
    """All paths of a maze: the constant optimal one, then by walls and by length."""
    maze = result.maze
    oracle = maze.problem.oracle
    found = [tuple(int(arm) for arm in oracle.ordered(arms)) for arms in oracle.super_arms()]
    best = tuple(maze.arms(maze.shortest))
    blocked = {path: not all(maze.passable[arm] for arm in path) for path in found}
    return tuple(sorted(found, key=lambda path: (path != best, blocked[path], len(path), path)))


def _floor(result: Result) -> Floor:
    from rising_bandits.antmaze.record import CELL

    maze = result.maze
    return Floor(
        np.array(maze.walls, dtype=float).reshape(-1, 4),
        np.array(maze.bounds, dtype=float),
        np.array(maze.nodes, dtype=float),
        np.array(maze.edges, dtype=np.int64),
        maze.start,
        maze.goal,
        CELL,
    )


def _run(result: Result, paths: Sequence[tuple[int, ...]], marks: Sequence[int], episodes: Ints) -> TrainedRun:
    """The numbers of one run."""
    record = result.record
    rewards = record.rewards()
    number = {path: place for place, path in enumerate(paths)}
    chosen = np.array([number[path] for path in record.paths])
    arms, when = np.array(record.arm, dtype=np.int64), np.array(record.episode, dtype=np.int64)
    return TrainedRun(
        result.spec.label,
        result.spec.seed,
        result.seconds / 60.0,
        np.cumsum(rewards)[episodes - 1],
        float((rewards[-LAST:] > 0).mean()),
        walks_from(result),
        np.stack([np.bincount(arms[when <= mark], minlength=len(result.maze.edges)) for mark in marks]),
        np.stack([np.bincount(chosen[:mark], minlength=len(paths)) for mark in marks]),
        np.bincount(chosen[-LAST:], minlength=len(paths)),
    )


def _outcomes(results: Sequence[Result]) -> tuple[Ints, Floats]:
    """The mean outcome of each edge in blocks of its tries, over all runs that tried it throughout the block."""
    n_arms = len(results[0].maze.edges)
    blocks = max(result.record.episodes for result in results) // _BLOCK + 1
    total, count = np.zeros((n_arms, blocks)), np.zeros((n_arms, blocks))
    for result in results:
        for arm in range(n_arms):
            values = result.record.outcomes(arm)[1]
            whole = values.size // _BLOCK
            total[arm, :whole] += values[: whole * _BLOCK].reshape(whole, _BLOCK).mean(axis=1)
            count[arm, :whole] += 1
    mean = np.full((n_arms, blocks), np.nan)
    # A mean over fewer than two runs would say more about a run than about the edge.
    np.divide(total, count, out=mean, where=count >= min(2, len(results)))
    return np.arange(blocks) * _BLOCK + _BLOCK // 2, mean


def summarise(results: Sequence[Result]) -> list[Trained]:
    """The summaries of trained runs, one for each maze.

    Runs that only measure edges (``tour``) are left out. So are runs that are shorter or longer than the longest run of
    the constant optimal path, or than the longest run if there is none.

    Parameters
    ----------
    results
        Finished runs, as `antmaze.results.find_results` returns them.
    """
    made = []
    for maze in dict.fromkeys(result.maze.name for result in results):
        mine = [result for result in results if result.maze.name == maze and result.competes]
        lengths = [r.record.episodes for r in mine if r.spec.label == "oracle"] or [r.record.episodes for r in mine]
        mine = [result for result in mine if result.record.episodes == max(lengths)]
        if mine:
            made.append(_summary(mine))
    return made


def _summary(results: Sequence[Result]) -> Trained:
    first = results[0]
    length = first.record.episodes
    paths = _paths(first)
    marks = sorted(set.intersection(*(set(result.record.pictures) for result in results)))
    episodes = np.unique(np.linspace(1, length, min(_POINTS, length)).round().astype(np.int64))
    pictures: dict[str, list[Any]] = {}
    for result in results:
        pictures.setdefault(result.spec.label, []).append([result.record.pictures[mark] for mark in marks])
    tries, outcomes = _outcomes(results)
    return Trained(
        first.maze.name,
        length,
        _floor(first),
        first.maze.labels,
        np.array(first.maze.passable),
        paths,
        tuple(marks),
        episodes,
        tuple(_run(result, paths, marks, episodes) for result in results),
        {label: np.mean(stacks, axis=0) for label, stacks in pictures.items()},
        tries,
        outcomes,
    )
