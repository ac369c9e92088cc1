"""Faults of every kind: what was acknowledged is in the log, the study stays usable, and no lock is held."""

from __future__ import annotations

import gc
import logging
import random
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import rising_bandits as rb
from rising_bandits.studies.storage.urls import shown

PROBLEM = rb.problems.TopK(["a", "b", "c"], k=2)
ROOM = str(Path(rb.__file__).parent / "studies")


def make(path, name="s", **options):
    return rb.studies.create(name, PROBLEM, rb.CRUCB(sigma=0.1), storage=f"sqlite:///{path}", seed=1, **options)


def acknowledged(path):
    """The decisions that the log says were told, as a fresh look at the file finds them."""
    with rb.studies.open("s", storage=f"sqlite:///{path}", timeout=2.0) as study:
        return set(study.history().decision_id.dropna().astype(int))


def usable(study, path):
    """The study goes on, and another one on the same file can write."""
    study.tell(decision := study.ask(), dict.fromkeys(decision.super_arm, 0.5))
    with rb.studies.open("s", storage=f"sqlite:///{path}", timeout=2.0) as other:
        other.tell(more := other.ask(), dict.fromkeys(more.super_arm, 0.5))
    return {decision.id, more.id}


def interrupt_at(line, call):
    """Run a call with Ctrl-C at the n-th line that it executes in the room of studies; whether it came so far."""
    seen = [0]

    def trace(frame, event, argument):
        if not frame.f_code.co_filename.startswith(ROOM):
            return None
        if event == "line":
            seen[0] += 1
            if seen[0] == line:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_an_interrupt_at_any_line_of_ask_or_tell_leaves_the_study_usable(tmp_path):
    path = tmp_path / "s.db"
    study = make(path)
    told = set()
    line, lines = 1, 0
    while True:
        decision = study.ask()
        done = []

        def both(decision=decision, done=done):
            study.tell(decision, dict.fromkeys(decision.super_arm, 0.25))
            done.append(decision.id)
            study.ask()

        came = interrupt_at(line, both)
        told.update(done)
        if line % 29 == 0 or not came:
            told |= usable(study, path)
            assert told <= acknowledged(path)
        if not came:
            break
        lines, line = lines + 1, line + 1
    assert lines > 100
    again = rb.studies.open("s", storage=f"sqlite:///{path}")
    assert again.indices().tolist() == study.indices().tolist()


LOOP = """
import os, signal, sys
import rising_bandits as rb
study = rb.studies.open("s", storage=sys.argv[1])
note = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
inside = [False]
def interrupt(*_):
    # Once per call, and never between two of them.
    if inside[0]:
        inside[0] = False
        raise KeyboardInterrupt
signal.signal(signal.SIGINT, interrupt)
print("ready", flush=True)
while True:
    try:
        inside[0] = True
        decision = study.ask()
        study.tell(decision, dict.fromkeys(decision.super_arm, 0.5))
        os.write(note, f"{decision.id}\\n".encode())
        inside[0] = False
    except KeyboardInterrupt:
        pass
"""


def test_interrupts_at_random_moments_lose_nothing_and_wedge_nothing(tmp_path):
    path, record = tmp_path / "s.db", tmp_path / "told"
    make(path).close()
    record.touch()
    code = LOOP.replace("\\\\", "\\")
    process = subprocess.Popen([sys.executable, "-c", code, f"sqlite:///{path}", record], stdout=subprocess.PIPE)
    try:
        process.stdout.readline()
        dice = random.Random(3)
        for _ in range(400):
            process.send_signal(signal.SIGINT)
            threading.Event().wait(dice.uniform(0.0, 0.004))
        # It still tells: wait until more was acknowledged than when the interrupts ended.
        count = record.read_bytes().count(b"\n")
        while record.read_bytes().count(b"\n") < count + 5:
            assert process.poll() is None
            threading.Event().wait(0.005)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    told = {int(line) for line in record.read_text().splitlines() if line}
    assert told <= acknowledged(path)


