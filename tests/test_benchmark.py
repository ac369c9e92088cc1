"""The benchmark: instances that depend on their five names alone, plans, scores, figures and the command."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rising_bandits as rb
from rising_bandits import benchmark
from rising_bandits.benchmark.plan import Instance
from rising_bandits.benchmark.report import Score, by, by_group, lines, targets
from rising_bandits.benchmark.rested import metelli_2, metelli_15
from rising_bandits.experiments import make_plan, make_task, run_plan

ANY = {
    "family": st.sampled_from(list(benchmark.FAMILIES)),
    "structure": st.sampled_from(list(benchmark.STRUCTURES)),
    "noise": st.sampled_from(list(benchmark.NOISES)),
    "horizon": st.sampled_from(benchmark.HORIZONS),
    "seed": st.integers(0, 10**6),
}


@settings(deadline=None, derandomize=True, max_examples=60)
@given(**ANY)
def test_instances_are_rising_concave_and_within_bounds(family, structure, noise, horizon, seed):
    task = benchmark.instance(family=family, structure=structure, noise=noise, horizon=horizon, seed=seed)
    assert 6 <= task.problem.n_arms <= 200
    for curve in dict.fromkeys(task.curves):
        means = curve(np.arange(0, horizon, max(1, horizon // 1_000)))
        assert means.min() >= 0.0
        assert means.max() <= 1.0
        steps = np.diff(means)
        assert steps.min() >= -1e-12
        assert np.diff(steps).max() <= 1e-9
    again = benchmark.instance(family=family, structure=structure, noise=noise, horizon=horizon, seed=seed)
    assert again.curves == task.curves


def test_an_instance_is_the_same_in_another_process():
    code = (
        "from rising_bandits.benchmark import instance\n"
        "task = instance(family='mixed', structure='tree', noise='bernoulli', horizon=5_000, seed=1234)\n"
        "print(repr(task.curves))"
    )
    seen = {subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout}
    task = benchmark.instance(family="mixed", structure="tree", noise="bernoulli", horizon=5_000, seed=1234)
    assert seen == {repr(task.curves) + "\n"}


def test_noise_and_horizon_change_the_same_instance():
    def make(noise, horizon):
        return benchmark.instance(family="exponential", structure="path", noise=noise, horizon=horizon, seed=3)

    one, other, long = make("bernoulli", 5_000), make("gaussian-0.1", 5_000), make("bernoulli", 50_000)
    assert one.curves == other.curves
    assert [curve.end for curve in one.curves] == [curve.end for curve in long.curves]
    assert long.curves[0].time == pytest.approx(10 * one.curves[0].time)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"family": "late-ish"}, "family must be one of exponential"),
        ({"structure": "ring"}, "structure must be one of path"),
        ({"noise": "none"}, "noise must be one of gaussian-0.01"),
        ({"horizon": 10}, "horizon must be an integer of at least 1000"),
        ({"seed": -1}, "seed must be an integer of at least 0"),
        ({"edition": 2}, "edition must be an integer from 1 to 1"),
    ],
)
def test_unknown_instances_are_refused(change, words):
    given = {"family": "flat", "structure": "path", "noise": "bernoulli", "horizon": 5_000, "seed": 0, **change}
    with pytest.raises(rb.InputError, match=words):
        benchmark.instance(**given)


def test_the_rested_instances_are_those_of_the_authors():
    """Their program's formulas, written out again."""
    n = np.array([0, 1, 10, 500, 20_000, 150_000])
    e = np.exp

    def poly(rho, b, c):
        return np.minimum(1.0, c * (1 - b / (n + b ** (1 / rho)) ** rho))

    expected = {
        0: poly(0.8, 177, 1.0),
        1: poly(0.9, 571, 0.91),
        2: 0.73 * (1 - e(-3 * n / 162)),
        5: 0.43 * (1 - 195 / (n + 199 ** (1 / 0.9)) ** 0.9),
        7: 0.62 * (1 - e(-n / 271)),
        9: 0.39 * (1 - e(-5 * n / 457)),
        12: poly(0.8, 85, 1.08),
        14: poly(0.9, 124, 0.26),
    }
    for arm, means in expected.items():
        assert metelli_15().curves[arm](n) == pytest.approx(means, abs=1e-12)
    assert metelli_2().curves[0](n) == pytest.approx(0.4 * (1 - 50_000 / (100 * n + 50_000)))
    assert metelli_2().curves[1](n) == pytest.approx(np.minimum(1.0, n / 25_000))
    assert len(metelli_15().curves) == 15


def test_seeds_as_people_write_them():
    assert benchmark.seeds_of("1000-1004") == range(1000, 1005)
    for wrong in ("5-3", "a", "", "1-", "-3", "1000:1004"):
        with pytest.raises(rb.InputError, match="seeds must be a number of at least 1, or a range"):
            benchmark.seeds_of(wrong)


