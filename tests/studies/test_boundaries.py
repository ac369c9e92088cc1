"""Faults at every statement boundary, and interleavings in a fixed order, on both databases."""

from __future__ import annotations

import contextlib
import os
import threading

import pytest

import rising_bandits as rb
from rising_bandits.studies.log import log as study_log
from rising_bandits.studies.storage.databases import Postgres, SQLite

PROBLEM = rb.problems.TopK(["a", "b", "c"], k=2)
KINDS = ["sqlite", "postgres"]


@pytest.fixture
def storage(request, tmp_path):
    """Either kind of database, empty."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/s.db"
        return
    url = request.getfixturevalue("postgres")
    for name in rb.studies.names(storage=url):
        rb.studies.delete(name, storage=url)
    yield url
    for name in rb.studies.names(storage=url):
        rb.studies.delete(name, storage=url)


def make(storage, name="s", **options):
    return rb.studies.create(name, PROBLEM, rb.CRUCB(sigma=0.1), storage=storage, seed=1, **options)


def outcomes(decision):
    return dict.fromkeys(decision.super_arm, 0.5)


def logged(storage):
    """The decisions that a fresh look finds told."""
    with rb.studies.open("s", storage=storage, timeout=2.0) as study:
        return set(study.history().decision_id.dropna().astype(int))


class Fails:
    """A connection whose n-th statement raises, before it is run or after."""

    def __init__(self, connection, plan):
        self._connection, self._plan = connection, plan

    def execute(self, *arguments):
        self._plan.count += 1
        mine = self._plan.count == self._plan.at
        if mine and not self._plan.after:
            raise self._plan.error("now")
        result = self._connection.execute(*arguments)
        if mine:
            raise self._plan.error("now")
        return result

    def __getattr__(self, name):
        return getattr(self._connection, name)


class Plan:
    def __init__(self):
        self.count, self.at, self.after, self.error = 0, 0, False, RuntimeError


@pytest.mark.parametrize("storage", KINDS, indirect=True)
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, "driver"])
def test_an_error_at_every_statement_in_turn(storage, error, monkeypatch):
    """Before or after the n-th statement, for every n: usable, no lock held, and what was acknowledged is logged."""
    plan = Plan()
    backend = SQLite if storage.startswith("sqlite") else Postgres
    connect = backend.connect
    make(storage, reorder=10_000).close()
    monkeypatch.setattr(backend, "connect", lambda self: Fails(connect(self), plan))
    monkeypatch.setattr(study_log, "SNAPSHOT_EVENTS", 6)
    study = rb.studies.open("s", storage=storage)
    plan.error = study._log.storage.database.error if error == "driver" else error
    told, at, reached = set(), 0, True
    while reached:
        at += 1
        for after in (False, True):
            plan.count, plan.at, plan.after = 0, at, after
            with contextlib.suppress(plan.error, rb.StorageError):
                decision = study.ask()
                if study.tell(decision, outcomes(decision)):
                    told.add(decision.id)
                assert study.policy.round > 0
            reached = plan.count >= at
            plan.at = 0
            # The study goes on, and so does another one.
            decision = study.ask()
            assert study.tell(decision, outcomes(decision))
            told.add(decision.id)
            if at % 4 == 0 or not reached:
                with rb.studies.open("s", storage=storage, timeout=2.0) as other:
                    decision = other.ask()
                    assert other.tell(decision, outcomes(decision))
                    told.add(decision.id)
                assert told <= logged(storage)
    assert at > 10
    with rb.studies.open("s", storage=storage) as other:
        assert other.indices().tolist() == study.indices().tolist()
    assert rb.studies.check(storage=storage).whole


class Gate:
    """Stops a thread at a place until it is let through."""

    def __init__(self):
        self.reached, self.open = threading.Event(), threading.Event()

    def stop(self):
        self.reached.set()
        assert self.open.wait(60)


def start(action):
    """Run an action in a thread; its result or error is in the list."""
    results = []

    def run():
        try:
            results.append(action())
        except BaseException as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, results


@pytest.mark.parametrize("storage", KINDS, indirect=True)
def test_create_while_another_creates_the_same(storage, monkeypatch):
    """The second comes while the first has written the study and not committed it."""
    make(storage, "first").close()
    gate = Gate()
    commit = (SQLite if storage.startswith("sqlite") else Postgres).commit
    inside = threading.local()

    def held(self, connection):
        if getattr(inside, "stop", False):
            inside.stop = False
            gate.stop()
        commit(self, connection)

    monkeypatch.setattr(SQLite if storage.startswith("sqlite") else Postgres, "commit", held)

    def one():
        from rising_bandits.studies.storage.transactions import Writer

        add, mine = Writer.append, threading.get_ident()

        def append(self, *arguments):
            inside.stop = threading.get_ident() == mine and not gate.reached.is_set()
            return add(self, *arguments)

        monkeypatch.setattr(Writer, "append", append)
        with make(storage, "same", exist_ok=True) as study:
            return study.ask().id

    first, found = start(one)
    assert gate.reached.wait(60)
    second, others = start(lambda: make(storage, "same", exist_ok=True).ask().id)
    third, refused = start(lambda: make(storage, "same"))
    gate.open.set()
    for thread in (first, second, third):
        thread.join()
    assert sorted([*found, *others]) == [1, 2]
    assert isinstance(refused[0], rb.InputError)
    assert rb.studies.names(storage=storage) == ["first", "same"]


@pytest.mark.parametrize("storage", KINDS, indirect=True)
@pytest.mark.parametrize("what", ["delete", "close", "tell"])
def test_what_happens_in_the_middle_of_a_tell(storage, what, monkeypatch):
    """A tell has written and not committed; then the study is deleted, closed, or told the same by another."""
    study = make(storage)
    other = rb.studies.open("s", storage=storage)
    decision = study.ask()
    gate = Gate()
    append = study_log.Log._take

    def take(self, fold, events):
        append(self, fold, events)
        if self is study._log:
            gate.stop()

    monkeypatch.setattr(study_log.Log, "_take", take)
    telling, told = start(lambda: study.tell(decision, outcomes(decision)))
    assert gate.reached.wait(60)
    actions = {
        "delete": lambda: rb.studies.delete("s", storage=storage),
        "close": study.close,
        "tell": lambda: other.tell(decision.id, outcomes(decision)),
    }
    acting, done = start(actions[what])
    acting.join(0.2)
    assert acting.is_alive(), "it must wait for the transaction"
    gate.open.set()
    telling.join()
    acting.join()
    assert told == [True]
    if what == "delete":
        assert done == [None]
        for seen in (study, other):
            with pytest.raises(rb.InputError, match="is gone: it was deleted"):
                seen.ask()
    elif what == "close":
        assert done == [None]
        assert logged(storage) == {decision.id}
    else:
        assert done == [False]
    if what != "delete":
        assert study.ask().id == 2


@pytest.mark.parametrize("storage", KINDS, indirect=True)
def test_a_delete_that_is_under_way_refuses_tells_at_once(storage, monkeypatch):
    study = make(storage)
    decision = study.ask()
    gate = Gate()
    from rising_bandits.studies import library

    remove = library.remove

    def slow(database, number):
        gate.stop()
        remove(database, number)

    monkeypatch.setattr(library, "remove", slow)
    deleting, _ = start(lambda: rb.studies.delete("s", storage=storage))
    assert gate.reached.wait(60)
    with pytest.raises(rb.InputError, match="is gone: it was deleted"):
        study.tell(decision, outcomes(decision))
    with make(storage) as again:
        assert again.ask().id == 1
    gate.open.set()
    deleting.join()
    assert rb.studies.names(storage=storage) == ["s"]


@pytest.mark.skipif(not hasattr(os, "register_at_fork"), reason="there are no forks here")
@pytest.mark.parametrize("storage", KINDS, indirect=True)
def test_a_fork_waits_for_a_tell(storage, monkeypatch):
    """What a fork does before and after, without a fork: it takes the locks of all storages."""
    from rising_bandits.studies.storage import forks

    study = make(storage)
    decision = study.ask()
    gate = Gate()
    append = study_log.Log._take

    def take(self, fold, events):
        append(self, fold, events)
        gate.stop()

    monkeypatch.setattr(study_log.Log, "_take", take)
    telling, told = start(lambda: study.tell(decision, outcomes(decision)))
    assert gate.reached.wait(60)
    forked = []

    def fork():
        forks._before()
        forked.append(list(told))
        forks._in_parent()

    forking, _ = start(fork)
    forking.join(0.2)
    assert forking.is_alive()
    gate.open.set()
    telling.join()
    forking.join()
    assert told == [True]
    # The child begins from the log: as another process, with neither the parent's connection nor its lock.
    inner = study._log.storage
    before = inner._held.connection
    monkeypatch.setattr(study_log.Log, "_take", append)
    monkeypatch.setattr(inner, "_pid", -1)
    monkeypatch.setattr(inner._held, "_pid", -1)
    assert study.ask().id == 2
    assert inner._held.connection is not before
    inner.database.close(before)
