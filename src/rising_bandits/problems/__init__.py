"""Problems and tasks.

A problem is what a user optimises: an oracle, a reward, and a label for every base arm. A task adds what is needed to
simulate it. `tasks` holds the tasks of the paper.
"""

from functools import partial

from rising_bandits.problems import lcdb, recorded, tasks
from rising_bandits.problems.base import Problem
from rising_bandits.problems.graphs import ShortestPath, SpanningTree
from rising_bandits.problems.rewards import Reward
from rising_bandits.problems.sets import Explicit, KMax, LinearConstraints, Matching, TopK
from rising_bandits.problems.tasks import Task

for _name in recorded.NAMES:
    tasks.register(_name, partial(recorded.get, _name))
tasks.register_family(lcdb.FAMILY)

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
