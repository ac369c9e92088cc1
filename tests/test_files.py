"""Files that are whole or not there, whoever writes them at the same time, and whoever is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from rising_bandits._files import replacing


def test_threads_that_write_one_file_never_tear_it(tmp_path):
    path = tmp_path / "file.txt"
    texts = [letter * 200_000 for letter in "abcd"]
    path.write_text(texts[0])
    torn = []

    def write(text):
        for _ in range(25):
            with replacing(path) as aside:
                aside.write_text(text)

    writers = [threading.Thread(target=write, args=(text,)) for text in texts]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        seen = path.read_text()
        torn += [] if seen in texts else [seen[:20]]
    assert not torn
    assert [other.name for other in tmp_path.iterdir()] == ["file.txt"]


def test_what_raises_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")

    def fail():
        with replacing(path) as aside:
            aside.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old"
    assert [other.name for other in tmp_path.iterdir()] == ["file.txt"]


def test_what_a_killed_process_left_behind_is_removed_by_the_next_writer(tmp_path):
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom rising_bandits._files import replacing\n"
        f"with replacing(Path({str(tmp_path / 'file.txt')!r})) as aside:\n"
        "    aside.write_text('half')\n    os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    assert len(list(tmp_path.iterdir())) == 1
    mine = tmp_path / f".other.txt.host.{os.getpid()}.1.1.tmp"
    mine.write_text("of another file")
    with replacing(tmp_path / "file.txt") as aside:
        aside.write_text("new")
    assert sorted(other.name for other in tmp_path.iterdir()) == sorted([mine.name, "file.txt"])
