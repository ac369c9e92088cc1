"""What the page draws is what the log says, and a preview changes nothing and is right."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from service_kit import PROBLEM, make, outcomes, problem_of

import rising_bandits as rb
from rising_bandits.serve import curves
from rising_bandits.serve.labels import Texts
from rising_bandits.serve.structure import structure


def play(study, rounds, seed=1):
    drawn = random.Random(seed)
    for _ in range(rounds):
        decision = study.ask()
        study.tell(decision, {arm: drawn.random() for arm in decision.super_arm})


@settings(max_examples=40, deadline=None)
@given(numbers=st.lists(st.floats(0, 1), min_size=1, max_size=700))
def test_buckets_have_the_means_of_their_numbers(numbers):
    curve = curves.Curve()
    for play_number, number in enumerate(numbers, start=1):
        curve.add(number, play_number)
    for most in (curves.MOST, 16, 3):
        points = curve.points(most)
        assert len(points["at"]) <= most
        begin = 0
        for at, count, mean, error in zip(*points.values(), strict=True):
            part = np.array(numbers[begin : int(at)])
            assert len(part) == count
            assert mean == pytest.approx(part.mean(), abs=1e-6)
            assert error == pytest.approx(part.std() / math.sqrt(len(part)), abs=1e-6)
            begin = int(at)
        assert begin == len(numbers)
        # The last point is never of less than half as many numbers as the others.
        assert 2 * points["count"][-1] >= points["count"][0]


def test_the_overview_is_what_the_log_says(storage, client):
    study = make(storage, expires=3600.0)
    play(study, 40)
    study.ask(2)
    part = study.ask()
    study.tell(part, {part.super_arm[0]: 0.5}, final=False)
    study.retire(["b->c"])
    seen = client.get("/v1/studies/routes/overview").json()
    table = study.history()
    assert seen["study"]["decisions"] == 43
    assert (seen["study"]["open"], seen["study"]["expired"]) == (3, 0)
    assert seen["study"]["retired"] == ["b->c"]
    assert [change["kind"] for change in seen["changes"]] == ["problem", "retire"]
    for arm, points in seen["curves"].items():
        mine = table[table["arm"] == arm]["outcome"]
        assert sum(points["count"]) == len(mine)
        assert np.average(points["mean"], weights=points["count"]) == pytest.approx(mine.mean(), abs=1e-5)
    rewards = [rows["value"].sum() for number, rows in table.groupby("decision_id") if number != part.id]
    points = seen["earned"]["study"]
    assert np.average(points["mean"], weights=points["count"]) == pytest.approx(np.mean(rewards), abs=1e-5)
    known = [dict(zip(seen["columns"], row, strict=True)) for row in seen["arms"]]
    assert [arm["plays"] for arm in known] == [arm.plays for arm in study.arms()]
    then = client.get("/v1/studies/routes/decisions/7/then").json()
    for choice in (then["explanation"]["chosen"], then["explanation"]["runner_up"]):
        for arm in choice["arms"]:
            index = arm["index"]
            # Without a scale outcomes are from 0 to 1; an index beyond 1 stands for no outcome.
            assert arm.pop("possible_outcome") == (index if index is not None and index <= 1 else None)
    assert then["explanation"] == study.explain(7).to_dict()
    assert [row[1] for row in then["arms"]] == [arm.plays for arm in study.arms(at=7)]
    assert then["asked_at"] == study.events()[[event.decision for event in study.events()].index(7)].at
    # The arm was retired later.
    newest = client.get(f"/v1/studies/routes/decisions/{study.decisions}/then").json()
    assert (then["retired"], newest["retired"]) == ([], [])
    study.ask()
    assert client.get(f"/v1/studies/routes/decisions/{study.decisions}/then").json()["retired"] == study.retired
    assert study.retired
    # It goes on from there, and begins again after a reset.
    study.reset(["a->b"])
    again = client.get("/v1/studies/routes/overview").json()
    assert "a->b" not in again["curves"]
    assert client.get("/v1/studies/routes/curve", params={"arm": "a->b"}).json()["at"] == []
    problem_of(client.get("/v1/studies/routes/curve", params={"arm": "nobody"}), 404)
    glance = client.get("/v1/studies/routes/glance").json()
    assert glance["study"]["decisions"] == 44


def test_a_decision_that_expired_is_said(storage, client):
    clock = [1_000.0]
    study = make(storage, expires=60.0, clock=lambda: clock[0])
    study.ask()
    seen = client.get("/v1/studies/routes/overview").json()
    assert (seen["study"]["open"], seen["study"]["expired"]) == (0, 1)
    assert "1 decision expired without a final tell" in seen["warnings"]


CHANGES = [
    {"retire": ["a->b"]},
    {"restore": ["b->c"]},
    {"reset": ["a->b", "c->d"]},
    {"policy": {"name": "sw-cucb", "parameters": {"window": 5}}},
    {"horizon": 100},
    {"expires": 5.0},
    {"spread": True},
    {"falls": "reset"},
    {"least": {"b->d": 0.9}},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_a_preview_is_what_the_change_then_does(storage, client, change):
    study = make(storage, policy=rb.HorizonCRUCB())
    play(study, 25)
    study.retire(["b->c"])
    with study._log.look() as (fold, _):
        seq = fold.seq
    seen = client.post("/v1/studies/routes/preview", json=change).json()
    with study._log.look() as (fold, _):
        assert fold.seq == seq
    path = next(iter(change)) if next(iter(change)) in ("retire", "restore", "reset") else "settings"
    body = {"arms": change[path]} if path != "settings" else change
    assert client.post(f"/v1/studies/routes/{path}", json=body).json() == {"done": True}
    assert client.post("/v1/studies/routes/ask", json={}).json()["super_arm"] == seen["after"]["super_arm"]


def test_a_preview_of_what_cannot_be_done_says_so(storage, client):
    make(storage).close()
    seen = client.post("/v1/studies/routes/preview", json={"retire": ["a->b", "a->c"]}).json()
    assert "feasible" in seen["refused"]
    masked = client.post("/v1/studies/routes/preview", json={"mask": ["a->b"]}).json()
    assert "a->b" not in masked["after"]["super_arm"]
    problem_of(client.post("/v1/studies/routes/settings", json={}), 422)
    problem_of(client.post("/v1/studies/routes/settings", json={"policy": {"name": "os:system"}}), 422)


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        (PROBLEM, "paths"),
        (rb.problems.SpanningTree([("a", "b"), ("b", "c"), ("a", "c")]), "tree"),
        (rb.problems.Matching(["ann", "bob"], ["cats", "cars"]), "matching"),
        (rb.problems.TopK(["x", "y"], k=1), "choice"),
        (rb.problems.Explicit([["x"], ["y", "z"]]), "list"),
        (rb.problems.Routes([("a", "b"), ("b", "c"), ("a", "c")], [("a", "c"), ("b", "c")]), "paths"),
        (rb.problems.OneOfEach({"search": ["x", "y"], "answer": ["u"]}), "groups"),
        (rb.problems.Knapsack({"x": 1, "y": 2, "z": 2}, budget=3), "choice"),
    ],
)
def test_every_structure_is_drawn(problem, kind):
    # As a database gives it back: without its class.
    stored = rb.problems.base.Problem.from_spec(problem.spec())
    drawn = structure(stored, Texts(stored.labels))
    assert drawn["kind"] == kind
    if "edges" in drawn:
        assert len(drawn["edges"]) == problem.n_arms
        names = [node["name"] for node in drawn["nodes"]]
        for label, (one, two) in zip(problem.labels, drawn["edges"], strict=True):
            assert label in (f"{names[one]}->{names[two]}", f"{names[one]}--{names[two]}")
        assert all(-0.1 <= node["x"] <= 1.1 and -0.1 <= node["y"] <= 1.1 for node in drawn["nodes"])


def test_groups_have_names_and_arms():
    problem = rb.problems.OneOfEach({"search": ["x", "y"], "answer": ["u"]})
    drawn = structure(rb.problems.base.Problem.from_spec(problem.spec()), Texts(problem.labels))
    assert drawn["groups"] == [
        {"name": "search", "arms": ["search:x", "search:y"]},
        {"name": "answer", "arms": ["answer:u"]},
    ]


def test_a_single_target_stands_alone_at_the_end():
    drawn = structure(PROBLEM, Texts(PROBLEM.labels))
    ends = {node["name"]: node["x"] for node in drawn["nodes"]}
    assert ends["d"] == 1.0
    assert all(x < 1.0 for name, x in ends.items() if name != "d")


def test_metadata_and_rules_of_today_are_shown(storage, client):
    make(storage).close()
    decision = client.post("/v1/studies/routes/ask", json={"metadata": {"user": "<b>7</b>"}}).json()
    client.post("/v1/studies/routes/tell", json={"id": decision["id"], "outcomes": outcomes(decision)})
    study = rb.studies.open("routes", storage=storage)
    study.record(["a->b", "b->d"], {"a->b": 0.5, "b->d": 0.25}, source="today")
    seen = client.get("/v1/studies/routes/overview").json()
    assert seen["newest"][0]["metadata"] == {"user": "<b>7</b>"}
    assert set(seen["earned"]) == {"study", "today"}
    row = client.get("/v1/studies/routes/history").json()["rows"][0]
    assert row["metadata"] == {"user": "<b>7</b>"}


def test_members_of_super_arms_have_recent_outcomes_of_their_own(storage, client):
    team = rb.problems.Explicit([["ann", "bob"], ["cy"], ["bob"]])
    study = rb.studies.create("team", team, rb.SWUCB(window=10), storage=storage, seed=1)
    study.record(["ann", "bob"], {"ann": 0.25, "bob": 0.5}, source="test")
    study.record(["bob"], {"bob": 0.75}, source="test")
    seen = client.get("/v1/studies/team/overview").json()
    # There are as many super arms as arms; they are told apart all the same.
    assert seen["units"] == "super arms"
    assert [row[0] for row in seen["arms"]] == ["ann, bob", "bob", "cy"]
    known = {row[0]: dict(zip(seen["columns"], row, strict=True)) for row in seen["members"]}
    assert {label: (arm["plays"], arm["recent_outcome"]) for label, arm in known.items()} == {
        "ann": (1, 0.25),
        "bob": (2, 0.75),
        "cy": (0, None),
    }
    assert client.get("/v1/studies/team").json()["arms"] == 3


def test_members_of_super_arms_are_known_in_the_past_too(storage, client):
    team = rb.problems.Explicit([["ann", "bob"], ["cy"], ["bob"]])
    study = rb.studies.create("team", team, rb.SWUCB(window=10), storage=storage, seed=1)
    for number in range(4):
        study.record(["ann", "bob"], {"ann": 0.1 * number, "bob": 0.5}, source="test")
    study.record(["cy"], {"cy": 0.25}, source="test")
    study.reset(["bob"])
    study.record(["bob"], {"bob": 0.9}, source="test")

    def then(number):
        seen = client.get(f"/v1/studies/team/decisions/{number}/then").json()
        columns = client.get("/v1/studies/team/overview").json()["columns"]
        rows = (dict(zip(columns, row, strict=True)) for row in seen["members"])
        return {row["label"]: (row["plays"], row["recent_outcome"]) for row in rows}, seen["restarted"]

    # Bob's plays before the reset are counted, but what they were is no longer drawn.
    assert then(1) == ({"ann": (0, None), "bob": (0, None), "cy": (0, None)}, ["bob"])
    assert then(4) == ({"ann": (3, 0.2), "bob": (3, None), "cy": (0, None)}, ["bob"])
    assert then(6) == ({"ann": (4, 0.3), "bob": (0, None), "cy": (1, 0.25)}, [])
    make(storage).ask()
    seen = client.get("/v1/studies/routes/decisions/1/then").json()
    assert (seen["members"], seen["restarted"]) == (None, [])


def test_a_share_of_the_asks_is_handed_over(storage, client):
    make(storage).close()
    place = "/v1/studies/routes"
    rule = {"name": "today", "share": 1.0, "super_arm": ["b->d", "a->b"]}
    seen = client.post(f"{place}/preview", json={"share": rule}).json()
    assert seen["after"]["super_arm"] == ["a->b", "b->d"]
    assert client.get(place).json()["shares"] == []
    assert client.post(f"{place}/settings", json={"share": rule}).json() == {"done": True}
    assert client.get(place).json()["shares"] == [{"name": "today", "share": 1.0, "rule": "a->b, b->d"}]
    decision = client.post(f"{place}/ask", json={"explain": True}).json()
    assert decision["super_arm"] == ["a->b", "b->d"]
    assert "made by 'today'" in decision["explanation"]["notes"][0]
    other = {"name": "window", "share": 0.5, "policy": {"name": "sw-cucb", "parameters": {"window": 9}}}
    assert "exceed 1" in problem_of(client.post(f"{place}/settings", json={"share": other}), 422)
    assert client.post(f"{place}/settings", json={"share": {"name": "today", "share": 0}}).json() == {"done": True}
    assert client.post(f"{place}/settings", json={"share": other}).json() == {"done": True}
    assert client.get(place).json()["shares"] == [{"name": "window", "share": 0.5, "rule": "SWCUCB(window=9)"}]
    made = client.post(f"{place}/ask", json={"n": 40}).json()["decisions"]
    for decision in made:
        client.post(f"{place}/tell", json={"id": decision["id"], "outcomes": outcomes(decision)})
    assert client.get(f"{place}/compare?source=window").json()["decisions"] != [0, 0]
    for wrong, said in (
        ({"name": "x", "share": 0.1}, "no rule 'x' is stored"),
        ({"name": "x", "share": 0.1, "super_arm": ["a->b"]}, "feasible super arm"),
        ({"name": "x", "share": 0.1, **rule | other}, "not both"),
        ({"name": "x", "share": 2, "super_arm": ["a->b", "b->d"]}, "share"),
        ({"name": "study", "share": 0.1, "super_arm": ["a->b", "b->d"]}, "not 'study'"),
        ({"name": "x", "share": 0.1, "policy": {"name": "os:system"}}, "policy"),
    ):
        before = client.get(f"{place}/changes").json()
        assert said in problem_of(client.post(f"{place}/settings", json={"share": wrong}), 422)
        assert client.get(f"{place}/changes").json() == before


def test_the_present_policy_can_be_sent_back(storage, client):
    study = make(storage, policy=rb.CRUCB(sigma=0.25, bonus="reference"))
    seen = client.get("/v1/studies/routes/overview").json()["policy"]
    assert client.post("/v1/studies/routes/settings", json={"policy": seen}).json() == {"done": True}
    assert repr(study.policy) == repr(rb.CRUCB(sigma=0.25, bonus="reference"))
