"""Ties between super arms are broken at random, and nothing else changes."""

from collections import Counter

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits._compile import copied
from rising_bandits.oracles import CostPaths, DagPaths, GroupChoices
from rising_bandits.oracles.operations import choose, solve

GRID = [((x, y), (x + 1, y)) for x in range(3) for y in range(3)] + [
    ((x, y), (x, y + 1)) for x in range(4) for y in range(2)
]
TAILS, HEADS = [arc[0] for arc in GRID], [arc[1] for arc in GRID]
ENDS = (0, 0), (3, 2)
ORACLES = {
    "groups": lambda: GroupChoices([[0, 1, 2], [3, 4], [5, 6, 7, 8]]),
    "dag": lambda: DagPaths(TAILS, HEADS, *ENDS),
    "inverse": lambda: CostPaths(TAILS, HEADS, *ENDS, cost="inverse"),
    "log": lambda: CostPaths(TAILS, HEADS, *ENDS, cost="log", directed=False),
}


def chosen(oracle, weights, draw):
    out = np.zeros(oracle.max_size, dtype=np.int64)
    size = choose(copied(oracle.kernel()), weights, draw, out)
    return tuple(sorted(out[:size].tolist()))


def cost(oracle, weights, arms):
    """What the solver makes least, computed from the words of its documentation."""
    values = weights[list(arms)]
    if not isinstance(oracle, CostPaths):
        return -values.sum()
    costs = 1.0 / values if oracle.cost == "inverse" else np.maximum(0.0, -np.log(values))
    return costs.sum()


@pytest.mark.parametrize("name", ORACLES)
def test_without_a_tie_the_draw_changes_nothing(name):
    oracle, rng = ORACLES[name](), np.random.default_rng(1)
    for _ in range(50):
        weights = rng.random(oracle.n_arms)
        wanted = tuple(oracle.solve(weights).tolist())
        assert {chosen(oracle, weights, draw) for draw in (0, 1, 12345, 2**63 - 1)} == {wanted}


@pytest.mark.parametrize("name", ORACLES)
def test_what_is_drawn_is_best_and_every_best_one_is_drawn(name):
    oracle, rng = ORACLES[name](), np.random.default_rng(2)
    listed = [tuple(arms.tolist()) for arms in oracle.super_arms()]
    ties = 0
    for _ in range(12):
        # Powers of two, so that sums of costs are exact and equal sums are equal.
        weights = rng.choice([0.5, 1.0], oracle.n_arms)
        costs = {arms: cost(oracle, weights, arms) for arms in listed}
        least = min(costs.values())
        best = {arms for arms in listed if costs[arms] <= least + 1e-12}
        out = np.zeros(oracle.max_size, dtype=np.int64)
        size = solve(copied(oracle.kernel()), weights, out)
        assert chosen(oracle, weights, 0) == tuple(sorted(out[:size].tolist()))
        found = Counter(chosen(oracle, weights, int(draw)) for draw in rng.integers(1, 2**62, 400))
        if name == "log":
            # Of paths of equal cost, those with the least second cost are best: among these, the shortest.
            assert set(found) <= best
        else:
            assert set(found) == best
        ties += len(found) > 1
    assert ties > 3


def test_each_arm_of_a_group_is_as_likely_as_any_other():
    oracle = GroupChoices([[0, 1, 2, 3]])
    weights = np.array([0.5, 0.7, 0.7, 0.7])
    found = Counter(chosen(oracle, weights, draw) for draw in range(1, 3001))
    assert set(found) == {(1,), (2,), (3,)}
    assert all(abs(count - 1000) < 150 for count in found.values())


def test_steps_that_cost_nothing_never_lead_in_a_circle():
    rng = np.random.default_rng(3)
    nodes = range(7)
    arcs = [(a, b) for a in nodes for b in nodes if a < b]
    oracle = CostPaths([a for a, _ in arcs], [b for _, b in arcs], 0, 6, cost="log", directed=False)
    for draw in range(1, 300):
        weights = rng.choice([0.25, 0.5, 1e300, np.inf], oracle.n_arms)
        assert oracle.is_feasible(chosen(oracle, weights, draw))


