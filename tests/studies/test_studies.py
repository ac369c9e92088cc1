"""Studies: what is learnt depends on what was told, not on when; bad input leaves no trace; scales; arms that move."""

from __future__ import annotations

import contextlib
import json
import math
import random
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rising_bandits as rb
from rising_bandits.studies import Decay, Inverse, Log, Range, Reciprocal
from rising_bandits.studies.log import arms as study_arms
from rising_bandits.studies.log import log as study_log
from rising_bandits.studies.storage import sql as storage_module

ROADS = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("b", "c")]
PROBLEM = rb.problems.ShortestPath(ROADS, "a", "d")
POLICIES = {
    "crucb": lambda: rb.CRUCB(sigma=0.1),
    "coarse": lambda: rb.CRUCB(sigma=0.1, resolution=4),
    "horizon": lambda: rb.HorizonCRUCB(sigma=0.1, ahead=100),
    "measuring": lambda: rb.HorizonCRUCB(ahead=100),
    "sw-cucb": lambda: rb.SWCUCB(window=4),
    "sw-cts": lambda: rb.SWCTS(window=4),
    "sw-ucb": lambda: rb.SWUCB(window=4),
    "r-ed-ucb": lambda: rb.RedUCB(sigma=0.1),
    "random": rb.Random,
}
SMALLER = rb.problems.ShortestPath([road for road in ROADS if road != ("b", "c")], "a", "d")
ARMS = [label for label in PROBLEM.labels if label in SMALLER.labels]
QUICK = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


class Clock:
    def __init__(self):
        self.time = 1_000_000.0

    def __call__(self):
        return self.time


@pytest.fixture
def storage(tmp_path):
    return f"sqlite:///{tmp_path}/studies.db"


def make(storage, policy=None, problem=PROBLEM, name="s", **options):
    return rb.studies.create(name, problem, policy or rb.CRUCB(sigma=0.1), storage=storage, seed=7, **options)


def outcomes_for(decision, salt=0):
    """Outcomes that differ for all decisions and arms."""
    return {
        label: ((decision.id * 37 + place * 11 + salt) % 101) / 101 for place, label in enumerate(decision.super_arm)
    }


def log_of(study):
    """Every line of the log, as the database has it."""
    with study._log.storage.read() as reader:
        return list(reader.later(study._log.number, 0))


def test_the_contract_of_the_spec_word_for_word(storage):
    study = rb.studies.create("routes", PROBLEM, rb.CRUCB(sigma=0.05), storage=storage)
    study = rb.studies.open("routes", storage=storage)
    decision = study.ask()
    assert study.tell(decision.id, dict.fromkeys(decision.super_arm, 0.5))
    table = study.history()
    assert {"decision_id", "arm", "play", "outcome"} <= set(table.columns)
    assert table["arm"].tolist() == decision.super_arm
    assert "plays" in str(decision.explain())


@pytest.mark.parametrize("name", POLICIES)
def test_decisions_are_those_of_the_policy_itself(storage, name):
    """One at a time, a study decides as the bare policy does with the same generators."""
    study = make(storage, POLICIES[name]())
    plain = POLICIES[name]()
    plain.start(PROBLEM)
    for number in range(1, 41):
        plain.rng = np.random.default_rng(np.random.SeedSequence([7, number]))
        arms = plain.select()
        decision = study.ask()
        assert decision.id == number
        assert decision.super_arm == PROBLEM.labels_of(PROBLEM.ordered(arms))
        told = outcomes_for(decision)
        study.tell(decision.id, told)
        plain.observe(arms, [told[label] for label in PROBLEM.labels_of(arms)])
        if number % 10 == 0:
            study = rb.studies.open("s", storage=storage)
    plain.rng = np.random.default_rng(np.random.SeedSequence([7, 41]))
    assert study.indices().tolist() == plain.indices().tolist()


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.integers(1, 3)),
        st.tuples(st.just("tell"), st.integers(0, 30), st.integers(0, 15)),
        st.tuples(st.just("piece"), st.integers(0, 30), st.integers(0, 15)),
        st.tuples(st.just("wait"), st.integers(1, 6)),
        st.tuples(st.just("reset"), st.integers(0, 3)),
        st.tuples(st.just("problem"), st.booleans()),
        st.tuples(st.just("reopen")),
        st.tuples(st.just("snapshot")),
    ),
    min_size=5,
    max_size=60,
)


