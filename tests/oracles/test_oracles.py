"""Every oracle against an obvious implementation (list all super arms, take the best) and the field's own solvers."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import linear_sum_assignment

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

thorough = settings(deadline=None, derandomize=True, max_examples=100)
quick = settings(deadline=None, derandomize=True, max_examples=30)
quicker = settings(deadline=None, derandomize=True, max_examples=15)


# --- obvious implementations ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """An oracle, and what must be true of it: its super arms, and the cost of a weight where it is not a sum."""

    oracle: SuperArmOracle
    sets: list[tuple[int, ...]]
    cost: Callable[[float], float] | None = None
    tolerance: float = 1e-12

    @property
    def n_arms(self) -> int:
        return self.oracle.n_arms

    def value(self, weights: Sequence[float], arms: Sequence[int]) -> float:
        if self.cost is None:
            # In sixteenths, which is exact, so that the largest floats can be added up.
            return math.fsum(weights[arm] / 16 for arm in arms)
        return -math.fsum(self.cost(weights[arm]) for arm in arms)

    def close(self, weights: Sequence[float], found: float, best: float) -> bool:
        # A sum may cancel, so its rounding is measured by the weights; a sum of costs cannot.
        size = math.fsum(abs(weight) / 16 for weight in weights) if self.cost is None else abs(best)
        return abs(found - best) <= self.tolerance * size

    def without(self, blocked: Sequence[bool]) -> list[tuple[int, ...]]:
        if isinstance(self.oracle, Assignments):
            # A worker whose pairs are all blocked is left out: every other one gets a different job.
            pairs = [(arm, *pair) for arm, pair in enumerate(self.oracle.pairs) if not blocked[arm]]
            size = len({worker for _, worker, _ in pairs})
            tries = itertools.combinations(pairs, size) if size else ()
            return as_sets(
                [
                    [arm for arm, _, _ in found]
                    for found in tries
                    if len({worker for _, worker, _ in found}) == len({job for _, _, job in found}) == size
                ]
            )
        return [arms for arms in self.sets if not any(blocked[arm] for arm in arms)]


def paths_between(tails: Sequence[Any], heads: Sequence[Any], source: Any, target: Any, *, directed: bool) -> list:
    graph = nx.MultiDiGraph() if directed else nx.MultiGraph()
    graph.add_nodes_from([source, target])
    # A simple path uses no loop.
    graph.add_edges_from((u, v, arm) for arm, (u, v) in enumerate(zip(tails, heads, strict=True)) if u != v)
    return [tuple(key for _, _, key in path) for path in nx.all_simple_edge_paths(graph, source, target)]


def as_sets(found: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    return sorted({tuple(sorted(arms)) for arms in found})


def trees_of(edges: Sequence[tuple[Any, Any]]) -> list[tuple[int, ...]]:
    nodes = {node for edge in edges for node in edge}
    found = []
    for arms in itertools.combinations(range(len(edges)), len(nodes) - 1):
        graph = nx.MultiGraph()
        graph.add_nodes_from(nodes)
        graph.add_edges_from(edges[arm] for arm in arms)
        if nx.is_connected(graph):
            found.append(arms)
    return sorted(found)


def matchings_of(n_workers: int, n_jobs: int, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, ...]]:
    number = {pair: arm for arm, pair in enumerate(pairs)}
    found = []
    for jobs in itertools.permutations(range(n_jobs), n_workers):
        chosen = list(enumerate(jobs))
        if all(pair in number for pair in chosen):
            found.append([number[pair] for pair in chosen])
    return as_sets(found)


def subsets_of(n_arms: int) -> list[tuple[int, ...]]:
    sizes = range(n_arms + 1)
    return [arms for size in sizes for arms in itertools.combinations(range(n_arms), size)]


def linear_sets_of(matrix: Sequence[Sequence[int]], lower: Sequence, upper: Sequence) -> list[tuple[int, ...]]:
    def allowed(arms: tuple[int, ...]) -> bool:
        totals = [sum(row[arm] for arm in arms) for row in matrix]
        above = all(low is None or total >= low for total, low in zip(totals, lower, strict=True))
        return above and all(high is None or total <= high for total, high in zip(totals, upper, strict=True))

    return sorted(arms for arms in subsets_of(len(matrix[0])) if arms and allowed(arms))


def falling(weight: float) -> float:
    return math.exp(-max(-5.0, min(5.0, weight)))


def falling_costs(weights: np.ndarray) -> np.ndarray:
    return np.exp(-np.clip(weights, -5.0, 5.0))


COSTS: dict[str, tuple[Any, Callable[[float], float]]] = {
    "inverse": ("inverse", lambda weight: 1.0 / max(weight, 1e-12)),
    "log": ("log", lambda weight: max(0.0, -math.log(max(weight, 1e-12)))),
    "function": (falling_costs, falling),
}


class Brute(SuperArmOracle):
    """A user's own oracle in plain Python: only what the base class asks for, and the list."""

    def __init__(self, sets: Sequence[tuple[int, ...]], n_arms: int) -> None:
        self.sets = sets
        self.n_arms = n_arms
        self.max_size = max(map(len, sets))

    def best(self, weights: np.ndarray) -> list[int]:
        assert np.isfinite(weights).all()
        # Not ascending on purpose: the base class sorts.
        return list(max(self.sets, key=lambda arms: math.fsum(weights[arm] for arm in arms)))[::-1]

    def is_feasible(self, arms: Sequence[int]) -> bool:
        return tuple(sorted(int(arm) for arm in arms)) in self.sets

    def enumerate(self) -> Any:
        return iter(self.sets[::-1])


