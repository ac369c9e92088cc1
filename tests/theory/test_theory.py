"""Bounds, optima and the proofs' instances against direct transcriptions and brute force."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rising_bandits as rb
from rising_bandits.curves import Exponential, Flat, Linear, Noiseless, Tabulated
from rising_bandits.theory import checks, instances, proofs
from rising_bandits.theory.bounds import lower_bound, lower_rate, upper_bound, upper_rate, upsilon
from rising_bandits.theory.policy import count_states, optimal_policy

quick = settings(deadline=None, derandomize=True, max_examples=25)


def small_task(horizon: int = 50) -> rb.Task:
    curves = (Flat(0.4), Linear(duration=20, end=0.9), Exponential(time=7.0, end=0.8))
    return rb.Task("small", rb.problems.TopK(3, k=2), curves, horizon, rb.curves.Gaussian(0.05))


@quick
@given(plays=st.integers(1, 60), q=st.floats(0.0, 1.0))
def test_upsilon_is_its_definition(plays, q):
    task = small_task()
    total = 0.0
    for play in range(plays):
        slope = max(float(curve(play + 1) - curve(play)) for curve in task.curves)
        total += slope**q if slope > 0 else 0.0
    assert upsilon(task, plays, q) == pytest.approx(total, rel=1e-9)


@quick
@given(horizon=st.integers(10, 3000), epsilon=st.floats(0.01, 0.45), q=st.floats(0.0, 1.0), sigma=st.floats(0.0, 1.0))
def test_the_upper_bound_is_theorem_3(horizon, epsilon, q, sigma):
    task = small_task()
    arms, size = 3, 2
    plays = max(1, math.ceil((1 - 2 * epsilon) * size * horizon / arms))
    first = (2 + size * math.pi**2 / 3) * arms
    second = arms * horizon**q / (1 - 2 * epsilon) * upsilon(task, plays, q)
    third = 3 * arms / epsilon * (2 * sigma * horizon) ** (2 / 3) * (6 * math.log(4 * horizon)) ** (1 / 3)
    bound = upper_bound(task, horizon, epsilon=epsilon, sigma=sigma, q=q)
    assert bound.start == pytest.approx(first)
    assert bound.growth == pytest.approx(second)
    assert bound.noise == pytest.approx(third)
    assert bound.total == pytest.approx(first + second + third)
    smallest = upper_bound(task, horizon, epsilon=epsilon, sigma=sigma)
    grid = [upper_bound(task, horizon, epsilon=epsilon, sigma=sigma, q=x).total for x in np.linspace(0, 1, 41)]
    assert smallest.total <= min(grid) * (1 + 1e-6)


def test_the_bonus_that_is_run_costs_more_than_the_proofs():
    task = rb.tasks.get("path-easy")
    horizon = task.horizon
    ratio = upper_bound(task, constant=30.0).noise / upper_bound(task).noise
    assert ratio == pytest.approx((30 * math.log(horizon) / (6 * math.log(4 * horizon))) ** (1 / 3))


@pytest.mark.parametrize("name", ["path-easy", "matching-easy", "spanning-easy", "k-max"])
def test_measured_regret_stays_below_the_upper_bound(name):
    task = rb.tasks.get(name)
    if name == "k-max":
        # With its noise the bound is above all that can be earned, and would hold for any policy.
        task = replace(task, noise=Noiseless())
    bound = upper_bound(task, constant=30.0).total
    run = rb.simulate(task, rb.CRUCB(sigma=task.sigma), seed=0)
    assert bound < run.optimum.total
    assert run.regret[-1] <= bound


def test_bounds_and_checks_refuse_what_has_no_meaning():
    task = rb.tasks.get("path-easy")
    with pytest.raises(rb.InputError, match="constant must be"):
        upper_bound(task, constant=-1.0)
    for c in (1.0, 2.5):
        with pytest.raises(rb.InputError, match="c must be"):
            proofs.theorem_5(100, c)
    for wrong in ({"constant": -1.0}, {"runs": 0}, {"epsilon": -3.0}, {"sigma": math.nan}, {"horizon": 8}):
        with pytest.raises(rb.InputError, match=f"{next(iter(wrong))} must be"):
            checks.concentration(**{"runs": 3, "horizon": 100, **wrong})
    with pytest.raises(rb.InputError, match="task must be a Task"):
        rb.optimal_constant(task.problem)


def test_the_exact_policy_knows_arms_that_fail_and_refuses_cascades():
    """With a single super arm nothing can be chosen, so the best policy is the best constant super arm."""
    chances = (Tabulated((0.1, 0.5, 0.8)), Flat(0.5))
    curves = (Tabulated((0.05, 0.3, 0.6)), Flat(0.25))
    noise = rb.curves.Failing(chances)
    problem = rb.problems.Explicit([[0, 1]], reward="harmonic")
    task = rb.Task("one", problem, curves, 10, noise)
    assert optimal_policy(task).total == pytest.approx(rb.optimal_constant(task).total)
    # A round is worth the chance that both succeed, over the sum of the times that they then take: 1/0.5 each at first.
    assert optimal_policy(task, 1).total == pytest.approx(0.1 * 0.5 / (2 + 2))
    with pytest.raises(rb.InputError, match="task must not have cascading feedback"):
        optimal_policy(replace(task, cascade=True))


def test_rates_meet_at_one_and_keep_their_order():
    for c in np.linspace(0.1, 1.99, 60):
        assert 0.5 <= lower_rate(float(c)) <= upper_rate(float(c)) <= 1.0
    with pytest.raises(rb.InputError, match="c must be below 2"):
        lower_rate(2.0)


def outcome_of(task: rb.Task, flat_plays: int, horizon: int) -> float:
    """Reward of a two-armed instance when the flat arm is played so often: order does not matter (rested)."""
    flat, rising = task.curves
    return float(flat(np.arange(flat_plays)).sum() + rising(np.arange(horizon - flat_plays)).sum())


@pytest.mark.parametrize("c", [1.1, 1.3, 1.5, 1.7, 1.9])
@pytest.mark.parametrize("horizon", [30, 150])
def test_the_fine_grained_pair_costs_every_policy_its_bound(c, horizon):
    """Brute force over what a deterministic policy can do: give up after M plays, or reach play P and know."""
    a, b = instances.fine_grained(horizon, c)
    level = instances.fine_grained_level(horizon, c)
    best_a = max(outcome_of(a, plays, horizon) for plays in range(horizon + 1))
    best_b = max(outcome_of(b, plays, horizon) for plays in range(horizon + 1))
    # Never P plays of the rising arm: the same plays on A and on B.
    blind = [
        (best_a - outcome_of(a, plays, horizon), best_b - outcome_of(b, plays, horizon))
        for plays in range(horizon - level.switch + 1, horizon + 1)
    ]
    # P plays of it after M of the flat one: from there on the best that each instance allows.
    knowing = [
        (
            best_a - max(outcome_of(a, plays, horizon) for plays in range(m, horizon - level.switch + 1)),
            best_b - max(outcome_of(b, plays, horizon) for plays in range(m, horizon - level.switch + 1)),
        )
        for m in range(horizon - level.switch + 1)
    ]
    pairs = np.array(blind + knowing)
    # A randomised policy is a mixture of these; whatever it is, its larger regret is at least any weighted mean.
    weight = level.insisted / (level.given_up + level.insisted)
    assert (weight * pairs[:, 0] + (1 - weight) * pairs[:, 1]).min() >= level.bound * (1 - 1e-9)
    assert lower_bound(horizon, 3, c) == pytest.approx(3 * level.bound)


def test_the_pairs_belong_to_their_classes_and_are_the_same_at_first():
    for c in (1.2, 1.6):
        a, b = instances.fine_grained(5000, c)
        level = instances.fine_grained_level(5000, c)
        for task in (a, b):
            means = task.curves[1](np.arange(5000))
            slopes = np.diff(means)
            assert (slopes >= 0).all()
            assert (np.diff(slopes) <= 1e-15).all()
            assert (slopes <= (np.arange(1, 5000) + 1.0) ** -c + 1e-12).all()
            assert means.max() <= 1.0
        early = np.arange(level.switch)
        assert np.array_equal(a.curves[1](early), b.curves[1](early))
        assert rb.optimal_constant(a).super_arm.tolist() == [1]
        assert b.means(5000)[1] == pytest.approx(b.means(5000)[0])
    a, b = instances.general(3000, copies=3)
    assert a.problem.oracle.count() == 8
    assert rb.optimal_constant(a).super_arm.tolist() == [3, 4, 5]
    assert rb.optimal_constant(b).super_arm.tolist() == [0, 1, 2]
    assert np.array_equal(a.means(999), b.means(999))


def test_the_general_pair_costs_exactly_an_eighteenth():
    horizon = 3000
    a, b = instances.general(horizon)
    given_up = rb.optimal_constant(a).total - outcome_of(a, horizon, horizon)
    insisted = rb.optimal_constant(b).total - outcome_of(b, 0, horizon)
    assert given_up * insisted / (given_up + insisted) == pytest.approx(lower_bound(horizon), rel=2e-3)


@pytest.mark.parametrize("horizon", [*range(7, 20), 50, 51, 52])
def test_the_general_pair_costs_every_policy_an_eighteenth(horizon):
    """Brute force over deterministic policies, which see no difference in the first plays, and their mixtures."""
    a, b = instances.general(horizon)
    # A row for A and one for B, a column for each number of plays of the rising arm.
    rewards = np.array([[outcome_of(task, horizon - m, horizon) for m in range(horizon + 1)] for task in (a, b)])
    regret = rewards.max(axis=1, keepdims=True) - rewards
    same = horizon // 3 + 1  # the means of so many plays are equal on A and B
    assert np.array_equal(a.curves[1](np.arange(same)), b.curves[1](np.arange(same)))
    pairs = [*regret[:, : same + 1].T, regret[:, same:].min(axis=1)]
    values = [min(weight * on_a + (1 - weight) * on_b for on_a, on_b in pairs) for weight in np.linspace(0, 1, 2001)]
    assert max(values) >= lower_bound(horizon)
    assert max(values) <= lower_bound(horizon) + 0.1


def test_the_bound_grows_like_the_theorem_says():
    for c in (1.1, 1.3, 1.5):
        values = [lower_bound(horizon, 1, c) for horizon in (10**4, 10**5, 10**6)]
        assert math.log10(values[2] / values[1]) == pytest.approx(2 - c, abs=0.05)


def test_the_step_of_the_papers_proof_that_does_not_hold():
    """Direct simulation of a policy that only plays the rising arm of the paper's instance B, with its means."""
    for c in (1.2, 1.4, 1.6, 1.8):
        horizon = 20_000
        step = proofs.theorem_5(horizon, c)
        means = np.cumsum((np.arange(1, horizon + 1) + 1.0) ** -c)
        totals = np.concatenate([[0.0], np.cumsum(means)])
        p = math.floor((2 - c) ** (1 / (c - 1)) * horizon)
        flat = (totals[horizon] - totals[horizon - p] + totals[p]) / (2 * p)
        earned = means[np.minimum(np.arange(horizon), p - 1)].sum()
        assert step.real == pytest.approx(flat * horizon - earned, rel=1e-6, abs=1e-6)
        assert step.claimed == pytest.approx(flat * p - totals[p], rel=1e-6)
        assert step.highest == pytest.approx(means[-1])
        assert (step.highest > 1.0) == (c < 1.73)  # where the sum of all slopes is 1
        assert step.real < step.claimed