def test_closing_in_one_thread_while_others_tell(tmp_path):
    path = tmp_path / "s.db"
    study = make(path, reorder=10_000)
    told, errors = set(), []
    stop = threading.Event()

    def tell():
        try:
            while not stop.is_set():
                decision = study.ask()
                if study.tell(decision, dict.fromkeys(decision.super_arm, 0.5)):
                    told.add(decision.id)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=tell) for _ in range(3)]
    for thread in threads:
        thread.start()
    while len(told) < 150 and not errors:
        study.close()
    stop.set()
    for thread in threads:
        thread.join()
    assert not errors
    assert told <= acknowledged(path)
    study.export(tmp_path / "log.jsonl")
    assert rb.studies.load(tmp_path / "log.jsonl", "t", storage=f"sqlite:///{path}").indices().tolist() == (
        study.indices().tolist()
    )


@pytest.mark.parametrize("uri", [False, True])
@pytest.mark.parametrize("how", ["deleted", "replaced", "moved"])
def test_a_file_that_vanished_or_was_replaced_raises_before_anything_is_acknowledged(tmp_path, how, uri):
    path = tmp_path / "s.db"
    study = make(f"file://{tmp_path}/s%2Edb?mode=rwc" if uri else path)
    usable(study, path)
    decision = study.ask()
    shutil.copy(path, tmp_path / "backup.db")
    if how == "moved":
        path.rename(tmp_path / "elsewhere.db")
    else:
        path.unlink()
    if how == "replaced":
        shutil.copy(tmp_path / "backup.db", path)
    for _ in range(2):
        with pytest.raises(rb.StorageError, match="was deleted or replaced while it was open"):
            study.tell(decision, dict.fromkeys(decision.super_arm, 0.5))
        with pytest.raises(rb.StorageError, match="was deleted or replaced"):
            study.ask()
    assert path.exists() == (how == "replaced")


def handles():
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts file handles as Linux shows them")
def test_studies_that_are_dropped_leave_no_file_handles(tmp_path):
    path = tmp_path / "s.db"
    make(path).close()
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(b"no database at all " * 1000)
    gc.collect()
    before = handles()
    for _ in range(40):
        rb.studies.open("s", storage=f"sqlite:///{path}").ask()
        with pytest.raises(rb.StorageError):
            rb.studies.open("s", storage=f"sqlite:///{damaged}")
    gc.collect()
    assert handles() <= before + 2


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts file handles as Linux shows them")
def test_calls_that_are_refused_close_their_files_at_once(tmp_path):
    path = tmp_path / "s.db"
    study = make(path)
    storage = f"sqlite:///{path}"
    calls = [
        lambda: make(path),
        lambda: rb.studies.open("other", storage=storage),
        lambda: rb.studies.open("s", storage=storage, policy=rb.SWCUCB),
        lambda: rb.studies.delete("other", storage=storage),
        lambda: rb.studies.load(study.export(tmp_path / "s.jsonl"), storage=storage),
    ]
    before = handles()
    gc.disable()
    try:
        for call in calls * 10:
            with pytest.raises(rb.InputError):
                call()
    finally:
        gc.enable()
    # SQLite itself keeps the handle of a connection that was closed, for the next one on the same file.
    assert handles() <= before + 1


FORK = """
import os, sys, threading
import rising_bandits as rb
storage = sys.argv[1]
study = rb.studies.open("s", storage=storage)
stop = threading.Event()
def tell():
    while not stop.is_set():
        decision = study.ask()
        study.tell(decision, dict.fromkeys(decision.super_arm, 0.5))
writers = [threading.Thread(target=tell) for _ in range(2)]
for writer in writers:
    writer.start()
for _ in range(5):
    child = os.fork()
    if child == 0:
        decision = study.ask()
        assert study.tell(decision, dict.fromkeys(decision.super_arm, 0.25))
        fresh = rb.studies.open("s", storage=storage)
        assert not fresh.tell(decision.id, dict.fromkeys(decision.super_arm, 0.25)), "it was told before"
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
stop.set()
for writer in writers:
    writer.join()
assert rb.studies.open("s", storage=storage).indices().tolist() == study.indices().tolist()
"""


