"""Tables of the documentation: the directive against plain loops, and the numbers that texts rely on."""

from __future__ import annotations

import importlib.util
import itertools
import json
import re
import shlex
import sys
from pathlib import Path
from types import ModuleType

import pytest

from rising_bandits.experiments import PAPER_POLICIES

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "docs" / "data"


def module(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"docs_{Path(path).stem}", ROOT / "docs" / path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = found
    spec.loader.exec_module(found)
    return found


@pytest.fixture(scope="module")
def results() -> ModuleType:
    return module("_ext/results.py")


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    return module("tables.py")


def test_a_pivot_has_every_number_of_the_file_at_its_place(results):
    records, command = results.load("tasks.json", "groups")
    assert command.startswith("rising bench policies")
    grid = results.pivoted(records, "group as task", "policy", "mean", ".3%", best="least")
    plain = {(row["group"], row["policy"]): row["mean"] for row in records}
    policies = list(dict.fromkeys(row["policy"] for row in records))
    assert grid.headings[0] == "task"
    for place, row in enumerate(grid.rows):
        assert row[1:] == [f"{plain[row[0], policy]:.3%}" for policy in policies]
        least = min(plain[row[0], policy] for policy in policies)
        assert {row[column] for line, column in grid.best if line == place} == {f"{least:.3%}"}


def test_a_list_follows_its_filter_and_order(results):
    records, _ = results.load("antmaze-replay.json", "rows")
    kept = results.chosen(records, "task = antmaze-easy | policy = crucb, oracle, sw-ts", "-regret")
    assert [row["policy"] for row in kept] == ["crucb", "sw-ts", "oracle"]
    grid = results.listed(kept, "policy | regret as mean regret", "text | .2f")
    assert grid.headings == ["policy", "mean regret"]
    assert grid.rows == [
        ["CRUCB" if row["policy"] == "crucb" else grid.rows[i][0], f"{row['regret']:.2f}"] for i, row in enumerate(kept)
    ]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda r: r.load("tasks.json", "nothing"), "no part 'nothing'"),
        (lambda r: r.load("tables:nothing"), "no function 'nothing'"),
        (lambda r: r.chosen([{"a": 1}], "a = 2"), "no record fits"),
        (lambda r: r.listed([{"a": 1}], "b"), "no field 'b'"),
        (lambda r: r.listed([{"a": 1}], "a", ".1f | .1f"), "one entry for each"),
        (lambda r: r.pivoted([{"a": 1, "b": 2, "c": 3}], "a", "b", "c", only="7"), "no record has b '7'"),
        (lambda r: r.pivoted([{"a": 1, "b": 2, "c": 3}] * 2, "a", "b", "c"), "two records"),
    ],
)
def test_an_option_that_does_not_fit_fails_the_build(results, call, words):
    with pytest.raises(results.TableError, match=words):
        call(results)


def test_every_function_of_tables_is_used_on_a_page(tables):
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    used = set(re.findall(r"\{results\} tables:(\w+)", pages))
    mine = {
        name
        for name, one in vars(tables).items()
        if callable(one) and getattr(one, "__module__", "") == tables.__name__ and not name.startswith("_")
    }
    assert used == mine


@pytest.mark.parametrize("path", sorted(DATA.glob("*.json")), ids=lambda path: path.stem)
def test_every_data_file_names_the_command_that_makes_it(results, path):
    """And the command is there: a script of this tree, or a command of the package with options that it knows."""
    from click.testing import CliRunner
    from typer.main import get_command

    from rising_bandits.cli.app import app

    data = json.loads(path.read_text(encoding="utf-8"))
    command = data.get("settings", {}).get("command", data.get("command"))
    # A file that several scripts write names a command for each of its parts.
    for each in [command] if command else [part["command"] for part in data.values()]:
        first, *rest = shlex.split(each)
        if first == "python":
            assert (ROOT / rest[0]).is_file()
            continue
        assert first == "rising"
        names = list(itertools.takewhile(lambda word: not word.startswith("-"), rest))
        shown = CliRunner().invoke(get_command(app), [*names, "--help"], env={"COLUMNS": "200"})
        assert shown.exit_code == 0
        assert {word for word in rest if word.startswith("--")} <= set(re.findall(r"--[a-z-]+", shown.output))


