"""The loop: compiled and uncompiled alike, regret that adds up, runs that go on where they were."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits.curves import Bernoulli, Exponential, Flat, Gaussian, Linear, Noiseless, PowerLaw
from rising_bandits.simulation import Simulation, checkpoints

POLICIES = ["crucb", "r-ed-ucb", "sw-ucb", "sw-cucb", "sw-ts", "sw-cts", "oracle", "random", "tour"]


def make(name: str, task: rb.Task) -> rb.Policy:
    return rb.policies.by_name(name, **({"sigma": task.sigma} if name in ("crucb", "r-ed-ucb") else {}))


def same(a: rb.Run, b: rb.Run) -> bool:
    arrays = ("rounds", "regret", "reward", "realised_regret", "realised_reward", "plays", "plays_at")
    return a.super_arm_plays == b.super_arm_plays and all(
        np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True) for name in arrays
    )


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("task", rb.tasks.names())
def test_compiled_and_uncompiled_loops_agree(task, name):
    instance = rb.tasks.get(task)
    # Long enough for super-arm policies to leave their initialisation (1296 super arms, twice).
    horizon = 3000 if "complex" in task else 1200
    fast = rb.simulate(instance, make(name, instance), horizon=horizon, seed=3)
    slow = rb.simulate(instance, make(name, instance), horizon=horizon, seed=3, compiled=False)
    assert same(fast, slow)


PURE = """
import json, sys
import rising_bandits as rb
out = {}
for task in ("path-easy", "k-max"):
    for name in ("crucb", "sw-ts"):
        run = rb.simulate(rb.tasks.get(task), rb.policies.by_name(name), horizon=250, seed=5)
        out[task + " " + name] = [run.plays.tolist(), [[list(k), v] for k, v in run.super_arm_plays.items()]]