def test_a_fork_waits_for_the_transaction_and_the_child_begins_from_the_log(tmp_path):
    make(tmp_path / "s.db", reorder=10_000).close()
    done = subprocess.run(
        [sys.executable, "-c", FORK, f"sqlite:///{tmp_path}/s.db"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


CANARY = "hunter2canary"


@pytest.mark.parametrize(
    "storage",
    [
        f"mysql://ann:{CANARY}@host/db",
        f"ann:{CANARY}@host",
        f"redis://:{CANARY}@host",
        f"sqlite://?password={CANARY}",
        f"nonsense://host/db?password={CANARY}&x=1",
        f"postgresql://ann:{CANARY}@127.0.0.1:1/db",
        f"postgresql://ann@127.0.0.1:1/db?password={CANARY}",
        f"postgresql://ann:a{CANARY}/b@127.0.0.1:1/db",
        f"postgresql://ann:a/{CANARY}@127.0.0.1:1/db",
        f"postgresql://ann:a?{CANARY}@127.0.0.1:1/db",
        f"postgresql://ann:a@{CANARY}@127.0.0.1:1/db",
        f"postgresql://ann:my {CANARY}@127.0.0.1:1/db",
        f"postgresql://ann:a\n{CANARY}@127.0.0.1:1/db",
        f"postgresql://ann:{CANARY}%zz@127.0.0.1:1/db",
        f"postgresql://ann:{CANARY}@[::1/db",
        f"postgresql://ann:{CANARY}",
        f"postgresql://127.0.0.1:1/db?pass%77ord={CANARY}",
        f"postgresql://127.0.0.1:1/db?sslpassword={CANARY}",
        f"postgresql://127.0.0.1:1/db?password=my {CANARY}",
        f"postgresql://127.0.0.1:1/db?password=my'{CANARY}",
        f"postgresql://127.0.0.1:1/db?password=my&{CANARY}",
        f"postgresql://127.0.0.1:1/db?options=-c%20my.password%3D{CANARY}",
        f"postgresql://127.0.0.1:1/db?{CANARY}",
        f"host=h password='{CANARY} x'",
        f"host=h password = {CANARY}",
    ],
)
def test_no_password_is_in_any_message(storage, capsys, run, caplog):
    caplog.set_level(logging.DEBUG)
    with pytest.raises(rb.RisingBanditsError) as caught:
        rb.studies.open("s", storage=storage)
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is None
    assert CANARY not in shown(storage)
    for command in (["create", "s", "--arms", "a,b", "--k", "1"], ["ask", "s"], ["list"], ["show", "s"]):
        assert run("study", *command, "--storage", storage) == 2
        said = capsys.readouterr()
        assert CANARY not in said.out + said.err
    for record in caplog.records:
        assert CANARY not in f"{record.getMessage()} {record.args!r} {record.exc_text}"


def test_no_password_is_printed_when_all_is_well(tmp_path, capsys, run, postgres):
    for storage in (f"sqlite:///{tmp_path}/s.db?key={CANARY}", postgres.replace("rising@", f"rising:{CANARY}@")):
        for command in (
            ["create", "s", "--arms", "a,b", "--k", "1"],
            ["create", "t", "--arms", "a,b", "--k", "1", "--json"],
            ["export", "s", tmp_path / "s.jsonl"],
            ["import", tmp_path / "s.jsonl", "--name", "u"],
            ["import", tmp_path / "s.jsonl", "--name", "v", "--json"],
            ["check"],
            ["check", "--json"],
            *(["delete", name, "--yes"] for name in "stuv"),
        ):
            assert run("study", *command, "--storage", storage) == 0
            said = capsys.readouterr()
            assert CANARY not in said.out + said.err
