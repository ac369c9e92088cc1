"""What oracles refuse: structures that are wrong or empty, arms, weights and masks that do not fit, long lists."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle_kit import (
    SAMPLED,
    Brute,
    draw_dag,
    draw_edges,
    draw_graph,
    draw_linear,
    draw_pairs,
    falling_costs,
    linear_sets_of,
    matchings_of,
    paths_between,
    quick,
    subsets_of,
    trees_of,
)

from rising_bandits import oracles
from rising_bandits.errors import InfeasibleError, InputError, TooManySuperArmsError
from rising_bandits.oracles import (
    LIST_LIMIT,
    Assignments,
    CostPaths,
    DagPaths,
    ExplicitSets,
    KSubsets,
    LinearSets,
    SpanningTrees,
    SuperArmOracle,
)
from rising_bandits.problems import Problem


@quick
@given(data=st.data())
def test_a_structure_without_super_arms_is_refused(data: st.DataObject) -> None:
    def check(sets: list, make: Callable[[], SuperArmOracle], message: str) -> None:
        if sets:
            assert make().count() == len(sets)
        else:
            with pytest.raises(InfeasibleError, match=message):
                make()

    arcs = draw_dag(data.draw, solvable=False)
    source, target = arcs["source"], arcs["target"]
    message = f"no path from source {source!r} to target {target!r}"
    check(paths_between(**arcs, directed=True), lambda: DagPaths(**arcs), message)
    for directed in (True, False):
        road = draw_graph(data.draw, solvable=False)
        message = f"no path from source {road['source']!r} to target {road['target']!r}"
        sets = paths_between(**road, directed=directed)
        check(sets, lambda road=road, directed=directed: CostPaths(**road, directed=directed), message)
    n_workers, n_jobs, pairs = draw_pairs(data.draw, solvable=False)
    message = "pairs must allow every worker a job of their own"
    check(matchings_of(n_workers, n_jobs, pairs), lambda: Assignments(n_workers, n_jobs, pairs), message)
    matrix, lower, upper = draw_linear(data.draw, solvable=False)
    sets = linear_sets_of(matrix, lower, upper)
    check(sets, lambda: LinearSets(matrix, lower, upper), "matrix, lower and upper leave no feasible")


@quick
@given(data=st.data())
def test_a_graph_in_parts_has_no_spanning_tree(data: st.DataObject) -> None:
    edges = draw_edges(data.draw, solvable=False)
    graph = nx.MultiGraph(edges)
    parts = nx.number_connected_components(graph)
    if parts > 1:
        with pytest.raises(InfeasibleError, match=f"must be connected .* got {parts} separate parts"):
            SpanningTrees(edges)
    elif len(graph) == 1:
        with pytest.raises(InputError, match="join at least two nodes"):
            SpanningTrees(edges)
    else:
        assert SpanningTrees(edges).count() == len(trees_of(edges))


TOO_LARGE: dict[str, tuple[Callable[[], SuperArmOracle], int]] = {
    "dag": (lambda: DagPaths([i // 2 for i in range(40)], [i // 2 + 1 for i in range(40)], 0, 20), 2**20),
    "assignment": (lambda: Assignments(9, 9), math.factorial(9)),
    "tree": (lambda: SpanningTrees(list(itertools.combinations(range(8), 2))), 8**6),
    "kset": (lambda: KSubsets(60, 30), math.comb(60, 30)),
}


@pytest.mark.parametrize("kind", TOO_LARGE)
def test_a_family_too_large_to_list_names_its_size_and_the_limit(kind: str) -> None:
    make, size = TOO_LARGE[kind]
    oracle = make()
    assert oracle.count() == size
    with pytest.raises(TooManySuperArmsError, match=rf"\b{size}\b.*\b{LIST_LIMIT}\b"):
        oracle.super_arms()
    with pytest.raises(TooManySuperArmsError, match=rf"\b{size}\b.*\b1000\b"):
        oracle.super_arms(limit=1000)


@pytest.mark.parametrize(
    "oracle",
    [
        LinearSets(np.ones((1, 18)), upper=[18]),
        CostPaths([i // 2 for i in range(40)], [i // 2 + 1 for i in range(40)], 0, 20),
        Assignments(9, 9, [(worker, job) for worker in range(9) for job in range(9) if (worker, job) != (8, 8)]),
    ],
    ids=["linear", "cost", "pairs"],
)
def test_a_family_of_unknown_size_is_refused_at_the_limit(oracle: SuperArmOracle) -> None:
    assert oracle.count() is None
    with pytest.raises(TooManySuperArmsError, match="more than 500 super arms"):
        oracle.super_arms(limit=500)
    assert oracle.is_feasible(oracle.solve(np.ones(oracle.n_arms)))


SMALL: dict[str, SuperArmOracle] = {
    **{kind: SAMPLED[kind] for kind in ("dag", "cost-directed", "pairs", "tree", "kset", "explicit", "linear")},
    "function": CostPaths(list("sa"), list("at"), "s", "t", cost=falling_costs),
    "plain": Brute([(0,), (1, 2)], 3),
}


@pytest.mark.parametrize("kind", SMALL)
def test_bad_weights_and_masks_are_refused(kind: str) -> None:
    oracle = SMALL[kind]
    n = oracle.n_arms
    fine = [0.5] * n
    for bad in (math.nan, math.inf, -math.inf):
        with pytest.raises(InputError, match=f"weights must be finite, got {bad} for arm {n - 1}"):
            oracle.solve([*fine[1:], bad])
    for wrong in (fine[1:], [*fine, 0.5], [fine], 0.5, None):
        with pytest.raises(InputError, match=rf"weights must have shape \({n},\).* got shape"):
            oracle.solve(wrong)
    with pytest.raises(InputError, match=rf"weights must be {n} numbers.* got .*'much'"):
        oracle.solve([*fine[1:], "much"])
    for wrong, got in (
        ([0] * n, f"dtype int64 and shape ({n},)"),
        ([0.0] * n, f"dtype float64 and shape ({n},)"),
        ([False] * (n + 1), f"dtype bool and shape ({n + 1},)"),
        ([[True] * n], f"dtype bool and shape (1, {n})"),
        (True, "dtype bool and shape ()"),
    ):
        for call in (
            lambda mask: oracle.solve(fine, mask),
            oracle.can,
            lambda mask: oracle.containing(0, mask),
        ):
            with pytest.raises(InputError, match=f"mask must be {n} booleans.* got {re.escape(got)}"):
                call(wrong)
    for wrong in (-1, n, 0.0, True, "a"):
        with pytest.raises(InputError, match=f"arm must be an integer from 0 to {n - 1}, got {wrong!r}"):
            oracle.containing(wrong)
    # The oracle still works after all of that.
    assert oracle.is_feasible(oracle.solve(fine))


@pytest.mark.parametrize("kind", SMALL)
def test_what_is_no_super_arm_is_named(kind: str) -> None:
    oracle = SMALL[kind]
    n = oracle.n_arms
    for wrong in ([], [[0]], [0.5], ["a"], 0):
        with pytest.raises(InputError, match=f"arms must be a non-empty list of arm numbers from 0 to {n - 1}, got"):
            oracle.check_super_arm(wrong)
    for wrong in ([n], [-1], [0, n + 5]):
        with pytest.raises(InputError, match=rf"arms must be numbers from 0 to {n - 1}, got \[{str(wrong)[1:-1]}\]"):
            oracle.check_super_arm(wrong)
    with pytest.raises(InputError, match=r"arms must not repeat, got \[0, 0\]"):
        oracle.check_super_arm([0, 0])
    infeasible = next(arms for arms in subsets_of(n) if arms and not oracle.is_feasible(arms))
    with pytest.raises(InputError, match=rf"arms \[{str(list(infeasible))[1:-1]}\] are not a feasible super arm"):
        oracle.check_super_arm(infeasible)


BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "k-above-n": (lambda: KSubsets(3, 4), "k must be at most the number of arms, 3, got 4"),
    "k-zero": (lambda: KSubsets(3, 0), "k must be an integer from 1 to 3, got 0"),
    "k-fraction": (lambda: KSubsets(3, 1.5), "k must be an integer from 1 to 3, got 1.5"),
    "k-bool": (lambda: KSubsets(3, True), "k must be an integer from 1 to 3, got True"),
    "no-arms": (lambda: KSubsets(0, 1), "n_arms must be an integer of at least 1, got 0"),
    "no-workers": (lambda: Assignments(0, 2), "n_workers must be an integer of at least 1, got 0"),
    "no-jobs": (lambda: Assignments(1, 0), "n_jobs must be an integer of at least 1, got 0"),
    "more-workers": (lambda: Assignments(3, 2), "at least as many jobs as workers, got 3 workers and 2 jobs"),
    "pair-outside": (lambda: Assignments(1, 2, [(0, 2)]), r"pairs must .* in 0..0 x 0..1, got \(0, 2\)"),
    "pair-twice": (lambda: Assignments(1, 2, [(0, 1), (0, 1)]), "pairs must not repeat"),
    "cycle": (lambda: DagPaths("sab", "abs", "s", "b"), "no directed cycle"),
    "no-source": (lambda: DagPaths("s", "t", "x", "t"), "source must be a node with an edge, got 'x'"),
    "no-target": (lambda: CostPaths("s", "t", "s", "x"), "target must be a node with an edge, got 'x'"),
    "same-ends": (lambda: CostPaths("s", "t", "s", "s"), "source and target must differ, got 's' for both"),
    "uneven": (lambda: DagPaths("ss", "t", "s", "t"), "tails and heads must be equally long, got 2 and 1"),
    "no-arcs": (lambda: DagPaths([], [], "s", "t"), "at least one edge, got none"),
    "cost-name": (
        lambda: CostPaths("s", "t", "s", "t", cost="square"),
        "cost must be 'inverse', 'log' or a function of the indices, got 'square'",
    ),
    "cost-negative": (
        lambda: CostPaths("s", "t", "s", "t", cost=lambda w: -w).solve([1.0]),
        "cost must return one cost of at least 0 per arm",
    ),
    "cost-nan": (
        lambda: CostPaths("s", "t", "s", "t", cost=lambda w: w * math.nan).solve([1.0]),
        "cost must return one cost of at least 0 per arm",
    ),
    "cost-shape": (
        lambda: CostPaths("s", "t", "s", "t", cost=lambda w: 1.0).solve([1.0]),
        "cost must return one cost of at least 0 per arm",
    ),
    "no-edges": (lambda: SpanningTrees([]), "at least one edge, got none"),
    "one-node": (lambda: SpanningTrees([("a", "a")]), "join at least two nodes"),
    "no-sets": (lambda: ExplicitSets([]), "super_arms must hold at least one super arm, got none"),
    "empty-set": (lambda: ExplicitSets([[0], []]), r"non-empty list of arm numbers, got \[\]"),
    "set-twice": (lambda: ExplicitSets([[0, 1], [1, 0]]), r"super_arms must not repeat, got \[0, 1\] twice"),
    "arm-twice": (lambda: ExplicitSets([[0, 0]]), r"arms must not repeat, got \[0, 0\]"),
    "arm-negative": (lambda: ExplicitSets([[0], [-1]]), r"arms must be numbers from 0 to 0, got \[-1\]"),
    "arm-fraction": (lambda: ExplicitSets([[0, 0.5], [1]]), r"list of arm numbers, got \[0, 0.5\]"),
    "too-few-arms": (lambda: ExplicitSets([[0, 3]], n_arms=3), "n_arms must be an integer of at least 4, got 3"),
    "matrix-flat": (lambda: LinearSets([1, 2]), r"matrix must have a row per constraint .* got shape \(2,\)"),
    "matrix-empty": (lambda: LinearSets([[]]), r"matrix must have .* a column per base arm, got shape \(1, 0\)"),
    "matrix-nan": (lambda: LinearSets([[math.nan]]), "matrix must be finite"),
    "bound-nan": (lambda: LinearSets([[1]], upper=[math.nan]), "lower and upper must not be NaN"),
    "upper-short": (lambda: LinearSets([[1], [1]], upper=[1]), r"upper must have one bound per row .* 2, got \(1,\)"),
    "lower-long": (lambda: LinearSets([[1]], lower=[0, 0]), r"lower must have one bound per row .* 1, got \(2,\)"),
    "spec-type": (lambda: oracles.from_spec({"type": "Oracle"}), "oracle type must be one of .* got 'Oracle'"),
    "spec-none": (lambda: oracles.from_spec({}), "oracle type must be one of .* got None"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_structures_name_what_is_wrong(case: str) -> None:
    make, message = BAD[case]
    with pytest.raises(InputError, match=message):
        make()


def test_structures_that_allow_nothing_say_so() -> None:
    for make, message in (
        (lambda: DagPaths("sb", "at", "s", "t"), "no path from source 's' to target 't'"),
        (lambda: CostPaths("ts", "sa", "s", "t"), "no path from source 's' to target 't'"),
        (lambda: Assignments(2, 2, [(0, 0), (1, 0)]), "pairs must allow every worker a job of their own"),
        (lambda: SpanningTrees([(0, 1), (2, 3)]), "must be connected .* got 2 separate parts"),
        (lambda: LinearSets([[1, 1]], lower=[3]), "matrix, lower and upper leave no feasible non-empty set"),
        (lambda: LinearSets([[1, 1]], upper=[0]), "matrix, lower and upper leave no feasible non-empty set"),
    ):
        with pytest.raises(InfeasibleError, match=message):
            make()


@pytest.mark.parametrize("kind", ["dag", "cost-directed", "pairs", "assignment", "tree", "kset", "explicit", "linear"])
def test_numbers_of_no_arm_are_not_feasible(kind: str) -> None:
    oracle = SAMPLED[kind]
    for arms in oracle.super_arms():
        # Minus one would be the last arm to a list, which makes a super arm of some of these.
        for wrong in (oracle.n_arms, -1, int(arms[-1]) - oracle.n_arms):
            assert not oracle.is_feasible([*arms[:-1].tolist(), wrong])


MALFORMED: dict[str, tuple[Callable[[], Any], str]] = {
    "prefer": (lambda: KSubsets(3, 2).containing(0, prefer=[True]), "prefer"),
    "prefer-cost": (lambda: SAMPLED["cost-directed"].containing(0, prefer=[True]), "prefer"),
    "sample-mask": (lambda: SAMPLED["dag"].sample(np.random.default_rng(0), [False]), "mask must be 8 booleans"),
    "set-of-names": (lambda: ExplicitSets([["a"], ["b"]]), "'a'"),
    "only-empty-set": (lambda: ExplicitSets([[]]), "super arm|super_arms|arms must be a non-empty list"),
    "matrix-ragged": (lambda: LinearSets([[1, 2], [3]]), "matrix"),
    "matrix-names": (lambda: LinearSets([["a"]]), "matrix"),
    "upper-number": (lambda: LinearSets([[1, 2]], upper=1), "upper"),
    "lower-names": (lambda: LinearSets([[1, 2]], lower=["a"]), "lower"),
    "cost-number": (lambda: CostPaths("s", "t", "s", "t", cost=3), "cost"),
    "pair-fraction": (lambda: Assignments(1, 1, [(0.5, 0.5)]), "pairs"),
    "pair-triple": (lambda: Assignments(1, 1, [(0, 0, 0)]), "pairs"),
    "edge-triple": (lambda: SpanningTrees([("a", "b", "c")]), "edge"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_arguments_are_named_too(case: str) -> None:
    make, message = MALFORMED[case]
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("oracle", "shown"),
    [
        (KSubsets(60, 30), str(math.comb(60, 30))),
        (KSubsets(20_000, 10_000), "about 10^6018"),
        (KSubsets(1_001, 2), "500500"),
        (Assignments(2, 1_001), "1001000"),
        (DagPaths([i // 2 for i in range(400)], [i // 2 + 1 for i in range(400)], 0, 200), "about 10^60"),
        (SpanningTrees([(i, (i + 1) % 250) for i in range(250)] + [(0, 125)]), "about 1.59e+04"),
    ],
    ids=["sets", "many-sets", "pairs", "pairs-of-workers", "paths", "trees"],
)
def test_numbers_with_thousands_of_digits_are_shown_as_powers_of_ten(oracle: SuperArmOracle, shown: str) -> None:
    # Python refuses to write a number of more than 4300 digits.
    with pytest.raises(TooManySuperArmsError, match=re.escape(f"there are {shown} super arms")):
        oracle.super_arms(limit=100)
    assert f" {shown} super arms" in repr(Problem(oracle))
