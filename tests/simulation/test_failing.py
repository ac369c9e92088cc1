"""Arms that fail, cascades of them, and windows that are a share of the plays."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rising_bandits as rb
from rising_bandits.curves import Failing, Flat, Gaussian, Tabulated
from rising_bandits.problems import Explicit, Task
from rising_bandits.problems.rewards import Reward
from rising_bandits.testing import POLICY_CHECKS
from rising_bandits.theory.cascade import best_of_cascade, cascade_reward


def _task(rng, reward="harmonic", cascade=True, arms=4, horizon=30):
    sets = [[0, 1], [2], [1, 3, 2]]
    chances = tuple(Tabulated(tuple(np.sort(rng.uniform(0, 1, 6)))) for _ in range(arms))
    gains = [np.sort(rng.uniform(0.05, 1, 6)) for _ in range(arms)]
    curves = tuple(
        Tabulated(tuple(gain * np.array(chance.values))) for gain, chance in zip(gains, chances, strict=True)
    )
    problem = Explicit(sets, reward=Reward(reward))
    return Task("failing", problem, curves, horizon, Failing(chances, told=0.1), cascade=cascade)


def _value_by_enumeration(task, super_arm, horizon):
    """Expected cumulative reward by following every pattern of successes, with its probability."""
    arms = task.problem.oracle.ordered(np.array(super_arm))
    states = {tuple(0 for _ in arms): 1.0}
    total = 0.0
    for _ in range(horizon):
        after: dict[tuple[int, ...], float] = {}
        for plays, weight in states.items():
            chances = [float(task.noise.chances[a](n)) for a, n in zip(arms, plays, strict=True)]
            gains = [
                float(task.curves[a](n)) / c if c > 0 else 0.0 for a, n, c in zip(arms, plays, chances, strict=True)
            ]
            for pattern in itertools.product([True, False], repeat=len(arms)):
                p, values, counts, stopped = weight, [], [], False
                for place, success in enumerate(pattern):
                    if stopped:
                        values.append(0.0)
                        counts.append(plays[place])
                        # A pattern of what was not tried is counted once.
                        p *= 1.0 if not success else 0.0
                        continue
                    p *= chances[place] if success else 1.0 - chances[place]
                    values.append(gains[place] if success else 0.0)
                    counts.append(plays[place] + 1)
                    stopped = task.cascade and not success
                if p > 0.0:
                    total += p * task.problem.reward(values)
                    after[tuple(counts)] = after.get(tuple(counts), 0.0) + p
        states = after
    return total


REWARDS = st.sampled_from(["harmonic", "sum", "product"])


@given(seed=st.integers(0, 200), reward=REWARDS)
@settings(max_examples=12, deadline=None)
def test_what_a_constant_super_arm_earns_under_a_cascade_agrees_with_enumeration(seed, reward):
    task = _task(np.random.default_rng(seed), reward, horizon=5)
    for super_arm in task.problem.oracle.super_arms():
        exact = _value_by_enumeration(task, super_arm, 5)
        # 512 replicas, each round's reward within [0, 3]: 0.25 is more than four standard errors over 5 rounds.
        assert cascade_reward(task, super_arm, 5)[-1] == pytest.approx(exact, abs=0.25, rel=0.15)


@given(seed=st.integers(0, 100), reward=REWARDS, cascade=st.booleans())
@settings(max_examples=8, deadline=None)
def test_expected_rewards_of_runs_agree_with_enumeration(seed, reward, cascade):
    task = _task(np.random.default_rng(seed), reward, cascade, horizon=4)
    super_arm = task.problem.oracle.super_arms()[2]
    exact = _value_by_enumeration(task, super_arm, 4)
    runs = [rb.simulate(task, rb.Oracle(super_arm=super_arm), seed=s) for s in range(300)]
    expected = np.array([run.reward[-1] for run in runs])
    realised = np.array([run.realised_reward[-1] for run in runs])
    for values in (expected, realised):
        error = values.std(ddof=1) / np.sqrt(len(runs))
        assert abs(values.mean() - exact) < 4.5 * error + 1e-9


def test_regret_under_a_cascade_is_against_the_best_constant_super_arm():
    task = _task(np.random.default_rng(3), "sum", horizon=200)
    best = rb.optimal_constant(task)
    values = {tuple(s.tolist()): cascade_reward(task, s, 200)[-1] for s in task.problem.oracle.super_arms()}
    assert tuple(best.super_arm.tolist()) == max(values, key=values.get)
    assert np.array_equal(best.super_arm, best_of_cascade(task, 200))
    assert best.total == pytest.approx(max(values.values()))
    runs = [rb.simulate(task, rb.Oracle(), seed=seed) for seed in range(200)]
    regret = np.array([run.regret[-1] for run in runs])
    # Both are means of the same thing; the comparator's own error is that of 512 runs.
    assert abs(regret.mean()) < 4.5 * regret.std(ddof=1) * np.sqrt(1 / 200 + 1 / 512)
    assert runs[0].optimum is not None


@given(seed=st.integers(0, 200), reward=REWARDS)
@settings(max_examples=12, deadline=None)
def test_without_a_cascade_the_best_constant_super_arm_is_the_one_of_enumeration_and_has_no_regret(seed, reward):
    task = _task(np.random.default_rng(seed), reward, cascade=False, horizon=4)
    values = {tuple(s.tolist()): _value_by_enumeration(task, s, 4) for s in task.problem.oracle.super_arms()}
    best = rb.optimal_constant(task)
    assert best.total == pytest.approx(max(values.values()))
    assert values[tuple(best.super_arm.tolist())] == pytest.approx(best.total)
    assert rb.simulate(task, rb.Oracle(), seed=0).regret == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("noise", [Failing((Flat(0.5), Flat(0.5))), rb.curves.Bernoulli()])
def test_a_product_under_a_cascade_is_the_product_of_the_means(noise):
    task = Task("both", Explicit([[0, 1]], reward="product"), (Flat(0.5), Flat(0.5)), 2_000, noise, cascade=True)
    run = rb.simulate(task, rb.Oracle(), seed=0)
    assert run.reward[-1] == pytest.approx(500.0)
    assert run.regret == pytest.approx(0.0, abs=1e-9)
    # 2000 rounds of variance below 0.25: four standard errors are below 90.
    assert abs(run.realised_reward[-1] - 500.0) < 90.0


def test_where_the_chances_are_not_known_there_is_no_regret():
    problem = Explicit([[0, 1]])
    task = Task("clipped", problem, (Flat(0.1), Flat(0.1)), 50, Gaussian(0.1), cascade=True)
    run = rb.simulate(task, rb.Random(), seed=0)
    assert np.isnan(run.regret).all()
    assert np.isfinite(run.reward).all()
    coins = Task("coins", Explicit([[0, 1]], reward="max"), task.curves, 50, rb.curves.Bernoulli(), cascade=True)
    run = rb.simulate(coins, rb.Random(), seed=0)
    assert np.isnan(run.reward).all()
    assert np.isfinite(run.realised_reward).all()
    with pytest.raises(rb.InputError, match="known for arms that fail by chance"):
        rb.optimal_constant(task)


def test_failing_refuses_what_does_not_fit():
    with pytest.raises(rb.InputError, match="chances must be curves"):
        Failing((0.5,))
    with pytest.raises(rb.InputError, match="one curve per base arm, 2, got 1"):
        Task("short", Explicit([[0, 1]]), (Flat(0.1), Flat(0.1)), 5, Failing((Flat(0.5),)))


@pytest.mark.parametrize("policy", [rb.SWUCB, rb.SWCUCB, rb.SWTS, rb.SWCTS])
@pytest.mark.parametrize("check", POLICY_CHECKS, ids=lambda check: check.__name__)
def test_policies_whose_window_is_a_share_pass_the_conformance_suite(policy, check):
    check(lambda: policy(window=0.25))


@given(st.integers(0, 1_000), st.floats(0.02, 0.98), st.integers(1, 150))
@settings(max_examples=60, deadline=None)
def test_a_share_of_the_plays_is_what_a_plain_mean_says(seed, share, plays):
    rng = np.random.default_rng(seed)
    policy = rb.SWCUCB(window=share)
    policy.start(rb.problems.TopK(2, k=1), rng=0)
    outcomes = rng.random(plays)
    for outcome in outcomes:
        policy.observe([0], [outcome])
    held = max(1, int(share * plays))
    t = plays + 1
    expected = outcomes[-held:].mean() + np.sqrt(1.5 * np.log(t) / plays)
    assert policy.indices()[0] == pytest.approx(expected)


def test_a_quarter_of_the_plays_is_n_over_four():
    policy = rb.SWCTS(window=0.25)
    policy.start(rb.problems.TopK(1, k=1), rng=0)
    for n in range(1, 60):
        policy.observe([0], [1.0])
        rule = policy._rule
        assert rule.total[0] == pytest.approx(max(1, n // 4))


@pytest.mark.parametrize("window", [0, -3, 1.0, 1.5, 0.0, "0.25", True])
def test_windows_that_are_neither_are_refused(window):
    with pytest.raises(rb.InputError, match="window must be"):
        rb.SWCUCB(window=window)
