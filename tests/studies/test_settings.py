"""Settings that change: each change has its place in the log, and survives export, fork, replay and reopening."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import sqlite3
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rising_bandits as rb
from rising_bandits.studies import Decay, Range, Reciprocal
from rising_bandits.studies.log.log import Log
from rising_bandits.studies.storage import transactions

ROADS = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("b", "c")]
PROBLEM = rb.problems.ShortestPath(ROADS, "a", "d")
POLICIES = [
    lambda: rb.CRUCB(sigma=0.1),
    lambda: rb.HorizonCRUCB(),
    lambda: rb.SWCUCB(window=4),
    lambda: rb.RedUCB(sigma=0.1),
    rb.Random,
]
SCALES = [Range(0, 200, lower_is_better=True, unit="ms"), Range(0, 120, clip=True), Decay(half=30)]


@pytest.fixture
def storage(tmp_path):
    return f"sqlite:///{tmp_path}/studies.db"


def outcome(number, place):
    return float((number * 37 + place * 11) % 151)


def tell(study, decision, rounds=None):
    told = {label: outcome(decision.id, place) for place, label in enumerate(decision.super_arm)}
    return study.tell(decision, told)


def play(study, rounds):
    for _ in range(rounds):
        tell(study, study.ask())


def same(one, two):
    """Two studies know the same and decide the same next."""
    assert one.settings == two.settings
    assert one.clipped() == two.clipped()
    first, second = one.policy, two.policy
    first.rng = second.rng = np.random.default_rng(1)
    assert repr(first) == repr(second)
    assert first.round == second.round
    assert first.horizon == second.horizon
    assert first.indices().tolist() == second.indices().tolist()
    assert one.history()["value"].tolist() == two.history()["value"].tolist()


CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.integers(1, 3)),
        st.tuples(st.just("tell"), st.integers(0, 40)),
        st.tuples(st.just("tell"), st.integers(0, 40)),
        st.tuples(st.just("policy"), st.integers(0, len(POLICIES) - 1)),
        st.tuples(st.just("scale"), st.integers(0, len(SCALES) - 1)),
        st.tuples(st.just("horizon"), st.sampled_from([None, 500, 1000])),
        st.tuples(st.just("expiry"), st.sampled_from([None, 1000.0])),
        st.tuples(st.just("reset"), st.integers(0, 3)),
        st.tuples(st.just("snapshot")),
    ),
    min_size=5,
    max_size=40,
)


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=CHANGES, reorder=st.sampled_from([3, 256]))
def test_settings_that_change_leave_what_a_study_with_the_last_settings_has_learnt(tmp_path_factory, steps, reorder):
    """Whatever is set on the way, in the end the study knows what the last settings make of the same asks and tells."""
    folder = tmp_path_factory.mktemp("settings")
    storage = f"sqlite:///{folder}/studies.db"
    study = rb.studies.create("s", PROBLEM, storage=storage, seed=7, scale=SCALES[0], reorder=reorder)
    watching = rb.studies.open("s", storage=storage)
    watching.plays()
    asked, told = [], set()
    for kind, *arguments in steps:
        if kind == "ask":
            asked += study.ask(*arguments)
        elif kind == "tell" and asked:
            decision = asked[arguments[0] % len(asked)]
            if decision.id not in told:
                told.add(decision.id)
                tell(study, decision)
        elif kind == "policy":
            study.set_policy(POLICIES[arguments[0]]())
        elif kind == "scale":
            study.set_scale(SCALES[arguments[0]])
        elif kind == "horizon":
            study.set_horizon(*arguments)
        elif kind == "expiry":
            study.set_expiry(*arguments)
        elif kind == "reset":
            study.reset([PROBLEM.labels[arguments[0]]])
        elif kind == "snapshot":
            study._log._snapshot_seq = -(10**9)
    # A twin has the last settings from the beginning, and the same asks and tells.
    last = study.settings
    policy = rb.policies.by_name(study.policy.name, **study.policy.parameters())
    twin = rb.studies.create(
        "twin", PROBLEM, policy, storage=storage, seed=7, reorder=reorder,
        scale=last.scale, horizon=last.horizon, expires=last.expires,
    )  # fmt: skip
    with study._log.storage.read() as reader:
        events = [event for event in reader.later(study._log.number, 1) if event.kind != "set"]
    fold = twin._log.begin(next(iter_first(twin)))
    fold.freeze(last.scale)
    for event in events:
        fold.apply(event)
    found, wanted = study.policy, fold.live.policy
    found.rng = wanted.rng = np.random.default_rng(1)
    assert found.round == wanted.round
    assert found.indices().tolist() == wanted.indices().tolist()
    # Others see the same: a process that was there all along, one that opens it now, one that loads its export.
    same(study, watching)
    same(study, rb.studies.open("s", storage=storage))
    study.export(folder / "log.jsonl")
    same(study, rb.studies.load(folder / "log.jsonl", "again", storage=storage))


def iter_first(study):
    with study._log.storage.read() as reader:
        yield from list(reader.later(study._log.number, 0))


def test_a_new_policy_learns_what_was_told_before(storage):
    study = rb.studies.create("s", PROBLEM, rb.CRUCB(sigma=0.1), storage=storage, seed=7, scale=SCALES[0])
    play(study, 30)
    early = study.ask()
    study.set_policy(rb.SWCUCB(window=10))
    assert isinstance(study.policy, rb.SWCUCB)
    assert study.policy.round == 31
    assert study.policy.plays.sum() == sum(study.plays().values()) > 0
    # A decision of the old policy is told to the new one, and explained by the old one.
    assert tell(study, early)
    assert study.explain(early).policy.startswith("CRUCB")
    assert study.explain(study.ask()).policy.startswith("SWCUCB")
    with pytest.raises(rb.InputError, match="policy must be a Policy"):
        study.set_policy("crucb")


def test_a_policy_that_cannot_learn_the_log_is_refused_and_nothing_changes(storage):
    study = rb.studies.create("s", PROBLEM, rb.CRUCB(sigma=0.1), storage=storage, seed=7)
    study.import_plays([("a->b", 0, 0.5), ("a->b", 1, 0.5)])
    before = study.indices().tolist()
    with pytest.raises(rb.InputError, match="cannot learn plays of single base arms"):
        study.set_policy(rb.RedUCB(sigma=0.1))
    assert isinstance(study.policy, rb.CRUCB)
    assert study.indices().tolist() == before
    assert study.ask().id == 1


class Mine(rb.IndexPolicy):
    """A policy of the user's own."""

    name = "mine"

    def index(self, outcomes, t):
        return float(np.mean(outcomes)) + 1.0 / len(outcomes)


