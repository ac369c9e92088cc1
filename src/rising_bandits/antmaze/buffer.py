"""The replay buffer: all steps of the ant, sampled with goals chosen in hindsight.

On disk it is a file to which each checkpoint appends.
"""

from __future__ import annotations

import os
from functools import lru_cache
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
    """The factor of the value of ``after``; 0 if the goal was reached on the way, or the ant was lost."""


@lru_cache(maxsize=8)
def _sums(settings: Settings) -> tuple[Reals, Reals]:
    """The discount and the sum of discounted rewards of -1, after each number of steps up to ``settings.n_step``."""
    discounts, rewards = np.ones(settings.n_step + 1, dtype=np.float32), np.zeros(settings.n_step + 1, np.float32)
    for step in range(settings.n_step):
        discounts[step + 1] = discounts[step] * np.float32(settings.discount)
        rewards[step + 1] = rewards[step] - discounts[step]
    return discounts, rewards


def upside_down(observations: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Whether the torso is upside down, for rows that begin with an observation.

    >>> bool(upside_down(np.eye(29)[[4]])[0])
    True
    """
    # The upward direction of the body has the vertical part 1 - 2 (x² + y²), for the quaternion (w, x, y, z).
    x, y = observations[..., 4], observations[..., 5]
    return np.asarray(x * x + y * y > 0.5)


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
        # The positions of all rows once more, side by side: to read them from the rows is slow.
        self._places: Reals = np.zeros((capacity, 2), dtype=np.float32)
        self._over = np.zeros(capacity, dtype=bool)
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
            self._rows, self._places, self._over, self._start = (
                np.concatenate([held, np.zeros((size - len(held), *held.shape[1:]), dtype=held.dtype)])
                for held in (self._rows, self._places, self._over, self._start)
            )
        self._rows[self.rows : end] = rows
        self._places[self.rows : end] = rows[:, :2]
        self._over[self.rows : end] = upside_down(rows)
        steps = self.rows + np.flatnonzero(rows[:, 39] > 0)
        self._start[self.steps : self.steps + steps.size] = steps
        self.rows, self.steps = end, self.steps + steps.size

    def sample(self, rng: np.random.Generator, settings: Settings, updates: int) -> Batch:
        """Random batches for a number of updates.

        With probability ``settings.relabel`` a goal is replaced by a position that the ant reached up to
        ``settings.relabel_within`` steps later. The reward of a step is 0 if it ends near the goal and -1 otherwise.
        Rewards are summed over ``settings.n_step`` steps, or fewer if the goal is reached or the episode ends. With
        ``settings.upright``, a transition on which the ant turns upside down is worth ``settings.lowest``, unless the
        goal was reached before that.
        """
        shape = (updates, settings.batch)
        row = self._start[rng.integers(0, self.steps, shape)]
        taken = self._rows.take(row, axis=0)
        ahead = taken[..., 39].astype(np.int64)
        later = row + 1 + (rng.random(shape) * np.minimum(ahead, settings.relabel_within)).astype(np.int64)
        relabelled = rng.random(shape) < settings.relabel
        goal = np.where(relabelled[..., None], self._places.take(later, axis=0), taken[..., 37:39])
        # Steps until the goal is reached, or all that are summed and are still in the episode.
        steps = np.minimum(ahead, settings.n_step)
        passed = row[..., None] + 1 + np.minimum(np.arange(settings.n_step), steps[..., None] - 1)
        away = self._places.take(passed, axis=0) - goal[..., None, :]
        near = away[..., 0] * away[..., 0] + away[..., 1] * away[..., 1] < NEAR * NEAR
        there = near.any(-1)
        first = near.argmax(-1)
        discounts, rewards = _sums(settings)
        reward = rewards[np.where(there, first, steps)]
        if settings.upright:
            over = self._over.take(passed)
            lost = over.any(-1) & (~there | (over.argmax(-1) <= first))
            reward = np.where(lost, np.float32(settings.lowest), reward)
            there = there | lost
        return Batch(
            taken[..., :29],
            taken[..., 29:37],
            self._rows.take(row + np.where(there, first + 1, steps), axis=0)[..., :29],
            goal,
            reward,
            np.where(there, np.float32(0.0), discounts[steps]),
        )

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
