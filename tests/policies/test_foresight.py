"""Foresight: its posterior against dense regression, its budget, and that asking changes nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import lambertw

import rising_bandits as rb
from rising_bandits.policies.foresight import Foresight
from rising_bandits.policies.rules.foresight import COST, _deviation, lambert
from rising_bandits.policies.rules.prefix_sums import make_sums, newer_half, push, step_of
from rising_bandits.policies.rules.shapes import VAR_RISE, WEIGHT, forecast, height, outlook, take_block, weigh


@pytest.mark.parametrize(("tau", "alpha"), [(8.0, 0.3), (8.0, 1.0), (512.0, 3.0)])
@pytest.mark.parametrize(("plays", "ahead"), [(0.0, 300.0), (40.0, 1.0), (5_000.0, 100_000.0)])
def test_the_mean_of_a_shape_ahead(tau, alpha, plays, ahead):
    whole, _ = quad(lambda n: 1.0 - (1.0 + n / tau) ** -alpha, plays, plays + ahead, limit=200)
    mean, now = outlook(plays, ahead, tau, alpha)
    assert mean == pytest.approx(whole / ahead, rel=1e-7)
    assert now == height(plays, tau, alpha) == pytest.approx(1.0 - (1.0 + plays / tau) ** -alpha, rel=1e-12)


def dense(outcomes, tau, alpha, sigma, prior):
    """Posterior and log evidence of one shape (None: flat) by weighted regression, with no shortcuts."""
    m0, v0, m1, v1 = prior
    plays = np.arange(1, len(outcomes) + 1)
    weights = (plays / len(outcomes)) ** 2 / sigma**2
    rows = [np.ones(len(outcomes))]
    if tau is not None:
        rows.append(1.0 - (1.0 + (plays - 1) / tau) ** -alpha)
    design = np.array(rows).T
    mean, inverse = np.array([m0, m1])[: len(rows)], np.diag([1 / v0, 1 / v1][: len(rows)])
    precision = inverse + design.T @ (weights[:, None] * design)
    best = np.linalg.solve(precision, inverse @ mean + design.T @ (weights * outcomes))
    misfit = float(weights @ (outcomes - design @ best) ** 2 + (best - mean) @ inverse @ (best - mean))
    occam = np.linalg.slogdet(inverse)[1] - np.linalg.slogdet(precision)[1]
    return best, np.linalg.inv(precision), 0.5 * (occam - misfit)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=60))
def test_the_posterior_is_that_of_weighted_regression(outcomes):
    policy = Foresight()
    policy.start(rb.problems.TopK(3, k=1), horizon=10_000)
    policy.absorb(1, outcomes)
    rule = policy._rule
    work, sigma = np.zeros_like(rule.work), 0.07
    weigh(rule.sums[1], rule.totals[1], sigma**2, rule.prior, work)
    shapes = [*rule.shapes.tolist(), (None, None)]
    parts = [dense(np.array(outcomes), tau, alpha, sigma, rule.prior[-4:]) for tau, alpha in shapes]
    logs = np.array([part[2] for part in parts]) + rule.prior[: len(shapes)]
    assert work[:, WEIGHT] == pytest.approx(np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum(), abs=1e-6)
    expected = 0.0
    means, spreads = [], []
    for (tau, alpha), (best, spread, _), row in zip(shapes, parts, work, strict=True):
        assert row[: len(best)] == pytest.approx(best, abs=1e-6)
        assert row[VAR_RISE] == pytest.approx(spread[1, 1] if tau is not None else 0.0, rel=1e-6)
        reach = so_far = rise = 0.0
        if tau is not None:
            start = len(outcomes)
            ahead, _ = quad(lambda n, tau=tau, alpha=alpha: 1.0 - (1.0 + n / tau) ** -alpha, start, start + 500.0)
            reach, so_far, rise = ahead / 500.0, 1.0 - (1.0 + start / tau) ** -alpha, best[1]
        expected += row[WEIGHT] * min(1.0, best[0] + max(0.0, rise) * reach)
        means.append(min(1.0, best[0] + rise * reach))
        spreads.append((spread[1, 1] if tau is not None else 0.0) * (reach - so_far) ** 2)
    value, deviation = forecast(work, rule.shapes, float(len(outcomes)), 500.0)
    assert value == pytest.approx(expected, abs=1e-5)
    variance = np.cov(means, aweights=work[:, WEIGHT], ddof=0) + work[:, WEIGHT] @ spreads
    assert deviation == pytest.approx(math.sqrt(variance), abs=1e-4)


def test_asking_changes_nothing():
    """A study that only follows the log must decide as one that asked in every round."""
    problem = rb.problems.TopK(6, k=2)
    one, two = Foresight(budget=0.05), Foresight(budget=0.05)
    for policy in (one, two):
        policy.start(problem, horizon=2_000, rng=0)
    rng = np.random.default_rng(3)
    for _ in range(300):
        arms = one.select()
        one.indices(), one.terms()
        outcomes = np.clip(0.1 * arms + 0.2 + 0.1 * rng.standard_normal(2), 0.0, 1.0)
        for policy in (one, two):
            policy.observe(arms, outcomes)
    assert one.indices().tolist() == two.indices().tolist()
    assert one.select().tolist() == two.select().tolist()


@pytest.mark.parametrize("scale", [0.2, 1.0])
def test_when_a_forecast_is_made_does_not_matter(scale):
    """Outcomes wait in blocks. A policy that was asked in every round decides as one that starts from its state."""
    policy = Foresight()
    policy.start(rb.problems.TopK(4, k=2), horizon=4_000, rng=0)
    rng = np.random.default_rng(8)
    for number in range(1, 1_201):
        arms = policy.select()
        mean = 0.2 + 0.15 * arms + 0.2 * (1.0 - np.exp(-number / 300.0))
        policy.observe(arms, scale * np.clip(mean + 0.1 * rng.standard_normal(2), 0.0, 1.0))
        if number % 40 == 7:
            other = Foresight.from_state(policy.state())
            other._rule.stamp[:] = -1
            assert other.indices().tolist() == policy.indices().tolist()


def test_a_state_without_waiting_steps_can_be_read():
    """Older versions did not keep them."""
    policy = Foresight()
    policy.start(rb.problems.TopK(3, k=1), horizon=500, rng=0)
    for _ in range(100):
        policy.observe(policy.select(), [0.4])
    state = {name: part for name, part in policy.state().items() if name != "checksum"}
    del state["rule"]["waiting"]
    older = Foresight.from_state({**state, "version": 1})
    assert older.indices().tolist() == policy.indices().tolist()


def test_exploring_costs_what_the_budget_allows():
    """Flat arms without noise, so what each round loses is known."""
    curves = tuple(rb.curves.Flat(0.1 + 0.15 * k) for k in range(5))
    task = rb.Task("flat", rb.problems.TopK(5, k=1), curves, 4_000, rb.curves.Noiseless())
    first_plays = sum(0.7 - curve.value for curve in curves)
    lost = {}
    # With 800 rounds per arm the share of the budget is 1/sqrt(800/750).
    share = math.sqrt(750 / 800)
    for budget in (0.0, 0.001, 0.003):
        run = rb.simulate(task, Foresight(budget=budget), horizon=4_000, seed=5, compiled=False)
        lost[budget] = run.regret[-1] - first_plays
        # Without a budget, ordinary rounds try some arms a second time. A round that just fits loses at most 0.6.
        assert -1e-9 <= lost[budget] <= lost[0.0] + share * budget * 4_000 * 0.7 + 0.6
    assert lost[0.0] <= first_plays
    assert lost[0.003] > lost[0.001] > lost[0.0]


def test_arms_teach_about_other_arms():
    """Five arms that rose by 0.5 let a sixth be expected to rise as well; flat ones do not."""
    forecasts = {}
    for rise in (0.0, 0.5):
        policy = Foresight()
        policy.start(rb.problems.TopK(6, k=1), horizon=1_000)
        for arm in range(5):
            outcomes = [0.3 + rise * (1.0 - 1.0 / (1.0 + n / 8.0)) for n in range(100)]
            for outcome in outcomes:
                policy.observe([arm], [outcome])
        policy.observe([5], [0.3])
        now, parts = policy.round, policy.terms()
        assert now == 502
        forecasts[rise] = parts["recent average"][5] + parts["predicted improvement"][5]
    assert forecasts[0.5] > forecasts[0.0] + 0.2
    assert math.isclose(forecasts[0.0], 0.3, abs_tol=0.1)


def test_an_explanation_promises_no_more_than_the_best_outcome():
    """What is added because an arm is not well known is called a bonus, not a predicted improvement."""
    policy = Foresight()
    policy.start(rb.problems.TopK(4, k=2), horizon=500, rng=0)
    rng = np.random.default_rng(4)
    bonuses = 0
    for _ in range(60):
        arms = policy.select()
        policy.observe(arms, np.clip(0.2 * arms + 0.1 * rng.standard_normal(2), 0.0, 1.0))
        parts, known = policy.terms(), policy.plays > 0
        expected = (parts["recent average"] + parts["predicted improvement"])[known]
        assert ((expected >= 0.0) & (expected <= 1.0 + 1e-9)).all()
        assert (parts["bonus"][known] >= 0.0).all()
        assert (expected + parts["bonus"][known]).tolist() == pytest.approx(policy.indices()[known].tolist())
        bonuses += int((parts["bonus"][known] > 0.0).sum())
    assert bonuses > 0


@given(st.floats(0.0, 1e12))
def test_lambert_against_scipy(x):
    assert lambert(x) == pytest.approx(lambertw(x).real, rel=1e-9, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=200))
def test_the_newer_half_is_a_mean_of_the_newest_outcomes(outcomes):
    sums = make_sums(1)
    for play, outcome in enumerate(outcomes, start=1):
        push(sums[0], play, step_of(play), outcome)
    plays = len(outcomes)
    grid = 1 << step_of(plays)
    before = (plays - plays // 2) // grid * grid if plays > 1 else 0
    assert plays // 2 <= plays - before <= plays // 2 + grid
    assert newer_half(sums[0], plays, step_of(plays)) == pytest.approx(np.mean(outcomes[before:]), abs=1e-9)


@pytest.mark.parametrize("horizon", [24, 60, 1_000, 10_000])
def test_the_index_of_an_ordinary_round_by_its_formula(horizon):
    """Two arms: nothing is spent on exploring, so indices are the formula of the docstring."""
    policy = Foresight(budget=0.0)
    policy.start(rb.problems.TopK(2, k=1), horizon=horizon, rng=0)
    for outcome in (0.3, 0.35, 0.5, 0.45, 0.5, 0.52):
        policy.observe([0], [outcome])
    policy.observe([1], [0.2])
    rule = policy._rule
    left, sigma = horizon - 7, rule.noise[0]
    steps = np.diff([0.3, 0.35, 0.5, 0.45, 0.5, 0.52])
    own = math.sqrt((0.5 * (steps**2).sum() + 4.0 * sigma**2) / (5 + 4))
    for arm, plays, noise in ((0, 6, max(sigma, own)), (1, 1, sigma)):
        weigh(rule.sums[arm], rule.totals[arm], sigma**2, rule.prior, rule.work)
        value, deviation = forecast(rule.work, rule.shapes, float(plays), float(left))
        top = 2.0 * 0.5  # after three plays the newer half was the outcome 0.5 alone
        hidden = math.hypot(0.02 * max(0.0, top - value), 0.25 * top * deviation) * lambertw(left / plays).real
        hidden *= min(1.0, horizon / 2 / 20)
        luck = (
            5.0
            * min(1.0, horizon / 2 / 1000)
            * noise**2
            / math.sqrt(max(1, plays // 2))
            * lambertw(left / (2 * plays)).real
        )
        expected = value + math.hypot(hidden, luck)
        assert policy.indices()[arm] == pytest.approx(expected, abs=1e-9)


def test_an_arm_that_has_fallen_is_left():
    """From 0.9 to 0.2 after 400 plays, beside a steady 0.6, without noise: few plays of the fallen arm follow."""
    policy = Foresight()
    policy.start(rb.problems.TopK(2, k=1), horizon=5_000, rng=0)
    plays = [0, 0]
    for _ in range(2_000):
        arm = int(policy.select()[0])
        plays[arm] += 1
        policy.observe([arm], [0.6 if arm == 1 else 0.9 if plays[0] <= 400 else 0.2])
    assert plays[0] < 600


def test_noise_of_an_arm_is_its_own_where_that_is_more():
    """Chances near a half vary more than chances near 1, which most plays are of."""
    policy = Foresight()
    policy.start(rb.problems.TopK(2, k=1), horizon=5_000, rng=0)
    for play in range(400):
        policy.observe([0], [1.0 if play % 20 else 0.0])
        if play < 40:
            policy.observe([1], [float(play % 2)])
    rule = policy._rule
    assert _deviation(rule, 0) == rule.noise[0] < 0.35
    assert _deviation(rule, 1) > 0.6


def test_a_chain_that_fails_early_is_no_loss():
    """Exploring rounds with fewer plays cost what their arms lose, not the plays that are missing."""
    policy = Foresight()
    policy.start(rb.problems.OneOfEach({"one": ["a", "b"], "two": ["c", "d"]}), horizon=10_000, rng=0)
    for number in range(200):
        arms = policy.select()
        played = np.array([True, number % 3 != 0])
        policy.observe(arms, [0.5, 0.5], played=played)
    assert policy._rule.spent[COST] == pytest.approx(0.0, abs=1e-9)


def test_a_rise_that_is_seen_is_pursued():
    """A tunnel that rises from 0.2 to 0.9, beside a bridge of 0.6: a short run finds it on ten seeds of ten."""
    roads = [("home", "bridge"), ("bridge", "work"), ("home", "tunnel"), ("tunnel", "work")]
    known, learnt = rb.curves.Flat(0.6), rb.curves.Exponential(time=150.0, start=0.2, end=0.9)
    problem = rb.problems.ShortestPath(roads, "home", "work")
    task = rb.Task("commute", problem, (known, known, learnt, learnt), 2_000, rb.curves.Gaussian(0.05))
    shares = [rb.simulate(task, Foresight(), horizon=2_000, seed=seed).plays[2] / 2_000 for seed in range(10)]
    assert min(shares) > 0.7


@pytest.mark.parametrize("outcome", [0.9, 1.0])
def test_an_arm_without_noise_stays_a_number_for_a_million_plays(outcome):
    """Shapes that have settled are hardly told from a flat one, and rounding must not divide by 0."""
    policy = Foresight()
    policy.start(rb.problems.TopK(2, k=1), horizon=1_000_000, rng=0)
    sums, totals, out = policy._rule.sums[0], policy._rule.totals[0], policy._rule.work
    plays = 0.0
    for power in range(21):
        count = 2.0**power
        plays += count
        take_block(policy._rule.shapes, sums, totals, plays, count, count * outcome)
        weigh(sums, totals, 0.0, policy._rule.prior, out)
        assert np.isfinite(out).all()
        value, deviation = forecast(out, policy._rule.shapes, plays, 1_000.0)
        assert value == pytest.approx(outcome, abs=0.01 if plays > 100.0 else 0.2)
        assert 0.0 <= deviation < 0.3
