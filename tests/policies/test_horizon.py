"""HorizonCRUCB against plain transcriptions of its equations, and the facts that its derivation rests on."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rising_bandits as rb
from rising_bandits.policies.rules.decay import mean_outlook, mean_rise, plays_to_rise, rise
from rising_bandits.policies.rules.horizon import clock
from rising_bandits.testing import check_policy

DECAYS = [
    0.0,
    1e-9,
    0.2,
    0.5,
    0.9,
    0.99999,
    1 - 2**-53,
    1.0,
    1 + 1e-9,
    1.2,
    1.51,
    1.999999,
    2 - 1e-9,
    2.0,
    2 + 1e-12,
    2.7,
    9.0,
]


def plain_index(outcomes, t, policy, horizon, share):
    """The equation of the docstring with NumPy's least squares and numerical integration."""
    block = 2 ** max(0, math.floor(math.log2(len(outcomes))) - 6)
    n = len(outcomes) // block * block
    outcomes = outcomes[:n]
    scale = t if horizon is None else max(1, min(t, horizon - t + 1))
    step = 2 ** max(0, math.floor(math.log2(scale)) - 6)
    now = t // step * step
    left = max(policy.ahead or 100_000, now) if horizon is None else max(1, horizon - now + 1)
    total = max(horizon or 0, now - 1 + left)
    if policy.bonus == "proved":
        kappa = math.sqrt(4.0 * math.log(total))
    else:
        kappa = math.sqrt(policy.bonus * math.log(1.0 + share * now * left / total / n))
    start = n + policy.patience * total
    grid = 1 if n < 16 else 2 ** (math.floor(math.log2(n)) - 3)
    bounds = []
    for halvings in range(policy.windows):
        if halvings and n // 2**halvings < 16:
            break
        before = (n - n // 2**halvings) // grid * grid
        x = np.array(outcomes[before:])
        w = x.size
        plays = np.arange(1, w + 1) - (w + 1) / 2
        spread = (plays**2).sum()
        slope, mean = (plays * x).sum() / spread, x.mean()
        deviation = kappa * policy.sigma
        steep = max(0.0, slope + deviation / math.sqrt(spread))
        middle = (w + 1) / 2 + block - 1
        high = mean + deviation / math.sqrt(w) + steep * middle
        bounds.append(plain_outlook(high, steep, start, left, policy.decay))
        if policy.bonus != "proved":
            reach = middle + add_up(lambda y: plain_rise(start, y, policy.decay), left) / left
            bounds.append(mean + max(0.0, slope) * reach + deviation * math.sqrt(1 / w + reach**2 / spread))
    return min(bounds)


def add_up(function, end):
    """An integral from 0 by many small steps, finest near 0."""
    edges = np.concatenate([[0.0], np.geomspace(end * 1e-9, end, 100_001)])
    return float((function((edges[1:] + edges[:-1]) / 2) * np.diff(edges)).sum())


def plain_rise(start, plays, decay):
    # So near to 1 the power cannot be told from its limit, and its difference has no digits left.
    if abs(decay - 1.0) < 1e-8:
        return start * np.log((start + plays) / start)
    return start / (1 - decay) * (((start + plays) / start) ** (1 - decay) - 1)


def plain_outlook(level, slope, start, plays, decay):
    return add_up(lambda x: np.minimum(1.0, level + slope * plain_rise(start, x, decay)), plays) / plays


@settings(deadline=None, derandomize=True, max_examples=150)
@given(start=st.floats(1.0, 1e6), plays=st.floats(1.0, 1e6), decay=st.sampled_from(DECAYS))
def test_rise_and_its_mean_are_the_integrals(start, plays, decay):
    exact = add_up(lambda u: (start / (start + u)) ** decay, plays)
    assert rise(start, plays, decay) == pytest.approx(exact, rel=1e-6)
    mean = add_up(lambda x: plain_rise(start, x, decay), plays) / plays
    # Both closed forms lose digits by cancellation where few plays follow many.
    slack = 1e-6 + 1e-11 * (start / plays) ** 2
    assert mean_rise(start, plays, decay) == pytest.approx(mean, rel=max(1e-6, slack))
    # Where slopes fall fast, many plays lead to nearly the same height: it is the height that must come back.
    height = rise(start, plays, decay)
    assert rise(start, plays_to_rise(start, height, decay), decay) == pytest.approx(height, rel=1e-9)
    if decay <= 1.0:
        assert plays_to_rise(start, height, decay) == pytest.approx(plays, rel=1e-5)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(n=st.integers(2, 2_000), m=st.integers(1, 3_000), decay=st.sampled_from(DECAYS))
def test_the_integral_is_above_the_sum_that_it_stands_for(n, m, decay):
    """A slope that falls just as assumed: the sum over plays is below the integral, and close to it."""
    falls = (n / (n + np.arange(m))) ** decay
    values = np.concatenate([[0.0], np.cumsum(falls[1:])])
    assert values.mean() <= mean_rise(float(n), float(m), decay) + 1e-9
    assert mean_rise(float(n), float(m), decay) <= values.mean() + 1.0


def test_the_formula_of_the_issue_is_the_closed_form():
    for n, m, c in [(10, 300_000, 0.5), (400, 1_000, 0.3), (7, 7, 0.8)]:
        formula = n / (1 - c) * ((n / m) * (((n + m) / n) ** (2 - c) - 1) / (2 - c) - 1)
        assert mean_rise(float(n), float(m), c) == pytest.approx(formula, rel=1e-12)


@settings(deadline=None, derandomize=True, max_examples=80)
@given(
    level=st.floats(-0.5, 1.5),
    slope=st.floats(-0.1, 0.1),
    start=st.floats(2.0, 1e4),
    plays=st.integers(1, 100_000),
    decay=st.sampled_from(DECAYS),
)
def test_the_mean_outlook_is_the_mean_of_the_capped_line(level, slope, start, plays, decay):
    exact = plain_outlook(level, max(0.0, slope), start, float(plays), decay)
    assert mean_outlook(level, slope, start, float(plays), decay) == pytest.approx(exact, abs=2e-6)


@settings(deadline=None, derandomize=True, max_examples=200)
@given(
    falls=st.lists(st.floats(0.0, 1.0), min_size=6, max_size=60),
    first=st.floats(0.0, 2.0),
    window=st.integers(2, 40),
)
def test_the_line_through_a_concave_past_lies_above_its_future(falls, first, window):
    steps = first - np.cumsum(falls)
    curve = np.concatenate([[0.0], np.cumsum(steps)])
    n = max(window, curve.size // 2)
    if n >= curve.size:
        return
    places = np.arange(n - window, n)
    slope, offset = np.polyfit(places, curve[n - window : n], 1)
    future = np.arange(n, curve.size)
    assert (offset + slope * future >= curve[n:] - 1e-8 * (1 + np.abs(curve).max())).all()
    assert slope >= steps[n - 1] - 1e-9 * (1 + abs(slope))


def history(kind, n, seed):
    rng = np.random.default_rng(seed)
    if kind == "coin":
        return rng.integers(0, 2, n).astype(float).tolist()
    if kind == "rising":
        return np.clip(0.9 * (1 - np.exp(-np.arange(n) / 300)) + 0.01 * rng.normal(size=n), 0, 1).tolist()
    if kind == "flat":
        return [0.9] * n
    return rng.random(n).tolist()


@settings(deadline=None, derandomize=True, max_examples=40)
@given(
    kind=st.sampled_from(["uniform", "coin", "rising", "flat"]),
    n=st.integers(2, 3_000),
    ratio=st.sampled_from([1.0, 1.5, 30.0]),
    decay=st.sampled_from([0.0, 0.5, 1.0, 1.3]),
    patience=st.sampled_from([0.0, 0.001, 0.3]),
    windows=st.integers(1, 4),
    sigma=st.sampled_from([0.0, 0.01, 0.5]),
    bonus=st.sampled_from(["proved", 0.0, 2.0]),
    known=st.booleans(),
    ahead=st.sampled_from([None, 50, 3_000]),
    seed=st.integers(0, 10**6),
)
def test_the_index_is_the_equation(kind, n, ratio, decay, patience, windows, sigma, bonus, known, ahead, seed):
    horizon = max(4, int(n * ratio)) if known else None
    policy = rb.HorizonCRUCB(sigma=sigma, decay=decay, patience=patience, windows=windows, bonus=bonus, ahead=ahead)
    policy.start(rb.problems.TopK(1, k=1), horizon=horizon, rng=0)
    if ahead is not None:
        horizon = None
    outcomes = history(kind, n, seed)
    check_at = {2, 3, 15, 16, 17, n // 2, n}
    for play, outcome in enumerate(outcomes, start=1):
        policy.observe([0], [outcome])
        if play in check_at and play > 1:
            expected = plain_index(outcomes[:play], play + 1, policy, horizon, 1.0)
            assert policy.indices()[0] == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_the_clock_is_never_late_by_more_than_a_64th():
    for t in range(1, 3_000):
        for scale in (t, min(t, 3_000 - t + 1)):
            assert t - scale / 64 <= clock(t, scale, 6) <= t


@pytest.mark.parametrize(
    "curve",
    [
        rb.curves.Scaled(rb.curves.LateBloomer(block=50, stop=1_000), factor=0.7),
        rb.curves.Exponential(time=200.0, start=0.2, end=0.8),
        rb.curves.Linear(duration=700),
        rb.curves.PowerLaw(scale=5.0, power=0.4),
        rb.curves.Flat(0.7),
    ],
)
def test_with_concavity_alone_the_index_bounds_what_is_to_come(curve):
    horizon = 4_000
    means = curve(np.arange(horizon))
    for windows in (1, 3):
        policy = rb.HorizonCRUCB(sigma=0.0, decay=0.0, windows=windows, bonus="proved")
        policy.start(rb.problems.TopK(2, k=1), horizon=horizon, rng=0)
        policy.observe([1], [0.0])
        policy.observe([1], [0.0])
        for n in range(horizon - 2):
            if n >= 2 and n % 37 == 0:
                # Rounds t = n + 3 to the horizon are left.
                assert policy.indices()[0] >= means[n : horizon - 2].mean() - 1e-9
            policy.observe([0], [means[n]])


def test_regret_is_the_sum_of_what_each_round_loses_of_the_outlook():
    """The identity that the proof starts from, on a run: see the theory page."""
    curves = (rb.curves.Linear(duration=40, end=0.8), rb.curves.Flat(0.5), rb.curves.Exponential(time=30.0, end=0.6))
    task = rb.Task("small", rb.problems.TopK(3, k=2), curves, horizon=200, noise=rb.curves.Gaussian(0.05))
    best = rb.optimal_constant(task)
    tables = [curve(np.arange(200)) for curve in curves]
    policy = rb.HorizonCRUCB(sigma=0.05)
    policy.start(task.problem, horizon=200, rng=0)
    rng = np.random.default_rng(1)
    plays = np.zeros(3, dtype=int)
    earned = lost = 0.0
    for t in range(1, 201):
        left = 200 - t + 1
        arms = policy.select()
        values = np.array([tables[arm][plays[arm]] for arm in arms])
        earned += values.sum()
        lost += sum(tables[arm][plays[arm] + left - 1] for arm in best.super_arm if arm not in arms)
        lost -= sum(tables[arm][plays[arm]] for arm in arms if arm not in best.super_arm)
        policy.observe(arms, np.clip(values + 0.05 * rng.normal(size=2), 0, 1))
        plays[arms] += 1
    assert best.total - earned == pytest.approx(lost, abs=1e-9)


@pytest.mark.parametrize("settings", [{}, {"sigma": 0.05}, {"decay": 0.0, "bonus": "proved"}, {"windows": 1}])
def test_conformance(settings):
    check_policy(lambda: rb.HorizonCRUCB(**settings))


@pytest.mark.parametrize("sigma", [0.01, None])
@pytest.mark.parametrize("name", ["path-easy", "k-max"])
def test_live_rounds_are_the_simulated_ones(name, sigma):
    task = rb.tasks.get(name)
    fast = rb.simulate(task, rb.HorizonCRUCB(sigma=sigma), horizon=1_500, seed=3)
    slow = rb.simulate(task, rb.HorizonCRUCB(sigma=sigma), horizon=1_500, seed=3, compiled=False)
    assert (fast.regret == slow.regret).all()
    assert fast.super_arm_plays == slow.super_arm_plays


@pytest.mark.parametrize("horizon", [600, None])
def test_a_saved_policy_goes_on_as_if_never_stopped(horizon):
    problem = rb.tasks.get("path-easy").problem
    rng = np.random.default_rng(5)
    outcomes = rng.random((500, 4))
    policy = rb.HorizonCRUCB()
    policy.start(problem, horizon=horizon, rng=0)
    for row in outcomes[:333]:
        policy.observe(policy.select(), row)
    again = rb.HorizonCRUCB.from_state(json.loads(json.dumps(policy.state())))
    for row in outcomes[333:]:
        arms = policy.select()
        assert arms.tolist() == again.select().tolist()
        policy.observe(arms, row)
        again.observe(arms, row)
    assert (policy.indices() == again.indices()).all()


def test_asking_for_indices_changes_nothing():
    task = rb.tasks.get("path-easy")
    outcomes = np.random.default_rng(0).random((400, 4))
    runs = []
    for nosy in (False, True):
        policy = rb.HorizonCRUCB()
        policy.start(task.problem, horizon=400, rng=0)
        chosen = []
        for row in outcomes:
            if nosy:
                policy.indices()
            chosen.append(policy.select().tolist())
            policy.observe(chosen[-1], row)
        runs.append(chosen)
    assert runs[0] == runs[1]


def test_for_the_largest_outcome_the_arm_that_is_best_today_is_always_played():
    policy = rb.HorizonCRUCB(sigma=0.01)
    policy.start(rb.problems.KMax(5, k=2), horizon=10_000, rng=0)
    rng = np.random.default_rng(0)
    means = np.array([0.1, 0.2, 0.3, 0.9, 0.5])
    for t in range(300):
        arms = policy.select()
        assert t < 6 or 3 in arms
        policy.observe(arms, np.clip(means[arms] + 0.01 * rng.normal(size=2), 0, 1))


def test_with_rounds_ahead_given_the_horizon_plays_no_part():
    task = rb.tasks.get("path-easy")
    outcomes = np.random.default_rng(0).random((300, 4))
    chosen = []
    for horizon, ahead in ((300, 100_000), (None, 100_000), (None, None)):
        policy = rb.HorizonCRUCB(ahead=ahead)
        policy.start(task.problem, horizon=horizon, rng=0)
        rounds = []
        for row in outcomes:
            rounds.append(policy.select().tolist())
            policy.observe(rounds[-1], row)
        chosen.append(rounds)
    assert chosen[0] == chosen[1] == chosen[2]


def test_past_its_horizon_it_goes_on():
    policy = rb.HorizonCRUCB()
    policy.start(rb.problems.TopK(3, k=1), horizon=10, rng=0)
    rng = np.random.default_rng(0)
    for _ in range(40):
        arms = policy.select()
        policy.observe(arms, [0.2 + 0.3 * arms[0] + 0.01 * rng.random()])
    assert np.isfinite(policy.indices()).all()
    assert policy.select().tolist() == [2]


def test_measured_noise_comes_to_what_it_is():
    task = rb.tasks.get("path-easy")
    simulation = rb.Simulation(task, rb.HorizonCRUCB(), horizon=20_000, seed=0)
    simulation.advance()
    assert simulation.policy._rule.noise[0] == pytest.approx(0.01, rel=0.15)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"sigma": -1.0}, "sigma must be a number of at least 0"),
        ({"decay": -0.1}, r"decay must be a finite number in \[0, 10\]"),
        ({"patience": 2.0}, r"patience must be a finite number in \[0, 1\]"),
        ({"windows": 5}, "windows must be an integer from 1 to 4"),
        ({"ahead": 0}, "ahead must be an integer of at least 1"),
        ({"bonus": "paper"}, "bonus must be 'proved' or a number C of at least 0"),
        ({"bonus": -1}, "bonus must be 'proved' or a number C of at least 0"),
    ],
)
def test_bad_parameters_are_refused_with_the_range(settings, words):
    with pytest.raises(rb.InputError, match=words):
        rb.HorizonCRUCB(**settings)


