"""Plans as text and as files: grids, ranges, seeds, TOML."""

from __future__ import annotations

import json
import re
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rising_bandits as rb
from rising_bandits import experiments as ex
from rising_bandits.experiments.texts import parse_call, spaced, unfold


def test_grids_and_ranges_are_every_combination():
    plan = ex.make_plan(["toy"], ["crucb(epsilon=[0.1, 0.2], bonus=['paper', 4.0])"], seeds=2)
    found = {(spec.parameters["epsilon"], spec.parameters["bonus"], spec.seed) for spec in plan}
    assert found == {(e, b, s) for e in (0.1, 0.2) for b in ("paper", 4.0) for s in (0, 1)}
    assert spaced("linspace", [0.1, 0.3, 3]) == [0.1, 0.2, 0.3]
    assert spaced("geomspace", [0.001, 1, 4]) == [0.001, 0.01, 0.1, 1.0]
    assert spaced("range", [5]) == [0, 1, 2, 3, 4]
    windows = ex.make_plan(["toy"], ["sw-cucb(window=range(10, 40, 10))"], seeds=1)
    assert [spec.parameters["window"] for spec in windows] == [10, 20, 30]


def test_recommended_stands_for_the_policy_that_the_guide_recommends():
    task = rb.tasks.get("toy")
    policy = rb.policies.recommended(task.problem, 500)
    plan = ex.make_plan(["toy"], ["recommended", policy.name, "sw-cucb"], seeds=1, horizon=500)
    # It is the same run as the policy by its name.
    assert [spec.label.partition("(")[0] for spec in plan] == [policy.name, "sw-cucb"]
    with pytest.raises(rb.InputError):
        ex.make_plan(["toy"], ["recommended(sigma=0.1)"])


def test_a_list_that_is_a_value_stays_one():
    assert len(ex.make_plan(["toy"], ["oracle(super_arm=[0, 1])"], seeds=1)) == 1
    assert unfold({"a": (1, 2)}, lambda name: False) == [{"a": (1, 2)}]


@pytest.mark.parametrize(
    "text",
    [
        "crucb(epsilon=linspace(0.1, 0.4, 10**9))",
        "crucb(epsilon=linspace(0.1, 0.4, 1000000000))",
        "crucb(epsilon=range(0, 1, 0))",
        "crucb(epsilon=range(999999999))",
        "crucb(epsilon=geomspace(0, 1, 3))",
        "crucb(epsilon=open('x'))",
        "crucb(epsilon=[])",
        "crucb(epsilon=[0.1, 0.9])",
        "crucb(**{'epsilon': 0.1})",
        "crucb(epsilon=" + "[" * 1000 + "]" * 1000 + ")",
    ],
)
def test_bad_grids_are_refused(text):
    with pytest.raises(rb.InputError):
        ex.make_plan(["toy"], [text])


@pytest.mark.parametrize("text", ["linspace(0.1, 0.4, 1000000000)", "range(0, 1, 0)", "logspace(1, 2, 3)"])
def test_what_is_wrong_with_a_range_is_said(text):
    with pytest.raises(rb.InputError, match=r"a range must .*" + re.escape(text)):
        ex.make_plan(["toy"], [f"crucb(epsilon={text})"])


@pytest.mark.parametrize(
    ("given", "first", "found"),
    [(5, 0, range(5)), ("5", 1000, range(1000, 1005)), ("1000-1004", 7, range(1000, 1005)), ("7-7", 0, range(7, 8))],
)
def test_seeds_mean_the_same_everywhere(given, first, found):
    assert ex.seeds_of(given, first) == found


@pytest.mark.parametrize(
    "wrong", ["", "0", "-3", "5-3", "a", "1-", "1:4", 0, -1, True, 1.5, None, "9" * 60, "0-99999999"]
)
def test_seeds_that_are_none(wrong):
    with pytest.raises(rb.InputError, match="seeds must be"):
        ex.seeds_of(wrong)


texts = st.text(st.characters(blacklist_categories=("Cs",)), max_size=12)


@settings(max_examples=60, deadline=None)
@given(
    st.builds(
        ex.Plan,
        st.lists(texts, min_size=1, max_size=3),
        st.lists(texts, min_size=1, max_size=3),
        st.one_of(st.integers(1, 9), st.just("3-8")),
        st.one_of(st.none(), st.integers(1, 10**6)),
        st.lists(st.integers(1, 9), max_size=3),
        st.lists(texts, max_size=2),
        st.dictionaries(st.sampled_from(["cascade", "delay"]), st.one_of(st.booleans(), st.integers(0, 9), texts)),
    )
)
def test_a_plan_is_read_as_it_was_written(plan):
    assert ex.Plan.from_dict(tomllib.loads(plan.to_toml())) == plan


