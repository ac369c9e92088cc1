"""What a user optimises: an oracle, a reward and labels; and the paper's tasks as data."""

from rising_bandits.problems import tasks
from rising_bandits.problems.base import Problem
from rising_bandits.problems.graphs import ShortestPath, SpanningTree
from rising_bandits.problems.rewards import Reward
from rising_bandits.problems.sets import Explicit, KMax, LinearConstraints, Matching, TopK
from rising_bandits.problems.tasks import Task

__all__ = [
    "Explicit",
    "KMax",
    "LinearConstraints",
    "Matching",
    "Problem",
    "Reward",
    "ShortestPath",
    "SpanningTree",
    "Task",
    "TopK",
    "tasks",
]
