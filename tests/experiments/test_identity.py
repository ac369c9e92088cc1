"""Results know what they are: own code counts, files are data, damage is said and made anew."""

from __future__ import annotations

import gzip
import json
import logging
import multiprocessing
import os
import sys
import threading
import tracemalloc

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits import experiments as ex
from rising_bandits.experiments import identity
from rising_bandits.experiments.own_code import source_files
from rising_bandits.experiments.playing import execute
from rising_bandits.experiments.spec import RunSpec
from rising_bandits.experiments.stored import columns_of_stored, own_columns, to_table

OWN = """
import rising_bandits as rb
from helper import START
class Mine(rb.IndexPolicy):
    name = "mine"
    told = ("sigma", "horizon")
    def __init__(self, sigma=9.0, horizon=0, k=1.0):
        self.sigma, self.horizon_told, self.k = sigma, horizon, k
    def index(self, outcomes, t):
        return START + self.k * outcomes[-1]
def task(size=3):
    from rising_bandits.curves import Flat
    return rb.Task("my task", rb.problems.TopK(size, 1), tuple(Flat(0.1 * (i + 1)) for i in range(size)), horizon=60)
def worst(run):
    return float(run.regret.max())
def pair(run):
    return {"low": float(run.regret.min()), "high": float(run.regret.max())}
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder with a module of one's own and one that it imports."""
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "mine_x.py").write_text(OWN)
    (folder / "helper.py").write_text("START = 0.0\n")
    monkeypatch.syspath_prepend(str(folder))
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        if name in ("mine_x", "helper"):
            del sys.modules[name]


def plan_of_mine(**options):
    return ex.make_plan(["mine_x:task"], ["mine_x:Mine"], seeds=1, **options)


def test_changed_code_of_ones_own_runs_again(tmp_path, own):
    out = tmp_path / "out"
    first = ex.run_plan(plan_of_mine(), out, workers=1)[0]
    stamp = ex.ResultStore(out).run_path(first.spec).stat().st_mtime_ns
    ex.run_plan(plan_of_mine(), out, workers=1)
    assert ex.ResultStore(out).run_path(first.spec).stat().st_mtime_ns == stamp
    # The policy itself, and what it imports from the same folder. Sizes stay the same.
    (own / "mine_x.py").write_text(OWN.replace("self.k * outcomes", "-self.k* outcomes"))
    second = ex.run_plan(plan_of_mine(), out, workers=1)[0]
    assert second.regret[-1] > first.regret[-1]
    (own / "helper.py").write_text("START = 1.0\n")
    third = plan_of_mine()[0]
    assert len({first.spec.code, second.spec.code, third.code}) == 3
    assert not ex.ResultStore(out).has(third)
    # A changed policy replaces its results: the folder never holds two versions of one run.
    assert len(ex.ResultStore(out).specs()) == 1


def test_code_counts_wherever_it_takes_part(own):
    (own / "curve_x.py").write_text(
        "from dataclasses import dataclass\nimport rising_bandits as rb\nfrom rising_bandits.curves import Flat\n"
        "class Odd(rb.problems.TopK):\n    pass\n"
        "def task():\n    return rb.Task('odd', Odd(2, 1), (Flat(0.1), Flat(0.2)), horizon=50)\n"
    )
    (own / "far.py").write_text("import curve_x\ndef task():\n    return curve_x.task()\n")
    assert not ex.make_plan(["toy"], ["crucb"], seeds=1)[0].code
    code = ex.make_plan(["far:task"], ["crucb"], seeds=1)[0].code
    (own / "curve_x.py").write_text((own / "curve_x.py").read_text().replace("Flat(0.1)", "Flat(0.3)"))
    assert ex.make_plan(["far:task"], ["crucb"], seeds=1)[0].code != code
    rb.tasks.register("mine-registered", lambda: identity.make_task("curve_x:task"))
    try:
        assert "curve_x" in ex.make_plan(["mine-registered"], ["random"], seeds=1)[0].own_modules()
    finally:
        from rising_bandits.problems import tasks

        del tasks._BUILDERS["mine-registered"]