class Model:
    """The documented rule in its plainest form: a line of decisions, and a policy that is told in that order."""

    def __init__(self, reorder):
        self.reorder, self.gone, self.line, self.at = reorder, [], [], {}
        self.time, self.began, self.problem = 0, {}, PROBLEM

    def ask(self, decision):
        self.time += 1
        self.at[decision.id] = slot = {"decision": decision, "told": None, "closed": False, "round": True}
        slot |= {"time": self.time, "all": {}, "off": set()}
        self.line.append(slot)
        self.move()

    def control(self, problem, begun):
        """The arms in ``begun`` begin anew, on a problem."""
        self.time += 1
        self.began.update(dict.fromkeys(begun, self.time))
        self.line.append({"problem": problem, "begun": set(begun), "closed": True})
        self.problem = problem
        self.move()

    def tell(self, decision, told, final):
        slot = self.at[decision.id]
        if any(slot is other for other in self.line):
            slot["told"] = {**(slot["told"] or {}), **told}
            slot["closed"] = final
        else:
            first = not slot.get("late") and slot["told"] is None
            past = {label for label in decision.super_arm if self.began.get(label, 0) > slot["time"]}
            news = {label: value for label, value in told.items() if label not in slot["all"] and label not in past}
            self.line.append({"decision": decision, "told": news, "closed": True, "round": first, "off": past})
            slot["late"] = True
        slot["all"] |= told
        self.move()

    def move(self):
        while self.line and (self.line[0]["closed"] or len(self.line) > self.reorder):
            self.gone.append(self.line.pop(0))

    def policy(self, policy):
        policy.start(PROBLEM)
        for slot in self.gone + self.line:
            here = policy.problem
            if "problem" in slot:
                known = [label if label not in slot["begun"] else None for label in slot["problem"].labels]
                origin = [here.index(label) if label in here.labels else -1 for label in known]
                policy = policy.rebase(slot["problem"], origin)
            elif slot["told"] is not None:
                told = {label: value for label, value in slot["told"].items() if label in here.labels}
                labels = [label for label in slot["decision"].super_arm if label in here.labels]
                labels = sorted(set(labels) - slot["off"], key=here.index)
                if slot["round"]:
                    labels.sort(key=lambda label: label not in told)
                    arms = np.array([here.index(label) for label in labels], dtype=np.int64)
                    policy._take_in(arms, np.array([told.get(label, 0.0) for label in labels]), len(told))
                else:
                    for label in sorted(told, key=here.index):
                        policy.absorb(here.index(label), np.array([told[label]]))
        return policy


def run_steps(storage, steps, policy, reorder):
    """Drive a study by generated steps beside the model; both see only what the study accepted."""
    clock, model = Clock(), Model(reorder)
    rb.studies.delete("s", storage=storage)
    study = make(storage, policy(), reorder=reorder, expires=timedelta(seconds=10), clock=clock)
    asked, closed, pieces = [], set(), {}
    for step in steps:
        if step[0] == "ask":
            before = study.indices().tolist()
            for decision in study.ask(step[1]):
                asked.append(decision)
                model.ask(decision)
            # Asking teaches nothing (samples aside, which are drawn for the next decision).
            assert isinstance(study.policy, rb.SWCTS) or study.indices().tolist() == before
        elif step[0] == "wait":
            clock.time += step[1]
        elif step[0] == "reopen":
            study = rb.studies.open("s", storage=storage, clock=clock)
        elif step[0] == "snapshot":
            study._log._snapshot_seq = -(10**9)
        elif step[0] == "reset":
            study.reset([ARMS[step[1]]])
            model.control(model.problem, [ARMS[step[1]]])
        elif step[0] == "problem":
            problem = SMALLER if step[1] else PROBLEM
            study.set_problem(problem)
            model.control(problem, set(problem.labels) - set(model.problem.labels))
        elif asked:
            final = step[0] == "tell"
            decision = asked[step[1] % len(asked)]
            some = {
                label: value
                for place, (label, value) in enumerate(outcomes_for(decision).items())
                if step[2] >> place & 1
            }
            expired = clock.time >= decision.expires_at
            told = pieces.setdefault(decision.id, [])
            whole = {label: value for part in told for label, value in part.items()}
            if decision.id in closed and some == whole:
                # All the pieces of a closed decision in one.
                assert study.tell(decision.id, some, final=final) is False
            elif some in told and (decision.id in closed or not final):
                assert study.tell(decision.id, some, final=final) is False
            elif decision.id in closed:
                with pytest.raises(rb.AlreadyToldError):
                    study.tell(decision.id, some, final=final)
            elif expired:
                with pytest.raises(rb.ExpiredError):
                    study.tell(decision.id, some, final=final)
            else:
                assert study.tell(decision.id, some, final=final) is True
                told.append(some)
                if final:
                    closed.add(decision.id)
                model.tell(decision, some, final)
    wanted = model.policy(policy())
    for seen in (study, rb.studies.open("s", storage=storage, clock=clock)):
        found = seen.policy
        wanted.rng = found.rng = np.random.default_rng(1)
        assert seen.plays() == dict(zip(wanted.problem.labels, wanted.plays.tolist(), strict=True))
        assert found.plays.tolist() == wanted.plays.tolist()
        assert found.round == wanted.round
        assert found.indices().tolist() == wanted.indices().tolist()


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    storage = f"sqlite:///{tmp_path_factory.mktemp('property')}/studies.db"
    make(storage)
    return storage


