"""The physics of one ant in one maze."""

from __future__ import annotations

import mujoco
import numpy as np

from rising_bandits._checks import Floats
from rising_bandits.antmaze.body import SUBSTEPS, TORQUE, build, stance
from rising_bandits.antmaze.maze import Maze

NEAR = 0.5
"""A position is reached if the torso is nearer to it than this."""
_SCATTER = 0.1
"""The scale of the random changes of joints and speeds at a reset."""


class World:
    """A MuJoCo simulation of an ant in a maze.

    An action is 8 torques in [-1, 1]. An observation is 15 positions and 14 velocities: MuJoCo's ``qpos`` and ``qvel``.

    Parameters
    ----------
    maze
        The maze.
    integrator
        MuJoCo's integrator, such as ``RK4`` or ``implicitfast``.

    Raises
    ------
    InputError
        MuJoCo has no such integrator.

    >>> from rising_bandits.antmaze.mazes import EASY
    >>> world = World(EASY)
    >>> world.reset(np.random.default_rng(0)).shape
    (29,)
    >>> bool(world.near((0.0, 0.0)))
    True
    """

    def __init__(self, maze: Maze, integrator: str = "RK4") -> None:
        self.maze = maze
        self.model = build(maze, integrator)
        self.data = mujoco.MjData(self.model)

    def reset(self, rng: np.random.Generator, place: tuple[float, float] | None = None) -> Floats:
        """Put the ant at a position, with small random changes of its joints and speeds.

        Parameters
        ----------
        rng
            The generator of the random changes.
        place
            The position (x, y); by default the maze's start.

        Returns
        -------
        ndarray
            The observation.
        """
        mujoco.mj_resetData(self.model, self.data)
        x, y = self.maze.nodes[self.maze.start] if place is None else place
        self.data.qpos[:] = stance(x, y)
        self.data.qpos[7:] += rng.uniform(-_SCATTER, _SCATTER, 8)
        self.data.qvel[:] = _SCATTER * rng.standard_normal(14)
        return self.observe()

    def place(self, observation: Floats) -> None:
        """Set the ant's positions and velocities.

        Parameters
        ----------
        observation
            The observation to set.
        """
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = observation[:15]
        self.data.qvel[:] = observation[15:]
        mujoco.mj_forward(self.model, self.data)

    def observe(self) -> Floats:
        """The present observation."""
        return np.concatenate([self.data.qpos, self.data.qvel])

    def step(self, action: Floats) -> Floats:
        """Hold an action for one step of 0.1 seconds.

        Parameters
        ----------
        action
            8 torques in [-1, 1].

        Returns
        -------
        ndarray
            The observation after the step.
        """
        self.data.ctrl[:] = TORQUE * action
        mujoco.mj_step(self.model, self.data, SUBSTEPS)
        return self.observe()

    def near(self, place: tuple[float, float]) -> bool:
        """Whether the torso is within 0.5 of a position.

        Parameters
        ----------
        place
            The position (x, y).
        """
        x, y = self.data.qpos[0] - place[0], self.data.qpos[1] - place[1]
        return bool(x * x + y * y < NEAR * NEAR)
