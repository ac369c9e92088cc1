"""What reports need of trained AntMaze runs, as numbers: regret by seed, tries of paths and edges, positions.

`summarise` makes it from trained runs, which needs the extra ``antmaze``. To read a summary and to report on it needs
nothing but numpy. The summary of the runs that come with the documentation is part of the package (`recorded`).
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits.errors import InputError
from rising_bandits.plots.trained import Floor

if TYPE_CHECKING:
    from rising_bandits.antmaze.results import Result

FORMAT = 1
PAPER = ("crucb", "r-ed-ucb", "sw-ucb", "sw-cucb", "sw-ts", "sw-cts")
"""The six policies of the paper."""
AUTHORS = "program-crucb"
"""CRUCB as the authors' AntMaze program computes it."""
ORDER = ("oracle", AUTHORS, *PAPER)
"""The order of policies in heatmaps; variants follow."""
LAST = 500
"""Over how many episodes at the end habits are measured."""
_POINTS = 300
"""At how many episodes the regret is kept."""
_BLOCK = 25
"""How many tries of an edge are averaged in the figure of outcomes."""


@dataclass(frozen=True)
class TrainedRun:
    """One run in a summary.

    Attributes
    ----------
    label
        The policy with its unusual parameters.
    seed
        The seed.
    minutes
        How long training took.
    earned
        The cumulative reward at the episodes of the summary.
    goal
        The share of the last episodes that reached the goal.
    walks
        The episode from which on the ant walks, or None; see `walks_from`.
    edges
        How often each edge was tried up to each mark, of shape (marks, edges).
    paths
        How often each path was chosen up to each mark, of shape (marks, paths).
    late
        How often each path was chosen in the last episodes.
    """

    label: str
    seed: int
    minutes: float
    earned: Floats
    goal: float
    walks: int | None
    edges: Ints
    paths: Ints
    late: Ints


@dataclass(frozen=True)
class Trained:
    """The summary of all runs on one maze.

    Attributes
    ----------
    maze
        The name of the maze.
    length
        The number of episodes of each run.
    floor
        The floor plan.
    labels
        The names of the edges.
    passable
        For each edge, whether no wall blocks it.
    paths
        All paths as edges: the constant optimal path, then the others that no wall blocks, then those into walls.
    marks
        The episodes at which tries and positions were counted.
    episodes
        The episodes at which rewards are given.
    runs
        The runs, sorted by policy and seed.
    positions
        For each policy the mean number of steps in each cell up to each mark, of shape (marks, height, width).
    tries, outcomes
        The mean outcome of each edge by the number of its tries; see `plots.trained.plot_outcomes`.
    """

    maze: str
    length: int
    floor: Floor
    labels: tuple[str, ...]
    passable: Bools
    paths: tuple[tuple[int, ...], ...]
    marks: tuple[int, ...]
    episodes: Ints
    runs: tuple[TrainedRun, ...]
    positions: dict[str, Floats]
    tries: Ints
    outcomes: Floats

    @property
    def walkable(self) -> Bools:
        """For each path, whether no wall blocks it."""
        return np.array([all(self.passable[arm] for arm in path) for path in self.paths])

    def seeds(self, label: str) -> list[int]:
        """The seeds of a policy's runs."""
        return [run.seed for run in self.runs if run.label == label]

    def of(self, label: str, seeds: Sequence[int] | None = None) -> list[TrainedRun]:
        """The runs of a policy; only those with these seeds, if given."""
        return [run for run in self.runs if run.label == label and (seeds is None or run.seed in seeds)]

    @property
    def policies(self) -> list[str]:
        """The policies in the order of figures."""
        found = list(dict.fromkeys(run.label for run in self.runs))
        order = {label: place for place, label in enumerate(ORDER)}
        return sorted(found, key=lambda label: order.get(label, len(order)))

    @property
    def common(self) -> list[int]:
        """The seeds that all of the paper's policies, the authors' program and the constant optimal path have.

        Only policies with runs count. Results differ much between seeds, so means are compared over these.
        """
        have = [set(self.seeds(label)) for label in ORDER if self.seeds(label)]
        return sorted(set.intersection(*have)) if have and self.seeds("oracle") else []

    def regrets(self, label: str, seeds: Sequence[int] | None = None) -> dict[int, Floats]:
        """The regret of a policy for each seed that the constant optimal path has too; only ``seeds``, if given."""
        best = {run.seed: run.earned for run in self.of("oracle")}
        return {run.seed: best[run.seed] - run.earned for run in self.of(label, seeds) if run.seed in best}

    def table(self, seeds: Sequence[int]) -> dict[str, Floats]:
        """The regret of each policy that has all of these seeds, a row per seed."""
        found = {label: self.regrets(label, seeds) for label in self.policies}
        return {label: np.stack([mine[s] for s in seeds]) for label, mine in found.items() if set(mine) == set(seeds)}

    def mean(self, name: str, seeds: Sequence[int] | None = None) -> dict[str, Floats]:
        """The mean of ``edges``, ``paths`` or ``late`` over the runs of each policy."""
        return {
            label: np.mean([getattr(run, name) for run in runs], axis=0)
            for label in self.policies
            if (runs := self.of(label, seeds))
        }


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