print(json.dumps(out))
"""


def test_machine_code_decides_like_the_interpreter():
    """The same program with Numba switched off by its own variable: the loop runs as plain Python."""
    results = []
    for disabled in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": disabled}
        done = subprocess.run([sys.executable, "-c", PURE], env=environment, capture_output=True, text=True, check=True)
        results.append(json.loads(done.stdout))
    assert results[0] == results[1]


@pytest.mark.parametrize("task", ["toy", "path-easy", "matching-easy", "spanning-easy", "k-max"])
@pytest.mark.parametrize("name", ["crucb", "sw-ts"])
def test_regret_adds_up_from_plays_alone(task, name):
    """An independent count: replay the super arms of a run and add the means they had."""
    instance = rb.tasks.get(task)
    horizon = 700

    chosen = []

    class Watched(type(make(name, instance))):
        def observe(self, arms, outcomes, played=None):
            chosen.append(sorted(int(arm) for arm in arms))
            super().observe(arms, outcomes, played)

    policy = Watched(**make(name, instance).parameters())
    run = rb.simulate(instance, policy, horizon=horizon, seed=1, compiled=False)
    plays = np.zeros(instance.problem.n_arms, dtype=int)
    reward, optimum = 0.0, 0.0
    best = rb.optimal_constant(instance, horizon).super_arm
    at = {int(r): place for place, r in enumerate(run.rounds)}
    for t, arms in enumerate(chosen, start=1):
        means = instance.means(plays)[arms]
        reward += float(means.max() if task == "k-max" else means.sum())
        constant = instance.means(t - 1)[best]
        optimum += float(constant.max() if task == "k-max" else constant.sum())
        plays[arms] += 1
        if t in at:
            assert run.reward[at[t]] == pytest.approx(reward, rel=1e-12)
            assert run.regret[at[t]] == pytest.approx(optimum - reward, rel=1e-9, abs=1e-9)
            assert run.plays_at[at[t]].tolist() == plays.tolist()
    assert run.plays.tolist() == plays.tolist()
    assert sum(run.super_arm_plays.values()) == horizon


def test_the_oracle_has_no_regret_and_early_regret_may_be_negative():
    task = rb.tasks.get("path-easy")
    run = rb.simulate(task, rb.Oracle(), seed=0)
    assert run.rounds[-1] == task.horizon
    assert np.abs(run.regret).max() < 1e-6
    assert run.optimal_plays == task.horizon
    early = rb.simulate(task, rb.SWCUCB(), seed=0)
    assert early.regret.min() < 0


def test_realised_rewards_stay_near_expected_ones():
    run = rb.simulate(rb.tasks.get("path-easy"), rb.Random(), horizon=50_000, seed=0)
    # The noise is 0.01 a play, 4 plays a round; clipping at 0 adds at most 0.004 for each early play of 4 late arms.
    noise = 4.5 * 0.01 * np.sqrt(4 * 50_000)
    assert abs(run.realised_reward[-1] - run.reward[-1]) < noise + 4 * 0.004 * 50


def test_seeds_give_other_runs_and_the_same_seed_the_same():
    task = rb.tasks.get("path-easy")
    first, again, other = (rb.simulate(task, rb.CRUCB(), horizon=5000, seed=seed) for seed in (0, 0, 1))
    assert same(first, again)
    assert not same(first, other)


def test_the_environment_does_not_depend_on_what_the_policy_draws():
    """One stream each: a policy that draws numbers for nothing sees the same outcomes."""
    seen = []

    class Wasteful(rb.Oracle):
        waste = 0

        def observe(self, arms, outcomes, played=None):
            self.rng.random(self.waste)
            seen.append(list(outcomes))
            super().observe(arms, outcomes, played)

    for waste in (0, 3):
        policy = Wasteful()
        policy.waste = waste
        rb.simulate(rb.tasks.get("matching-easy"), policy, horizon=100, seed=4, compiled=False)
    assert seen[:100] == seen[100:]


@pytest.mark.parametrize("name", ["crucb", "r-ed-ucb", "sw-cts", "sw-ts", "random", "oracle"])
def test_a_stopped_run_ends_like_one_that_was_not(name):
    task = rb.tasks.get("spanning-easy")
    whole = rb.simulate(task, make(name, task), horizon=4000, seed=9)
    simulation = Simulation(task, make(name, task), 4000, 9)
    for rounds in (1, 5, 200, 37, 1500):
        simulation.advance(rounds)
        state = json.loads(json.dumps(simulation.state()))
        simulation = Simulation.from_state(state, task, type(simulation.policy))
    simulation.advance()
    assert same(simulation.result(), whole)


def test_an_unfinished_run_has_no_result():
    simulation = Simulation(rb.tasks.get("toy"), rb.CRUCB(sigma=0.0), 1000)
    simulation.advance(10)
    with pytest.raises(rb.InputError, match="10 of 1000 rounds are played"):
        simulation.result()


def test_checkpoints_are_log_spaced_and_hold_what_was_asked_for():
    rounds = checkpoints(300_000, extra=[12_345])
    assert rounds[0] == 1
    assert rounds[-1] == 300_000
    assert 12_345 in rounds
    assert np.all(np.diff(rounds) > 0)
    # Every octave is covered, and so is every fiftieth of the horizon.
    assert all(((rounds >= 2**k) & (rounds < 2 ** (k + 1))).any() for k in range(18))
    assert np.diff(rounds).max() <= 300_000 / 50
    with pytest.raises(rb.InputError, match="rounds must be an integer from 1 to 100, got 101"):
        checkpoints(100, extra=[101])
    run = rb.simulate(rb.tasks.get("k-max"), rb.Random(), horizon=1000, rounds=[333])
    assert 333 in run.rounds


def test_every_noise_and_curve_runs_in_the_compiled_loop():
    curves = (Exponential(time=50.0), PowerLaw(scale=20.0, power=0.5), Linear(duration=100), Flat(0.3))
    for noise in (Noiseless(), Bernoulli(), rb.curves.Gaussian(0.1)):
        task = rb.Task("own", rb.problems.TopK(4, k=2), curves, 2000, noise)
        policy = rb.CRUCB(sigma=task.sigma)
        assert same(rb.simulate(task, policy), rb.simulate(task, policy, compiled=False))


def test_bernoulli_outcomes_have_the_mean_of_the_curve():
    task = rb.Task("coins", rb.problems.TopK(2, k=2), (Flat(0.3), Flat(0.8)), 40_000, Bernoulli())
    run = rb.simulate(task, rb.Random(), seed=1)
    # Four standard deviations at the fixed seed.
    assert abs(run.realised_reward[-1] - 1.1 * 40_000) < 4 * np.sqrt(40_000 * (0.21 + 0.16))


class TestCascade:
    """A path stops at its first failure; what comes after was not played."""

    graph = (("s", "a"), ("a", "b"), ("b", "t"), ("s", "t"))

    def task(self, means):
        problem = rb.problems.ShortestPath(self.graph, "s", "t", reward="harmonic")
        return rb.Task("cascade", problem, tuple(Flat(mean) for mean in means), 3000, Bernoulli(), cascade=True)

    def test_an_edge_behind_an_impossible_one_is_never_counted(self):
        for name in ("crucb", "sw-cucb", "sw-cts"):
            for compiled in (True, False):
                run = rb.simulate(self.task((0.9, 0.0, 0.9, 0.2)), rb.policies.by_name(name), compiled=compiled)
                assert run.plays[2] == 0
                assert run.plays[1] >= 2
                assert run.plays[0] >= run.plays[1]

    def test_plays_are_what_was_reached(self):
        task = self.task((0.9, 0.5, 0.9, 0.2))
        seen = np.zeros(4, dtype=int)

        class Watched(rb.CRUCB):
            def observe(self, arms, outcomes, played=None):
                tried = np.ones(len(arms), dtype=bool) if played is None else np.asarray(played)
                ordered = self.problem.ordered(arms).tolist()
                assert list(arms) == ordered
                if not tried.all():
                    last = int(tried.sum()) - 1
                    assert outcomes[last] == 0.0
                assert all(outcome > 0 for outcome in np.asarray(outcomes)[tried][:-1])
                seen[np.asarray(arms)[tried]] += 1
                super().observe(arms, outcomes, played)
                assert self.plays.tolist() == seen.tolist()

        run = rb.simulate(task, Watched(sigma=0.5), compiled=False)
        assert run.plays.tolist() == seen.tolist()
        fast = rb.simulate(task, rb.CRUCB(sigma=0.5))
        assert same(run, fast)

    def test_an_arm_that_cannot_be_reached_does_not_lock_the_policy(self):
        graph = (("s", "a"), ("a", "t"), ("s", "b"), ("b", "t"))
        problem = rb.problems.ShortestPath(graph, "s", "t")
        curves = (Flat(0.0), Flat(0.9), Flat(0.6), Flat(0.6))
        task = rb.Task("dead end", problem, curves, 2000, Noiseless(), cascade=True)
        for name in ("crucb", "sw-cucb", "sw-cts"):
            for compiled in (True, False):
                run = rb.simulate(task, make(name, task), compiled=compiled)
                assert run.plays[1] == 0
                assert run.super_arm_plays[2, 3] > 1500

    def test_regret_is_not_made_up(self):
        coins = self.task((0.9, 0.5, 0.9, 0.2))
        task = rb.Task("clipped", coins.problem, coins.curves, 500, Gaussian(0.3), cascade=True)
        run = rb.simulate(task, rb.CRUCB(sigma=0.3))
        assert np.isnan(run.regret).all()
        assert np.isfinite(run.reward).all()
        assert run.optimum is None
        with pytest.raises(rb.InputError, match="known for arms that fail by chance"):
            rb.optimal_constant(task)
        given = rb.simulate(self.task((0.9, 0.5, 0.9, 0.2)), rb.Oracle(super_arm=[0, 1, 2]))
        assert list(given.super_arm_plays) == [(0, 1, 2)]

    def test_the_order_of_an_explicit_list_is_kept(self):
        problem = rb.problems.Explicit([[1, 0], [2]])
        task = rb.Task("listed", problem, (Flat(0.9), Flat(0.0), Flat(0.1)), 500, Bernoulli(), cascade=True)
        for compiled in (True, False):
            run = rb.simulate(task, rb.SWCUCB(window=50), compiled=compiled)
            assert run.plays[0] == 0
            assert run.plays[1] >= 2

    def test_super_arm_policies_see_nothing_from_a_path_that_failed(self):
        task = self.task((1.0, 0.0, 1.0, 0.5))
        policy = rb.SWUCB(window=1000)
        rb.simulate(task, policy)
        path = next(place for place, arms in enumerate(task.problem.oracle.super_arms()) if len(arms) == 3)
        assert policy._rule.total[path] == 0.0


class Fixed:
    """A policy of a user's own that always proposes the same, right or wrong."""

    def __init__(self, arms):
        self.arms = arms

    def start(self, problem, horizon, rng):
        pass

    def select(self):
        return self.arms

    def observe(self, arms, outcomes):
        pass