def test_relative_and_late_imports_are_followed(tmp_path, monkeypatch):
    package = tmp_path / "pack_x"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "inner" / "__init__.py").write_text("from . import deep\n")
    (package / "inner" / "deep.py").write_text("from ..top import VALUE\n")
    (package / "top.py").write_text("VALUE = 1\ndef late():\n    import beside_x\n")
    (tmp_path / "beside_x.py").write_text("")
    (tmp_path / "unrelated.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    identity.import_own("pack_x.inner.deep")
    names = set(source_files("pack_x.inner.deep"))
    assert names == {
        "pack_x/__init__.py",
        "pack_x/inner/__init__.py",
        "pack_x/inner/deep.py",
        "pack_x/top.py",
        "beside_x.py",
    }


def test_a_policy_of_ones_own_is_told_what_it_asks_for(own):
    spec = plan_of_mine()[0]
    assert spec.parameters == {"sigma": 0.01, "horizon": 60}
    assert spec.label == "mine_x:Mine"
    given = ex.make_plan(["mine_x:task"], ["mine_x:Mine(sigma=0.5)"], seeds=1, horizon=30)[0]
    assert given.parameters == {"sigma": 0.5, "horizon": 30}
    assert given.label == "mine_x:Mine(sigma=0.5)"


def test_metrics_are_columns(tmp_path, own):
    plan = ex.make_plan(
        ["mine_x:task"], ["mine_x:Mine"], seeds=2, metrics=["mine_x:worst", "mine_x:pair", "regret-split"]
    )
    runs = ex.run_plan(plan, tmp_path, workers=1)
    table = ex.frame(tmp_path, final=True)
    assert table["worst"].tolist() == [run.regret.max() for run in runs] == table["high"].tolist()
    split = table[["regret_first_plays", "regret_exploring", "regret_settled_wrong", "regret_settled_right"]]
    assert split.sum(axis=1).to_numpy() == pytest.approx(table["regret"].to_numpy())
    with pytest.raises(rb.InputError, match="metric must be one of regret-split"):
        ex.make_plan(["toy"], ["random"], metrics=["nope"])
    (own / "mine_x.py").write_text(OWN.replace("return float(run.regret.max())", "return 'much'"))
    with pytest.raises(rb.InputError, match="must return a number for worst"):
        ex.run_plan(
            ex.make_plan(["toy"], ["random"], seeds=1, horizon=9, metrics=["mine_x:worst"]), tmp_path, workers=1
        )


def test_regret_is_split_by_its_cause():
    task = rb.tasks.get("path-easy")
    never = rb.simulate(task, rb.Random(), horizon=3_000, seed=0)
    parts = ex.regret_split(never)
    assert parts["regret_settled_wrong"] == parts["regret_settled_right"] == 0.0
    always = rb.Oracle(super_arm=[int(arm) for arm in next(iter(task.problem.oracle.super_arms()))])
    constant = rb.simulate(task, always, horizon=3_000, seed=0)
    parts = ex.regret_split(constant)
    best = constant.super_arm_plays.keys() == {tuple(constant.optimum.super_arm.tolist())}
    assert abs(parts["regret_settled_right" if best else "regret_settled_wrong"]) > 0.9 * abs(constant.regret[-1])
    assert sum(parts.values()) == pytest.approx(constant.regret[-1])


def forge(path, spec_changes, **meta_changes):
    """A result file in which a stranger has written other settings."""
    import pyarrow.parquet as pq

    run = ex.read_run(path)
    meta = {**run.meta, **meta_changes}
    meta["settings"] = {**meta["settings"], **spec_changes}
    pq.write_table(to_table(columns_of_stored(run), meta), path)


@pytest.mark.parametrize("part", ["task", "policy", "metrics"])
def test_what_a_result_file_names_is_never_called(tmp_path, run, capsys, monkeypatch, part):
    monkeypatch.chdir(tmp_path)
    runs = ex.run_plan(ex.make_plan(["toy"], ["random"], seeds=1, horizon=50), tmp_path / "out", workers=1)
    path = ex.ResultStore(tmp_path / "out").run_path(runs[0].spec)
    marker = tmp_path / "marker"
    (tmp_path / "evil_x.py").write_text(
        f"open({str(marker)!r}, 'w')\ndef f(*a, **k):\n    open({str(marker)!r}, 'w')\n"
    )
    texts = [
        f"subprocess:check_output(args=['touch', {str(marker)!r}])",
        f"pathlib:Path.touch(self={str(marker)!r})",
        "evil_x:f()",
        # The library's own functions are no way around.
        "rising_bandits.experiments.identity:make_task(text='evil_x:f()')",
        "rising_bandits.experiments.identity:import_own(name='evil_x')",
        "rising_bandits.benchmark.suite:import_module(name='evil_x')",
    ]
    for text in texts:
        forge(path, {part: [text] if part == "metrics" else text})
        stranger = ex.read_run(path)
        assert ex.frame(tmp_path / "out", final=True).shape[0] == 1
        assert ex.summarise([stranger])[0].runs == 1
        ex.ResultStore(tmp_path / "out").specs()
        from rising_bandits import plots

        plots.regret_bands([stranger], stranger.spec.world)
        assert run("run", "--repeat", path, "--out", tmp_path / "again") == 2
        assert "named by a file" in capsys.readouterr().err or part == "policy"
        assert run("collect", tmp_path / "out", "--out", tmp_path / f"joined-{texts.index(text)}") == 0
        capsys.readouterr()
    assert not marker.exists()
    (tmp_path / "good_x.py").write_text("from subprocess import check_output\n")
    with pytest.raises(rb.InputError, match="must be defined in a module that is trusted"):
        identity.load("task", "good_x:check_output", trust=("good_x",))


def test_own_code_in_a_file_is_trusted_by_name(tmp_path, own, run, capsys):
    runs = ex.run_plan(plan_of_mine(), tmp_path / "out", workers=1)
    path = ex.ResultStore(tmp_path / "out").run_path(runs[0].spec)
    assert run("run", "--repeat", path, "--out", tmp_path / "again") == 2
    assert "--trust mine_x" in capsys.readouterr().err
    assert run("run", "--repeat", path, "--out", tmp_path / "again", "--trust", "mine_x") == 0
    assert "every number is the same" in capsys.readouterr().out
    (own / "helper.py").write_text("START = 0.0  # other\n")
    (own / "mine_x.py").write_text(OWN.replace("self.k * outcomes", "-self.k* outcomes"))
    assert run("run", "--repeat", path, "--out", tmp_path / "again", "--trust", "mine_x") == 1
    assert "your own code changed" in capsys.readouterr().out


def test_sizes_are_checked_before_memory_is_asked_for(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    spec = ex.run_plan(ex.make_plan(["toy"], ["random"], seeds=1, horizon=50), tmp_path, workers=1)[0].spec
    path = ex.ResultStore(tmp_path).run_path(spec)
    good = pq.read_table(path)
    long = pa.table({name: pa.repeat(good.column(name)[0], 300_000) for name in good.column_names if name != "plays"})
    wide = pa.ListArray.from_arrays(pa.array([0, 400_000], pa.int32()), pa.repeat(pa.scalar(1), 400_000))
    one = good.slice(0, 1).set_column(good.schema.get_field_index("plays"), "plays", wide)
    for hostile in (long.append_column("plays", pa.nulls(300_000, pa.list_(pa.int64()))), one):
        pq.write_table(hostile.replace_schema_metadata(good.schema.metadata), path)
        assert path.stat().st_size < 100_000
        with pytest.raises(rb.InputError, match=r"rows|values"):
            ex.read_run(path)


@pytest.mark.parametrize(
    "text",
    [
        "rising_bandits.theory.instances:general_a(horizon=10_000_000_000_000)",
        "rising_bandits.theory.instances:general_b(horizon=300, copies=10_000_000_000)",
        "rising_bandits.theory.instances:fine_grained_a(horizon=10_000_000_000, c=1.5)",
        "rising_bandits.theory.instances:best_constant_is_not_optimal(horizon=10_000_000_000)",
        "rising_bandits.problems.recorded:get(name='../../../setup')",
        "rising_bandits.problems.curve_files:from_file(path='/dev/zero')",
        "rising_bandits.problems.recorded:from_file(path='/dev/zero')",
        f"rising_bandits.benchmark.suite:instance(family='late', structure='top-k', noise='bernoulli', "
        f"horizon={10**15}, seed=1)",
    ],
)
def test_a_task_that_a_file_names_is_refused_before_memory_is_asked_for(text):
    tracemalloc.start()
    with pytest.raises(rb.InputError, match="must be"):
        identity.make_task(text, trust=())
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()


def test_the_instances_of_the_proofs_need_no_trust(tmp_path, run, capsys):
    task = "rising_bandits.theory.instances:fine_grained_b(horizon=60, c=1.5)"
    assert run("run", task, "--policy", "random", "--seeds", "1", "--out", tmp_path / "a", "--json") == 0
    file = next((tmp_path / "a" / "runs").glob("*.parquet"))
    capsys.readouterr()
    assert run("run", "--repeat", file, "--out", tmp_path / "b") == 0
    assert "every number is the same" in capsys.readouterr().out


def columns_of_strangers():
    """Columns that are no numbers, or no rounds; read as they are, the text alone would take gigabytes."""
    import pyarrow as pa

    long = pa.array(["a" * 2**22])
    yield "regret", lambda rows: pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), long)
    yield "regret", lambda rows: pa.array([[1.0]] * rows)
    yield "reward", lambda rows: pa.array(["1.0"] * rows)
    yield "round", lambda rows: pa.array([1.5] * rows)
    yield "round", lambda rows: pa.array([3] * rows)
    yield "round", lambda rows: pa.array(range(rows))
    yield "plays", lambda rows: pa.array([["1", "2", "3"]] * rows)
    yield "plays", lambda rows: pa.array([[1.0, 2.0, float("nan")]] * rows)
    yield "plays", lambda rows: pa.array([[1, 2, -3]] * rows)