def test_the_replays_of_the_guide_are_those_of_their_command():
    script = module("antmaze.py")
    stored = json.loads((DATA / "antmaze-replay.json").read_text(encoding="utf-8"))
    assert stored["settings"]["command"] == script.command()
    given = [text for flag, text in itertools.pairwise(shlex.split(script.command())) if flag == "--policy"]
    assert {row["policy"] for row in stored["rows"]} == {*PAPER_POLICIES, "oracle", *given} - {"all"}
    assert {row["runs"] for row in stored["rows"]} == {20}


def test_the_examples_say_what_their_files_say():
    measure = module("measure.py")
    stored = json.loads((DATA / "examples.json").read_text(encoding="utf-8"))["rows"]
    # The shortest horizon of one example is measured again.
    assert measure.rows_of("planning", measure.compared("planning", (2_000,))) == [
        row for row in stored if row["example"] == "planning" and row["rounds"] == 2_000
    ]

    def ranked(example: str, rounds: int) -> list[str]:
        rows = [row for row in stored if row["example"] == example and row["rounds"] == rounds]
        return [row["policy"] for row in sorted(rows, key=lambda row: -row["mean"])]

    # docs/examples/*.md say which policy to take; these are the numbers behind the sentences.
    assert set(ranked("crowdsourcing", 2_000)[:2]) == {"best so far", "Foresight"}
    assert ranked("crowdsourcing", 2_000)[-1] == "CRUCB"
    assert ranked("crowdsourcing", 20_000)[0] == "Foresight"
    assert set(ranked("crowdsourcing", 100_000)[:2]) == {"Foresight", "HorizonCRUCB"}
    assert ranked("crowdsourcing", 100_000)[2] == "CRUCB"
    assert ranked("planning", 2_000)[:2] == ["best so far", "Foresight"]
    assert ranked("planning", 20_000)[0] == "CRUCB"
    assert ranked("planning", 20_000)[1:4] == ["HorizonCRUCB", "round robin", "Foresight"]
    assert set(ranked("routing", 10_000)[:2]) == {"Foresight", "HorizonCRUCB"}
    assert set(ranked("routing", 200_000)[:2]) == {"Foresight", "HorizonCRUCB"}


def test_the_guide_to_identification_says_what_its_file_says():
    stored = json.loads((DATA / "identify.json").read_text(encoding="utf-8"))
    error = {(row["task"], row["policy"], row["budget"]): row["error_probability"] for row in stored["rows"]}
    assert error["identify-models", "r-ucbe", 1_000] < 0.1
    assert error["identify-models", "r-sr", 1_000] == 1.0
    assert error["identify-models", "r-sr", 3_000] == 0.0
    assert error["identify-models", "cucb", 10_000] == 1.0
    text = (ROOT / "docs" / "guide" / "identify.md").read_text(encoding="utf-8")
    assert (
        stored["command"].split() == re.sub(r"\\\n", "", text[text.index("rising identify") :]).split("\n\n")[0].split()
    )


def test_the_guide_to_antmaze_says_what_its_files_say(tables):
    given_up = {row["edge"]: row for row in tables.antmaze_given_up()}
    assert {row["episode"] for row in given_up.values()} == {243}
    assert given_up["1→2"]["index"] < 0
    assert given_up["1→4"]["index"] < 0
    assert 0 < given_up["0→3"]["index"] < 0.01
    assert all(row["upward"] > 0 for row in given_up.values())
    parts = {row["change"]: row for row in tables.antmaze_parts()}
    assert parts["as it is"]["walks from episode"] == "149, 199, 201"
    assert parts["view=plain"]["walks from episode"] == "never, never, never"
    assert [row["borrowed"] for row in tables.antmaze_borrowed()] == [0, 0, 14, 0]


def test_the_pages_of_theory_say_what_is_computed(tables):
    steps = {row["c"]: row for row in tables.proof_of_theorem_5()}
    assert [steps[c]["real"] < 0 for c in (1.2, 1.4, 1.6, 1.8)] == [False, False, True, True]
    assert all(row["real"] < row["claimed"] and row["printed"] < 0 < row["exact"] for row in steps.values())
    for row in tables.concentration():
        assert row["paper"] == 0.0
    assert sum(row["program"] > row["allowed"] for row in tables.concentration()) >= 3


