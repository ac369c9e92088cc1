"""What is told: once, twice, in pieces, late, wrong or too large."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from study_kit import ROADS, Clock, log_of, make, outcomes_for

import rising_bandits as rb


def test_a_decision_expires_and_its_arms_do_not_count(storage):
    clock = Clock()
    study = make(storage, expires=60, clock=clock)
    lost, kept = study.ask(2)
    clock.time += 59.9
    study.tell(kept, outcomes_for(kept))
    clock.time += 0.1
    assert study.open_decisions() == []
    with pytest.raises(rb.ExpiredError, match=r"decision 1 expired 60 s after it was asked for; its arms do not count"):
        study.tell(lost, outcomes_for(lost))
    assert study.policy.plays.sum() == len(kept.super_arm)
    # A retry of what was acknowledged in time is harmless at any time.
    assert study.tell(kept, outcomes_for(kept)) is False


def test_a_decision_that_expires_half_told_keeps_that_half(storage):
    clock = Clock()
    study = make(storage, problem=rb.problems.TopK(["a", "b"], k=2), expires=60, clock=clock)
    decision = study.ask()
    study.tell(decision, {"a": 0.5}, final=False)
    clock.time += 60
    said = r"expired 60 s .* what was told before that stands \('a': 0.5\), its other arms do not count as played"
    with pytest.raises(rb.ExpiredError, match=said):
        study.tell(decision, {"b": 0.5})
    assert study.policy.plays.tolist() == [1, 0]


def test_telling_twice(storage):
    study = make(storage)
    decision = study.ask()
    told = outcomes_for(decision)
    assert study.tell(decision.id, told) is True
    before = log_of(study)
    assert study.tell(decision.id, dict(reversed(told.items()))) is False
    for other in ({}, {decision.super_arm[0]: told[decision.super_arm[0]]}, {**told, decision.super_arm[0]: 0.123}):
        with pytest.raises(rb.AlreadyToldError, match=r"decision 1 was told before with other content"):
            study.tell(decision.id, other)
    assert log_of(study) == before


def test_feedback_in_pieces(storage):
    study = make(storage)
    decision = study.ask()
    told = outcomes_for(decision)
    first, *rest = decision.super_arm
    assert study.tell(decision, {first: told[first]}, final=False)
    assert not study.tell(decision, {first: told[first]}, final=False)
    assert study.policy.plays.sum() == 1
    with pytest.raises(rb.AlreadyToldError):
        study.tell(decision, {first: 0.999}, final=False)
    assert study.tell(decision, {label: told[label] for label in rest})
    assert study.policy.plays.sum() == len(told)
    assert study.policy.round == 2
    with pytest.raises(rb.AlreadyToldError):
        study.tell(decision, {rest[0]: 0.999})


def test_a_late_tell_that_repeats_a_piece_counts_no_arm_twice(storage):
    study = make(storage, problem=rb.problems.TopK(["a", "b", "c"], k=2), reorder=2)
    decision = study.ask()
    first, second = decision.super_arm
    study.tell(decision, {first: 0.5}, final=False)
    study.ask(5)
    assert study.tell(decision, {first: 0.5, second: 0.25})
    assert study.policy.plays.tolist() == [1, 1, 0]
    assert study.policy.round == 2
    table = study.history()
    assert table["arm"].tolist() == [first, second]
    assert not study.tell(decision, {first: 0.5, second: 0.25})
    assert rb.studies.open("s", storage=storage).policy.plays.tolist() == [1, 1, 0]


@pytest.mark.parametrize("how", ["reset", "leave and return"])
def test_a_late_tell_does_not_count_for_an_arm_that_began_anew(storage, how):
    problem = rb.problems.TopK(["a", "b", "c"], k=2)
    study = make(storage, problem=problem, reorder=2)
    decision = study.ask()
    first, second = decision.super_arm
    if how == "reset":
        study.reset([first])
    else:
        study.set_problem(rb.problems.TopK([label for label in problem.labels if label != first], k=1))
        study.set_problem(problem)
    study.ask(5)
    # Also from a snapshot it is known when an arm began.
    study._log._snapshot_seq = -(10**9)
    study.restore([first])
    study = rb.studies.open("s", storage=storage)
    assert study.tell(decision.id, {first: 0.9, second: 0.8})
    plays = dict(zip(problem.labels, study.policy.plays.tolist(), strict=True))
    assert (plays[first], plays[second]) == (0, 1)
    rows = study.history().set_index("arm")
    assert rows.loc[first, "forgotten"]
    assert not rows.loc[second, "forgotten"]
    assert rows.loc[first, "outcome"] == 0.9


def test_tells_of_one_transaction_push_each_other_beyond_the_limit(storage):
    study = make(storage, problem=rb.problems.TopK(["a", "b", "c"], k=2), reorder=2)
    one, two, three = study.ask(3)
    told = [(one, outcomes_for(one)), (two, outcomes_for(two)), (three, outcomes_for(three))]
    assert study.tell_many(told) == [True, True, True]
    assert study.policy.plays.sum() == 6
    assert rb.studies.open("s", storage=storage).policy.round == 4


def test_a_decision_of_another_study_is_refused(storage):
    one, other = make(storage, name="one"), make(storage, name="other")
    decision = one.ask()
    other.ask()
    with pytest.raises(rb.InputError, match="decision must be one of study 'other', got one of 'one'"):
        other.tell(decision, {})
    assert rb.studies.open("one", storage=storage).tell(decision, {})


def test_several_tells_count_together_or_not_at_all(storage):
    study = make(storage)
    one, two = study.ask(2)
    before = log_of(study)
    with pytest.raises(rb.InputError, match=r"outcome of"):
        study.tell_many([(one, outcomes_for(one)), (two, {two.super_arm[0]: math.nan})])
    with pytest.raises(rb.AlreadyToldError):
        study.tell_many([(one, outcomes_for(one)), (one, {})])
    assert log_of(study) == before
    assert study.policy.plays.sum() == 0
    assert study.tell_many([(one, outcomes_for(one)), (two, outcomes_for(two)), (one, outcomes_for(one))]) == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize("reports", [[1], 5, None, "ab", {1: {}}, [(1, {}, 2)], [(1,)], ["ab"], [{1: 2, 3: 4}]])
def test_what_is_no_report_is_refused(storage, reports):
    study = make(storage)
    study.ask()
    before = log_of(study)
    with pytest.raises(rb.InputError, match="must be"):
        study.tell_many(reports)
    assert log_of(study) == before
    assert study.tell_many([]) == []


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(["a->b", "b->d", "a->c", ("a", "b"), "c->d", 0]) | st.text(max_size=4) | st.integers()


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    number=st.integers(-2, 5) | ANYTHING,
    payload=st.dictionaries(KEYS, st.floats() | st.integers(-1, 2) | ANYTHING, max_size=4) | ANYTHING,
)
def test_whatever_is_told_is_right_or_refused_without_a_trace(fuzzed, number, payload):
    study = fuzzed
    before, indices = log_of(study), study.indices().tolist()
    try:
        study.tell(number, payload)
    except rb.InputError:
        assert log_of(study) == before
        assert study.indices().tolist() == indices
        return
    assert isinstance(payload, dict)
    added = log_of(study)[len(before) :]
    assert len(added) <= 1
    for event in added:
        assert all(isinstance(raw, float) and 0 <= raw <= 1 for raw in event.body["raw"])
        assert event.decision == number


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory):
    study = make(f"sqlite:///{tmp_path_factory.mktemp('fuzz')}/studies.db")
    study.ask(4)
    return study


@pytest.mark.parametrize(
    ("number", "payload", "message"),
    [
        (9, {}, "decision must be the id of a decision of study 's', from 1 to 1; got 9"),
        ("1", {}, "got '1'"),
        (True, {}, "got True"),
        (1, {"x->y": 0.5}, "label must be one of the problem's arms"),
        (1, {"a->c": 0.5}, "outcomes must be of the arms of decision 1 .* got 'a->c'"),
        (1, {"a->b": math.nan}, r"outcome of 'a->b' must be a number in \[0, 1\], got nan"),
        (1, {"a->b": 1.01}, r"outcome of 'a->b' must be a number in \[0, 1\], got 1.01"),
        (1, {"a->b": "fast"}, "got 'fast'"),
        (1, {"a->b": True}, "got True"),
        (1, {"a->b": 0.5, ("a", "b"): 0.5}, "each arm once"),
        (1, [0.5], "outcomes must be a mapping"),
    ],
)
def test_what_is_wrong_is_said(storage, number, payload, message):
    study = make(storage, problem=rb.problems.ShortestPath(ROADS[:4], "a", "d"))
    assert study.ask().super_arm == ["a->b", "b->d"]
    before = log_of(study)
    with pytest.raises(rb.InputError, match=message):
        study.tell(number, payload)
    assert log_of(study) == before


def test_all_the_pieces_of_a_closed_decision_in_one_are_no_news(storage):
    study = make(storage, problem=rb.problems.TopK(["a", "b"], k=2))
    decision = study.ask()
    assert study.tell(decision, {"a": 0.5}, final=False)
    assert study.tell(decision, {"b": 0.6})
    assert not study.tell(decision, {"a": 0.5, "b": 0.6})
    with pytest.raises(rb.AlreadyToldError):
        study.tell(decision, {"a": 0.5, "b": 0.7})
    assert study.policy.plays.tolist() == [1, 1]


def test_numbers_too_large_for_a_float_are_refused(storage):
    study = make(storage)
    decision = study.ask()
    with pytest.raises(rb.InputError, match="too large for a float"):
        study.tell(decision, {decision.super_arm[0]: 10**400})