@pytest.mark.parametrize(("name", "make"), list(columns_of_strangers()))
def test_columns_hold_numbers_or_are_not_read(tmp_path, name, make):
    import pyarrow as pa
    import pyarrow.parquet as pq

    spec = ex.run_plan(ex.make_plan(["toy"], ["random"], seeds=1, horizon=50), tmp_path, workers=1)[0].spec
    path = ex.ResultStore(tmp_path).run_path(spec)
    good = pq.read_table(path)
    bad = good.set_column(good.schema.get_field_index(name), name, make(good.num_rows))
    pq.write_table(bad, path, compression="zstd")
    assert path.stat().st_size < 100_000
    usual = pa.default_memory_pool()
    counted = pa.proxy_memory_pool(usual)
    pa.set_memory_pool(counted)
    try:
        with pytest.raises(rb.InputError, match=r"its (column|round|plays)"):
            ex.read_run(path)
    finally:
        pa.set_memory_pool(usual)
    assert counted.max_memory() < 4e6


@pytest.mark.parametrize(
    ("settings", "facts"),
    [
        ({"seed": 10**30}, {}),
        ({"horizon": 10**400}, {}),
        ({"rounds": [10**30]}, {}),
        ({"parameters": {"word": "\ud800"}}, {}),
        ({"parameters": {"many": [0] * 100_000}}, {}),
        ({}, {"seconds": 10**400}),
        ({}, {"optimal_total": 10**400}),
        ({}, {"metrics": {"mine": 10**400}}),
        ({}, {"label": "x" * 10**6}),
        ({}, {"label": "\ud800"}),
    ],
)
def test_a_file_with_what_no_table_holds_is_left_out_of_tables(tmp_path, settings, facts):
    import pyarrow.parquet as pq

    runs = ex.run_plan(ex.make_plan(["toy"], ["random"], seeds=2, horizon=50), tmp_path, workers=1)
    path = ex.ResultStore(tmp_path).run_path(runs[0].spec)
    table = pq.read_table(path)
    meta = {**runs[0].meta, "settings": {**runs[0].meta["settings"], **settings}, **facts}
    pq.write_table(table.replace_schema_metadata({b"rising_bandits": json.dumps(meta).encode()}), path)
    with pytest.raises(rb.InputError, match="is not one"):
        ex.read_run(path)
    assert ex.frame(tmp_path, final=True).seed.tolist() == [1]
    ex.ResultStore(tmp_path).align()


