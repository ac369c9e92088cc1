"""Studies on PostgreSQL: the same promises, on a server that the tests start themselves."""

from __future__ import annotations

import importlib.util
import threading
import time
from pathlib import Path

import psycopg
import pytest

import rising_bandits as rb
from rising_bandits.studies.log.events import KINDS

spec = importlib.util.spec_from_file_location("files", Path(__file__).with_name("test_storage.py"))
files = importlib.util.module_from_spec(spec)
spec.loader.exec_module(files)


@pytest.fixture
def storage(postgres):
    yield postgres
    for name in rb.studies.names(storage=postgres):
        rb.studies.delete(name, storage=postgres)


def test_eight_writers_on_a_server(storage, tmp_path):
    study = files.make(storage, reorder=10_000)
    files.check_writers(study, files.run_writers(storage, 8, 50, tmp_path), 50)


def test_eight_processes_that_do_different_things_on_a_server(storage, tmp_path):
    files.check_mix(storage, tmp_path)


def test_a_file_is_imported_to_a_server(storage, tmp_path, run):
    here = files.make(f"sqlite:///{tmp_path}/s.db")
    for _ in range(12):
        here.tell(decision := here.ask(), files.outcomes(decision.id, decision.super_arm))
    here.set_horizon(500)
    here.import_plays([("a->c", 1, 0.5), ("a->c", 2, 0.75)])
    for suffix in ("jsonl", "parquet"):
        here.export(tmp_path / f"s.{suffix}")
        assert run("study", "import", tmp_path / f"s.{suffix}", "--name", suffix, "--storage", storage) == 0
        there = rb.studies.open(suffix, storage=storage)
        assert there.indices().tolist() == here.indices().tolist()
        assert there.settings == here.settings
        assert [event[:5] for event in there.events()] == [event[:5] for event in here.events()]
    assert there.ask().super_arm == here.ask().super_arm


def test_ask_tell_stop_and_go_on(storage):
    study = files.make(storage, expires=3600)
    for _ in range(30):
        first, second = study.ask(2)
        for decision in (second, first):
            assert study.tell(decision, files.outcomes(decision.id, decision.super_arm))
        assert not study.tell(first, files.outcomes(first.id, first.super_arm))
    with pytest.raises(rb.AlreadyToldError):
        study.tell(first, {})
    study._log._snapshot_seq = -(10**9)
    study.tell(study.ask(), {})
    again = rb.studies.open("s", storage=storage)
    assert again.indices().tolist() == study.indices().tolist()
    assert len(again.history()) == len(study.history()) > 100
    assert again.ask().super_arm == rb.studies.open("s", storage=storage).open_decisions()[-1].super_arm


def test_only_the_clock_of_the_server_counts(storage, monkeypatch):
    study = files.make(storage, expires=3600)
    decision = study.ask()
    real = time.time
    for wrong in (-1e6, 1e6):
        monkeypatch.setattr(time, "time", lambda wrong=wrong: real() + wrong)
        assert [held.id for held in study.open_decisions()] == [decision.id]
        assert abs(study.ask().asked_at - decision.asked_at) < 600
        monkeypatch.setattr(time, "time", real)
        study.tell_many([(held, {}) for held in study.open_decisions()[1:]])
    monkeypatch.setattr(time, "time", lambda: real() + 1e6)
    fresh = rb.studies.create("fresh", files.PROBLEM, rb.CRUCB(), storage=storage)
    with fresh._log.look() as (_, reader):
        assert abs(next(reader.later(fresh._log.number, 0)).at - decision.asked_at) < 600


def test_both_kinds_of_storage_decide_alike(storage, tmp_path):
    here, there = files.make(f"sqlite:///{tmp_path}/s.db"), files.make(storage)
    for _ in range(25):
        one, other = here.ask(), there.ask()
        assert (one.id, one.super_arm) == (other.id, other.super_arm)
        for study, decision in ((here, one), (there, other)):
            study.tell(decision, files.outcomes(decision.id, decision.super_arm))
    assert here.indices().tolist() == there.indices().tolist()


def test_the_database_itself_refuses_a_second_ask_or_tell(storage):
    study = files.make(storage)
    decision = study.ask()
    study.tell(decision, {})
    for kind in ("ask", "tell"):
        with pytest.raises(rb.StorageError, match="nothing was acknowledged"), study._log.storage.write() as writer:
            writer.connection.execute(
                "INSERT INTO rising_events SELECT study_id, 99, kind, at, decision, body, digest "
                "FROM rising_events WHERE kind = %s",
                (kind,),
            )