def test_the_full_suite_has_every_family_structure_noise_and_horizon():
    found = benchmark.instances(seeds=range(1000, 1005))
    random = [one for one in found if one.group in benchmark.FAMILIES]
    assert {one.structure for one in random} == set(benchmark.STRUCTURES)
    assert {one.noise for one in random if one.horizon == 500_000} == set(benchmark.NOISES)
    assert len(random) == 5 * 6 * (2 * 4 * 3 + 2)
    assert {one.name for one in found if one.group == "paper"} == set(rb.tasks.names()) - {
        name for name in rb.tasks.names() if name.startswith("antmaze")
    }
    assert len({(one.text, one.seed) for one in found}) == len(found)
    assert all(make_task(one.text).horizon == one.horizon for one in found[:60])


def test_long_random_instances_can_be_left_out():
    found = benchmark.instances(["paper", "flat"], longest=5_000)
    assert {one.horizon for one in found if one.group == "flat"} == {5_000}
    assert max(one.horizon for one in found if one.group == "paper") == 500_000


def small(policies=("horizon-crucb", "crucb", "sw-cucb")):
    found = benchmark.instances(["flat", "late"], seeds=range(3, 4), quick=True)
    return benchmark.benchmark_plan(found, policies)[0]


def test_a_policy_that_measures_the_noise_is_not_told_it():
    specs = {item.spec.label: item.spec.parameters["sigma"] for item in small(["horizon-crucb", "crucb"])[:2]}
    assert specs == {"horizon-crucb": None, "crucb": 0.01}
    told = small(["horizon-crucb(sigma=0.2)"])[0].spec
    assert (told.label, told.parameters["sigma"]) == ("horizon-crucb(sigma=0.2)", 0.2)


def test_parallel_results_are_the_serial_ones(tmp_path):
    plan = [item for item in small(["horizon-crucb"]) if item.instance.structure == "path"]
    one, two = (
        benchmark.scores(plan, run_plan([item.spec for item in plan], tmp_path / str(workers), workers=workers))
        for workers in (1, 2)
    )
    assert len(one) == 6
    assert one == two


def test_scores_lines_ranks_and_targets(tmp_path):
    plan = small()
    runs = run_plan([item.spec for item in plan], tmp_path, workers=1)
    found = benchmark.scores(plan, runs)
    direct = rb.simulate(make_task(plan[0].spec.task), rb.HorizonCRUCB(), seed=3)
    assert found[0].share == pytest.approx(direct.regret[-1] / direct.optimum.total)
    lines = benchmark.lines(found, by_group)
    assert [line.group for line in lines] == ["flat"] * 3 + ["late"] * 3
    flat = [score.share for score in found if score.instance.group == "flat" and score.policy == "crucb"]
    line = next(line for line in lines if line.group == "flat" and line.policy == "crucb")
    assert (line.instances, line.mean, line.worst) == (6, pytest.approx(np.mean(flat)), max(flat))
    assert {line.group for line in benchmark.lines(found, by("noise"))} == set(benchmark.NOISES)
    places = [mean for mean, _ in benchmark.ranks(found).values()]
    assert sum(places) == pytest.approx(1 + 2 + 3)
    assert places == sorted(places)
    shares = {line.policy: line.mean for line in lines if line.group == "flat"}
    best = min("crucb", "sw-cucb", key=lambda policy: shares[policy])
    judged = {target.text: target for target in benchmark.targets(found, "horizon-crucb")}
    for where, limit in (("flat", 1.2), ("flat, 5000 rounds", 1.5)):
        target = judged[f"{where}: share of horizon-crucb over that of the best rival ({best})"]
        assert (target.value, target.limit) == (pytest.approx(shares["horizon-crucb"] / shares[best]), limit)
    assert benchmark.targets(found) == []
    data = benchmark.as_data(found, {"command": "x"})
    assert len(data["instances"]) == 12
    assert json.loads(json.dumps(data))["policies"] == ["horizon-crucb", "crucb", "sw-cucb"]


def test_cascading_tasks_are_measured_against_the_best_constant_super_arm(tmp_path, monkeypatch):
    """As the replayed AntMaze tasks are."""
    from rising_bandits.problems import tasks

    curves = (rb.curves.Flat(0.9), rb.curves.Linear(duration=50, start=0.2, end=0.95), rb.curves.Flat(0.5))
    maze = rb.Task(
        "antmaze-easy", rb.problems.Explicit([[0, 1], [0, 2], [2]]), curves, 300, rb.curves.Bernoulli(), cascade=True
    )
    monkeypatch.setitem(tasks._BUILDERS, "antmaze-easy", lambda: maze)
    found = [one for one in benchmark.instances(["antmaze"], seeds=range(2)) if one.name == "antmaze-easy"]
    assert len(found) == 2
    plan, _ = benchmark.benchmark_plan(found, ["horizon-crucb"])
    runs = run_plan([item.spec for item in plan], tmp_path, workers=1)
    best = rb.optimal_constant(maze)
    assert best.super_arm.tolist() == [0, 1]
    for score, run in zip(benchmark.scores(plan, runs), runs, strict=True):
        assert score.regret == pytest.approx(best.total - run.reward[-1])
        assert score.share == pytest.approx(score.regret / best.total)


