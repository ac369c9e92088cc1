"""Studies on disk: killed at any moment, full disks, locked files, many processes, older and newer files."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits.studies.log import log as study_log
from rising_bandits.studies.log.fold import Fold
from rising_bandits.studies.storage import schema
from rising_bandits.studies.storage.migrations import VERSIONS
from rising_bandits.studies.storage.sql import Storage
from rising_bandits.studies.storage.thinning import spare
from rising_bandits.studies.storage.urls import parse

WORKERS = Path(__file__).with_name("workers.py")
PROBLEM = rb.problems.ShortestPath([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("b", "c")], "a", "d")
KILLS = 200


def outcomes(number, labels):
    return {label: ((number * 37 + place * 11) % 101) / 101 for place, label in enumerate(labels)}


def make(storage, **options):
    return rb.studies.create("s", PROBLEM, rb.CRUCB(sigma=0.1), storage=storage, seed=7, **options)


def rows(path, query="SELECT kind, decision, body FROM rising_events ORDER BY seq"):
    """The log by SQLite alone, without the library."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def told_in_order(path):
    """A plain policy that is given the tells of a log in the order of the decisions, and their content."""
    told, asked = {}, {}
    for kind, decision, body in rows(path):
        if kind == "ask":
            assert decision not in asked, "a decision was made twice"
            asked[decision] = json.loads(body)["arms"]
        elif kind == "tell":
            assert decision not in told, "a decision was told twice"
            content = json.loads(body)
            told[decision] = dict(zip(content["arms"], content["raw"], strict=True))
    policy = rb.CRUCB(sigma=0.1)
    policy.start(PROBLEM)
    for decision in sorted(told):
        arms = np.array(sorted(asked[decision]))
        policy.observe(arms, [told[decision][arm] for arm in arms.tolist()])
    return policy, asked, told


def test_what_was_acknowledged_survives_kill_9(tmp_path):
    """Processes that tell are killed at random moments, hundreds of times; the log is checked by SQLite alone."""
    path, record = tmp_path / "s.db", tmp_path / "acknowledged"
    make(f"sqlite:///{path}", reorder=10_000).close()
    command = [sys.executable, str(WORKERS), "kill", f"sqlite:///{path}", str(record), str(tmp_path), str(KILLS), "5"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    wanted = int(done.stdout)
    assert done.stderr == ""
    policy, asked, told = told_in_order(path)
    noted = [json.loads(line) for line in record.read_text().splitlines() if line.startswith("[")]
    assert len(noted) >= wanted > KILLS
    labels = PROBLEM.labels
    for decision, content in noted:
        assert {labels[key]: raw for key, raw in told[decision].items()} == content
    # Beyond what was noted there is at most the one tell per kill that was on disk but not noted yet.
    assert 0 <= len(told) - len(noted) <= KILLS
    assert sorted(asked) == list(range(1, len(asked) + 1))
    study = rb.studies.open("s", storage=f"sqlite:///{path}")
    assert study.indices().tolist() == policy.indices().tolist()
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]