@pytest.mark.parametrize("name", ["crucb", "coarse", "horizon", "measuring", "sw-cucb", "sw-cts"])
@QUICK
@given(steps=STEPS)
def test_any_interleaving_leaves_what_the_same_tells_in_order_leave(shared, name, steps):
    run_steps(shared, steps, POLICIES[name], reorder=1_000)


@QUICK
@given(steps=STEPS, reorder=st.integers(1, 6))
def test_beyond_the_reorder_limit_a_tell_counts_where_it_arrives(shared, steps, reorder):
    run_steps(shared, steps, POLICIES["crucb"], reorder=reorder)


def test_super_arm_policies_are_told_in_order_too(storage):
    study, plain = make(storage, rb.SWUCB(window=3)), rb.SWUCB(window=3)
    plain.start(PROBLEM)
    decisions = study.ask(8)
    for decision in reversed(decisions):
        study.tell(decision, outcomes_for(decision))
    for decision in decisions:
        arms = np.sort(PROBLEM.arms_of(decision.super_arm))
        plain.observe(arms, [outcomes_for(decision)[label] for label in PROBLEM.labels_of(arms)])
    assert study.indices().tolist() == plain.indices().tolist()


def test_decisions_can_be_kept_in_sets(storage):
    study = make(storage)
    held = {*study.ask(3), *study.open_decisions()}
    assert sorted(decision.id for decision in held) == [1, 2, 3]


def test_imported_plays_are_the_newest_and_count_each_time(storage):
    study = make(storage, problem=rb.problems.TopK(["a"], k=1))
    study.tell(study.ask(), {"a": 0.5})
    for _ in range(2):
        study.import_plays([("a", 0, 0.25)])
    assert study.history()["outcome"].tolist() == [0.5, 0.25, 0.25]
    assert study.policy.plays.tolist() == [3]
    assert study.plays() == {"a": 3}


def test_open_decisions_cover_different_arms(storage):
    study = make(storage, problem=rb.problems.TopK(8, k=2))
    arms = [label for decision in study.ask(8) for label in decision.super_arm]
    assert sorted(arms) == sorted(2 * list(range(8)))
    assert len(study.open_decisions()) == 8


def recounted(study, count, now):
    """The next decisions by the obvious way: list what is open from the log alone, count it anew for each of them."""
    fresh = rb.studies.open("s", storage=str(study._log.storage.url), clock=lambda: now)
    with fresh._log.look() as (fold, _):
        policy, problem, keys = fold.live.policy.copy(), fold.arms.problem, fold.arms.keys
        since, first = now - fresh.settings.expires, fold.decisions + 1
        held = [entry for entry in fold.waiting.values() if entry.values is None and entry.asked_at > since]
        held = [np.array(sorted(keys.index(key) for key in entry.arms if key in keys)) for entry in held]
        held = [arms for arms in held if arms.size and problem.oracle.is_feasible(arms)]

    def expected():
        plays = policy.plays
        for arms in held:
            units = [list(map(bytes, policy._sets)).index(bytes(arms))] if isinstance(policy, rb.SWUCB) else arms
            plays[units] += 1
        return plays

    policy._expected = expected
    chosen = []
    for number in range(first, first + count):
        policy.rng = fresh.settings.rng(number)
        held.append(policy.select(underway=list(held)))
        chosen.append(problem.labels_of(problem.ordered(held[-1])))
    return chosen


@pytest.mark.parametrize("name", ["crucb", "sw-ucb"])
@QUICK
@given(steps=STEPS)
def test_decisions_are_those_of_counting_everything_open_anew(shared, name, steps):
    clock = Clock()
    rb.studies.delete("s", storage=shared)
    study = make(shared, POLICIES[name](), reorder=20, expires=timedelta(seconds=10), clock=clock)
    asked = []
    for step in steps:
        if step[0] == "ask":
            wanted = recounted(study, step[1], clock.time)
            decisions = study.ask(step[1])
            assert [decision.super_arm for decision in decisions] == wanted
            asked += decisions
        elif step[0] == "wait":
            clock.time += step[1]
        elif step[0] == "reset":
            study.reset([ARMS[step[1]]])
        elif step[0] == "problem":
            study.set_problem(SMALLER if step[1] else PROBLEM)
        elif step[0] == "reopen":
            study = rb.studies.open("s", storage=shared, clock=clock)
        elif step[0] == "snapshot":
            study._log._snapshot_seq = -(10**9)
        elif asked:
            decision = asked[step[1] % len(asked)]
            with contextlib.suppress(rb.InputError):
                study.tell(decision, outcomes_for(decision), final=step[0] == "tell")


