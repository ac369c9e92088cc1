"""Sets of k arms against sorting."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from oracle_kit import ordinary, quicker

from rising_bandits.oracles import (
    KSubsets,
)


@quicker
@given(rng=ordinary)
def test_k_subsets_against_sorting(rng: np.random.Generator) -> None:
    n_arms = int(rng.integers(1, 200))
    k = int(rng.integers(1, n_arms + 1))
    weights = rng.integers(-20, 20, n_arms).astype(float)
    found = KSubsets(n_arms, k).solve(weights)
    assert len(set(found.tolist())) == k
    assert weights[found].sum() == np.sort(weights)[n_arms - k :].sum()