def test_a_policy_of_ones_own_is_needed_only_while_it_decides(storage):
    study = rb.studies.create("s", PROBLEM, Mine(), storage=storage, seed=7)
    play_small(study, 8)
    with pytest.raises(rb.InputError, match="policy must be passed to open"):
        rb.studies.open("s", storage=storage)
    with pytest.raises(rb.InputError, match="must be a Mine"):
        rb.studies.open("s", storage=storage, policy=rb.CRUCB)
    study.set_policy(rb.CRUCB(sigma=0.1))
    assert rb.studies.open("s", storage=storage).policy.round == 9
    study.set_policy(Mine())
    with pytest.raises(rb.InputError, match="policy must be passed to open"):
        rb.studies.open("s", storage=storage)
    assert rb.studies.open("s", storage=storage, policy=Mine).policy.round == 9


def play_small(study, rounds):
    for _ in range(rounds):
        decision = study.ask()
        study.tell(decision, {label: outcome(decision.id, 1) / 151 for label in decision.super_arm})


def test_a_scale_is_refused_if_an_outcome_in_the_log_does_not_fit(storage):
    study = rb.studies.create("s", PROBLEM, storage=storage, seed=7, scale=SCALES[0])
    decision = study.ask()
    with pytest.raises(rb.InputError, match=r"\[0, 200\] ms, got 350"):
        study.tell(decision, {decision.super_arm[0]: 350})
    study.tell(decision, dict.fromkeys(decision.super_arm, 150))
    with pytest.raises(rb.InputError, match=r"must be a number in \[0, 100\]"):
        study.set_scale(Range(0, 100))
    assert study.scale == SCALES[0]
    study.set_scale(Range(0, 100, lower_is_better=True, unit="ms", clip=True))
    assert study.clipped() == dict.fromkeys(decision.super_arm, 1)
    assert study.history()["outcome"].tolist() == [150.0] * len(decision.super_arm)
    assert study.history()["value"].tolist() == [0.0] * len(decision.super_arm)
    other = study.ask()
    label = other.super_arm[0]
    before = study.clipped().get(label, 0)
    study.tell(other, {label: 999}, final=False)
    study.tell(other, {label: 999})
    assert study.clipped()[label] == before + 1
    with pytest.raises(rb.InputError, match="finite"):
        study.tell(study.ask(), {study.ask().super_arm[0]: float("nan")})
    with pytest.raises(rb.InputError, match="cannot store other scales"):
        study.set_scale(type("Own", (Range,), {})())
    with pytest.raises(rb.InputError, match="clip must be"):
        Reciprocal(best=1, clip="yes")


