"""Problems and tasks.

A problem is what a user optimises: an oracle, a reward, and a label for every base arm. A task adds what is needed to
simulate it. `tasks` holds the tasks of the paper.
"""

from functools import partial

from rising_bandits.problems import identification, lcdb, live_match, portfolio, recorded, tasks, worlds
from rising_bandits.problems.base import Problem
from rising_bandits.problems.graphs import ShortestPath, SpanningTree
from rising_bandits.problems.groups import Knapsack, OneOfEach
from rising_bandits.problems.matching import Matching
from rising_bandits.problems.rewards import Reward
from rising_bandits.problems.routes import Routes
from rising_bandits.problems.sets import Explicit, KMax, LinearConstraints, TopK
from rising_bandits.problems.tasks import Task

for _name in recorded.NAMES:
    tasks.register(_name, partial(recorded.get, _name))
tasks.register_family(portfolio.FAMILY)
tasks.register_family(live_match.FAMILY)
tasks.register_family(identification.FAMILY)
for _family in worlds.FAMILIES:
    tasks.register_family(_family)

__all__ = [
    "Explicit",
    "KMax",
    "Knapsack",
    "LinearConstraints",
    "Matching",
    "OneOfEach",
    "Problem",
    "Reward",
    "Routes",
    "ShortestPath",
    "SpanningTree",
    "Task",
    "TopK",
    "lcdb",
    "tasks",
]
