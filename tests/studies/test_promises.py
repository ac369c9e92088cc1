"""Promises of studies: damage is noticed, looks write nothing, clocks do not matter, labels are text."""

from __future__ import annotations

import contextlib
import gc
import json
import math
import random
import re
import shutil
import sqlite3
import threading
import time
import tracemalloc
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import rising_bandits as rb
from rising_bandits._text import shown_text
from rising_bandits.policies.engines import live
from rising_bandits.studies import library, loading
from rising_bandits.studies.log import log as study_log
from rising_bandits.studies.storage import digests, transactions
from rising_bandits.studies.storage import queue as queues
from rising_bandits.studies.storage.databases import Steady
from rising_bandits.studies.storage.queue import Queue
from rising_bandits.studies.storage.sql import Storage
from rising_bandits.testing import check_storage

PROBLEM = rb.problems.TopK(["a", "b", "c"], k=2)
DATA = Path(__file__).parents[1] / "data"


def make(path, name="s", **options):
    return rb.studies.create(name, PROBLEM, rb.CRUCB(sigma=0.1), storage=f"sqlite:///{path}", seed=1, **options)


def play(study, rounds):
    for _ in range(rounds):
        study.tell(decision := study.ask(), dict.fromkeys(decision.super_arm, 0.5))


def edit(path, *statements):
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        for statement, *parameters in statements:
            connection.execute(statement, parameters)


def whole(path):
    return rb.studies.check(storage=f"sqlite:///{path}")


def test_every_storage_keeps_the_protocol(tmp_path):
    check_storage(lambda: Storage(f"sqlite:///{tmp_path}/s.db"))


def test_a_server_keeps_the_protocol(postgres):
    for name in rb.studies.names(storage=postgres):
        rb.studies.delete(name, storage=postgres)
    check_storage(lambda: Storage(postgres))


def test_an_event_that_was_changed_or_lost_is_noticed_and_named(tmp_path):
    path = tmp_path / "s.db"
    with make(path) as study:
        play(study, 20)
    assert whole(path).whole
    assert (whole(path).studies, whole(path).events) == (1, 41)
    damage = {
        "event 7 does not agree": ("UPDATE rising_events SET body = replace(body, '0.5', '0.6') WHERE seq = 7",),
        "event 12 does not agree": ("UPDATE rising_events SET at = at + 1 WHERE seq = 12",),
        "events 20 to 20 are missing": ("DELETE FROM rising_events WHERE seq = 20",),
        "settings do not agree": ("UPDATE rising_studies SET settings = replace(settings, '0.1', '0.2')",),
        "event 9 does not agree": ("UPDATE rising_events SET body = ? WHERE seq = 9", b"\xff\x00"),
        "event 5 does not agree": ("UPDATE rising_events SET digest = 3 WHERE seq = 5",),
    }
    for number, (said, statement) in enumerate(damage.items()):
        copy = tmp_path / f"{number}.db"
        shutil.copy(path, copy)
        edit(copy, statement)
        found = whole(copy)
        assert any(said in fault for fault in found.faults), (said, found.faults)
        assert "'s'" in found.faults[0]
        with pytest.raises(rb.StorageError, match="is damaged"):
            rb.studies.open("s", storage=f"sqlite:///{copy}")
        with pytest.raises(rb.StorageError, match="so no backup was written"):
            rb.studies.backup(tmp_path / "none.db", storage=f"sqlite:///{copy}")
    assert not (tmp_path / "none.db").exists()


def test_bytes_overwritten_anywhere_are_noticed_or_do_no_harm(tmp_path):
    """64 bytes overwritten at many places: the check notices, or everything is read as it was written."""
    path = tmp_path / "s.db"
    with make(path) as study:
        play(study, 150)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        wanted = connection.execute("SELECT * FROM rising_events ORDER BY seq").fetchall()
    content, dice = path.read_bytes(), random.Random(4)
    noticed = 0
    for attempt in range(60):
        place = dice.randrange(0, len(content) - 64)
        copy = tmp_path / "copy.db"
        copy.write_bytes(content[:place] + dice.randbytes(64) + content[place + 64 :])
        if not whole(copy).whole:
            noticed += 1
            with contextlib.suppress(rb.RisingBanditsError):
                rb.studies.open("s", storage=f"sqlite:///{copy}").history()
        else:
            # It hit bytes that mean nothing.
            with contextlib.closing(sqlite3.connect(copy)) as connection:
                assert connection.execute("SELECT * FROM rising_events ORDER BY seq").fetchall() == wanted, attempt
        for rest in tmp_path.glob("copy.db*"):
            rest.unlink()
    assert noticed > 10