@pytest.fixture
def bench(run, capsys):
    """The command that compares policies; returns its exit code and what it printed."""
    return lambda *arguments: (run("bench", "policies", *arguments), capsys.readouterr())


def test_the_command_prints_tables_writes_files_and_resumes(tmp_path, bench):
    arguments = ["--quick", "--family", "flat", "--seeds", "3", "--policy", "horizon-crucb", "--policy", "crucb"]
    arguments += ["--workers", "1", "--out", str(tmp_path)]
    code, said = bench(*arguments)
    assert code == 0
    assert "flat: regret as a share of the optimum" in said.out
    assert "mean rank" in said.out
    data = json.loads((tmp_path / "policies.json").read_text())
    assert data["settings"]["command"].startswith('rising bench policies --policy "horizon-crucb"')
    assert (tmp_path / "ranks.png").exists()
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()}
    code, said = bench(*arguments, "--json")
    again = json.loads(said.out)
    assert [round(line["mean"], 9) for line in again["groups"]] == [
        pytest.approx(line["mean"], rel=1e-5) for line in data["groups"]
    ]
    assert files == {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--family", "nope"], "family must be one of paper"),
        (["--seeds", "9-1"], "seeds must be"),
        (["--policy", "nope"], "policy must be one of"),
        (["--policy", "crucb", "--policy", "crucb"], "--policy must name each policy once, got crucb, crucb"),
    ],
)
def test_bad_input_is_one_clear_line(arguments, words, bench):
    code, said = bench(*arguments)
    assert code == 2
    assert words in said.err
    assert len(said.err.strip().splitlines()) == 1


def test_figures_are_drawn(tmp_path):
    from rising_bandits.plots import plot_frontier, plot_map, plot_ranks

    data = {
        "ranks": {"horizon-crucb": [1.2, 0.1], "crucb": [1.8, None]},
        "frontier": {"horizon-crucb": [0.01, 0.02], "crucb": [0.3, 0.1], "sw-cucb": [0.02, 0.01]},
        "instances": [["a", "flat", "path", "bernoulli", 5_000, 1, 0.1, 0.2]],
        "policies": ["horizon-crucb", "crucb"],
    }
    plots = {"r.png": plot_ranks, "f.png": plot_frontier, "m.png": plot_map}
    for written in (plot(data, tmp_path / name) for name, plot in plots.items()):
        assert [path.suffix for path in written] == [".png", ".svg"]
        assert all(path.stat().st_size > 2_000 for path in written)


def test_intervals_are_over_draws_and_not_over_instances():
    """Twelve instances of three draws say no more than three numbers: the interval is that of three."""
    from rising_bandits.experiments.statistics import half_width

    found = []
    for seed, level in enumerate((0.1, 0.2, 0.6)):
        for horizon in (10, 20, 30, 40):
            instance = Instance(f"i{seed}-{horizon}", "t", "flat", "path", "none", horizon, seed)
            found += [Score(instance, "a", level, level), Score(instance, "b", 2 * level, 2 * level)]
    (row,) = (line for line in lines(found, by_group) if line.policy == "a")
    assert (row.instances, row.draws) == (12, 3)
    assert row.half_width == pytest.approx(float(half_width(np.array([0.1, 0.2, 0.6]), 0.95)))


def test_the_ratio_to_the_best_rival_has_an_interval_that_holds_it():
    rng = np.random.default_rng(0)
    found = []
    for seed in range(30):
        base = rng.uniform(0.01, 0.2)
        for horizon in (10, 20):
            instance = Instance(f"i{seed}-{horizon}", "t", "flat", "path", "none", horizon, seed)
            found.append(Score(instance, "foresight", 0, 0.8 * base * rng.uniform(0.8, 1.2)))
            found.append(Score(instance, "horizon-crucb(decay=0.0)", 0, 0.1 * base))
            found += [Score(instance, "sw-cucb", 0, base), Score(instance, "crucb", 0, 3 * base)]
    (target,) = (target for target in targets(found) if target.text.startswith("flat:"))
    assert "best rival (sw-cucb)" in target.text
    assert target.low < target.value < target.high
    assert target.low == pytest.approx(0.8, abs=0.1)
    assert target.held


@pytest.mark.parametrize("policies", [list(benchmark.POLICIES), [*rb.policies.names()]], ids=["benchmark", "all"])
def test_every_policy_can_play_a_task_without_noise(policies):
    """The first of the paper's tasks has none, and policies are told so."""
    plan = make_plan(["toy"], policies, seeds=1, horizon=1_000)
    assert len(plan) == len(policies)
    for spec in plan:
        spec.make_policy()