def ratio(name, policy, seeds=(0, 1)):
    """Its regret at full horizon as a share of CRUCB's, over development seeds."""
    task = rb.tasks.get(name)
    ours = [rb.simulate(task, policy(), seed=seed).regret[-1] for seed in seeds]
    theirs = [rb.simulate(task, rb.CRUCB(sigma=task.sigma), seed=seed).regret[-1] for seed in seeds]
    return np.mean(ours) / np.mean(theirs)


@pytest.mark.parametrize("name", ["path-easy", "matching-easy", "spanning-easy"])
def test_regret_on_the_papers_tasks(name):
    assert ratio(name, rb.HorizonCRUCB) < 1 / 30
    assert ratio(name, lambda: rb.HorizonCRUCB(decay=0.0)) < 1 / 10


def test_regret_on_k_max():
    assert ratio("k-max", rb.HorizonCRUCB) < 1 / 2


def test_not_knowing_the_horizon_costs_at_most_a_factor_of_two():
    """Summed over three tasks and four seeds, since a single run has few plays that matter."""
    names, seeds = ("path-easy", "matching-easy", "spanning-easy"), range(4)
    anytime = sum(ratio(name, lambda: rb.HorizonCRUCB(ahead=100_000), seeds) for name in names)
    assert anytime < 2 * sum(ratio(name, rb.HorizonCRUCB, seeds) for name in names)