def test_the_guide_to_policies_says_what_its_files_say(tables):
    lost = {(row["world"], row["policy"]): row["lost"] for row in tables._lost_everywhere()}

    def least(world: str) -> str:
        return min((policy for one, policy in lost if one == world), key=lambda policy: lost[world, policy])

    # "With 200 rounds the mean of the last eight outcomes is level with it. With more it loses least."
    world = "lcdb, 200 rounds"
    assert 0.98 < lost[world, "recent-mean"] / lost[world, "foresight"] < 1.02
    for world in ("lcdb, 1000 rounds", "lcdb, 5000 rounds", "tool-chain", "tool-chain@30000", "antmaze-complex"):
        assert least(world) == "foresight"
    # "Over 50 000 rounds of imdb-like, SW-CUCB loses less."
    assert least("imdb-like@50000") == "sw-cucb"
    assert least("drop-rising") == least("drop-chain") == "sw-cucb"
    shares = {
        (row["group"], row["policy"]): row["mean"]
        for row in json.loads((DATA / "tasks.json").read_text(encoding="utf-8"))["groups"]
    }
    # "On the paper's tasks no more" except k-max, and "HorizonCRUCB does" see the straight rise of metelli-2.
    papers = [group for group, policy in shares if policy == "crucb" and not group.startswith("metelli")]
    worse = {group for group in papers if shares[group, "foresight"] > shares[group, "horizon-crucb"]}
    assert worse == {"k-max"}
    assert shares["k-max", "foresight"] < 1e-4
    assert shares["metelli-2", "horizon-crucb"] < 0.1 < 0.5 < shares["metelli-2", "foresight"]
    # With four seeds it "meets what is wanted in every family".
    assert all(float(row["ratio"]) <= 1.5 for row in tables.beside_best_rivals_5000())
    # "Thompson sampling and the mean of the newer half lose less" on flat arms.
    flat = {
        row["policy"]: row["mean"]
        for row in json.loads((DATA / "random.json").read_text(encoding="utf-8"))["groups"]
        if row["group"] == "flat"
    }
    assert max(flat["cts"], flat["newer-half"]) < flat["foresight"]


def test_the_readme_says_of_measured_curves_what_the_file_says():
    stored = json.loads((DATA / "decisions.json").read_text(encoding="utf-8"))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if "real data sets" in line)
    assert stored["settings"]["seeds"] == int(re.search(r"--seeds (\d+)", row)[1])
    ours, best, crucb = [], [], []
    for rounds in (200, 1000, 5000):
        lost = {one["policy"]: one["lost"] for one in stored["worlds"] if one["world"] == f"lcdb, {rounds} rounds"}
        rivals = {policy: share for policy, share in lost.items() if policy not in ("foresight", "horizon-crucb")}
        assert f"best of {len(rivals)} rivals" in row
        ours.append(f"{lost['foresight']:.1f}")
        best.append(f"{min(rivals.values()):.1f}")
        crucb.append(f"{lost['crucb']:.0f}%")
    for three in (ours, best):
        assert "{}, {} and {}%".format(*three) in row
    assert set(crucb) == {re.search(r"about (\d+%) by CRUCB", row)[1]}


def test_the_parts_of_horizon_crucb_are_worth_what_the_page_says():
    points = json.loads((DATA / "variants.json").read_text(encoding="utf-8"))["frontier"]
    usual = points["horizon-crucb"]
    assert all(ours < theirs for ours, theirs in zip(points["horizon-crucb(decay=0.7)"], usual, strict=True))
    for smaller in ("horizon-crucb(bonus=1.0)", "horizon-crucb(decay=1.0)"):
        assert points[smaller][1] < usual[1]
    assert points["horizon-crucb(decay=1.0)"][0] > 10 * usual[0]
    assert 1.8 < points["horizon-crucb(bonus='proved')"][1] / usual[1] < 2.5
    assert points["horizon-crucb(windows=1)"][1] > 1.5 * usual[1]
