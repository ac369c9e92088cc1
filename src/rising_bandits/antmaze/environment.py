"""The mazes as Gymnasium goal environments, for use without the bandit.

>>> import gymnasium, rising_bandits.antmaze
>>> environment = gymnasium.make("RisingBandits/AntMazeEasy-v0")
>>> sorted(environment.observation_space.keys())
['achieved_goal', 'desired_goal', 'observation']
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from rising_bandits._checks import Floats
from rising_bandits.antmaze.mazes import CLEARANCE, COMPLEX, EASY, Maze, get
from rising_bandits.antmaze.picture import Camera
from rising_bandits.antmaze.world import NEAR, World
from rising_bandits.errors import InputError


class AntMazeEnv(gymnasium.Env[dict[str, Floats], npt.NDArray[np.float32]]):
    """An ant that has to come within 0.5 of a goal; reward 0 there and -1 elsewhere.

    An action is 8 numbers in [-1, 1], the torques of the joints in units of 30, held for 0.1 seconds.
    ``reset(options={"start": node, "goal": node})`` takes nodes of the maze or places (x, y); by default the
    maze's own start and goal. The episode terminates at the goal; `gymnasium.make` cuts it at the maze's number
    of steps.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012 - Gymnasium's own declaration

    def __init__(self, maze: Maze | str = "easy", render_mode: str | None = None, integrator: str = "RK4") -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InputError(f"render_mode must be None or 'rgb_array', got {render_mode!r}")
        self.maze = get(maze) if isinstance(maze, str) else maze
        self.world = World(self.maze, integrator)
        self.render_mode = render_mode
        self._camera: Camera | None = None
        self._goal = np.array(self.maze.nodes[self.maze.goal])
        sizes = {"observation": 29, "achieved_goal": 2, "desired_goal": 2}
        # Gymnasium's own annotation of a Dict space does not know what its parts hold.
        self.observation_space: Any = gymnasium.spaces.Dict(
            {name: gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float64) for name, size in sizes.items()}
        )
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (8,), np.float32)

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        """0 where the achieved goal is near the desired one, else -1; also for arrays of them."""
        away = np.linalg.norm(np.asarray(achieved_goal) - np.asarray(desired_goal), axis=-1)
        return np.where(away < NEAR, 0.0, -1.0)[()]

    def compute_terminated(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        """Whether the achieved goal is near the desired one."""
        return self.compute_reward(achieved_goal, desired_goal, info) == 0.0

    def compute_truncated(self, achieved_goal: Any, desired_goal: Any, info: Any) -> bool:
        """Never: `gymnasium.make` adds the limit of steps."""
        return False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Floats], dict[str, Any]]:
        """Put the ant at its start; see the class for ``options``."""
        super().reset(seed=seed)
        options = options or {}
        if unknown := sorted(set(options) - {"start", "goal"}):
            raise InputError(f"options may hold start and goal, got {', '.join(unknown)}")
        start = self._place("start", options.get("start", self.maze.start))
        self._goal = np.array(self._place("goal", options.get("goal", self.maze.goal)))
        self.world.reset(self.np_random, start)
        return self._observe(), {}

    def step(self, action: npt.NDArray[np.float32]) -> tuple[dict[str, Floats], float, bool, bool, dict[str, Any]]:
        """Hold an action for 0.1 seconds."""
        self.world.step(np.clip(np.asarray(action, dtype=np.float64), -1.0, 1.0))
        seen = self._observe()
        reward = float(self.compute_reward(seen["achieved_goal"], seen["desired_goal"], {}))
        return seen, reward, reward == 0.0, False, {"is_success": reward == 0.0}

    def render(self) -> Any:
        """A picture of the maze and the ant, from MuJoCo where it can draw, else from above."""
        if self.render_mode is None:
            return None
        if self._camera is None:
            self._camera = Camera(self.world.model, self.maze)
        return self._camera.picture(self.world.data)

    def close(self) -> None:
        """Give the graphics context back."""
        if self._camera is not None:
            self._camera.close()
            self._camera = None

    def _observe(self) -> dict[str, Floats]:
        seen = self.world.observe()
        return {"observation": seen, "achieved_goal": seen[:2].copy(), "desired_goal": self._goal.copy()}

    def _place(self, name: str, value: Any) -> tuple[float, float]:
        if isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 <= value < len(self.maze.nodes):
            return self.maze.nodes[int(value)]
        if not isinstance(value, int | np.integer | str) and np.shape(value) == (2,):
            x, y = (float(part) for part in value)
            inside = self.maze.bounds.holds(x, y)
            if inside and not any(box.holds(x, y, CLEARANCE) for box in self.maze.walls):
                return x, y
        raise InputError(
            f"{name} must be a node from 0 to {len(self.maze.nodes) - 1} or a place (x, y) on the floor, got {value!r}"
        )


def register() -> None:
    """Make the mazes known to Gymnasium, once."""
    for maze, name in ((EASY, "Easy"), (COMPLEX, "Complex")):
        name = f"RisingBandits/AntMaze{name}-v0"
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="rising_bandits.antmaze.environment:AntMazeEnv",
                kwargs={"maze": maze.name},
                max_episode_steps=maze.steps,
            )
