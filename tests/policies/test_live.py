"""Live decisions answer in plain Python, and machine code that takes over decides the same."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tracemalloc
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits.policies.engines import live
from rising_bandits.policies.rules.operations import indices, roomy, update
from rising_bandits.problems.tasks import grid_edges


def play(policy, rounds):
    chosen = []
    for t in range(rounds):
        arms = policy.select()
        chosen.append(arms.tolist())
        policy.observe(arms, [((37 * int(arm) + 11 * t) % 101) / 101.0 for arm in arms])
    return chosen


PROBLEMS = {
    "path": rb.problems.ShortestPath(grid_edges(4), "0,0", "3,3"),
    "matching": rb.problems.Matching(3, 5),
    "top-k": rb.problems.TopK(9, k=3),
}


@pytest.fixture
def paces(monkeypatch):
    """No kind of engine is known, and compiling pays at once."""
    monkeypatch.setattr(live, "_PACES", {})
    monkeypatch.setattr(live, "PAYS", 1e-9)
    yield live._PACES
    for pace in live._PACES.values():
        if pace is not None and pace.worker is not None:
            pace.worker.join()


@pytest.mark.parametrize("structure", PROBLEMS)
@pytest.mark.parametrize(
    "make", [lambda: rb.CRUCB(sigma=0.05), lambda: rb.HorizonCRUCB(), lambda: rb.SWCUCB(window=20)]
)
def test_machine_code_that_takes_over_decides_the_same(structure, make, paces, monkeypatch):
    problem = PROBLEMS[structure]
    policy = make()
    policy.start(problem, horizon=500, rng=1)
    first = play(policy, 30)
    (pace,) = [pace for pace in live._PACES.values() if pace is not None]
    pace.worker.join()
    assert pace.select is not None
    assert pace.learn is not None
    rest = play(policy, 60)
    monkeypatch.setattr(live, "_PACES", {})
    monkeypatch.setattr(live, "PAYS", np.inf)
    again = make()
    again.start(problem, horizon=500, rng=1)
    assert play(again, 30) == first
    assert play(again, 60) == rest
    assert again.indices().tolist() == policy.indices().tolist()


def a_run(problem, rounds):
    """Random super arms with outcomes; of some of them not all arms were played."""
    rng = np.random.default_rng(3)
    run = []
    for t in range(rounds):
        arms = problem.oracle.sample(rng)
        played = arms.size if t % 3 else int(rng.integers(arms.size + 1))
        run.append((arms, np.where(np.arange(arms.size) < played, rng.random(arms.size), 0.0), played, t % 2))
    return run


@pytest.mark.parametrize("name", sorted({*rb.policies.names()} - {"oracle"}))
def test_a_run_is_learnt_as_its_super_arms_one_by_one(name):
    problem = PROBLEMS["top-k"]
    for parameters in rb.policies.classes()[name].examples():
        one, whole = (rb.policies.classes()[name](**parameters) for _ in range(2))
        for policy in (one, whole):
            policy.start(problem, horizon=1_000, rng=1)
        run = a_run(problem, 300)
        for arms, outcomes, played, rounds in run:
            one._take_in(arms, outcomes, played, rounds)
        whole._take_in_run(run[:1])
        whole._take_in_run(run[1:])
        assert whole.state() == one.state()


@pytest.mark.parametrize("resolution", [None, 4])
def test_machine_code_learns_a_run_as_plain_python_does(paces, monkeypatch, resolution):
    problem = PROBLEMS["path"]
    policy = rb.CRUCB(sigma=0.05, resolution=resolution)
    policy.start(problem, rng=1)
    play(policy, 30)
    (pace,) = live._PACES.values()
    pace.worker.join()
    assert pace.learn_run is not None
    again = policy.copy()
    run = a_run(problem, 400)
    policy._take_in_run(run)
    monkeypatch.setattr(live, "_PACES", {})
    monkeypatch.setattr(live, "PAYS", np.inf)
    for part in run:
        again._take_in(*part)
    assert policy.state() == again.state()


def test_types_are_not_looked_at_again_in_an_engine_that_machine_code_has_met(paces):
    policy = rb.CRUCB(sigma=0.05)
    policy.start(PROBLEMS["path"], rng=1)
    play(policy, 30)
    (pace,) = live._PACES.values()
    pace.worker.join()
    play(policy, 1)
    assert policy._met.engine is policy._engine
    other = policy.copy()
    unpickled = pickle.loads(pickle.dumps(policy))
    assert other._met.engine is None
    assert unpickled._met.engine is None
    assert play(other, 40) == play(unpickled, 40) == play(policy, 40)


@pytest.mark.parametrize(("kinds", "skips"), [([], False), (["int"], True), (["int", "float"], False)])
def test_machine_code_for_several_types_always_looks_at_them(kinds, skips):
    pace, met = live.Pace(), live.Met()
    pace.select = pace.learn = SimpleNamespace(overloads=dict.fromkeys(kinds))
    pace.direct = print, print
    met.note("an engine", pace)
    assert (met.engine is not None) == skips


def test_engines_that_draw_stay_in_python(paces):
    for policy in (rb.SWCTS(window=5), rb.SWUCB(window=5), rb.Random()):
        policy.start(PROBLEMS["top-k"], rng=1)
        play(policy, 20)
    assert set(live._PACES.values()) == {None}


class Words(NamedTuple):
    """A rule of one's own that plain Python can run and a compiler cannot."""

    plays: Any
    last: Any