def test_a_blocked_arm_is_never_drawn():
    oracle = DagPaths(["s", "s", "s"], ["t", "t", "t"], "s", "t")
    weights = np.array([-np.inf, 0.5, 0.5])
    assert {chosen(oracle, weights, draw) for draw in range(1, 60)} == {(1,), (2,)}
    assert chosen(oracle, np.full(3, -np.inf), 7) == ()


PROBLEMS = {
    "one-of-each": lambda: rb.problems.OneOfEach([["a", "b", "c"], ["d", "e"]]),
    "path": lambda: rb.problems.ShortestPath([("s", "a"), ("s", "b"), ("a", "t"), ("b", "t")], "s", "t"),
    "product": lambda: rb.problems.ShortestPath(
        [("s", "a"), ("s", "b"), ("a", "t"), ("b", "t")], "s", "t", reward="product"
    ),
}
POLICIES = {"crucb": lambda: rb.CRUCB(sigma=0.1), "recent": lambda: rb.policies.RecentMean()}


def decisions(problem, policy, seed, rounds=30):
    policy.start(problem, horizon=10_000, rng=seed)
    found = []
    for _ in range(rounds):
        arms = policy.select()
        found.append(tuple(arms.tolist()))
        policy.observe(arms, np.ones(arms.size))
    return found


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("policy", POLICIES)
def test_equal_arms_are_played_alike(name, policy):
    problem = PROBLEMS[name]()
    runs = [decisions(problem, POLICIES[policy](), seed) for seed in range(20)]
    assert runs[3] == decisions(problem, POLICIES[policy](), 3)
    last = Counter(run[-1] for run in runs)
    assert len(last) > 1
    plays = Counter(arm for run in runs for arms in run for arm in arms)
    assert min(plays.values()) > 0.6 * max(plays.values()) / (1.5 if name == "one-of-each" else 1.0)


def test_a_saved_policy_breaks_ties_as_if_never_stopped():
    problem = PROBLEMS["one-of-each"]()
    for bits in (np.random.PCG64, np.random.Philox, np.random.MT19937):
        policy = rb.CRUCB(sigma=0.1)
        policy.start(problem, rng=np.random.Generator(bits(5)))
        for _ in range(10):
            policy.observe(policy.select(), [1.0, 1.0])
        again = rb.CRUCB.from_state(policy.state())
        twin = policy.copy()
        for _ in range(20):
            arms = policy.select()
            assert arms.tolist() == again.select().tolist() == twin.select().tolist()
            for one in (policy, again, twin):
                one.observe(arms, [1.0, 1.0])


def test_compiled_and_plain_break_ties_alike():
    for name in PROBLEMS:
        problem = PROBLEMS[name]()
        curves = [rb.curves.Flat(1.0)] * problem.n_arms
        task = rb.Task(name="equal", problem=problem, curves=curves, noise=rb.curves.Noiseless(), horizon=200)
        one, two = (rb.simulate(task, rb.CRUCB(sigma=0.1), seed=4, compiled=compiled) for compiled in (True, False))
        assert one.plays.tolist() == two.plays.tolist()
        assert min(one.plays) > 0.15 * max(one.plays)


def test_studies_break_ties_by_their_seed_and_the_number_of_the_decision(tmp_path):
    problem = PROBLEMS["one-of-each"]()
    runs = []
    for seed in (1, 2, 1):
        name, storage = f"s{len(runs)}", f"sqlite:///{tmp_path}/s.db"
        found = []
        with rb.studies.create(name, problem, rb.CRUCB(sigma=0.1), seed=seed, storage=storage) as study:
            for _ in range(15):
                decision = study.ask()
                found.append(tuple(decision.super_arm))
                study.tell(decision, dict.fromkeys(decision.super_arm, 1.0))
        with rb.studies.open(name, storage=storage) as study:
            for _ in range(15):
                decision = study.ask()
                found.append(tuple(decision.super_arm))
                study.tell(decision, dict.fromkeys(decision.super_arm, 1.0))
        runs.append(found)
    assert runs[0] == runs[2] != runs[1]