def test_large_whole_numbers_are_not_rounded_in_tables():
    settings = {"task": "toy", "policy": "mine:P", "parameters": {"key": 2**60 + 1, "k": 2**53, "huge": 10**400}}
    assert own_columns({"settings": settings}) == {"key": str(2**60 + 1), "k": 2**53, "huge": str(10**400)}


def test_a_run_whose_file_could_not_be_read_is_refused_before_it_is_run(tmp_path):
    spec = RunSpec("toy", "random", horizon=50, options={}, parameters={"seed": [0] * 100_000})
    with pytest.raises(rb.InputError, match="at most 256 kB"):
        ex.run_plan([spec], tmp_path / "out", workers=1)
    assert not (tmp_path / "out").exists()
    with pytest.raises(rb.InputError, match=r"horizon must be at most 9223372036854775807.*more than 2\*\*1328"):
        ex.make_plan(["toy"], ["random"], horizon=10**400)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not parquet", b"PAR1" + bytes(100) + b"PAR1"])
def test_a_damaged_result_is_said_and_made_anew(tmp_path, caplog, content):
    plan = ex.make_plan(["toy"], ["random"], seeds=2, horizon=50)
    whole = ex.run_plan(plan, tmp_path, workers=1)
    ex.ResultStore(tmp_path).run_path(plan[0]).write_bytes(content)
    with caplog.at_level(logging.WARNING):
        again = ex.run_plan(plan, tmp_path, workers=1)
    assert "made anew" in caplog.text
    assert np.array_equal(again[0].regret, whole[0].regret)