@pytest.mark.parametrize(("rise", "size"), [(100, 2), (300, 4)])
def test_a_round_can_cost_more_than_the_proof_of_the_upper_bound_counts(rise, size):
    """CRUCB itself, played on the instance: it comes back to the rising arm in the round that is stated."""
    found = proofs.theorem_3(rise, size)
    run = rb.simulate(found.task, rb.CRUCB(sigma=0.0), rounds=range(1, found.round + 1), compiled=False)
    costs = np.diff(run.regret, prepend=0.0)
    assert run.rounds[-1] == found.round
    assert costs[-1] == pytest.approx(found.regret)
    assert np.flatnonzero(costs > 0.5)[-2] < 10, (
        "between the first plays and the last round it plays the other super arm"
    )
    assert found.counted == 1.0 < found.regret


def brute_force(task: rb.Task, horizon: int) -> float:
    family = task.problem.oracle.super_arms()
    best = -math.inf
    for sequence in product(range(len(family)), repeat=horizon):
        plays = np.zeros(task.problem.n_arms, dtype=int)
        total = 0.0
        for place in sequence:
            arms = family[place]
            total += task.problem.reward([float(task.curves[arm](plays[arm])) for arm in arms])
            plays[arms] += 1
        best = max(best, total)
    return best


@quick
@given(seed=st.integers(0, 10**6), reward=st.sampled_from(["sum", "max", "product"]))
def test_the_optimal_policy_is_the_best_of_all_sequences(seed, reward):
    rng = np.random.default_rng(seed)
    problem = rb.problems.Explicit([[0, 1], [1, 2], [0, 2]], reward=reward)
    curves = tuple(checks.random_concave(rng, 5) for _ in range(3))
    task = rb.Task("random", problem, curves, 5, Noiseless())
    found = optimal_policy(task)
    assert found.total == pytest.approx(brute_force(task, 5), rel=1e-12)
    assert len(found.super_arms) == 5
    assert found.total >= rb.optimal_constant(task).total - 1e-12
    if reward == "sum":
        # Corollary 1: for sums nothing beats the best constant super arm.
        assert found.total == pytest.approx(rb.optimal_constant(task).total, rel=1e-12)


