"""The index of the authors' program, against their loop written out plainly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rising_bandits as rb
from rising_bandits.policies.program_crucb import ProgramCRUCB


def by_the_program(outcomes, t, sigma, constant):
    """Outcomes count from 0, as in the program; of the slopes only the last assignment is left."""
    n = len(outcomes)
    h = n // 4
    if h == 0:
        return math.inf
    reward, slope = 0.0, 0.0
    for j in range(n - h, n):
        reward += outcomes[j]
        slope = (t - j) * (outcomes[j] - outcomes[j - h]) / h
    reward = (reward + slope if slope > 0 else reward) / h
    return max(reward + sigma * (t - n + h - 1) * math.sqrt(constant * math.log(t) / h**3), 1e-6)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    outcomes=st.lists(st.floats(0.0, 1.0, width=32), min_size=1, max_size=90),
    sigma=st.sampled_from([0.0, 1e-4, 0.1]),
    others=st.integers(0, 3),
)
def test_the_index_is_that_of_the_program(outcomes, sigma, others):
    policy = ProgramCRUCB(sigma=sigma)
    policy.start(rb.problems.TopK(2, k=1), rng=0)
    for played, outcome in enumerate(outcomes, start=1):
        policy.observe([0], [outcome])
        for _ in range(others):
            policy.observe([1], [0.5])
        t = played * (1 + others) + 1
        expected = by_the_program(outcomes[:played], t, sigma, 40.0)
        assert policy.indices()[0] == pytest.approx(expected, rel=1e-9, abs=1e-9)
        terms = policy.terms()
        if played >= 4 and expected > 1e-6:
            assert sum(float(part[0]) for part in terms.values()) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_arms_below_four_plays_come_first():
    policy = ProgramCRUCB()
    policy.start(rb.problems.TopK(3, k=1), rng=0)
    for _ in range(12):
        policy.observe(arms := policy.select(), [0.9 if arms[0] else 0.1])
    assert policy.plays.tolist() == [4, 4, 4]
    assert np.isfinite(policy.indices()).all()
