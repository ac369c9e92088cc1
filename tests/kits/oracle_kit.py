"""Obvious implementations of families of super arms, and generated oracles to compare with them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from rising_bandits.oracles import (
    Assignments,
    BudgetSets,
    CapacityMatchings,
    CostPaths,
    DagPaths,
    ExplicitSets,
    Families,
    GroupChoices,
    KSubsets,
    LinearSets,
    SpanningTrees,
    SuperArmOracle,
)

thorough = settings(deadline=None, derandomize=True, max_examples=100)
quick = settings(deadline=None, derandomize=True, max_examples=30)
quicker = settings(deadline=None, derandomize=True, max_examples=15)


@dataclass(frozen=True)
class Case:
    """An oracle, and what must be true of it: its super arms, and the cost of a weight where it is not a sum."""

    oracle: SuperArmOracle
    sets: list[tuple[int, ...]]
    cost: Callable[[float], float] | None = None
    tolerance: float = 1e-12
    size_is_a_bound: bool = False
    """Whether ``max_size`` may be more than the size of the largest super arm."""
    left: Callable[[Sequence[bool]], list[tuple[int, ...]]] | None = None
    """The super arms while some arms are blocked, where they are not those without blocked arms."""

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
        if self.left is not None:
            return self.left(blocked)
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


def draw_groups(draw: Draw) -> tuple[list[list[int]], int]:
    """Groups of arms in any order, and perhaps an arm in no group."""
    arms = draw(st.permutations(range(draw(st.integers(1, 7)))))
    count = draw(st.integers(1, min(3, len(arms))))
    groups = [list(arms[place::count]) for place in range(count)]
    return groups, len(arms) + draw(st.integers(0, 1))


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


def matched_case(n_workers: int, n_jobs: int, pairs: Sequence[tuple[int, int]], oracle: SuperArmOracle) -> Case:
    def left(blocked: Sequence[bool]) -> list[tuple[int, ...]]:
        # A worker whose pairs are all blocked is left out: every other one gets a different job.
        free = [(arm, *pair) for arm, pair in enumerate(pairs) if not blocked[arm]]
        size = len({worker for _, worker, _ in free})
        tries = itertools.combinations(free, size) if size else ()
        return as_sets(
            [
                [arm for arm, _, _ in found]
                for found in tries
                if len({worker for _, worker, _ in found}) == len({job for _, _, job in found}) == size
            ]
        )

    return Case(oracle, matchings_of(n_workers, n_jobs, pairs), left=left)


def assignment_case(draw: Draw) -> Case:
    n_jobs = draw(st.integers(1, 4))
    n_workers = draw(st.integers(1, min(n_jobs, 2 if n_jobs == 4 else 3)))
    pairs = [(worker, job) for worker in range(n_workers) for job in range(n_jobs)]
    return matched_case(n_workers, n_jobs, pairs, Assignments(n_workers, n_jobs))


def pairs_case(draw: Draw) -> Case:
    n_workers, n_jobs, pairs = draw_pairs(draw)
    return matched_case(n_workers, n_jobs, pairs, Assignments(n_workers, n_jobs, pairs))


def capacities_case(draw: Draw) -> Case:
    """Bounds around the loads of some pairs, so that there is a super arm."""
    n_workers, n_jobs, pairs = draw_pairs(draw)
    nodes = [[arm for arm, pair in enumerate(pairs) if pair[0] == worker] for worker in range(n_workers)]
    nodes += [[arm for arm, pair in enumerate(pairs) if pair[1] == job] for job in range(n_jobs)]
    inside = draw(st.lists(st.integers(0, len(pairs) - 1), unique=True, min_size=1))
    loads = [len({*arms} & {*inside}) for arms in nodes]
    least = [draw(st.integers(0, load)) for load in loads]
    most = [load + draw(st.integers(0, 1)) for load in loads]

    def within(needed: Sequence[int], free: Sequence[int]) -> list[tuple[int, ...]]:
        return [
            arms
            for arms in sorted(subsets_of(len(pairs)))
            if arms
            and {*arms} <= {*free}
            and all(low <= len({*node} & {*arms}) <= high for node, low, high in zip(nodes, needed, most, strict=True))
        ]

    def left(blocked: Sequence[bool]) -> list[tuple[int, ...]]:
        free = [arm for arm in range(len(pairs)) if not blocked[arm]]
        out = [worker < n_workers and not {*arms} & {*free} for worker, arms in enumerate(nodes)]
        return within([0 if gone else low for low, gone in zip(least, out, strict=True)], free)

    oracle = CapacityMatchings(
        n_workers, n_jobs, pairs, least[:n_workers], most[:n_workers], least[n_workers:], most[n_workers:]
    )
    return Case(oracle, within(least, range(len(pairs))), size_is_a_bound=True, left=left)


def groups_case(draw: Draw) -> Case:
    groups, n_arms = draw_groups(draw)
    return Case(GroupChoices(groups, n_arms), as_sets(list(itertools.product(*groups))))


def budget_case(draw: Draw) -> Case:
    groups, n_arms = draw_groups(draw)
    grouped = draw(st.booleans())
    # Costs in tenths, which floats cannot hold exactly.
    costs = [draw(st.integers(0, 7)) for _ in range(n_arms)]
    budget = draw(st.integers(1, 12))
    every = as_sets(list(itertools.product(*groups))) if grouped else [arms for arms in subsets_of(n_arms) if arms]
    if all(sum(costs[arm] for arm in arms) > budget for arms in every):
        budget = min(sum(costs[arm] for arm in arms) for arms in every)
    oracle = BudgetSets([cost / 10 for cost in costs], budget / 10, groups if grouped else None)
    return Case(oracle, sorted(arms for arms in every if sum(costs[arm] for arm in arms) <= budget))


def families_case(draw: Draw) -> Case:
    """Paths between several pairs of nodes over the same arcs."""
    arcs = draw_dag(draw)
    nodes = sorted({*arcs["tails"], *arcs["heads"]})
    sets: list[tuple[int, ...]] = []
    families = {}
    for source, target in itertools.permutations(nodes, 2):
        ends = {**arcs, "source": source, "target": target}
        found = paths_between(**ends, directed=True)
        if found and (target == arcs["target"] or draw(st.booleans())):
            families[f"{source}->{target}"] = DagPaths(**ends)
            sets += found
    return Case(Families(families), as_sets(sets))


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
    return Case(LinearSets(matrix, lower, upper), linear_sets_of(matrix, lower, upper))


def solver_case(draw: Draw) -> Case:
    """The integer solver on families that would be listed."""
    matrix, lower, upper = draw_linear(draw)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rising_bandits.oracles.linear.MOST_LISTED", -1)
        oracle = LinearSets(matrix, lower, upper)
    assert oracle.kernel() is None
    # HiGHS is exact to about 1e-12 of the largest weight, and has tolerances of its own.
    return Case(oracle, linear_sets_of(matrix, lower, upper), tolerance=1e-10)


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
    "solver": solver_case,
    "capacities": capacities_case,
    "groups": groups_case,
    "budget": budget_case,
    "families": families_case,
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


ordinary = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def draw_larger_weights(draw: Draw, rng: np.random.Generator, size: int, *, positive: bool = False) -> np.ndarray:
    weights = rng.normal(size=size) if draw(st.booleans()) else rng.integers(-3, 4, size).astype(float)
    return np.abs(weights) + 0.01 if positive else weights


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