# --- generated structures ------------------------------------------------------------------------------------------

Draw = Callable[[st.SearchStrategy], Any]


def draw_dag(draw: Draw, *, solvable: bool = True) -> dict[str, Any]:
    """Arcs forwards in a random order of the nodes; source and target anywhere in it, so some arms are dead ends."""
    nodes = draw(st.permutations("abcdef"[: draw(st.integers(2, 6))]))
    places = st.sampled_from(list(itertools.combinations(range(len(nodes)), 2)))
    arcs = draw(st.lists(places, min_size=1, max_size=8))
    first, last = draw(places)
    if solvable:
        middle = draw(st.integers(first + 1, last))
        arcs += [(first, last)] if middle == last else [(first, middle), (middle, last)]
    arcs = draw(st.permutations(arcs))
    if not solvable and not {first, last} <= {place for arc in arcs for place in arc}:
        first, last = arcs[0]
    return {
        "tails": [nodes[tail] for tail, _ in arcs],
        "heads": [nodes[head] for _, head in arcs],
        "source": nodes[first],
        "target": nodes[last],
    }


def draw_graph(draw: Draw, *, solvable: bool = True) -> dict[str, Any]:
    """Any arcs: cycles, loops and parallel ones."""
    nodes = list(range(draw(st.integers(2, 5))))
    node = st.sampled_from(nodes)
    arcs = draw(st.lists(st.tuples(node, node), min_size=1, max_size=7))
    source, target = draw(st.permutations(nodes))[:2]
    if solvable:
        middle = draw(st.sampled_from([place for place in nodes if place != source]))
        arcs += [(source, target)] if middle == target else [(source, middle), (middle, target)]
    else:
        # Loops make both ends known without joining them.
        arcs += [(source, source), (target, target)]
    arcs = draw(st.permutations(arcs))
    return {"tails": [a for a, _ in arcs], "heads": [b for _, b in arcs], "source": source, "target": target}


def draw_pairs(draw: Draw, *, solvable: bool = True) -> tuple[int, int, list[tuple[int, int]]]:
    n_jobs = draw(st.integers(1, 4))
    n_workers = draw(st.integers(1, min(3, n_jobs)))
    every = [(worker, job) for worker in range(n_workers) for job in range(n_jobs)]
    pairs = draw(st.lists(st.sampled_from(every), unique=True, min_size=1, max_size=8))
    if solvable:
        jobs = draw(st.permutations(range(n_jobs)))[:n_workers]
        pairs += [pair for pair in enumerate(jobs) if pair not in pairs]
    return n_workers, n_jobs, draw(st.permutations(pairs))


def draw_edges(draw: Draw, *, solvable: bool = True) -> list[tuple[Any, Any]]:
    """Parallel edges in both directions, and loops."""
    nodes = list(range(draw(st.integers(2, 5))))
    node = st.sampled_from(nodes)
    edges = draw(st.lists(st.tuples(node, node), min_size=1, max_size=5))
    if solvable:
        edges += [draw(st.sampled_from([(a, b), (b, a)])) for b in nodes[1:] for a in [draw(st.integers(0, b - 1))]]
    return draw(st.permutations(edges))


def draw_linear(draw: Draw, *, solvable: bool = True) -> tuple[list, list, list]:
    n_arms = draw(st.integers(1, 6))
    row = st.lists(st.integers(-3, 3), min_size=n_arms, max_size=n_arms)
    matrix = draw(st.lists(row, min_size=1, max_size=3))
    bound = st.none() | st.integers(-4, 4)
    lower = [draw(bound) for _ in matrix]
    upper = [draw(bound) for _ in matrix]
    if solvable:
        inside = draw(st.lists(st.integers(0, n_arms - 1), unique=True, min_size=1))
        totals = [sum(row[arm] for arm in inside) for row in matrix]
        lower = [None if low is None else min(low, total) for low, total in zip(lower, totals, strict=True)]
        upper = [None if high is None else max(high, total) for high, total in zip(upper, totals, strict=True)]
    return matrix, lower, upper


def draw_families(draw: Draw) -> tuple[list[tuple[int, ...]], int]:
    used = draw(st.integers(1, 6))
    arms = st.lists(st.integers(0, used - 1), unique=True, min_size=1).map(tuple)
    families = draw(st.lists(arms, min_size=1, max_size=8, unique_by=lambda arms: tuple(sorted(arms))))
    return families, used + draw(st.integers(0, 1))


def dag_case(draw: Draw) -> Case:
    arcs = draw_dag(draw)
    return Case(DagPaths(**arcs), as_sets(paths_between(**arcs, directed=True)))


def cost_case(kind: str, *, directed: bool) -> Callable[[Draw], Case]:
    def make(draw: Draw) -> Case:
        arcs = draw_graph(draw)
        cost, scalar = COSTS[kind]
        oracle = CostPaths(**arcs, cost=cost, directed=directed)
        return Case(oracle, as_sets(paths_between(**arcs, directed=directed)), scalar)

    return make


def assignment_case(draw: Draw) -> Case:
    n_jobs = draw(st.integers(1, 4))
    n_workers = draw(st.integers(1, min(n_jobs, 2 if n_jobs == 4 else 3)))
    pairs = [(worker, job) for worker in range(n_workers) for job in range(n_jobs)]
    return Case(Assignments(n_workers, n_jobs), matchings_of(n_workers, n_jobs, pairs))


