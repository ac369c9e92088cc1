"""``rising study`` as a person and as a script would use it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rising_bandits as rb
from rising_bandits.studies import Decay, Log, Range, Reciprocal

RISING = str(Path(sys.executable).with_name("rising"))


@pytest.fixture
def rising(run, tmp_path, capsys, monkeypatch):
    """The command with a storage of the test's own; returns what it printed."""
    monkeypatch.setenv("RISING_STORAGE", f"sqlite:///{tmp_path}/shell.db")

    def call(*arguments: str, code: int = 0) -> str:
        assert run("study", *arguments) == code
        said = capsys.readouterr()
        assert not (said.out if code else said.err) or said.err.startswith("note: ")
        return said.err if code else said.out

    return call


@pytest.fixture
def edges(tmp_path):
    path = tmp_path / "roads.csv"
    path.write_text("from,to,name\nhome,bridge\nhome,tunnel\nbridge,work\ntunnel,work,exit\n")
    return str(path)


def test_a_day_in_the_shell(rising, edges, tmp_path):
    text = rising(
        "create", "commute", "--edges", edges, "--source", "home", "--target", "work", "--policy", "crucb(sigma=0.05)",
        "--low", "0", "--high", "60", "--lower-is-better", "--unit", "min", "--seed", "1",
    )  # fmt: skip
    assert "study commute in sqlite:///" in text
    assert rising("ask", "commute") == "1: home->bridge, bridge->work\n"
    assert rising("tell", "commute", "1", "home->bridge=12", "bridge->work=30.5") == "decision 1: noted\n"
    assert "was told before" in rising("tell", "commute", "1", "home->bridge=12", "bridge->work=30.5")
    (decision,) = json.loads(rising("ask", "commute", "--json", "--unavailable", "home->bridge"))["decisions"]
    assert decision["super_arm"] == ["home->tunnel", "exit"]
    assert rising("tell", "commute", "2", "exit=7", "--more") == "decision 2: noted\n"
    assert json.loads(rising("tell", "commute", "2", "home->tunnel=9", "--json"))["round"] == 3
    for _ in range(20):
        (decision,) = json.loads(rising("ask", "commute", "--json"))["decisions"]
        rising("tell", "commute", str(decision["id"]), *(f"{arm}=20" for arm in decision["super_arm"]))
    shown = rising("show", "commute", "--plot", str(tmp_path / "learnt.png"))
    assert "home->tunnel" in shown
    assert "min" in shown
    assert "round 23, 0 open decisions" in shown
    assert (tmp_path / "learnt.png").stat().st_size > 10_000
    data = json.loads(rising("show", "commute", "--json"))
    assert {arm["label"] for arm in data["arms"]} == {"home->bridge", "home->tunnel", "bridge->work", "exit"}
    why = rising("show", "commute", "--decision", "22", "--plot", str(tmp_path / "why.png"))
    assert "runner-up: " in why
    assert (tmp_path / "why.svg").exists()
    assert json.loads(rising("show", "commute", "--decision", "22", "--json"))["margin"] >= 0
    asked = rising("ask", "commute", "--explain")
    assert "decision 23 of study 'commute'" in asked
    assert len(json.loads(rising("ask", "commute", "--n", "3", "--json"))["decisions"]) == 3
    for file in ("log.parquet", "log.jsonl"):
        assert file in rising("export", "commute", str(tmp_path / file))
        assert "round 23" in rising("import", str(tmp_path / file), "--name", f"copy of {file}")
    assert rising("list").splitlines() == ["commute", "copy of log.jsonl", "copy of log.parquet"]
    assert json.loads(rising("list", "--json"))["studies"][0] == "commute"


