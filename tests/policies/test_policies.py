"""Policies: the conformance suite, their refusals, and plain Python twins of compiled ones."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits.policies import saving
from rising_bandits.testing import POLICY_CHECKS, check_policy
from rising_bandits.testing.policies import check_loops

EXAMPLES = [(name, example) for name, kind in rb.policies.classes().items() for example in kind.examples()]


@pytest.mark.parametrize("check", POLICY_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=str)
def test_built_in_policies_conform(name, example, check):
    """Every policy that stands in the folder, with the parameters that its class says to try."""

    def factory():
        return rb.policies.by_name(name, **example)

    if check is check_loops and name not in ("crucb", "horizon-crucb", "r-ed-ucb", "sw-cucb", "sw-cts", "random"):
        # A rule is the same whatever the structure, so one structure is compiled for it.
        check_loops(factory, structures=1)
    else:
        check(factory)


@dataclass(kw_only=True, eq=False)
class PlainCRUCB(rb.IndexPolicy):
    """The equation of CRUCB as a user would write it: one method, no compiled code."""

    name = "plain-crucb"
    epsilon: float = 0.125
    sigma: float = 0.01

    def index(self, outcomes, t):
        n = len(outcomes)
        if n < 2:
            return math.inf
        h = min(max(1, math.ceil(self.epsilon * n)), n // 2)
        new, old = outcomes[n - h :], outcomes[n - 2 * h : n - h]
        plays = np.arange(n - h + 1, n + 1)
        bonus = self.sigma * (t - n + h - 1) * math.sqrt(10 * math.log(t**3) / h**3)
        return new.mean() + ((t - plays) * (new - old) / h).mean() + bonus


class PlainSWCUCB(rb.IndexPolicy):
    name = "plain-sw-cucb"

    def index(self, outcomes, t):
        window = outcomes[-math.isqrt(self.horizon) :]
        return window.mean() + math.sqrt(3 * math.log(t) / (2 * len(outcomes)))


class PlainSolver(rb.oracles.SuperArmOracle):
    """A user's own oracle in plain Python: the best path of a list."""

    def __init__(self, paths, n_arms):
        self.paths, self.n_arms, self.max_size = [list(map(int, path)) for path in paths], n_arms, len(paths[0])

    def best(self, weights):
        return max(self.paths, key=lambda path: float(weights[path].sum()))

    def is_feasible(self, arms):
        return sorted(map(int, arms)) in self.paths

    def enumerate(self):
        return iter(self.paths)


@pytest.mark.parametrize("twin", [(PlainCRUCB, rb.CRUCB), (PlainSWCUCB, rb.SWCUCB)], ids=["crucb", "sw-cucb"])
@pytest.mark.parametrize("task", ["path-easy", "matching-easy", "spanning-easy", "k-max"])
def test_a_plain_python_policy_decides_like_its_compiled_twin(twin, task):
    plain, fast = (rb.simulate(rb.tasks.get(task), kind(), horizon=1500, seed=6) for kind in twin)
    assert plain.super_arm_plays == fast.super_arm_plays
    assert np.array_equal(plain.regret, fast.regret)


def test_a_plain_python_oracle_decides_like_its_compiled_twin():
    easy = rb.tasks.get("path-easy")
    paths = [arms.tolist() for arms in easy.problem.oracle.super_arms()]
    task = rb.Task("listed", rb.problems.Explicit(paths), easy.curves, easy.horizon, easy.noise)
    own = rb.Task("own", rb.Problem(PlainSolver(paths, 12)), easy.curves, easy.horizon, easy.noise)
    for policy in (rb.CRUCB, rb.SWCTS, rb.RedUCB, rb.Random):
        slow, fast = rb.simulate(own, policy(), 1500, seed=2), rb.simulate(task, policy(), 1500, seed=2)
        assert slow.super_arm_plays == fast.super_arm_plays


def test_a_reward_of_ones_own_runs_uncompiled_with_the_same_result():
    task = rb.tasks.get("spanning-easy")
    reward = rb.Reward("mine", lambda values: float(values.sum()))
    own = rb.Task("own", rb.Problem(task.problem.oracle, reward), task.curves, task.horizon, task.noise)
    for policy in (rb.CRUCB, rb.RedUCB, rb.SWTS):
        parameters = {"sigma": 0.01 / math.sqrt(3)} if policy is rb.RedUCB else {}
        slow = rb.simulate(own, policy(**parameters), 1000, seed=2)
        fast = rb.simulate(task, policy(), 1000, seed=2)
        assert slow.super_arm_plays == fast.super_arm_plays