def test_what_is_open_is_looked_at_once(storage, monkeypatch):
    """Feasibility is slow to find out: once per open decision and problem, not at every ask; nor for each of many."""
    study = make(storage, problem=rb.problems.TopK(60, k=2))
    looked = []
    oracle = type(study.problem.oracle)
    monkeypatch.setattr(oracle, "is_feasible", lambda _, arms: looked.append(arms) is None)
    study.ask(20)
    study.ask()
    assert looked == []
    study.set_problem(rb.problems.TopK(61, k=2))
    for _ in range(5):
        study.ask(5)
    assert len(looked) == 21


def test_what_was_told_is_put_in_order_once(storage, monkeypatch):
    """A tell out of order makes the policy learn later ones again, which must not prepare them again."""
    study = make(storage)
    decisions = study.ask(30)
    prepared = []
    ascending = study_arms.Arms.ascending
    monkeypatch.setattr(study_arms.Arms, "ascending", lambda self, keys: prepared.append(keys) or ascending(self, keys))
    for decision in decisions[::-1]:
        study.tell(decision, outcomes_for(decision))
        assert study.policy.round > 1
    assert len(prepared) == 30


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


def test_open_decisions_beyond_the_limit_are_counted(storage):
    study = make(storage, problem=rb.problems.TopK(["a", "b", "c"], k=2), reorder=3)
    held = study.ask(8)
    assert (len(study.open_decisions()), study.unlisted) == (3, 5)
    study.tell(held[0], {"a": 0.5}, final=False)
    assert (len(study.open_decisions()), study.unlisted) == (2, 6)
    study.tell(held[0], {"a": 0.5})
    study.tell(held[7], {})
    study._log._snapshot_seq = -(10**9)
    study.restore(["a"])
    opened = rb.studies.open("s", storage=storage)
    assert [(len(seen.open_decisions()), seen.unlisted) for seen in (study, opened)] == [(0, 6), (0, 6)]
    assert study.tell_many([(decision, {}) for decision in held[1:7]]) == [True] * 6
    assert study.unlisted == 0


def test_a_decision_of_another_study_is_refused(storage):
    one, other = make(storage, name="one"), make(storage, name="other")
    decision = one.ask()
    other.ask()
    with pytest.raises(rb.InputError, match="decision must be one of study 'other', got one of 'one'"):
        other.tell(decision, {})
    assert rb.studies.open("one", storage=storage).tell(decision, {})


@pytest.mark.parametrize(
    "error", [rb.StorageError("there is no space left"), TypeError("no such state"), MemoryError()]
)
def test_a_snapshot_that_cannot_be_kept_does_not_fail_a_tell(storage, monkeypatch, error):
    study = make(storage)
    decision = study.ask()
    study._log._snapshot_seq = -(10**9)

    def fail(*_):
        raise error

    monkeypatch.setattr(storage_module.Writer, "keep_snapshot", fail)
    assert study.tell(decision, outcomes_for(decision)) is True
    assert rb.studies.open("s", storage=storage).policy.plays.sum() == len(decision.super_arm)


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


def test_other_names_of_an_arm_are_understood(storage):
    study = make(storage, problem=rb.problems.ShortestPath(ROADS[:4], "a", "d"))
    assert study.tell(study.ask(), {("a", "b"): 0.5, "b->d": 0.25})
    assert study.policy.plays.tolist() == [1, 0, 1, 0]


def test_labels_of_every_plain_kind_survive(storage):
    labels = ["text", 3, ("pair", 1), 2.5, None]
    study = make(storage, problem=rb.problems.TopK(labels, k=5))
    assert study.tell(study.ask(), dict.fromkeys(labels, 0.5))
    assert rb.studies.open("s", storage=storage).ask().super_arm == labels


SCALES = [
    Range(0, 200, lower_is_better=True, unit="ms"),
    Range(-5, 5),
    Log(1, 1000, lower_is_better=True, unit="ms"),
    Log(0.5, 8),
    Decay(half=50, unit="ms"),
    Inverse(half=50, unit="ms"),
    Reciprocal(best=0.5, unit="ms"),
]


