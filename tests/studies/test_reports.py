"""What a study tells of itself: explanations, history, files, replays."""

from __future__ import annotations

import itertools
import json
import math
import re
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import rising_bandits as rb
from rising_bandits.problems.tasks import grid_edges
from rising_bandits.studies import Decay, Log, Range, Reason, Reciprocal
from rising_bandits.studies.log import log as study_log
from rising_bandits.studies.reports import runner_up as second_best
from rising_bandits.theory import diagnose

ROADS = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("b", "c")]
PROBLEM = rb.problems.ShortestPath(ROADS, "a", "d")


@pytest.fixture
def storage(tmp_path):
    return f"sqlite:///{tmp_path}/studies.db"


def make(storage, policy=None, problem=PROBLEM, name="s", **options):
    return rb.studies.create(name, problem, policy or rb.CRUCB(sigma=0.1), storage=storage, seed=7, **options)


def play(study, rounds, world=None):
    seen = []
    for _ in range(rounds):
        decision = study.ask()
        told = {
            label: (((decision.id * 37 + place * 11) % 101) / 101 if world is None else world(label))
            for place, label in enumerate(decision.super_arm)
        }
        study.tell(decision, told)
        seen.append((decision, told))
    return seen


@pytest.mark.parametrize(
    "policy", [rb.CRUCB(sigma=0.1), rb.CRUCB(sigma=0.1, resolution=4), rb.SWCUCB(window=5), rb.SWCTS(window=5)]
)
def test_an_explanation_is_what_was_known_when_it_was_asked(storage, policy):
    study = make(storage, policy)
    play(study, 30)
    decision = study.ask()
    then = study.policy
    then.rng = study.settings.rng(decision.id)
    wanted = dict(zip(PROBLEM.labels, then.indices().tolist(), strict=True))
    at_once = decision.explain()
    play(study, 20)
    later = rb.studies.open("s", storage=storage).explain(decision.id)
    assert later.to_dict() == at_once.to_dict()
    assert later.chosen.super_arm == decision.super_arm
    assert later.round == 31
    for reason in at_once.chosen.reasons:
        assert reason.index == wanted[reason.label]
        parts = [reason.recent_average, reason.predicted_improvement, reason.bonus]
        if not isinstance(policy, rb.SWCTS):
            assert sum(part for part in parts if part is not None) == pytest.approx(reason.index)
    totals = sorted(
        (sum(wanted[label] for label in PROBLEM.labels_of(arms)) for arms in PROBLEM.oracle.super_arms()), reverse=True
    )
    assert at_once.chosen.score == pytest.approx(totals[0])
    assert at_once.runner_up.score == pytest.approx(totals[1])
    assert at_once.margin == pytest.approx(totals[0] - totals[1])
    assert json.loads(json.dumps(at_once.to_dict()))["chosen"]["super_arm"] == decision.super_arm
    text = str(at_once)
    for word in (
        "recent average",
        "predicted improvement",
        "bonus",
        "plays",
        "runner-up: ",
        "margin of the chosen one: ",
    ):
        assert word in text


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["path", "matching", "tree", "k"]))
@example(seed=35, kind="matching")
def test_the_runner_up_by_masks_is_the_second_best_of_the_list(seed, kind):
    problem = {
        "path": lambda: rb.problems.ShortestPath(grid_edges(3), "0,0", "2,2"),
        "matching": lambda: rb.problems.Matching(3, 4),
        "tree": lambda: rb.problems.SpanningTree(list(itertools.combinations(range(4), 2))),
        "k": lambda: rb.problems.TopK(6, k=3),
    }[kind]()
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=problem.n_arms)
    mask = rng.random(problem.n_arms) < 0.1
    if not problem.oracle.can(mask):
        return
    best = problem.oracle.solve(weights, mask)
    free = [arms for arms in problem.oracle.super_arms() if not mask[arms].any()]
    totals = sorted((weights[arms].sum() for arms in free), reverse=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(second_best, "LISTED", 0)
        second, exact = second_best.runner_up(problem, weights, best, mask)
    assert exact
    if len(free) == 1:
        assert second is None
    else:
        assert not np.array_equal(second, best)
        assert weights[second].sum() == pytest.approx(totals[1])


def test_explanations_of_first_plays_and_of_other_policies(storage):
    first = make(storage, name="first").ask().explain()
    assert first.chosen.reasons[0].index is None
    assert "every arm is played 2 times first" in str(first)
    assert "nan" not in json.dumps(first.to_dict()).lower()
    study = make(storage, rb.SWUCB(window=5), name="super")
    play(study, 12)
    found = study.ask().explain()
    assert len(found.chosen.reasons) == 1
    assert found.margin >= 0
    lucky = make(storage, rb.Random(), name="random").ask().explain()
    assert "does not learn" in str(lucky)
    assert "first plays" not in str(lucky)
    assert lucky.runner_up is None
    assert first.by_averages is found.by_averages is lucky.by_averages is None


def test_what_recent_averages_alone_would_choose(storage):
    team = rb.problems.TopK(["ann", "bob", "cy"], k=1)
    study = rb.studies.create("team", team, rb.CRUCB(sigma=0.1), storage=storage, seed=1)
    for arm, outcome in (("ann", 0.9), ("bob", 0.5), ("cy", 0.5)):
        for _ in range(2 if arm == "ann" else 40):
            study.record([arm], {arm: outcome}, source="test")
    assert study.ask(unavailable=["ann"]).explain().by_averages != ["ann"]
    # The chosen arm is known least, and it is the best so far: nothing is explored.
    chosen = study.ask().explain()
    assert chosen.chosen.super_arm == chosen.by_averages == ["ann"]
    for _ in range(60):
        study.record(["ann"], {"ann": 0.9}, source="test")
    explored = study.ask().explain()
    assert explored.chosen.super_arm != ["ann"]
    assert explored.by_averages == explored.to_dict()["by_averages"] == ["ann"]


def test_explanations_speak_the_users_unit(storage):
    study = make(storage, rb.CRUCB(sigma=0.0), scale=Range(0, 200, lower_is_better=True, unit="ms"))
    for _ in range(12):
        decision = study.ask()
        study.tell(decision, dict.fromkeys(decision.super_arm, 50.0))
    found = study.ask().explain()
    assert [reason.recent_outcome for reason in found.chosen.reasons] == pytest.approx(
        [50.0] * len(found.chosen.reasons)
    )
    assert "50 ms" in str(found)
    odd = make(storage, rb.CRUCB(sigma=0.1), name="odd", scale=Decay(half=10.0, unit="ms"))
    play(odd, 20)
    assert "ms" in str(odd.ask().explain())


@pytest.mark.parametrize(
    ("scale", "mean"),
    [(Range(0, 10), 5.0), (Log(1, 10), math.sqrt(16)), (Reciprocal(best=1), 1 / ((1 / 2 + 1 / 8) / 2))],
)
def test_the_recent_average_is_one_of_values(storage, scale, mean):
    study = make(storage, rb.SWCUCB(window=2), problem=rb.problems.TopK(["a"], k=1), scale=scale)
    for outcome in (2.0, 8.0):
        study.tell(study.ask(), {"a": outcome})
    assert study.arms()[0].recent_outcome == pytest.approx(mean)


def test_a_masked_decision_is_explained_with_its_mask(storage):
    study = make(storage)
    play(study, 20)
    decision = study.ask(unavailable=["a->b"])
    study.retire(["a->b"])
    assert "a->b" not in decision.explain().runner_up.super_arm if decision.explain().runner_up else True
    play(study, 3)
    assert rb.studies.open("s", storage=storage).explain(decision.id).chosen.super_arm == decision.super_arm
    with pytest.raises(rb.InputError, match="decision must be the id"):
        study.explain(10_000)


def test_history_is_a_row_an_outcome_in_the_order_of_learning(storage):
    study = make(storage, scale=Range(0, 2))
    late, *others = study.ask(3)
    for decision in others:
        study.tell(decision, {decision.super_arm[0]: 1.0})
    study.tell(late, dict.fromkeys(late.super_arm, 0.5))
    table = study.history()
    assert list(table.columns)[:5] == ["decision_id", "arm", "play", "outcome", "value"]
    assert table["decision_id"].tolist() == [1] * len(late.super_arm) + [2, 3]
    assert table["value"].tolist() == (table["outcome"] / 2).tolist()
    assert table["round"].tolist() == [1] * len(late.super_arm) + [2, 3]
    assert (table["told_at"] >= table["asked_at"]).all()
    for _, plays in table.groupby("arm")["play"]:
        assert plays.tolist() == list(range(1, len(plays) + 1))
    assert table["super_arm"].iloc[0] == late.super_arm
    assert len(make(storage, name="empty").history()) == 0


@pytest.mark.parametrize("events", [2, 7, 10**6])
def test_a_part_of_the_history_is_a_part_of_the_whole(storage, monkeypatch, events):
    """With late tells, pieces, resets and imports, from snapshots at many places or from the beginning."""
    monkeypatch.setattr(study_log, "SNAPSHOT_EVENTS", events)
    clock = itertools.count(1_000_000.0).__next__
    study = busy(storage, clock=clock)
    play(study, 5)
    study.reset(["a->b"])
    table = study.history()
    assert table["forgotten"].any()
    assert not table["forgotten"].all()
    for last in (1, 2, 5, 11, 23, len(table) - 1, len(table), len(table) + 5):
        assert study.history(last=last).equals(table.tail(last).reset_index(drop=True))
    for time in sorted(set(table["told_at"])):
        wanted = table[table["told_at"] >= time].reset_index(drop=True)
        assert study.history(since=time).equals(wanted)
        assert study.history(since=time.timestamp(), last=3).equals(wanted.tail(3).reset_index(drop=True))
    assert len(study.history(since=timedelta(days=1000))) == len(table)
    assert len(study.history(since=timedelta(0))) == 0


@pytest.mark.parametrize(
    "wrong", [{"last": 0}, {"last": 2.5}, {"since": "monday"}, {"since": math.nan}, {"since": datetime(2026, 1, 1)}]
)
def test_bad_bounds_of_the_history_are_refused(storage, wrong):
    with pytest.raises(rb.InputError, match=f"{next(iter(wrong))} must be"):
        make(storage).history(**wrong)


def test_history_goes_into_the_diagnosis_and_back_into_a_study(storage):
    study = make(storage)
    play(study, 60)
    table = study.history()
    assert diagnose(table).arms
    again = make(storage, name="again")
    assert again.import_plays(table, rounds=60) == len(table)
    assert again.indices().tolist() == study.indices().tolist()
    assert again.policy.round == study.policy.round
    assert again.ask().super_arm == study.ask().super_arm
    imported = again.history()
    assert imported["decision_id"].isna().all()
    with pytest.raises(rb.InputError, match="rounds must be an integer from"):
        again.import_plays(table, rounds=1)
    with pytest.raises(rb.InputError, match=r"outcome must be a number in \[0, 1\]"):
        again.import_plays([("a->b", 0, 1.5)])
    with pytest.raises(rb.InputError, match="label must be one of"):
        again.import_plays([("nowhere", 0, 0.5)])


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
def test_a_study_moves_by_file(storage, tmp_path, suffix):
    study = make(storage, rb.SWCTS(window=5), scale=Decay(half=2.0, unit="s"), expires=1e6, reorder=40)
    play(study, 20)
    opened = study.ask(3)
    study.tell(opened[1], {opened[1].super_arm[0]: 0.25}, final=False)
    study.retire(["a->c"])
    study.reset(["a->b"])
    study.import_plays([("b->c", 0, 3.0)])
    study.set_problem(rb.problems.ShortestPath([*ROADS, ("a", "d", ("new", 1))], "a", "d"))
    path = study.export(tmp_path / f"study{suffix}")
    assert [file.name for file in tmp_path.iterdir() if "tmp" in file.name] == []
    moved = rb.studies.load(path, storage=f"sqlite:///{tmp_path}/elsewhere.db")
    assert moved.name == "s"
    assert moved.indices().tolist() == study.indices().tolist()
    assert moved.history().equals(study.history())
    assert moved.retired == study.retired
    assert [decision.id for decision in moved.open_decisions()] == [decision.id for decision in study.open_decisions()]
    for _ in range(10):
        one, other = study.ask(), moved.ask()
        assert (one.id, one.super_arm) == (other.id, other.super_arm)
    assert moved.tell(opened[0].id, {}) is True
    with pytest.raises(rb.InputError, match="name must be new"):
        rb.studies.load(path, storage=storage)
    assert rb.studies.load(path, "copy", storage=storage).name == "copy"


def test_exported_rows_can_be_read_by_people(storage, tmp_path):
    study = make(storage)
    ((decision, told),) = play(study, 1)
    lines = [json.loads(line) for line in study.export(tmp_path / "s.jsonl").read_text().splitlines()]
    assert lines[0]["rising_bandits_study"]["name"] == "s"
    assert lines[2]["arms"] == decision.super_arm
    assert dict(zip(lines[3]["arms"], lines[3]["outcomes"], strict=True)) == told


@pytest.mark.parametrize("damage", ["cut", "gap", "kind", "words", "key", "suffix", "missing"])
def test_a_damaged_file_imports_nothing(storage, tmp_path, damage):
    study = make(storage)
    play(study, 5)
    path = study.export(tmp_path / "s.jsonl")
    lines = path.read_text().splitlines()
    if damage == "cut":
        lines[-1] = lines[-1][:-9]
    elif damage == "gap":
        del lines[4]
    elif damage == "kind":
        lines[3] = lines[3].replace('"tell"', '"told"')
    elif damage == "words":
        lines[0] = "once upon a time"
    elif damage == "key":
        lines[-1] = lines[-1].replace('"raw"', '"rare"')
    path.write_text("\n".join(lines) + "\n")
    target = {"suffix": tmp_path / "s.csv", "missing": tmp_path / "none.jsonl"}.get(damage, path)
    with pytest.raises(rb.InputError, match=r"nothing was imported|must be a file|must end in"):
        rb.studies.load(target, "other", storage=storage)
    assert rb.studies.names(storage=storage) == ["s"]


def test_a_folder_is_not_written_over(storage, tmp_path):
    study = make(storage)
    (tmp_path / "there.parquet").mkdir()
    for write in (study.export, study.export_history):
        with pytest.raises(rb.InputError, match=r"path must be a file to write to, but '.*there.parquet' is a folder"):
            write(tmp_path / "there.parquet")
    assert [path.name for path in tmp_path.iterdir() if "tmp" in path.name] == []


def busy(storage, **options):
    """A study in which everything happened that can happen, with tells late and in pieces."""
    study = make(storage, scale=Decay(half=2.0, unit="s"), reorder=6, **options)
    play(study, 6)
    held = study.ask(4)
    study.tell(held[1], {held[1].super_arm[0]: 0.25}, final=False)
    study.retire(["a->c"])
    play(study, 3)
    study.restore(["a->c"])
    study.tell_many([(held[0], dict.fromkeys(held[0].super_arm, 1.0)), (held[1], {held[1].super_arm[0]: 0.25})])
    study.reset(["a->b"])
    study.import_plays([("b->c", 0, 3.0), ("b->c", 1, 2.5)], rounds=4)
    study.tell(held[2], dict.fromkeys(held[2].super_arm, 0.5))
    study.set_problem(rb.problems.ShortestPath([*ROADS, ("a", "d", "direct")], "a", "d"))
    study.ask(unavailable=["direct"])
    play(study, 4)
    return study


def write_rows(path, header, rows):
    """What `export` writes, from rows that someone edited."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in [header, *rows]))
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    flat = [{**row, "body": json.dumps(row["body"])} for row in rows]
    table = pa.Table.from_pylist(flat)
    pq.write_table(table.replace_schema_metadata({key: json.dumps(value) for key, value in header.items()}), path)


def read_rows(path):
    header, *rows = [json.loads(line) for line in path.read_text().splitlines()]
    return header, rows


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
def test_a_busy_study_moves_by_file(storage, tmp_path, suffix):
    study = busy(storage, expires=1e6)
    moved = rb.studies.load(study.export(tmp_path / f"busy{suffix}"), "moved", storage=storage)
    again = rb.studies.open("moved", storage=storage)
    for other in (moved, again):
        assert other.indices().tolist() == study.indices().tolist()
        assert other.history().equals(study.history())
    files = [other.export(tmp_path / f"{other.name}.jsonl") for other in (study, moved)]
    assert read_rows(files[0])[1] == read_rows(files[1])[1]
    assert moved.ask().super_arm == study.ask().super_arm


def first_of(rows, kind):
    return next(row for row in rows if row["kind"] == kind)


def outcome(row, value):
    row["body"]["raw"][0] = row["outcomes"][0] = value


EDITS = {
    "nan": (lambda rows: outcome(first_of(rows, "tell"), math.nan), "event 3: outcome of 'a->b' must be a number"),
    "range": (lambda rows: outcome(first_of(rows, "tell"), -1.0), "event 3: outcome of 'a->b' must be a number"),
    "text": (lambda rows: outcome(first_of(rows, "tell"), "fast"), "event 3: "),
    "value": (lambda rows: first_of(rows, "tell")["body"]["value"].__setitem__(0, 0.123), "event 3: the value of"),
    "columns": (lambda rows: first_of(rows, "tell")["outcomes"].__setitem__(0, 0.5), "event 3: the columns"),
    "key": (lambda rows: first_of(rows, "tell")["body"]["arms"].__setitem__(0, 99), "event 3: arm must be"),
    "other arm": (lambda rows: first_of(rows, "tell")["body"]["arms"].__setitem__(0, 1), "event 3: outcomes must be"),
    "arm twice": (lambda rows: first_of(rows, "tell")["body"].update(arms=[0, 0]), "event 3: outcomes must name each"),
    "ask": (lambda rows: first_of(rows, "ask")["body"].update(arms=[0, 1]), "event 2: the arms 'a->b', 'a->c' are not"),
    "ask none": (lambda rows: first_of(rows, "ask")["body"].update(arms=[]), "event 2: the arms  are not"),
    "ask key": (lambda rows: first_of(rows, "ask")["body"].update(arms=[0, 77]), "event 2: the problem has no arm"),
    "ask off": (lambda rows: first_of(rows, "ask")["body"].update(off=[0]), "event 2: the arms 'a->b' were retired"),
    "decision": (lambda rows: first_of(rows, "ask").update(decision=7), "event 2: the next decision must be 1, got 7"),
    "decisions": (lambda rows: first_of(rows, "tell").update(decision=2), "event 3: decision must be the id"),
    "of none": (lambda rows: first_of(rows, "tell").update(decision=None), "event 3: decision must be the id"),
    "time": (lambda rows: first_of(rows, "tell").update(at=math.inf), "event 3: at must be a finite number"),
    "expired": (lambda rows: first_of(rows, "tell").update(at=4e9), "event 3: decision 1 expired"),
    "late": (lambda rows: [row["body"].pop("of", None) for row in rows], "'of' of a tell this late must be"),
    "retired": (lambda rows: first_of(rows, "retire")["body"].update(arms=[0, 1]), "a feasible super arm must be left"),
    "reset": (lambda rows: first_of(rows, "reset")["body"].update(arms=[55]), "the problem has no arm with the key 55"),
    "rounds": (lambda rows: first_of(rows, "import")["body"].update(rounds=1), "rounds must be an integer"),
    "imported": (lambda rows: first_of(rows, "import")["body"]["raw"][0].__setitem__(0, -3.0), "must be a number"),
    "keys": (lambda rows: rows[0]["body"].update(keys=[0, 1, 2, 3, 3]), "event 1: keys of the problem must be"),
    "spec": (lambda rows: rows[0]["body"].update(spec={"type": "x"}), "event 1: "),
    "no body": (lambda rows: rows[1].update(body=None), "event 2: "),
    "no raw": (lambda rows: first_of(rows, "tell")["body"].pop("raw"), "event 3: 'raw' is missing"),
    "number": (lambda rows: rows[4].update(seq=9), "event 5: its number is 9"),
    "kind": (lambda rows: rows[4].update(kind="told"), "event 5: there is no kind 'told'"),
    "first": (lambda rows: rows[0].update(kind="reset"), "event 1: a log begins with a problem"),
}


# A column of numbers of a Parquet file cannot hold text.
@pytest.mark.parametrize(
    ("edit", "suffix"),
    [(edit, suffix) for edit in EDITS for suffix in (".parquet", ".jsonl") if (edit, suffix) != ("text", ".parquet")],
)
def test_an_edited_file_is_refused_and_says_where(storage, tmp_path, edit, suffix):
    header, rows = read_rows(busy(storage, expires=1e6).export(tmp_path / "busy.jsonl"))
    change, message = EDITS[edit]
    change(rows)
    path = tmp_path / f"edited{suffix}"
    write_rows(path, header, rows)
    with pytest.raises(rb.InputError, match=f"is damaged at .*{re.escape(message)}.*nothing was imported"):
        rb.studies.load(path, "edited", storage=storage)
    assert rb.studies.names(storage=storage) == ["s"]


@pytest.mark.parametrize("kind", ["ask", "tell", "piece"])
def test_an_event_that_is_there_twice_is_refused(storage, tmp_path, kind):
    header, rows = read_rows(busy(storage).export(tmp_path / "busy.jsonl"))
    place = rows.index(first_of(rows, kind))
    rows.insert(place + 1, dict(rows[place]))
    for number, row in enumerate(rows, start=1):
        row["seq"] = number
    write_rows(tmp_path / "twice.jsonl", header, rows)
    with pytest.raises(rb.InputError, match=rf"is damaged at event {place + 2}: "):
        rb.studies.load(tmp_path / "twice.jsonl", "twice", storage=storage)
    assert rb.studies.names(storage=storage) == ["s"]


LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 12), st.floats(), st.just(10**400), st.text(max_size=2),
    st.just([]), st.just({}), st.lists(st.integers(0, 6), max_size=3),
)  # fmt: skip


def places(part, found=()):
    """Every place within plain data."""
    inside = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for name, value in inside:
        yield (*found, name)
        yield from places(value, (*found, name))


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("edits")
    study = busy(f"sqlite:///{folder}/s.db", expires=1e6)
    return folder, read_rows(study.export(folder / "s.jsonl"))


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whatever_is_edited_is_refused_as_a_whole_or_is_a_log_of_its_own(exported, data):
    folder, (header, original) = exported
    rows = json.loads(json.dumps(original))
    number = data.draw(st.integers(0, len(rows) - 1))
    how = data.draw(st.sampled_from(["leaf", "leaf", "leaf", "drop", "swap", "double"]))
    if how == "leaf":
        *way, last = data.draw(st.sampled_from(list(places(rows[number]))))
        part = rows[number]
        for step in way:
            part = part[step]
        part[last] = data.draw(LEAVES)
    elif how == "drop":
        del rows[number]
    elif how == "swap":
        other = data.draw(st.integers(0, len(rows) - 1))
        rows[number], rows[other] = rows[other], rows[number]
    else:
        rows.insert(number, json.loads(json.dumps(rows[number])))
    if how != "leaf":
        for place, row in enumerate(rows, start=1):
            row["seq"] = place
    path, storage = folder / "edited.jsonl", f"sqlite:///{folder}/s.db"
    if "edited" in rb.studies.names(storage=storage):
        rb.studies.delete("edited", storage=storage)
    write_rows(path, header, rows)
    try:
        study = rb.studies.load(path, "edited", storage=storage)
    except rb.InputError as error:
        said = str(error)
    else:
        said = ""
    if said:
        assert "is damaged at event" in said
        assert rb.studies.names(storage=storage) == ["s"]
        return
    again = rb.studies.open("edited", storage=storage)
    assert again.indices().tolist() == study.indices().tolist()
    assert ((table := again.history())["value"].between(0, 1)).all()
    assert table["arm"].isin([*again.problem.labels]).all()
    assert again.ask().id == study.open_decisions()[-1].id


def test_a_replay_with_the_same_policy_is_the_log_itself(storage):
    study = make(storage)
    play(study, 80)
    found = study.replay(rb.CRUCB(sigma=0.1))
    assert (found.decisions, found.agreed, found.agreement) == (80, 80, 1.0)
    assert found.rounds == found.logged_rounds == 80
    assert found.reward == pytest.approx(found.logged_reward)
    assert found.same_plays == found.outcomes
    assert "agreement: 80 of 80" in str(found)
    assert f"(all {found.outcomes} logged outcomes came at" in str(found)


def test_a_replay_stops_where_the_log_does_and_is_right_until_then(storage):
    """The world is rested and without noise, so the other policy can be run for real and compared."""
    plays = {}

    def world(label):
        plays[label] = plays.get(label, 0) + 1
        return {"a->b": 0.5, "b->d": 0.45}.get(label, min(0.9, 0.05 * plays[label]))

    study = make(storage, rb.Random())
    play(study, 60, world)
    found = study.replay(rb.SWCUCB(window=10))
    assert 0 < found.rounds < 60
    assert found.stopped_by in PROBLEM.labels
    plays.clear()
    plain, total = rb.SWCUCB(window=10), 0.0
    plain.start(PROBLEM)
    for _ in range(found.rounds):
        arms = plain.select()
        outcomes = [world(label) for label in PROBLEM.labels_of(arms)]
        plain.observe(arms, outcomes)
        total += sum(outcomes)
    assert found.reward == pytest.approx(total / found.rounds)
    assert "cannot be concluded" in str(found)
    assert f"(only {found.same_plays} of {found.outcomes} logged outcomes came at" in str(found)
    assert not math.isnan(found.agreement)
    json.dumps(found.to_dict())


def test_a_log_whose_arms_changed_is_not_replayed(storage):
    study = make(storage)
    play(study, 10)
    study.reset(["a->b"])
    with pytest.raises(rb.InputError, match="an arm was reset"):
        study.replay(rb.SWCUCB(window=10))
    with pytest.raises(rb.InputError, match="policy must be a Policy"):
        study.replay("sw-cucb")


def test_a_late_tell_of_an_arm_that_is_gone_does_not_count_when_it_comes_back(storage):
    def k(*arms):
        return rb.problems.TopK(list(arms), k=1)

    study = make(storage, problem=k("a", "b"), reorder=1)
    first = study.ask(unavailable=["b"])
    for _ in range(2):
        study.ask(unavailable=["a"])
    study.set_problem(k("b", "c"))
    study.tell(first, {"a": 0.9})
    study.set_problem(k("a", "b", "c"))
    for _ in range(3):
        study.tell(study.ask(unavailable=["b", "c"]), {"a": 0.1})
    assert study.plays() == dict(zip(study.problem.labels, study.policy.plays.tolist(), strict=True))
    table = study.history()
    assert table["forgotten"].tolist() == [True, False, False, False]
    assert table["play"].tolist()[1:] == [1, 2, 3]


def test_the_columns_of_a_history_have_the_same_types_whatever_it_holds(storage):
    study = make(storage)
    empty = study.history().dtypes
    study.import_plays([("a->b", 1, 0.1), ("a->b", 2, 0.2)])
    imported = study.history().dtypes
    play(study, 3)
    assert empty.equals(imported)
    assert empty.equals(study.history().dtypes)


def test_losses_are_drawn_to_the_left_and_every_part_has_a_name(storage):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    study = make(storage, rb.CRUCB(sigma=0.001), problem=rb.problems.TopK(["a", "b"], k=1))
    falls = [("a", n, 0.9 if n < 6 else 0.2) for n in range(1, 7)]
    study.import_plays([*falls, ("b", 1, 0.1), ("b", 2, 0.1)])
    explanation = study.ask().explain()
    parts = [reason for one in (explanation.chosen, explanation.runner_up) for reason in one.reasons]
    falling = next(reason for reason in parts if reason.label == "a")
    assert falling.predicted_improvement < 0
    drawing, axes = plt.subplots()
    rb.plots.draw_explanation(axes, explanation)
    assert set(axes.get_legend_handles_labels()[1]) == {"recent average", "predicted improvement", "bonus"}
    reach = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches]
    assert all(min(low, high) >= 0 or max(low, high) <= 0 for low, high in reach)
    plt.close(drawing)


def test_the_picture_after_a_reset_of_all_arms_says_so(storage, tmp_path):
    study = make(storage)
    rb.plots.plot_study(study, tmp_path / "none.png")
    play(study, 5)
    study.reset(list(study.problem.labels))
    rb.plots.plot_study(study, tmp_path / "reset.png")
    assert "nothing was told yet" in (tmp_path / "none.svg").read_text()
    assert "no plays since the start or reset" in (tmp_path / "reset.svg").read_text()


def test_an_improvement_beyond_the_best_outcome_is_said_to_be_that():
    scale = Range(0, 60, lower_is_better=True, unit="min")
    reason = Reason("a", 3, 0.7, 0.4, 0.0, 1.1, scale.outcome(0.7), scale.outcome(1.1))
    assert reason.cells(scale)[2:4] == ["18 min", "beyond the best"]
    reason = Reason("a", 3, 0.7, 0.2, 0.0, 0.9, scale.outcome(0.7), scale.outcome(0.9))
    assert reason.cells(scale)[2:4] == ["18 min", "12 min better"]
