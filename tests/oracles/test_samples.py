"""Samples are uniform, also of families too large to list."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from oracle_kit import SAMPLED
from scipy import stats

from rising_bandits.oracles import (
    Assignments,
    DagPaths,
    KSubsets,
    SpanningTrees,
)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("kind", SAMPLED)
def test_samples_are_uniform(kind: str, masked: bool) -> None:
    # With a right sampler a seed fails with chance 1e-4; this seed is fixed.
    oracle = SAMPLED[kind]
    mask = np.zeros(oracle.n_arms, dtype=bool)
    mask[0] = masked
    family = [tuple(arms.tolist()) for arms in oracle.super_arms() if not mask[arms].any()]
    assert len(family) > 1
    rng = np.random.default_rng(20_240)
    seen = Counter(tuple(oracle.sample(rng, mask if masked else None).tolist()) for _ in range(250 * len(family)))
    assert set(seen) == set(family)
    assert stats.chisquare([seen[arms] for arms in family]).pvalue > 1e-4


def test_samples_of_a_family_too_large_to_list() -> None:
    rng = np.random.default_rng(0)
    steps = 60
    dag = DagPaths([i // 2 for i in range(2 * steps)], [i // 2 + 1 for i in range(2 * steps)], 0, steps)
    assert dag.count() == 2**steps
    assert dag.is_feasible(dag.sample(rng))
    tree = SpanningTrees(list(itertools.combinations(range(12), 2)))
    assert tree.count() == 12**10
    assert tree.is_feasible(tree.sample(rng))
    matching = Assignments(12, 12)
    assert matching.count() == math.factorial(12)
    assert matching.is_feasible(matching.sample(rng))
    sets = KSubsets(60, 30)
    assert sets.is_feasible(sets.sample(rng))