def pairs_case(draw: Draw) -> Case:
    n_workers, n_jobs, pairs = draw_pairs(draw)
    return Case(Assignments(n_workers, n_jobs, pairs), matchings_of(n_workers, n_jobs, pairs))


def tree_case(draw: Draw) -> Case:
    edges = draw_edges(draw)
    return Case(SpanningTrees(edges), trees_of(edges))


def kset_case(draw: Draw) -> Case:
    n_arms = draw(st.integers(1, 8))
    k = draw(st.integers(1, n_arms))
    return Case(KSubsets(n_arms, k), [arms for arms in sorted(subsets_of(n_arms)) if len(arms) == k])


def explicit_case(draw: Draw) -> Case:
    families, n_arms = draw_families(draw)
    return Case(ExplicitSets(families, n_arms), as_sets(families))


def linear_case(draw: Draw) -> Case:
    matrix, lower, upper = draw_linear(draw)
    # HiGHS is exact to about 1e-12 of the largest weight, and has tolerances of its own.
    return Case(LinearSets(matrix, lower, upper), linear_sets_of(matrix, lower, upper), tolerance=1e-10)


def plain_case(draw: Draw) -> Case:
    families, n_arms = draw_families(draw)
    sets = as_sets(families)
    return Case(Brute(sets, n_arms), sets)


CASES: dict[str, Callable[[Draw], Case]] = {
    "dag": dag_case,
    "inverse-directed": cost_case("inverse", directed=True),
    "inverse-undirected": cost_case("inverse", directed=False),
    "log-directed": cost_case("log", directed=True),
    "log-undirected": cost_case("log", directed=False),
    "function-directed": cost_case("function", directed=True),
    "function-undirected": cost_case("function", directed=False),
    "assignment": assignment_case,
    "pairs": pairs_case,
    "tree": tree_case,
    "kset": kset_case,
    "explicit": explicit_case,
    "linear": linear_case,
    "plain": plain_case,
}
every_kind = pytest.mark.parametrize("kind", CASES)
sums = pytest.mark.parametrize("kind", [kind for kind in CASES if "directed" not in kind])


def draw_weights(draw: Draw, case: Case) -> list[float]:
    """Ties and zeros, ordinary numbers, all huge, all tiny, or all magnitudes at once; of either sign."""
    n_arms = case.n_arms
    # Costs are no sums of weights, so huge ones are tried by a test of their own.
    huge = 8e307 if case.cost is None else 1e280
    style = draw(st.sampled_from(["tied", "ordinary", "scaled", "mixed"]))
    if style == "ordinary":
        # Rounded, so that no example is made of subnormal numbers.
        number = st.floats(-1.0, 1.0).map(lambda x: round(x, 6))
    elif style == "mixed":
        sizes = [0.0, 0.5, 1.0, 2.0, 1e-3, 1e-12, 1e-13, 1e-300, 1e9, huge]
        number = st.sampled_from([*sizes, *(-size for size in sizes)])
    else:
        number = st.integers(-2, 2).map(float)
    weights = draw(st.lists(number, min_size=n_arms, max_size=n_arms))
    scale = draw(st.sampled_from([huge, 1e-300, 1e12, 1e-9])) if style == "scaled" else 1.0
    return [weight * scale for weight in weights]


def draw_mask(draw: Draw, n_arms: int) -> list[bool]:
    blocked = draw(st.sets(st.integers(0, n_arms - 1), max_size=draw(st.sampled_from([1, 3, n_arms]))))
    return [arm in blocked for arm in range(n_arms)]


def assert_best(case: Case, weights: Sequence[float], found: np.ndarray, among: Sequence[tuple[int, ...]]) -> None:
    assert found.dtype == np.int64
    assert (np.diff(found) > 0).all()
    chosen = tuple(found.tolist())
    assert chosen in among
    best = max(case.value(weights, arms) for arms in among)
    assert case.close(weights, case.value(weights, chosen), best), (chosen, case.value(weights, chosen), best)


# --- the properties ------------------------------------------------------------------------------------------------


@every_kind
@thorough
@given(data=st.data())
def test_solve_finds_a_best_super_arm(kind: str, data: st.DataObject) -> None:
    case = CASES[kind](data.draw)
    weights = draw_weights(data.draw, case)
    assert_best(case, weights, case.oracle.solve(weights), case.sets)


@every_kind
@thorough
@given(data=st.data())
def test_mask_leaves_the_rest_and_refuses_when_nothing_is_left(kind: str, data: st.DataObject) -> None:
    case = CASES[kind](data.draw)
    weights = draw_weights(data.draw, case)
    mask = np.array(draw_mask(data.draw, case.n_arms))
    left = case.without(mask.tolist())
    assert case.oracle.can(mask) == bool(left)
    if left:
        assert_best(case, weights, case.oracle.solve(weights, mask), left)
    else:
        with pytest.raises(InfeasibleError, match=rf"mask .* blocks {mask.sum()} of {case.n_arms} arms \("):
            case.oracle.solve(weights, mask)
        with pytest.raises(InfeasibleError, match="mask leaves no feasible super arm"):
            case.oracle.sample(np.random.default_rng(0), mask)