def test_a_log_that_went_back_in_place_is_noticed(tmp_path):
    """A backup copied over the open file, byte by byte, keeps the file's identity; the log is another one."""
    path = tmp_path / "s.db"
    study = make(path)
    play(study, 5)
    rb.studies.backup(tmp_path / "copy.db", storage=f"sqlite:///{path}")
    play(study, 5)
    number = study._log.number
    edit(path, ("DELETE FROM rising_events WHERE seq > 15",))
    for call in (study.ask, study.history):
        with pytest.raises(rb.StorageError, match="event 21 of a study is missing"):
            call()
    copy = rb.studies.open("s", storage=f"sqlite:///{tmp_path}/copy.db")
    assert copy.policy.round == 6
    play(copy, 5)
    with contextlib.closing(sqlite3.connect(tmp_path / "copy.db")) as other:
        rows = other.execute(
            "SELECT seq, kind, at, decision, body, digest FROM rising_events WHERE seq > 11"
        ).fetchall()
    edit(path, ("DELETE FROM rising_events WHERE seq > 11",))
    edit(path, *[("INSERT INTO rising_events VALUES (?, ?, ?, ?, ?, ?, ?)", number, *row) for row in rows])
    with pytest.raises(rb.StorageError, match="event 21 is another one than before"):
        study.ask()


