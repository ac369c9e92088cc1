"""Tables of the user's own curves: read exactly, and refused with the row and the reason."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits.curves import Bernoulli, Gaussian, Spread
from rising_bandits.problems import curve_files, recorded

GOOD = "arm,play,mean,sd\nslow,1,0.1,0.05\nslow,11,0.9,0.01\nfast,1,0.5,0.02\nfast,5,0.4,0.02\n"


def write(folder: Path, text: str, name: str = "mine.csv") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_a_table_becomes_a_task(tmp_path):
    task = curve_files.from_file(write(tmp_path, GOOD))
    assert (task.name, task.horizon, task.problem.labels) == ("mine", 11, ("slow", "fast"))
    assert task.means(0).tolist() == [0.1, 0.5]
    assert task.means(5) == pytest.approx([0.5, 0.4])
    assert task.means(500).tolist() == [0.9, 0.4]
    assert isinstance(task.noise, Spread)
    assert task.noise.deviations[0](5) == pytest.approx(0.03)
    assert rb.optimal_constant(task, 3).super_arm.tolist() == [1]
    assert rb.optimal_constant(task).super_arm.tolist() == [0]


def test_names_noise_and_choice_of_arms(tmp_path):
    text = "Accuracy,samples, model\n0.25,25,b\n0.5,75,b\n0.75,25,a\n"
    path = write(tmp_path, "\ufeff" + text)
    task = curve_files.from_file(path, noise="bernoulli", horizon=40, arms=["a"])
    assert (task.problem.labels, task.horizon) == (("a",), 40)
    assert isinstance(task.noise, Bernoulli)
    assert curve_files.from_file(path, noise=0.2).noise == Gaussian(0.2)
    assert curve_files.from_file(path, noise="0.2", k=2).problem.oracle.max_size == 2
    for arguments, message in (
        ({}, "noise must be given, as 'bernoulli' or a number"),
        ({"noise": "loud"}, "noise must be 'bernoulli' or a number"),
        ({"noise": -1}, "noise must be 'bernoulli' or a number"),
        ({"noise": 0.1, "arms": ["c"]}, "which has 'b', 'a'; got 'c'"),
        ({"noise": 0.1, "k": 3}, "k must be from 1 to 2"),
        ({"noise": 0.1, "digest": "0" * 12}, "has changed: its digest is"),
    ):
        with pytest.raises(rb.InputError, match=message):
            curve_files.from_file(path, **arguments)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("arm,play,mean\n", "at least one row"),
        ("arm,play\na,1\n", "must have the columns arm, play and mean"),
        ("arm,model,play,mean\na,b,1,0.5\n", "must have one column 'arm'"),
        ("arm,play,mean\na,1\n", "row 2 of .* must have 3 cells, got 2"),
        ("arm,play,mean\n,1,0.5\n", "row 2 of .* must name an arm"),
        ("arm,play,mean\na,one,0.5\n", "play in row 2 of .* got 'one'"),
        ("arm,play,mean\na,0,0.5\n", r"play in row 2 of .* must be a finite number in \[1, 1e\+12\]"),
        ("arm,play,mean\na,1,0.5\na,2,1.5\n", "mean in row 3"),
        ("arm,play,mean\na,1,nan\n", "mean in row 2"),
        ("arm,play,mean,sd\na,1,0.5,-1\n", "sd in row 2"),
        ("arm,play,mean\na,1,0.5\na,1.0,0.6\n", "row 3 of .* repeats play 1 of the arm 'a'"),
        ('arm,play,mean\n"a,1,0.5\n', "not a CSV file"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, text, message):
    with pytest.raises(rb.InputError, match=message):
        curve_files.read(write(tmp_path, text))


def test_files_that_are_none_are_refused(tmp_path):
    for path, message in (
        (str(tmp_path / "nothing.csv"), "cannot be read: No such file"),
        (str(tmp_path), "ends in .csv or .parquet"),
        (write(tmp_path, GOOD, "mine.txt"), "ends in .csv or .parquet"),
        (write(tmp_path, GOOD, "mine.parquet"), "is not a Parquet file"),
    ):
        with pytest.raises(rb.InputError, match=message):
            curve_files.read(path)
    (tmp_path / "bytes.csv").write_bytes(b"arm,play,mean\n\xff\xfe,1,0.5\n")
    with pytest.raises(rb.InputError, match="UTF-8"):
        curve_files.read(str(tmp_path / "bytes.csv"))


def test_a_parquet_file_is_the_same_table(tmp_path):
    import pandas as pd

    path = write(tmp_path, GOOD)
    pd.read_csv(path).to_parquet(tmp_path / "mine.parquet")
    assert curve_files.read(str(tmp_path / "mine.parquet")) == curve_files.read(path)


def test_small_files_that_stand_for_much_are_refused(tmp_path, monkeypatch):
    import pyarrow as pa
    import pyarrow.parquet as pq

    def table(rows, arm="a", **other):
        columns = {"arm": arm, "play": 1.0, "mean": 0.5, **other}
        return pa.table({name: pa.repeat(pa.scalar(value), rows) for name, value in columns.items()})

    path = str(tmp_path / "small.parquet")
    monkeypatch.setattr(curve_files, "MOST_ROWS", 1_000)
    for hostile, message in (
        (table(1_001), "at most 1,000 rows, got 1,001"),
        (table(100, arm="a" * 10_000), "texts of at most 1000 letters"),
        (table(100, mean="0" * 10_000), "texts of at most 1000 letters"),
        (table(10, mean=[0.5] * 100), "must hold numbers or texts"),
    ):
        pq.write_table(hostile, path, compression="zstd")
        with pytest.raises(rb.InputError, match=message):
            curve_files.read(path)
    # Other columns are not read.
    pq.write_table(table(1, other=[0.5] * 100), path)
    assert curve_files.read(path) == {"a": {1.0: (0.5, None)}}
    (tmp_path / "pipe.csv").symlink_to("/dev/zero")
    with pytest.raises(rb.InputError, match="must be a file of at most"):
        curve_files.read(str(tmp_path / "pipe.csv"))
    recording = {"format": 1, "arcs": [["a", "b"]], "start": "a", "goal": "b", "maze": "", "episodes": 1}
    recording |= {"edges": [{"plays": [0, 10**12], "chance": [0, 1], "mean": [0, 1]}], "made": {"runs": []}}
    (tmp_path / "long.json").write_text(json.dumps(recording))
    with pytest.raises(rb.InputError, match="last play of a recording"):
        recorded.from_file(str(tmp_path / "long.json"))


def test_the_command_runs_a_file(run, tmp_path, capsys):
    path = write(tmp_path, GOOD)
    arguments = ["run", "--curves", path, "--policy", "oracle", "--seeds", "1", "--horizon", "30", "--workers", "1"]
    assert run(*arguments, "--out", str(tmp_path / "out"), "--json") == 0
    row = json.loads(capsys.readouterr().out)["rows"][0]
    assert row["horizon"] == 30
    assert np.isclose(row["regret"], 0.0)
    assert run("run", "--noise", "bernoulli", "path-easy") == 2
    assert "must be given together with --curves FILE" in capsys.readouterr().err