def test_a_decision_expires_by_the_expiry_in_force(storage):
    time = [1000.0]
    study = rb.studies.create("s", PROBLEM, storage=storage, seed=7, clock=lambda: time[0])
    decision = study.ask()
    time[0] += 100
    study.set_expiry(50)
    with pytest.raises(rb.ExpiredError):
        study.tell(decision, {})
    assert study.open_decisions() == []
    study.set_expiry(None)
    assert study.open_decisions()[0].expires_at is None
    assert study.tell(decision, {})
    with pytest.raises(rb.InputError, match="expires must be"):
        study.set_expiry(-1)


@pytest.mark.parametrize("policy", [lambda: rb.HorizonCRUCB(sigma=0.1), rb.SWCUCB])
def test_a_horizon_that_passes_is_noticed_once_and_the_study_goes_on(storage, policy, caplog):
    study = rb.studies.create("s", PROBLEM, policy(), storage=storage, seed=7, horizon=20, scale=SCALES[0])
    play(study, 20)
    other = rb.studies.open("s", storage=storage)
    with pytest.warns(UserWarning, match="horizon of study 's' has passed"), caplog.at_level(logging.WARNING):
        decision = study.ask()
    assert "has passed" in caplog.text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tell(study, decision)
        play(other, 5)
    assert study.settings.passed == 20
    if policy is rb.SWCUCB:
        # Its window follows from the horizon, so it keeps it.
        assert study.policy.horizon == 20
        return
    assert study.policy.horizon is None
    never = rb.studies.create("never", PROBLEM, policy(), storage=storage, seed=7, scale=SCALES[0])
    with study._log.storage.read() as reader:
        events = [event for event in reader.later(study._log.number, 1) if event.kind != "set"]
    fold = never._log.begin(next(iter_first(never)))
    for event in events:
        fold.apply(event)
    assert study.indices().tolist() == fold.live.policy.indices().tolist()
    with pytest.raises(rb.InputError, match="at least the present round"):
        study.set_horizon(20)
    study.set_horizon(40)
    play(study, 14)
    assert study.policy.round == 41
    with pytest.warns(UserWarning, match="has passed"):
        study.ask()


def test_a_forked_process_and_a_replay_see_what_was_set(storage):
    study = rb.studies.create("s", PROBLEM, storage=storage, seed=7, scale=SCALES[0])
    play(study, 12)
    study.set_policy(rb.CRUCB(sigma=0.1))
    study.set_scale(Range(0, 400, lower_is_better=True))
    play(study, 6)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, json.dumps([repr(study.policy), study.policy.round]).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert json.loads(os.read(read, 10_000)) == [repr(study.policy), 19]
    found = study.replay(rb.CRUCB(sigma=0.1))
    assert found.decisions == 18
    # The same policy on the same knowledge decides the same, from the place on where it was set.
    assert found.agreed >= 6


