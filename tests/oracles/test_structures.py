"""Groups, budgets and matchings with capacities: against lists made by hand, HiGHS and the conformance suite."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import rising_bandits as rb
from rising_bandits._compile import copied
from rising_bandits._machine import prepared
from rising_bandits.errors import InfeasibleError, InputError
from rising_bandits.oracles import Assignments, BudgetSets, CapacityMatchings, GroupChoices, LinearSets
from rising_bandits.oracles.operations import solve
from rising_bandits.problems import Knapsack, Matching, OneOfEach
from rising_bandits.testing import check_oracle

quick = settings(deadline=None, derandomize=True, max_examples=40)
weights_of = st.sampled_from([-1.0, -0.5, 0.0, 0.25, 0.5, 0.5, 1.0, 3.0, 1e6])


def subsets(n_arms: int) -> list[tuple[int, ...]]:
    return [arms for size in range(1, n_arms + 1) for arms in itertools.combinations(range(n_arms), size)]


def best_of(sets: list[tuple[int, ...]], weights: list[float]) -> float:
    return max(math.fsum(weights[arm] for arm in arms) for arms in sets)


def as_tuples(oracle: rb.oracles.SuperArmOracle) -> list[tuple[int, ...]]:
    return [tuple(arms.tolist()) for arms in oracle.super_arms()]


# --- groups --------------------------------------------------------------------------------------------------------


@quick
@given(st.data())
def test_one_of_each_group(data):
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    spare = data.draw(st.integers(0, 1))
    arms = data.draw(st.permutations(range(sum(sizes))))
    ends = np.cumsum([0, *sizes]).tolist()
    groups = [list(arms[a:b]) for a, b in itertools.pairwise(ends)]
    oracle = GroupChoices(groups, sum(sizes) + spare)
    expected = sorted(tuple(sorted(chosen)) for chosen in itertools.product(*groups))
    assert as_tuples(oracle) == expected
    weights = data.draw(st.lists(weights_of, min_size=oracle.n_arms, max_size=oracle.n_arms))
    found = oracle.solve(weights)
    assert math.fsum(weights[arm] for arm in found) == best_of(expected, weights)
    # Arms are played in the order of the groups.
    assert [next(g for g, group in enumerate(groups) if arm in group) for arm in oracle.ordered(found)] == list(
        range(len(groups))
    )


def test_groups_conform():
    check_oracle(GroupChoices([[0, 1], [4, 3], [2]]))
    check_oracle(GroupChoices([[1, 0], [3]], n_arms=5))


@pytest.mark.parametrize("reward", ["sum", "max", "product", "harmonic"])
def test_the_best_of_each_group_is_best_for_every_reward(reward):
    problem = OneOfEach([["a", "b", "c"], ["d", "e"], ["f", "g"]], reward=reward)
    assert problem.exact
    rng = np.random.default_rng(5)
    for _ in range(50):
        weights = rng.random(problem.n_arms)
        values = [problem.reward(weights[arms]) for arms in problem.oracle.super_arms()]
        assert problem.reward(weights[problem.oracle.solve(weights)]) == pytest.approx(max(values))


def test_groups_that_are_wrong_are_refused():
    for groups, message in (([], "at least one"), ([[0], []], "non-empty"), ([[0, 1], [1]], "arm 1 twice")):
        with pytest.raises(InputError, match=message):
            GroupChoices(groups)
    for groups, message in (
        ({}, "at least one group"),
        ({"a": []}, "non-empty list"),
        ([["x", "y"], ["x"]], "twice"),
        ({"a": ["x", "x"]}, "different"),
        ("ab", "mapping or a list"),
        (7, "mapping or a list"),
    ):
        with pytest.raises(InputError, match=message):
            OneOfEach(groups)


def test_a_pipeline_cascades_in_the_order_of_its_stages():
    problem = OneOfEach({"b": ["x"], "a": ["y", "z"]}, reward="product")
    assert problem.labels == ("b:x", "a:y", "a:z")
    assert problem.index(("a", "z")) == 2
    flat = rb.curves.Flat
    task = rb.Task("p", problem, (flat(0.0), flat(0.9), flat(0.9)), 40, rb.curves.Bernoulli(), cascade=True)
    run = rb.simulate(task, rb.SWCUCB(), seed=0, compiled=False)
    assert run.plays.tolist() == [40, 0, 0]


# --- budgets -------------------------------------------------------------------------------------------------------


def affordable(costs: list[float], budget: float, groups: list[list[int]] | None) -> list[tuple[int, ...]]:
    """Every set within the budget, in exact arithmetic on the decimals as they are written."""
    exact = [Fraction(str(cost)) for cost in costs]
    fits = [arms for arms in subsets(len(costs)) if sum(exact[arm] for arm in arms) <= Fraction(str(budget))]
    if groups is not None:
        fits = [arms for arms in fits if all(sum(arm in group for arm in arms) == 1 for group in groups)]
        fits = [arms for arms in fits if all(any(arm in group for group in groups) for arm in arms)]
    return sorted(fits)


@quick
@given(st.data())
def test_sets_within_a_budget(data):
    cost = data.draw(st.sampled_from([st.integers(0, 9), st.sampled_from([0.1, 0.2, 0.3, 1.25, 0.7, 2.0])]))
    costs = data.draw(st.lists(cost, min_size=1, max_size=6))
    budget = data.draw(st.sampled_from([0.3, 1, 3, 2.5, 8, 1000]))
    groups = None
    if len(costs) > 2 and data.draw(st.booleans()):
        groups = [[0, 1], [2], list(range(3, len(costs)))][: 2 if len(costs) == 3 else 3]
    expected = affordable(costs, budget, groups)
    if not expected:
        with pytest.raises(InfeasibleError, match="budget must allow some super arm"):
            BudgetSets(costs, budget, groups)
        return
    oracle = BudgetSets(costs, budget, groups)
    assert as_tuples(oracle) == expected
    assert oracle.max_size == max(map(len, expected))
    weights = data.draw(st.lists(weights_of, min_size=len(costs), max_size=len(costs)))
    found = oracle.solve(weights)
    assert math.fsum(weights[arm] for arm in found) == pytest.approx(best_of(expected, weights), rel=1e-12)


def test_budgets_conform():
    check_oracle(BudgetSets([2, 1, 2, 7, 0], 3))
    check_oracle(BudgetSets([math.pi, 1, 2.2, 7, 0], 5.1))
    check_oracle(BudgetSets([5, 1, 4, 1, 3], 6, groups=[[0, 1], [2, 3]]))


def test_a_large_knapsack_is_as_good_as_the_integer_solver():
    rng = np.random.default_rng(2)
    costs, weights = rng.integers(1, 60, 40), rng.normal(0.3, 1.0, (4, 40))
    mine, highs = BudgetSets(costs, 300), LinearSets([costs], upper=[300])
    for row in weights:
        assert row[mine.solve(row)].sum() == pytest.approx(row[highs.solve(row)].sum(), abs=1e-9)


def test_costs_that_are_rounded_are_rounded_up():
    oracle = BudgetSets([math.sqrt(2), math.pi, 1.0], 4.6, resolution=50)
    for arms in oracle.super_arms():
        assert oracle.costs[arms].sum() <= 4.6
    assert not oracle.is_feasible([0, 1, 2])
    assert oracle.is_feasible([0, 1]) == (sum(oracle.units[:2]) <= 50)


def test_knapsacks_that_are_wrong_are_refused():
    for costs, budget, groups, message in (
        ({}, 1, None, "costs must map"),
        ([1, 2], 1, None, "costs must map"),
        ({"x": -1}, 1, None, "the cost of 'x'"),
        ({"x": float("nan")}, 1, None, "the cost of 'x'"),
        ({"x": 1}, 0, None, "budget must be"),
        ({"x": 1}, 2, {"g": ["x"]}, "costs must name arms of the groups, got 'x'"),
        ({"g:x": 1}, 2, {"g": ["x", "y"]}, "'g:y' has none"),
    ):
        with pytest.raises(InputError, match=message):
            Knapsack(costs, budget, groups=groups)
    with pytest.raises(InfeasibleError, match="the cheapest costs 3, got 2"):
        Knapsack({"x": 3, "y": 4}, 2)


def test_structures_are_saved_with_their_policies():
    for problem in (
        OneOfEach({"a": ["x", "y"], "b": ["z"]}),
        Knapsack({("a", "x"): 1, ("a", "y"): 2.5, ("b", "z"): 1}, 3, groups={"a": ["x", "y"], "b": ["z"]}),
        Knapsack({"x": 1, "y": 2.5}, 3),
    ):
        policy = rb.SWCUCB(window=10)
        policy.start(problem, rng=0)
        for _ in range(6):
            policy.observe(arms := policy.select(), [0.5] * len(arms))
        again = rb.SWCUCB.from_state(policy.state())
        assert again.problem.labels == problem.labels
        assert again.select().tolist() == policy.select().tolist()


# --- matchings with capacities -------------------------------------------------------------------------------------


def within(pairs, arms, least, most) -> bool:
    load = [sum(node in (pairs[arm][0], pairs[arm][1]) for arm in arms) for node in range(len(least))]
    return all(low <= count <= high for low, count, high in zip(least, load, most, strict=True))


@settings(quick, max_examples=80)
@given(st.data())
def test_matchings_with_capacities(data):
    n_workers, n_jobs = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    every = [(worker, job) for worker in range(n_workers) for job in range(n_jobs)]
    pairs = data.draw(st.lists(st.sampled_from(every), unique=True, min_size=1, max_size=7))
    bounds = [data.draw(st.tuples(st.sampled_from([0, 0, 0, 1]), st.integers(1, 3))) for _ in range(n_workers + n_jobs)]
    least, most = [low for low, _ in bounds], [high for _, high in bounds]
    joined = [(worker, n_workers + job) for worker, job in pairs]
    expected = sorted(arms for arms in subsets(len(pairs)) if within(joined, arms, least, most))
    arguments = (n_workers, n_jobs, pairs, least[:n_workers], most[:n_workers], least[n_workers:], most[n_workers:])
    if not expected:
        with pytest.raises(InfeasibleError):
            CapacityMatchings(*arguments)
        return
    oracle = CapacityMatchings(*arguments)
    assert as_tuples(oracle) == expected
    for _ in range(3):
        weights = data.draw(st.lists(weights_of, min_size=len(pairs), max_size=len(pairs)))
        found = oracle.solve(weights)
        assert math.fsum(weights[arm] for arm in found) == pytest.approx(best_of(expected, weights), rel=1e-12)


@settings(quick, max_examples=60)
@given(st.data())
def test_a_mask_that_blocks_all_pairs_of_a_worker_leaves_that_worker_out(data):
    n_workers, n_jobs = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    every = [(worker, job) for worker in range(n_workers) for job in range(n_jobs)]
    bounds = [data.draw(st.tuples(st.sampled_from([0, 1, 1]), st.integers(1, 3))) for _ in range(n_workers + n_jobs)]
    least, most = [low for low, _ in bounds], [high for _, high in bounds]
    arguments = (None, least[:n_workers], most[:n_workers], least[n_workers:], most[n_workers:])
    try:
        oracle = CapacityMatchings(n_workers, n_jobs, *arguments)
    except InfeasibleError:
        return
    out = data.draw(st.sets(st.integers(0, n_workers - 1)))
    mask = np.array([worker in out or data.draw(st.integers(0, 4)) == 0 for worker, _ in every])
    # The same by hand: a worker without a free pair need not have one.
    free = {every[arm][0] for arm in np.flatnonzero(~mask)}
    needed = [low if node >= n_workers or node in free else 0 for node, low in enumerate(least)]
    joined = [(worker, n_workers + job) for worker, job in every]
    wanted = [
        arms
        for arms in subsets(len(every))
        if arms and not any(mask[arm] for arm in arms) and within(joined, arms, needed, most)
    ]
    assert sorted(tuple(arms.tolist()) for arms in oracle.super_arms_without(mask)) == sorted(wanted)
    assert [oracle.is_allowed(arms, mask) for arms in subsets(len(every)) if arms] == [
        arms in wanted for arms in subsets(len(every)) if arms
    ]
    weights = data.draw(st.lists(weights_of, min_size=len(every), max_size=len(every)))
    if not wanted:
        with pytest.raises(InfeasibleError):
            oracle.solve(weights, mask=mask)
        return
    found = oracle.solve(weights, mask=mask)
    assert tuple(found.tolist()) in wanted
    assert math.fsum(weights[arm] for arm in found) == pytest.approx(best_of(wanted, weights), rel=1e-12)


def test_capacities_conform():
    check_oracle(CapacityMatchings(2, 3, worker_least=[1, 0], job_most=2, job_least=[0, 1, 0]))
    check_oracle(CapacityMatchings(3, 2, worker_most=2, job_most=2))


def test_a_large_matching_is_as_good_as_the_integer_solver():
    rng = np.random.default_rng(3)
    workers, jobs = 9, 8
    most_worker, most_job = rng.integers(1, 4, workers), rng.integers(1, 4, jobs)
    oracle = CapacityMatchings(workers, jobs, None, [1, *[0] * 8], most_worker.tolist(), 0, most_job.tolist())
    rows = [[pair[0] == worker for pair in oracle.pairs] for worker in range(workers)]
    rows += [[pair[1] == job for pair in oracle.pairs] for job in range(jobs)]
    highs = LinearSets(rows, [1, *[0] * 16], [*most_worker, *most_job])
    for weights in rng.normal(0.0, 1.0, (4, workers * jobs)):
        assert weights[oracle.solve(weights)].sum() == pytest.approx(weights[highs.solve(weights)].sum(), abs=1e-9)


def test_matching_without_bounds_is_the_assignment():
    rng = np.random.default_rng(4)
    plain, flow = Assignments(4, 6), CapacityMatchings(4, 6, worker_least=1)
    for weights in rng.normal(size=(20, 24)):
        assert plain.solve(weights).tolist() == flow.solve(weights).tolist()


def test_matchings_that_are_wrong_are_refused():
    for arguments, message in (
        ({"optional": ["dora"]}, "optional must be True, False or a list .* got 'dora'"),
        ({"required": "cats"}, "required must be a list of labels"),
        ({"job_capacity": 0}, "job_capacity must be an integer of at least 1"),
        ({"worker_capacity": {"ann": 1.5}}, "worker_capacity of 'ann'"),
        ({"job_capacity": {"dogs": 2}}, "got 'dogs'"),
    ):
        with pytest.raises(InputError, match=message):
            Matching(["ann", "bob"], ["cats", "cars"], **arguments)
    with pytest.raises(InputError, match=r"say optional=True"):
        Matching(3, 2)
    with pytest.raises(InfeasibleError, match="no such matching exists"):
        Matching(4, 2, optional=[0])
    assert Matching(3, 2, optional=True).oracle.count() == 12


# --- compiled ------------------------------------------------------------------------------------------------------

SOLVERS = [
    GroupChoices([[0, 1], [4, 3], [2, 5]]),
    BudgetSets([3, 1, 2, 5, 4, 1], 7),
    CapacityMatchings(3, 2, worker_most=2, job_most=2, worker_least=[1, 0, 0]),
]


@pytest.mark.parametrize("oracle", SOLVERS, ids=lambda oracle: type(oracle).__name__)
def test_compiled_solvers_decide_as_in_plain_python(oracle):
    kernel = copied(oracle.kernel())
    loop = solve.implementations[type(kernel)]
    rng = np.random.default_rng(1)
    one, two = np.full(oracle.max_size, -1), np.full(oracle.max_size, -1)
    fast = prepared(loop, kernel, np.zeros(6), one)
    for trial in range(200):
        weights = rng.integers(-2, 3, 6) / 3.0 if trial % 2 else rng.normal(size=6)
        weights[rng.random(6) < 0.2] = rng.choice([np.inf, -np.inf])
        size = fast(kernel, weights, one)
        assert size == solve(kernel, weights, two)
        assert one[:size].tolist() == two[:size].tolist()


def test_a_super_arm_within_a_budget_is_drawn_with_equal_chances():
    # 3000 draws each, fixed seed; Pearson's test at the level 0.001.
    rng = np.random.default_rng(7)
    for oracle in (BudgetSets([2, 1, 2, 9], 3), BudgetSets([5, 1, 4, 1, 3], 6, groups=[[0, 1], [2, 3]])):
        drawn = Counter(tuple(oracle.sample(rng).tolist()) for _ in range(3000))
        assert set(drawn) == set(as_tuples(oracle))
        assert oracle.count() == len(drawn)
        assert stats.chisquare(list(drawn.values())).pvalue > 0.001
    blocked = np.array([True, True, True, False])
    with pytest.raises(InfeasibleError, match="mask leaves no feasible super arm"):
        BudgetSets([2, 1, 2, 9], 3).sample(rng, blocked)
