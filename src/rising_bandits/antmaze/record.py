"""The log of a training run: every try of an edge, every chosen path, and where the ant was."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from rising_bandits._checks import Floats, Ints
from rising_bandits.antmaze.maze import Maze
from rising_bandits.errors import InputError

CELL = 0.5
"""The width of the cells in which positions are counted."""
MARKS = (100, 500)
"""The episodes after which a copy of the position counts is kept; another is kept after the last episode."""

Counts = npt.NDArray[np.int64]


@dataclass
class Record:
    """The log of a run, episode by episode."""

    maze: Maze
    """The maze of the run."""
    episode: list[int] = field(default_factory=list)
    """For each try its episode, counted from 1."""
    arm: list[int] = field(default_factory=list)
    """For each try its edge."""
    steps: list[int] = field(default_factory=list)
    """For each try the number of steps it took; 0 if it failed."""
    successes: int = field(init=False, default=0)
    """How many tries succeeded."""
    paths: list[tuple[int, ...]] = field(default_factory=list)
    """For each episode the edges of the chosen path, in order."""
    env_steps: list[int] = field(default_factory=list)
    """For each episode the number of steps since the start of the run, with the warm-up."""
    positions: Counts = field(init=False)
    """How often the torso was in each cell; rows are y, columns are x."""
    pictures: dict[int, Counts] = field(default_factory=dict)
    """Copies of ``positions`` after some episodes; see `MARKS`."""

    def __post_init__(self) -> None:
        box = self.maze.bounds
        shape = (int(np.ceil((box.top - box.bottom) / CELL)), int(np.ceil((box.right - box.left) / CELL)))
        self.positions = np.zeros(shape, dtype=np.int64)

    @property
    def episodes(self) -> int:
        """The number of episodes so far."""
        return len(self.paths)

    def visit(self, observations: Floats) -> None:
        """Count the positions of the torso in some observations."""
        box = self.maze.bounds
        rows = np.clip(((observations[:, 1] - box.bottom) / CELL).astype(int), 0, self.positions.shape[0] - 1)
        columns = np.clip(((observations[:, 0] - box.left) / CELL).astype(int), 0, self.positions.shape[1] - 1)
        np.add.at(self.positions, (rows, columns), 1)

    def close(self, path: tuple[int, ...], tries: list[tuple[int, int]], env_steps: int, last: bool) -> None:
        """Add an episode.

        ``path`` is the chosen path, ``tries`` are pairs (edge, steps or 0), ``env_steps`` is the number of steps since
        the start of the run, and ``last`` says whether this is the last episode.
        """
        self.paths.append(path)
        self.env_steps.append(env_steps)
        for arm, steps in tries:
            self.episode.append(self.episodes)
            self.arm.append(arm)
            self.steps.append(steps)
            self.successes += steps > 0
        if last or self.episodes in MARKS:
            self.pictures[self.episodes] = self.positions.copy()

    def dump(self) -> dict[str, Any]:
        """The log as arrays for a file."""
        longest = max((len(path) for path in self.paths), default=1)
        paths = np.full((self.episodes, longest), -1, dtype=np.int16)
        for row, path in zip(paths, self.paths, strict=True):
            row[: len(path)] = path
        return {
            "tries": np.array([self.episode, self.arm, self.steps], dtype=np.int32).reshape(3, -1),
            "paths": paths,
            "env_steps": np.array(self.env_steps, dtype=np.int64),
            "positions": self.positions,
            "picture_episodes": np.array(list(self.pictures), dtype=np.int64),
            "pictures": np.array(list(self.pictures.values()), dtype=np.int32).reshape(-1, *self.positions.shape),
        }

    @classmethod
    def load(cls, maze: Maze, data: Any) -> Record:
        """A log from the arrays of a file, which are checked; the inverse of `dump`."""
        record = cls(maze)
        tries, paths, positions = (np.asarray(data[name]) for name in ("tries", "paths", "positions"))
        if tries.ndim != 2 or len(tries) != 3 or paths.ndim != 2 or paths.shape[1] > max(1, len(maze.edges)):
            raise InputError("its tries must have three rows, and its paths at most as many columns as there are edges")
        record.episode, record.arm, record.steps = (row.tolist() for row in tries)
        record.successes = int(np.count_nonzero(tries[2]))
        record.paths = [tuple(int(arm) for arm in row if arm >= 0) for row in paths]
        record.env_steps = data["env_steps"].tolist()
        if len(record.env_steps) != len(paths) or positions.shape != record.positions.shape:
            raise InputError("its parts do not belong together")
        for name, values, low, high in (
            ("an episode", tries[0], 1, len(paths)),
            ("an edge", tries[1], 0, len(maze.edges) - 1),
            ("an edge", paths, -1, len(maze.edges) - 1),
            ("a number of steps", tries[2], 0, maze.edge_steps),
        ):
            if values.size and not low <= values.min() <= values.max() <= high:
                raise InputError(f"{name} must be from {low} to {high}, got {values.min()} to {values.max()}")
        record.positions = positions.astype(np.int64)
        record.pictures = {
            int(episode): np.array(picture, dtype=np.int64)
            for episode, picture in zip(data["picture_episodes"], data["pictures"], strict=True)
        }
        return record

    def rewards(self) -> Floats:
        """The reward of each episode: one over its steps if the whole path was walked, otherwise 0."""
        out = np.zeros(self.episodes)
        tried, total, failed = np.zeros(self.episodes, int), np.zeros(self.episodes), np.zeros(self.episodes, bool)
        for episode, steps in zip(self.episode, self.steps, strict=True):
            tried[episode - 1] += 1
            total[episode - 1] += steps
            failed[episode - 1] |= steps == 0
        done = ~failed & (tried == [len(path) for path in self.paths])
        out[done] = 1.0 / total[done]
        return out

    def outcomes(self, arm: int) -> tuple[Ints, Floats]:
        """The episodes of all tries of an edge, and their outcomes: one over the steps, or 0."""
        chosen = np.array(self.arm) == arm
        steps = np.array(self.steps, dtype=float)[chosen]
        inverse = np.divide(1.0, steps, out=np.zeros_like(steps), where=steps > 0)
        return np.array(self.episode, dtype=np.int64)[chosen], inverse
