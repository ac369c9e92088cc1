"""The mazes as Gymnasium goal environments, for use without a bandit policy.

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
from rising_bandits.antmaze.floor import CLEARANCE
from rising_bandits.antmaze.maze import Maze
from rising_bandits.antmaze.mazes import COMPLEX, EASY, get
from rising_bandits.antmaze.picture import Camera
from rising_bandits.antmaze.world import NEAR, World
from rising_bandits.errors import InputError


class AntMazeEnv(gymnasium.Env[dict[str, Floats], npt.NDArray[np.float32]]):
    """A Gymnasium environment in which an ant has to come within 0.5 of a goal.

    The reward is 0 near the goal and -1 elsewhere. An action is 8 numbers in [-1, 1], the torques of the joints in
    units of 30, and is held for 0.1 seconds. The episode terminates at the goal. An environment made by
    `gymnasium.make` is also truncated after the maze's number of steps.

    Parameters
    ----------
    maze
        A `Maze`, the name of a built-in one, or the path of a TOML file.
    render_mode
        None for no pictures, or ``"rgb_array"``.
    integrator
        MuJoCo's integrator, such as ``RK4`` or ``implicitfast``.

    Raises
    ------
    InputError
        An argument is wrong.
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
        # Annotated as Any, because Gymnasium's type of a Dict space does not fit the type of the observations.
        self.observation_space: Any = gymnasium.spaces.Dict(
            {name: gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float64) for name, size in sizes.items()}
        )
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (8,), np.float32)

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        """The reward: 0 if the achieved goal is within 0.5 of the desired one, otherwise -1.

        Parameters
        ----------
        achieved_goal, desired_goal
            Positions (x, y), or arrays of them.
        info
            Not used.
        """
        away = np.linalg.norm(np.asarray(achieved_goal) - np.asarray(desired_goal), axis=-1)
        return np.where(away < NEAR, 0.0, -1.0)[()]

    def compute_terminated(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        """Whether the achieved goal is within 0.5 of the desired one.

        Parameters
        ----------
        achieved_goal, desired_goal
            Positions (x, y), or arrays of them.
        info
            Not used.
        """
        return self.compute_reward(achieved_goal, desired_goal, info) == 0.0

    def compute_truncated(self, achieved_goal: Any, desired_goal: Any, info: Any) -> bool:
        """Always False: the limit of steps is added by `gymnasium.make`.

        Parameters
        ----------
        achieved_goal, desired_goal, info
            Not used.
        """
        return False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Floats], dict[str, Any]]:
        """Put the ant at its start and begin an episode.

        Parameters
        ----------
        seed
            The seed of the ant's first pose; None to go on with the present generator.
        options
            May hold ``start`` and ``goal``, each the number of a node or a position (x, y) on the floor. The default is
            the maze's own start and goal.

        Returns
        -------
        tuple
            The first observation, and an empty dictionary.

        Raises
        ------
        InputError
            ``options`` holds something else, or a position inside a wall.
        """
        super().reset(seed=seed)
        options = options or {}
        if unknown := sorted(set(options) - {"start", "goal"}):
            raise InputError(f"options may hold start and goal, got {', '.join(unknown)}")
        start = self._place("start", options.get("start", self.maze.start))
        self._goal = np.array(self._place("goal", options.get("goal", self.maze.goal)))
        self.world.reset(self.np_random, start)
        return self._observe(), {}

    def step(self, action: npt.NDArray[np.float32]) -> tuple[dict[str, Floats], float, bool, bool, dict[str, Any]]:
        """Hold an action for 0.1 seconds.

        Parameters
        ----------
        action
            8 torques in [-1, 1]; numbers outside are clipped.

        Returns
        -------
        tuple
            The observation, the reward, whether the goal was reached, False, and a dictionary with ``is_success``.
        """
        self.world.step(np.clip(np.asarray(action, dtype=np.float64), -1.0, 1.0))
        seen = self._observe()
        reward = float(self.compute_reward(seen["achieved_goal"], seen["desired_goal"], {}))
        return seen, reward, reward == 0.0, False, {"is_success": reward == 0.0}

    def render(self) -> Any:
        """A picture of the maze and the ant, drawn by MuJoCo if it can, otherwise by matplotlib.

        Returns
        -------
        ndarray or None
            An array of shape (360, 480, 3); None if ``render_mode`` is None.
        """
        if self.render_mode is None:
            return None
        if self._camera is None:
            self._camera = Camera(self.world.model, self.maze)
        return self._camera.picture(self.world.data)

    def close(self) -> None:
        """Release the graphics resources."""
        if self._camera is not None:
            self._camera.close()
            self._camera = None

    def _observe(self) -> dict[str, Floats]:
        """The present observation."""
        seen = self.world.observe()
        return {"observation": seen, "achieved_goal": seen[:2].copy(), "desired_goal": self._goal.copy()}

    def _place(self, name: str, value: Any) -> tuple[float, float]:
        """The position that an option means: a node, or a position on the floor."""
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
    """Register the built-in mazes with Gymnasium. Importing `rising_bandits.antmaze` does this."""
    for maze, name in ((EASY, "Easy"), (COMPLEX, "Complex")):
        name = f"RisingBandits/AntMaze{name}-v0"
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="rising_bandits.antmaze.environment:AntMazeEnv",
                kwargs={"maze": maze.name},
                max_episode_steps=maze.steps,
            )