def test_an_edited_change_of_settings_is_refused(storage, tmp_path):
    study = rb.studies.create("s", PROBLEM, storage=storage, seed=7)
    study.set_expiry(60.0)
    study.export(tmp_path / "log.jsonl")
    lines = (tmp_path / "log.jsonl").read_text().splitlines()
    for body in (
        {"expires": -1.0}, {"expires": "soon"}, {}, {"seed": 3}, {"policy": "CRUCB"}, {"horizon": 1}, {"scale": {}},
        {"scale": {"type": "Range", "colour": 1}}, {"policy": "CRUCB", "parameters": {"sigma": -1}}, {"scale": 3},
        {"policy": "CRUCB", "parameters": {"colour": 1}}, {"policy": 3, "parameters": {}}, {"passed": 0},
    ):  # fmt: skip
        row = {**json.loads(lines[-1]), "body": body}
        (tmp_path / "edited.jsonl").write_text("\n".join([*lines[:-1], json.dumps(row)]) + "\n")
        with pytest.raises(rb.InputError, match="damaged at event 2"):
            rb.studies.load(tmp_path / "edited.jsonl", "t", storage=storage)
    assert rb.studies.names(storage=storage) == ["s"]


@pytest.mark.parametrize("change", ["policy", "scale"])
def test_others_write_while_the_log_is_learnt_again(tmp_path, monkeypatch, change):
    storage = f"sqlite:///{tmp_path}/s.db"
    study = rb.studies.create("s", rb.problems.TopK(["a", "b", "c"], k=1), rb.CRUCB(sigma=0.1), storage=storage, seed=1)
    other = rb.studies.open("s", storage=storage)

    def work(one, rounds):
        for _ in range(rounds):
            decision = one.ask()
            one.tell(decision, {decision.super_arm[0]: (decision.id % 7) / 10})

    work(study, 40)
    ahead, later, inside = study._log.learn_ahead, transactions.Reader.later, []

    def learn_and_be_overtaken(*arguments):
        ahead(*arguments)
        work(other, 5)

    def noted(self, number, after, *rest, **named):
        if isinstance(self, transactions.Writer) and self._storage is study._log.storage:
            inside.append(after)
        return later(self, number, after, *rest, **named)

    monkeypatch.setattr(study._log, "learn_ahead", learn_and_be_overtaken)
    monkeypatch.setattr(transactions.Reader, "later", noted)
    if change == "policy":
        study.set_policy(rb.SWCUCB(window=10))
    else:
        study.set_scale(rb.studies.Range(0, 2))
    # While the study was locked, only what others wrote in between was read.
    assert inside
    assert min(inside) >= 81
    monkeypatch.undo()
    work(study, 5)
    last = study._log._fold.seq
    with contextlib.closing(sqlite3.connect(tmp_path / "s.db")) as connection, connection:
        connection.execute("DELETE FROM rising_snapshots")
    again = rb.studies.open("s", storage=storage)
    assert again._log._fold.seq == last == 1 + 2 * 50 + 1
    assert again.indices().tolist() == study.indices().tolist() == other.indices().tolist()


