"""``problem.exact`` tells the truth: where it is True, no super arm has a larger reward than the one that is found."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from rising_bandits import problems
from rising_bandits.problems import Problem

ACYCLIC = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (0, 3)]
CYCLIC = [*ACYCLIC, (2, 1), (3, 0), (3, 1)]
COSTS = {"product": "log", "harmonic": "inverse"}
KINDS: dict[str, tuple[Callable[[str], Problem], set[str]]] = {
    "paths": (lambda reward: problems.ShortestPath(ACYCLIC, 0, 3, reward=reward), {"sum", "product", "harmonic"}),
    "paths-costs": (
        lambda reward: problems.ShortestPath(CYCLIC, 0, 3, reward=reward, cost=COSTS.get(reward, "inverse")),
        {"product", "harmonic"},
    ),
    "routes": (lambda reward: problems.Routes(ACYCLIC, [(0, 3), (1, 3)], reward=reward), {*COSTS, "sum"}),
    "matching": (lambda reward: problems.Matching(2, 3, reward=reward), {"sum"}),
    "capacities": (lambda reward: problems.Matching(2, 3, reward=reward, optional=True, job_capacity=2), {"sum"}),
    "trees": (lambda reward: problems.SpanningTree(ACYCLIC, reward=reward), {"sum"}),
    "explicit": (lambda reward: problems.Explicit([[0], [1, 2], [0, 3]], reward=reward), {"sum"}),
    "one-of-each": (
        lambda reward: problems.OneOfEach([["a", "b"], ["c", "d", "e"]], reward=reward),
        {"sum", "max", "product", "harmonic"},
    ),
    "knapsack": (lambda reward: problems.Knapsack({"a": 1, "b": 2, "c": 3, "d": 1.5}, 4, reward=reward), {"sum"}),
    "linear": (lambda reward: problems.LinearConstraints([[1, 1, 1, 1]], [1], [2], reward=reward), {"sum"}),
    "k-sets": (lambda reward: Problem(problems.TopK(5, 2).oracle, reward), {"sum", "max"}),
}  # fmt: skip


@pytest.mark.parametrize("reward", ["sum", "max", "product", "harmonic"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_is_best_where_the_problem_says_so(kind: str, reward: str) -> None:
    make, exact_for = KINDS[kind]
    problem = make(reward)
    assert problem.exact == (reward in exact_for)
    if not problem.exact:
        return
    rng = np.random.default_rng(0)
    sets = problem.oracle.super_arms()
    for turn in range(40):
        outcomes = rng.random(problem.n_arms) if turn % 2 else rng.choice([0.0, 1e-6, 0.5, 1.0], problem.n_arms)
        best = max(problem.reward.combine(outcomes[arms]) for arms in sets)
        assert problem.reward.combine(outcomes[problem.oracle.solve(outcomes)]) == pytest.approx(best, abs=1e-12)
