"""Sets of k arms, explicit lists and linear constraints as problems."""

from __future__ import annotations

import numpy as np
import pytest
from problem_kit import best, family

from rising_bandits.problems import (
    Explicit,
    KMax,
    LinearConstraints,
    TopK,
)


@pytest.mark.parametrize(("kind", "reward"), [(TopK, "sum"), (KMax, "max")])
def test_k_of_many(kind: type[TopK], reward: str) -> None:
    problem = kind(["x", "y", "z"], k=2)
    assert problem.labels == ("x", "y", "z")
    assert problem.reward.name == reward
    assert best(problem, [0.1, 0.9, 0.5]) == ["y", "z"]
    assert kind(4, 3).labels == (0, 1, 2, 3)
    assert kind(np.int64(4), 3).oracle.count() == 4
    assert problem.scale == (2.0 if reward == "sum" else 1.0)


def test_explicit_lists_of_numbers_and_labels() -> None:
    numbers = Explicit([[2, 1], [0]])
    assert numbers.labels == (0, 1, 2)
    assert family(numbers) == {frozenset({1, 2}), frozenset({0})}
    assert best(numbers, [0.5, 0.3, 0.4]) == [1, 2]
    names = Explicit([["walk"], ["bus", "tram"]])
    assert names.labels == ("walk", "bus", "tram")
    assert family(names) == {frozenset({"walk"}), frozenset({"bus", "tram"})}
    gap = Explicit([[10], [20, 30]])
    assert gap.labels == (10, 20, 30)
    assert gap.index(30) == 2
    more = Explicit([["bus", "tram"]], labels=["walk", "tram", "bus"], reward="max")
    assert more.labels == ("walk", "tram", "bus")
    assert best(more, [9.0, 0.0, 0.0]) == ["tram", "bus"]
    assert more.reward.name == "max"
    assert more.oracle.containing(0) is None


def test_linear_constraints() -> None:
    problem = LinearConstraints([[2, 1, 2]], upper=[3], labels=["x", "y", "z"])
    assert family(problem) == {frozenset(names) for names in ("x", "y", "z", "xy", "yz")}
    assert best(problem, [0.5, 0.3, 0.4]) == ["x", "y"]
    plain = LinearConstraints([[1, 1, 1, 1]], lower=[2], upper=[None], reward="max")
    assert plain.labels == (0, 1, 2, 3)
    assert plain.oracle.count() == 11
    assert plain.reward.name == "max"
