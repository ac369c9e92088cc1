"""Many runs: plans as data, results that do not depend on how the work was dealt out, runs that go on."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits import experiments as ex
from rising_bandits.experiments import identity
from rising_bandits.experiments.playing import execute
from rising_bandits.experiments.statistics import half_width
from rising_bandits.experiments.store import replacing


def numbers(run: ex.StoredRun):
    return [run.rounds, run.regret, run.reward, run.realised_regret, run.realised_reward, run.plays_at]


def identical(a: ex.StoredRun, b: ex.StoredRun) -> bool:
    keys = ("super_arm_plays", "optimal_plays", "optimal_total", "settings")
    return all(np.array_equal(x, y) for x, y in zip(numbers(a), numbers(b), strict=True)) and all(
        a.meta[key] == b.meta[key] for key in keys
    )


def small_plan() -> list[ex.RunSpec]:
    return ex.make_plan(["path-easy", "k-max"], ["crucb", "sw-cts", "random"], seeds=2, horizon=1500)


def test_results_do_not_depend_on_workers_or_order(tmp_path):
    plan = small_plan()
    alone = ex.run_plan(plan, tmp_path / "one", workers=1)
    both = ex.run_plan(plan, tmp_path / "two", workers=2)
    backwards = ex.run_plan(plan[::-1], tmp_path / "back", workers=1)[::-1]
    for first, second, third in zip(alone, both, backwards, strict=True):
        assert identical(first, second)
        assert identical(first, third)


def test_a_stored_run_is_what_simulate_gives(tmp_path):
    plan = ex.make_plan(["matching-easy"], ["crucb(epsilon=0.25)"], seeds=1, first_seed=7, horizon=2000, rounds=[777])
    stored = ex.run_plan(plan, tmp_path, workers=1)[0]
    run = rb.simulate(
        rb.tasks.get("matching-easy"), rb.CRUCB(epsilon=0.25, sigma=0.01), horizon=2000, seed=7, rounds=[777]
    )
    expected = [run.rounds, run.regret, run.reward, run.realised_regret, run.realised_reward, run.plays_at]
    for mine, other in zip(numbers(stored), expected, strict=True):
        assert np.array_equal(mine, other)
    assert 777 in stored.rounds
    assert {tuple(arms): count for arms, count in stored.meta["super_arm_plays"]} == run.super_arm_plays
    assert stored.meta["arms"][0] == "w0->j0"


COPIES = """
import sys, threading, warnings
warnings.simplefilter("error")
from rising_bandits import experiments as ex
from rising_bandits.experiments import processes
def handler(*_):
    raise SystemExit("the handler of the parent")
if __name__ == "__main__":
    import signal
    signal.signal(signal.SIGTERM, handler)
    plan = ex.make_plan(["toy", "path-easy"], ["sw-cucb", "random"], seeds="{seeds}", horizon=3_000)
    first = ex.run_plan(plan[:2], sys.argv[1], workers=2)
    # Threads of Arrow and of pandas have run in this process now.
    ex.frame(sys.argv[1]).to_parquet(sys.argv[1] + "/_table.parquet")
    ex.run_plan(plan, sys.argv[1], workers=3)
    print(processes._context([(0, spec) for spec in plan]).get_start_method())
    print(processes._context([(0, ex.RunSpec("toy", "mine:Mine"))]).get_start_method())
    thread = threading.Thread(target=lambda: print(processes._context([]).get_start_method()))
    thread.start()
    thread.join()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems start new processes")
def test_helpers_that_are_copies_of_their_parent_give_the_same_numbers(tmp_path):
    script = tmp_path / "copies.py"
    script.write_text(COPIES.replace("{seeds}", "0-2"))
    done = subprocess.run(
        [sys.executable, script, tmp_path / "out"], capture_output=True, text=True, check=True, timeout=600
    )
    # Other threads, and code of one's own that may have some, ask for new processes.
    assert (done.stdout.split(), done.stderr) == (["fork", "spawn", "spawn"], "")
    plan = ex.make_plan(["toy", "path-easy"], ["sw-cucb", "random"], seeds=3, horizon=3_000)
    for one, other in zip(
        ex.run_plan(plan, tmp_path / "out"), ex.run_plan(plan, tmp_path / "one", workers=1), strict=True
    ):
        assert identical(one, other)