_ARRAYS = ("earned", "edges", "paths", "late")
_FLOOR = ("walls", "bounds", "nodes", "edges")


def dump(summaries: Sequence[Trained]) -> bytes:
    """Summaries as the content of a file; `load` reads it."""
    arrays: dict[str, Any] = {}
    meta: list[dict[str, Any]] = []
    for one in summaries:
        longest = max(map(len, one.paths))
        arrays[f"{one.maze} all"] = np.array([[*path, *[-1] * (longest - len(path))] for path in one.paths], np.int16)
        arrays |= {f"{one.maze} floor {name}": getattr(one.floor, name) for name in _FLOOR}
        arrays |= {f"{one.maze} {name}": getattr(one, name) for name in ("passable", "episodes", "tries")}
        arrays[f"{one.maze} outcomes"] = one.outcomes.astype(np.float32)
        for name in _ARRAYS:
            kind = np.float64 if name == "earned" else np.uint16
            arrays[f"{one.maze} run {name}"] = np.stack([getattr(run, name) for run in one.runs]).astype(kind)
        cells = np.stack(list(one.positions.values()))
        # Three digits are enough for a colour; rounding to them makes the file half as large.
        arrays[f"{one.maze} positions"] = np.array([float(f"{x:.3g}") for x in cells.flat], np.float32).reshape(
            cells.shape
        )
        facts = [
            {name: getattr(run, name) for name in ("label", "seed", "minutes", "goal", "walks")} for run in one.runs
        ]
        places = {name: getattr(one.floor, name) for name in ("start", "goal", "cell")}
        meta.append(
            {
                **{name: getattr(one, name) for name in ("maze", "length", "labels", "marks")},
                "runs": facts,
                "floor": places,
                "policies": list(one.positions),
            }
        )
    held = io.BytesIO()
    np.savez_compressed(held, meta=json.dumps({"format": FORMAT, "mazes": meta}), **arrays)
    return held.getvalue()


def load(content: bytes) -> list[Trained]:
    """Summaries from the content of a file.

    Raises
    ------
    InputError
        The content is not that of `dump`.
    """
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        data = json.loads(str(arrays["meta"]))
        if data["format"] != FORMAT:
            raise InputError(f"format of a summary of AntMaze runs must be {FORMAT}, got {data['format']!r}")
        return [_load(meta, arrays) for meta in data["mazes"]]
    except InputError:
        raise
    except Exception as error:
        # A damaged file can raise many kinds of errors: of zlib, of numpy, or of the lines above.
        raise InputError(f"this is not a summary of AntMaze runs: {error}") from None


def _load(meta: dict[str, Any], arrays: dict[str, Any]) -> Trained:
    maze = meta["maze"]
    paths = tuple(tuple(int(arm) for arm in row if arm >= 0) for row in arrays[f"{maze} all"])
    numbers = zip(*(arrays[f"{maze} run {name}"] for name in _ARRAYS), strict=True)
    runs = tuple(
        TrainedRun(
            str(fact["label"]), int(fact["seed"]), float(fact["minutes"]), earned, float(fact["goal"]), fact["walks"],
            edges.astype(np.int64), chosen.astype(np.int64), late.astype(np.int64),
        )
        for fact, (earned, edges, chosen, late) in zip(meta["runs"], numbers, strict=True)
    )  # fmt: skip
    return Trained(
        maze,
        int(meta["length"]),
        Floor(*(arrays[f"{maze} floor {name}"] for name in _FLOOR), **meta["floor"]),
        tuple(meta["labels"]),
        arrays[f"{maze} passable"],
        paths,
        tuple(meta["marks"]),
        arrays[f"{maze} episodes"],
        runs,
        {
            label: cells.astype(float)
            for label, cells in zip(meta["policies"], arrays[f"{maze} positions"], strict=True)
        },
        arrays[f"{maze} tries"],
        arrays[f"{maze} outcomes"].astype(float),
    )


def recorded() -> list[Trained]:
    """The summaries of the trained runs that come with the documentation, for both mazes of the paper.

    >>> [one.maze for one in recorded()]
    ['complex', 'easy']
    """
    return load((resources.files("rising_bandits.reproduction") / "data" / "antmaze.npz").read_bytes())