class Duck:
    """No base class at all: the three methods are enough."""

    def start(self, problem, horizon, rng):
        self.problem, self.rng = problem, rng

    def select(self):
        return self.problem.oracle.solve(self.rng.random(self.problem.n_arms))

    def observe(self, arms, outcomes):
        assert len(arms) == len(outcomes)


def test_any_object_with_the_three_methods_is_a_policy():
    run = rb.simulate(rb.tasks.get("matching-easy"), Duck(), horizon=300, seed=0)
    assert sum(run.super_arm_plays.values()) == 300


def test_the_suite_holds_bare_objects_to_what_they_have():
    check_policy(Duck)


def test_plain_policies_conform():
    check_policy(PlainCRUCB)


def test_the_conformance_suite_finds_a_policy_that_counts_what_was_not_played():
    class Careless(PlainCRUCB):
        def observe(self, arms, outcomes, played=None):
            super().observe(arms, outcomes)

    with pytest.raises(AssertionError, match="not played was counted"):
        check_policy(Careless)


def test_the_conformance_suite_finds_a_policy_that_forgets_its_random_state():
    class Forgetful(rb.SWCTS):
        def state(self):
            changed = {**super().state(), "rng": saving.dump_rng(np.random.default_rng(0))}
            return saving.sealed(changed)

    with pytest.raises(AssertionError, match="differ after from_state"):
        check_policy(Forgetful)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rb.CRUCB(epsilon=0.5), r"epsilon must be .*\(0, 0.5\), got 0.5"),
        (lambda: rb.CRUCB(epsilon=0), r"epsilon must be .*\(0, 0.5\), got 0"),
        (lambda: rb.CRUCB(epsilon=float("nan")), r"epsilon .* got nan"),
        (lambda: rb.CRUCB(epsilon="big"), r"epsilon .* got 'big'"),
        (lambda: rb.CRUCB(sigma=-0.1), r"sigma must be a number of at least 0.*got -0.1"),
        (lambda: rb.RedUCB(sigma=float("inf")), r"sigma .* got inf"),
        (lambda: rb.CRUCB(bonus="large"), r"bonus must be 'paper', 'reference' or a number.*'large'"),
        (lambda: rb.CRUCB(bonus=-1), r"bonus must be .* got -1"),
        (lambda: rb.SWUCB(window=0), r"window must be an integer of at least 1, got 0"),
        (lambda: rb.policies.by_name("ucb"), r"policy must be one of crucb, .* got 'ucb'"),
        (
            lambda: rb.policies.by_name("crucb", window=3),
            r"parameters of crucb are epsilon, sigma, bonus, resolution, upward; got window",
        ),
        (lambda: rb.CRUCB().start("path"), r"problem must be a Problem"),
        (lambda: rb.CRUCB().start(rb.problems.TopK(3, 1), horizon=0), r"horizon must be .* got 0"),
    ],
)
def test_bad_parameters_are_refused(make, message):
    with pytest.raises(rb.InputError, match=message):
        make()


def test_a_horizon_shorter_than_the_initialisation_says_how_long_it_must_be():
    problem = rb.tasks.get("path-easy").problem
    needed = None
    for horizon in range(1, 30):
        try:
            rb.CRUCB().start(problem, horizon=horizon, rng=0)
        except rb.InputError as error:
            needed = int(str(error).split("at least ")[1].split(":")[0])
        else:
            break
    assert horizon == needed
    rb.CRUCB().start(problem, horizon=needed, rng=0)
    with pytest.raises(rb.InputError, match=r"at least 12: .* 6 super arms .* got 11"):
        rb.SWUCB().start(problem, horizon=11, rng=0)


@pytest.mark.parametrize("name", ["path-easy", "path-complex", "matching-complex", "spanning-complex", "k-max"])
def test_the_initialisation_gives_every_arm_two_plays_and_wastes_little(name):
    from rising_bandits.policies.engines.cover import cover_rounds

    problem = rb.tasks.get(name).problem
    rounds = cover_rounds(problem)
    policy = rb.CRUCB()
    policy.start(problem, horizon=rounds, rng=0)
    for _ in range(rounds):
        arms = policy.select()
        policy.observe(arms, [0.5] * len(arms))
    assert policy.plays.min() >= 2
    # No schedule takes fewer rounds than this; greedy covering stays within a factor of two of it here.
    assert rounds <= 2 * math.ceil(2 * problem.n_arms / problem.oracle.max_size)