def test_names_are_printed_as_they_are(rising):
    arms = ["dc1:link:7", "rack[a]1", "a[/b]"]
    rising("create", "odd [/x]", "--arms", ",".join(arms), "--k", "3", "--seed", "1")
    (decision,) = json.loads(rising("ask", "odd [/x]", "--json"))["decisions"]
    assert decision["super_arm"] == arms
    assert rising("ask", "odd [/x]") == f"2: {', '.join(arms)}\n"
    rising("tell", "odd [/x]", "1", *(f"{arm}=0.5" for arm in arms))
    shown = rising("show", "odd [/x]")
    assert all(arm in shown for arm in arms)
    assert ":link:8" in rising("tell", "odd [/x]", "2", ":link:8=1", code=2)


def test_a_sum_over_paths_of_different_lengths_is_pointed_out(run, tmp_path, capsys):
    path = tmp_path / "triangle.csv"
    path.write_text("a,b\nb,c\na,c\n")
    create = ["--edges", str(path), "--source", "a", "--target", "c", "--storage", f"sqlite:///{tmp_path}/s.db"]
    for number, (options, noted) in enumerate(
        [
            (["--high", "60", "--lower-is-better"], True),
            (["--high", "60"], False),
            (["--scale", "reciprocal(best=10)", "--reward", "harmonic"], False),
        ]
    ):
        assert run("study", "create", f"s{number}", *create, *options) == 0
        said = capsys.readouterr()
        assert ("different numbers of edges" in said.err) == noted
        assert "note" not in said.out


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_exported_outcomes_can_be_imported_again(rising, tmp_path, suffix):
    rising("create", "team", "--arms", "ann,bob,cy", "--k", "2")
    for _ in range(5):
        (decision,) = json.loads(rising("ask", "team", "--json"))["decisions"]
        rising("tell", "team", str(decision["id"]), *(f"{arm}=0.3333333333333333" for arm in decision["super_arm"]))
    path = tmp_path / f"outcomes.{suffix}"
    rising("export", "team", str(path), "--history")
    if suffix == "parquet":
        import pyarrow.parquet as pq

        rows = pq.read_table(path).to_pylist()
    else:
        rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(rows) == 10
    assert rows[0]["outcome"] == 0.3333333333333333
    storage = f"sqlite:///{tmp_path}/shell.db"
    study = rb.studies.create("again", rb.studies.open("team", storage=storage).problem, rb.CRUCB(), storage=storage)
    assert study.import_plays([(row["arm"], row["play"], row["outcome"]) for row in rows]) == 10


def test_the_picture_shows_what_the_table_says(rising, tmp_path, monkeypatch):
    """After a reset and a new problem: the same counts, the same arms, the same averages, whole numbers of plays."""
    rising("create", "s", "--arms", "a,b,c", "--k", "2", "--scale", "reciprocal(best=1)", "--seed", "1")
    storage = f"sqlite:///{tmp_path}/shell.db"
    study = rb.studies.open("s", storage=storage)
    for number in range(12):
        decision = study.ask()
        study.tell(decision, dict.fromkeys(decision.super_arm, 2.0 if number % 2 else 8.0))
    study.reset(["a"])
    study.set_problem(rb.problems.TopK(["a", "b", "d"], k=2))
    study.tell(study.ask(), {"a": 4.0})
    drawn = {}

    def save(drawing, path):
        left, right, earned = drawing.axes
        drawn["earned"] = earned.lines[0].get_ydata().tolist()
        drawn["plays"] = {
            tick.get_text(): bar.get_width() for tick, bar in zip(left.get_yticklabels(), left.patches, strict=True)
        }
        drawn["ticks"] = left.get_xticks().tolist()
        drawn["title"] = left.get_title(loc="left")
        drawn["lines"] = {line.get_label(): (line.get_xdata(), line.get_ydata()) for line in right.lines}
        return [path]

    monkeypatch.setattr("rising_bandits.plots.studies.save", save)
    said = json.loads(rising("show", "s", "--plot", str(tmp_path / "s.png"), "--json"))
    assert drawn["plays"] == {arm["label"]: arm["plays"] for arm in said["arms"]}
    assert all(tick == int(tick) for tick in drawn["ticks"])
    assert drawn["title"] == f"s: round {said['round']}"
    assert drawn["lines"]["a"][0].tolist() == [1]
    whole = [arms for arms in study.history().groupby("decision_id")["super_arm"].first() if set(arms) <= set("abd")]
    assert len(drawn["earned"]) == len(whole) > 0
    # The harmonic mean of times, which is what the mean of their values on this scale is.
    assert 2.0 < drawn["lines"]["b"][1][1] < 5.0