def test_adding_a_policy_or_a_seed_changes_no_other_result(tmp_path):
    few = ex.run_plan(ex.make_plan(["toy"], ["crucb"], seeds=1, horizon=800), tmp_path / "few", workers=1)
    more = ex.run_plan(ex.make_plan(["toy"], ["sw-ts", "crucb"], seeds=2, horizon=800), tmp_path / "more", workers=1)
    again = next(run for run in more if run.spec == few[0].spec)
    assert identical(few[0], again)


def test_finished_runs_are_not_run_again(tmp_path):
    plan = ex.make_plan(["toy"], ["sw-cucb"], seeds=2, horizon=500)
    ex.run_plan(plan, tmp_path, workers=1)
    store = ex.ResultStore(tmp_path)
    stamps = [store.run_path(spec).stat().st_mtime_ns for spec in plan]
    seen = []
    ex.run_plan(plan, tmp_path, workers=2, progress=lambda number, rounds: seen.append((number, rounds)))
    assert [store.run_path(spec).stat().st_mtime_ns for spec in plan] == stamps
    assert seen == [(0, 500), (1, 500)]


def test_the_same_run_in_other_words_is_one_run():
    plan = ex.make_plan(["toy"], ["crucb", "crucb(epsilon=0.125)", "crucb(bonus='paper')"], seeds=2)
    assert len(plan) == 2


def test_results_of_other_code_are_run_again(tmp_path, monkeypatch):
    plan = ex.make_plan(["toy"], ["random"], seeds=1, horizon=100)
    with monkeypatch.context() as other:
        other.setattr("rising_bandits.experiments.store.NUMBERS_HASH", "older")
        ex.run_plan(plan, tmp_path, workers=1)
    store = ex.ResultStore(tmp_path)
    assert not store.has(plan[0])
    before = store.run_path(plan[0]).stat().st_mtime_ns
    ex.run_plan(plan, tmp_path, workers=1)
    assert store.has(plan[0])
    assert store.run_path(plan[0]).stat().st_mtime_ns != before


def test_settings_of_earlier_calls_stay(tmp_path):
    ex.run_plan(ex.make_plan(["toy"], ["random"], seeds=1, horizon=100), tmp_path, workers=1)
    ex.run_plan(ex.make_plan(["toy"], ["random"], seeds=1, horizon=200), tmp_path, workers=1)
    runs = json.loads((tmp_path / "_settings.json").read_text())["runs"]
    assert [run["horizon"] for run in runs] == [100, 200]


def test_a_task_of_ones_own_reaches_the_workers(tmp_path):
    names = [f"rising_bandits.theory.instances:general_{side}(horizon=300)" for side in "ab"]
    runs = ex.run_plan(ex.make_plan(names, ["sw-cucb"], seeds=1), tmp_path, workers=2)
    assert [run.spec.horizon for run in runs] == [300, 300]
    with pytest.raises(rb.InputError, match="must be a function that returns a Task"):
        ex.make_plan(["builtins:dict(a=1)"], ["random"])


@pytest.mark.parametrize("policy", ["crucb", "sw-ts"])
def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path, policy):
    spec = ex.make_plan(["spanning-easy"], [policy], seeds=1, horizon=5000)[0]
    whole = ex.run_plan([spec], tmp_path / "whole", workers=1)[0]
    store = ex.ResultStore(tmp_path / "stopped")
    stops = 0
    played: list[int] = []
    while not execute(spec, store, "", progress=played.append, stopping=lambda: len(played) % 3 == 2):
        assert store.partial_path(spec).exists()
        assert not store.has(spec)
        stops += 1
    assert stops >= 2
    # It never goes back: each part begins where the last one ended.
    assert played == sorted(played)
    assert identical(store.read(spec), whole)
    assert not store.partial_path(spec).exists()