@every_kind
@quicker
@given(data=st.data())
def test_nothing_is_changed_and_nothing_is_remembered(kind: str, data: st.DataObject) -> None:
    case = CASES[kind](data.draw)
    one, two = (np.array(draw_weights(data.draw, case)) for _ in range(2))
    mask = np.array(draw_mask(data.draw, case.n_arms))
    for array in (one, two, mask):
        array.flags.writeable = False
    first = case.oracle.solve(one)
    case.oracle.solve(two)
    if case.without(mask.tolist()):
        case.oracle.solve(two, mask)
    assert case.oracle.can()
    assert case.oracle.solve(one).tolist() == first.tolist()
    assert case.oracle.solve(one, np.zeros(case.n_arms, dtype=bool)).tolist() == first.tolist()
    assert case.oracle.solve(one.tolist(), [False] * case.n_arms).tolist() == first.tolist()


@every_kind
@quicker
@given(data=st.data())
def test_containing_holds_the_arm_wherever_a_super_arm_does(kind: str, data: st.DataObject) -> None:
    case = CASES[kind](data.draw)
    mask = draw_mask(data.draw, case.n_arms) if data.draw(st.booleans()) else None
    prefer = draw_mask(data.draw, case.n_arms) if data.draw(st.booleans()) else None
    left = case.sets if mask is None else case.without(mask)
    for arm in range(case.n_arms):
        holding = [arms for arms in left if arm in arms]
        found = case.oracle.containing(arm, mask, prefer)
        if not holding:
            assert found is None
            continue
        assert found is not None
        assert found.dtype == np.int64
        assert tuple(found.tolist()) in holding
        if prefer is not None and case.cost is None:
            # Where the best super arm by a sum is found exactly, as many preferred arms as possible come along.
            liked = [sum(prefer[other] for other in arms if other != arm) for arms in holding]
            assert sum(prefer[other] for other in found if other != arm) == max(liked)


@every_kind
@quick
@given(data=st.data())
def test_listing_and_counting(kind: str, data: st.DataObject) -> None:
    case = CASES[kind](data.draw)
    listed = case.oracle.super_arms()
    assert [tuple(arms.tolist()) for arms in listed] == case.sets
    assert all(arms.dtype == np.int64 for arms in listed)
    assert case.oracle.count() == len(case.sets)
    largest = max(map(len, case.sets))
    # The longest simple path is hard to find, so path oracles with cycles give a bound.
    assert case.oracle.max_size == largest if case.cost is None else case.oracle.max_size >= largest
    assert len(case.oracle.super_arms(limit=len(case.sets))) == len(case.sets)
    with pytest.raises(TooManySuperArmsError, match=rf"\b{len(case.sets) - 1}\b"):
        case.oracle.super_arms(limit=len(case.sets) - 1)


@every_kind
@quicker
@given(data=st.data())
def test_exactly_the_super_arms_are_feasible(kind: str, data: st.DataObject) -> None:
    case = CASES[kind](data.draw)
    known = set(case.sets)
    turn = data.draw(st.booleans())
    for arms in subsets_of(case.n_arms):
        given_arms = arms[::-1] if turn else arms
        assert case.oracle.is_feasible(given_arms) == (arms in known)
    chosen = data.draw(st.sampled_from(case.sets))
    order = data.draw(st.permutations(chosen))
    assert case.oracle.is_feasible(np.array(order))
    assert case.oracle.check_super_arm(order).tolist() == order
    assert not case.oracle.is_feasible([*chosen, chosen[0]])


@every_kind
@quicker
@given(data=st.data())
def test_samples_are_super_arms(kind: str, data: st.DataObject) -> None:
    case = CASES[kind](data.draw)
    mask = draw_mask(data.draw, case.n_arms)
    left = case.without(mask)
    rng = np.random.default_rng(data.draw(st.integers(0, 100)))
    for _ in range(5):
        arms = case.oracle.sample(rng)
        assert arms.dtype == np.int64
        assert tuple(arms.tolist()) in case.sets
        if left:
            assert tuple(case.oracle.sample(rng, mask).tolist()) in left


@every_kind
@quick
@given(data=st.data())
def test_ordered_keeps_the_set_and_follows_the_structure(kind: str, data: st.DataObject) -> None:
    case = CASES[kind](data.draw)
    arms = data.draw(st.permutations(data.draw(st.sampled_from(case.sets))))
    ordered = case.oracle.ordered(arms)
    assert ordered.dtype == np.int64
    assert sorted(ordered.tolist()) == sorted(arms)
    if isinstance(case.oracle, DagPaths | CostPaths):
        arcs = case.oracle.arcs
        node = arcs.source
        for arm in ordered:
            ends = [int(arcs.tail[arm]), int(arcs.head[arm])]
            assert node in (ends[:1] if arcs.directed else ends)
            node = ends[1] if node == ends[0] else ends[0]
        assert node == arcs.target
    elif isinstance(case.oracle, ExplicitSets):
        # In the order in which the super arm was listed.
        assert ordered.tolist() in case.oracle.spec()["super_arms"]
    elif isinstance(case.oracle, Assignments):
        assert [case.oracle.pairs[arm][0] for arm in ordered] == list(range(case.oracle.n_workers))
    else:
        assert ordered.tolist() == sorted(arms)


@every_kind
@quicker
@given(data=st.data())
def test_a_spec_rebuilds_the_oracle(kind: str, data: st.DataObject) -> None:
    case = CASES[kind](data.draw)
    spec = case.oracle.spec()
    if kind.startswith(("function", "plain")):
        assert spec is None
        return
    twin = oracles.from_spec(json.loads(json.dumps(spec)))
    assert type(twin) is type(case.oracle)
    assert twin.spec() == spec
    assert (twin.n_arms, twin.max_size) == (case.oracle.n_arms, case.oracle.max_size)
    assert [tuple(arms.tolist()) for arms in twin.super_arms()] == case.sets
    weights = draw_weights(data.draw, case)
    assert twin.solve(weights).tolist() == case.oracle.solve(weights).tolist()