def test_a_plan_file_runs_and_is_kept_with_its_results(tmp_path, run, capsys):
    file = tmp_path / "plan.toml"
    file.write_text(
        'tasks = ["toy"]\nseeds = "3-4"\nhorizon = 60\nmetrics = ["regret-split"]\n'
        '[[policy]]\nname = "random"\n[[policy]]\nname = "sw-cucb"\nwindow = [20, 30]\n'
        "[options]\ncascade = true\n"
    )
    assert run("run", file, "--out", tmp_path / "out", "--workers", "1", "--json") == 0
    capsys.readouterr()
    table = ex.frame(tmp_path / "out", final=True)
    assert sorted(zip(table.label, table.seed, strict=True)) == sorted(
        (label, seed) for label in ("random", "sw-cucb(window=20)", "sw-cucb(window=30)") for seed in (3, 4)
    )
    kept = ex.Plan.read(tmp_path / "out" / "_plan.toml")
    assert {spec.key for spec in kept.runs()} == {spec.key for spec in ex.ResultStore(tmp_path / "out").specs()}
    # The kept plan is a plan: run again, it has nothing to do. Another plan does not replace it.
    assert run("run", tmp_path / "out" / "_plan.toml", "--out", tmp_path / "out", "--json") == 0
    assert run("run", file, "--seeds", "1", "--out", tmp_path / "out", "--workers", "1", "--json") == 0
    assert sorted(path.name for path in (tmp_path / "out").glob("*.toml")) == ["_plan-2.toml", "_plan.toml"]
    capsys.readouterr()
    assert run("run", file, "--policy", "random") == 2
    assert "must stand alone" in capsys.readouterr().err


def test_options_of_the_command_are_added_to_those_of_the_plan_file(tmp_path, run, capsys):
    file = tmp_path / "plan.toml"
    file.write_text(
        'tasks = ["toy"]\npolicies = ["random"]\nseeds = 1\nhorizon = 60\n[options]\ndelay = 5\ncascade = false\n'
    )
    assert run("run", file, "--cascade", "--out", tmp_path / "out", "--workers", "1", "--json") == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["task"] == "toy [delay=5, cascade=True]"
    assert ex.Plan.read(tmp_path / "out" / "_plan.toml").options == {"delay": 5, "cascade": True}


def test_a_plan_file_imports_only_what_is_trusted(tmp_path, run, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    marker = tmp_path / "marker"
    (tmp_path / "evil_z.py").write_text(f"open({str(marker)!r}, 'w')\n")
    (tmp_path / "good_z.py").write_text("def f(run):\n    return 1.0\n")
    hostile = [
        'tasks = ["evil_z:f()"]',
        'tasks = ["toy"]\npolicies = ["evil_z:f()"]',
        'tasks = ["toy"]\nmetrics = ["evil_z:f"]',
        'tasks = ["toy"]\n[[policy]]\nname = "evil_z:f"',
        "tasks = 5",
        'tasks = ["toy"]\nseeds = "many"',
        "tasks = [",
        'tasks = ["toy"]\nextra = 1',
        'tasks = ["toy"]\n[[policy]]\nname = "crucb"\n"epsilon=open(\'x\')" = 1',
    ]
    for text in hostile:
        (tmp_path / "p.toml").write_text(text)
        assert run("run", "p.toml", "--out", tmp_path / "out") == 2
        assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert not marker.exists()
    assert not (tmp_path / "out").exists()
    (tmp_path / "p.toml").write_text('tasks = ["toy"]\npolicies = ["random"]\nmetrics = ["good_z:f"]\nhorizon = 40')
    assert run("run", "p.toml", "--out", tmp_path / "out") == 2
    assert "--trust good_z" in capsys.readouterr().err
    assert run("run", "p.toml", "--out", tmp_path / "out", "--trust", "good_z", "--workers", "1", "--json") == 0
    assert set(ex.frame(tmp_path / "out")["f"]) == {1.0}


def test_calls_are_literals_only():
    assert parse_call("f(a=[1, 'x'], b=None)", "call") == ("f", {"a": [1, "x"], "b": None})
    for text in ("f(a=__import__('os'))", "f(1)", "f(a=b)", "f(a=1)(b=2)", "f(a=(lambda: 1)())"):
        with pytest.raises(rb.InputError):
            parse_call(text, "call")
