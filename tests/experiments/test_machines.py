"""Many machines: shards, executors and Dask clusters give the numbers of one core, whatever dies on the way."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits import experiments as ex
from rising_bandits.experiments import executors, identity, own_code
from rising_bandits.experiments.executors import Leg, play_leg

SRC = str(Path(rb.__file__).parents[1])


def same(some, others):
    names = ("rounds", "regret", "reward", "realised_regret", "realised_reward", "plays_at")
    return len(some) == len(others) and all(
        np.array_equal(getattr(a, name), getattr(b, name))
        and a.meta["super_arm_plays"] == b.meta["super_arm_plays"]
        and a.spec == b.spec
        for a, b in zip(some, others, strict=True)
        for name in names
    )


def small_plan():
    return ex.make_plan(["toy"], ["sw-cucb(window=[20, 40])", "random"], seeds=3, horizon=700)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The small plan on one core."""
    return ex.run_plan(small_plan(), tmp_path_factory.mktemp("alone"), workers=1)


def test_shards_joined_are_the_whole(tmp_path, alone, run, capsys):
    arguments = ["run", "toy", "--policy", "sw-cucb(window=[20, 40])", "--policy", "random", "--seeds", "3"]
    arguments += ["--horizon", "700", "--workers", "1"]
    for part in (1, 2, 3, 4):
        assert run(*arguments, "--shard", f"{part}/4", "--out", tmp_path / f"part-{part}") == 0
    capsys.readouterr()
    counts = [len(ex.ResultStore(tmp_path / f"part-{part}").specs()) for part in (1, 2, 3, 4)]
    assert counts == [3, 2, 2, 2]
    out = tmp_path / "all"
    assert run("collect", *(tmp_path / f"part-{part}" for part in (1, 2, 3)), "--out", out) == 0
    said = capsys.readouterr().out
    assert "7 runs" in said
    # Nobody gave the fourth part, and its runs are missed all the same.
    assert said.count("not finished: toy-") == 2
    # Again, with the part that was missing: what is there already is not copied twice.
    assert run("collect", tmp_path, "--out", out, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["added"], said["missing"]) == (2, [])
    # Nothing is left to do.
    store = ex.ResultStore(out)
    assert all(store.has(spec) for spec in small_plan())
    assert same([store.read(spec) for spec in small_plan()], alone)
    # Whatever the names of the files, tables are in the order of the plan.
    assert store.specs() == small_plan() == [run.spec for run in store.runs()]
    assert (out / "_plan.toml").read_text() == (tmp_path / "part-1" / "_plan.toml").read_text()


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "a/b", "1/0", "-1/4", "1/4/2"])
def test_shards_that_are_none(text):
    with pytest.raises(rb.InputError, match="shard must look like 3/16"):
        ex.shard(small_plan(), text)


def test_different_results_of_one_run_are_not_joined(tmp_path):
    plan = ex.make_plan(["toy"], ["random"], seeds=1, horizon=50)
    one, other = (ex.ResultStore(tmp_path / name) for name in ("a", "b"))
    run = ex.run_plan(plan, one.folder, workers=1)[0]
    from rising_bandits.experiments.stored import columns_of_stored

    other.write_columns(plan[0], {**columns_of_stored(run), "regret": run.regret + 1}, run.meta)
    with pytest.raises(rb.InputError, match="must be equal"):
        ex.collect([one.folder, other.folder], tmp_path / "out")
    # Results of other sources give way to those of the present ones.
    other.write_columns(plan[0], {**columns_of_stored(run), "regret": run.regret + 1}, {**run.meta, "sources": "old"})
    for order in ([one.folder, other.folder], [other.folder, one.folder]):
        ex.collect(order, tmp_path / f"out-{order[0].name}")
        found = ex.ResultStore(tmp_path / f"out-{order[0].name}").read(plan[0])
        assert np.array_equal(found.regret, run.regret)


def test_any_executor_gives_the_same_numbers(tmp_path, alone, monkeypatch):
    # Legs of no time: every leg plays one stretch, and every run goes through many workers.
    monkeypatch.setattr(executors, "LEG_SECONDS", 0.0)
    seen = []
    with ThreadPoolExecutor(2) as pool:
        runs = ex.run_plan(small_plan(), tmp_path, executor=pool, progress=lambda *news: seen.append(news))
    assert same(runs, alone)
    assert any(0 < rounds < 700 for _, rounds in seen)
    assert not list((tmp_path / "_partial").glob("*.gz"))