def test_super_arm_policies_refuse_families_too_large_to_list():
    problem = rb.problems.TopK(100, k=10)
    with pytest.raises(rb.TooManySuperArmsError, match=r"RedUCB .* 17310309456440 super arms.* limit of 100000"):
        rb.RedUCB().start(problem, horizon=10**6, rng=0)
    rb.CRUCB().start(problem, horizon=10**6, rng=0)
    rb.Random().start(problem, horizon=10**6, rng=0)


def test_a_refused_start_leaves_a_policy_as_it_was():
    policy = rb.RedUCB()
    policy.start(rb.problems.TopK(4, k=2), horizon=100, rng=0)
    before = policy.state()
    with pytest.raises(rb.TooManySuperArmsError):
        policy.start(rb.problems.TopK(100, k=10), horizon=10**6, rng=0)
    assert policy.state() == before


def test_a_policy_that_was_not_started_says_so():
    for call in (lambda p: p.select(), lambda p: p.observe([0], [0.5]), lambda p: p.indices(), lambda p: p.state()):
        with pytest.raises(rb.NotStartedError, match=r"call start\(problem"):
            call(rb.CRUCB())


@pytest.mark.parametrize("name", ["crucb", "r-ed-ucb", "sw-cts", "random", "tour"])
def test_a_mask_that_leaves_nothing_is_refused_and_changes_nothing(name):
    policy = rb.policies.by_name(name)
    policy.start(rb.tasks.get("path-easy").problem, horizon=1000, rng=0)
    before = policy.state()
    with pytest.raises(rb.InfeasibleError, match="mask leaves no feasible super arm"):
        policy.select(mask=np.ones(12, dtype=bool))
    with pytest.raises(rb.InputError, match="mask must be 12 booleans"):
        policy.select(mask=[0, 1])
    assert policy.state() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 99}, "version"),
        ({"policy": "SWUCB"}, "state must be one of CRUCB"),
        ({"problem": None}, "pass problem="),
    ],
)
def test_states_that_do_not_fit_are_refused(change, message):
    policy = rb.CRUCB()
    policy.start(rb.problems.TopK(3, k=1), rng=0)
    with pytest.raises(rb.InputError, match=message):
        rb.CRUCB.from_state(saving.sealed({**policy.state(), **change}))


def test_every_bit_generator_is_saved():
    for bits in (np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64):
        policy = rb.SWCTS(window=5)
        policy.start(rb.problems.TopK(6, k=2), rng=np.random.Generator(bits(3)))
        for _ in range(20):
            policy.observe(policy.select(), [0.4, 0.6])
        again = rb.SWCTS.from_state(policy.state())
        for _ in range(20):
            arms = policy.select()
            assert again.select().tolist() == arms.tolist()
            policy.observe(arms, [0.4, 0.6])
            again.observe(arms, [0.4, 0.6])


def test_looking_at_indices_changes_no_decision():
    for name in list(rb.policies.classes())[:7]:
        runs = []
        for peek in (False, True):
            policy = rb.policies.by_name(name)
            policy.start(rb.tasks.get("matching-easy").problem, horizon=1000, rng=5)
            chosen = []
            for t in range(80):
                if peek:
                    policy.indices()
                arms = policy.select()
                chosen.append(arms.tolist())
                policy.observe(arms, [((7 * t + 3 * int(arm)) % 11) / 11 for arm in arms])
            runs.append(chosen)
        assert runs[0] == runs[1]


@pytest.mark.parametrize("name", rb.policies.classes())
def test_policies_can_be_pickled_in_mid_run(name):
    policy = rb.policies.by_name(name, **({"super_arm": [1, 4]} if name == "oracle" else {}))
    policy.start(rb.tasks.get("matching-easy").problem, horizon=1000, rng=5)
    for _ in range(60):
        policy.observe(policy.select(), [0.4, 0.6])
    again = pickle.loads(pickle.dumps(policy))
    for _ in range(30):
        arms = policy.select()
        assert again.select().tolist() == arms.tolist()
        policy.observe(arms, [0.3, 0.9])
        again.observe(arms, [0.3, 0.9])


