"""Rival policies: their indices against the formulas, written out over whole histories."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rising_bandits as rb

ROUNDS = st.lists(st.tuples(st.integers(0, 2), st.floats(0, 1, width=32)), min_size=1, max_size=90)


def played(policy, rounds, horizon=500):
    """The policy after these rounds of single arms, and per arm its outcomes with their rounds."""
    policy.start(rb.problems.TopK(3, k=1), horizon=horizon, rng=0)
    past = [[], [], []]
    for t, (arm, outcome) in enumerate(rounds, 1):
        policy.observe([arm], [outcome])
        past[arm].append((t, outcome))
    return past


def compare(policy, past, formula):
    """Indices against a formula of (outcomes, their rounds, round); an arm without an index is infinite."""
    t = policy.round
    for arm, plays in enumerate(past):
        times, outcomes = [time for time, _ in plays], [outcome for _, outcome in plays]
        wanted = formula(outcomes, times, t) if plays else math.inf
        assert policy.indices()[arm] == pytest.approx(wanted, rel=1e-9, abs=1e-9)
        parts = [part[arm] for part in policy.terms().values()]
        assert sum(parts) == pytest.approx(wanted, rel=1e-9, abs=1e-9) or not math.isfinite(wanted)


@given(ROUNDS)
@settings(max_examples=40, deadline=None)
def test_cucb(rounds):
    policy = rb.policies.CUCB(bonus=2.0)
    past = played(policy, rounds)
    compare(policy, past, lambda x, _, t: sum(x) / len(x) + math.sqrt(2.0 * math.log(t) / len(x)))


@given(ROUNDS, st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_recent_mean(rounds, window):
    policy = rb.policies.RecentMean(window=window)
    past = played(policy, rounds)
    compare(policy, past, lambda x, _, t: float(np.mean(x[-window:])))


@given(ROUNDS, st.sampled_from([None, 0.0, 0.3]))
@settings(max_examples=60, deadline=None)
def test_newer_half(rounds, sigma):
    policy = rb.policies.NewerHalf(sigma=sigma)
    past = played(policy, rounds)
    jumps = [(b - a) ** 2 / 2 for plays in past for (_, a), (_, b) in pairwise(plays)]
    deviation = math.sqrt((0.25 + sum(jumps)) / (1 + len(jumps))) if sigma is None else sigma

    def formula(x, _, t):
        w = max(1, len(x) // 2)
        return sum(x[-w:]) / w + deviation * math.sqrt(2.0 * math.log(t) / w)

    compare(policy, past, formula)


@given(ROUNDS, st.integers(2, 9))
@settings(max_examples=40, deadline=None)
def test_means_of_the_greedy_rules(rounds, each):
    policy = rb.policies.EpsilonGreedy(epsilon=0.0)
    compare(policy, played(policy, rounds), lambda x, *_: float(np.mean(x)))
    policy = rb.policies.ExploreThenCommit(plays_each=each)
    past = played(policy, rounds)
    if policy.round > 3 * each or all(len(plays) >= each for plays in past):
        compare(policy, past, lambda x, *_: float(np.mean(x[:each])))
    else:
        wanted = [1.0 if len(plays) < each else 0.25 for plays in past]
        assert policy.indices().tolist() == wanted


@given(ROUNDS, st.booleans(), st.sampled_from([0.125, 0.25, 0.45]))
@settings(max_examples=60, deadline=None)
def test_r_less_ucb(rounds, upward, epsilon):
    policy = rb.policies.RLessUCB(sigma=0.1, upward=upward, epsilon=epsilon, bonus=4.0)
    past = played(policy, rounds)

    def formula(x, times, t):
        n = len(x)
        if n < 2:
            return math.inf
        h = min(max(1, math.ceil(epsilon * n)), n // 2)
        while h >= 16 and h % (1 << (h.bit_length() - 4)):
            h -= 1
        rise = sum((t - times[i]) * (x[i] - x[i - h]) / (times[i] - times[i - h]) for i in range(n - h, n)) / h
        bonus = 0.1 * (t - n + h - 1) * math.sqrt(4.0 * math.log(t) / h**3)
        return sum(x[-h:]) / h + (max(0.0, rise) if upward else rise) + bonus

    compare(policy, past, formula)


def test_r_less_ucb_over_many_plays_and_growing_windows():
    rng = np.random.default_rng(3)
    policy = rb.policies.RLessUCB(sigma=0.0, upward=False)
    policy.start(rb.problems.TopK(2, k=1), rng=0)
    times, x = [], []
    for t in range(1, 2_500):
        arm = int(rng.random() < 0.3)
        outcome = rng.random()
        policy.observe([arm], [outcome])
        if arm == 0:
            times.append(t)
            x.append(outcome)
        if arm == 0 and t % 50 == 0:
            h = int(policy._rule.window[0])
            n = len(x)
            assert n / 4 * 0.85 < h <= n / 4 + 1
            rise = [(t + 1 - times[i]) * (x[i] - x[i - h]) / (times[i] - times[i - h]) for i in range(n - h, n)]
            assert policy.indices()[0] == pytest.approx(np.mean(x[-h:]) + np.mean(rise), abs=1e-7)


def test_thompson_samples_have_the_moments_of_their_posterior():
    rounds = [(0, 0.9), (0, 0.5), (1, 0.2), (1, 0.4), (1, 0.1)]
    for parameters in ({}, {"posterior": "gaussian", "sigma": 0.3}):
        policy = rb.policies.CTS(**parameters)
        past = played(policy, rounds)
        rng = np.random.default_rng(0)
        samples = []
        for _ in range(4_000):
            policy.rng = np.random.default_rng(rng.integers(2**63))
            samples.append(policy.indices())
        for arm in (0, 1):
            x = [outcome for _, outcome in past[arm]]
            a, b = 1 + sum(x), 1 + len(x) - sum(x)
            beta = a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))
            mean, variance = (np.mean(x), 0.09 / len(x)) if parameters else beta
            drawn = np.array(samples)[:, arm]
            # Four standard errors of 4 000 draws.
            assert drawn.mean() == pytest.approx(mean, abs=4 * math.sqrt(variance / 4_000))
            assert drawn.var() == pytest.approx(variance, rel=0.12)


def test_policies_of_flat_arms_keep_a_fixed_amount_of_memory():
    for policy in (rb.policies.CUCB(), rb.policies.CTS(), rb.policies.EpsilonGreedy()):
        policy.start(rb.problems.TopK(2, k=1), rng=0)
        policy.absorb(0, [0.5])
        small = len(str(policy.state()))
        policy.absorb(0, [0.25, 0.75] * 1_000)
        assert len(str(policy.state())) < small + 200


def test_random_rounds_of_epsilon_greedy_are_as_many_as_they_should_be():
    policy = rb.policies.EpsilonGreedy(epsilon=0.25)
    policy.start(rb.problems.TopK(4, k=1), rng=1)
    other = 0
    for t in range(2_000):
        arms = policy.select()
        other += t >= 8 and int(arms[0]) != 3
        policy.observe(arms, [0.2 * (arms[0] + 1)])
    # Three of four random rounds play another arm: 0.1875 of 1992, with five deviations of slack.
    assert abs(other - 0.1875 * 1_992) < 5 * math.sqrt(1_992 * 0.1875 * 0.8125)


def test_exploring_covers_every_arm_of_a_path_and_then_never_changes():
    task = rb.tasks.get("path-easy")
    run = rb.simulate(task, rb.policies.ExploreThenCommit(plays_each=20), horizon=1_000, seed=0, compiled=False)
    assert run.plays.min() >= 20
    assert max(run.super_arm_plays.values()) >= 1_000 - 12 * 20


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rb.policies.CUCB(bonus=-1), "bonus must be a number C of at least 0"),
        (lambda: rb.policies.CTS(posterior="normal"), "posterior must be 'beta' or 'gaussian', got 'normal'"),
        (lambda: rb.policies.CTS(sigma=0.0), "sigma must be a number above 0"),
        (lambda: rb.policies.RecentMean(window=0), "window must be an integer of at least 1"),
        (lambda: rb.policies.NewerHalf(sigma=-0.1), "sigma must be a number of at least 0"),
        (lambda: rb.policies.EpsilonGreedy(epsilon=1.5), "epsilon must be"),
        (lambda: rb.policies.EpsilonGreedy(fading=1), "fading must be True or False"),
        (lambda: rb.policies.ExploreThenCommit(plays_each=1), "plays_each must be an integer of at least 2"),
        (lambda: rb.policies.ExploreThenCommit().start(rb.problems.TopK(2, 1)), "plays_each must be given"),
        (lambda: rb.policies.RLessUCB(epsilon=0.5), "epsilon must be"),
    ],
)
def test_wrong_parameters_are_refused(make, message):
    with pytest.raises(rb.InputError, match=message):
        make()