@sums
@quicker
@given(data=st.data())
def test_an_infinite_weight_outbids_all_others(kind: str, data: st.DataObject) -> None:
    # This is how a policy asks for an arm that was never played.
    case = CASES[kind](data.draw)
    weights = np.array(draw_weights(data.draw, case))
    weights /= max(1.0, np.abs(weights).max())
    infinite = np.array(draw_mask(data.draw, case.n_arms))
    weights[infinite] = np.inf
    found = case.oracle.search(weights, None)
    assert tuple(sorted(found.tolist())) in case.sets
    if any(infinite[list(arms)].any() for arms in case.sets):
        assert infinite[found].any()
    else:
        finite = np.where(infinite, 0.0, weights)
        assert_best(case, finite.tolist(), np.sort(found), case.sets)


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


# --- the field's solvers, on larger structures ---------------------------------------------------------------------

ordinary = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def draw_larger_weights(draw: Draw, rng: np.random.Generator, size: int, *, positive: bool = False) -> np.ndarray:
    weights = rng.normal(size=size) if draw(st.booleans()) else rng.integers(-3, 4, size).astype(float)
    return np.abs(weights) + 0.01 if positive else weights


@quick
@given(data=st.data(), rng=ordinary)
def test_assignments_against_scipy(data: st.DataObject, rng: np.random.Generator) -> None:
    n_jobs = data.draw(st.integers(1, 14))
    n_workers = data.draw(st.integers(1, n_jobs))
    weights = draw_larger_weights(data.draw, rng, n_workers * n_jobs)
    table = weights.reshape(n_workers, n_jobs)
    best = table[linear_sum_assignment(table, maximize=True)].sum()
    oracle = Assignments(n_workers, n_jobs)
    found = oracle.solve(weights)
    assert oracle.is_feasible(found)
    assert weights[found].sum() == pytest.approx(best, rel=1e-9, abs=1e-9)

    allowed = rng.random((n_workers, n_jobs)) < 0.7
    allowed[np.arange(n_workers), rng.permutation(n_jobs)[:n_workers]] = True
    pairs = [(int(worker), int(job)) for worker, job in np.argwhere(allowed)]
    # A penalty larger than every sum keeps scipy off the pairs that are not allowed.
    limited = np.where(allowed, table, -1e4)
    best = limited[linear_sum_assignment(limited, maximize=True)].sum()
    found = Assignments(n_workers, n_jobs, pairs).solve(table[allowed])
    assert table[allowed][found].sum() == pytest.approx(best, rel=1e-9, abs=1e-9)


@quick
@given(data=st.data(), rng=ordinary)
def test_spanning_trees_against_networkx(data: st.DataObject, rng: np.random.Generator) -> None:
    nodes = data.draw(st.integers(2, 14))
    graph = nx.gnp_random_graph(nodes, 0.5, seed=int(rng.integers(1000)))
    graph.add_edges_from(itertools.pairwise(range(nodes)))
    edges = [tuple(map(int, rng.permutation(edge))) for edge in graph.edges]
    weights = draw_larger_weights(data.draw, rng, len(edges))
    for (a, b), weight in zip(edges, weights, strict=True):
        graph.edges[a, b]["weight"] = weight
    oracle = SpanningTrees(edges)
    found = oracle.solve(weights)
    assert oracle.is_feasible(found)
    best = nx.maximum_spanning_tree(graph).size(weight="weight")
    assert weights[found].sum() == pytest.approx(best, rel=1e-9, abs=1e-9)


@quicker
@given(rng=ordinary)
def test_listed_spanning_trees_against_networkx(rng: np.random.Generator) -> None:
    graph = nx.gnp_random_graph(5, 0.6, seed=int(rng.integers(1000)))
    graph.add_edges_from(itertools.pairwise(range(5)))
    number = {frozenset(edge): arm for arm, edge in enumerate(graph.edges)}
    trees = nx.SpanningTreeIterator(graph)
    expected = as_sets([[number[frozenset(edge)] for edge in tree.edges] for tree in trees])
    assert [tuple(arms.tolist()) for arms in SpanningTrees(list(graph.edges)).super_arms()] == expected


@quick
@given(data=st.data(), rng=ordinary)
def test_dag_paths_against_bellman_ford(data: st.DataObject, rng: np.random.Generator) -> None:
    # On an acyclic graph the heaviest path is the shortest one by negated weights, whatever their sign.
    nodes = data.draw(st.integers(2, 14))
    names = rng.permutation(nodes).tolist()
    arcs = [(a, b) for a in range(nodes) for b in range(a + 1, nodes) if b == a + 1 or rng.random() < 0.4]
    arcs = [arcs[place] for place in rng.permutation(len(arcs))]
    weights = draw_larger_weights(data.draw, rng, len(arcs))
    graph = nx.DiGraph()
    for (a, b), weight in zip(arcs, weights, strict=True):
        graph.add_edge(names[a], names[b], cost=-weight)
    source, target = names[0], names[-1]
    oracle = DagPaths([names[a] for a, _ in arcs], [names[b] for _, b in arcs], source, target)
    found = oracle.solve(weights)
    assert oracle.is_feasible(found)
    best = -nx.bellman_ford_path_length(graph, source, target, weight="cost")
    assert weights[found].sum() == pytest.approx(best, rel=1e-9, abs=1e-9)