def test_one_is_not_called_many(rising):
    rising("create", "s", "--arms", "a,b", "--k", "1")
    rising("ask", "s")
    assert "round 1, 1 open decision\n" in rising("show", "s")
    rising("ask", "s")
    assert "round 1, 2 open decisions\n" in rising("show", "s")
    rising("ask", "s", "--n", "300")
    assert "round 1, at least 256 open decisions\n" in rising("show", "s")
    assert json.loads(rising("show", "s", "--json"))["unlisted"] == 46


def test_problems_from_options_and_files(rising, edges, tmp_path):
    assert "4 base arms" in rising("create", "match", "--workers", "ann,bob", "--jobs", "cats,cars")
    assert "max reward" in rising("create", "best", "--arms", "a,b,c", "--k", "2", "--reward", "max")
    assert "4 super arms" in rising("create", "tree", "--edges", edges)
    path = tmp_path / "problem.json"
    path.write_text(json.dumps(rb.problems.Explicit([[1], [2, 3]]).spec()))
    assert "2 super arms" in rising("create", "list", "--problem", str(path), "--half", "50", "--unit", "ms")
    assert rising("ask", "list") == "1: 1\n"
    assert "noted" in rising("tell", "list", "1", "1=20")


@pytest.mark.parametrize(
    ("options", "scale"),
    [
        ([], Range()),
        (["--high", "60", "--lower-is-better", "--unit", "min"], Range(0, 60, lower_is_better=True, unit="min")),
        (["--half", "50", "--unit", "ms"], Decay(half=50, unit="ms")),
        (["--half", "50", "--lower-is-better"], Decay(half=50)),
        (["--scale", "reciprocal(best=1)"], Reciprocal(best=1)),
        (["--scale", "Reciprocal(best=1)", "--unit", "ms"], Reciprocal(best=1, unit="ms")),
        (["--scale", "log(low=1, high=100, lower_is_better=True, unit='s')"], Log(1, 100, True, "s")),
        (["--scale", "range"], Range()),
    ],
)
def test_scales_from_options(rising, tmp_path, options, scale):
    rising("create", "s", "--arms", "a,b", "--k", "1", *options)
    assert rb.studies.open("s", storage=f"sqlite:///{tmp_path}/shell.db").scale == scale


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--scale", "log(low=1, high=9)", "--low", "1"], "--scale says how outcomes are scaled; leave out --low"),
        (["--scale", "range", "--half", "3", "--high", "9"], "--scale says .* leave out --high and --half"),
        (["--scale", "range", "--lower-is-better"], "leave out --lower-is-better"),
        (["--scale", "range(unit='s')", "--unit", "ms"], "leave out --unit"),
        (["--half", "3", "--high", "9"], "--half says how outcomes are scaled; leave out --high"),
        (["--scale", "cube(side=1)"], "scale must be one of range, log, decay, inverse, reciprocal, got 'cube'"),
        (["--scale", "reciprocal"], r"the scale reciprocal needs best, as in reciprocal\(best=...\)"),
        (["--scale", "reciprocal(worst=1)"], "the scale reciprocal takes best, unit, clip, got worst"),
        (["--scale", "reciprocal(best=-1)"], "best must be"),
        (["--scale", "reciprocal(1)"], "scale must look like"),
        (["--scale", "range(low='x')"], "low must be"),
    ],
)
def test_scales_that_contradict_themselves(rising, options, message):
    said = rising("create", "s", "--arms", "a,b", "--k", "1", *options, code=2)
    assert re.search(message, said)
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["create", "x"], "give one problem"),
        (["create", "x", "--arms", "a,b"], "--arms needs --k"),
        (["create", "x", "--arms", "a,,b", "--k", "1"], "arms must be names separated by commas"),
        (["create", "x", "--workers", "a"], "--workers needs --jobs"),
        (["create", "x", "--edges", "/no/such.csv"], "does not exist"),
        (
            ["create", "x", "--arms", "a", "--k", "1", "--source", "q"],
            "--source does not go with --arms",
        ),
        (
            ["create", "x", "--workers", "a", "--jobs", "b", "--k", "1"],
            "--k does not go with --workers; only --jobs, --reward can be given with it",
        ),
        (
            ["create", "x", "--problem", "{here}", "--reward", "product"],
            "--reward does not go with --problem; the file describes the whole problem",
        ),
        (["create", "x", "--problem", "{here}"], "--problem must be a JSON file"),
        (["create", "x", "--arms", "a", "--k", "1", "--policy", "nothing"], "policy must be one of"),
        (["create", "x", "--arms", "a", "--k", "1", "--high", "-1"], "high must be larger than low"),
        (["create", "there", "--arms", "a", "--k", "1"], "name must be new"),
        (["ask", "gone"], "name must be one of the studies"),
        (["ask", "there", "--n", "0"], "n must be a number of decisions"),
        (["ask", "there", "--n", "1000000000"], "n must be a number of decisions, from 1 to 10000"),
        (["ask", "there", "--unavailable", "zed"], "label must be one of"),
        (["ask", "there", "--metadata", "flow"], "metadata must look like NAME=TEXT"),
        (["ask", "there", "--metadata", "flow=a", "--metadata", "flow=b"], "each name once"),
        (["create", "x", "--edges", "{latin}", "--source", "a", "--target", "b"], "must be text in UTF-8"),
        (["create", "x", "--problem", "{latin}"], "must be text in UTF-8"),
        (["create", "x", "--edges", "{long}"], "--edges must be a CSV file"),
        (["set-least", "there", "a=2"], "the least share of 'a' must be a finite number in (0, 1], got 2.0"),
        (["tell", "there", "9", "a=1"], "decision must be the id"),
        (["tell", "there", "1", "a"], "outcomes must look like ARM=NUMBER"),
        (["tell", "there", "1", "a=x"], "outcomes must look like ARM=NUMBER"),
        (["tell", "there", "1", "a=nan"], "outcome of 'a' must be a number in"),
        (["tell", "there", "1", "a=0.1", "a=0.1"], "each arm once"),
        (["show", "there", "--decision", "9"], "decision must be the id"),
        (["export", "there", "x.csv"], "path must end in .parquet or .jsonl"),
        (["import", "/no/such.jsonl"], "does not exist"),
        (["list", "--storage", "redis://x"], "storage must be a URL"),
        (["list", "--storage", "sqlite:////no/such/file.db"], "there is no file"),
    ],
)
def test_bad_input_is_one_clear_line(rising, tmp_path, arguments, message):
    rising("create", "there", "--arms", "a,b", "--k", "1", "--seed", "1")
    rising("ask", "there")
    here = tmp_path / "here.json"
    here.write_text('{"oracle": 3}')
    (tmp_path / "latin").write_bytes("Zürich,Genève".encode("latin-1"))
    (tmp_path / "long").write_text(f"{'a' * 200_000},b")
    for word in ("latin", "long"):
        arguments = [part.replace(f"{{{word}}}", str(tmp_path / word)) for part in arguments]
    said = rising(*(part.replace("{here}", str(here)) for part in arguments), code=2)
    assert said.startswith("rising: ")
    assert len(said.splitlines()) == 1
    assert message in said


