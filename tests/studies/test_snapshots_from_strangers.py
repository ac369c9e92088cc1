"""Snapshots are read as if a stranger had written them: whatever is edited, the study goes on."""

from __future__ import annotations

import json
import shutil
import sqlite3
import zlib

import numpy as np
import pytest
from edit_kit import leaves, put

import rising_bandits as rb
from rising_bandits.policies.saving import sealed
from rising_bandits.studies.log import log

EDITS = (
    -1,
    0,
    2**31,
    2**63,
    10**30,
    1.5,
    float("nan"),
    float("inf"),
    True,
    None,
    "x",
    "\ud800",
    [],
    {},
    [[]],
    [[0, 0]],
)


@pytest.fixture
def database(tmp_path, monkeypatch):
    """The file of a study with a snapshot and a window of open decisions, and the snapshot's content."""
    monkeypatch.setattr(log, "SNAPSHOT_EVENTS", 20)
    path = tmp_path / "whole.db"
    study = rb.studies.create(
        "r", rb.problems.TopK(list("abcd"), k=2), rb.CRUCB(sigma=0.1), storage=f"sqlite:///{path}"
    )
    study.set_least({"a": 0.1})
    study.import_plays([("b", play, 0.9 if play <= 64 else 0.2) for play in range(1, 129)])
    assert study.fallen()
    rng = np.random.default_rng(0)
    waiting = []
    for turn in range(60):
        waiting.append(study.ask())
        if turn % 3:
            decision = waiting.pop(int(rng.integers(len(waiting))))
            study.tell(decision.id, {arm: rng.random() for arm in decision.super_arm})
    study.close()
    with sqlite3.connect(path) as connection:
        (body,) = connection.execute("SELECT body FROM rising_snapshots ORDER BY seq DESC").fetchone()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    data = json.loads(zlib.decompress(body))
    # Without a checksum, as in older versions. Otherwise nothing below it would be read.
    del data["checksum"]
    return path, data


def test_a_study_goes_on_whatever_its_snapshot_says(database, tmp_path):
    path, data = database
    parts = {place[0] for place, _ in leaves(data) if place}
    assert {"seq", "at", "digest", "labels", "window", "tally", "watch", "policy"} <= parts
    # States of policies have a fuzzer of their own.
    places = [place for place, _ in leaves(data) if place and place[0] != "policy"] + [("policy",)]
    rng = np.random.default_rng(1)
    tried = 0
    for place in places:
        for edit in rng.permutation(len(EDITS))[:1]:
            changed = put(data, place, EDITS[edit])
            if isinstance(changed["policy"], dict):
                changed["policy"] = sealed(changed["policy"])
            file = tmp_path / "edited.db"
            for end in ("", "-wal", "-shm"):
                file.with_name(file.name + end).unlink(missing_ok=True)
            shutil.copyfile(path, file)
            with sqlite3.connect(file) as connection:
                connection.execute(
                    "UPDATE rising_snapshots SET body = ?", (zlib.compress(json.dumps(changed).encode()),)
                )
            connection.close()
            study = rb.studies.open("r", storage=f"sqlite:///{file}")
            for _ in range(2):
                decision = study.ask()
                study.tell(decision.id, dict.fromkeys(decision.super_arm, 0.5))
            study.reset(["a"])
            assert set(study.plays()) == set("abcd")
            for told in (study.fallen, study.contradiction, study.clipped, study.open_decisions):
                told()
            study.history(last=3)
            study.close()
            tried += 1
    assert tried > 100


def test_a_snapshot_that_was_edited_is_noticed_and_passed_over(database, caplog):
    path, _ = database
    storage = f"sqlite:///{path}"
    with sqlite3.connect(path) as connection:
        for seq, body in connection.execute("SELECT seq, body FROM rising_snapshots").fetchall():
            text = zlib.decompress(body)
            assert text.count(b'"unlisted":0') == 1
            edited = zlib.compress(text.replace(b'"unlisted":0', b'"unlisted":1'))
            connection.execute("UPDATE rising_snapshots SET body = ? WHERE seq = ?", (edited, seq))
    connection.close()
    assert any("snapshot" in fault for fault in rb.studies.check(storage=storage).faults)
    with rb.studies.open("r", storage=storage) as study:
        assert study.unlisted == 0
    assert "does not agree with its checksum" in caplog.text
