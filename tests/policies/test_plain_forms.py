"""Where plain Python runs another form than compiled code does, both give the same result bit for bit."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits.oracles.operations import solve
from rising_bandits.policies.rules.operations import indices

ORACLES = [
    rb.oracles.ExplicitSets([[0], [1, 2], [0, 3, 4], [2, 4, 1, 3], [5, 0, 1, 2, 3, 4, 6, 7, 8, 9]]),
    rb.oracles.KSubsets(10, 3),
    rb.oracles.BudgetSets([3, 1, 2, 5, 4, 1, 7, 2, 0, 3], 9),
    rb.oracles.BudgetSets([3.3, 1, 2, 5, 4, 1, 7, 2, 0, 3], 9.7, [[0, 1, 2], [3, 4], [5, 6, 7, 8, 9]]),
]


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: type(oracle).__name__)
def test_solvers(oracle):
    kernel = oracle.kernel()
    loop = solve.implementations[type(kernel)]
    assert loop is not solve._plain[type(kernel)]
    rng = np.random.default_rng(4)
    for trial in range(400):
        weights = rng.integers(-2, 3, oracle.n_arms) / 3.0 if trial % 2 else rng.normal(size=oracle.n_arms)
        if trial % 3 == 0:
            weights[rng.random(oracle.n_arms) < 0.3] = rng.choice([np.inf, -np.inf])
        one, two = np.full(oracle.max_size, -1), np.full(oracle.max_size, -1)
        with np.errstate(invalid="ignore"):
            sizes = loop(kernel, weights, one), solve(kernel, weights, two)
        assert sizes[0] == sizes[1]
        assert one[: sizes[0]].tolist() == two[: sizes[0]].tolist()


RULES = [(name, example) for name, kind in rb.policies.classes().items() for example in kind.examples()]
FORMS = [(name, example) for name, example in RULES if name not in ("oracle", "random", "tour")]


@pytest.mark.parametrize(("name", "example"), FORMS, ids=str)
def test_index_rules(name, example):
    policy = rb.policies.by_name(name, **example)
    policy.start(rb.problems.TopK(8, k=2), horizon=2_000, rng=0)
    rng = np.random.default_rng(1)
    for _ in range(60):
        policy.observe(arms := policy.select(), rng.random(len(arms)))
        rule = policy._engine.rule
        values = []
        for form in (indices.implementations[type(rule)], indices):
            out = np.empty(rule.plays.size)
            with np.errstate(all="ignore"):
                form(copy.deepcopy(rule), policy.round, copy.deepcopy(policy.rng), out)
            values.append(out.tolist())
        assert values[0] == values[1]


def test_decisions_underway_are_checked_like_any_input():
    for policy in (rb.CRUCB(), rb.SWUCB(window=5)):
        policy.start(rb.problems.TopK(4, k=2), rng=0)
        policy.select(underway=[[1, 0]])
        for bad in ([[0, 99]], [[0]], [["x"]], [[-1, 2]]):
            with pytest.raises(rb.InputError):
                policy.select(underway=bad)