class Flaky:
    """An executor whose workers die now and then, and which is interrupted once."""

    _max_workers = 1

    def __init__(self, rng, deaths, lost=10**9):
        self.rng, self.deaths, self.lost, self.calls = rng, deaths, lost, 0

    def submit(self, work, leg):
        self.calls += 1
        if self.calls > self.lost:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future = Future()
        if self.rng.random() < self.deaths:
            work(leg)  # the work was done, and is lost with the worker
            future.set_exception(type("KilledWorker", (Exception,), {})("worker died"))
        else:
            future.set_result(work(leg))
        return future


def test_dying_workers_cost_a_leg_and_change_no_number(tmp_path, alone, monkeypatch):
    monkeypatch.setattr(executors, "LEG_SECONDS", 0.0)
    rng = np.random.default_rng(5)
    with pytest.raises(rb.RisingBanditsError, match="the same command goes on from the last checkpoints"):
        ex.run_plan(small_plan(), tmp_path, executor=Flaky(rng, 0.2, lost=22))
    assert list((tmp_path / "_partial").glob("*.gz"))
    assert same(ex.run_plan(small_plan(), tmp_path, executor=Flaky(rng, 0.2)), alone)
    with pytest.raises(rb.RisingBanditsError, match="workers died 5 times"):
        ex.run_plan(small_plan(), tmp_path / "never", executor=Flaky(rng, 1.0))


def test_a_worker_of_another_version_is_refused():
    spec = small_plan()[0]
    with pytest.raises(rb.RisingBanditsError, match="another version"):
        play_leg(Leg(spec, None, {}, (), "other", "", 1.0))


OWN = """
import rising_bandits as rb
from aid_y import SIGN
class Mine(rb.IndexPolicy):
    name = "mine"
    def index(self, outcomes, t):
        return SIGN * outcomes[-1]
"""


def kept_legs(plan, folder):
    """What workers get to play a plan."""
    legs = []

    class Keeping:
        def submit(self, work, leg):
            legs.append(leg)
            return ThreadPoolExecutor(1).submit(lambda: (_ for _ in ()).throw(RuntimeError("later")))

    with pytest.raises(RuntimeError, match="later"):
        ex.run_plan(plan, folder, executor=Keeping())
    return legs


