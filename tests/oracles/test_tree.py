"""Spanning trees against networkx."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle_kit import as_sets, draw_larger_weights, ordinary, quick, quicker

from rising_bandits.oracles import (
    SpanningTrees,
)


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
