"""Paths and trees from networkx graphs and lists of edges."""

from __future__ import annotations

import itertools
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problem_kit import ROADS, best, family, quick

from rising_bandits.errors import InputError
from rising_bandits.oracles import CostPaths, DagPaths, SpanningTrees
from rising_bandits.problems import (
    Reward,
    ShortestPath,
    SpanningTree,
)


def test_path_from_an_edge_list() -> None:
    problem = ShortestPath(ROADS, "home", "work")
    assert problem.labels == ("home->bridge", "home->tunnel", "bridge->work", "tunnel->work")
    assert (problem.n_arms, problem.oracle.max_size, problem.oracle.count()) == (4, 2, 2)
    assert (problem.source, problem.target, problem.edges) == ("home", "work", ROADS)
    assert isinstance(problem.oracle, DagPaths)
    assert problem.reward == Reward("sum")
    assert family(problem) == {
        frozenset({"home->bridge", "bridge->work"}),
        frozenset({"home->tunnel", "tunnel->work"}),
    }
    assert best(problem, [0.2, 0.5, 0.3, 0.6]) == ["home->tunnel", "tunnel->work"]
    assert repr(problem) == "ShortestPath(4 base arms, 2 super arms of up to 2, sum reward)"


def test_path_from_a_digraph_keeps_its_order_of_edges() -> None:
    graph = nx.DiGraph()
    graph.add_edge("b", "t", name="last mile")
    graph.add_edge("s", "b")
    graph.add_edge("s", "t", length=3)
    problem = ShortestPath(graph, "s", "t")
    edges = list(graph.edges)
    assert problem.edges == edges
    assert problem.labels == tuple("last mile" if edge == ("b", "t") else "->".join(edge) for edge in edges)
    # An edge with a name can still be asked for by its ends.
    for arm, (u, v) in enumerate(edges):
        assert problem.index((u, v)) == problem.index(f"{u}->{v}") == arm
    assert problem.index("last mile") == problem.index(("b", "t"))
    with pytest.raises(InputError, match=r"label must be one of .* got \('t', 'b'\)"):
        problem.index(("t", "b"))


def test_path_from_a_multidigraph_is_labelled_by_its_keys() -> None:
    graph = nx.MultiDiGraph()
    graph.add_edge("s", "a")
    graph.add_edge("a", "t", key="fast")
    graph.add_edge("a", "t", key="safe")
    graph.add_edge("a", "t", key="old", name="the old road")
    problem = ShortestPath(graph, "s", "t")
    assert problem.labels == ("s->a", "a->t#fast", "a->t#safe", "the old road")
    assert problem.oracle.count() == 3
    assert problem.index(("s", "a")) == problem.index(("s", "a", 0)) == 0
    assert problem.index(("a", "t", "safe")) == 2
    assert problem.index(("a", "t", "old")) == problem.index("a->t#old") == 3
    with pytest.raises(InputError, match=r"got \('a', 't'\)"):
        # Three edges join these two; their ends alone name none of them.
        problem.index(("a", "t"))
    assert best(problem, [0.1, 0.2, 0.4, 0.3]) == ["s->a", "a->t#safe"]


def test_parallel_edges_of_a_list_are_told_apart() -> None:
    problem = ShortestPath([("s", "t"), ("s", "t"), ("s", "t", "third")], "s", "t")
    assert problem.labels == ("s->t#0", "s->t#1", "third")
    assert problem.oracle.count() == 3


def test_path_from_an_undirected_graph_goes_either_way() -> None:
    graph = nx.Graph([("s", "a"), ("t", "a"), ("s", "b"), ("b", "t"), ("b", "a")])
    problem = ShortestPath(graph, "s", "t")
    assert isinstance(problem.oracle, CostPaths)
    assert problem.reward == Reward("harmonic")
    assert "s--a" in problem.labels
    for arm, (u, v) in enumerate(graph.edges):
        assert problem.index((u, v)) == problem.index((v, u)) == arm
    paths = {
        frozenset(problem.index(edge) for edge in itertools.pairwise(path))
        for path in nx.all_simple_paths(graph, "s", "t")
    }
    assert {frozenset(arms.tolist()) for arms in problem.oracle.super_arms()} == paths
    arms = problem.arms_of([("a", "t"), ("b", "a"), ("s", "b")])
    assert problem.oracle.is_feasible(arms)
    assert problem.ordered(arms).tolist() == arms[::-1].tolist()