@pytest.mark.parametrize("arms", [[0, 11], [0, 0, 0, 0], [-1], list(range(12)), [], [99]])
def test_what_a_policy_of_ones_own_proposes_is_checked(arms):
    with pytest.raises(rb.InputError, match="arms"):
        rb.simulate(rb.tasks.get("path-easy"), Fixed(arms), horizon=50)
    rb.simulate(rb.tasks.get("path-easy"), Fixed([9, 6, 5, 2]), horizon=50)


def test_the_optimum_is_found_by_listing_where_the_solver_maximises_something_else():
    edges = [("s", "a"), ("a", "t"), ("s", "b"), ("b", "t")]
    problem = rb.problems.ShortestPath(edges, "s", "t", reward="sum", cost="inverse")
    assert not problem.exact
    task = rb.Task("odd", problem, (Flat(0.1), Flat(1.0), Flat(0.4), Flat(0.4)), 100)
    assert rb.optimal_constant(task).super_arm.tolist() == [0, 1]
    assert rb.optimal_constant(task).total == pytest.approx(110.0)
    assert not rb.problems.Matching(2, 2, reward="product").exact
    assert "not exact" in repr(rb.problems.Matching(2, 2, reward="product"))
    for name in rb.tasks.names():
        assert rb.tasks.get(name).problem.exact


