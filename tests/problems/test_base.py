"""What all problems share: labels, masks, descriptions, and refusals."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from typing import Any

import networkx as nx
import numpy as np
import pytest
from problem_kit import ROADS, best

import rising_bandits as rb
from rising_bandits.errors import InfeasibleError, InputError
from rising_bandits.oracles import KSubsets, SuperArmOracle
from rising_bandits.problems import (
    Explicit,
    KMax,
    LinearConstraints,
    Matching,
    Problem,
    Reward,
    ShortestPath,
    SpanningTree,
    TopK,
)

PROBLEMS: dict[str, Callable[[], Problem]] = {
    "path": lambda: ShortestPath(ROADS, "home", "work"),
    "path-keys": lambda: ShortestPath(nx.MultiDiGraph([(1, 2), (1, 2), (2, 3)]), 1, 3),
    "path-undirected": lambda: ShortestPath(nx.cycle_graph(5), 0, 2),
    "path-product": lambda: ShortestPath([*ROADS, ("work", "home", "back")], "home", "work", reward="product"),
    "tree": lambda: SpanningTree(nx.complete_graph(4), reward="max"),
    "matching": lambda: Matching(["ann", "bob"], 3),
    "matching-pairs": lambda: Matching(2, 2, pairs=[(1, 0), (0, 1), (0, 0)]),
    "top-k": lambda: TopK([("a", 1), ("b", ("c", 2)), 3.5, None], 2),
    "k-max": lambda: KMax(5, k=2),
    "explicit": lambda: Explicit([["walk"], ["bus", "tram"], ["bus"]], reward="harmonic"),
    "linear": lambda: LinearConstraints([[2, 1, 2], [1, 0, -1]], lower=[1, None], upper=[3, 0], labels=["x", "y", "z"]),
}
every_problem = pytest.mark.parametrize("name", PROBLEMS)


@every_problem
def test_labels_and_numbers_are_two_names_of_the_same_arms(name: str) -> None:
    problem = PROBLEMS[name]()
    assert len(set(problem.labels)) == problem.n_arms == problem.oracle.n_arms
    assert [problem.index(label) for label in problem.labels] == list(range(problem.n_arms))
    back = problem.labels[::-1]
    numbers = problem.arms_of(back)
    assert numbers.dtype == np.int64
    assert numbers.tolist() == list(range(problem.n_arms))[::-1]
    assert problem.labels_of(numbers) == list(back)
    assert problem.arms_of([]).tolist() == []


@every_problem
def test_a_mask_by_labels_forbids_exactly_these(name: str) -> None:
    problem = PROBLEMS[name]()
    assert not problem.mask([]).any()
    for blocked in itertools.combinations(problem.labels, 2):
        mask = problem.mask(blocked)
        assert mask.dtype == np.bool_
        assert problem.labels_of(np.flatnonzero(mask)) == sorted(blocked, key=problem.index)
        left = [frozenset(problem.labels_of(arms)) for arms in problem.oracle.super_arms_without(mask)]
        assert problem.oracle.can(mask) == bool(left)
        if left:
            assert frozenset(best(problem, np.ones(problem.n_arms), mask=mask)) in left


@every_problem
def test_a_spec_goes_through_json_and_rebuilds_the_problem(name: str) -> None:
    problem = PROBLEMS[name]()
    spec = problem.spec()
    twin = Problem.from_spec(json.loads(json.dumps(spec)))
    assert twin.spec() == spec
    assert twin.labels == problem.labels
    assert [type(label) for label in twin.labels] == [type(label) for label in problem.labels]
    assert twin.reward == problem.reward
    assert twin.scale == problem.scale
    assert [arms.tolist() for arms in twin.oracle.super_arms()] == [a.tolist() for a in problem.oracle.super_arms()]
    weights = np.random.default_rng(1).random(problem.n_arms)
    assert twin.oracle.solve(weights).tolist() == problem.oracle.solve(weights).tolist()


def test_specs_hold_plain_data_only() -> None:
    labels = [np.str_("a"), np.int64(3)]
    spec = Problem(KSubsets(2, 1), labels=labels).spec()
    assert json.loads(json.dumps(spec))["labels"] == ["a", 3]
    odd = Problem(KSubsets(1, 1), labels=[frozenset({1})])
    assert odd.spec() is None

    class Either(SuperArmOracle):
        n_arms, max_size = 2, 1

        def best(self, weights: np.ndarray) -> list[int]:
            return [int(np.argmax(weights))]

        def is_feasible(self, arms: Sequence[int]) -> bool:
            return len(arms) == 1

    assert Problem(Either()).spec() is None
    assert repr(Problem(Either())).startswith("Problem(2 base arms, ")
    assert Problem(KSubsets(2, 1), Reward("mine", sum)).spec() is None


def test_labels_must_be_different_and_complete() -> None:
    with pytest.raises(InputError, match="labels must be different, got 'a' twice; rename one of the two"):
        Problem(KSubsets(3, 1), labels=["a", "b", "a"])
    with pytest.raises(InputError, match="labels must be different, got 'x' twice"):
        TopK(["x", "x"], 1)
    with pytest.raises(InputError, match="labels must be different, got 'x' twice"):
        ShortestPath([("s", "t", "x"), ("s", "t", "x")], "s", "t")
    with pytest.raises(InputError, match="labels must be different, got '1->2' twice"):
        # Two nodes that print alike.
        ShortestPath([(1, 2), ("1", 2), (1, "1")], 1, 2)
    with pytest.raises(InputError, match="labels must be different, got 'x' twice"):
        Explicit([["x"]], labels=["x", "x"])
    with pytest.raises(InputError, match="labels must name each of the 3 base arms, got 2 labels"):
        Problem(KSubsets(3, 1), labels=["a", "b"])
    with pytest.raises(InputError, match="labels must name each of the 2 base arms, got 1 labels"):
        LinearConstraints([[1, 1]], labels=["x"])


def test_aliases_never_hide_a_label() -> None:
    problem = Problem(KSubsets(2, 1), labels=["a", "b"], aliases={"b": 0, "first": 0})
    assert (problem.index("b"), problem.index("first")) == (1, 0)
    # The second edge bears the name that the first would have had by its ends.
    roads = ShortestPath([("s", "t", "short"), ("s", "a", "s->t"), ("a", "t")], "s", "t")
    assert roads.index("s->t") == 1
    assert roads.index(("s", "t")) == 0


def test_an_unknown_label_is_named_with_some_that_are_known() -> None:
    problem = TopK(list("abcdefgh"), 2)
    with pytest.raises(
        InputError, match=r"one of the problem's arms \('a', 'b', 'c', 'd', 'e', 'f', \.\.\.\), got 'z'"
    ):
        problem.index("z")
    for call in (problem.arms_of, problem.mask):
        with pytest.raises(InputError, match=r"label must be one of .* got 'z'"):
            call(["a", "z"])
    with pytest.raises(InputError, match=r"got \['a'\]"):
        problem.index(["a"])
    with pytest.raises(InputError, match=r"arms \(0, 1\), got 2"):
        TopK(2, 1).index(2)


CYCLE = [*ROADS, ("work", "home")]
BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "source": (lambda: ShortestPath(ROADS, "moon", "work"), "source must be a node of the graph, got 'moon'"),
    "target": (lambda: ShortestPath(nx.DiGraph(ROADS), "home", 7), "target must be a node of the graph, got 7"),
    "same-ends": (lambda: ShortestPath(ROADS, "home", "home"), "source and target must differ, got 'home' for both"),
    "no-edges": (lambda: ShortestPath([], "a", "b"), "source must be a node of the graph, got 'a'"),
    "edge-string": (lambda: ShortestPath(["ab"], "a", "b"), "each edge must be a pair of nodes, .* got 'ab'"),
    "edge-long": (lambda: ShortestPath([(1, 2, 3, 4)], 1, 2), r"each edge must be a pair .* got \(1, 2, 3, 4\)"),
    "edge-short": (lambda: SpanningTree([(1,)]), r"each edge must be a pair of nodes, .* got \(1,\)"),
    "sum-with-cycles": (
        lambda: ShortestPath(CYCLE, "home", "work", reward="sum"),
        "sum of indices is hard in a graph with cycles; use reward='harmonic' or 'product'",
    ),
    "sum-undirected": (
        lambda: ShortestPath(nx.path_graph(3), 0, 2, reward=Reward("sum")),
        "sum of indices is hard in a graph with cycles",
    ),
    "reward": (lambda: ShortestPath(ROADS, "home", "work", reward="mean"), "reward must be one of sum.* got 'mean'"),
    "cost": (lambda: ShortestPath(ROADS, "home", "work", cost="square"), "cost must be 'inverse', 'log' .* 'square'"),
    "tree-directed": (lambda: SpanningTree(nx.DiGraph([(0, 1)])), r"graph must be undirected .*to_undirected\(\)"),
    "tree-no-edges": (lambda: SpanningTree([]), "at least one edge, got none"),
    "tree-one-node": (lambda: SpanningTree(nx.empty_graph(1)), "at least one edge, got none"),
    "tree-loop": (lambda: SpanningTree([(0, 0)]), "join at least two nodes"),
    "tree-reward": (lambda: SpanningTree([(0, 1)], reward="min"), "reward must be one of sum, max.* got 'min'"),
    "workers-more": (lambda: Matching(3, 2), "at least as many jobs as workers, got 3 workers and 2 jobs"),
    "workers-text": (lambda: Matching("ann", 2), "workers must be a list of labels or a number of them, got 'ann'"),
    "workers-none": (lambda: Matching([], 2), "workers must hold at least one label, got none"),
    "workers-zero": (lambda: Matching(0, 2), "workers must be an integer of at least 1, got 0"),
    "workers-twice": (lambda: Matching(["a", "a"], 2), r"workers must be different, got \['a', 'a'\]"),
    "jobs-twice": (lambda: Matching(1, ["x", "x"]), r"jobs must be different, got \['x', 'x'\]"),
    "jobs-bool": (lambda: Matching(1, True), "jobs must be a list of labels or a number of them, got True"),
    "pairs-unknown": (
        lambda: Matching(["a"], ["x"], pairs=[("a", "y")]),
        r"pairs must join a worker to a job, got \('a', 'y'\)",
    ),
    "pairs-swapped": (
        lambda: Matching(["a"], ["x"], pairs=[("x", "a")]),
        r"pairs must join a worker to a job, got \('x', 'a'\)",
    ),
    "pairs-twice": (lambda: Matching(["a"], ["x"], pairs=[("a", "x")] * 2), "pairs must not repeat"),
    "arms-text": (lambda: TopK("abc", 2), "arms must be a list of labels or a number of them, got 'abc'"),
    "arms-zero": (lambda: KMax(0, 1), "arms must be an integer of at least 1, got 0"),
    "arms-none": (lambda: TopK([], 1), "arms must hold at least one label, got none"),
    "k-above": (lambda: TopK(["x", "y"], 3), "k must be at most the number of arms, 2, got 3"),
    "k-zero": (lambda: KMax(3, 0), "k must be an integer from 1 to 3, got 0"),
    "k-fraction": (lambda: KMax(3, 1.5), "k must be an integer from 1 to 3, got 1.5"),
    "sets-none": (lambda: Explicit([]), r"super_arms must be a list of at least one list of arms, got \[\]"),
    "sets-text": (lambda: Explicit("ab"), "super_arms must be a list of at least one list of arms, got 'ab'"),
    "set-empty": (lambda: Explicit([[0], []]), r"each super arm must be a non-empty list of arms, got \[\]"),
    "set-text": (lambda: Explicit([["a"], "bus"]), "each super arm must be a non-empty list of arms, got 'bus'"),
    "set-twice": (lambda: Explicit([["a", "b"], ["b", "a"]]), r"super_arms must not repeat, got \[0, 1\] twice"),
    "arm-twice": (lambda: Explicit([["a", "a"]]), r"arms must not repeat, got \[0, 0\]"),
    "arm-unlabelled": (
        lambda: Explicit([["a"], ["c"]], labels=["a", "b"]),
        "every arm of super_arms must be one of labels, got 'c'",
    ),
    "matrix": (lambda: LinearConstraints([1, 2]), r"matrix must have a row per constraint .* got shape \(2,\)"),
    "upper": (lambda: LinearConstraints([[1, 2]], upper=[1, 2]), r"upper must have one bound per row .* got \(2,\)"),
    "reward-name": (lambda: Reward("mean"), r"reward must be one of sum, max, harmonic, product, or Reward.* 'mean'"),
    "problem-reward": (lambda: Problem(KSubsets(2, 1), "min"), "reward must be one of sum.* got 'min'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case: str) -> None:
    make, message = BAD[case]
    with pytest.raises(InputError, match=message):
        make()


def lonely(kind: type[nx.Graph]) -> nx.Graph:
    graph = kind([(0, 1)])
    graph.add_node(2)
    return graph


IMPOSSIBLE: dict[str, tuple[Callable[[], Any], str]] = {
    "no-path": (lambda: ShortestPath(ROADS, "work", "home"), "no path from source 'work' to target 'home'"),
    "no-path-cost": (
        lambda: ShortestPath([("s", "a"), ("a", "s"), ("t", "a")], "s", "t"),
        "no path from source 's' to target 't'",
    ),
    "lonely-target": (
        lambda: ShortestPath(lonely(nx.DiGraph), 0, 2),
        "no path from source 0 to target 2: 2 has no edge",
    ),
    "lonely-node": (lambda: SpanningTree(lonely(nx.Graph)), "must be connected to have a spanning tree, but 2 has no"),
    "two-parts": (lambda: SpanningTree([(0, 1), (2, 3)]), "must be connected .* got 2 separate parts"),
    "pairs": (
        lambda: Matching(2, 2, pairs=[(0, 0), (1, 0)]),
        "pairs must allow every worker a job of their own; no such matching exists",
    ),
    "bounds": (lambda: LinearConstraints([[1, 1]], lower=[3]), "leave no feasible non-empty set; relax a bound"),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_a_problem_without_super_arms_says_why(case: str) -> None:
    make, message = IMPOSSIBLE[case]
    with pytest.raises(InfeasibleError, match=message):
        make()


def test_all_errors_are_value_errors_of_the_library() -> None:
    for kind in (InputError, InfeasibleError, rb.TooManySuperArmsError):
        assert issubclass(kind, rb.RisingBanditsError)
        assert issubclass(kind, ValueError)


MALFORMED: dict[str, tuple[Callable[[], Any], str]] = {
    "graph-number": (lambda: ShortestPath(5, 1, 2), "graph|edge"),
    "edge-number": (lambda: ShortestPath([5], 1, 2), "edge"),
    "arms-fraction": (lambda: TopK(2.0, 1), "arms"),
    "sets-number": (lambda: Explicit(5), "super_arms"),
    "set-number": (lambda: Explicit([5]), "super.arm"),
    "pair-triple": (lambda: Matching(["a"], ["b"], pairs=[("a", "b", "c")]), "pairs"),
    "labels-unhashable": (lambda: Problem(KSubsets(2, 1), labels=[[1], [2]]), "labels"),
    "labels-number": (lambda: Explicit([[0], [1]], labels=5), "labels"),
    "labels-text": (lambda: Problem(KSubsets(2, 1), labels="ab"), "labels"),
    "oracle-number": (lambda: Problem(5), "oracle"),
    "pair-number": (lambda: Matching(2, 2, pairs=[1, 2]), "pairs"),
    "pair-unhashable": (lambda: Matching(2, 2, pairs=[([0], 1)]), "pairs"),
    "worker-unhashable": (lambda: Matching([["a"]], ["b", "c"]), "workers"),
    "arm-unhashable": (lambda: Explicit([[["a"]]]), "super_arms"),
    "node-unhashable": (lambda: ShortestPath([(["a"], "b")], "a", "b"), "nodes"),
    "tree-unhashable": (lambda: SpanningTree([(["a"], "b")]), "nodes"),
    "path-reward-number": (lambda: ShortestPath(ROADS, "home", "work", reward=5), "reward"),
    "reward-number": (lambda: Problem(KSubsets(2, 1), reward=3), "reward"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_arguments_are_named_too(case: str) -> None:
    make, message = MALFORMED[case]
    with pytest.raises(InputError, match=message):
        make()


def test_a_rebuilt_problem_knows_the_same_names() -> None:
    for problem in (
        ShortestPath([("a", "b"), ("b", "c", "bridge")], "a", "c"),
        SpanningTree(nx.MultiGraph([("a", "b"), ("b", "c")])),
        Matching(["ann"], ["cats", "cars"]),
    ):
        again = Problem.from_spec(json.loads(json.dumps(problem.spec())))
        for label, arm in problem._number.items():
            assert again.index(label) == arm
    assert SpanningTree(nx.MultiGraph([("a", "b")])).index(("b", "a", 0)) == 0


def test_numbers_of_no_arm_have_no_label() -> None:
    for wrong in (-1, 3):
        with pytest.raises(InputError, match=f"arms must be numbers from 0 to 2, got {wrong}"):
            TopK(3, k=1).labels_of([wrong])


@pytest.mark.parametrize("answer", [[1, 1], [], [-1], [9], ["b", "b"], [0.5], None, [0, 1]])
def test_what_an_oracle_of_ones_own_answers_is_checked_before_it_is_played(answer):
    class Own(rb.oracles.SuperArmOracle):
        n_arms, max_size = 3, 1

        def best(self, weights):
            return answer

        def is_feasible(self, arms):
            return len(arms) == 1

    policy = rb.SWCUCB(window=5)
    policy.start(rb.Problem(Own()), rng=0)
    with pytest.raises(rb.InputError, match=r"what Own.best returns must be a feasible super arm"):
        policy.select()


@pytest.mark.parametrize("horizon", [10**30, 10**13])
def test_numbers_beyond_use_get_a_clear_error(horizon):
    task = rb.tasks.get("path-easy")
    for refused in (
        lambda: rb.simulate(task, rb.CRUCB(), horizon=horizon),
        lambda: rb.CRUCB().start(task.problem, horizon=horizon),
        lambda: rb.SWCUCB(window=horizon),
        lambda: rb.optimal_constant(task, horizon),
    ):
        with pytest.raises(rb.InputError, match="must be at most"):
            refused()
    slow = rb.Task("slow", rb.problems.TopK(2, k=1), (rb.curves.PowerLaw(scale=10.0, power=1.0),) * 2, 10**9)
    with pytest.raises(rb.InputError, match="GiB of memory"):
        rb.simulate(slow, rb.CRUCB())
    with pytest.raises(rb.InputError, match="at most 1000000, more is beyond any use"):
        rb.problems.TopK(10**9, k=1)