def test_workers_get_the_sources_of_ones_own_modules(tmp_path, monkeypatch):
    code = tmp_path / "code"
    code.mkdir()
    (code / "mine_y.py").write_text(OWN)
    (code / "aid_y.py").write_text("SIGN = 1\n")
    with monkeypatch.context() as here:
        here.syspath_prepend(str(code))
        plan = ex.make_plan(["toy"], ["mine_y:Mine"], seeds=1, horizon=60)
        expected = ex.run_plan(plan, tmp_path / "here", workers=1)
        legs = kept_legs(plan, tmp_path / "there")
    for name in ("mine_y", "aid_y"):
        sys.modules.pop(name, None)
    # Elsewhere the folder is not on the path, and another module of that name is.
    (tmp_path / "mine_y.py").write_text("raise RuntimeError('the wrong module')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "path", list(sys.path))
    played = play_leg(legs[0])
    assert np.array_equal(played.columns["regret"], expected[0].regret)
    for name in ("mine_y", "aid_y"):
        sys.modules.pop(name, None)


def test_workers_get_the_files_that_tasks_are_read_from(tmp_path, monkeypatch):
    from rising_bandits.problems import curve_files, user_files

    table = tmp_path / "mine.csv"
    table.write_text("arm,play,mean\na,1,0.2\na,90,0.8\nb,1,0.5\n")
    task = f"rising_bandits.problems.curve_files:from_file(path={str(table)!r}, noise='bernoulli', "
    task += f"digest={curve_files.digest_of(str(table))!r})"
    plan = ex.make_plan([task], ["sw-cucb"], seeds=1, horizon=60)
    expected = ex.run_plan(plan, tmp_path / "here", workers=1)
    legs = kept_legs(plan, tmp_path / "there")
    # Another machine does not have the file.
    table.unlink()
    monkeypatch.setattr(user_files, "_given", {})
    with pytest.raises(rb.InputError, match="cannot be read"):
        play_leg(replace(legs[0], files=()))
    assert np.array_equal(play_leg(legs[0]).columns["regret"], expected[0].regret)


READING = """
from importlib import resources
from pathlib import Path
import rising_bandits as rb
HERE = Path(__file__).parent
SHIFT = float((HERE / "tables" / "shift.txt").read_text())
class Mine(rb.IndexPolicy):
    name = "mine"
    def index(self, outcomes, t):
        return SHIFT * outcomes[-1]
def world():
    low, high = (float(x) for x in Path(__file__).with_name("levels.csv").read_text().split(","))
    curves = (rb.curves.Flat(low), rb.curves.Flat(high))
    return rb.Task("world", rb.problems.Explicit([[0], [1]]), curves, 60)
def lost(run):
    with open("lost_z.txt") as handle:
        return float(handle.read())
"""


def test_workers_get_the_files_that_ones_own_module_names(tmp_path, monkeypatch):
    code = tmp_path / "code"
    (code / "tables").mkdir(parents=True)
    (code / "reads_z.py").write_text(READING)
    (code / "tables" / "shift.txt").write_text("0.5")
    (code / "levels.csv").write_text("0.2,0.8")
    (code / ".env").write_text("secret")
    (code / "other.csv").write_text("not named")
    (tmp_path / "lost_z.txt").write_text("3.0")
    with monkeypatch.context() as here:
        here.syspath_prepend(str(code))
        here.chdir(tmp_path)
        plan = ex.make_plan(["reads_z:world"], ["reads_z:Mine"], seeds=1)
        lost = ex.make_plan(["toy"], ["random"], metrics=["reads_z:lost"], seeds=1, horizon=40)
        expected = ex.run_plan(plan, tmp_path / "here", workers=1)
        assert ex.run_plan(lost, tmp_path / "here", workers=1)[0].metrics == {"lost": 3.0}
        (leg,) = kept_legs(plan, tmp_path / "there")
        (other,) = kept_legs(lost, tmp_path / "elsewhere")
    assert sorted(leg.sources) == ["levels.csv", "reads_z.py", "tables/shift.txt"]
    sys.modules.pop("reads_z")
    # Another machine does not have the folder.
    code.rename(tmp_path / "away")
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert np.array_equal(play_leg(leg).columns["regret"], expected[0].regret)
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(rb.RisingBanditsError, match=r"lost_z.txt.*Path\(__file__\)"):
        play_leg(other)
    sys.modules.pop("reads_z", None)


def test_what_a_module_names_is_sent_within_limits(tmp_path, monkeypatch, caplog):
    package = tmp_path / "pack_z"
    package.mkdir()
    (package / "__init__.py").write_text('BESIDE = "a.csv"; UP = "../a.csv"; AWAY = "../../secret.csv"; OWN = "."\n')
    (package / "big.py").write_text(
        '"""json/a.csv"""\nBIG = "big.bin"; HIDDEN = ".env"; PLACE = "pack_z"; EMPTY = ""\n'
    )
    (package / "a.csv").write_text("inside")
    (package / ".env").write_text("secret")
    (tmp_path / "a.csv").write_text("beside the package")
    (tmp_path.parent / "secret.csv").write_text("outside")
    with (package / "big.bin").open("wb") as handle:
        handle.truncate(2**40)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.import_module("pack_z.big")
    found = own_code.bundle(["pack_z.big"])
    assert sorted(found) == ["a.csv", "pack_z/__init__.py", "pack_z/a.csv", "pack_z/big.py"]
    assert "big.bin is not sent" in caplog.text
    # Files change nothing in the identity of a run, and importing them replaces no module.
    assert own_code.digest_of(["pack_z.big"]) == own_code.digest(own_code.sources(["pack_z.big"]))
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = json
    identity.unpack({"json/a.csv": b"", "json.csv": b"", **found})
    assert sys.modules["json"] is before
    for name in ("pack_z", "pack_z.big"):
        sys.modules.pop(name, None)


# --- Dask ---


def start(*arguments, prefix=(), **options):
    """A process of Dask that knows this package."""
    environment = {**os.environ, "PYTHONPATH": SRC, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    command = [*prefix, sys.executable, "-m", "distributed.cli." + arguments[0], *map(str, arguments[1:])]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)


@contextlib.contextmanager
def ending(*processes):
    """End processes at the end, whatever happens."""
    try:
        yield
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


def scheduler(folder, host="127.0.0.1", prefix=()):
    file = folder / "scheduler.json"
    process = start(
        "dask_scheduler", "--host", host, "--port", 0, "--no-dashboard", "--scheduler-file", file, prefix=prefix
    )
    return process, file


def address_of(file, process):
    while True:
        assert process.poll() is None
        with contextlib.suppress(OSError, ValueError):
            return json.loads(file.read_text())["address"]
        time.sleep(0.05)


def worker(address, prefix=()):
    return start("dask_worker", address, "--nthreads", 1, "--no-nanny", "--no-dashboard", prefix=prefix)


def kill_one(workers, folder, legs=3):
    """A function for ``progress`` that kills a worker once some legs have come back."""
    seen = []

    def progress(number, rounds):
        if rounds:
            seen.append(rounds)
        if len(seen) == legs:
            workers[0].send_signal(signal.SIGKILL)

    return progress


def long_plan():
    return ex.make_plan(["toy"], ["sw-cucb(window=20)"], seeds=4, horizon=1_600)


def run_with_a_killed_worker(address, workers, folder):
    from rising_bandits.experiments.cluster import cluster

    with cluster(address) as executor:
        runs = ex.run_plan(
            long_plan(), folder, executor=executor, checkpoint_seconds=0.0, progress=kill_one(workers, folder)
        )
    assert workers[0].wait() == -signal.SIGKILL
    return runs


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_with_a_killed_worker_equals_one_core(tmp_path):
    pytest.importorskip("distributed")
    head, file = scheduler(tmp_path)
    with ending(head):
        address = address_of(file, head)
        workers = [worker(address), worker(address)]
        with ending(*workers):
            runs = run_with_a_killed_worker(address, workers, tmp_path / "cluster")
    assert same(runs, ex.run_plan(long_plan(), tmp_path / "alone", workers=1))


INTERRUPTED = """
import os, signal, sys
from rising_bandits.experiments import make_plan, run_plan
from rising_bandits.experiments.cluster import cluster

signal.signal(signal.SIGINT, signal.default_int_handler)  # a test in the background would ignore Ctrl-C
plan = make_plan(["toy"], ["sw-cucb(window=20)"], seeds=4, horizon=1_600)
with cluster(sys.argv[1]) as executor:
    # Ctrl-C when the first part of a run has come back; legs of no time are far shorter than a run.
    run_plan(plan, sys.argv[2], executor=executor, checkpoint_seconds=0.0,
             progress=lambda number, rounds: os.kill(os.getpid(), signal.SIGINT))
"""


@pytest.mark.filterwarnings("ignore")
def test_ctrl_c_reaches_a_cluster_and_the_same_plan_goes_on(tmp_path):
    pytest.importorskip("distributed")
    from rising_bandits.experiments.cluster import cluster

    plan, folder = long_plan(), tmp_path / "out"
    head, file = scheduler(tmp_path)
    with ending(head):
        address = address_of(file, head)
        hand = worker(address)
        with ending(hand):
            stopped = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", INTERRUPTED, address, str(folder)],
                env={**os.environ, "PYTHONPATH": SRC, "OMP_NUM_THREADS": "1"},
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
            assert stopped.returncode != 0
            assert "KeyboardInterrupt" in stopped.stderr
            states = [ex.ResultStore(folder).read_partial(spec) for spec in plan]
            saved = [0 if state is None else state["next_round"] - 1 for state in states]
            assert 0 < max(saved) < 1_600
            assert min(saved) == 0
            # The worker is still there, and the same plan goes on from what was saved.
            seen = []
            with cluster(address) as executor:
                runs = ex.run_plan(plan, folder, executor=executor, progress=lambda *news: seen.append(news))
            assert hand.poll() is None
    assert all(rounds > saved[number] for number, rounds in seen)
    assert same(runs, ex.run_plan(plan, tmp_path / "alone", workers=1))


TERMINAL = """
import os, signal, sys
from rising_bandits.experiments import make_plan, run_plan
from rising_bandits.experiments.cluster import cluster

signal.signal(signal.SIGINT, signal.default_int_handler)
if __name__ == "__main__":
    plan = make_plan(["toy"], ["sw-cucb(window=20)"], seeds=4, horizon=1_600)
    with cluster("local", 1) as executor:
        before = executor._client.run(os.getpid)
        try:
            # A terminal sends Ctrl-C to every process of a command.
            run_plan(plan, sys.argv[1], executor=executor, checkpoint_seconds=0.0,
                     progress=lambda number, rounds: os.killpg(0, signal.SIGINT))
        except KeyboardInterrupt:
            print("stopped", executor._client.run(os.getpid) == before, flush=True)
        # Nobody waits for work that does not end.
        executor.submit(signal.pause)
"""


@pytest.mark.filterwarnings("ignore")
def test_ctrl_c_in_a_terminal_leaves_the_workers_of_this_machine_alive(tmp_path):
    pytest.importorskip("distributed")
    script = tmp_path / "terminal.py"
    script.write_text(TERMINAL)
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", script, tmp_path / "out"],
        env={**os.environ, "PYTHONPATH": SRC, "OMP_NUM_THREADS": "1"},
        start_new_session=True,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (0, "stopped True\n"), ended.stderr
    saved = [ex.ResultStore(tmp_path / "out").read_partial(spec) for spec in long_plan()]
    assert any(state is not None for state in saved)


def network(*arguments):
    return subprocess.run(["ip", *arguments], capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def hosts(count):
    """Network namespaces on one bridge, as hosts; yields their names and the address of this machine."""
    mark = f"rb{os.getpid() % 10_000}"
    bridge, net = f"{mark}b", f"10.{os.getpid() % 200 + 20}.7"
    names = [f"{mark}n{k}" for k in range(count)]
    try:
        steps = [["link", "add", bridge, "type", "bridge"], ["addr", "add", f"{net}.1/24", "dev", bridge]]
        steps += [["link", "set", bridge, "up"]]
        for k, name in enumerate(names):
            steps += [
                ["netns", "add", name],
                ["link", "add", f"{mark}v{k}", "type", "veth", "peer", "name", f"{mark}w{k}"],
                ["link", "set", f"{mark}v{k}", "master", bridge, "up"],
                ["link", "set", f"{mark}w{k}", "netns", name],
                ["-n", name, "addr", "add", f"{net}.{k + 10}/24", "dev", f"{mark}w{k}"],
                ["-n", name, "link", "set", f"{mark}w{k}", "up"],
                ["-n", name, "link", "set", "lo", "up"],
            ]
        if not all(network(*step) for step in steps):
            pytest.skip("network namespaces cannot be made here")
        yield names, f"{net}.1"
    finally:
        for name in names:
            network("netns", "del", name)
        network("link", "del", bridge)


@pytest.mark.filterwarnings("ignore")
def test_workers_on_other_hosts_with_one_killed_equal_one_core(tmp_path):
    pytest.importorskip("distributed")
    with hosts(2) as (names, here):
        head, file = scheduler(tmp_path, here)
        with ending(head):
            address = address_of(file, head)
            workers = [worker(address, ("ip", "netns", "exec", name)) for name in names]
            with ending(*workers):
                runs = run_with_a_killed_worker(address, workers, tmp_path / "cluster")
    assert same(runs, ex.run_plan(long_plan(), tmp_path / "alone", workers=1))


@pytest.mark.parametrize("text", ["host", "tcp://127.0.0.1:9"])
@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_is_none(text, monkeypatch, tmp_path, run, capsys):
    pytest.importorskip("distributed")
    from rising_bandits.experiments import cluster

    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1.0)
    arguments = ["run", "toy", "--policy", "random", "--horizon", "50", "--out", tmp_path / "out"]
    assert run(*arguments, "--scheduler", text) == 2
    assert "rising: scheduler" in capsys.readouterr().err


def test_delays_and_cascades_are_options_of_a_plan(tmp_path, monkeypatch):
    from rising_bandits.simulation.delays import Geometric

    plan = ex.make_plan(["toy"], ["sw-cucb(window=20)"], seeds=1, horizon=300, options={"delay": "geometric(5)"})
    stored = ex.run_plan(plan, tmp_path, workers=1)[0]
    task, policy = rb.tasks.get("toy"), plan[0].make_policy()
    run = rb.simulate(task, policy, horizon=300, seed=0, delay=Geometric(5.0), compiled=False)
    assert np.array_equal(stored.regret, run.regret)
    # Legs of no time: the run is saved with its open reports and goes on, several times.
    monkeypatch.setattr(executors, "LEG_SECONDS", 0.0)
    seen = []
    with ThreadPoolExecutor(1) as pool:
        again = ex.run_plan(plan, tmp_path / "other", executor=pool, progress=lambda _, rounds: seen.append(rounds))
    assert same(again, [stored])
    assert len(seen) > 1
    assert stored.spec.world == "toy [delay='geometric(5)']"
    assert ex.frame(tmp_path, final=True)["delay"].tolist() == ["geometric(5)"]
    late = ex.make_plan(["toy"], ["random", "oracle"], seeds=2, horizon=50, options={"delay": 20})
    found = ex.compare(ex.run_plan(late, tmp_path / "late", workers=1), baseline="oracle")
    assert [row.task for row in found.rows] == ["toy [delay=20]"]
    cascading = ex.make_plan(["toy"], ["random"], seeds=1, horizon=50, options={"cascade": True})[0]
    assert cascading.make_task().cascade
    for wrong in ({"delay": -1}, {"delay": "soon"}, {"cascade": 1}, {"other": 1}):
        with pytest.raises(rb.InputError, match=r"must be|are cascade"):
            ex.make_plan(["toy"], ["random"], options=wrong)
