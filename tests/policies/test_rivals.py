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
        assert np.nansum(list(policy.terms().values()), axis=0) == pytest.approx(
            [value if plays else 0.0 for value, plays in zip(wanted, past, strict=True)]
        )


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
        (lambda: rb.policies.CTS(posterior="gaussian", sigma=0.0), "sigma must be a number above 0"),
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


def line_value(x, epsilon, at):
    """The line of the rising index at play ``at``: the recent mean, and the improvement, if it is one."""
    n = len(x)
    h = min(max(1, math.ceil(epsilon * n)), n // 2)
    rise = sum((at - play) * (x[play - 1] - x[play - 1 - h]) / h for play in range(n - h + 1, n + 1)) / h
    return sum(x[-h:]) / h + max(0.0, rise), h


@given(ROUNDS)
@settings(max_examples=40, deadline=None)
def test_lines_to_the_end_and_over_the_rounds_left(rounds):
    horizon = 500

    def cure(x, _, t):
        if len(x) < 2:
            return math.inf
        at = len(x) + (horizon - t + 1 + 1) / 2
        value, h = line_value(x, 0.25, at)
        return value + 0.1 * (at - len(x) + h - 1) * math.sqrt(4.0 * math.log(horizon) / h**3)

    def end(x, _, t):
        if len(x) < 2:
            return math.inf
        value, h = line_value(x, 0.125, horizon)
        return value + 0.1 * (horizon - len(x) + h - 1) * math.sqrt(7.0 / h**3)

    for policy, formula in (
        (rb.policies.CureUCB(sigma=0.1), cure),
        (rb.policies.RUCBE(sigma=0.1, epsilon=0.125, exploration=7.0), end),
    ):
        compare(policy, played(policy, rounds, horizon), formula)


@given(ROUNDS, st.integers(2, 9))
@settings(max_examples=30, deadline=None)
def test_probe_and_commit_looks_at_its_probes_only(rounds, probes):
    policy = rb.policies.ProbeAndCommit(probes=probes)
    past = played(policy, rounds, 200)
    if policy.round <= 3 * probes and any(len(plays) < probes for plays in past):
        assert policy.indices().tolist() == [1.0 if len(plays) < probes else 0.25 for plays in past]
        return

    def formula(x, *_):
        if len(x) < 2:
            return math.inf
        kept = x[:probes]
        return line_value(kept, 0.25, len(kept) + (200 - 3 * probes + 1) / 2)[0]

    compare(policy, past, formula)
    again = rb.policies.ProbeAndCommit.from_state(policy.state())
    assert again.indices().tolist() == policy.indices().tolist()


def test_ti_ucb_follows_a_line_until_it_ends():
    rng = np.random.default_rng(0)
    x = np.concatenate([np.linspace(0.1, 0.7, 60), np.full(80, 0.7)]) + rng.normal(0, 0.002, 140)
    policy = rb.policies.TIUCB(window=10, threshold=0.02, sigma=0.1)
    policy.start(rb.problems.TopK(1, k=1), rng=0)
    found = None
    for n, outcome in enumerate(x, 1):
        policy.observe([0], [outcome])
        rule = policy._rule
        if rule.converged[0] == 0 and n > 2:
            line = np.polyval(np.polyfit(np.arange(1, n + 1), x[:n], 1), n + 1)
            spread = 1 / n + 3 * (n + 1) / (n * (n - 1))
            if n >= 20:
                older, newer = (np.polyfit(range(a, a + 10), x[a : a + 10], 1) for a in (n - 20, n - 10))
                assert np.polyval(older, n) - np.polyval(newer, n) <= 0.02
        else:
            found = found or n
            kept = x[found - 10 : n] if n > 2 else x[:n]
            line, spread = kept.mean(), 1 / len(kept)
            if n == 2:
                line, spread = 2 * x[1] - x[0], 1 / 2 + 9 / 2
            found = None if n <= 2 else found
        bonus = 0.1 * math.sqrt(4 * math.log(n + 1) * spread)
        assert policy.indices()[0] == pytest.approx(line + bonus, abs=1e-9)
    assert found is not None
    assert 60 < found < 75


def test_glr_cucb_finds_changes_and_not_much_else():
    rng = np.random.default_rng(2)
    late, false = [], 0
    for trial in range(20):
        policy = rb.policies.GLRCUCB(delta=0.01, restart="all" if trial % 2 else "arm")
        policy.start(rb.problems.TopK(2, k=1), rng=0)
        for _ in range(200):
            policy.observe([0], [float(rng.random() < 0.8)])
            policy.observe([1], [float(rng.random() < 0.5)])
        false += int(policy._rule.clock[2])
        restarts = policy._rule.clock[2]
        for n in range(100):
            policy.observe([0], [float(rng.random() < 0.2)])
            if policy._rule.clock[2] > restarts:
                late.append(n)
                # Only the arm that changed forgets, or both do.
                assert (policy._rule.since[1] == 0) == (trial % 2 == 1)
                break
    assert len(late) == 20
    assert np.median(late) < 40
    assert false <= 2


def test_glr_cucb_tries_every_arm_now_and_then():
    policy = rb.policies.GLRCUCB(forced=0.2)
    policy.start(rb.problems.TopK(4, k=1), rng=0)
    chosen = []
    for _ in range(400):
        arms = policy.select()
        policy.observe(arms, [0.9 if arms[0] == 2 else 0.0])
        chosen.append(int(arms[0]))
    counts = np.bincount(chosen[200:], minlength=4)
    assert (counts >= 9).all()
    assert counts[2] > 150


@given(st.integers(0, 10**6), st.integers(1, 300))
@settings(max_examples=25, deadline=None)
def test_escb_finds_the_best_of_the_list(seed, rounds):
    problem = rb.problems.ShortestPath([("s", "a"), ("a", "t"), ("s", "b"), ("b", "t"), ("a", "b")], "s", "t")
    policy = rb.policies.ESCB()
    policy.start(problem, rng=0)
    rng = np.random.default_rng(seed)
    sets = problem.oracle.super_arms()
    total, plays = np.zeros(5), np.zeros(5)
    for _ in range(rounds):
        arms = sets[rng.integers(len(sets))]
        outcomes = rng.random(arms.size)
        policy.observe(arms, outcomes)
        total[arms] += outcomes
        plays[arms] += 1
    if (plays == 0).any():
        return
    t = policy.round
    f = math.log(t) + 4 * 3 * math.log(max(1.0, math.log(t)))

    def value(arms):
        return (total / plays)[arms].sum() + math.sqrt(f / 2 * (1 / plays)[arms].sum())

    assert value(policy.select()) == pytest.approx(max(map(value, sets)))
    mask = np.zeros(5, dtype=bool)
    mask[0] = True
    free = [arms for arms in sets if not mask[arms].any()]
    assert value(policy.select(mask=mask)) == pytest.approx(max(map(value, free)))
    with pytest.raises(rb.TooManySuperArmsError, match="ESCB compares all super arms"):
        policy.start(rb.problems.TopK(100, k=10))


def plain_elimination(rewards, quota, keep, share):
    """Phases as one would write them down: play everybody up to the quota, sort, keep the best."""
    alive, plays = list(range(len(rewards))), [0] * len(rewards)

    def estimate(unit):
        held = plays[unit] if share == 0 else max(1, int(share * plays[unit]))
        return np.mean(rewards[unit][plays[unit] - held : plays[unit]])

    for wanted, stay in zip(quota, keep, strict=True):
        for unit in alive:
            plays[unit] = max(plays[unit], wanted)
        alive = sorted(alive, key=lambda unit: (-estimate(unit), unit))[:stay]
    return plays, alive


@pytest.mark.parametrize("kind", [rb.policies.SuccessiveHalving, rb.policies.RSR])
def test_eliminations_are_those_of_the_plain_scheme(kind):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 12))
        horizon = int(rng.integers(3 * n, 40 * n))
        # Eighths, whose sums are exact, so that equal estimates are equal.
        rewards = rng.integers(0, 9, (n, horizon)) / 8.0
        policy = kind(budget=1.0) if kind is rb.policies.SuccessiveHalving else kind()
        policy.start(rb.problems.TopK(n, k=1), horizon=horizon, rng=seed)
        if kind is rb.policies.SuccessiveHalving:
            phases = math.ceil(math.log2(n)) if n > 1 else 0
            keep = [math.ceil(n / 2 ** (phase + 1)) for phase in range(phases)]
            quota = np.cumsum([max(1, horizon // (phases * left)) for left in [n, *keep][:phases]])
        else:
            scale = 0.5 + sum(1 / i for i in range(2, n + 1))
            quota = [max(1, math.ceil((horizon - n) / (scale * (n + 1 - j)))) for j in range(1, n)]
            keep = [n - j for j in range(1, n)]
        share = 0.0 if kind is rb.policies.SuccessiveHalving else 0.25
        plays, alive = plain_elimination(rewards, quota, keep, share)
        needed = sum(plays)
        for _ in range(needed):
            arm = int(policy.select()[0])
            policy.observe([arm], [rewards[arm][policy.plays[arm]]])
        assert policy.plays.tolist() == plays or n == 1
        assert policy.recommend().tolist() == [alive[0]] if n > 1 else [0]
        assert kind is rb.policies.RSR or needed <= horizon + n * len(quota)


def test_thompson_sampling_for_rising_arms_waits_for_its_forced_plays():
    policy = rb.policies.RisingTS(posterior="gaussian", sigma=0.01, window=5, forced=30)
    policy.start(rb.problems.TopK(3, k=1), rng=0)
    for _ in range(90):
        arms = policy.select()
        policy.observe(arms, [0.9 if arms[0] == 1 else 0.1])
    assert policy.plays.tolist() == [30, 30, 30]
    for _ in range(30):
        policy.observe(policy.select(), [0.9])
    assert policy.plays.tolist() == [30, 60, 30]


def test_what_is_known_is_kept_when_the_problem_grows():
    """The number of forced plays depends on the number of arms, and must not change means that are fixed."""
    old = rb.problems.TopK(["x", "y"], k=1)
    new = rb.problems.TopK(["y", "z", "x"], k=1)
    for name, kind in rb.policies.classes().items():
        if name in ("oracle", "random", "tour"):
            continue
        policy = kind(**kind.examples()[0])
        policy.start(old, horizon=300, rng=0)
        for t in range(120):
            arms = policy.select()
            policy.observe(arms, [0.4 + 0.2 * arms[0] + 0.01 * (t % 3)])
        other = policy.rebase(new, [1, -1, 0])
        assert other.plays.tolist() == [policy.plays[1], 0, policy.plays[0]]
        before, after = policy.terms()["recent average"], other.terms()["recent average"]
        assert after[[2, 0]].tolist() == before.tolist(), name
        for _ in range(60):
            arms = other.select()
            other.observe(arms, [0.5])
        again = kind.from_state(other.state())
        assert again.terms()["recent average"].tolist() == other.terms()["recent average"].tolist()


def test_every_policy_that_learns_recommends_a_super_arm():
    problem = rb.problems.ShortestPath([("s", "a"), ("a", "t"), ("s", "b"), ("b", "t")], "s", "t")
    for name, kind in rb.policies.classes().items():
        if name in ("oracle", "random", "tour"):
            continue
        policy = kind(**kind.examples()[0])
        policy.start(problem, horizon=400, rng=0)
        assert problem.oracle.is_feasible(policy.recommend())
        for _ in range(40):
            arms = policy.select()
            policy.observe(arms, [0.9 if arm >= 2 else 0.1 for arm in arms])
        before = policy.state()
        assert policy.recommend().tolist() == [2, 3], name
        assert policy.state() == before
    with pytest.raises(rb.InputError, match="Random does not recommend"):
        rb.Random().recommend()
    oracle = rb.Oracle(super_arm=[2, 3])
    oracle.start(problem)
    assert oracle.recommend().tolist() == [2, 3]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rb.policies.CureUCB().start(rb.problems.TopK(2, 1)), "horizon must be given to start CureUCB"),
        (lambda: rb.policies.RSR().start(rb.problems.TopK(2, 1)), "horizon must be given to start RSR"),
        (lambda: rb.policies.RisingTS().start(rb.problems.TopK(2, 1)), "forced must be given"),
        (lambda: rb.policies.RisingTS(window=1.5), "window must be"),
        (lambda: rb.policies.TIUCB(window=1), "window must be an integer of at least 2"),
        (lambda: rb.policies.TIUCB(threshold=0), "threshold must be"),
        (lambda: rb.policies.GLRCUCB(delta=0), "delta must be"),
        (lambda: rb.policies.GLRCUCB(restart="both"), "restart must be 'arm' or 'all', got 'both'"),
        (lambda: rb.policies.ProbeAndCommit(probes=1), "probes must be an integer of at least 2"),
        (lambda: rb.policies.SuccessiveHalving(budget=0.0), "budget must be"),
        (lambda: rb.policies.RSR(window=1.0), "window must be a share of the plays"),
        (lambda: rb.policies.RUCBE(exploration=-1), "exploration must be"),
        (lambda: rb.policies.ESCB(bonus=float("nan")), "bonus must be"),
    ],
)
def test_more_wrong_parameters_are_refused(make, message):
    with pytest.raises(rb.InputError, match=message):
        make()