@pytest.mark.parametrize("scale", SCALES, ids=repr)
@given(share=st.floats(0, 1), other=st.floats(0, 1))
def test_scales_are_monotone_and_come_back(scale, share, other):
    low, high = scale.domain
    high = min(high, 400.0)
    one, two = (low + part * (high - low) for part in (share, other))
    (raw, value), (_, second) = scale.value(one), scale.value(two)
    assert raw == one
    assert 0 <= value <= 1
    assert scale.outcome(value) == pytest.approx(one, rel=1e-6, abs=1e-6)
    better = one < two if scale.lower_is_better else one > two
    assert value >= second if better else second >= value
    assert rb.studies.scales.scale_from_spec(json.loads(json.dumps(scale.spec()))) == scale


@pytest.mark.parametrize("scale", SCALES, ids=repr)
def test_outcomes_are_in_the_users_unit_everywhere(storage, scale):
    study = make(storage, scale=scale)
    decision = study.ask()
    told = {label: 1.0 + place for place, label in enumerate(decision.super_arm)}
    study.tell(decision, told)
    table = study.history()
    assert dict(zip(table["arm"], table["outcome"], strict=True)) == told
    assert table["value"].tolist() == [scale.value(outcome)[1] for outcome in table["outcome"]]
    wrong = scale.domain[0] - 1
    with pytest.raises(rb.InputError, match=f"outcome of .* got {wrong}"):
        study.tell(study.ask(), {study.open_decisions()[0].super_arm[0]: wrong})


@pytest.mark.parametrize(
    "bad",
    [lambda: Range(1, 1), lambda: Range(math.nan, 1), lambda: Log(0, 1), lambda: Decay(half=0), lambda: Log(2, 1)],
)
def test_bad_scales_are_refused(bad):
    with pytest.raises(rb.InputError):
        bad()


def test_masks_hold_for_one_decision_and_retirement_until_restored(storage):
    study = make(storage)
    for _ in range(5):
        assert "a->b" not in study.ask(unavailable=["a->b"]).super_arm
    with pytest.raises(rb.InfeasibleError):
        study.ask(unavailable=["a->b", "a->c"])
    study.retire([("a", "c")])
    assert study.retired == ["a->c"]
    again = rb.studies.open("s", storage=storage)
    assert all("a->c" not in decision.super_arm for decision in again.ask(5))
    with pytest.raises(rb.InputError, match=r"leave a feasible super arm"):
        study.retire(["a->b"])
    study.restore(["a->c"])
    assert study.retired == []
    with pytest.raises(rb.InputError, match=r"unavailable must be a list of labels"):
        study.ask(unavailable="a->b")


def absorbed(problem, policy, plays, rounds):
    """The policy that has taken in these plays of each arm and nothing else."""
    policy.start(problem)
    for label, outcomes in plays.items():
        policy.absorb(problem.index(label), np.array(outcomes))
    policy._pass_rounds(rounds)
    return policy


@pytest.mark.parametrize("name", ["crucb", "coarse", "horizon", "sw-cucb"])
def test_reset_new_problem_and_import_have_their_place_in_the_order(storage, name):
    """A late tell of an old decision belongs before the reset; a decision asked for after it belongs after."""
    study = make(storage, POLICIES[name]())
    plays = {label: [] for label in PROBLEM.labels}
    rounds = 0

    def tell(decision, keep=True):
        nonlocal rounds
        told = outcomes_for(decision)
        study.tell(decision, told)
        rounds += 1
        for label, outcome in told.items():
            if keep and label in plays:
                plays[label].append(outcome)

    for _ in range(20):
        tell(study.ask())
    late, later = study.ask(2)
    victim = late.super_arm[0]
    study.reset([victim])
    plays[victim] = []
    tell(study.ask())
    told = outcomes_for(late)
    study.tell(late, told)
    rounds += 1
    expected = {label: list(outcomes) for label, outcomes in plays.items()}
    problem = rb.problems.ShortestPath([*ROADS, ("a", "d", "direct")], "a", "d")
    study.set_problem(problem)
    assert study.problem.labels[-1] == "direct"
    assert study.import_plays([("direct", 0, 0.25), ("direct", 1, 0.5)]) == 2
    rounds += 2
    # The late tell came before the decision that was told first, for all arms that both hold.
    table = study.history()
    for label in PROBLEM.labels:
        after = table[(table["arm"] == label) & ~table["forgotten"]]
        expected[label] = after["value"].tolist()
        assert after["play"].tolist() == list(range(1, len(after) + 1))
    assert len(expected[victim]) <= 1
    wanted = absorbed(problem, POLICIES[name](), {**expected, "direct": [0.25, 0.5]}, rounds)
    for seen in (study, rb.studies.open("s", storage=storage)):
        assert seen.indices().tolist() == wanted.indices().tolist()
        assert seen.policy.round == wanted.round
    # Still open across all of that; its arms that were reset meanwhile are the old ones.
    assert study.tell(later, outcomes_for(later))


