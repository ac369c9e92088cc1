"""AntMaze: an ant robot learns to walk while a bandit policy chooses its paths through a maze.

This needs the extra ``antmaze`` (MuJoCo, Gymnasium, JAX and Optax): ``pip install '.[antmaze]'`` in a clone.
"""

from rising_bandits.antmaze import _extra as _extra  # isort: skip
from rising_bandits.antmaze.environment import AntMazeEnv, register
from rising_bandits.antmaze.floor import Box
from rising_bandits.antmaze.maze import Maze
from rising_bandits.antmaze.mazes import COMPLEX, EASY, MAZES
from rising_bandits.antmaze.results import Result, read_result
from rising_bandits.antmaze.runs import RunFolder, train
from rising_bandits.antmaze.settings import PRESETS, Settings, preset
from rising_bandits.antmaze.spec import POLICIES, TrainSpec
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
