"""Matchings of lists, of numbers and of pairs."""

from __future__ import annotations

from problem_kit import best, family

from rising_bandits.oracles import Assignments
from rising_bandits.problems import (
    Matching,
)


def test_matching_of_lists() -> None:
    problem = Matching(["ann", "bob"], ["cats", "cars", "maps"])
    assert problem.labels == ("ann->cats", "ann->cars", "ann->maps", "bob->cats", "bob->cars", "bob->maps")
    assert problem.index(("bob", "cars")) == problem.index("bob->cars") == 4
    assert isinstance(problem.oracle, Assignments)
    assert problem.oracle.count() == 6
    assert best(problem, [0.9, 0.8, 0.1, 0.7, 0.1, 0.2]) == ["ann->cars", "bob->cats"]
    assert best(problem, [0.9, 0.8, 0.1, 0.7, 0.1, 0.2], mask=problem.mask([("ann", "cars")])) == [
        "ann->cats",
        "bob->maps",
    ]


def test_matching_of_numbers_and_of_pairs() -> None:
    problem = Matching(2, 4)
    assert (problem.n_arms, problem.oracle.count()) == (8, 12)
    assert problem.labels[5] == "1->1"
    assert problem.index((1, 1)) == 5
    limited = Matching(["x", "y"], ["p", "q"], pairs=[("y", "q"), ("x", "p"), ("x", "q")])
    assert limited.labels == ("y->q", "x->p", "x->q")
    assert family(limited) == {frozenset({"y->q", "x->p"})}
    assert limited.index(("x", "q")) == 2
    assert problem.ordered([5, 0]).tolist() == [0, 5]
    # Workers come in turn, whatever the numbers of their pairs.
    assert limited.labels_of(limited.ordered([0, 1])) == ["x->p", "y->q"]