def test_a_snapshot_of_another_log_is_passed_over(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(study_log, "SNAPSHOT_EVENTS", 4)
    path, other = tmp_path / "s.db", tmp_path / "t.db"
    indices = {}
    for place, value in ((path, 0.5), (other, 0.25)):
        with make(place) as study:
            for _ in range(4):
                study.tell(decision := study.ask(), dict.fromkeys(decision.super_arm, value))
            indices[place] = study.indices().tolist()
    with contextlib.closing(sqlite3.connect(other)) as connection:
        bodies = connection.execute("SELECT body, seq FROM rising_snapshots").fetchall()
    edit(path, *[("UPDATE rising_snapshots SET body = ? WHERE seq = ?", *row) for row in bodies])
    with caplog.at_level("WARNING"), rb.studies.open("s", storage=f"sqlite:///{path}") as study:
        assert study.indices().tolist() == indices[path]
    assert "does not belong to its log" in caplog.text


def test_an_old_database_gets_checksums_and_goes_on(tmp_path):
    path = tmp_path / "old.db"
    shutil.copy(DATA / "study-1.db", path)
    before = path.read_bytes()
    (name,) = rb.studies.names(storage=f"sqlite:///{path}")
    found = whole(path)
    assert found.whole
    assert "no checksums yet" in found.notes[0]
    assert path.read_bytes() == before
    assert [rest.name for rest in tmp_path.iterdir()] == ["old.db"]
    rb.studies.open(name, storage=f"sqlite:///{path}").close()
    assert whole(path).whole
    assert not whole(path).notes
    with contextlib.closing(sqlite3.connect(path)) as connection:
        digest = 0
        for row in connection.execute(
            "SELECT study_id, seq, kind, at, decision, body, digest FROM rising_events ORDER BY seq"
        ):
            digest = digests.event_digest(digest, *row[:6])
            assert digest == row[6]


def test_a_live_database_is_copied_as_of_one_moment(tmp_path, run, capsys):
    path = tmp_path / "s.db"
    study = make(path, reorder=10_000)
    stop = threading.Event()

    def write():
        while not stop.is_set():
            play(study, 1)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(3):
            while study.policy.round < 20 * (number + 1):
                pass
            copy = rb.studies.backup(tmp_path / f"{number}.db", storage=f"sqlite:///{path}")
            with rb.studies.open("s", storage=f"sqlite:///{copy}") as other:
                assert other.policy.round >= 20 * (number + 1)
                play(other, 1)
    finally:
        stop.set()
        writer.join()
    with pytest.raises(rb.InputError, match="path must be a new file"):
        rb.studies.backup(copy, storage=f"sqlite:///{path}")
    with pytest.raises(rb.InputError, match="must not be the storage itself"):
        rb.studies.backup(path, storage=f"sqlite:///{path}", overwrite=True)
    storage = f"sqlite:///{path}"
    assert run("study", "backup", tmp_path / "by-hand.db", "--storage", storage) == 0
    assert run("study", "check", "--storage", f"sqlite:///{tmp_path}/by-hand.db") == 0
    assert "whole" in capsys.readouterr().out
    edit(tmp_path / "by-hand.db", ("DELETE FROM rising_events WHERE seq = 4",))
    assert run("study", "check", "--json", "--storage", f"sqlite:///{tmp_path}/by-hand.db") == 1
    assert json.loads(capsys.readouterr().out)["faults"] == ["study 's': events 4 to 4 are missing"]


def test_a_server_is_copied_to_a_file(postgres, tmp_path):
    with rb.studies.create("moved", PROBLEM, rb.CRUCB(sigma=0.1), storage=postgres, seed=3) as study:
        play(study, 12)
        copy = rb.studies.backup(tmp_path / "copy.db", storage=postgres)
        with rb.studies.open("moved", storage=f"sqlite:///{copy}") as other:
            assert other.indices().tolist() == study.indices().tolist()
            assert other.ask().super_arm == study.ask().super_arm
    assert rb.studies.check(storage=postgres).whole
    rb.studies.delete("moved", storage=postgres)


def test_looking_at_someone_elses_file_writes_nothing(tmp_path):
    for mode in ("delete", "wal"):
        folder = tmp_path / mode
        folder.mkdir()
        path = folder / "theirs.db"
        edit(path, (f"PRAGMA journal_mode={mode}",), ("CREATE TABLE mine (x)",), ("INSERT INTO mine VALUES (1)",))
        before = path.read_bytes()
        assert rb.studies.names(storage=f"sqlite:///{path}") == []
        assert rb.studies.check(storage=f"sqlite:///{path}").whole
        for use in (rb.studies.open, rb.studies.delete):
            with pytest.raises(rb.InputError, match="there are none"):
                use("s", storage=f"sqlite:///{path}")
        assert path.read_bytes() == before
        assert [found.name for found in folder.iterdir()] == ["theirs.db"]


def test_a_file_that_is_only_read_can_be_looked_at(tmp_path):
    path = tmp_path / "s.db"
    with make(path) as study:
        play(study, 5)
        wanted = study.indices().tolist()
    for rest in tmp_path.glob("s.db-*"):
        rest.unlink()
    with rb.studies.open("s", storage=f"sqlite:///{path}?mode=ro") as seen:
        assert seen.indices().tolist() == wanted
        assert len(seen.history()) == 10
        with pytest.raises(rb.StorageError, match="nothing can be written"):
            seen.ask()
    assert [found.name for found in tmp_path.iterdir()] == ["s.db"]


class Clock:
    def __init__(self, time):
        self.time = time

    def __call__(self):
        return self.time


def test_a_clock_that_steps_back_does_not_revive_an_expired_decision(tmp_path):
    clock = Clock(1000.0)
    study = make(tmp_path / "s.db", expires=10.0, clock=clock)
    old = study.ask()
    clock.time = 1100.0
    study.ask()
    clock.time = 1001.0
    other = rb.studies.open("s", storage=f"sqlite:///{tmp_path}/s.db", clock=clock)
    for seen in (study, other):
        assert old.id not in [decision.id for decision in seen.open_decisions()]
        with pytest.raises(rb.ExpiredError):
            seen.tell(old.id, {})
    assert study.ask().asked_at == 1100.0
    # Clocks that disagree: the time of the log never goes back.
    rushing = rb.studies.open("s", storage=f"sqlite:///{tmp_path}/s.db", clock=lambda: 5000.0)
    rushing.ask()
    times = [study.ask().asked_at for _ in range(3)]
    assert times == [5000.0] * 3
    for wrong in (float("nan"), "now", None, 1e12):
        clock.time = wrong
        with pytest.raises(rb.InputError, match="the time that clock returns"):
            study.ask()


def test_the_clock_of_this_machine_never_goes_back(monkeypatch):
    import time

    wall, passed = Clock(500.0), Clock(7.0)
    monkeypatch.setattr(time, "time", wall)
    monkeypatch.setattr(time, "monotonic", passed)
    steady = Steady()
    assert steady() == 500.0
    wall.time, passed.time = 100.0, 12.0
    assert steady() == 505.0
    wall.time, passed.time = 900.0, 13.0
    assert steady() == 900.0


NASTY = "\x1b[2J\x1b]0;owned\x07\u202e$\\foo$ <b>&\"'\n\x00"


def test_labels_are_text_in_terminals_and_figures(tmp_path, run, capsys):
    shown = shown_text(NASTY)
    assert shown.isprintable()
    assert shown_text("\ud800") == "\\ud800"
    with pytest.raises(rb.InputError, match="labels must be text that UTF-8 can hold"):
        rb.studies.create("t", rb.problems.TopK(["\ud800", "b"], k=1), storage=f"sqlite:///{tmp_path}/t.db")
    assert shown_text("naïve → 東京 $5") == "naïve → 東京 $5"
    labels = [NASTY, "plain", "$\\frac{1$"]
    problem = rb.problems.TopK(labels, k=2)
    storage = f"sqlite:///{tmp_path}/s.db"
    scale = rb.studies.Range(0, 10, unit="$\\foo$\x1b[1m")
    study = rb.studies.create("s", problem, rb.CRUCB(sigma=0.1), storage=storage, scale=scale, seed=1)
    for _ in range(5):
        study.tell(decision := study.ask(), dict.fromkeys(decision.super_arm, 5.0))
    for command in (
        ["ask", "s", "--explain"],
        ["show", "s", "--plot", tmp_path / "s.png"],
        ["show", "s", "--decision", 5],
    ):
        assert run("study", *command, "--storage", storage) == 0
    assert run("study", "show", "s", "--decision", 5, "--plot", tmp_path / "why.png", "--storage", storage) == 0
    said = capsys.readouterr()
    printed = f"{study.explain(5)}\n{study.replay(rb.SWCUCB(window=5))}"
    for letter in "\x1b\x07\u202e\x00":
        assert letter not in said.out + said.err + printed
    for figure in ("s.svg", "why.svg"):
        ET.parse(tmp_path / figure)


def test_damaged_definitions_of_tables_are_said(tmp_path):
    path = tmp_path / "s.db"
    make(path).close()
    # SQLite quotes the name, which is no text any more, in its own message.
    damaged = path.read_bytes().replace(b"rising_snapshots", b"rising_sn\xb0psho(s")
    assert damaged != path.read_bytes()
    path.write_bytes(damaged)
    for call in (
        lambda: rb.studies.open("s", storage=f"sqlite:///{path}"),
        lambda: rb.studies.names(storage=f"sqlite:///{path}"),
    ):
        with pytest.raises(rb.StorageError, match="damaged"):
            call()


@pytest.mark.parametrize("name", ["a\ud800", "a\0b", "line\nbreak", "\x1b[2J", "", " ", "x" * 201, 3])
def test_names_that_cannot_be_stored_or_shown_are_refused(tmp_path, name):
    with pytest.raises(rb.InputError, match="name must be"):
        make(tmp_path / "s.db", name)
    assert not (tmp_path / "s.db").exists()


def test_strangers_files_raise_only_errors_of_the_library(tmp_path):
    """Rows with right checksums and wrong content, deep JSON, bytes that are no text."""
    path = tmp_path / "s.db"
    with make(path) as study:
        play(study, 3)
        number = study._log.number
    deep = "[" * 100_000 + "]" * 100_000
    bodies = [
        "{}",
        "[]",
        "null",
        '{"arms": 3}',
        '{"arms": ["x"], "raw": [{}]}',
        f'{{"arms": {deep}}}',
        "{",
        '{"arms":[99],"raw":[2]}',
    ]
    for place, body in enumerate(bodies):
        for kind, decision in (
            ("tell", 4),
            ("ask", 4),
            ("problem", None),
            ("reset", None),
            ("import", None),
            ("odd", None),
        ):
            copy = tmp_path / f"{place}-{kind}.db"
            shutil.copy(path, copy)
            with contextlib.closing(sqlite3.connect(copy)) as connection, connection:
                before = connection.execute("SELECT digest FROM rising_events WHERE seq = 7").fetchone()[0]
                digest = digests.event_digest(before, number, 8, kind, 1e9, decision, body)
                row = (number, 8, kind, 1e9, decision, body, digest)
                connection.execute("INSERT INTO rising_events VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            with (
                contextlib.suppress(rb.RisingBanditsError),
                rb.studies.open("s", storage=f"sqlite:///{copy}") as seen,
            ):
                play(seen, 1)
    bad = tmp_path / "bad.jsonl"
    for content in (
        b"\xff\xfe\x00garbage",
        deep.encode(),
        b'{"rising_bandits_study": ' + deep.encode() + b"}",
        b"",
        b"{}",
    ):
        bad.write_bytes(content)
        with pytest.raises(rb.RisingBanditsError):
            rb.studies.load(bad, storage=f"sqlite:///{tmp_path}/new.db")


def test_waiting_writers_are_served_in_turn_and_the_dead_are_skipped(tmp_path):
    database = tmp_path / "s.db"
    first, second, third = Queue(database), Queue(database), Queue(database)
    assert first.enter(5.0)
    order, looked = [], []

    def wait(queue, name):
        assert queue.enter(60.0, lambda: looked.append(name))
        order.append(name)
        queue.leave()

    threads = []
    for count, (queue, name) in enumerate([(second, "second"), (third, "third")], 2):
        threads.append(threading.Thread(target=wait, args=(queue, name)))
        threads[-1].start()
        while first._words[1] < count:
            pass
    first.leave()
    for thread in threads:
        thread.join()
    assert order == ["second", "third"]
    assert set(looked) <= {"second", "third"}
    # Those who took a ticket and never come, dead or alive, do not stop the others.
    lost = Queue(database)
    assert lost.enter(5.0)
    lost.forget()
    assert first.enter(60.0)
    # One who waits too long is told, and does not call those who came later before those who came earlier.
    assert not second.enter(0.01)
    mine = first._ticket
    second.leave()
    assert first._words[0] == mine
    first.leave()
    assert third.enter(60.0)
    third.leave()
    for queue in (first, second, third):
        queue.close()
    # A file with anything in it is used as it is.
    Path(f"{database}-turns").write_bytes(random.Random(1).randbytes(64))
    assert first.enter(60.0)
    first.close()


def test_who_calls_without_a_pause_keeps_the_turn_until_its_time_is_over(tmp_path, monkeypatch):
    monkeypatch.setattr(queues, "KEEP", 1e9)
    monkeypatch.setattr(queues, "PAUSE", 1e9)
    # Another path to the same file, as another process would have it: two queues of one process give way to each other.
    (tmp_path / "link").symlink_to(tmp_path)
    first, second = Queue(tmp_path / "s.db"), Queue(tmp_path / "link" / "s.db")
    first._left = time.monotonic()
    assert first.enter(5.0)
    served = threading.Event()
    waiting = threading.Thread(target=lambda: (second.enter(60.0), served.set(), second.release()))
    waiting.start()
    while first._words[1] < 2:
        pass
    for _ in range(3):
        first.leave()
        assert first.enter(5.0)
        assert not served.is_set()
    # Its time is over, but after an ask the tell comes first.
    monkeypatch.setattr(queues, "KEEP", 0.0)
    monkeypatch.setattr(queues, "MORE", 1e9)
    first.leave(more=True)
    assert first.enter(5.0)
    assert not served.is_set()
    first.leave()
    waiting.join()
    assert served.is_set()
    # It pauses.
    monkeypatch.setattr(queues, "KEEP", 1e9)
    assert first.enter(5.0)
    first.leave()
    monkeypatch.setattr(queues, "PAUSE", 0.0)
    assert second.enter(60.0)
    second.close()
    first.close()


def test_the_next_in_line_looks_again_and_again_while_it_waits(tmp_path, monkeypatch):
    monkeypatch.setattr(queues, "AHEAD", 0.0)
    first, second = Queue(tmp_path / "s.db"), Queue(tmp_path / "s.db")
    assert first.enter(5.0)
    looked, often = [], threading.Event()

    def look():
        looked.append(first._words[0])
        if len(looked) >= 3:
            often.set()

    waiting = threading.Thread(target=lambda: (second.enter(60.0, look), second.release()))
    waiting.start()
    # A call of the first is under way: whoever calls it in its place would skip it.
    assert often.wait(60)
    first.leave()
    waiting.join()
    first.close()
    second.close()


def test_a_failed_load_leaves_nothing_and_never_holds_the_file_for_long(tmp_path):
    path = tmp_path / "s.db"
    study = make(path)
    play(study, 30)
    lines = study.export(tmp_path / "s.jsonl").read_text().splitlines()
    (tmp_path / "bad.jsonl").write_text("\n".join([*lines[:-1], lines[-1].replace('"decision": 30', '"decision": 29')]))
    with pytest.raises(rb.InputError, match="damaged at event 61"):
        rb.studies.load(tmp_path / "bad.jsonl", "t", storage=f"sqlite:///{path}")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM rising_studies").fetchall() == [("s",)]
        assert connection.execute("SELECT count(*) FROM rising_events").fetchone() == (61,)
    # What a killed load left behind is removed by a later one.
    edit(
        path, ("INSERT INTO rising_studies (name, created_at, settings, digest, loading) VALUES ('x', 1, '{}', 0, 1)",)
    )
    rb.studies.load(tmp_path / "s.jsonl", "t", storage=f"sqlite:///{path}").close()
    assert rb.studies.names(storage=f"sqlite:///{path}") == ["s", "t"]
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM rising_studies").fetchone() == (2,)


def test_memory_does_not_grow_with_asks_and_tells(tmp_path, monkeypatch):
    # To load the compiler takes megabytes, once, at a moment that depends on the machine.
    monkeypatch.setattr(live, "PAYS", math.inf)
    study = rb.studies.create(
        "s", PROBLEM, rb.CRUCB(sigma=0.1, resolution=8), storage=f"sqlite:///{tmp_path}/s.db", seed=1
    )
    play(study, 400)
    tracemalloc.start()
    try:
        play(study, 50)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        play(study, 250)
        gc.collect()
        # Far less than the 500 events hold.
        assert tracemalloc.get_traced_memory()[0] - before < 30_000
    finally:
        tracemalloc.stop()


def test_every_test_that_the_promises_name_is_there():
    root = Path(__file__).parents[2]
    for page in ("SECURITY.md", "docs/guide/studies.md"):
        named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", (root / page).read_text())
        assert len(named) >= 15
        for file, test in named:
            assert f"def {test}(" in (Path(__file__).parent / file).read_text(), (page, test)


def test_a_storage_that_cannot_be_read_is_not_called_damaged(tmp_path, run, capsys):
    away = "postgresql://ann@127.0.0.1:1/busy-and-full"
    with pytest.raises(rb.StorageError, match="failed; nothing was acknowledged"):
        rb.studies.check(storage=away)
    assert run("study", "check", "--storage", away) == 2
    newer = tmp_path / "newer.db"
    make(newer).close()
    edit(newer, ("UPDATE rising_bandits_version SET version_num = '9999'",))
    with pytest.raises(rb.StorageError, match="newer rising-bandits"):
        rb.studies.check(storage=f"sqlite:///{newer}")
    (tmp_path / "text.db").write_text("no database at all " * 100)
    assert "is damaged" in rb.studies.check(storage=f"sqlite:///{tmp_path}/text.db").faults[0]


def test_what_is_being_loaded_or_removed_is_no_damage(tmp_path, monkeypatch):
    """A check and a backup may come in the middle of both, or after a process that was killed there."""
    path, storage = tmp_path / "s.db", f"sqlite:///{tmp_path}/s.db"
    for name in ("kept", "gone"):
        with make(path, name=name) as study:
            play(study, 5)
    study.export(tmp_path / "s.jsonl")
    monkeypatch.setattr(transactions, "_REMOVED", 3)

    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(library, "remove", lambda database, number: killed(remove_one(database, number)))
        with pytest.raises(KeyboardInterrupt):
            rb.studies.delete("gone", storage=storage)
        patch.setattr(loading, "bring", killed)
        patch.setattr(loading, "remove", lambda *_: None)
        with pytest.raises(KeyboardInterrupt):
            rb.studies.load(tmp_path / "s.jsonl", "new", storage=storage)
    found = rb.studies.check(storage=storage)
    assert found.whole
    assert found.studies == 1
    copy = rb.studies.backup(tmp_path / "copy.db", storage=storage)
    assert rb.studies.names(storage=f"sqlite:///{copy}") == ["kept"]


def remove_one(database, number):
    with database.write() as writer:
        assert writer.remove_some(number)