@quicker
@given(rng=ordinary)
def test_dag_paths_against_the_longest_path_of_networkx(rng: np.random.Generator) -> None:
    # With positive weights and arcs from the first node and to the last, the longest path of all joins these two.
    nodes = 9
    arcs = [(a, b) for a in range(nodes) for b in range(a + 1, nodes) if a == 0 or b == nodes - 1 or rng.random() < 0.5]
    weights = rng.random(len(arcs)) + 0.01
    graph = nx.DiGraph()
    graph.add_weighted_edges_from((a, b, weight) for (a, b), weight in zip(arcs, weights, strict=True))
    found = DagPaths([a for a, _ in arcs], [b for _, b in arcs], 0, nodes - 1).solve(weights)
    assert weights[found].sum() == pytest.approx(nx.dag_longest_path_length(graph), rel=1e-12)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("kind", COSTS)
@quicker
@given(data=st.data(), rng=ordinary)
def test_cost_paths_against_dijkstra(kind: str, directed: bool, data: st.DataObject, rng: np.random.Generator) -> None:
    nodes = data.draw(st.integers(2, 14))
    simple = nx.gnp_random_graph(nodes, 0.4, seed=int(rng.integers(1000)), directed=directed)
    simple.add_edges_from(itertools.pairwise(range(nodes)))
    arcs = [tuple(arc) for arc in simple.edges]
    weights = draw_larger_weights(data.draw, rng, len(arcs), positive=True)
    cost, scalar = COSTS[kind]
    for arc, weight in zip(arcs, weights, strict=True):
        simple.edges[arc]["cost"] = scalar(weight)
    oracle = CostPaths([a for a, _ in arcs], [b for _, b in arcs], 0, nodes - 1, cost=cost, directed=directed)
    found = oracle.solve(weights)
    assert oracle.is_feasible(found)
    best = nx.dijkstra_path_length(simple, 0, nodes - 1, weight="cost")
    assert sum(scalar(weights[arm]) for arm in found) == pytest.approx(best, rel=1e-9, abs=1e-12)


@quicker
@given(rng=ordinary)
def test_k_subsets_against_sorting(rng: np.random.Generator) -> None:
    n_arms = int(rng.integers(1, 200))
    k = int(rng.integers(1, n_arms + 1))
    weights = rng.integers(-20, 20, n_arms).astype(float)
    found = KSubsets(n_arms, k).solve(weights)
    assert len(set(found.tolist())) == k
    assert weights[found].sum() == np.sort(weights)[n_arms - k :].sum()


def test_larger_linear_constraints_against_the_same_family_by_structure() -> None:
    # Assignments written as constraints: every worker once, every job at most once.
    rng = np.random.default_rng(3)
    rows = np.zeros((9, 20))
    for worker, job in itertools.product(range(4), range(5)):
        rows[worker, worker * 5 + job] = rows[4 + job, worker * 5 + job] = 1
    linear = LinearSets(rows, lower=[1] * 4 + [None] * 5, upper=[1] * 9)
    assert linear.count() == Assignments(4, 5).count() == 120
    for _ in range(10):
        weights = rng.normal(size=20)
        assert linear.solve(weights).tolist() == Assignments(4, 5).solve(weights).tolist()


@quicker
@given(rng=ordinary, scale=st.sampled_from([1e-200, 1e-6, 1.0, 1e6, 1e200]))
def test_linear_sets_tell_nearly_equal_weights_apart(rng: np.random.Generator, scale: float) -> None:
    # The solver stops at an absolute gap, so weights of any size must be brought to one that it can tell apart.
    oracle = LinearSets(rng.integers(0, 4, (2, 7)), upper=[9, 9])
    weights = scale * (1.0 + 1e-10 * rng.permutation(7))
    best = max(weights[arms].sum() for arms in oracle.super_arms())
    assert weights[oracle.solve(weights)].sum() == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize(
    ("row", "upper", "best"),
    [
        ([1e9, 1.0], 1e9, 1),
        ([1e9, 1e9, 3.0, 2.0], 1e9 + 3, 2),
        ([0.1] * 3, 0.3, 3),
        ([1.0] * 3, 0.6 / 0.2, 3),
        ([3e5, 3e5, 1.0], 6e5, 2),
    ],
)
def test_linear_sets_forgive_rounding_and_never_a_whole_one(row: list[float], upper: float, best: int) -> None:
    oracle = LinearSets([row], upper=[upper])
    assert len(oracle.solve(np.ones(len(row)))) == best
    assert max(map(len, oracle.super_arms())) == best


def test_linear_sets_solve_in_threads_and_keep_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    oracle = LinearSets([[1, 1, 0], [0, 1, 1]], upper=[1, 1])
    begun = os.fstat(1)

    def work() -> None:
        for seed in range(20):
            oracle.solve(np.random.default_rng(seed).random(3))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    now = os.fstat(1)
    assert (now.st_dev, now.st_ino) == (begun.st_dev, begun.st_ino)
    os.write(1, b"still here")
    assert capfd.readouterr().out == "still here"