def test_a_server_that_goes_away_is_said_and_found_again(storage):
    study = files.make(storage)
    decision = study.ask()
    with psycopg.connect(study._log.storage.url.text, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND datname = 'postgres'"
        )
    with pytest.raises(rb.StorageError, match="nothing was acknowledged"):
        study.tell(decision, files.outcomes(decision.id, decision.super_arm))
    assert study.tell(decision, files.outcomes(decision.id, decision.super_arm))


def test_a_server_that_is_not_there(tmp_path):
    with pytest.raises(rb.StorageError, match=r"postgresql://rising:\*\*\*@127.0.0.1:1/none"):
        rb.studies.open("s", storage="postgresql://rising:secret@127.0.0.1:1/none")


def _at_once(count, action):
    """Run an action in threads that begin together; returns what each returned or raised."""
    results, gate = [], threading.Barrier(count)

    def run(number):
        gate.wait()
        try:
            results.append(action(number))
        except Exception as error:
            results.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_a_study_created_by_many_at_once_is_one_study(postgres):
    problem = rb.problems.TopK(["a", "b"], k=1)
    for attempt in range(3):
        name = f"at-once-{attempt}"

        def create(_, name=name):
            with rb.studies.create(name, problem, rb.CRUCB(), storage=postgres, exist_ok=True) as study:
                return study.ask().id

        assert sorted(map(str, _at_once(8, create))) == sorted(map(str, range(1, 9)))


def test_a_study_in_use_can_be_deleted(postgres):
    problem = rb.problems.TopK(["a", "b"], k=1)
    for attempt in range(3):
        name = f"in-use-{attempt}"
        rb.studies.create(name, problem, rb.CRUCB(), storage=postgres).close()
        told = threading.Semaphore(0)

        def act(number, name=name, told=told):
            if number == 0:
                # Once all others are in the middle of it.
                for _ in range(6):
                    told.acquire()
                rb.studies.delete(name, storage=postgres)
                return "deleted"
            with rb.studies.open(name, storage=postgres) as study:
                while True:
                    study.tell(decision := study.ask(), dict.fromkeys(decision.super_arm, 0.5))
                    told.release()

        results = _at_once(4, act)
        assert "deleted" in results
        gone = [result for result in results if result != "deleted"]
        assert all(isinstance(error, rb.RisingBanditsError) for error in gone), gone
        assert name not in rb.studies.names(storage=postgres)


def test_another_default_isolation_of_the_server_changes_nothing(postgres):
    strict = f"{postgres}?options=-c%20default_transaction_isolation%3Dserializable"
    rb.studies.create("strict", rb.problems.TopK(["a", "b"], k=1), rb.CRUCB(), storage=strict).close()

    def work(_):
        with rb.studies.open("strict", storage=strict) as study:
            for _ in range(15):
                study.tell(decision := study.ask(), dict.fromkeys(decision.super_arm, 0.5))
        return "done"

    assert _at_once(4, work) == ["done"] * 4


def test_every_kind_of_event_is_kept_on_a_server_as_in_a_file(storage, tmp_path):
    problem = rb.problems.TopK(["a", "b", "c"], k=1)

    def work(where):
        study = rb.studies.create("kinds", problem, storage=where, seed=3, prior={"a": (0.4, 5)}, clock=lambda: 1e9)
        study.hand_over("today", ["b"], share=0.5)
        for _ in range(6):
            decision = study.ask(metadata={"flow": "video"})
            study.tell(decision, dict.fromkeys(decision.super_arm, 0.5))
        study.record(["c"], {"c": 0.25}, source="elsewhere")
        study.add_prior({"b": 0.3})
        study.set_policy(rb.SWCUCB(window=20))
        study.set_scale(rb.studies.Range(0, 2))
        study.set_horizon(1_000)
        study.set_expiry(3600)
        study.set_spread(True)
        study.set_least({"c": 0.25})
        study.set_falls("reset")
        study.import_plays([("a", 1, 0.5), ("b", 1, 0.25)])
        study.retire(["a"])
        study.restore(["a"])
        study.reset(["b"])
        decision = study.ask()
        study.tell(decision, {}, final=False)
        study.tell(decision, dict.fromkeys(decision.super_arm, 1.5))
        study.set_problem(rb.problems.TopK(["a", "b", "c", "d"], k=1))
        again = rb.studies.open("kinds", storage=where, clock=lambda: 1e9)
        assert again.indices().tolist() == study.indices().tolist()
        with study._log.look() as (_, reader):
            events = list(reader.later(study._log.number, 0))
        return events, study.ask().super_arm, study.settings

    here, there = work(f"sqlite:///{tmp_path}/kinds.db"), work(storage)
    assert {event.kind for event in there[0]} == {*KINDS}
    assert [event[:5] for event in here[0]] == [event[:5] for event in there[0]]
    assert here[1:] == there[1:]
