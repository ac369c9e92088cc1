"""Calls in one transaction, and asks with a key: the same study as call by call, and every failure is its own."""

from __future__ import annotations

import random

import pytest

import rising_bandits as rb
from rising_bandits.errors import AlreadyToldError, InputError
from rising_bandits.studies.log import fold as fold_module
from rising_bandits.studies.log import log as log_module

PROBLEM = rb.problems.ShortestPath([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("b", "c")], "a", "d")


@pytest.fixture
def storage(tmp_path):
    return f"sqlite:///{tmp_path}/studies.db"


def make(storage, name="s", **options):
    return rb.studies.create(name, PROBLEM, rb.CRUCB(sigma=0.1), storage=storage, seed=7, **options)


def outcomes(decision):
    return {label: ((decision.id * 37 + place * 11) % 101) / 101 for place, label in enumerate(decision.super_arm)}


def calls(study, rng, waiting):
    """One random call; the numbers that it draws do not depend on the study."""
    if rng.random() < 0.5 or not waiting:
        waiting.append(study.ask())
        return waiting[-1].super_arm
    decision = waiting.pop(rng.randrange(len(waiting)))
    return study.tell(decision.id, outcomes(decision))


def test_grouped_calls_give_the_same_study_as_single_ones(storage, monkeypatch):
    monkeypatch.setattr(log_module, "SNAPSHOT_EVENTS", 5)
    one, many = make(storage, "one"), make(storage, "many")
    drawn, waiting, twins = random.Random(1), [], []
    single = [calls(one, drawn, waiting) for _ in range(60)]
    drawn, grouped = random.Random(1), []
    while len(grouped) < 60:
        with many.group():
            grouped += [calls(many, drawn, twins) for _ in range(6)]
    assert grouped == single
    again = rb.studies.open("many", storage=storage)
    for study in (many, again):
        assert study.policy.indices().tolist() == one.policy.indices().tolist()
    assert again.ask().super_arm == one.ask().super_arm


def test_a_call_of_a_group_fails_alone(storage):
    study = make(storage)
    with study.group():
        first = study.ask()
        study.tell(first, outcomes(first))
        with pytest.raises(AlreadyToldError):
            study.tell(first, {first.super_arm[0]: 0.99})
        with pytest.raises(InputError):
            study.tell(77, {})
        with pytest.raises(InputError, match="inside another"), study.group():
            pass
        assert study.plays()[first.super_arm[0]] == 1
        second = study.ask()
    other = rb.studies.open("s", storage=storage)
    assert [decision.id for decision in other.open_decisions()] == [second.id]


def test_a_group_that_raises_leaves_nothing(storage):
    study = make(storage)
    before = study.ask()

    def broken():
        with study.group():
            study.tell(before, outcomes(before))
            study.ask()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        broken()
    assert [decision.id for decision in study.open_decisions()] == [1]
    assert study.ask().id == 2


def test_an_ask_with_the_key_of_an_earlier_one_returns_its_decision(storage, monkeypatch, tmp_path):
    monkeypatch.setattr(log_module, "SNAPSHOT_EVENTS", 5)
    study = make(storage)
    first = study.ask(key="one")
    study.tell(first, outcomes(first))
    several = study.ask(3, key="three")
    for _ in range(10):
        study.tell(study.ask(), {})
    study.export(tmp_path / "copy.jsonl")
    other = rb.studies.open("s", storage=storage)
    copy = rb.studies.load(tmp_path / "copy.jsonl", "copy", storage=storage)
    for opened in (study, other, copy):
        again = opened.ask(key="one")
        assert (again.id, again.super_arm) == (first.id, first.super_arm)
        assert [(same.id, same.super_arm) for same in opened.ask(3, key="three")] == [
            (same.id, same.super_arm) for same in several
        ]
        with pytest.raises(InputError, match="n must be 3"):
            opened.ask(key="three")
    assert study.ask(key="new").id == 15
    for wrong in ("", "x" * 201, "a\nb", 3):
        with pytest.raises(InputError, match="key must be"):
            study.ask(key=wrong)


def test_only_the_newest_keys_are_remembered(storage, monkeypatch):
    monkeypatch.setattr(fold_module, "KEYS_KEPT", 3)
    study = make(storage)
    first = [study.ask(key=str(number)).id for number in range(5)]
    assert [study.ask(key=str(number)).id for number in (2, 3, 4)] == first[2:]
    assert study.ask(key="0").id == 6


def test_what_was_known_at_a_decision_can_be_looked_up(storage, monkeypatch):
    monkeypatch.setattr(log_module, "SNAPSHOT_EVENTS", 5)
    study, known = make(storage), []
    for _ in range(20):
        known.append(study.arms())
        decision = study.ask()
        study.tell(decision, outcomes(decision))
    assert [study.arms(at=number) for number in range(1, 21)] == known
    assert study.decisions == 20
    with pytest.raises(InputError, match="decision must be the id"):
        study.arms(at=21)


def test_a_group_of_more_events_than_one_statement_takes_is_stored_whole(storage):
    study = make(storage)
    with study.group():
        decisions = [*study.ask(150), *(study.ask() for _ in range(150))]
        for decision in decisions[::-1]:
            study.tell(decision, outcomes(decision))
    study.close()
    again = rb.studies.open("s", storage=storage)
    told = [(decision.id, label, outcome) for decision in decisions for label, outcome in outcomes(decision).items()]
    kept = again.history()
    assert sorted(zip(kept["decision_id"], kept["arm"], kept["outcome"], strict=True)) == sorted(told)
    assert rb.studies.check(storage=storage).whole
