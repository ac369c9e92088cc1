"""The physics of one ant in one maze: put it somewhere, push its joints, see where it is."""

from __future__ import annotations

import mujoco
import numpy as np

from rising_bandits._checks import Floats
from rising_bandits.antmaze.body import SUBSTEPS, TORQUE, build, stance
from rising_bandits.antmaze.mazes import Maze

NEAR = 0.5
"""A place is reached when the torso is nearer than this."""
_SCATTER = 0.1


class World:
    """A MuJoCo simulation; actions are in [-1, 1], an observation is 15 positions and 14 velocities.

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
        """Stand at a place, by default the maze's start, with joints and speeds a little scattered."""
        mujoco.mj_resetData(self.model, self.data)
        x, y = self.maze.nodes[self.maze.start] if place is None else place
        self.data.qpos[:] = stance(x, y)
        self.data.qpos[7:] += rng.uniform(-_SCATTER, _SCATTER, 8)
        self.data.qvel[:] = _SCATTER * rng.standard_normal(14)
        return self.observe()

    def place(self, observation: Floats) -> None:
        """Take on the positions and velocities of an observation."""
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = observation[:15]
        self.data.qvel[:] = observation[15:]
        mujoco.mj_forward(self.model, self.data)

    def observe(self) -> Floats:
        """Positions and velocities now."""
        return np.concatenate([self.data.qpos, self.data.qvel])

    def step(self, action: Floats) -> Floats:
        """Hold an action for one step of 0.1 seconds."""
        self.data.ctrl[:] = TORQUE * action
        mujoco.mj_step(self.model, self.data, SUBSTEPS)
        return self.observe()

    def near(self, place: tuple[float, float]) -> bool:
        """Whether the torso has reached a place."""
        x, y = self.data.qpos[0] - place[0], self.data.qpos[1] - place[1]
        return bool(x * x + y * y < NEAR * NEAR)