def test_a_checkpoint_of_other_code_is_not_used(tmp_path):
    spec = ex.make_plan(["toy"], ["crucb"], seeds=1, horizon=2000)[0]
    store = ex.ResultStore(tmp_path)
    execute(spec, store, "", stopping=lambda: True)
    assert store.read_partial(spec) is not None
    import gzip

    path = store.partial_path(spec)
    data = json.loads(gzip.decompress(path.read_bytes()))
    path.write_bytes(gzip.compress(json.dumps({**data, "sources": "other"}).encode()))
    assert store.read_partial(spec) is None


KILLED = """
import sys
from rising_bandits.experiments import make_plan, run_plan
run_plan(make_plan(["spanning-complex"], ["sw-ts"], seeds=2, horizon=20_000), sys.argv[1], workers=2,
         checkpoint_seconds=0.1)
"""


def test_killing_everything_loses_no_finished_work_and_changes_no_number(tmp_path):
    plan = ex.make_plan(["spanning-complex"], ["sw-ts"], seeds=2, horizon=20_000)
    script = tmp_path / "killed.py"
    script.write_text("if __name__ == '__main__':\n" + "".join(f"    {line}\n" for line in KILLED.strip().splitlines()))
    folder = tmp_path / "out"
    for _ in range(3):
        process = subprocess.Popen([sys.executable, str(script), str(folder)], start_new_session=True)
        deadline = time.monotonic() + 120
        partial = folder / "_partial"
        before = {path: path.stat().st_mtime_ns for path in partial.glob("*.gz")} if partial.exists() else {}
        while time.monotonic() < deadline and process.poll() is None:
            now = {path: path.stat().st_mtime_ns for path in partial.glob("*.gz")} if partial.exists() else {}
            if now != before:
                break
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    resumed = ex.run_plan(plan, folder, workers=2)
    whole = ex.run_plan(plan, tmp_path / "whole", workers=2)
    for one, other in zip(resumed, whole, strict=True):
        assert identical(one, other)


ORPHANS = """
import sys
from rising_bandits.experiments import make_plan, run_plan
if __name__ == "__main__":
    run_plan(make_plan(["spanning-complex"], ["sw-ts"], seeds=3, horizon=10_000_000), sys.argv[1], workers=2,
             progress=lambda number, rounds: rounds and print(number, flush=True))
"""


def test_workers_save_and_end_when_their_parent_is_killed(tmp_path):
    script = tmp_path / "orphans.py"
    script.write_text(ORPHANS)
    process = subprocess.Popen([sys.executable, str(script), str(tmp_path / "out")], stdout=subprocess.PIPE, text=True)
    begun = set()
    while len(begun) < 2:
        line = process.stdout.readline()
        assert line, "it ended before two runs had begun"
        begun.add(line)
    process.kill()
    # The workers have inherited the pipe: it ends when the last of them has ended.
    process.communicate(timeout=120)
    # The one that was killed played a run as well, and could save nothing.
    assert len(list((tmp_path / "out" / "_partial").glob("*.gz"))) == 1


BREAKING = """
import os, signal, time
import numpy as np
class Breaking:
    def __init__(self, caller, how, marker):
        self.caller, self.how, self.marker = caller, how, marker
    def start(self, problem, horizon=None, rng=None):
        self.asked = 0
    def select(self):
        self.asked += 1
        if os.getpid() == self.caller:
            while not os.path.exists(self.marker):
                time.sleep(0.01)
        elif self.asked == 20:
            open(self.marker, "w").close()
            if self.how == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            raise (Odd(1, 2) if self.how == "odd" else ArithmeticError("on purpose"))
        return np.array([0, 1])
    def observe(self, arms, outcomes):
        pass
class Odd(Exception):
    def __init__(self, one, two):
        super().__init__("odd on purpose")
"""