def damages(good: bytes):
    data = json.loads(gzip.decompress(good))
    yield b""
    yield b"no gzip"
    yield good[: len(good) // 2]
    yield gzip.compress(b"[]")
    yield gzip.compress(json.dumps({**data, "state": {}}).encode())
    yield gzip.compress(json.dumps({**data, "state": {**data["state"], "next_round": 3}}).encode())
    yield gzip.compress(b"[" * 100_000)


def test_a_damaged_checkpoint_is_said_and_the_run_starts_anew(tmp_path, caplog):
    spec = ex.make_plan(["toy"], ["sw-cucb"], seeds=1, horizon=400)[0]
    whole = ex.run_plan([spec], tmp_path / "whole", workers=1)[0]
    store = ex.ResultStore(tmp_path / "out")
    execute(spec, store, "", stopping=lambda: True)
    good = store.partial_path(spec).read_bytes()
    for bad in damages(good):
        caplog.clear()
        store.partial_path(spec).write_bytes(bad)
        store.run_path(spec).unlink(missing_ok=True)
        with caplog.at_level(logging.WARNING):
            again = ex.run_plan([spec], tmp_path / "out", workers=1)[0]
        assert "starts anew" in caplog.text
        assert np.array_equal(again.regret, whole.regret)
    # The checkpoint of another run under this name is not continued.
    other = RunSpec(**{**spec.as_dict(), "seed": 7, "rounds": ()})
    execute(other, store, "", stopping=lambda: True)
    store.partial_path(other).rename(store.partial_path(spec))
    store.run_path(spec).unlink()
    assert np.array_equal(ex.run_plan([spec], tmp_path / "out", workers=1)[0].regret, whole.regret)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"runs": [{"task": 3}]}', '{"runs": 5}', "[" * 100_000])
def test_damaged_settings_are_said_and_made_anew(tmp_path, caplog, text):
    plan = ex.make_plan(["toy"], ["random"], seeds=1, horizon=50)
    ex.run_plan(plan, tmp_path, workers=1)
    (tmp_path / "_settings.json").write_text(text)
    more = ex.make_plan(["toy"], ["random"], seeds=1, horizon=60)
    with caplog.at_level(logging.WARNING):
        ex.run_plan(more, tmp_path, workers=1)
    assert "settings.json is damaged" in caplog.text
    assert ex.ResultStore(tmp_path).settings() == [*plan, *more]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes")