def test_undirected_multigraph_with_keys() -> None:
    graph = nx.MultiGraph([("s", "t"), ("t", "s"), ("s", "a"), ("a", "t")])
    problem = ShortestPath(graph, "s", "t")
    assert set(problem.labels) == {
        "s--t#0",
        "s--t#1",
        "s--a",
        *(f"{u}--{v}" for u, v in graph.edges() if "a" in (u, v)),
    }
    assert problem.oracle.count() == 3


@pytest.mark.parametrize(
    ("options", "reward", "cost"),
    [
        ({}, "harmonic", "inverse"),
        ({"reward": "harmonic"}, "harmonic", "inverse"),
        ({"reward": "product"}, "product", "log"),
        ({"reward": Reward("product")}, "product", "log"),
        ({"cost": "log"}, "product", "log"),
        ({"cost": "inverse"}, "harmonic", "inverse"),
        ({"cost": "log", "reward": "harmonic"}, "harmonic", "log"),
    ],
)
def test_a_graph_with_cycles_is_solved_by_costs(options: dict[str, Any], reward: str, cost: str) -> None:
    problem = ShortestPath([*ROADS, ("work", "home")], "home", "work", **options)
    assert isinstance(problem.oracle, CostPaths)
    assert (problem.reward.name, problem.oracle.cost) == (reward, cost)


def test_costs_of_ones_own() -> None:
    def cost(indices: np.ndarray) -> np.ndarray:
        return np.exp(-indices)

    problem = ShortestPath(ROADS, "home", "work", cost=cost)
    assert isinstance(problem.oracle, CostPaths)
    assert problem.oracle.cost is cost
    assert problem.reward.name == "harmonic"
    assert best(problem, [0.2, 0.5, 0.3, 0.6]) == ["home->tunnel", "tunnel->work"]
    assert problem.spec() is None


@quick
@given(st.lists(st.floats(0.01, 1.0), min_size=5, max_size=5), st.sampled_from(["sum", "harmonic", "product"]))
def test_the_best_path_has_the_best_reward(outcomes: list[float], reward: str) -> None:
    # What the solver minimises or maximises is what the reward says, so the two agree on which path is best.
    problem = ShortestPath([*ROADS, ("home", "work")], "home", "work", reward=reward)
    values = np.array(outcomes)
    rewards = [problem.reward(values[arms]) for arms in problem.oracle.super_arms()]
    assert problem.reward(values[problem.oracle.solve(values)]) == pytest.approx(max(rewards), rel=1e-12)


def test_nodes_may_be_anything_hashable() -> None:
    graph = nx.DiGraph([((0, 0), (0, 1)), ((0, 1), frozenset({1})), ((0, 0), frozenset({1}))])
    problem = ShortestPath(graph, (0, 0), frozenset({1}))
    assert problem.labels[0] == "(0, 0)->(0, 1)"
    assert problem.index(((0, 0), (0, 1))) == 0
    assert problem.oracle.count() == 2


def test_spanning_tree_from_graph_and_list() -> None:
    edges = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")]
    graph = nx.Graph(edges)
    graph.edges["c", "d"]["name"] = "bridge"
    problem = SpanningTree(graph)
    assert set(problem.labels) == {"a--b", "a--c", "b--c", "bridge"}
    assert isinstance(problem.oracle, SpanningTrees)
    assert problem.oracle.count() == 3
    assert problem.index(("d", "c")) == problem.index(("c", "d")) == problem.index("bridge")
    assert all("bridge" in tree for tree in family(problem))
    listed = SpanningTree(edges)
    assert listed.labels == ("a--b", "b--c", "a--c", "c--d")
    assert listed.edges == edges
    assert best(listed, [0.9, 0.1, 0.5, -1.0]) == ["a--b", "a--c", "c--d"]
    assert listed.reward.additive


def test_spanning_tree_of_a_multigraph() -> None:
    graph = nx.MultiGraph([("a", "b"), ("b", "a"), ("b", "c"), ("c", "c")])
    problem = SpanningTree(graph)
    assert problem.labels == ("a--b#0", "a--b#1", "b--c", "c--c")
    assert family(problem) == {frozenset({"a--b#0", "b--c"}), frozenset({"a--b#1", "b--c"})}


def test_parallel_undirected_edges_are_not_confused_by_their_direction() -> None:
    # Both edges join a and b, so the pair names neither of them, or each by the way it was written.
    problem = SpanningTree([("a", "b"), ("b", "a")])
    assert problem.oracle.count() == 2
    try:
        found = [problem.index(("a", "b")), problem.index(("b", "a"))]
    except InputError:
        return
    assert found == [0, 1]


def test_a_large_problem_can_be_printed() -> None:
    problem = ShortestPath(nx.path_graph(1_100), 0, 1_099)
    assert repr(problem).startswith("ShortestPath(1099 base arms, ")