@pytest.mark.parametrize(
    ("how", "kind", "message"),
    [
        ("raised", ArithmeticError, "on purpose"),
        ("odd", rb.RisingBanditsError, "a run failed: Odd: odd on purpose"),
        ("killed", rb.RisingBanditsError, "a worker process was killed"),
    ],
)
def test_what_goes_wrong_in_a_helper_is_told_and_ends_the_plan(tmp_path, monkeypatch, how, kind, message):
    (tmp_path / "breaking.py").write_text(BREAKING)
    monkeypatch.syspath_prepend(str(tmp_path))
    given = {"caller": os.getpid(), "how": how, "marker": str(tmp_path / "marker")}
    plan = [ex.RunSpec("toy", "breaking:Breaking", given, horizon=horizon) for horizon in (500_000, 1000)]
    with pytest.raises(kind, match=message):
        ex.run_plan(plan, tmp_path / "out", workers=2)
    assert not multiprocessing.active_children()


def test_a_plan_makes_each_task_once(tmp_path, monkeypatch):
    made = []
    make = identity.make_task
    monkeypatch.setattr(identity, "make_task", lambda *given: made.append(given) or make(*given))
    plan = ex.make_plan(["rising_bandits.theory.instances:general_a(horizon=[60, 70])"], ["random"], seeds=3)
    made.clear()
    ex.run_plan(plan, tmp_path, workers=1)
    assert len(made) == 2
    plan[0].make_task()
    assert len(made) == 3


def test_files_have_the_columns_of_the_whole_plan_from_the_start(tmp_path, monkeypatch):
    monkeypatch.setattr(ex.ResultStore, "align", lambda store: None)
    ex.run_plan(ex.make_plan(["toy"], ["sw-cucb(window=20)", "random"], seeds=1, horizon=50), tmp_path, workers=1)
    import pyarrow.parquet as pq

    schemas = [pq.read_schema(path).remove_metadata() for path in (tmp_path / "runs").glob("*.parquet")]
    assert len(schemas) == 2
    assert schemas[0].equals(schemas[1])
    assert "window" in schemas[0].names


def test_settings_are_complete(tmp_path):
    plan = small_plan()
    ex.run_plan(plan, tmp_path, workers=1, version="1.2.3")
    settings = json.loads((tmp_path / "_settings.json").read_text())
    assert settings["version"] == "1.2.3"
    assert [ex.RunSpec.from_dict(data) for data in settings["runs"]] == plan
    for spec in plan:
        stored = ex.read_run(ex.ResultStore(tmp_path).run_path(spec))
        assert stored.spec == spec
        assert stored.spec.key == spec.key


def test_labels_name_only_what_was_chosen():
    plan = ex.make_plan(["toy", "k-max"], ["crucb", "crucb(epsilon=0.4)", "crucb(sigma=0.5)", "sw-ts"], seeds=1)
    assert [spec.label for spec in plan[:4]] == ["crucb", "crucb(epsilon=0.4)", "crucb(sigma=0.5)", "sw-ts"]
    assert plan[0].parameters["sigma"] == 0.0
    assert plan[4].parameters["sigma"] == 0.01
    assert len({spec.key for spec in plan}) == len(plan)


def test_all_means_the_six_policies_of_the_paper():
    plan = ex.make_plan(["toy"], ["all"], seeds=1)
    assert [spec.policy for spec in plan] == ["crucb", "r-ed-ucb", "sw-ucb", "sw-cucb", "sw-ts", "sw-cts"]