def test_linear_sets_solve_without_standard_output() -> None:
    code = (
        "import os, sys; os.close(1); sys.stdout = None\n"
        "from rising_bandits.oracles import LinearSets\n"
        "sys.exit(LinearSets([[1, 1]], upper=[1]).solve([0.2, 0.7]).tolist() != [1])"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- uniform samples -----------------------------------------------------------------------------------------------

SAMPLED: dict[str, SuperArmOracle] = {
    # Different numbers of ways through each node, and a parallel arc.
    "dag": DagPaths(list("ssaabbcs"), list("abbctctt"), "s", "t"),
    "cost-directed": CostPaths(list("ssabactsb"), list("abbattccc"), "s", "t"),
    "cost-undirected": CostPaths(list("ssabccb"), list("abbcttt"), "s", "t", cost="log", directed=False),
    "assignment": Assignments(2, 4),
    "pairs": Assignments(3, 3, [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 1), (2, 2), (2, 0)]),
    "tree": SpanningTrees([(0, 1), (1, 2), (2, 0), (2, 3), (3, 2), (3, 0), (1, 1)]),
    "kset": KSubsets(5, 2),
    "explicit": ExplicitSets([[0], [1, 2], [0, 2], [3], [1, 3, 4]]),
    "linear": LinearSets([[2, 1, 1, 3], [1, -1, 0, 0]], upper=[4, None], lower=[None, -0.5]),
}


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("kind", SAMPLED)
def test_samples_are_uniform(kind: str, masked: bool) -> None:
    # With a right sampler a seed fails with chance 1e-4; this seed is fixed.
    oracle = SAMPLED[kind]
    mask = np.zeros(oracle.n_arms, dtype=bool)
    mask[0] = masked
    family = [tuple(arms.tolist()) for arms in oracle.super_arms() if not mask[arms].any()]
    assert len(family) > 1
    rng = np.random.default_rng(20_240)
    seen = Counter(tuple(oracle.sample(rng, mask if masked else None).tolist()) for _ in range(250 * len(family)))
    assert set(seen) == set(family)
    assert stats.chisquare([seen[arms] for arms in family]).pvalue > 1e-4


