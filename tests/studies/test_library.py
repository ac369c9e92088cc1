"""Studies by name: create, open, delete, settings and snapshots."""

from __future__ import annotations

import pytest
from study_kit import PROBLEM, make, outcomes_for

import rising_bandits as rb
from rising_bandits.studies.log import log as study_log
from rising_bandits.studies.storage import sql as storage_module


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


def test_a_snapshot_of_another_version_of_policies_is_read_past(storage, monkeypatch):
    from rising_bandits.policies import saving

    monkeypatch.setattr(study_log, "SNAPSHOT_EVENTS", 4)
    study = make(storage)
    for _ in range(6):
        study.tell(decision := study.ask(), outcomes_for(decision))
    monkeypatch.setattr(saving, "_READABLE", (99,))
    again = rb.studies.open("s", storage=storage)
    assert again.indices().tolist() == study.indices().tolist()


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
