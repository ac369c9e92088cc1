"""AntMaze: an ant robot learns to walk while a bandit policy chooses its paths through a maze.

This needs the extra ``antmaze`` (MuJoCo, Gymnasium, JAX and Optax): ``pip install '.[antmaze]'`` in a clone.
"""

from rising_bandits.antmaze import _extra as _extra  # isort: skip
from rising_bandits.antmaze.environment import AntMazeEnv, register
from rising_bandits.antmaze.mazes import COMPLEX, EASY, MAZES, Box, Maze
from rising_bandits.antmaze.runs import POLICIES, Result, RunFolder, TrainSpec, read_result, train
from rising_bandits.antmaze.settings import PRESETS, Settings, preset
from rising_bandits.antmaze.training import Training
from rising_bandits.antmaze.world import World

register()

__all__ = [
    "COMPLEX",
    "EASY",
    "MAZES",
    "POLICIES",
    "PRESETS",
    "AntMazeEnv",
    "Box",
    "Maze",
    "Result",
    "RunFolder",
    "Settings",
    "TrainSpec",
    "Training",
    "World",
    "preset",
    "read_result",
    "register",
    "train",
]
