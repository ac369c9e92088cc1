"""The trained runs that come with the documentation: complete, recorded as they are, and told as they are."""

import importlib.util
import json
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits.antmaze import POLICIES
from rising_bandits.antmaze.recording import check_walls, record
from rising_bandits.antmaze.results import find_results
from rising_bandits.antmaze.settings import CPU, UPRIGHT
from rising_bandits.experiments import make_plan
from rising_bandits.experiments.plan import with_windows
from rising_bandits.problems.recorded import SHARE
from rising_bandits.reproduction.antmaze import last_success
from rising_bandits.reproduction.summaries import summarise
from rising_bandits.reproduction.summary_file import load

ROOT = Path(__file__).parents[2]
RESULTS = find_results([ROOT / "docs" / "data" / "antmaze"])
RAN = (*POLICIES, "program-crucb", "crucb(upward=True)", "horizon-crucb")
REPLAY = json.loads((ROOT / "docs" / "data" / "antmaze-replay.json").read_text(encoding="utf-8"))


def script():
    """The program that makes the tables of the guide, as a module."""
    spec = importlib.util.spec_from_file_location("antmaze_script", ROOT / "docs" / "antmaze.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def on(maze):
    return [result for result in RESULTS if result.maze.name == maze]


def test_every_policy_was_trained_with_the_settings_that_are_the_default():
    for maze in ("easy", "complex"):
        seeds = {label: {r.spec.seed for r in on(maze) if r.spec.label == label} for label in RAN}
        for label in (*POLICIES, "program-crucb"):
            assert seeds[label] >= set(range(10, 15)), (maze, label)
    # What was trained in a maze beside the paper's policies has three seeds or more there.
    for maze in ("easy", "complex"):
        others = {result.spec.label for result in on(maze) if result.competes} | set(RAN)
        for label in others:
            seeds_of = {r.spec.seed for r in on(maze) if r.spec.label == label}
            assert len(seeds_of) >= 3, (maze, label)
    for result in RESULTS:
        assert result.spec.settings == CPU.as_dict()
        assert result.record.episodes == result.spec.episodes == result.maze.episodes
        assert not check_walls(result.maze, [result])


def test_the_ant_learns_the_first_edge_and_the_bottleneck_on_four_of_five_seeds():
    alone = [r for r in on("easy") if r.spec.label == "oracle"]
    good = [all(last_success(result, edge) > 0.5 for edge in ("0->1", "1->4")) for result in alone]
    # Seeds 0 to 6 and 100 to 105 had a part in choosing settings, and say nothing about others.
    assert {result.spec.seed for result in alone} == set(range(10, 20))
    assert sum(good) >= 0.8 * len(alone)


def test_an_ant_that_keeps_off_its_back_learns_both_edges_on_ten_of_ten_seeds():
    runs = find_results([ROOT / "docs" / "data" / "antmaze-upright"])
    # Seed 18 is there too; it suggested the setting.
    assert {run.spec.seed for run in runs} == {18, *range(20, 30)}
    for run in runs:
        assert run.spec.settings == UPRIGHT.as_dict()
        assert all(last_success(run, edge) > 0.5 for edge in ("0->1", "1->4"))


@pytest.mark.parametrize("maze", ["easy", "complex"])
def test_the_recording_is_what_the_command_makes_of_the_runs(maze):
    path = resources.files("rising_bandits.problems") / "data" / f"antmaze-{maze}.json"
    made = json.loads(path.read_text(encoding="utf-8"))
    # The file names its runs; runs that were added later do not change it.
    named = [(run["policy"], run["seed"]) for run in made["made"]["runs"]]
    results = {(result.spec.label, result.spec.seed): result for result in on(maze)}
    assert made == record([results[key] for key in named])
    # Whatever any path can try was measured.
    reachable = on(maze)[0].maze.reachable
    assert not any(edge["borrowed"] for edge, can in zip(made["edges"], reachable, strict=True) if can)


def test_the_summary_and_the_tables_of_the_guide_are_what_the_runs_make(monkeypatch):
    """After new runs: python docs/antmaze.py."""
    made = script()
    have = {f"{one.maze}": one for one in load(made.SUMMARY.read_bytes())}
    for one in summarise(RESULTS):
        other = have[one.maze]
        assert (one.labels, one.paths, one.marks, one.length) == (other.labels, other.paths, other.marks, other.length)
        assert [(run.label, run.seed) for run in one.runs] == [(run.label, run.seed) for run in other.runs]
        for mine, theirs in zip(one.runs, other.runs, strict=True):
            assert np.array_equal(mine.paths, theirs.paths)
            assert np.array_equal(mine.edges, theirs.edges)
            assert np.allclose(mine.earned, theirs.earned)
            assert (mine.walks, mine.goal) == (theirs.walks, pytest.approx(theirs.goal))
        for label, cells in one.positions.items():
            assert np.allclose(cells, other.positions[label], rtol=1e-2)
    for name, text in made.tables().items():
        assert (made.DATA / name).read_text(encoding="utf-8") == text, f"{name}: run python docs/antmaze.py"
    guide = (ROOT / "docs" / "guide" / "antmaze.md").read_text(encoding="utf-8")
    assert all(f"../data/{name}" in guide for name in made.tables())


def test_a_summary_counts_what_the_runs_did():
    """Against plain counting, on one run of each maze."""
    for one in summarise(RESULTS):
        first = one.runs[0]
        result = next(r for r in on(one.maze) if (r.spec.label, r.spec.seed) == (first.label, first.seed))
        log = result.record
        best = tuple(result.maze.arms(result.maze.shortest))
        assert one.paths[0] == best
        assert len(set(one.paths)) == len(one.paths) == result.maze.problem.oracle.count()
        for row, mark in enumerate(one.marks):
            assert [log.paths[:mark].count(path) for path in one.paths] == first.paths[row].tolist()
            tries = [(arm, episode) for arm, episode in zip(log.arm, log.episode, strict=True) if episode <= mark]
            assert [sum(a == arm for a, _ in tries) for arm in range(len(one.labels))] == first.edges[row].tolist()
        assert first.earned[-1] == pytest.approx(log.rewards().sum())
        assert first.late.sum() == 500


@pytest.mark.parametrize("change", ["cut", "flipped", "nothing"])
def test_a_damaged_summary_is_refused(change):
    content = script().SUMMARY.read_bytes()
    bad = {"cut": content[:-2000], "flipped": content[:5000] + b"\0" * 500 + content[5500:], "nothing": b""}[change]
    with pytest.raises(rb.InputError, match="not a summary of AntMaze runs"):
        load(bad)


@pytest.mark.parametrize(
    ("task", "policies"),
    [("antmaze-easy", ["crucb(epsilon=0.125)", "sw-ts", "oracle"]), ("antmaze-complex", ["oracle"])],
)
def test_the_replayed_numbers_of_the_guide_come_out_again(task, policies):
    rows = {row["policy"]: row for row in REPLAY["rows"] if row["task"] == task}
    assert set(rows) >= {*POLICIES, "program-crucb", "crucb(epsilon=0.125)", "crucb(sigma=0.02)"}
    instance = rb.tasks.get(task)
    for text in policies:
        # In plain Python, which decides the same: to compile a loop takes longer than to play these rounds.
        finals = [
            rb.simulate(instance, spec.make_policy(), spec.horizon, spec.seed, compiled=False).regret[-1]
            for spec in make_plan([task], [with_windows(text, SHARE)], seeds=20)
        ]
        assert rows[text]["runs"] == 20
        assert rows[text]["regret"] == pytest.approx(np.mean(finals), rel=1e-9, abs=1e-9)