@pytest.mark.parametrize("horizon", [101, 110, 120])
def test_theorem_1_gains_exactly_three_tenths(horizon):
    task = instances.best_constant_is_not_optimal(horizon)
    constant = rb.optimal_constant(task)
    assert constant.super_arm.tolist() == [0, 1]
    found = optimal_policy(task)
    # With T a multiple of 10 the curve ends exactly at 1; else its last step is shorter.
    if horizon % 10 == 0:
        assert found.total - constant.total == pytest.approx(0.3, abs=1e-9)
    assert found.super_arms[0].tolist() == [1, 2]


def test_an_instance_that_is_too_large_is_refused_with_its_size():
    with pytest.raises(rb.InputError, match=rf"has up to {count_states(6, 300_000)} states, more than the limit"):
        optimal_policy(rb.tasks.get("path-easy"))


def test_theorem_2_holds_with_the_computed_constant_and_not_with_the_papers():
    check = checks.check_ratio(400, seed=3)
    assert check.held
    assert check.low == 0.5
    assert check.low < check.paper_low
    for k in (2, 3):
        assert checks.additive_bounds(rb.problems.KMax(4, k=k)) == (pytest.approx(1 / k), pytest.approx(1.0))
    assert checks.additive_bounds(rb.problems.TopK(4, k=2)) == (pytest.approx(1.0), pytest.approx(1.0))