def run_writers(storage, count, rounds, folder):
    """Several processes ask and tell at the same time; returns the decisions of each."""
    command = [sys.executable, str(WORKERS), "work", storage, str(count), str(rounds), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return [json.loads(path.read_text()) for path in folder.glob("*.json")]


def check_writers(study, parts, rounds):
    """No decision was made twice or lost, and the study knows what the same tells in order teach."""
    decisions = {number: labels for part in parts for number, labels in part}
    assert sorted(decisions) == list(range(1, len(parts) * rounds + 1))
    policy = rb.CRUCB(sigma=0.1)
    policy.start(PROBLEM)
    for number, labels in sorted(decisions.items()):
        arms = np.sort(PROBLEM.arms_of(labels))
        told = outcomes(number, labels)
        policy.observe(arms, [told[label] for label in PROBLEM.labels_of(arms)])
    assert study.indices().tolist() == policy.indices().tolist()
    assert study.policy.round == len(decisions) + 1


def test_eight_writers_on_one_file(tmp_path):
    storage = f"sqlite:///{tmp_path}/s.db"
    study = make(storage, reorder=10_000)
    check_writers(study, run_writers(storage, 8, 50, tmp_path), 50)


def check_mix(storage, folder, rounds=8):
    """Eight processes that do different things with wrong clocks: nothing that was acknowledged is lost or changed."""
    make(storage, reorder=10_000).close()
    command = [sys.executable, str(WORKERS), "mix", storage, "8", str(rounds), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    parts = [json.loads(path.read_text()) for path in sorted(folder.glob("?.json"))]
    assert [len(part) for part in parts] == [rounds * count for count in (3, 3, 2, 1, 3, 3, 2, 1)]
    noted = {number: (at, content) for part in parts for number, at, content in part}
    assert sorted(noted) == list(range(1, sum(map(len, parts)) + 1))
    assert rb.studies.check(storage=storage).whole
    with rb.studies.open("s", storage=storage) as study:
        events, labels = study.events(), study.problem.labels
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        # Whatever the clocks of the processes say, the time of the study never goes back.
        times = [event.at for event in events]
        assert times == sorted(times)
        told = {event.decision: event.body for event in events if event.kind == "tell"}
        assert sum(event.kind == "tell" for event in events) == len(told) == len(noted)
        for event in events:
            if event.kind == "ask":
                assert noted[event.decision][0] == event.at
        for number, body in told.items():
            found = {labels[key]: raw for key, raw in zip(body["arms"], body["raw"], strict=True)}
            assert found == noted[number][1]
        # A load checks that each event is one that a study in that state would have written.
        study.export(folder / "all.jsonl")
        with rb.studies.load(folder / "all.jsonl", storage=f"sqlite:///{folder}/again.db") as again:
            assert again.indices().tolist() == study.indices().tolist()
            assert again.settings == study.settings
            assert again.plays() == study.plays()


def test_eight_processes_that_do_different_things_with_wrong_clocks(tmp_path):
    check_mix(f"sqlite:///{tmp_path}/s.db", tmp_path)


_FORK = """
import os, sys
import rising_bandits as rb

os.chdir(sys.argv[1])
for folder in ("there", "elsewhere"):
    os.mkdir(folder)
    os.chdir(folder)
    study = rb.studies.create("s", rb.problems.TopK(3, k=1), rb.CRUCB(sigma=0.1), storage="sqlite:///s.db")
    os.chdir("..")
study.ask()
child = os.fork()
if child == 0:
    code = 1
    try:
        os.chdir("there")
        code = 0 if study.ask().id == 2 and study.tell(2, {}) else 1
    finally:
        os._exit(code)
assert os.waitpid(child, 0)[1] == 0
assert study.ask().id == 3
assert rb.studies.open("s", storage="sqlite:///there/s.db").ask().id == 1
"""


def test_a_fork_gets_its_own_connection_to_the_same_file_wherever_it_goes(tmp_path):
    # In a process of its own: other tests may have started threads here, and those do not survive a fork.
    subprocess.run([sys.executable, "-c", _FORK, str(tmp_path)], check=True, timeout=120)


def test_threads_share_a_study(tmp_path):
    import threading

    study = make(f"sqlite:///{tmp_path}/s.db", reorder=10_000)
    decisions = []

    def work():
        for _ in range(20):
            decision = study.ask()
            study.tell(decision, outcomes(decision.id, decision.super_arm))
            decisions.append([decision.id, decision.super_arm])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check_writers(study, [decisions], 80)


def fill(study, told):
    """Ask and tell until something gives way; note what was acknowledged."""
    for _ in range(10_000):
        decision = study.ask()
        study.tell(decision, outcomes(decision.id, decision.super_arm))
        told.append(decision.id)


def test_a_full_disk_is_said_and_loses_nothing(tmp_path):
    """SQLite itself is told how many pages there are, and then says what it says when the disk is full."""
    path = tmp_path / "s.db"
    study = make(f"sqlite:///{path}")
    connection = study._log.storage._connection()
    pages = connection.cursor().execute("PRAGMA page_count").fetchone()[0]
    connection.cursor().execute(f"PRAGMA max_page_count={pages + 3}")
    told = []
    with pytest.raises(rb.StorageError, match=r"there is no space left for sqlite:///.*s.db; nothing was changed"):
        fill(study, told)
    assert len(told) > 10
    before = rows(path)
    # Space is there again: the connection was dropped with the error, and the limit with it.
    assert study.policy.plays.sum() == told_in_order(path)[0].plays.sum()
    assert len([row for row in before if row[0] == "tell"]) == len(told)
    for decision in study.open_decisions():
        assert study.tell(decision, outcomes(decision.id, decision.super_arm))
    decision = study.ask()
    assert study.tell(decision, outcomes(decision.id, decision.super_arm))
    assert study.indices().tolist() == told_in_order(path)[0].indices().tolist()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
def test_a_file_system_without_space(tmp_path):
    """The same on a real file system of one megabyte."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip(f"mounting is not allowed here: {mounted.stderr.decode().strip()}")
    try:
        path = place / "s.db"
        study = make(f"sqlite:///{path}")
        told = []
        with pytest.raises(rb.StorageError, match=r"no space left|nothing was"):
            fill(study, told)
        assert len(told) > 10
        study.close()
        policy, _, content = told_in_order(path)
        assert len(content) == len(told)
        again = rb.studies.open("s", storage=f"sqlite:///{path}")
        assert again.indices().tolist() == policy.indices().tolist()
        again.close()
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_locked_file_is_said_and_loses_nothing(tmp_path):
    path = tmp_path / "s.db"
    study = make(f"sqlite:///{path}", timeout=0.2)
    decision = study.ask()
    other = sqlite3.connect(path)
    other.execute("BEGIN IMMEDIATE")
    before = rows(path)
    for call in (study.ask, lambda: study.tell(decision, {})):
        with pytest.raises(rb.StorageError, match=r"has been locked by another process for 0.2 s; nothing was changed"):
            call()
    assert rows(path) == before
    # Looking is possible all the while.
    assert study.policy.round == 1
    other.rollback()
    other.close()
    assert study.tell(decision, {})


def test_a_file_that_is_no_database(tmp_path):
    path = tmp_path / "s.db"
    path.write_text("these are not the pages of a database" * 100)
    with pytest.raises(rb.StorageError, match="is damaged, or is not a database of studies"):
        rb.studies.open("s", storage=f"sqlite:///{path}")
    with pytest.raises(rb.StorageError, match="check that its folder exists"):
        make(f"sqlite:///{tmp_path}/no/such/folder/s.db")


def test_a_newer_file_is_refused(tmp_path):
    path = tmp_path / "s.db"
    make(f"sqlite:///{path}").close()
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE {schema.VERSION_TABLE} SET version_num = '9999'")
    with pytest.raises(rb.StorageError, match=r"was written by a newer rising-bandits \(schema 9999"):
        rb.studies.open("s", storage=f"sqlite:///{path}")


def test_migrations_lead_to_the_tables_that_the_program_uses(tmp_path):
    Storage(f"sqlite:///{tmp_path}/s.db").close()
    numbers = [version.VERSION for version in VERSIONS]
    assert numbers == sorted(set(numbers))
    with contextlib.closing(sqlite3.connect(tmp_path / "s.db")) as connection:
        for table, columns in schema.COLUMNS.items():
            assert tuple(row[1] for row in connection.execute(f"PRAGMA table_info({table})")) == columns
        assert (
            "WITHOUT ROWID"
            in connection.execute("SELECT sql FROM sqlite_master WHERE name = 'rising_events'").fetchone()[0]
        )


def test_a_file_of_the_first_version_gets_its_checksums(tmp_path):
    path = tmp_path / "s.db"
    study = make(f"sqlite:///{path}")
    for _ in range(5):
        decision = study.ask()
        study.tell(decision, outcomes(decision.id, decision.super_arm))
    indices = study.indices().tolist()
    study.close()
    before = rows(path)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        for table, column in (("studies", "digest"), ("studies", "loading"), ("events", "digest")):
            connection.execute(f"ALTER TABLE rising_{table} DROP COLUMN {column}")
        connection.execute(f"UPDATE {schema.VERSION_TABLE} SET version_num = '0001'")
    again = rb.studies.open("s", storage=f"sqlite:///{path}")
    assert again.indices().tolist() == indices
    again.close()
    assert rows(path) == before


def test_a_migration_that_fails_changes_nothing(tmp_path, monkeypatch):
    path = tmp_path / "s.db"

    def fail(changes):
        changes.run("CREATE TABLE half (done INTEGER)")
        changes.run("CREATE TABLE half (done INTEGER)")

    with monkeypatch.context() as patch:
        patch.setattr(VERSIONS[-1], "upgrade", fail)
        with pytest.raises(rb.StorageError, match="half"):
            make(f"sqlite:///{path}")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == []
    make(f"sqlite:///{path}").close()


@pytest.mark.parametrize(
    ("text", "database", "password"),
    [
        ("sqlite:////data/a b#c%20d.db", "/data/a b#c%20d.db", ""),
        ("sqlite+pysqlite:////data/x@y:z.db", "/data/x@y:z.db", ""),
        ("sqlite:///file:/data/s.db?mode=ro&uri=true", "file:/data/s.db", ""),
        ("postgresql://ann:a%40b%3A@host:5433/team", "team", "a@b:"),
        ("postgresql+psycopg://ann@[::1]/team", "team", ""),
        ("postgresql:///team?host=/run/sock&password=x", "team", "x"),
        ("postgresql://host/te@m", "te@m", ""),
        ("postgresql://ann:b:c#d@one:1,[::1]:2,three/team?sslmode=prefer", "team", "b:c#d"),
        ("postgresql://%2Frun%2Fsock/team?password=a+b%26", "team", "a+b&"),
    ],
)
def test_addresses_are_read(text, database, password):
    found = parse(text)
    assert (found.database, found.password, found.sqlite) == (database, password, text.startswith("sqlite"))
    assert parse(found.text) == found
    if password:
        assert password not in str(found) + repr(found)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "team",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:///file::memory:",
        "sqlite://host/a.db",
        "mysql://h/d",
        "sqlite:///a\0b",
        3,
    ],
)
def test_other_addresses_are_refused(text):
    with pytest.raises(rb.InputError, match="storage must be a URL"):
        parse(text)


@pytest.mark.parametrize("file", ["{}/s.db", "file:{}/s.db"])
def test_a_mode_that_there_is_not_is_no_permission_to_write(tmp_path, file):
    with pytest.raises(rb.InputError, match="mode of a storage must be ro, rw or rwc, got 'r0'"):
        make(f"sqlite:///{file.format(tmp_path)}?mode=r0")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("step", [1, 7, 2_000])
def test_snapshots_are_few_and_close_to_every_event(step):
    """Of a log that grows for long, with a snapshot every ``step`` events and now and then a gap."""
    dice = random.Random(1)
    kept, seq = [], 0
    for count in range(1, 4_001):
        seq += step * (1 if dice.random() < 0.95 else dice.randint(2, 30))
        gone = spare([*kept, seq])
        before, kept = kept, [old for old in [*kept, seq] if old not in gone]
        assert kept[-2:] == [*before, seq][-2:]
        assert len(kept) <= 2 * 16 + 4 * (math.log2(count) + 2)
        if count % 500 == 0:
            for older, newer in itertools.pairwise([0, *kept[:-2]]):
                # The gaps that were there from the beginning cannot be closed.
                assert newer - older <= max(30 * step, min((seq - older) / 2, seq / 16))


def long_log(path, monkeypatch):
    """A study of a few thousand decisions with a snapshot every fifty events."""
    monkeypatch.setattr(study_log, "SNAPSHOT_EVENTS", 50)
    monkeypatch.setattr(study_log, "_BYTES_PER_EVENT", 10**9)
    study = make(f"sqlite:///{path}")
    for number in range(1, 1_201):
        decision = study.ask()
        study.tell(decision, outcomes(number, decision.super_arm))
    return study


def test_an_old_decision_is_explained_from_a_snapshot_near_it(tmp_path, monkeypatch):
    study = long_log(tmp_path / "s.db", monkeypatch)
    whole = len(rows(tmp_path / "s.db"))
    moved = rb.studies.load(study.export(tmp_path / "s.jsonl"), "moved", storage=f"sqlite:///{tmp_path}/s.db")
    wanted = {number: study.explain(number).to_dict() for number in (900, 1_190)}
    applied = []
    apply = Fold.apply
    monkeypatch.setattr(Fold, "apply", lambda fold, event: applied.append(event.seq) or apply(fold, event))
    for seen in (study, moved):
        for number in (900, 1_190):
            applied.clear()
            found = seen.explain(number).to_dict()
            assert {**found, "study": "s"} == wanted[number]
            assert 0 < len(applied) <= whole / 16 + 50
    with contextlib.closing(sqlite3.connect(tmp_path / "s.db")) as connection, connection:
        connection.execute("DELETE FROM rising_snapshots")
    again = rb.studies.open("s", storage=f"sqlite:///{tmp_path}/s.db")
    assert again.explain(900).to_dict() == wanted[900]


def test_a_part_of_a_long_history_is_read_from_a_snapshot_near_it(tmp_path, monkeypatch):
    study = long_log(tmp_path / "s.db", monkeypatch)
    table = study.history()
    applied = []
    apply = Fold.apply
    monkeypatch.setattr(Fold, "apply", lambda fold, event: applied.append(event.seq) or apply(fold, event))
    assert study.history(last=100).equals(table.tail(100).reset_index(drop=True))
    assert len(applied) <= 300
    applied.clear()
    since = table["told_at"].iloc[-80]
    assert study.history(since=since).equals(table[table["told_at"] >= since].reset_index(drop=True))
    assert len(applied) <= 300


def test_power_safe_waits_for_the_disk(tmp_path):
    for safe, level in ((False, 1), (True, 2)):
        study = make(f"sqlite:///{tmp_path}/{level}.db", power_safe=safe)
        cursor = study._log.storage._connection().cursor()
        assert cursor.execute("PRAGMA synchronous").fetchone() == (level,)
        assert cursor.execute("PRAGMA journal_mode").fetchone() == ("wal",)


class Unsaved(rb.Policy):
    """A policy whose parameter nobody could find again."""

    name = "unsaved"

    def __init__(self, bias=3):
        self.bias = bias

    def _begin(self, problem, horizon):
        self.counts = np.zeros(problem.n_arms)

    def _choose(self, mask):
        return np.array([0])

    def _learn(self, arms, outcomes, played):
        self.counts[arms[:played]] += 1

    def indices(self):
        return self.counts


def test_a_policy_that_cannot_be_saved_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(rb.InputError, match="bias of Unsaved would not be saved"):
        rb.studies.create("s", rb.problems.TopK(["a", "b"], k=1), Unsaved(bias=9), storage=f"sqlite:///{tmp_path}/s.db")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("damage", [b"garbage", b"", "older"])
def test_a_snapshot_that_cannot_be_read_does_no_harm_and_is_replaced(tmp_path, monkeypatch, damage):
    import zlib

    monkeypatch.setattr(study_log, "SNAPSHOT_EVENTS", 6)
    path, storage = tmp_path / "s.db", f"sqlite:///{tmp_path}/s.db"
    with make(storage) as study:
        for _ in range(20):
            decision = study.ask()
            study.tell(decision, outcomes(decision.id, decision.super_arm))
        wanted = study.indices().tolist()
    monkeypatch.setattr(study_log, "SNAPSHOT_EVENTS", 2_000)
    query = "SELECT seq, body FROM rising_snapshots ORDER BY seq"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        for seq, body in connection.execute(query).fetchall():
            old = json.loads(zlib.decompress(body))
            bad = zlib.compress(json.dumps({**old, "format": 1}).encode()) if damage == "older" else damage
            connection.execute("UPDATE rising_snapshots SET body = ? WHERE seq = ?", (bad, seq))
    with rb.studies.open("s", storage=storage) as study:
        assert study.indices().tolist() == wanted
        assert study.explain(15).decision == 15
        decision = study.ask()
        study.tell(decision, outcomes(decision.id, decision.super_arm))
        wanted = study.indices().tolist()
    # One that can be read has taken their place.
    ((_, body),) = rows(path, query)
    assert json.loads(zlib.decompress(body))["seq"] == len(rows(path))
    with rb.studies.open("s", storage=storage) as study:
        assert study.indices().tolist() == wanted


def test_a_call_whose_snapshot_cannot_be_made_is_kept_and_does_not_fail(tmp_path, monkeypatch):
    def fail(fold):
        raise rb.InputError("no")

    monkeypatch.setattr(study_log, "SNAPSHOT_EVENTS", 2)
    with make(f"sqlite:///{tmp_path}/s.db") as study:
        monkeypatch.setattr(study_log.snapshot, "dump", fail)
        for _ in range(4):
            decision = study.ask()
            assert study.tell(decision, outcomes(decision.id, decision.super_arm))
        assert len(study.history()["decision_id"].unique()) == 4