def test_arms_that_are_gone_begin_anew_when_they_return(storage):
    study = make(storage, problem=rb.problems.TopK(["x", "y"], k=1))
    for _ in range(6):
        decision = study.ask()
        study.tell(decision, outcomes_for(decision))
    (pending,) = study.ask(1)
    study.set_problem(rb.problems.TopK([label for label in ("x", "y") if label != pending.super_arm[0]], k=1))
    assert study.policy.plays.size == 1
    assert study.tell(pending, {pending.super_arm[0]: 0.5})
    study.set_problem(rb.problems.TopK(["y", "x"], k=1))
    assert study.policy.plays[study.problem.index(pending.super_arm[0])] == 0
    assert study.ask().super_arm == pending.super_arm


def test_super_arm_policies_refuse_what_has_no_meaning_for_them(storage):
    study = make(storage, rb.SWUCB(window=5))
    before = log_of(study)
    with pytest.raises(rb.InputError, match=r"SWUCB cannot learn plays of single base arms"):
        study.import_plays([("a->b", 0, 0.5)])
    assert log_of(study) == before
    study.tell(study.ask(), {})
    study.reset(["a->b"])
    assert study.policy.plays.sum() == 0


def test_a_policy_and_a_problem_of_ones_own(storage):
    class Latest(rb.IndexPolicy):
        name = "latest"

        def index(self, outcomes, t):
            return outcomes[-1]

    class Either(rb.oracles.SuperArmOracle):
        n_arms, max_size = 3, 2

        def best(self, weights):
            return [0] if weights[0] > weights[1] + weights[2] else [1, 2]

        def is_feasible(self, arms):
            return sorted(arms) in ([0], [1, 2])

    problem = rb.Problem(Either(), labels=["solo", "left", "right"])
    study = rb.studies.create("own", problem, Latest(), storage=storage, seed=1)
    study._log._snapshot_seq = -(10**9)
    decisions = study.ask(3)
    for decision in reversed(decisions):
        study.tell(decision, outcomes_for(decision))
    with pytest.raises(rb.InputError, match=r"policy must be passed .* your own class Latest"):
        rb.studies.open("own", storage=storage, problem=problem)
    with pytest.raises(rb.InputError, match=r"problem must be passed to open"):
        rb.studies.open("own", storage=storage, policy=Latest)
    with pytest.raises(rb.InputError, match=r"policy must be a Latest"):
        rb.studies.open("own", storage=storage, policy=rb.CRUCB(), problem=problem)
    again = rb.studies.open("own", storage=storage, policy=Latest, problem=problem)
    assert again.indices().tolist() == study.indices().tolist()
    study.reset(["left"])
    assert np.isinf(study.indices()).tolist() == [False, True, False]


def test_what_a_reward_of_ones_own_fails_on_is_not_written(storage):
    """Else no process could read the log again."""
    reward = rb.Reward("slow", lambda values: 1.0 + math.log(values.min()))
    problem = rb.problems.Explicit([["a"], ["b"]], reward=reward)
    study = make(storage, rb.SWUCB(window=10), problem=problem)
    first, second = study.ask(2)
    study.tell(first, dict.fromkeys(first.super_arm, 0.9))
    with pytest.raises(ValueError, match="math domain error"):
        study.tell(second, dict.fromkeys(second.super_arm, 0.0))
    assert study.policy.round == 2
    again = rb.studies.open("s", storage=storage, problem=problem)
    assert again.indices().tolist() == study.indices().tolist()
    assert again.tell(second.id, dict.fromkeys(second.super_arm, 0.5))
    assert study.policy.round == again.policy.round == 3


def test_a_snapshot_of_another_version_of_policies_is_read_past(storage, monkeypatch):
    from rising_bandits.policies import saving

    monkeypatch.setattr(study_log, "SNAPSHOT_EVENTS", 4)
    study = make(storage)
    for _ in range(6):
        study.tell(decision := study.ask(), outcomes_for(decision))
    monkeypatch.setattr(saving, "_READABLE", (99,))
    again = rb.studies.open("s", storage=storage)
    assert again.indices().tolist() == study.indices().tolist()


