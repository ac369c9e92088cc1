"""The rising index in bounded memory, and policies that move to another problem."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rising_bandits as rb
from rising_bandits.policies.rules.coarse import effective_window, make_coarse
from rising_bandits.policies.rules.operations import catch_up, postpone, update
from rising_bandits.policies.rules.rising import window_of
from rising_bandits.testing import check_policy

ONE = rb.problems.TopK(["x"], k=1)


def naive_index(outcomes, n, h, t, sigma, constant, upward=False):
    """The equation of the paper, term by term, for the first ``n`` outcomes and window ``h``."""
    newer = range(n - h + 1, n + 1)
    average = sum(outcomes[play - 1] for play in newer) / h
    trend = sum((t - play) * (outcomes[play - 1] - outcomes[play - h - 1]) / h for play in newer) / h
    return (
        average
        + (max(trend, 0.0) if upward else trend)
        + sigma * (t - n + h - 1) * math.sqrt(constant * math.log(t) / h**3)
    )


def naive_steps(plays, epsilon, resolution):
    """The step after each number of plays, from the rule alone."""
    step = 1
    for n in range(2, plays + 1):
        if n % (2 * step) == 0 and window_of(n, epsilon) >= 2 * resolution * step:
            step *= 2
    return step


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    plays=st.integers(2, 3_000),
    epsilon=st.sampled_from([0.03, 0.125, 0.25, 0.49]),
    resolution=st.integers(4, 20),
    upward=st.booleans(),
)
def test_the_coarse_index_is_the_exact_index_of_its_window(seed, plays, epsilon, resolution, upward):
    outcomes = np.random.default_rng(seed).random(plays)
    policy = rb.CRUCB(epsilon=epsilon, sigma=0.1, resolution=resolution, upward=upward)
    policy.start(ONE)
    policy.absorb(0, outcomes)
    policy._pass_rounds(plays)
    step = naive_steps(plays, epsilon, resolution)
    n = plays - plays % step
    h = effective_window(n, step, epsilon)
    wanted = naive_index(outcomes.tolist(), n, h, plays + 1, 0.1, 30.0, upward)
    assert policy.indices()[0] == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    # The stated error: age and length are within a window's share of the exact ones.
    exact = window_of(n, epsilon)
    assert plays - n < step
    assert 2 * h <= n
    assert abs(h - exact) < step
    assert step == 1 or step <= exact / resolution
    assert policy._rule.blocks.shape == (1, 4 * resolution + 8, 2)


def test_nothing_is_rounded_while_the_window_is_short():
    outcomes = np.random.default_rng(3).random(400)
    exact, coarse = rb.CRUCB(sigma=0.1), rb.CRUCB(sigma=0.1, resolution=32)
    for policy in (exact, coarse):
        policy.start(ONE)
    for outcome in outcomes:
        for policy in (exact, coarse):
            policy.observe([0], [outcome])
        assert coarse.indices()[0] == pytest.approx(exact.indices()[0], rel=1e-12)


def test_it_is_a_policy_like_any_other():
    check_policy(lambda: rb.CRUCB(sigma=0.05, resolution=4))
    check_policy(lambda: rb.CRUCB(sigma=0.05, upward=True))


def test_it_serves_super_arms_too():
    task = rb.tasks.get("k-max")
    fast, slow = (
        rb.simulate(task, rb.RedUCB(sigma=0.05, resolution=4), horizon=600, seed=1, compiled=compiled)
        for compiled in (True, False)
    )
    assert fast.super_arm_plays == slow.super_arm_plays
    policy = rb.RedUCB(sigma=0.05, resolution=4)
    policy.start(task.problem, rng=0)
    play(policy, task.problem, 100, seed=1)
    again = rb.RedUCB.from_state(json.loads(json.dumps(policy.state())))
    assert again.indices().tolist() == policy.indices().tolist()


def test_memory_stays_and_decisions_are_as_good():
    """Regret over 300 000 rounds of path-easy, five seeds: the coarse form within 10% of the exact one."""
    task = rb.tasks.get("path-easy")
    exact, coarse = (
        np.mean([rb.simulate(task, rb.CRUCB(sigma=0.01, resolution=r), seed=seed).regret[-1] for seed in range(5)])
        for r in (None, 32)
    )
    assert abs(coarse - exact) < 0.1 * abs(exact)


@pytest.mark.parametrize("resolution", [0, 3, 2.5, True, 10_000])
def test_a_bad_resolution_is_refused(resolution):
    with pytest.raises(rb.InputError, match="resolution must be None for the exact index"):
        rb.CRUCB(resolution=resolution)


POLICIES = [
    lambda: rb.CRUCB(sigma=0.1),
    lambda: rb.CRUCB(sigma=0.1, resolution=4),
    lambda: rb.SWCUCB(window=5),
    lambda: rb.SWCTS(window=5),
]


def play(policy, problem, rounds, seed):
    rng = np.random.default_rng(seed)
    log = []
    for _ in range(rounds):
        arms = policy.select()
        outcomes = rng.random(arms.size)
        policy.observe(arms, outcomes)
        log.append((problem.labels_of(arms), outcomes))
    return log


@pytest.mark.parametrize("make", POLICIES)
@pytest.mark.parametrize("rounds", [0, 1, 3, 7, 60])
def test_rebase_is_the_same_as_taking_the_plays_in_again(make, rounds):
    old_problem = rb.problems.TopK(["a", "b", "c", "d"], k=2)
    new_problem = rb.problems.TopK(["d", "new", "a", "c"], k=2)
    old = make()
    old.start(old_problem, rng=1)
    log = play(old, old_problem, rounds, seed=2)
    before = json.dumps(old.state())
    moved = old.rebase(new_problem, [3, -1, 0, -1])  # c begins anew, b is gone
    assert json.dumps(old.state()) == before
    plain = make()
    plain.start(new_problem)
    for labels, outcomes in log:
        for label, outcome in zip(labels, outcomes, strict=True):
            if label in ("a", "d"):
                plain.absorb(new_problem.index(label), np.array([outcome]))
    plain._pass_rounds(rounds)
    plain.rng, moved.rng = np.random.default_rng(4), np.random.default_rng(4)
    assert moved.indices().tolist() == plain.indices().tolist()
    assert moved.plays.tolist() == plain.plays.tolist()
    assert moved.round == plain.round == rounds + 1
    assert play(moved, new_problem, 40, seed=3)[-1][0] == play(plain, new_problem, 40, seed=3)[-1][0]
    assert moved.indices().tolist() == plain.indices().tolist()


def test_rebase_of_super_arm_policies_keeps_super_arms_that_stayed():
    old_problem = rb.problems.Explicit([["a"], ["b", "c"], ["a", "c"]])
    new_problem = rb.problems.Explicit([["c", "b"], ["a"], ["a", "new"]])
    old = rb.SWUCB(window=10)
    old.start(old_problem, rng=0)
    for labels, outcomes in ((["a"], [0.25]), (["b", "c"], [0.5, 1.0]), (["a", "c"], [0.0, 0.5])):
        old.observe(old_problem.arms_of(labels), outcomes)
    origin = [old_problem.labels.index(label) if label in old_problem.labels else -1 for label in new_problem.labels]
    moved = old.rebase(new_problem, origin)
    sets = [tuple(sorted(map(str, new_problem.labels_of(arms)))) for arms in new_problem.oracle.super_arms()]
    plays = dict(zip(sets, moved.plays.tolist(), strict=True))
    assert plays == {("a",): 1, ("b", "c"): 1, ("a", "new"): 0}


def test_an_arm_that_was_given_up_is_looked_at_anew():
    """Arm c is in no super arm at first; once it is in one it must be covered like a new one."""
    old_problem = rb.Problem(rb.oracles.ExplicitSets([[0], [1]], n_arms=3), labels=["a", "b", "c"])
    policy = rb.CRUCB(sigma=0.1)
    policy.start(old_problem, rng=0)
    play(policy, old_problem, 10, seed=0)
    policy._give_up([2])
    assert policy.indices()[2] == 1.0
    moved = policy.rebase(rb.problems.TopK(["a", "b", "c"], k=1), [0, 1, 2])
    assert np.isinf(moved.indices()[2])
    assert moved.select().tolist() == [2]


@pytest.mark.parametrize("make", [*POLICIES, lambda: rb.SWUCB(window=5), rb.Random])
def test_a_copy_goes_its_own_way(make):
    problem = rb.problems.TopK(4, k=2)
    policy = make()
    policy.start(problem, rng=1)
    play(policy, problem, 9, seed=2)
    before = json.dumps(policy.state())
    other = policy.copy()
    assert json.dumps(other.state()) == before
    play(other, problem, 30, seed=3)
    assert json.dumps(policy.state()) == before
    again = policy.copy()
    play(again, problem, 30, seed=3)
    assert json.dumps(again.state()) == json.dumps(other.state())


@pytest.mark.parametrize("make", [*POLICIES, lambda: rb.SWUCB(window=5)])
def test_decisions_under_way_spread_the_cover(make):
    problem = rb.problems.TopK(6, k=1)
    policy = make()
    policy.start(problem, rng=1)
    underway = []
    for _ in range(12):
        underway.append(policy.select(underway=underway))
    assert sorted(int(arms[0]) for arms in underway) == sorted(2 * list(range(6)))
    # All are on their way: one more is still a feasible decision.
    assert problem.oracle.is_feasible(policy.select(underway=underway))
    assert policy.plays.tolist() == [0] * 6


def test_terms_add_up_to_the_index():
    for make in (*POLICIES[:3], lambda: rb.SWCUCB(window=0.25)):
        problem = rb.problems.TopK(4, k=2)
        policy = make()
        policy.start(problem, rng=1)
        play(policy, problem, 200, seed=2)
        total = sum(policy.terms().values())
        assert total == pytest.approx(policy.indices(), rel=1e-9, abs=1e-12)


def test_blocks_that_are_dropped_are_in_no_window():
    """Whatever the share and the resolution, the blocks that are left hold two windows after every play."""
    for epsilon in (0.05, 0.25, 0.5):
        for resolution in (1, 2, 5):
            state = make_coarse(1, epsilon=epsilon, sigma=0.1, constant=1.0, resolution=resolution)
            for play in range(1, 3_000):
                update(state, 0, (play * 37 % 101) / 101)
                state.check()


def test_a_run_leaves_the_coefficients_to_its_end():
    one, run = (make_coarse(2, epsilon=0.25, sigma=0.1, constant=1.0, resolution=2) for _ in range(2))
    for play in range(1, 400):
        update(one, play % 2, (play * 37 % 101) / 101)
        postpone(run, play % 2, (play * 37 % 101) / 101)
        if play % 7 == 0:
            catch_up(run, 0)
            catch_up(run, 1)
            for mine, other in zip(one, run, strict=True):
                np.testing.assert_array_equal(mine, other)
