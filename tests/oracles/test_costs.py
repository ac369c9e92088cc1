"""Paths by cost: where clipped costs are equal, higher indices decide."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits.oracles import CostPaths

KINDS = {"inverse": lambda w: 1.0 / max(w, 1e-12), "log": lambda w: max(0.0, -math.log(max(w, 1e-12)))}


def score(weights, arms, kind):
    """Total cost, and among equal ones how low the clipped weights are."""
    clipped = [w for w in weights[list(arms)] if w <= 1e-12 or (kind == "log" and 1.0 <= w < math.inf)]
    return sum(KINDS[kind](w) for w in weights[list(arms)]), sum(1.0 - w / (1.0 + abs(w)) for w in clipped)


@pytest.mark.parametrize("kind", ["inverse", "log"])
def test_the_best_path_by_cost_and_then_by_uncapped_index(kind):
    rng = np.random.default_rng(8)
    for _ in range(150):
        nodes = int(rng.integers(3, 7))
        arcs = [(i, j) for i in range(nodes) for j in range(nodes) if i != j and rng.random() < 0.6] + [(0, nodes - 1)]
        oracle = CostPaths([a for a, _ in arcs], [b for _, b in arcs], 0, nodes - 1, cost=kind)
        weights = rng.choice([-3.0, -0.5, 0.0, 0.25, 0.5, 1.0, 1.25, 2.0, 8.0], oracle.n_arms)
        best = min(score(weights, arms, kind) for arms in oracle.enumerate())
        assert score(weights, oracle.solve(weights), kind) == pytest.approx(best, rel=1e-9)


def test_a_larger_index_above_one_wins():
    """The first arm in the list used to win every tie."""
    stages = [(f"s{k}", f"s{k + 1}", f"tool {k}{a}") for k in range(2) for a in "abc"]
    problem = rb.problems.ShortestPath(stages, "s0", "s2", reward="product")
    chosen = problem.oracle.solve([1.1, 3.0, 2.0, 1.0, 0.9, 1.5])
    assert problem.labels_of(chosen) == ["tool 0b", "tool 1c"]


def test_sigma_cannot_make_a_policy_explore_less():
    """With every index above 1, each tool of a stage is still tried, in turn."""
    stages = [(f"s{k}", f"s{k + 1}", f"tool {k}{a}") for k in range(2) for a in "abc"]
    problem = rb.problems.ShortestPath(stages, "s0", "s2", reward="product")
    policy = rb.CRUCB(sigma=0.5)
    policy.start(problem, rng=0)
    for _ in range(60):
        arms = policy.select()
        policy.observe(arms, [0.5] * len(arms))
    assert policy.plays.min() >= 15


@pytest.mark.parametrize("cost", ["a", None, [1.0], [[1.0], [2.0, 3.0]], float("nan"), 1j], ids=repr)
def test_a_cost_function_must_return_costs(cost):
    oracle = CostPaths([0, 0], [1, 1], 0, 1, cost=lambda weights: cost)
    with pytest.raises(rb.InputError, match="cost must return one cost of at least 0 per arm, got"):
        oracle.solve([0.1, 0.2])