def test_a_second_problem_with_code_is_refused_because_the_log_could_not_be_read_again(storage):
    def mine(k, pick):
        return rb.Problem(rb.oracles.KSubsets(3, k), rb.Reward("mine", pick), ["x", "y", "z"])

    one, two = mine(1, lambda values: float(values.sum())), mine(2, lambda values: float(values.max()))
    study = make(storage, problem=one)
    study.tell(first := study.ask(), outcomes_for(first))
    with pytest.raises(rb.InputError, match="problem must not be a second one that contains your own code"):
        study.set_problem(two)
    assert len(study.ask().super_arm) == 1
    # Data, and back to the same one, is fine; and who opens the study says which problem it is.
    study.set_problem(rb.problems.TopK(["x", "y", "z"], k=2))
    assert len(study.ask().super_arm) == 2
    study.set_problem(one)
    assert len(study.ask().super_arm) == 1
    again = rb.studies.open("s", storage=storage, problem=two)
    assert len(again.ask().super_arm) == 2
    assert again.policy.plays.sum() == 1


def test_a_problem_with_code_may_follow_one_without(storage):
    problem = rb.Problem(rb.oracles.KSubsets(2, 1), rb.Reward("mine", lambda values: float(values.sum())), ["x", "y"])
    study = make(storage, problem=rb.problems.TopK(["x", "y"], k=2))
    study.set_problem(problem)
    assert len(rb.studies.open("s", storage=storage, problem=problem).ask().super_arm) == 1


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_outcomes_of_arms_with_numbers_or_tuples_for_labels_come_back_from_a_file(storage, tmp_path, suffix):
    import pandas as pd

    problem = rb.problems.TopK([0, ("a", "b"), "c"], k=3)
    study = make(storage, problem=problem)
    study.tell(first := study.ask(), dict.fromkeys(first.super_arm, 0.5))
    path = study.export_history(tmp_path / f"history.{suffix}")
    table = pd.read_parquet(path) if suffix == "parquet" else pd.read_json(path, lines=True, dtype={"arm": str})
    other = make(storage, problem=problem, name="other")
    assert other.import_plays(table) == 3
    assert other.policy.plays.tolist() == [1, 1, 1]


def test_an_arm_that_no_super_arm_holds_is_never_waited_for(storage):
    problem = rb.Problem(rb.oracles.ExplicitSets([[0], [1]], n_arms=3), labels=["a", "b", "c"])
    study = make(storage, problem=problem)
    assert study.indices().tolist() == [math.inf, math.inf, 1.0]
    before = study.indices().tolist()
    study.ask(6)
    assert study.indices().tolist() == before


def test_names_open_delete(storage):
    with pytest.raises(rb.InputError, match=r"storage must exist to be opened"):
        rb.studies.open("one", storage=storage)
    study = make(storage, name="one")
    make(storage, name="two")
    assert rb.studies.names(storage=storage) == ["one", "two"]
    with pytest.raises(rb.InputError, match=r"name must be new, but there is a study 'one'"):
        make(storage, name="one")
    assert rb.studies.create("one", PROBLEM, rb.CRUCB(), storage=storage, exist_ok=True).settings.seed == 7
    with pytest.raises(
        rb.InputError, match=r"name must be one of the studies of the storage .'one', 'two'., got 'three'"
    ):
        rb.studies.open("three", storage=storage)
    rb.studies.delete("one", storage=storage)
    assert rb.studies.names(storage=storage) == ["two"]
    with pytest.raises(rb.RisingBanditsError):
        study.ask()


def test_a_scale_that_could_not_be_opened_again_is_refused(tmp_path):
    class Mine(Range):
        def _to(self, outcome):
            return outcome**2

    with pytest.raises(rb.InputError, match=r"scale must be one of Range, Log, .* got .*Mine\("):
        make(f"sqlite:///{tmp_path}/x.db", scale=Mine())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"storage": "mysql://x/y"}, "storage must be a URL"),
        ({"storage": "sqlite://"}, "storage must be a URL"),
        ({"storage": 3}, "storage must be a URL"),
        ({"name": ""}, "name must be a text"),
        ({"policy": "crucb"}, "policy must be a Policy"),
        ({"problem": [1, 2]}, "problem must be a Problem"),
        ({"scale": (0, 1)}, "scale must be a Scale"),
        ({"expires": -1}, "expires must be a timedelta or a positive number"),
        ({"reorder": 0}, "reorder must be an integer from 1"),
        ({"seed": -1}, "seed must be"),
        ({"policy": rb.SWCUCB()}, "window must be given"),
    ],
)
def test_bad_settings_are_refused_before_anything_is_written(tmp_path, wrong, message):
    good = {"name": "s", "problem": PROBLEM, "policy": rb.CRUCB(), "storage": f"sqlite:///{tmp_path}/x.db"}
    with pytest.raises(rb.InputError, match=message):
        rb.studies.create(**{**good, **wrong})
    assert list(tmp_path.iterdir()) == []