def test_the_ratio_check_can_fail():
    check = checks.RatioCheck(np.array([1.0, 2.5]), 2.0, 0.7, 0.5)
    assert not check.held


def test_the_measured_estimate_is_the_policys_own():
    """The lemma is measured with the formula written out; the policy's index must be the same numbers."""
    result = checks.concentration(n_arms=1, sigma=0.2, constant=2.0, horizon=60, runs=1, seed=5)
    noise = 0.2 * np.random.default_rng(5).standard_normal((1, int(result.rounds[-1])))[0]
    for place, t in enumerate(result.rounds.tolist()):
        policy = rb.CRUCB(sigma=0.2, bonus=2.0)
        policy.start(rb.problems.TopK(1, k=1), rng=0)
        for value in noise[: t - 1]:
            # The index is linear in the outcomes, so a shift by one half moves it by one half.
            policy.observe([0], [0.5 + value])
        quiet = rb.CRUCB(sigma=0.0, bonus=2.0)
        quiet.start(rb.problems.TopK(1, k=1), rng=0)
        for value in noise[: t - 1]:
            quiet.observe([0], [0.5 + value])
        estimate = quiet.indices()[0] - 0.5
        bonus = policy.indices()[0] - quiet.indices()[0]
        assert bool(result.frequency[place]) == (abs(estimate) > bonus)


def test_the_lemma_holds_for_the_papers_bonus_and_not_for_a_small_one():
    assert checks.concentration(constant=30.0, runs=2000).frequency.max() == 0.0
    small = checks.concentration(constant=1.0, runs=2000)
    assert (small.frequency > small.allowed).all()


def test_tabulated_instances_are_what_the_theorem_says():
    task = instances.best_constant_is_not_optimal(200)
    assert task.means(0).tolist() == [0.05, 0.1, 0.5]
    assert task.means(1).tolist() == [0.1, 0.9, 0.5]
    assert task.means(19).tolist() == [1.0, 0.9, 0.5]
    assert isinstance(task.curves[1], Tabulated)
