"""The replay buffer: all steps of the ant, sampled with goals chosen in hindsight.

On disk it is a file to which each checkpoint appends.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rising_bandits.antmaze.settings import Settings
from rising_bandits.antmaze.world import NEAR
from rising_bandits.errors import InputError

Reals = npt.NDArray[np.float32]

ROW = 29 + 8 + 2 + 1
"""The size of a row: an observation, the action taken, the goal, and the number of steps left in the episode."""


class Batch(NamedTuple):
    """Transitions over up to n steps. All arrays have shape (updates, batch, ...)."""

    observation: Any
    action: Any
    after: Any
    """The observation after the transition."""
    goal: Any
    reward: Any
    """The sum of discounted rewards up to ``after``."""
    discount: Any
    """The factor of the value of ``after``; 0 if the goal was reached on the way."""


class Buffer:
    """The steps of all episodes: one row for each step, and one more row for the end of each episode.

    Parameters
    ----------
    capacity
        How many rows to reserve memory for; more is reserved when needed.

    >>> buffer = Buffer()
    >>> buffer.add(np.zeros((3, 29)), np.zeros((2, 8)), np.ones((2, 2)))
    >>> buffer.steps, buffer.rows
    (2, 3)
    """

    def __init__(self, capacity: int = 1 << 14) -> None:
        self._rows: Reals = np.zeros((capacity, ROW), dtype=np.float32)
        self._start = np.zeros(capacity, dtype=np.int64)
        self.rows = 0
        """The number of rows."""
        self.steps = 0
        """The number of rows that are steps."""

    def add(self, observations: npt.ArrayLike, actions: npt.ArrayLike, goals: npt.ArrayLike) -> None:
        """Add an episode; there is one more observation than actions and goals."""
        observations = np.asarray(observations, dtype=np.float32)
        length = len(observations) - 1
        rows = np.zeros((length + 1, ROW), dtype=np.float32)
        rows[:, :29] = observations
        rows[:length, 29:37] = actions
        rows[:length, 37:39] = goals
        rows[:, 39] = np.arange(length, -1, -1)
        self._append(rows)

    def _append(self, rows: Reals) -> None:
        """Add rows, and reserve more memory where it is needed."""
        end = self.rows + len(rows)
        if end > len(self._rows):
            size = max(end, 2 * len(self._rows))
            self._rows = np.concatenate([self._rows, np.zeros((size - len(self._rows), ROW), dtype=np.float32)])
            self._start = np.concatenate([self._start, np.zeros(size - len(self._start), dtype=np.int64)])
        self._rows[self.rows : end] = rows
        steps = self.rows + np.flatnonzero(rows[:, 39] > 0)
        self._start[self.steps : self.steps + steps.size] = steps
        self.rows, self.steps = end, self.steps + steps.size

    def sample(self, rng: np.random.Generator, settings: Settings, updates: int) -> Batch:
        """Random batches for a number of updates.

        With probability ``settings.relabel`` a goal is replaced by a position that the ant reached up to
        ``settings.relabel_within`` steps later. The reward of a step is 0 if it ends near the goal and -1 otherwise.
        Rewards are summed over ``settings.n_step`` steps, or fewer if the goal is reached or the episode ends.
        """
        shape = (updates, settings.batch)
        row = self._start[rng.integers(0, self.steps, shape)]
        table = self._rows
        ahead = table[row, 39].astype(np.int64)
        later = row + 1 + (rng.random(shape) * np.minimum(ahead, settings.relabel_within)).astype(np.int64)
        relabelled = rng.random(shape) < settings.relabel
        goal = np.where(relabelled[..., None], table[later, :2], table[row, 37:39])
        reward = np.zeros(shape, dtype=np.float32)
        discount = np.ones(shape, dtype=np.float32)
        last = row.copy()
        for step in range(settings.n_step):
            moving = (discount > 0.0) & (step < ahead)
            last += moving
            away = table[last, :2] - goal
            there = (away * away).sum(-1) < NEAR * NEAR
            reward -= np.where(moving & ~there, discount, 0.0)
            discount = np.where(moving, np.where(there, 0.0, discount * settings.discount), discount)
        return Batch(table[row, :29], table[row, 29:37], table[last, :29], goal, reward, discount.astype(np.float32))

    def write_from(self, path: Path, rows: int) -> None:
        """Write to a file all rows from number ``rows`` on, in place of what the file holds after the first ``rows``.

        If the file holds fewer rows, for example because it was deleted, the missing ones are written too.
        """
        rows = min(rows, path.stat().st_size // (ROW * 4) if path.exists() else 0)
        with path.open("r+b" if path.exists() else "w+b") as file:
            file.truncate(rows * ROW * 4)
            file.seek(0, 2)
            file.write(self._rows[rows : self.rows].tobytes())
            file.flush()
            os.fsync(file.fileno())

    @classmethod
    def read(cls, path: Path, rows: int) -> Buffer:
        """A buffer with the first ``rows`` rows of a file."""
        held = np.fromfile(path, dtype=np.float32, count=rows * ROW) if path.exists() else np.zeros(0, dtype=np.float32)
        if held.size != rows * ROW:
            raise InputError(
                f"{str(path)!r} must hold {rows} rows, got {held.size // ROW}: it was cut or is not of this run"
            )
        buffer = cls(max(rows, 1 << 14))
        buffer._append(held.reshape(rows, ROW))
        return buffer