def test_a_run_is_worth_having_where_the_optimum_cannot_be_listed():
    task = rb.Task("many", rb.problems.KMax(60, 10), (Flat(0.5),) * 60, 200)
    run = rb.simulate(task, rb.CRUCB(), seed=0)
    assert run.optimum is None
    assert np.isnan(run.regret).all()
    assert run.reward[-1] == pytest.approx(100.0)
    with pytest.raises(rb.InputError, match="a task whose best super arm cannot be computed"):
        rb.simulate(task, rb.Oracle())


def test_a_constant_super_arm_that_was_given_is_kept():
    run = rb.simulate(rb.tasks.get("path-easy"), rb.Oracle(super_arm=[0, 1, 4, 9]), horizon=20_000)
    assert run.super_arm_plays == {(0, 1, 4, 9): 20_000}
    assert run.regret[-1] > 0


def test_nothing_starts_before_everything_is_checked():
    policy = rb.CRUCB()
    policy.start(rb.problems.TopK(3, k=1), rng=0)
    before = policy.state()
    with pytest.raises(rb.InputError, match="rounds must be"):
        rb.simulate(rb.tasks.get("toy"), policy, horizon=100, rounds=[0])
    assert policy.state() == before
    with pytest.raises(rb.InputError, match="task must be a Task"):
        rb.simulate("path-easy", policy)
    with pytest.raises(rb.InputError, match="policy must be an object"):
        rb.simulate(rb.tasks.get("toy"), rb.CRUCB)


def test_very_many_arms_keep_no_table_of_plays(monkeypatch):
    from rising_bandits.simulation import ledger

    monkeypatch.setattr(ledger, "PLAYS_LIMIT", 100)
    run = rb.simulate(rb.tasks.get("path-easy"), rb.CRUCB(), horizon=500)
    assert run.plays_at.shape[1] == 0
    assert run.plays.sum() == 2000


def test_memory_of_a_run_is_small():
    """Bytes that the policy keeps per play, counted and not timed: at most 32, at any window."""
    for epsilon in (0.05, 0.125, 0.25, 0.49):
        policy = rb.CRUCB(epsilon=epsilon, sigma=0.01)
        run = rb.simulate(rb.tasks.get("path-easy"), policy, horizon=100_000, seed=0)
        used = int(policy._rule.rings.book[0]) * 8
        assert used / run.plays.sum() <= 32


def test_many_distinct_super_arms_are_all_counted():
    task = rb.Task("wide", rb.problems.TopK(12, k=4), tuple(Flat(0.5) for _ in range(12)), 6000)
    run = rb.simulate(task, rb.Random(), seed=0)
    slow = rb.simulate(task, rb.Random(), seed=0, compiled=False)
    assert run.super_arm_plays == slow.super_arm_plays
    assert len(run.super_arm_plays) == 495
    counted = np.zeros(12, dtype=int)
    for arms, count in run.super_arm_plays.items():
        counted[list(arms)] += count
    assert counted.tolist() == run.plays.tolist()