def test_processes_share_a_study_through_the_shell(tmp_path, edges):
    """The real program, started anew for each step."""
    storage = ["--storage", f"sqlite:///{tmp_path}/real.db"]

    def call(*arguments):
        done = subprocess.run([RISING, "study", *arguments, *storage], capture_output=True, text=True, check=True)
        return done.stdout

    call("create", "s", "--edges", edges, "--source", "home", "--target", "work")
    assert call("ask", "s").startswith("1: ")
    assert call("tell", "s", "1", "home->bridge=0.5", "bridge->work=0.5") == "decision 1: noted\n"
    assert call("ask", "s").startswith("2: ")


def test_everything_that_changes_a_study_has_a_command(rising, tmp_path):
    (tmp_path / "roads.csv").write_text("from,to,ms\na,b,12\nb,d,3\na,c,4\nc,d,5\n")
    options = ["--edges", str(tmp_path / "roads.csv"), "--source", "a", "--target", "d", "--high", "60", "--seed", "1"]
    told = rising("create", "s", *options, "--unit", "ms", "--prior", "a->b=20", "--least", "a->b=0.2", "--spread")
    assert "4 base arms" in told
    rising("retire", "s", "b")
    assert json.loads(rising("show", "s", "--json"))["retired"] == ["a->b", "b->d"]
    rising("restore", "s", "b")
    rising("reset", "s", "a->b")
    rising("set-scale", "s", "range(high=120, lower_is_better=True, unit='ms', clip=True)")
    rising("set-horizon", "s", "500")
    rising("set-expiry", "s", "3600")
    rising("set-policy", "s", "sw-cucb(window=50)")
    rising("record", "s", "a->b=20", "b->d=200", "--source", "today")
    rising("record", "s", "a->c=10", "--unplayed", "c->d", "--source", "today")
    rising("ask", "s", "--metadata", "flow=video", "--unavailable", "c")
    said = json.loads(rising("show", "s", "--json"))
    assert said["policy"] == "SWCUCB(window=50)"
    assert (said["horizon"], said["expires"], said["spread"]) == (500, 3600.0, True)
    assert said["scale"]["high"] == 120.0
    assert said["scale"]["clip"] is True
    assert said["least"] == {"a->b": 0.2}
    assert said["clipped"] == {"b->d": 1}
    shown = rising("show", "s")
    assert "horizon 500, decisions expire after 3600 s, 1 outcome clipped" in shown
    assert "too few" in rising("compare", "s", "today")
    assert json.loads(rising("compare", "s", "today", "--json"))["winner"] is None
    (tmp_path / "plays.csv").write_text("arm,play,outcome\na->c,0,10\na->c,1,12\n")
    assert "2 plays added" in rising("import-plays", "s", str(tmp_path / "plays.csv"))
    rising("set-least", "s", "c->d=0.1", "a->b=0.2")
    assert json.loads(rising("show", "s", "--json"))["least"] == {"a->b": 0.2, "c->d": 0.1}
    rising("set-least", "s", "a->b=2", code=2)
    assert rising("set-least", "s", "none") == "s: no arm has a least share\n"
    assert json.loads(rising("set-spread", "s", "off", "--json")) == {"study": "s", "spread": False}
    said = json.loads(rising("show", "s", "--json"))
    assert (said["least"], said["spread"]) == ({}, False)
    rising("set-spread", "s", "yes", code=2)
    rising("set-problem", "s", "--arms", "x,y", "--k", "1")
    rising("set-horizon", "s", "none")
    rising("set-expiry", "s", "none")
    rising("delete", "s", code=2)
    rising("delete", "s", "--yes")
    assert rising("list") == ""