@update.register(Words)
def _update(state, unit, outcome):
    state.plays[unit] += 1
    state.last[unit] = float(str(float(outcome)))


@indices.register(Words)
def _indices(state, t, rng, out):
    out[:] = [float(f"{value}") for value in state.last]


@roomy.register(Words)
def _roomy(state, pushes):
    return True


class Wordy(rb.policies.BaseArmPolicy):
    name = "wordy"

    def make_rule(self, n_units, problem, horizon):
        return Words(np.zeros(n_units, dtype=np.int64), np.zeros(n_units))


def test_a_rule_that_cannot_be_compiled_goes_on_in_python(paces, monkeypatch):
    monkeypatch.setattr(Words, "draws", False, raising=False)
    policy = Wordy()
    policy.start(PROBLEMS["top-k"], rng=1)
    first = play(policy, 30)
    (pace,) = live._PACES.values()
    pace.worker.join()
    assert pace.select is None
    assert pace.learn is None
    assert len(first + play(policy, 20)) == 50


FORK = """
import os
import rising_bandits as rb
from rising_bandits.policies.engines import live
live.PAYS = 1e-9
policy = rb.CRUCB()
policy.start(rb.problems.Matching(3, 5), rng=1)
for _ in range(12):
    policy.observe(policy.select(), [0.5, 0.25, 0.75])
(pace,) = live._PACES.values()
assert pace.worker is not None
child = os.fork()
if child == 0:
    run = rb.simulate(rb.tasks.get("toy"), rb.Random(), horizon=50, seed=0)
    os._exit(0 if run.reward[-1] > 0.0 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


def test_a_fork_waits_for_the_compiler():
    """A child that inherited the compiler's lock could never simulate."""
    subprocess.run([sys.executable, "-c", FORK], check=True)


def test_decisions_keep_no_memory(monkeypatch):
    """At most 200 bytes a decision over ten thousand; the million is in the benchmark.

    Without a compiler: to load it takes megabytes, once, at a moment that depends on the machine.
    """
    monkeypatch.setattr(live, "PAYS", np.inf)
    policy = rb.CRUCB(sigma=0.05, resolution=8)
    policy.start(rb.problems.TopK(4, k=2), rng=0)
    play(policy, 500)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(10_000):
        policy.select()
        policy.indices()
    kept = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert kept < 200 * 10_000


SOAK = """
import os
import rising_bandits as rb

def used():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"), len(os.listdir("/proc/self/fd"))

def play(decisions):
    for _ in range(decisions):
        policy.observe(policy.select(), [0.5, 0.25])

policy = rb.CRUCB(sigma=0.05, resolution=8)
policy.start(rb.problems.TopK(4, k=2), rng=0)
play(3_000)
before = used()
play(20_000)
print(*(b - a for a, b in zip(before, used(), strict=True)))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_soak_keeps_no_memory_and_no_file_handles(monkeypatch):
    """The memory of the process, which Python's own count does not see whole; ``bench/soak.py`` plays a million."""
    # A compiler that is loaded in between would take memory of its own.
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    done = subprocess.run([sys.executable, "-c", SOAK], capture_output=True, text=True, check=True)
    memory, handles = (int(word) for word in done.stdout.split())
    assert memory <= 200 * 20_000
    assert handles <= 0
