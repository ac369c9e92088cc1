"""An oracle of a user's own may answer anything: what is no super arm is refused before a policy plays or learns it."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits.oracles import ExplicitSets, SuperArmOracle
from rising_bandits.oracles.explicit import packed

POLICIES = ("crucb", "r-ed-ucb", "escb", "random", "tour", "oracle")


class Honest(SuperArmOracle):
    """Arm 0 alone, or arms 1 and 2 together."""

    n_arms: Any = 3
    max_size: Any = 2
    sets: ClassVar[Any] = ([0], [1, 2])

    def best(self, weights):
        return [0] if weights[0] > weights[1] + weights[2] else [1, 2]

    def is_feasible(self, arms):
        return sorted(arms) in self.sets

    def enumerate(self):
        return iter(self.sets)


def played(name, oracle):
    """A policy plays some rounds on a problem with this oracle."""
    policy = rb.policies.by_name(name, **({"super_arm": [0]} if name == "oracle" else {}))
    policy.start(rb.Problem(oracle), rng=0)
    for _ in range(9):
        arms = policy.select()
        policy.observe(arms, [0.5] * len(arms))
    return policy


def lying(**answers):
    """The honest oracle, with other attributes, or methods that return these answers."""
    return type("Lying", (Honest,), answers)()


WRONG = {
    "out of range": np.array([10**9]),
    "negative": [-5],
    "twice the same": [1, 1],
    "too many": np.arange(1000) % 3,
    "empty": [],
    "of fractions": [0.5],
    "of texts": ["a"],
    "beyond 64 bits": [10**30],
    "ragged": [[0], [1, 2]],
    "not feasible": [0, 1],
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("method", ["best", "enumerate", "ordered", "containing", "sample"])
def test_what_is_no_super_arm_is_refused(method, wrong):
    answer = WRONG[wrong]
    answers = {method: (lambda self, *given, **named: [answer] if method == "enumerate" else answer)}
    if method == "sample":
        answers["enumerate"] = lambda self: None
    errors = []
    for name in POLICIES:
        try:
            assert played(name, lying(**answers)).select().tolist() in Honest.sets
        except (rb.InputError, rb.TooManySuperArmsError) as error:
            errors.append(str(error))
    assert any(f"what Lying.{method}" in error for error in errors)
    assert all(f"what Lying.{method}" in error or "cannot be listed" in error for error in errors)


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"n_arms": 0}, "n_arms of Lying must be an integer of at least 1, got 0"),
        ({"n_arms": 3.0}, "n_arms of Lying must be an integer"),
        ({"n_arms": 10**12}, "n_arms of Lying must be at most"),
        ({"n_arms": None}, "n_arms of Lying must be an integer"),
        ({"max_size": 0}, "max_size of Lying must be an integer of at least 1, got 0"),
        ({"max_size": 10**12}, "max_size of Lying must be at most"),
        ({"max_size": "2"}, "max_size of Lying must be an integer"),
        ({"kernel": lambda self: 7}, "what Lying.kernel returns must be None or a NamedTuple"),
    ],
)
def test_sizes_and_solvers_are_checked_when_a_problem_is_made(attributes, words):
    with pytest.raises(rb.InputError, match=words):
        rb.Problem(lying(**attributes))


@pytest.mark.parametrize(
    ("method", "answer", "words"),
    [
        ("enumerate", 7, "must be super arms or None"),
        ("enumerate", [None], "must be lists of arm numbers"),
        ("enumerate", [[0], [1, 2], [0]], r"must not repeat, got \[0\] twice"),
        ("enumerate", itertools.repeat([0]), "limit of what is listed"),
        ("is_feasible", None, "must be True or False"),
        ("is_feasible", np.array([True, True]), "must be True or False"),
        ("ordered", None, "must be the same arms"),
    ],
)
def test_other_kinds_of_answers_are_refused(method, answer, words):
    with pytest.raises(rb.RisingBanditsError, match=words):
        played("r-ed-ucb", lying(**{method: lambda self, *given: answer})).observe([0], [0.5])


def test_a_family_without_super_arms_is_said_so():
    with pytest.raises(rb.InfeasibleError, match="Lying has no feasible super arm"):
        played("r-ed-ucb", lying(enumerate=lambda self: iter(())))


def test_an_order_as_a_list_is_taken_and_one_by_a_subclass_is_checked():
    found = packed(lying(ordered=lambda self, arms: arms.tolist()[::-1]), [np.array([1, 2]), np.array([0])])
    assert found.members.tolist() == [2, 1, 0]

    class Shifted(ExplicitSets):
        def ordered(self, arms):
            return np.asarray(arms) + 10**9

    with pytest.raises(rb.InputError, match=r"what Shifted.ordered\(\[0\]\) returns must be the same arms"):
        packed(Shifted([[0], [1, 2]]), [np.array([0])])


def test_the_honest_oracle_works_with_every_policy():
    for name in POLICIES:
        assert played(name, Honest()).round == 10