def test_a_tell_without_outcomes_must_say_so(rising):
    rising("create", "s", "--arms", "a,b", "--k", "1")
    rising("ask", "s")
    rising("tell", "s", "1", code=2)
    rising("tell", "s", "1", "a=0.5", "--nothing-played", code=2)
    assert "noted" in rising("tell", "s", "1", "--nothing-played")
    assert "agreement: " in rising("replay", "s", "random")


def test_the_shell_says_which_column_names_the_edges(run, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for place, (text, wanted) in enumerate(
        {
            "a,b,12.5\nb,c,3\n": "column 3 of edges.csv holds numbers, so edges are named by their ends",
            "from,to,ms\na,b,12.5\nb,c,3\n": "column 3 (ms) of edges.csv holds numbers",
            "a,b,bridge\nb,c,\n": "edges are named by column 3 of edges.csv",
            "from,to,ms,name\na,b,1,bridge\nb,c,2,ferry\n": "edges are named by column 4 (name) of edges.csv",
        }.items()
    ):
        (tmp_path / "edges.csv").write_text(text)
        assert run("study", "create", f"s{place}", "--edges", "edges.csv", "--source", "a", "--target", "c") == 0
        assert wanted in " ".join(capsys.readouterr().err.split())


def test_a_pair_is_named_with_the_ask(rising, tmp_path):
    problem = rb.problems.Routes([("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")], [("a", "d"), ("b", "d")])
    rb.studies.create("net", problem, storage=f"sqlite:///{tmp_path}/shell.db", seed=1).close()
    assert rising("ask", "net", "--among", "b->d") == "1: b->c, c->d\n"
    assert "among must be one of 'a->d', 'b->d', got 'd->a'" in rising("ask", "net", "--among", "d->a", code=2)


def test_a_file_of_edges_may_begin_with_a_byte_order_mark(rising, tmp_path):
    path = tmp_path / "roads.csv"
    path.write_text("home,bridge\nbridge,work\n", "utf-8-sig")
    rising("create", "s", "--edges", str(path), "--source", "home", "--target", "work")
    assert rising("ask", "s") == "1: home->bridge, bridge->work\n"


def test_an_expiry_beyond_all_calendars_is_shown_as_never(rising):
    rising("create", "s", "--arms", "a,b", "--k", "1", "--expires", "1e300")
    assert json.loads(rising("ask", "s", "--json"))["decisions"][0]["expires_at"] is None


def test_ctrl_c_does_not_promise_that_an_ask_goes_on(run, capsys, monkeypatch, tmp_path):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(rb.studies, "open", interrupted)
    assert run("study", "ask", "s", "--storage", f"sqlite:///{tmp_path}/s.db") == 130
    assert capsys.readouterr().err == "rising: stopped\n"


def test_a_scale_that_turns_the_outcomes_around_is_pointed_out(run, monkeypatch, tmp_path, caplog):
    monkeypatch.setenv("RISING_STORAGE", f"sqlite:///{tmp_path}/s.db")
    assert run("study", "create", "s", "--arms", "a,b", "--k", "1", "--high", "60", "--lower-is-better") == 0
    assert run("study", "set-scale", "s", "range(low=0, high=90, unit='min')") == 0
    assert run("study", "set-scale", "s", "log(low=1, high=90)") == 0
    with rb.studies.open("s", storage=f"sqlite:///{tmp_path}/s.db") as study:
        assert study.scale == rb.studies.Log(1, 90, lower_is_better=True, unit="min")
    assert "higher outcomes" not in caplog.text
    assert run("study", "set-scale", "s", "range(low=0, high=90, lower_is_better=False)") == 0
    # The shell has no handler of its own, so Python prints what is logged as a warning.
    assert "higher outcomes count as better from now on" in caplog.text


@pytest.mark.parametrize("command", [["import-plays", "s", "{file}"], ["import", "{file}"]])
def test_a_missing_package_is_not_blamed_on_the_file(rising, tmp_path, monkeypatch, command):
    rising("create", "s", "--arms", "a,b", "--k", "1")
    file = tmp_path / "plays.parquet"
    file.touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    said = rising(*(part.replace("{file}", str(file)) for part in command), code=2)
    assert "pyarrow" in said
    assert "must be" not in said
