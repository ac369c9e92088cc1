"""Everything the ant has done, and goals chosen in hindsight. On disk it is a file that only grows."""

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
"""An observation, the action taken there, the goal, and how many steps of the episode were left."""


class Batch(NamedTuple):
    """Transitions over up to n steps; shapes (updates, batch, ...)."""

    observation: Any
    action: Any
    after: Any
    goal: Any
    reward: Any
    """Discounted rewards up to ``after``."""
    discount: Any
    """What the value of ``after`` counts: 0 where the goal was reached on the way."""


class Buffer:
    """Steps of all episodes, one row each, and one more row for where an episode ended.

    >>> buffer = Buffer()
    >>> buffer.add(np.zeros((3, 29)), np.zeros((2, 8)), np.ones((2, 2)))
    >>> buffer.steps, buffer.rows
    (2, 3)
    """

    def __init__(self, capacity: int = 1 << 14) -> None:
        self._rows: Reals = np.zeros((capacity, ROW), dtype=np.float32)
        self._start = np.zeros(capacity, dtype=np.int64)
        self.rows = 0
        """Rows in use."""
        self.steps = 0
        """Rows that are steps."""

    def add(self, observations: npt.ArrayLike, actions: npt.ArrayLike, goals: npt.ArrayLike) -> None:
        """Take in one episode: one more observation than actions."""
        observations = np.asarray(observations, dtype=np.float32)
        length = len(observations) - 1
        rows = np.zeros((length + 1, ROW), dtype=np.float32)
        rows[:, :29] = observations
        rows[:length, 29:37] = actions
        rows[:length, 37:39] = goals
        rows[:, 39] = np.arange(length, -1, -1)
        self._append(rows)

    def _append(self, rows: Reals) -> None:
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
        """Batches for a number of updates.

        With chance ``relabel`` a goal is replaced by a place reached up to ``relabel_within`` steps later.
        The reward is -1 for each step that does not end within reach of the goal, summed over ``n_step``
        steps and cut where the goal is reached or the episode ends.
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
        """Append to a file all rows from number ``rows`` on; what the file holds beyond ``rows`` is dropped.

        Where the file holds less, as when someone deleted it, what is missing is written as well.
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
        """The first ``rows`` rows of a file."""
        held = np.fromfile(path, dtype=np.float32, count=rows * ROW) if path.exists() else np.zeros(0, dtype=np.float32)
        if held.size != rows * ROW:
            raise InputError(
                f"{str(path)!r} must hold {rows} rows, got {held.size // ROW}: it was cut or is not of this run"
            )
        buffer = cls(max(rows, 1 << 14))
        buffer._append(held.reshape(rows, ROW))
        return buffer