def test_pipes_are_not_read(tmp_path, monkeypatch):
    spec = ex.make_plan(["toy"], ["random"], seeds=1, horizon=50)[0]
    store = ex.ResultStore(tmp_path)
    (tmp_path / "_partial").mkdir()
    (tmp_path / "runs").mkdir()
    for path in (tmp_path / "_settings.json", tmp_path / "plan.toml", store.partial_path(spec), store.run_path(spec)):
        os.mkfifo(path)

    def opened(*_, **__):
        raise AssertionError("a pipe was opened, and nobody writes to it")

    for name in ("open", "read_text", "read_bytes"):
        monkeypatch.setattr(f"pathlib.Path.{name}", opened)
    monkeypatch.setattr("gzip.open", opened)
    assert store.settings() == []
    assert store.read_partial(spec) is None
    assert not store.has(spec)
    with pytest.raises(rb.InputError, match="must be a file"):
        ex.Plan.read(tmp_path / "plan.toml")


def test_leftovers_of_killed_runs_are_removed(tmp_path):
    spec = ex.make_plan(["toy"], ["random"], seeds=1, horizon=50)[0]
    ex.run_plan([spec], tmp_path, workers=1)
    from rising_bandits._files import _HOST

    gone = multiprocessing.get_context("spawn").Process(target=int)
    gone.start()
    gone.join()
    dead = tmp_path / "runs" / f".other.parquet.{_HOST}.{gone.pid}.1.0.tmp"
    alive = tmp_path / "runs" / f".other.parquet.{_HOST}.{os.getpid()}.1.0.tmp"
    foreign = tmp_path / "runs" / ".other.parquet.elsewhere.1.1.0.tmp"
    (tmp_path / "_partial").mkdir()
    finished = ex.ResultStore(tmp_path).partial_path(spec)
    for path in (dead, alive, foreign, finished):
        path.write_bytes(b"")
    ex.run_plan([spec], tmp_path, workers=1)
    assert [path.exists() for path in (dead, alive, foreign, finished)] == [False, True, True, False]


def test_several_callers_on_one_folder_lose_nothing(tmp_path):
    plans = [ex.make_plan(["toy"], ["random"], seeds=f"{k}-{k + 1}", horizon=40 + k) for k in range(4)]
    errors = []

    def call(plan):
        try:
            ex.run_plan(plan, tmp_path, workers=1)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call, args=(plan,)) for plan in [*plans, *plans]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    store = ex.ResultStore(tmp_path)
    keys = {spec.key for plan in plans for spec in plan}
    assert {spec.key for spec in store.settings()} == keys == {spec.key for spec in store.specs()}


def test_the_frame_identifies_every_row(tmp_path):
    plan = ex.make_plan(["toy"], ["crucb(epsilon=[0.1, 0.2])", "crucb(bonus=4.0)", "random"], seeds=1, horizon=60)
    runs = ex.run_plan(plan, tmp_path, workers=1)
    table = ex.frame(tmp_path)
    assert len(table) == sum(run.rounds.size for run in runs)
    for run in runs:
        mine = table[(table.task == run.spec.task) & (table.label == run.label) & (table.seed == run.spec.seed)]
        assert np.array_equal(mine["round"], run.rounds)
        assert np.array_equal(mine["regret"], run.regret)
        assert np.array_equal(mine["reward"], run.reward)
        assert set(mine["horizon"]) == {60}
        assert set(mine["policy"]) == {run.spec.policy}
        if "epsilon" in run.spec.parameters:
            assert set(mine["epsilon"]) == {run.spec.parameters["epsilon"]}
        else:
            assert mine["epsilon"].isna().all()
    # A parameter with values of several kinds is text.
    assert set(table["bonus"].dropna()) == {"paper", "4.0"}
    assert ex.frame(runs, final=True).shape[0] == len(runs)
    assert ex.frame(tmp_path, arrow=True).num_rows == len(table)
    assert {spec.key for spec in ex.ResultStore(tmp_path).specs()} == {spec.key for spec in plan}
    with pytest.raises(rb.InputError, match="does not exist"):
        ex.frame(tmp_path / "nope")