def test_a_policy_of_ones_own_by_module_and_class(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "import rising_bandits as rb\n"
        "class Last(rb.IndexPolicy):\n"
        "    name = 'last'\n"
        "    def index(self, outcomes, t):\n"
        "        return outcomes[-1]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    runs = ex.run_plan(ex.make_plan(["toy"], ["mine:Last"], seeds=1, horizon=200), tmp_path / "out", workers=1)
    assert runs[0].label == "mine:Last"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ex.make_plan(["nope"], ["crucb"]), "task must be one of toy, .* got 'nope'"),
        (lambda: ex.make_plan(["toy"], ["nope"]), "policy must be one of crucb, .* got 'nope'"),
        (lambda: ex.make_plan(["toy"], ["crucb(0.5)"]), "policy must look like"),
        (lambda: ex.make_plan(["toy"], ["crucb(epsilon=)"]), "policy must look like"),
        (lambda: ex.make_plan(["toy"], ["crucb(epsilon=0.9)"]), "epsilon must be"),
        (lambda: ex.make_plan(["toy"], ["no_such_module:X"]), "cannot be imported"),
        (lambda: ex.make_plan(["toy"], ["crucb"], seeds=0), "seeds must be a number of at least 1, .* got 0"),
        (lambda: ex.make_plan(["toy"], ["crucb"], horizon=-5), "horizon must be .* got -5"),
        (lambda: ex.read_run("no/such.parquet"), "does not exist"),
    ],
)
def test_bad_plans_are_refused(call, message):
    with pytest.raises(rb.InputError, match=message):
        call()


def test_what_cannot_run_is_refused_before_anything_is_written(tmp_path):
    plan = ex.make_plan(["toy", "spanning-complex"], ["sw-ucb"], seeds=1, horizon=100)
    with pytest.raises(rb.InputError, match="horizon must be at least 2592"):
        ex.run_plan(plan, tmp_path / "out", workers=2)
    assert not (tmp_path / "out").exists()


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(rb.InputError, match="out must be a folder"):
        ex.ResultStore(tmp_path / "file")


def test_a_file_that_is_no_run_is_refused(tmp_path):
    (tmp_path / "x.parquet").write_text("not parquet")
    with pytest.raises(rb.InputError, match="is not one"):
        ex.read_run(tmp_path / "x.parquet")


def test_writing_aside_leaves_the_old_file_when_it_fails(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")

    def interrupted():
        with replacing(path) as aside:
            aside.write_text("half of the n")
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        interrupted()
    assert path.read_text() == "old"
    assert [found.name for found in tmp_path.iterdir()] == ["file.txt"]


def test_intervals_are_students():
    from scipy import stats

    values = np.random.default_rng(0).normal(size=(5, 3))
    low, high = stats.t.interval(0.99, 4, loc=values.mean(axis=0), scale=stats.sem(values, axis=0))
    assert half_width(values) == pytest.approx((high - low) / 2)
    assert np.isnan(half_width(values[:1])).all()


def test_no_share_of_an_optimum_of_nothing(tmp_path, monkeypatch):
    (run,) = ex.run_plan(ex.make_plan(["toy"], ["random"], seeds=1, horizon=20), tmp_path, workers=1)
    monkeypatch.setattr(run, "meta", {**run.meta, "optimal_total": 0.0})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (row,) = ex.summarise([run])
    assert np.isnan(row.share)
    assert row.regret == run.regret[-1]


def test_the_summary_is_what_the_runs_say(tmp_path):
    plan = ex.make_plan(["path-easy"], ["sw-cucb", "oracle"], seeds=3, horizon=2000)
    runs = ex.run_plan(plan, tmp_path, workers=1)
    best, worst = ex.summarise(runs)
    assert [best.policy, worst.policy] == ["oracle", "sw-cucb"]
    finals = [run.regret[-1] for run in runs if run.spec.policy == "sw-cucb"]
    assert worst.regret == pytest.approx(np.mean(finals))
    assert worst.share == pytest.approx(np.mean(finals) / rb.optimal_constant(rb.tasks.get("path-easy"), 2000).total)
    assert best.optimal_plays == 1.0
    band = ex.band([run for run in runs if run.spec.policy == "sw-cucb"])
    assert band.mean[-1] == pytest.approx(worst.regret)
    assert band.high[-1] - band.mean[-1] == pytest.approx(worst.half_width)
