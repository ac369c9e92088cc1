"""What reports need of trained AntMaze runs, as numbers: regret by seed, tries of paths and edges, positions.

`summaries.summarise` makes such a summary from trained runs, which needs the extra ``antmaze``. To report on it needs
nothing but numpy: the summary of the runs that come with the documentation is part of the package
(`summary_file.recorded`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits.plots.floors import Floor

PAPER = ("crucb", "r-ed-ucb", "sw-ucb", "sw-cucb", "sw-ts", "sw-cts")
"""The six policies of the paper."""
AUTHORS = "program-crucb"
"""CRUCB as the authors' AntMaze program computes it."""
ORDER = ("oracle", AUTHORS, *PAPER)
"""The order of policies in heatmaps; variants follow."""
LAST = 500
"""Over how many episodes at the end habits are measured."""


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

    def partial(self, seeds: Sequence[int]) -> dict[str, dict[int, Floats]]:
        """The regret by seed of each policy that has some of these seeds and not all."""
        found = {label: self.regrets(label, seeds) for label in self.policies}
        return {label: mine for label, mine in found.items() if 0 < len(mine) < len(seeds)}

    def mean(self, name: str, seeds: Sequence[int] | None = None) -> dict[str, Floats]:
        """The mean of ``edges``, ``paths`` or ``late`` over the runs of each policy."""
        return {
            label: np.mean([getattr(run, name) for run in runs], axis=0)
            for label in self.policies
            if (runs := self.of(label, seeds))
        }