def test_bad_arguments_are_refused():
    task = rb.tasks.get("toy")
    with pytest.raises(rb.InputError, match="seed must be an integer of at least 0, got -1"):
        rb.simulate(task, rb.CRUCB(), seed=-1)
    with pytest.raises(rb.InputError, match=r"horizon must be .* got 1.5"):
        rb.simulate(task, rb.CRUCB(), horizon=1.5)
    with pytest.raises(rb.InputError, match="super_arm must be given outside a simulation"):
        rb.Oracle().start(task.problem)
    saved = rb.Simulation(task, rb.CRUCB(), 100).state()
    with pytest.raises(rb.InputError, match="policy_type must be the class CRUCB, got SWCUCB"):
        rb.Simulation.from_state(saved, task, rb.SWCUCB)


def test_plays_are_told_by_label_too():
    run = rb.simulate(rb.tasks.get("toy"), rb.SWCUCB(), horizon=500)
    assert run.plays_by_label == {"shared": 500, "early": int(run.plays[1]), "late": int(run.plays[2])}
    assert sum(run.super_arm_plays_by_label.values()) == 500
    assert set(run.super_arm_plays_by_label) == {("shared", "early"), ("shared", "late")}
    assert list(run.super_arm_plays_by_label.values()) == sorted(run.super_arm_plays.values(), reverse=True)


class TooLarge(rb.oracles.SuperArmOracle):
    """Claims super arms of at most two arms, and answers three."""

    n_arms, max_size = 3, 2

    def best(self, weights):
        return [0, 1, 2]

    def is_feasible(self, arms):
        return True


TASK = rb.tasks.get("path-easy")


def started(problem=TASK.problem):
    policy = rb.CRUCB()
    policy.start(problem, rng=0)
    return policy


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: started(rb.Problem(TooLarge())).select(), r"TooLarge.best returns must be .* 1 to 2 \(max_size\)"),
        (lambda: started(rb.Problem(TooLarge())).observe([0, 1, 2], [0.5] * 3), "not a feasible super arm"),
        (lambda: started().rebase(None, [0]), "problem must be a Problem"),
        (lambda: rb.Simulation(TASK, rb.CRUCB(), horizon=100).advance(-1), "rounds must be an integer of at least 0"),
        (lambda: rb.Simulation(TASK, rb.CRUCB(), horizon=100).advance("5"), "rounds must be an integer of at least 0"),
        (lambda: rb.simulate(TASK, rb.CRUCB(), horizon=100, rounds=5), "rounds must be a list of rounds"),
        (lambda: rb.simulate(TASK, rb.CRUCB(), horizon=100, compiled="no"), "compiled must be True or False, got 'no'"),
        (lambda: rb.simulation.checkpoints(0), "horizon must be an integer of at least 1"),
        (lambda: rb.simulation.checkpoints(10, count=0), "count must be an integer of at least 1"),
        (lambda: rb.simulation.best_after(None, 5), "task must be a Task"),
        (lambda: rb.simulation.identify(None, rb.CRUCB()), "task must be a Task"),
        (lambda: rb.Simulation.from_state({}, None, rb.CRUCB), "task must be a Task"),
        (lambda: rb.Task(3, TASK.problem, curves=TASK.curves, horizon=10), "name must be a text"),
        (lambda: rb.Task("x", TASK.problem, curves=TASK.curves, horizon=10, cascade=3), "cascade must be True or"),
        (lambda: rb.tasks.register(3, None), "register takes a name and a function"),
        (lambda: TASK.curves[0].table("a"), "horizon must be an integer of at least 0"),
        (lambda: TASK.problem.arms_of(None), "labels must be a list of labels"),
        (lambda: TASK.problem.labels_of(None), "arms must be a list of numbers from 0 to 11"),
        (lambda: TASK.problem.oracle.super_arms("a"), "limit must be an integer of at least 0"),
        (lambda: rb.policies.by_name("cts", posterior=np.arange(2)), "posterior must be 'beta' or 'gaussian'"),
    ],
)
def test_arguments_of_the_wrong_kind_are_named_before_anything_is_done(call, words):
    with pytest.raises(rb.InputError, match=words):
        call()