def test_parameters_from_numpy_are_saved_as_plain_numbers():
    problem = rb.problems.TopK(3, k=1)
    for policy in (
        rb.SWCUCB(window=np.int64(50)),
        rb.CRUCB(sigma=np.float32(0.5), bonus=np.float64(2.0)),
        rb.Oracle(super_arm=np.array([1])),
    ):
        policy.start(problem, rng=0)
        state = json.loads(json.dumps(policy.state()))
        assert type(policy).from_state(state).parameters() == policy.parameters()


def test_a_policy_whose_parameters_would_be_lost_is_not_saved():
    class Lossy(rb.IndexPolicy):
        name = "lossy"

        def __init__(self, c=1.0):
            self.c = c

        def index(self, outcomes, t):
            return self.c * outcomes[-1]

    policy = Lossy(c=5.0)
    policy.start(rb.problems.TopK(2, k=1), rng=0)
    with pytest.raises(rb.InputError, match="parameters c of Lossy would not be saved"):
        policy.state()


def test_an_index_that_is_no_number_names_the_arm():
    class Broken(rb.IndexPolicy):
        name = "broken"

        def index(self, outcomes, t):
            return float("nan")

    policy = Broken()
    policy.start(rb.problems.TopK(["x", "y"], k=1), rng=0)
    for _ in range(4):
        policy.observe(policy.select(), [0.5])
    with pytest.raises(rb.InputError, match="got nan for arm 'x' at round 5"):
        policy.select()


def test_a_state_is_not_loaded_into_another_problem():
    policy = rb.CRUCB()
    policy.start(rb.problems.TopK(4, k=1), rng=0)
    with pytest.raises(rb.InputError, match="problem must be the one"):
        rb.CRUCB.from_state(policy.state(), problem=rb.problems.TopK(4, k=2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: p.observe([0, 1], {0: 0.4, 1: 0.5}), "outcomes must be a list"),
        (lambda p: p.observe([0, 1], 0.4), "outcomes must be a list"),
        (lambda p: p.observe([0, 1], [0.4, 0.5], played=["no", "yes"]), "played must hold one boolean"),
        (lambda p: p.observe([0, 1], [0.4, 0.5], played=2), "played must hold one boolean"),
        (lambda p: p.observe([0], [0.4]), r"arms \[0\] \('x'\) are not a feasible"),
        (lambda p: p.observe([0, 1], np.array(0.4)), "outcomes must be a list"),
        (lambda p: p.observe([0, 1], np.array([[0.4], [0.5]])), "outcomes must be a list"),
        (lambda p: p.observe([0, 1], {0.4, 0.5}), "outcomes must be a list"),
        (lambda p: p.observe([0, 1], [0.4, 0.5], played=[[True], [True]]), "played must hold one boolean"),
        (lambda p: p.observe([0, 1], [0.4, 0.5], played=np.array(True)), "played must hold one boolean"),
        (lambda p: p.observe(np.array([], dtype=np.int64), []), "arms must be a non-empty list"),
        (lambda p: p.observe(p.select().reshape(1, 2), [0.4, 0.5]), "arms must be a non-empty list"),
        (lambda p: p.start(p.problem, rng="seven"), "rng must be a numpy.random.Generator, or a seed"),
        (lambda p: p.absorb(3, np.array([0.5])), "arm must be an integer from 0 to 2, got 3"),
        (lambda p: p.absorb(0, np.array([0.5, 7.0])), r"outcomes must be numbers in \[0, 1\], got .*7.0.* for arm 'x'"),
        (lambda p: p.select(mask=np.array([True, True, False])), "blocked: 'x', 'y'"),
        (lambda p: p.problem.mask("xy"), r"as in \['xy'\], got 'xy'"),
    ],
)
def test_quiet_traps_are_refused_and_labels_are_named(call, message):
    policy = rb.CRUCB()
    policy.start(rb.problems.TopK(["x", "y", "z"], k=2), rng=0)
    with pytest.raises((rb.InputError, rb.InfeasibleError), match=message):
        call(policy)
    assert policy.round == 1
    assert policy.plays.tolist() == [0, 0, 0]


def test_lost_reports_teach_super_arm_policies_nothing():
    policy = rb.SWUCB(window=10)
    policy.start(rb.problems.Explicit([[0], [1]]), rng=0)
    policy.observe([0], [0.9], played=[False])
    assert policy.plays.tolist() == [0, 0]
    assert policy.round == 2