def test_snapshots_are_few_and_change_nothing(storage, monkeypatch):
    monkeypatch.setattr(study_log, "SNAPSHOT_EVENTS", 10)
    monkeypatch.setattr(study_log, "_BYTES_PER_EVENT", 10**9)
    study = make(storage, rb.SWCTS(window=5))
    held = []
    for _ in range(60):
        decision, other = study.ask(2)
        held.append(other)
        study.tell(decision, outcomes_for(decision))
    for decision in held[::-1]:
        study.tell(decision, outcomes_for(decision))
    again = rb.studies.open("s", storage=storage)
    assert again._log._snapshot_seq > 200
    assert again.indices().tolist() == study.indices().tolist()
    with again._log.storage.write() as writer:
        (count,) = writer.connection.execute("SELECT count(*) FROM rising_snapshots").fetchone()
        assert 2 < count <= 25
        writer.connection.execute("DELETE FROM rising_snapshots")
    from_the_start = rb.studies.open("s", storage=storage)
    assert from_the_start.indices().tolist() == study.indices().tolist()
    assert from_the_start.policy.rng.random() == study.policy.rng.random()


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


def test_a_problem_that_needs_retired_arms_is_refused(storage):
    study = make(storage, problem=rb.problems.TopK(["a", "b", "c"], k=2))
    study.retire(["a"])
    with pytest.raises(rb.InputError, match=r"without the retired arms \['a'\]"):
        study.set_problem(rb.problems.TopK(["a", "q"], k=2))
    assert "a" not in study.ask().super_arm


def test_a_study_that_was_deleted_says_so_everywhere(storage, tmp_path):
    study = make(storage)
    study.ask()
    study.export(tmp_path / "good.jsonl")
    before = (tmp_path / "good.jsonl").read_text()
    rb.studies.delete("s", storage=storage)
    for call in (
        study.history,
        study.ask,
        study.open_decisions,
        lambda: study.explain(1),
        lambda: study.tell(1, {}),
        lambda: study.replay(rb.SWCUCB(window=4)),
        lambda: study.export(tmp_path / "good.jsonl"),
    ):
        with pytest.raises(rb.RisingBanditsError, match="it was deleted"):
            call()
    assert (tmp_path / "good.jsonl").read_text() == before


@pytest.mark.parametrize("resolution", [None, 4])
def test_a_live_policy_made_of_the_last_one_is_the_policy_of_the_log(tmp_path, resolution):
    """Tells in any order, partial ones and changes of the arms: what decides is what the log alone gives."""
    problem, rng = rb.problems.TopK(list("abcdefgh"), k=2), random.Random(5)
    storage = f"sqlite:///{tmp_path}/s.db"
    policy = rb.CRUCB(sigma=0.1, resolution=resolution)
    study = rb.studies.create("s", problem, policy, storage=storage, seed=1, reorder=12)
    waiting = study.ask(6)
    for step in range(150):
        decision = waiting.pop(rng.randrange(len(waiting)))
        told = rng.sample(decision.super_arm, rng.choice((1, 2, 2)))
        study.tell(decision, {label: rng.random() for label in told})
        if step % 40 == 20:
            study.reset([rng.choice("abcdefgh")])
        if step % 50 == 30:
            study.import_plays([("c", 1, 0.25), ("c", 2, 0.5)])
        waiting.append(study.ask())
        if step % 10 == 0:
            known = study.policy.state()
            study._log.forget()
            assert study.policy.state() == known


@pytest.mark.parametrize("gone", ["reset", "problem"])
def test_the_recommended_policy_can_be_saved_after_arms_were_forgotten(storage, gone):
    """What forgotten arms told about the others stays in its state, and is no damage."""
    roads = [("a", "b"), ("b", "d"), ("a", "c"), ("c", "d")]
    with rb.studies.create("f", rb.problems.ShortestPath(roads, "a", "d"), storage=storage, seed=1) as study:
        for part in range(4):
            decision = study.ask()
            study.tell(decision, dict.fromkeys(decision.super_arm, 0.3 + 0.1 * part))
        if gone == "reset":
            study.reset(["a->b", "b->d"])
        else:
            study.set_problem(rb.problems.ShortestPath([*roads[2:], ("a", "e"), ("e", "d")], "a", "d"))
        policy = study.policy
        assert type(policy).from_state(policy.state()).indices().tolist() == policy.indices().tolist()
