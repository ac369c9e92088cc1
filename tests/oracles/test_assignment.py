"""Assignments against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle_kit import draw_larger_weights, ordinary, quick
from scipy.optimize import linear_sum_assignment

from rising_bandits.oracles import (
    Assignments,
)


@quick
@given(data=st.data(), rng=ordinary)
def test_assignments_against_scipy(data: st.DataObject, rng: np.random.Generator) -> None:
    n_jobs = data.draw(st.integers(1, 14))
    n_workers = data.draw(st.integers(1, n_jobs))
    weights = draw_larger_weights(data.draw, rng, n_workers * n_jobs)
    table = weights.reshape(n_workers, n_jobs)
    best = table[linear_sum_assignment(table, maximize=True)].sum()
    oracle = Assignments(n_workers, n_jobs)
    found = oracle.solve(weights)
    assert oracle.is_feasible(found)
    assert weights[found].sum() == pytest.approx(best, rel=1e-9, abs=1e-9)

    allowed = rng.random((n_workers, n_jobs)) < 0.7
    allowed[np.arange(n_workers), rng.permutation(n_jobs)[:n_workers]] = True
    pairs = [(int(worker), int(job)) for worker, job in np.argwhere(allowed)]
    # A penalty larger than every sum keeps scipy off the pairs that are not allowed.
    limited = np.where(allowed, table, -1e4)
    best = limited[linear_sum_assignment(limited, maximize=True)].sum()
    found = Assignments(n_workers, n_jobs, pairs).solve(table[allowed])
    assert table[allowed][found].sum() == pytest.approx(best, rel=1e-9, abs=1e-9)