@pytest.mark.parametrize("what", ["policy", "scale", "horizon", "passed"])
def test_others_can_write_while_the_log_is_learnt_again(storage, what, monkeypatch):
    study = rb.studies.create("s", PROBLEM, rb.HorizonCRUCB(), storage=storage, seed=1, horizon=20)
    for _ in range(20 if what == "passed" else 10):
        study.tell(decision := study.ask(), dict.fromkeys(decision.super_arm, 0.5))
    other = rb.studies.open("s", storage=storage, timeout=5.0)
    plain, written = Log._begin_again, []

    def begin_again(log, *arguments):
        monkeypatch.setattr(Log, "_begin_again", plain)
        # Raises if the study is locked.
        written.append(other.tell(other.record(["a->b", "b->d"], {}, source="other"), {}))
        return plain(log, *arguments)

    monkeypatch.setattr(Log, "_begin_again", begin_again)
    if what == "passed":
        with pytest.warns(UserWarning, match="has passed"):
            study.ask()
    else:
        given = {"policy": rb.CRUCB(), "scale": rb.studies.Range(0, 2), "horizon": 500}[what]
        getattr(study, f"set_{what}")(given)
    assert written == [False]
    again = rb.studies.open("s", storage=storage)
    assert again.indices().tolist() == study.indices().tolist()
    assert again.settings == study.settings


BAD = [
    ("export", lambda study, url, at: study.export(None), "path must be the path of a file, got None"),
    ("history", lambda study, url, at: study.export_history("a\0.jsonl"), "path must be the path of a file"),
    ("nowhere", lambda study, url, at: study.export(at / "file" / "s.jsonl"), "a file that can be written"),
    ("rows", lambda study, url, at: study.export_history(at / "file" / "s.jsonl"), "that can be written"),
    ("load", lambda study, url, at: rb.studies.load(3, storage=url), "path must be the path of a file"),
    (
        "backup",
        lambda study, url, at: rb.studies.backup(None, storage=url),
        "path must be the path of a fi",
    ),
    (
        "clock",
        lambda study, url, at: rb.studies.open("s", storage=url, clock=5),
        "clock must be a function",
    ),
    ("timeout", lambda study, url, at: rb.studies.open("s", storage=url, timeout="1"), "timeout must be"),
    (
        "never",
        lambda study, url, at: rb.studies.open("s", storage=url, timeout=float("nan")),
        "timeout must",
    ),
    (
        "safe",
        lambda study, url, at: rb.studies.open("s", storage=url, power_safe="no"),
        "power_safe must be",
    ),
    (
        "policy",
        lambda study, url, at: rb.studies.open("s", storage=url, policy="crucb"),
        "policy must be a P",
    ),
    (
        "class",
        lambda study, url, at: rb.studies.open("s", storage=url, policy=int),
        "policy must be a Policy",
    ),
    (
        "problem",
        lambda study, url, at: rb.studies.open("s", storage=url, problem=3),
        "problem must be a Prob",
    ),
    ("unit", lambda study, url, at: rb.studies.Range(0, 1, unit=5), "unit must be a text such as 'ms', got 5"),
    (
        "scale",
        lambda study, url, at: study.set_scale(rb.studies.Range(0, 0.25)),
        "an outcome in the log must be",
    ),
    (
        "none",
        lambda study, url, at: study.ask(unavailable=None),
        "unavailable must be a list of labels, got None",
    ),
]


@pytest.mark.parametrize(("call", "message"), [pytest.param(call, message, id=name) for name, call, message in BAD])
def test_bad_input_of_any_kind_is_an_input_error(tmp_path, call, message):
    storage = f"sqlite:///{tmp_path}/s.db"
    (tmp_path / "file").touch()
    with rb.studies.create("s", rb.problems.TopK(["a", "b"], k=1), storage=storage) as study:
        study.tell(decision := study.ask(), {decision.super_arm[0]: 0.5})
        before = len(study.events())
        with pytest.raises(rb.InputError, match=re.escape(message)):
            call(study, storage, tmp_path)
        assert len(study.events()) == before


def test_a_unit_is_text_in_messages_too():
    with pytest.raises(rb.InputError, match=r"in \[0, 1\] \\x1b\[1m, got 'x'"):
        rb.studies.Range(0, 1, unit="\x1b[1m").value("x")


def test_a_backup_may_have_any_name(tmp_path):
    storage = f"sqlite:///{tmp_path}/s.db"
    rb.studies.create("s", rb.problems.TopK(["a", "b"], k=1), storage=storage).close()
    assert rb.studies.backup(tmp_path / "a?b#c%20.db", storage=storage).stat().st_size > 0