def test_samples_of_a_family_too_large_to_list() -> None:
    rng = np.random.default_rng(0)
    steps = 60
    dag = DagPaths([i // 2 for i in range(2 * steps)], [i // 2 + 1 for i in range(2 * steps)], 0, steps)
    assert dag.count() == 2**steps
    assert dag.is_feasible(dag.sample(rng))
    tree = SpanningTrees(list(itertools.combinations(range(12), 2)))
    assert tree.count() == 12**10
    assert tree.is_feasible(tree.sample(rng))
    matching = Assignments(12, 12)
    assert matching.count() == math.factorial(12)
    assert matching.is_feasible(matching.sample(rng))
    sets = KSubsets(60, 30)
    assert sets.is_feasible(sets.sample(rng))


# --- refusals ------------------------------------------------------------------------------------------------------

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
    "pair-outside": (lambda: Assignments(1, 2, [(0, 2)]), r"pairs must lie in 0..0 x 0..1, got \(0, 2\)"),
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


# --- a user's own oracle, and single facts -------------------------------------------------------------------------


class Either(SuperArmOracle):
    """Arm 0 alone, or arms 1 and 2 together; it cannot be listed."""

    n_arms, max_size = 3, 2

    def best(self, weights: np.ndarray) -> list[int]:
        return [0] if weights[0] > weights[1] + weights[2] else [2, 1]

    def is_feasible(self, arms: Sequence[int]) -> bool:
        return sorted(arms) in ([0], [1, 2])


def test_an_oracle_of_ones_own_needs_two_methods() -> None:
    oracle = Either()
    assert oracle.solve([0.5, 0.3, 0.4]).tolist() == [1, 2]
    assert oracle.solve([0.5, 0.3, 0.4], [False, True, False]).tolist() == [0]
    assert oracle.solve([-5.0, 0.3, 0.4], [False, False, True]).tolist() == [0]
    assert oracle.solve([1e300, -1e300, 1e300]).tolist() == [0]
    assert oracle.can([True, False, False])
    assert not oracle.can([True, True, False])
    with pytest.raises(InfeasibleError, match=r"blocks 2 of 3 arms \(0, 1\)"):
        oracle.solve([0.5, 0.3, 0.4], [True, True, False])
    assert oracle.containing(2).tolist() == [1, 2]
    assert oracle.containing(0, prefer=[False, True, True]).tolist() == [0]
    assert oracle.containing(1, mask=[False, False, True]) is None
    assert oracle.search(np.array([0.5, np.inf, -3.0]), None).tolist() == [1, 2]
    assert oracle.kernel() is None
    assert oracle.spec() is None
    assert oracle.count() is None
    assert oracle.exact
    for call in (oracle.super_arms, lambda: oracle.sample(np.random.default_rng(0))):
        with pytest.raises(TooManySuperArmsError, match="super arms of Either cannot be listed"):
            call()


def test_a_simple_path_through_an_arc_where_the_shortest_pieces_cross() -> None:
    # The short way to the arc b->c runs through a, which is also the only way on from c.
    oracle = CostPaths(list("sasdbca"), list("abdbcat"), "s", "t")
    assert oracle.containing(4).tolist() == [2, 3, 4, 5, 6]
    assert oracle.containing(4, mask=[False] * 3 + [True] + [False] * 3) is None


def test_dead_arms_are_in_no_super_arm() -> None:
    oracle = DagPaths(list("sxa"), list("tta"[:2] + "b"), "s", "t")
    assert oracle.n_arms == 3
    assert [oracle.containing(arm) is None for arm in range(3)] == [False, True, True]


def test_weights_below_the_smallest_cost_as_much_as_it() -> None:
    # Both paths hold one arm at the floor; the rest decides.
    oracle = CostPaths(list("sasb"), list("atbt"), "s", "t")
    assert oracle.solve([-5.0, 1e-3, 0.0, 1e-2]).tolist() == [2, 3]
    assert oracle.solve([0.0, 1e-2, -5.0, 1e-3]).tolist() == [0, 1]


# --- what a careful user would meet at the edges -------------------------------------------------------------------


@pytest.mark.parametrize("kind", COSTS)
def test_costs_do_not_depend_on_a_huge_weight_elsewhere(kind: str) -> None:
    oracle = CostPaths(list("sast"), list("atts"), "s", "t", cost=COSTS[kind][0])
    for weights in ([0.9, 0.9, 0.2, 1.0], [1.0, 1.0, 0.9, 1.0], [0.2, 0.2, 0.5, 1.0]):
        # The last arc leaves the target, so no path uses it.
        assert oracle.solve([*weights[:3], 1e300]).tolist() == oracle.solve(weights).tolist()


def test_can_does_not_ask_a_cost_function_about_zeros() -> None:
    # One over the index is a natural cost, and is infinite at 0; that forbids nothing.
    oracle = CostPaths("s", "t", "s", "t", cost=lambda index: 1.0 / index)
    assert oracle.solve([0.5]).tolist() == [0]
    assert oracle.can()


def test_linear_sets_take_subnormal_weights() -> None:
    assert LinearSets([[1, 1, 1]], upper=[1]).solve([0.0, 1e-310, 0.0]).tolist() == [1]


@pytest.mark.parametrize("kind", ["dag", "cost-directed", "pairs", "assignment", "tree", "kset", "explicit", "linear"])
def test_numbers_of_no_arm_are_not_feasible(kind: str) -> None:
    oracle = SAMPLED[kind]
    for arms in oracle.super_arms():
        # Minus one would be the last arm to a list, which makes a super arm of some of these.
        for wrong in (oracle.n_arms, -1, int(arms[-1]) - oracle.n_arms):
            assert not oracle.is_feasible([*arms[:-1].tolist(), wrong])


def test_sampling_more_paths_than_a_float_can_count() -> None:
    steps = 1_100
    dag = DagPaths([i // 2 for i in range(2 * steps)], [i // 2 + 1 for i in range(2 * steps)], 0, steps)
    assert dag.is_feasible(dag.sample(np.random.default_rng(0)))


@pytest.mark.parametrize(
    "make",
    [
        lambda n: DagPaths(range(n), range(1, n + 1), 0, n),
        lambda n: CostPaths(range(n), range(1, n + 1), 0, n),
        lambda n: Assignments(n, n, [(worker, worker) for worker in range(n)]),
        lambda n: LinearSets(np.ones((1, n)), lower=[n]),
    ],
    ids=["dag", "cost", "pairs", "linear"],
)
def test_long_super_arms_can_be_listed(make: Callable[[int], SuperArmOracle]) -> None:
    # One super arm, longer than the interpreter's recursion goes.
    oracle = make(1_050)
    assert [arms.tolist() for arms in oracle.super_arms()] == [list(range(1_050))]


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


def test_linear_sets_with_wide_coefficients_are_exact_or_say_that_they_are_not() -> None:
    few = LinearSets([[-19999999, -1, 20000000, 9999999]], upper=[9999998])
    assert few.exact
    assert few.solve([1.0, -0.1, -0.1, -0.1]).tolist() == [0]
    rows = [
        [-19999998, 29999999, -30000002, -20000002, 19999999, 30000002],
        [-3, -20000003, -30000002, 9999997, -20000001, -10000003],
    ]
    oracle = LinearSets(rows, upper=[-20000005, -30000004])
    weights = np.array([0.0, 1, -1, 1, 1, 2])
    assert weights[oracle.solve(weights)].sum() == max(weights[arms].sum() for arms in oracle.super_arms())
    assert not LinearSets([[10**6] * 30], upper=[10**7]).exact
    assert LinearSets([[1] * 30], upper=[3]).exact


def test_a_small_family_under_linear_constraints_is_listed_and_gives_the_answers_of_the_integer_solver(monkeypatch):
    from rising_bandits.oracles import linear

    rng = np.random.default_rng(12)
    for _ in range(25):
        rows, arms = int(rng.integers(1, 4)), int(rng.integers(2, 11))
        matrix = rng.integers(-3, 6, (rows, arms)).astype(float)
        bounds = {"lower": rng.integers(-6, 2, rows), "upper": rng.integers(2, 9, rows)}
        try:
            listed = LinearSets(matrix, **bounds)
        except InfeasibleError:
            continue
        with monkeypatch.context() as patch:
            patch.setattr(linear, "MOST_LISTED", 0)
            solved = LinearSets(matrix, **bounds)
        assert solved.kernel() is None
        assert listed.kernel() is not None
        assert [tuple(a) for a in listed.super_arms()] == [tuple(a) for a in solved.super_arms()]
        assert listed.max_size == solved.max_size
        for _ in range(5):
            weights, mask = rng.normal(size=arms), rng.random(arms) < 0.2
            assert listed.can(mask) == solved.can(mask)
            if listed.can(mask):
                totals = [weights[oracle.solve(weights, mask)].sum() for oracle in (listed, solved)]
                assert totals[0] == pytest.approx(totals[1], abs=1e-9)
    # More sets than are listed: left to the solver, and quickly so.
    assert LinearSets(np.ones((1, 40)), upper=[20]).kernel() is None
