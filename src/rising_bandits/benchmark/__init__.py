"""A benchmark of policies on the paper's tasks, instances of Metelli et al., recorded AntMaze runs and random tasks."""

from rising_bandits.benchmark.plan import (
    FIRST_SEED,
    GROUPS,
    POLICIES,
    Instance,
    Planned,
    benchmark_plan,
    instances,
    seeds_of,
)
from rising_bandits.benchmark.report import Line, Score, Target, as_data, frontier, lines, ranks, scores, targets
from rising_bandits.benchmark.suite import FAMILIES, HORIZONS, NOISES, STRUCTURES, instance

__all__ = [
    "FAMILIES",
    "FIRST_SEED",
    "GROUPS",
    "HORIZONS",
    "NOISES",
    "POLICIES",
    "STRUCTURES",
    "Instance",
    "Line",
    "Planned",
    "Score",
    "Target",
    "as_data",
    "benchmark_plan",
    "frontier",
    "instance",
    "instances",
    "lines",
    "ranks",
    "scores",
    "seeds_of",
    "targets",
]
