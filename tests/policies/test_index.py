"""The indices against direct transcriptions of their formulas, in exact or plain arithmetic."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rising_bandits as rb


def rising_index(
    outcomes: list[float], t: int, epsilon: float, sigma: float, constant: float, upward: bool = False
) -> float:
    """The formula of the paper, word for word; the sums in exact rationals."""
    n = len(outcomes)
    h = min(max(1, math.ceil(epsilon * n)), n // 2)
    x = [Fraction(0)] + [Fraction(value) for value in outcomes]
    window = range(n - h + 1, n + 1)
    recent = sum(x[i] for i in window) / h
    rise = sum((t - i) * (x[i] - x[i - h]) / h for i in window) / h
    bonus = sigma * (t - n + h - 1) * math.sqrt(constant * math.log(t) / h**3)
    return float(recent + (max(rise, Fraction(0)) if upward else rise)) + bonus


def one_arm(policy: rb.Policy) -> rb.Policy:
    policy.start(rb.problems.TopK(1, k=1), rng=np.random.default_rng(0))
    return policy


def history(kind: str, n: int, seed: int) -> list[float]:
    rng = np.random.default_rng(seed)
    if kind == "uniform":
        return rng.random(n).tolist()
    if kind == "coin":
        return rng.integers(0, 2, n).astype(float).tolist()
    if kind == "rising":
        return np.clip(0.9 * (1 - np.exp(-np.arange(n) / 300)) + 0.01 * rng.normal(size=n), 0, 1).tolist()
    return [0.9] * n


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    kind=st.sampled_from(["uniform", "coin", "rising", "flat"]),
    n=st.integers(2, 5000),
    epsilon=st.sampled_from([0.01, 0.05, 0.1, 0.125, 0.25, 0.3, 0.4, 0.49, 0.4999]),
    sigma=st.sampled_from([0.0, 0.01, 0.5]),
    bonus=st.sampled_from(["paper", "reference", 1.0]),
    upward=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_crucb_index_is_the_equation(kind, n, epsilon, sigma, bonus, upward, seed):
    constant = {"paper": 30.0, "reference": 4.0}.get(bonus, bonus)
    policy = one_arm(rb.CRUCB(epsilon=epsilon, sigma=sigma, bonus=bonus, upward=upward))
    outcomes = history(kind, n, seed)
    check_at = {2, 3, 4, 5, 8, 9, 17, n // 2, n - 1, n}
    for play, outcome in enumerate(outcomes, start=1):
        policy.observe([0], [outcome])
        if play in check_at and play >= 2:
            expected = rising_index(outcomes[:play], play + 1, epsilon, sigma, constant, upward)
            assert policy.indices()[0] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.05, 0.125, 0.3, 0.49])
@pytest.mark.parametrize("kind", ["uniform", "rising", "flat"])
def test_crucb_index_at_rounds_far_beyond_the_plays(kind, epsilon):
    # Two arms: one is played now and then, so that t runs far ahead of its plays.
    policy = rb.CRUCB(epsilon=epsilon, sigma=0.01)
    policy.start(rb.problems.TopK(2, k=1), rng=np.random.default_rng(0))
    outcomes = history(kind, 300, 7)
    for played, outcome in enumerate(outcomes, start=1):
        policy.observe([0], [outcome])
        for _ in range(10):
            policy.observe([1], [0.5])
        if played % 37 == 0:
            expected = rising_index(outcomes[:played], 11 * played + 1, epsilon, 0.01, 30.0)
            assert policy.indices()[0] == pytest.approx(expected, rel=1e-9)
    for t in (10**6, 10**9, 10**12):
        policy._pass_rounds(t - policy.round)
        expected = rising_index(outcomes, t, epsilon, 0.01, 30.0)
        assert policy.indices()[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("n", [1, 2, 3, 50, 1234])
def test_crucb_index_survives_saving_in_mid_run(n):
    outcomes = history("uniform", n + 500, 3)
    policy = one_arm(rb.CRUCB(epsilon=0.3, sigma=0.1))
    for outcome in outcomes[:n]:
        policy.observe([0], [outcome])
    again = rb.CRUCB.from_state(json.loads(json.dumps(policy.state())))
    for outcome in outcomes[n:]:
        policy.observe([0], [outcome])
        again.observe([0], [outcome])
        assert again.indices()[0] == policy.indices()[0]
    assert again.indices()[0] == pytest.approx(rising_index(outcomes, n + 501, 0.3, 0.1, 30.0), rel=1e-9)


def test_arms_with_fewer_than_two_plays_have_an_infinite_index():
    policy = rb.CRUCB(sigma=0.01)
    policy.start(rb.problems.TopK(3, k=1), rng=0)
    policy.observe([0], [0.5])
    policy.observe([1], [0.5])
    policy.observe([1], [0.5])
    assert np.isinf(policy.indices()).tolist() == [True, False, True]


@settings(deadline=None, derandomize=True, max_examples=30)
@given(n=st.integers(1, 2000), window=st.integers(1, 700), seed=st.integers(0, 10**6))
def test_sliding_window_ucb_is_the_equation(n, window, seed):
    policy = one_arm(rb.SWCUCB(window=window))
    outcomes = history("uniform", n, seed)
    for outcome in outcomes:
        policy.observe([0], [outcome])
    h = min(n, window)
    expected = math.fsum(outcomes[n - h :]) / h + math.sqrt(3 * math.log(n + 1) / (2 * n))
    assert policy.indices()[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("n", "window"), [(5, 10), (400, 50), (3000, 547)])
def test_sliding_window_thompson_samples_its_posterior(n, window):
    from scipy import stats

    policy = one_arm(rb.SWCTS(window=window))
    outcomes = history("uniform", n, 11)
    for outcome in outcomes:
        policy.observe([0], [outcome])
    h = min(n, window)
    good = math.fsum(outcomes[n - h :])
    samples = []
    for seed in range(2000):
        # Looking at indices draws from a copy of the generator, so each sample gets one of its own.
        policy.rng = np.random.default_rng(seed)
        samples.append(policy.indices()[0])
    # Kolmogorov-Smirnov at a fixed seed; a wrong posterior gives p below 1e-10 here.
    assert stats.kstest(samples, stats.beta(1 + good, 1 + h - good).cdf).pvalue > 1e-3


def test_windows_default_to_the_root_of_the_horizon():
    policy = rb.SWCUCB()
    policy.start(rb.problems.TopK(1, k=1), horizon=300_000, rng=0)
    assert policy._rule.window == 547
    with pytest.raises(rb.InputError, match="window must be given when the horizon is unknown"):
        rb.SWTS().start(rb.problems.TopK(1, k=1))


@pytest.mark.parametrize(("reward", "scale", "shrink"), [("sum", 3.0, math.sqrt(3)), ("max", 1.0, 1.0)])
def test_red_ucb_index_is_the_equation_on_scaled_rewards(reward, scale, shrink):
    problem = rb.problems.Explicit([[0, 1, 2], [3]], reward=reward)
    policy = rb.RedUCB(epsilon=0.25, sigma=0.3)
    policy.start(problem, rng=0)
    rng = np.random.default_rng(2)
    rewards: dict[int, list[float]] = {0: [], 1: []}
    for t in range(1, 400):
        unit = int(rng.integers(2))
        outcomes = rng.random(3 if unit == 0 else 1)
        policy.observe([0, 1, 2] if unit == 0 else [3], outcomes)
        rewards[unit].append(float(outcomes.sum() if reward == "sum" else outcomes.max()) / scale)
        if t > 50:
            for place, seen in rewards.items():
                expected = rising_index(seen, t + 1, 0.25, 0.3 / shrink, 30.0)
                assert policy.indices()[place] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["r-ed-ucb", "sw-ucb", "sw-ts"])
def test_ties_between_super_arms_are_broken_at_random(name):
    chosen = set()
    for seed in range(40):
        policy = rb.policies.by_name(name, **({"sigma": 0.0} if name == "r-ed-ucb" else {"window": 1}))
        policy.start(rb.problems.Explicit([[0], [1], [2]]), horizon=100, rng=seed)
        for arm in (0, 0, 1, 1, 2, 2):
            policy.observe([arm], [0.5])
        chosen.add(int(policy.select()[0]))
    assert chosen == {0, 1, 2}