def test_other_programs_read_the_folder_as_one_table(tmp_path):
    import pandas as pd

    ex.run_plan(ex.make_plan(["toy"], ["crucb"], seeds=1, horizon=50), tmp_path, workers=1)
    ex.run_plan(ex.make_plan(["toy"], ["random", "crucb(bonus=2.0)"], seeds=1, horizon=50), tmp_path, workers=1)
    (tmp_path / "_figures").mkdir()
    (tmp_path / "_figures" / "regret.png").write_bytes(b"a picture")
    mine = ex.frame(tmp_path)
    assert len(pd.read_parquet(tmp_path / "runs")) == len(mine)
    table = pd.read_parquet(tmp_path)
    assert set(mine.columns) <= set(table.columns)
    # Files are read in the order of their names, the frame is in the order of the plans.
    assert mine["policy"].unique().tolist() == ["crucb", "random"]
    one, other = (
        part[mine.columns.tolist()].sort_values(["label", "round"], ignore_index=True) for part in (table, mine)
    )
    pd.testing.assert_frame_equal(one, other, check_dtype=False)
    polars = pytest.importorskip("polars")
    assert polars.read_parquet(tmp_path / "runs" / "*.parquet").height == len(mine)
    assert ex.frame(tmp_path, polars=True).columns == mine.columns.tolist()


def test_a_folder_of_an_earlier_version_gets_the_names_of_today(tmp_path):
    import pandas as pd

    plan = ex.Plan(["toy"], ["sw-cucb"], seeds=2, horizon=400)
    first, second = plan.runs()
    done = ex.run_plan([first], tmp_path, workers=1)[0]
    store = ex.ResultStore(tmp_path)
    execute(second, store, "", stopping=lambda: True)
    half = store.partial_path(second).read_bytes()
    plan.keep(tmp_path)
    for name in ("_settings.json", "_partial", "_plan.toml"):
        (tmp_path / name).rename(tmp_path / name[1:])
    mine = tmp_path / "plan-2.toml"
    mine.write_text('tasks = ["toy"]  # my own words\n')
    # As it is, the folder can be read.
    assert ex.ResultStore(tmp_path).settings() == [first]
    assert ex.frame(tmp_path, final=True)["seed"].tolist() == [0]
    # A second part is joined from both kinds of folders.
    assert ex.collect([tmp_path], tmp_path.with_name("joined")).runs == 1
    assert ex.Plan.read(tmp_path.with_name("joined") / "_plan.toml").to_toml() == plan.to_toml()
    ex.ResultStore(tmp_path).prepare([second], "")
    assert store.partial_path(second).read_bytes() == half
    runs = ex.run_plan([first, second], tmp_path, workers=1)
    assert np.array_equal(runs[0].regret, done.regret)
    assert ex.ResultStore(tmp_path).settings() == [first, second]
    assert ex.Plan.read(tmp_path / "_plan.toml").to_toml() == plan.to_toml()
    assert not any((tmp_path / name).exists() for name in ("settings.json", "partial", "plan.toml"))
    assert mine.exists()
    mine.unlink()
    assert len(pd.read_parquet(tmp_path)) == len(ex.frame(tmp_path))
    # A file of one's own that is called settings.json stays.
    (tmp_path / "settings.json").write_text('{"mine": 1}')
    ex.run_plan([first, second], tmp_path, workers=1)
    assert (tmp_path / "settings.json").read_text() == '{"mine": 1}'


def test_results_of_the_earlier_format_are_read(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    spec = ex.make_plan(["toy"], ["crucb"], seeds=1, horizon=50)[0]
    run = ex.run_plan([spec], tmp_path, workers=1)[0]
    path = ex.ResultStore(tmp_path).run_path(spec)
    meta = {name: value for name, value in run.meta.items() if name not in ("metrics", "task_name", "recorded")}
    table = pq.read_table(path).select(["round", "regret", "reward", "realised_regret", "realised_reward", "plays"])
    old = {b"rising_bandits": json.dumps({**meta, "format": 1}).encode()}
    pq.write_table(pa.table(table).replace_schema_metadata(old), path)
    again = ex.read_run(path)
    assert np.array_equal(again.regret, run.regret)
    assert ex.frame(tmp_path, final=True)["task"].tolist() == ["toy"]
    ex.ResultStore(tmp_path).align()
    assert "seed" in pq.read_schema(path).names
