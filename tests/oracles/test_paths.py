"""Paths against networkx, and where shortest pieces cross."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle_kit import COSTS, draw_larger_weights, ordinary, quick, quicker

from rising_bandits.oracles import (
    CostPaths,
    DagPaths,
)


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


def test_sampling_more_paths_than_a_float_can_count() -> None:
    steps = 1_100
    dag = DagPaths([i // 2 for i in range(2 * steps)], [i // 2 + 1 for i in range(2 * steps)], 0, steps)
    assert dag.is_feasible(dag.sample(np.random.default_rng(0)))
