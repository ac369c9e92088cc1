"""Small helpers for tests of problems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import settings

from rising_bandits.problems import (
    Problem,
)

quick = settings(deadline=None, derandomize=True, max_examples=40)
ROADS = [("home", "bridge"), ("home", "tunnel"), ("bridge", "work"), ("tunnel", "work")]


def family(problem: Problem) -> set[frozenset]:
    return {frozenset(problem.labels_of(arms)) for arms in problem.oracle.super_arms()}


def best(problem: Problem, weights: Sequence[float], **options: Any) -> list:
    return problem.labels_of(problem.oracle.solve(weights, **options))
