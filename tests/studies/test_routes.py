"""Many pairs of a source and a target over one set of links: one study, shared arms, a pair per ask."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits.oracles import CostPaths, DagPaths, Families, KSubsets
from rising_bandits.problems import Routes
from rising_bandits.testing import check_oracle

LINKS = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("b", "d")]
PAIRS = [("a", "c"), ("a", "d"), ("b", "d")]


def paths(source, target):
    graph = nx.DiGraph(LINKS)
    number = {link: arm for arm, link in enumerate(LINKS)}
    found = nx.all_simple_edge_paths(graph, source, target)
    return sorted(tuple(sorted(number[link] for link in path)) for path in found)


def as_tuples(oracle):
    return [tuple(arms.tolist()) for arms in oracle.super_arms()]


def test_the_families_are_the_paths_of_each_pair():
    problem = Routes(LINKS, PAIRS)
    assert as_tuples(problem.oracle) == sorted({path for pair in PAIRS for path in paths(*pair)})
    for pair in PAIRS:
        part = problem.among(pair)
        assert part.labels == problem.labels
        assert as_tuples(part.oracle) == paths(*pair)
        assert part.index(("a", "b")) == 0
    again = rb.Problem.from_spec(problem.spec())
    assert again.choices == problem.choices == ("a->c", "a->d", "b->d")
    assert as_tuples(again.among("b->d").oracle) == paths("b", "d")


def test_families_conform():
    check_oracle(Routes(LINKS, PAIRS).oracle)
    ring = {"tails": list("abcb"), "heads": list("bcaa")}
    parts = {goal: CostPaths(**ring, source="a", target=goal, cost="inverse") for goal in "bc"}
    check_oracle(Families(parts), value=lambda weights: -float(np.sum(1.0 / np.maximum(weights, 1e-12))))


def test_what_is_no_family_is_refused():
    problem = Routes(LINKS, PAIRS)
    for choice, message in (("x->y", "among must be one of 'a->c'"), (7, "the name of a family"), (None, "the name")):
        with pytest.raises(rb.InputError, match=message):
            problem.among(choice)
    with pytest.raises(rb.InputError, match="has only one family"):
        rb.problems.TopK(3, 1).among("x")
    for pairs, message in (([], "at least one pair"), ([("a",)], "pairs"), ([("a", "d")] * 2, "different")):
        with pytest.raises(rb.InputError, match=message):
            Routes(LINKS, pairs)
    with pytest.raises(rb.InfeasibleError):
        Routes(LINKS, [("d", "a")])
    with pytest.raises(rb.InputError, match="share their base arms"):
        Families({"x": KSubsets(3, 1), "y": KSubsets(4, 1)})
    with pytest.raises(rb.InputError, match="must map names to oracles"):
        Families({"x": Families({"y": KSubsets(3, 1)})})
    with pytest.raises(rb.InputError, match="common reward"):
        Families({"x": CostPaths(["a"], ["b"], "a", "b"), "y": DagPaths(["a"], ["b"], "a", "b")})


@pytest.mark.parametrize("policy", [rb.SWCUCB(window=20), rb.SWUCB(window=20), None], ids=["base", "super", "default"])
def test_a_study_serves_every_pair_and_shares_what_it_learns(tmp_path, policy):
    storage = f"sqlite:///{tmp_path}/routes.db"
    study = rb.studies.create("routes", Routes(LINKS, PAIRS), policy, storage=storage, seed=3)
    good = {"a->b": 0.9, "b->c": 0.8, "a->c": 0.2, "c->d": 0.3, "b->d": 0.9}
    chosen: dict[tuple[str, str], list[tuple[str, ...]]] = {pair: [] for pair in PAIRS}
    for turn in range(60):
        pair = PAIRS[turn % 3]
        decision = study.ask(among=pair)
        assert study.problem.among(pair).oracle.is_feasible(study.problem.arms_of(decision.super_arm))
        study.tell(decision, {label: good[label] for label in decision.super_arm})
        chosen[pair].append(tuple(decision.super_arm))
    assert chosen["a", "c"][-1] == ("a->b", "b->c")
    assert "b->d" in str(decision.explain())
    # Plays of a link count whoever used it.
    played = study.history()["arm"].value_counts()
    assert played.sum() == sum(len(path) for found in chosen.values() for path in found)
    two = study.ask(2, among="b->d")
    assert all(study.problem.among("b->d").oracle.is_feasible(study.problem.arms_of(one.super_arm)) for one in two)
    with pytest.raises(rb.InputError, match="among must be one of"):
        study.ask(among=("a", "b"))
    with pytest.raises(rb.InfeasibleError):
        study.ask(among=("b", "d"), unavailable=["b->d", "b->c"])
    study.close()
    again = rb.studies.open("routes", storage=storage)
    assert [one.super_arm for one in again.open_decisions()] == [one.super_arm for one in two]
    again.close()
