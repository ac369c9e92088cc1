"""A problem, policies and helpers for tests of studies."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

import rising_bandits as rb

ROADS = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("b", "c")]
PROBLEM = rb.problems.ShortestPath(ROADS, "a", "d")
POLICIES = {
    "crucb": lambda: rb.CRUCB(sigma=0.1),
    "coarse": lambda: rb.CRUCB(sigma=0.1, resolution=4),
    "horizon": lambda: rb.HorizonCRUCB(sigma=0.1, ahead=100),
    "measuring": lambda: rb.HorizonCRUCB(ahead=100),
    "sw-cucb": lambda: rb.SWCUCB(window=4),
    "sw-cts": lambda: rb.SWCTS(window=4),
    "sw-ucb": lambda: rb.SWUCB(window=4),
    "r-ed-ucb": lambda: rb.RedUCB(sigma=0.1),
    "random": rb.Random,
}
SMALLER = rb.problems.ShortestPath([road for road in ROADS if road != ("b", "c")], "a", "d")
ARMS = [label for label in PROBLEM.labels if label in SMALLER.labels]
QUICK = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


class Clock:
    def __init__(self):
        self.time = 1_000_000.0

    def __call__(self):
        return self.time


def make(storage, policy=None, problem=PROBLEM, name="s", **options):
    return rb.studies.create(name, problem, policy or rb.CRUCB(sigma=0.1), storage=storage, seed=7, **options)


def outcomes_for(decision, salt=0):
    """Outcomes that differ for all decisions and arms."""
    return {
        label: ((decision.id * 37 + place * 11 + salt) % 101) / 101 for place, label in enumerate(decision.super_arm)
    }


def log_of(study):
    """Every line of the log, as the database has it."""
    with study._log.storage.read() as reader:
        return list(reader.later(study._log.number, 0))