def test_super_arm_policies_break_ties_alike_compiled_or_not():
    reward = rb.Reward("mine", lambda values: float(values.sum()))
    sets = [[0], [1], [2], [3]]
    curves = tuple(rb.curves.Flat(0.5) for _ in range(4))
    for policy in (rb.SWUCB, rb.RedUCB):
        runs = []
        for kind in ("sum", reward):
            task = rb.Task("tied", rb.problems.Explicit(sets, reward=kind), curves, 400, rb.curves.Noiseless())
            runs.append(rb.simulate(task, policy(), seed=3).super_arm_plays)
        assert runs[0] == runs[1]


def test_paths_through_graphs_with_cycles_are_covered_quickly():
    """Every arc of a grid in both directions: many arcs are on no simple path, which must be found out cheaply."""
    import networkx as nx

    problem = rb.problems.ShortestPath(nx.grid_2d_graph(6, 6).to_directed(), (0, 0), (5, 5))
    policy = rb.CRUCB()
    policy.start(problem, rng=0)
    on_path = np.array([problem.oracle.containing(arm) is not None for arm in range(problem.n_arms)])
    for _ in range(240):
        arms = policy.select()
        policy.observe(arms, [0.5] * len(arms))
    assert (policy.plays[on_path] >= 2).all()
    assert on_path.sum() == 100
    mask = np.zeros(problem.n_arms, dtype=bool)
    mask[0] = True
    assert 0 not in policy.select(mask=mask)


def test_cycles_that_no_path_uses_do_not_change_the_reward():
    problem = rb.problems.ShortestPath(
        [("s", "a"), ("a", "t"), ("s", "t"), ("x", "y"), ("y", "x"), ("a", "a")], "s", "t"
    )
    assert problem.reward.name == "sum"


def test_a_horizon_for_very_many_arms_is_checked_at_once():
    problem = rb.problems.TopK(1_000_000, k=100)
    with pytest.raises(rb.InputError, match="horizon must be at least 20000"):
        rb.CRUCB().start(problem, horizon=100, rng=0)
    rb.CRUCB().start(problem, horizon=20_000, rng=0)


def test_arrays_that_are_not_contiguous_are_read_right():
    policy, other = rb.CRUCB(), rb.CRUCB()
    for each in (policy, other):
        each.start(rb.problems.TopK(6, k=3), rng=0)
    wide = np.array([0, 9, 2, 9, 4, 9])[::2]
    policy.observe(wide, np.array([0.1, 9, 0.2, 9, 0.3, 9])[::2])
    other.observe([0, 2, 4], [0.1, 0.2, 0.3])
    strided = np.zeros(6, dtype=np.int64)
    for _ in range(10):
        strided[::2] = policy.select()
        policy.observe(strided[::2], [0.5, 0.6, 0.7])
        other.observe(other.select(), [0.5, 0.6, 0.7])
    assert policy.state() == other.state()


@pytest.mark.parametrize("task", ["path-easy", "matching-easy", "spanning-easy", "k-max"])
def test_a_tour_holds_every_arm_and_takes_turns(task):
    problem = rb.tasks.get(task).problem
    policy = rb.Tour()
    policy.start(problem)
    rounds = []
    for _ in range(2 * problem.n_arms):
        rounds.append(policy.select().tolist())
        policy.observe(rounds[-1], [0.5] * len(rounds[-1]))
    length = rounds.index(rounds[0], 1)
    assert {arm for arms in rounds[:length] for arm in arms} == set(range(problem.n_arms))
    assert all(arms == rounds[place % length] for place, arms in enumerate(rounds))


def test_a_tour_of_given_super_arms_leaves_out_those_that_are_blocked():
    policy = rb.Tour(super_arms=[[1, 0], [2, 3]])
    policy.start(rb.problems.TopK(4, k=2))
    assert policy.select(mask=[True, False, False, False]).tolist() == [2, 3]
    with pytest.raises(rb.InfeasibleError, match="mask blocks all 2 super arms of this policy"):
        policy.select(mask=[True, False, True, False])
    with pytest.raises(rb.InputError, match="Tour plays the given super_arms"):
        policy.rebase(policy.problem, range(4))
    assert rb.Tour.from_state(policy.state()).select().tolist() == [0, 1]
    for wrong in ([], "ab", [[0]]):
        with pytest.raises(rb.InputError):
            rb.Tour(super_arms=wrong).start(rb.problems.TopK(4, k=2))
