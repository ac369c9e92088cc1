"""Arguments of policies in odd kinds and shapes: each is understood by place, or refused with an error of ours."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rising_bandits as rb
from rising_bandits.policies.rules.window import make_window_ucb


def started(problem=None):
    policy = rb.SWCUCB(window=10)
    policy.start(rb.problems.TopK(3, k=2) if problem is None else problem, rng=0)
    return policy


def test_outcomes_of_a_series_are_taken_by_place_whatever_its_index_is():
    whole, part = started(), started()
    whole.observe([0, 1], pd.Series([0.5, 0.25], index=[1, 0]))
    part.observe([0, 1], pd.Series([0.5, 0.25], index=[1, 0]), [True, False])
    assert whole.terms()["recent average"][:2].tolist() == [0.5, 0.25]
    assert part.terms()["recent average"][0] == 0.5
    assert part.plays.tolist() == [1, 0, 0]


RAGGED: Any = [[0], [1, 2]]
ODD: dict[str, Any] = {
    "none": None,
    "text": "ab",
    "bytes": b"ab",
    "a set": {0, 1},
    "a mapping": {0: 1, 1: 0},
    "ragged": RAGGED,
    "one number": np.array(1),
    "arrays in a list": [np.array([0.5]), np.array([0.2])],
    "beyond a float": [10**400, 0],
    "structured": np.zeros(2, dtype=[("a", "f8")]),
    "dates": np.array(["2020-01-01"] * 2, "M8[D]"),
}


@pytest.mark.parametrize("odd", ODD)
def test_what_is_no_row_of_numbers_is_refused_and_nothing_is_changed(odd):
    value = ODD[odd]
    policy = started()
    before = policy.state()
    calls = {
        "arms": lambda: policy.observe(value, [0.5, 0.5]),
        "outcomes": lambda: policy.observe([0, 1], value),
        "absorb": lambda: policy.absorb(0, value),
        "origin": lambda: policy.rebase(rb.problems.TopK(2, k=1), value),
        "underway": lambda: policy.select(None, [value]),
        "weights": lambda: policy.problem.oracle.solve(value),
        "ordered": lambda: policy.problem.ordered(value),
    }
    if value is not None:
        calls |= {"played": lambda: policy.observe([0, 1], [0.5, 0.2], value), "mask": lambda: policy.select(value)}
    for call in calls.values():
        with pytest.raises(rb.InputError):
            call()
    assert policy.problem.oracle.is_feasible(value) is False
    assert policy.state() == before


def test_numbers_of_other_kinds_are_numbers():
    policy = started()
    policy.observe(np.array([0, 1], np.uint8), [Decimal("0.5"), np.float16(0.25)], np.array([1, 1], np.int8))
    assert policy.plays.tolist() == [1, 1, 0]
    assert policy.rebase(rb.problems.TopK(2, k=1), np.array([1, 0], np.uint64)).plays.tolist() == [1, 1]


@pytest.mark.parametrize("huge", [10**400, -(10**400), 10**5000], ids=("400 digits", "negative", "5000 digits"))
def test_numbers_of_hundreds_of_digits_are_named_by_their_size(huge):
    with pytest.raises(rb.InputError, match=r"horizon must be .* got (more|less) than -?2"):
        started().start(rb.problems.TopK(3, k=2), horizon=huge)


@pytest.mark.parametrize("index", [10**400, "0.5", None, float("nan"), [1.0, 2.0], 1j], ids=repr)
def test_an_index_that_is_no_number_is_refused(index):
    class Mine(rb.policies.IndexPolicy):
        name = "mine"

        def index(self, outcomes, t):
            return index

    policy = Mine()
    policy.start(rb.problems.TopK(1, k=1), rng=0)
    for _ in range(2):
        policy.observe(policy.select(), [0.5])
    with pytest.raises(rb.InputError, match="index must return a number, got"):
        policy.select()


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (lambda units: None, "what Mine.make_rule returns must be a NamedTuple with a registered indices"),
        (lambda units: make_window_ucb(units + 9, 5), "must be an array of 3 numbers of type int64"),
        (lambda units: make_window_ucb(units, 5)._replace(plays=np.zeros(units)), "numbers of type int64"),
    ],
)
def test_a_rule_that_an_engine_cannot_work_with_is_refused(rule, words):
    class Mine(rb.policies.BaseArmPolicy):
        name = "mine"

        def make_rule(self, n_units, problem, horizon):
            return rule(n_units)

    with pytest.raises(rb.InputError, match=words):
        Mine().start(rb.problems.TopK(3, k=2), rng=0)


def test_a_problem_for_a_saved_state_must_be_one():
    with pytest.raises(rb.InputError, match="problem must be a Problem such as"):
        rb.SWCUCB.from_state(started().state(), "a problem")  # type: ignore[arg-type]
