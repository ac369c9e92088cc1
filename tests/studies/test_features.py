"""Beside today's rule: records, shares of asks, comparisons; metadata, priors, least shares, decisions that differ."""

from __future__ import annotations

import json
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rising_bandits as rb
from rising_bandits.studies import Range, Reciprocal
from rising_bandits.studies.log.least import check_least, gap
from rising_bandits.studies.reports.compare import difference

ROADS = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("b", "c")]
PROBLEM = rb.problems.ShortestPath(ROADS, "a", "d")
FAST = rb.problems.ShortestPath(ROADS, "a", "d", reward="harmonic")
MS = Range(0, 200, lower_is_better=True, unit="ms")


@pytest.fixture
def storage(tmp_path):
    return f"sqlite:///{tmp_path}/studies.db"


def play(study, rounds, outcome=lambda label: 50.0):
    for _ in range(rounds):
        decision = study.ask()
        study.tell(decision, {label: outcome(label) for label in decision.super_arm})


def survives(study, storage, tmp_path):
    """The study is the same when it is opened again and when its export is loaded."""
    study.export(tmp_path / "log.jsonl")
    found = [rb.studies.open(study.name, storage=storage)]
    found.append(rb.studies.load(tmp_path / "log.jsonl", f"{study.name}-again", storage=storage))
    study._log._snapshot_seq = -(10**9)
    study.set_expiry(None)
    found.append(rb.studies.open(study.name, storage=storage))
    for other in found:
        assert other.settings == study.settings
        assert other.policy.indices().tolist() == study.policy.indices().tolist()
        table, wanted = other.history(), study.history()
        assert table.drop(columns=["asked_at", "told_at"]).equals(wanted.drop(columns=["asked_at", "told_at"]))
    assert [d.super_arm for d in found[1].ask(5)] == [d.super_arm for d in study.ask(5)]


def test_decisions_made_elsewhere_are_learnt_like_ones_own(storage, tmp_path):
    study = rb.studies.create("s", PROBLEM, rb.CRUCB(sigma=0.1), storage=storage, seed=7, scale=MS)
    twin = rb.studies.create("t", PROBLEM, rb.CRUCB(sigma=0.1), storage=storage, seed=7, scale=MS)
    for number in range(20):
        decision = twin.ask()
        told = {label: 10.0 * (number % 7) + place for place, label in enumerate(decision.super_arm)}
        twin.tell(decision, told)
        made = study.record(reversed(decision.super_arm), told, source="today", metadata={"n": number})
        assert made.super_arm == decision.super_arm
        assert (made.id, made.source, made.metadata) == (number + 1, "today", {"n": number})
        assert study.tell(made, told) is False
    assert study.indices().tolist() == twin.indices().tolist()
    table = study.history()
    assert set(table["source"]) == {"today"}
    assert table["metadata"].tolist()[-1] == {"n": 19}
    assert study.open_decisions() == []
    assert study.replay(rb.CRUCB(sigma=0.1)).decisions == 0
    survives(study, storage, tmp_path)


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ((["a->b"], {}), "feasible super arm"),
        ((["a->b", "b->d", "b->d"], {}), "feasible super arm"),
        (("a->b", {}), "list of labels"),
        ((["a->b", "b->d"], {"a->c": 1.0}), "arms of decision 1"),
        ((["a->b", "b->d"], {"a->b": 999.0}), "200"),
    ],
)
def test_a_wrong_record_changes_nothing(storage, arguments, wanted):
    study = rb.studies.create("s", PROBLEM, storage=storage, seed=7, scale=MS)
    with pytest.raises(rb.InputError, match=wanted):
        study.record(*arguments, source="today")
    with pytest.raises(rb.InputError, match="name of a rule or source"):
        study.record(["a->b", "b->d"], {}, source="study")
    assert study.ask().id == 1


def test_metadata_is_kept_and_shown(storage, tmp_path):
    study = rb.studies.create("s", PROBLEM, storage=storage, seed=7, scale=MS, reorder=2)
    decision = study.ask(metadata={"flow": "video", "tags": [1, None]})
    assert decision.metadata == {"flow": "video", "tags": [1, None]}
    later = study.ask(4)
    study.tell(decision, dict.fromkeys(decision.super_arm, 5))
    study.tell(later[3], dict.fromkeys(later[3].super_arm, 5))
    said = dict(zip(study.history()["decision_id"], study.history()["metadata"], strict=True))
    assert said == {1: {"flow": "video", "tags": [1, None]}, 5: {}}
    for bad in ({1: 2}, {"x": {1, 2}}, {"x": float("nan")}, ["x"], {"x": "y" * 20_000}, {"x": "\ud800"}):
        with pytest.raises(rb.InputError, match="metadata must be"):
            study.ask(metadata=bad)
    study.export_history(tmp_path / "rows.parquet")
    study.export_history(tmp_path / "rows.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert next(row["metadata"] for row in rows if row["decision_id"] == 1)["flow"] == "video"
    survives(study, storage, tmp_path)


def test_a_share_of_the_asks_is_handed_to_a_rule_and_compared(storage, tmp_path):
    time = [1_000_000.0]
    scale = Reciprocal(best=1, unit="ms", clip=True)
    study = rb.studies.create("s", FAST, storage=storage, seed=7, scale=scale, clock=lambda: time[0])
    rng = np.random.default_rng(0)
    mean = {"a->b": 60, "b->d": 60, "a->c": 20, "c->d": 20, "b->c": 90}
    with pytest.raises(rb.InputError, match="no share of the asks is stored"):
        study.hand_over("today", ["a->b", "b->d"])
    study.hand_over("today", lambda problem, off: ["a->b", "b->d"], share=0.3)
    sources = []
    for _ in range(300):
        time[0] += 1000.0
        decision = study.ask()
        sources.append(decision.source)
        assert decision.source == "study" or decision.super_arm == ["a->b", "b->d"]
        study.tell(decision, {label: mean[label] + rng.normal(0, 5) for label in decision.super_arm})
    assert 0.2 < sources.count("today") / 300 < 0.4
    found = study.compare("today")
    assert found.drawn
    assert found.winner == "study"
    assert sum(found.decisions) > 250
    assert found.total.low < found.total.difference < found.total.high < 0
    assert 100 < found.total.other < 140
    assert "'today': " in str(found)
    assert "the study earned more" in str(found)
    assert "lower" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["winner"] == "study"
    # Another process has no rule: its asks are the policy's, and are not compared.
    other = rb.studies.open("s", storage=storage)
    play(other, 20)
    assert sum(study.compare("today").decisions) == sum(found.decisions)
    other.hand_over("today", ["a->b", "b->d"])
    assert {decision.source for decision in other.ask(30)} == {"study", "today"}
    assert "made by 'today'" in str(study.explain(sources.index("today") + 1))
    with pytest.raises(rb.InputError, match="source must be the name"):
        study.compare("tomorrow")
    with pytest.raises(rb.InputError, match="must not use arms that are unavailable"):
        study.ask(100, unavailable=["a->b"])
    study.hand_over("today", lambda problem, off: ["a->b"])
    with pytest.raises(rb.InputError, match="the rule 'today' must return the labels of a feasible"):
        study.ask(100)
    with pytest.raises(rb.InputError, match="exceed 1"):
        study.hand_over("more", ["a->b", "b->d"], share=0.8)
    assert study.replay(rb.HorizonCRUCB()).decisions < 350
    survives(rb.studies.open("s", storage=storage), storage, tmp_path)


def test_a_stored_super_arm_gets_its_share_in_every_process(storage, tmp_path):
    study = rb.studies.create("s", FAST, rb.CRUCB(sigma=0.1), storage=storage, seed=7)
    study.hand_over("today", ["b->d", "a->b"], share=0.5)
    other = rb.studies.open("s", storage=storage)
    made = other.ask(60)
    assert 15 < sum(decision.source == "today" for decision in made) < 45
    assert all(decision.super_arm == ["a->b", "b->d"] for decision in made if decision.source == "today")
    # While an arm of it is out of use, the study decides, and these decisions are not compared.
    before = study.events()[-1].seq
    assert {decision.source for decision in other.ask(40, unavailable=["a->b"])} == {"study"}
    other.retire(["b->d"])
    assert {decision.source for decision in other.ask(40)} == {"study"}
    assert not any("offered" in event.body for event in study.events(after=before))
    other.restore(["b->d"])
    # Without a rule or a share, what is stored is kept; a share of 0 ends it.
    other.hand_over("today", share=0.0)
    assert {decision.source for decision in other.ask(40)} == {"study"}
    other.hand_over("today", share=1.0)
    assert {decision.source for decision in study.ask(40)} == {"today"}
    survives(rb.studies.open("s", storage=storage), storage, tmp_path)


def test_a_stored_policy_decides_as_it_would_as_the_policy_of_the_study(storage, tmp_path):
    study = rb.studies.create("s", FAST, rb.CRUCB(sigma=0.1), storage=storage, seed=7)
    rule = rb.SWCUCB(window=8)
    study.hand_over("window", rule, share=0.4)
    other = rb.studies.open("s", storage=storage)
    rng, seen, differ = np.random.default_rng(0), 0, 0
    for place in range(24):
        if place == 12:
            study.reset(["a->b"])
        if place == 16:
            study.set_horizon(500)
        path = study.export(tmp_path / "now.jsonl")
        with rb.studies.load(path, "twin", storage=storage) as twin:
            twin.hand_over("window", share=0.0)
            own = twin.ask(2)
            twin.set_policy(rule)
        rb.studies.delete("twin", storage=storage)
        with rb.studies.load(path, "twin", storage=storage) as twin:
            twin.hand_over("window", share=0.0)
            twin.set_policy(rule)
            wanted = twin.ask(2)
        rb.studies.delete("twin", storage=storage)
        made = other.ask(2)
        for mine, yours, decision in zip(own, wanted, made, strict=True):
            if decision is made[0] or made[0].source == decision.source:
                seen += decision.source == "window"
                assert decision.super_arm == (yours if decision.source == "window" else mine).super_arm
                differ += mine.super_arm != yours.super_arm
        for decision in made:
            study.tell(decision, {label: float(rng.random()) for label in decision.super_arm})
    assert seen > 5
    assert differ > 5
    assert 0 < sum(study.compare("window").decisions) <= 48
    survives(rb.studies.open("s", storage=storage), storage, tmp_path)


def test_a_rule_that_cannot_be_stored_is_refused_and_changes_nothing(storage):
    class Mine(rb.CRUCB):
        """A policy of the user's own."""

    study = rb.studies.create("s", FAST, storage=storage, seed=7)
    for rule, said in (
        (["a->b"], "rule must be the labels of a feasible"),
        (Mine(sigma=0.1), "must be a policy of the library"),
        (rb.SWCUCB(), "horizon"),
        (None, "no rule 'today' is stored"),
    ):
        with pytest.raises(rb.InputError, match=said):
            study.hand_over("today", rule, share=0.5)
    with pytest.raises(rb.InputError, match="share must be"):
        study.hand_over("today", ["a->b", "b->d"], share=1.5)
    assert [event.kind for event in study.events()] == ["problem"]
    # A policy on super arms cannot learn imported plays. It gets no asks from then on.
    study.hand_over("today", rb.SWUCB(window=8), share=1.0)
    assert study.ask().source == "today"
    study.import_plays([("a->b", 1, 0.5)])
    decision = study.ask()
    assert decision.source == "study"
    assert "offered" not in study.events()[-1].body or "today" not in study.events()[-1].body["offered"]


def test_changes_have_an_author_and_asks_and_tells_have_none(storage, tmp_path):
    study = rb.studies.create(
        "s", FAST, storage=storage, seed=7, scale=Reciprocal(best=1, clip=True), author="ann", falls="reset"
    )
    play(study, 3)
    study.author = "bob"
    study.retire(["b->c"])
    study.restore(["b->c"])
    study.reset(["b->c"])
    study.set_falls("propose")
    study.set_least({"a->b": 0.05})
    study.set_expiry(60)
    study.set_horizon(10)
    study.add_prior({"a->b": 0.5})
    study.import_plays([("a->b", 1, 0.5)])
    study.hand_over("today", ["a->b", "b->d"], share=0.1)
    study.set_problem(FAST)
    # What the study does by itself has no author: it goes on without the horizon that has passed.
    with pytest.warns(UserWarning, match="has passed"):
        play(study, 10)
    events = study.events()
    assert {event.author for event in events if event.kind in ("ask", "tell")} == {None}
    changed = [(event.kind, event.author) for event in events if event.kind not in ("ask", "tell")]
    by = {"ann": ["problem", "set"], "bob": ["retire", "restore", "reset"] + 4 * ["set"]}
    assert [kind for kind, author in changed if author == "ann"] == by["ann"]
    assert sum(author == "bob" for _, author in changed) == 11
    assert [(kind, author) for kind, author in changed if author is None] == [("set", None)]
    for wrong in ("", "x" * 501, "a\nb", 7):
        with pytest.raises(rb.InputError, match="author must be"):
            study.author = wrong
        with pytest.raises(rb.InputError, match="author must be"):
            rb.studies.open("s", storage=storage, author=wrong)
    with rb.studies.open("s", storage=storage, author="cy") as again:
        again.retire(["b->c"])
        assert again.events()[-1].author == "cy"
    # The names stay in a file, and a file with names that no study would write is refused.
    path = study.export(tmp_path / "s.jsonl")
    copy = rb.studies.load(path, "copy", storage=storage)
    assert [event.author for event in copy.events()] == [event.author for event in study.events()]
    path.write_text(path.read_text().replace('"author": "cy"', '"author": "c\\u0007"'))
    with pytest.raises(rb.InputError, match="author must be"):
        rb.studies.load(path, "other", storage=storage)


def test_the_interval_holds_as_often_as_it_says():
    """Days of different level and size: the difference is found day by day. 300 draws at 90%: 270 ± 16 (3 sigma)."""
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(300):
        groups = []
        for day in range(3):
            level = 10.0 * day
            groups.append(
                [(True, level + rng.normal(0, 2)) for _ in range(4 + 3 * day)]
                + [(False, level + 1.0 + rng.normal(0, 1)) for _ in range(6)]
            )
        found = difference(groups, 0.9)
        held += found.low <= 1.0 <= found.high
    assert 254 <= held <= 288
    assert difference([[(True, 1.0), (False, 1.0)]], 0.9) is None
    same = difference([[(True, 1.0), (True, 1.0), (False, 2.0), (False, 2.0)]], 0.9)
    assert same.low == same.high == 1.0


def test_recorded_decisions_are_compared_on_common_days_only(storage):
    time = [0.0]
    study = rb.studies.create("s", PROBLEM, storage=storage, seed=7, scale=MS, clock=lambda: time[0])
    for _ in range(5):
        study.record(["a->b", "b->d"], {"a->b": 80, "b->d": 80}, source="today")
    time[0] = 10 * 86_400.0
    for _ in range(4):
        study.record(["a->b", "b->d"], {"a->b": 70, "b->d": 70}, source="today")
    assert study.compare("today").reward is None
    assert "0 of the study and 9 of 'today'; at least two of each" in str(study.compare("today"))
    play(study, 4, lambda label: 30.0)
    found = study.compare("today")
    assert not found.drawn
    assert "nobody drew" in str(found)


def test_a_prior_is_believed_until_plays_say_otherwise(storage, tmp_path):
    best = ["a->c", "c->d"]
    prior = {"a->b": 80.0, "b->d": (80.0, 20), "b->c": 90.0, "a->c": 20.0, "c->d": (20.0, 20)}
    study = rb.studies.create("s", FAST, storage=storage, seed=7, scale=Reciprocal(best=1, unit="ms"), prior=prior)
    assert study.ask().super_arm == best
    assert study.plays() == dict.fromkeys(PROBLEM.labels, 0)
    assert study.policy.plays.tolist() == [50, 50, 20, 20, 50]
    assert study.history().empty
    play(study, 5)
    survives(study, storage, tmp_path)
    study.set_scale(Reciprocal(best=0.5, unit="ms"))
    assert study.policy.plays.sum() > 70
    study.reset(["a->b"])
    assert study.policy.plays[PROBLEM.index("a->b")] == 0
    study.add_prior({("a", "b"): 10.0})
    assert study.policy.plays[PROBLEM.index("a->b")] == 50
    for bad in ({"x": 1.0}, {"a->b": 999.0}, {"a->b": (1.0, 0)}, {"a->b": (1.0, 2, 3)}, {"a->b": 1, ("a", "b"): 2}, 5):
        with pytest.raises(rb.InputError):
            rb.studies.create("bad", PROBLEM, storage=storage, scale=MS, prior=bad)
    with pytest.raises(rb.InputError, match="cannot learn plays of single"):
        rb.studies.create("bad", PROBLEM, rb.RedUCB(sigma=0.1), storage=storage, prior={"a->b": 0.5})
    assert "bad" not in rb.studies.names(storage=storage)


def test_a_prior_is_so_many_equal_plays(storage):
    study = rb.studies.create(
        "s", PROBLEM, rb.HorizonCRUCB(), storage=storage, seed=7, scale=MS, prior={"a->b": (50, 7)}
    )
    policy = rb.HorizonCRUCB()
    policy.start(PROBLEM, rng=0)
    policy.absorb(PROBLEM.index("a->b"), [0.75] * 7)
    assert study.indices().tolist() == policy.indices().tolist()
    assert study.policy.round == 1


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), seed=st.integers(0, 100))
def test_least_shares_hold_over_every_window(tmp_path_factory, data, seed):
    """Counted plainly: in every window of W decisions an arm with share p is used p·W times, rounded down."""
    labels = ["ann", "bob", "cy", "dee", "eve"]
    problem = rb.problems.TopK(labels, k=data.draw(st.integers(1, 2)))
    least = data.draw(st.dictionaries(st.sampled_from(labels), st.sampled_from([0.05, 0.1, 0.3, 0.5]), min_size=1))
    storage = f"sqlite:///{tmp_path_factory.mktemp('least')}/s.db"
    try:
        check_least(least)
    except rb.InputError:
        with pytest.raises(rb.InputError, match="least shares must be possible"):
            rb.studies.create("s", problem, storage=storage, least=least)
        return
    study = rb.studies.create("s", problem, rb.SWCUCB(window=10), storage=storage, seed=seed, least=least)
    rng = np.random.default_rng(seed)
    used = []
    while len(used) < 60:
        decisions = study.ask(int(rng.integers(1, 4)))
        used += [decision.super_arm for decision in decisions]
        study.tell_many([(d, {label: 1.0 if label == "eve" else 0.1 for label in d.super_arm}) for d in decisions])
        if rng.random() < 0.05:
            study = rb.studies.open("s", storage=storage)
    for label, share in least.items():
        for window in range(1, len(used) + 1):
            for first in range(len(used) - window + 1):
                count = sum(label in made for made in used[first : first + window])
                assert count >= int(share * window + 1e-9)
    with study._log.storage.read() as reader:
        forced = [e for e in reader.later(study._log.number, 1) if "least" in e.body and e.kind == "ask"]
    if forced:
        assert "must be in at least" in str(study.explain(forced[-1].decision))


def test_a_least_share_yields_to_what_is_down_and_survives(storage, tmp_path):
    study = rb.studies.create("s", PROBLEM, storage=storage, seed=7, least={"b->c": 0.25})
    play_value(study, 30)
    for _ in range(10):
        assert "b->c" not in study.ask(unavailable=["b->c"]).super_arm
    assert "b->c" in study.ask().super_arm
    study.retire(["b->c"])
    assert "b->c" not in study.ask().super_arm
    study.restore(["b->c"])
    survives(study, storage, tmp_path)
    study.set_least({})
    assert study.settings.least == ()
    for bad in ({"b->c": 0.0}, {"b->c": 2}, {"x": 0.1}, {"b->c": "often"}, [("b->c", 0.1)]):
        with pytest.raises(rb.InputError):
            study.set_least(bad)
    assert [gap(share) for share in (1.0, 0.5, 1 / 3, 0.05, 0.3)] == [1, 2, 3, 20, 3]


def play_value(study, rounds):
    for _ in range(rounds):
        decision = study.ask()
        study.tell(decision, dict.fromkeys(decision.super_arm, 0.5))


@pytest.mark.parametrize("policy", [lambda: rb.CRUCB(sigma=0.1), rb.HorizonCRUCB, lambda: rb.SWUCB(window=9)])
def test_decisions_at_once_differ_if_they_are_spread(storage, policy, tmp_path):
    problem = rb.problems.TopK(["ann", "bob", "cy"], k=1)
    made = {}
    for spread in (False, True):
        study = rb.studies.create(f"s{spread}", problem, policy(), storage=storage, seed=7, spread=spread)
        for number in range(12):
            decision = study.ask()
            study.tell(decision, {decision.super_arm[0]: 0.5 + 0.01 * (number % 3)})
        before = study.policy.indices().tolist()
        made[spread] = [decision.super_arm[0] for decision in study.ask(12)]
        # Asking teaches nothing.
        assert study.policy.indices().tolist() == before
        one_by_one = [study.ask().super_arm[0] for _ in range(3)]
        if spread:
            # One at a time they are spread as well, beside those that are open.
            assert len({*made[True], *one_by_one}) == 3
            assert "as if they had come back" in str(study.explain(20))
            survives(study, storage, tmp_path)
    assert len(set(made[True])) > len(set(made[False])) or len(set(made[False])) == 3
    with pytest.raises(rb.InputError, match="spread must be"):
        study.set_spread("yes")


def test_what_is_edited_about_these_is_refused(storage, tmp_path):
    study = rb.studies.create("s", PROBLEM, storage=storage, seed=7, scale=MS, prior={"a->b": 3.0}, least={"a->b": 0.2})
    study.record(["a->b", "b->d"], {"a->b": 80}, source="today", metadata={"x": 1})
    study.export(tmp_path / "log.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    changes = [
        (2, {"plays": [0]}), (2, {"plays": [1, 2]}), (2, {"value": [0.1]}), (2, {"arms": [99]}), (2, {"raw": [-1.0]}),
        (3, {"least": [[0, 2.0]]}), (3, {"least": [[99, 0.1]]}), (3, {"least": [0]}), (4, {"by": ""}),
        (4, {"by": "study"}), (4, {"meta": [1]}), (4, {"offered": [3]}), (4, {"least": 3}),
    ]  # fmt: skip
    for place, change in changes:
        edited = [dict(row) for row in rows]
        edited[place] = {**edited[place], "body": {**edited[place]["body"], **change}}
        (tmp_path / "edited.jsonl").write_text("".join(json.dumps(row) + "\n" for row in edited))
        with pytest.raises(rb.InputError, match=f"damaged at event {place}"):
            rb.studies.load(tmp_path / "edited.jsonl", "t", storage=storage)
    assert Reciprocal(best=1, clip=True).spec()["clip"] is True


def test_masks_as_people_think(storage):
    roads = [("a", "b"), ("b", "d"), ("a", "c"), ("c", "d"), ("a", "d", 12.5)]
    paths = rb.problems.ShortestPath(roads, "a", "d")
    study = rb.studies.create("routers", paths, storage=storage, seed=7)
    assert study.ask(unavailable=["b"]).super_arm != ["a->b", "b->d"]
    assert study.ask(unavailable=["b", ("node", "c")]).super_arm == ["a->d"]
    study.retire(["b"])
    assert study.retired == ["a->b", "b->d"]
    again = rb.studies.open("routers", storage=storage)
    again.restore(["b"])
    assert again.retired == []
    with pytest.raises(rb.InputError, match="label must be one of"):
        study.ask(unavailable=["z"])
    with pytest.raises(rb.InfeasibleError):
        study.ask(unavailable=["d"])
    tree = rb.problems.SpanningTree([("x", "y"), ("y", "z"), ("x", "z")])
    links = rb.studies.create("links", tree, storage=storage, seed=7)
    for spelling in ("z--y", "y--z", ("z", "y")):
        assert "y--z" not in links.ask(unavailable=[spelling]).super_arm
    team = rb.problems.Matching(["ann", "bob"], ["cats", "cars", "maps"])
    staff = rb.studies.create("team", team, storage=storage, seed=7)
    assert all("maps" not in label for label in staff.ask(unavailable=["maps"]).super_arm)
    numbered = rb.problems.Matching(2, 3)
    assert numbered.labels_of(numbered.named(("job", 0))) == ["0->0", "1->0"]
    with pytest.raises(rb.InputError, match="label must be"):
        numbered.named(0)
    for problem in (paths, tree, team, numbered):
        spec = problem.spec()
        assert rb.Problem.from_spec(json.loads(json.dumps(spec))).spec() == spec
        old = {part: spec[part] for part in ("oracle", "reward", "labels", "aliases")}
        assert rb.Problem.from_spec(old).labels == problem.labels
        policy = rb.CRUCB()
        policy.start(problem)
        state = policy.state()
        assert rb.CRUCB.from_state(state, problem).round == 1


def test_third_entries_of_edges_are_names_only_if_they_are_text():
    import networkx as nx

    edges = [("a", "b", 12.5), ("b", "c", {"name": "bridge", "ms": 3}), ("c", "d", "ferry"), ("a", "d", np.int64(3))]
    assert rb.problems.ShortestPath(edges, "a", "d").labels == ("a->b", "bridge", "ferry", "a->d")
    assert rb.problems.ShortestPath([("a", "b", 1), ("a", "b", 2)], "a", "b").labels == ("a->b#0", "a->b#1")
    assert rb.problems.SpanningTree(nx.Graph([("a", "b", {"weight": 2})])).labels == ("a--b",)
    for third in ([1], object()):
        with pytest.raises(rb.InputError, match="third entry of an edge"):
            rb.problems.ShortestPath([("a", "b", third)], "a", "b")


def test_the_event_loop_goes_on_while_a_study_works(storage):
    import asyncio
    import threading

    allowed = threading.Event()
    problem = rb.problems.TopK(["ann", "bob"], k=1)

    async def work():
        async with await rb.studies.aio.create("team", problem, storage=storage, seed=1) as study:
            waiting = asyncio.ensure_future(study.run(allowed.wait, 60))
            asked = asyncio.ensure_future(study.ask(2, metadata={"x": 1}))
            await asyncio.sleep(0)
            # The loop is here although the first call blocks its thread; the ask waits for its turn.
            assert not waiting.done()
            assert not asked.done()
            allowed.set()
            assert await waiting
            first, second = await asked
            assert await study.tell_many([(first, {first.super_arm[0]: 0.5}), (second, {})]) == [True, True]
            with pytest.raises(rb.AlreadyToldError):
                await study.tell(first, {first.super_arm[0]: 0.7})
            made = await study.record(["ann"], {"ann": 0.2}, source="today")
            assert made.id == 3
            assert len(await study.history()) == 2
            assert (await study.explain(1)).decision == 1
            assert len(await study.arms()) == 2
            assert (await study.compare("today")).reward is None
            assert await study.open_decisions() == []
        again = await rb.studies.aio.open("team", storage=storage)
        assert (await again.ask()).id == 4
        await again.close()
        # As with a study that does not wait, the next call opens it again.
        assert len(await again.history(since=timedelta(days=1))) == 2
        await again.close()

    asyncio.run(work())


def test_operators_find_what_happens_in_the_log(storage, caplog):
    caplog.set_level("INFO", logger="rising_bandits.studies")
    study = rb.studies.create("s", PROBLEM, storage=storage, seed=7, scale=Range(0, 1, clip=True))
    for _ in range(12):
        decision = study.ask()
        study.tell(decision, {decision.super_arm[0]: 2.0})
    study.set_policy(rb.CRUCB())
    said = [record.getMessage() for record in caplog.records]
    assert sum("was created" in text for text in said) == 1
    assert sum("has clipped" in text for text in said) == 2
    assert sum("set policy to 'CRUCB'" in text for text in said) == 1


@pytest.mark.parametrize("more", [{}, {"job_capacity": 2}])
def test_a_worker_who_is_out_is_left_out(tmp_path, more):
    problem = rb.problems.Matching(["ann", "bob"], ["x", "y", "z"], **more)
    storage = f"sqlite:///{tmp_path}/s.db"
    study = rb.studies.create("s", problem, storage=storage, seed=1)
    for _ in range(8):
        decision = study.ask(unavailable=["ann"])
        (label,) = decision.super_arm
        assert label.startswith("bob->")
        study.tell(decision, {label: 0.5})
        study.tell(study.ask(), {})
    assert "bob" in str(study.explain(decision))
    study.retire(["bob"])
    assert [label[:5] for label in study.ask().super_arm] == ["ann->"]
    study.record(["ann->x"], {"ann->x": 0.5}, source="today")
    with pytest.raises(rb.InfeasibleError):
        study.ask(unavailable=["ann"])
    with pytest.raises(rb.InputError, match="feasible"):
        study.retire(["ann"])
    study.restore(["bob"])
    with pytest.raises(rb.InputError, match="feasible"):
        study.record(["ann->x"], {}, source="today")
    study.export(tmp_path / "s.jsonl")
    again = rb.studies.load(tmp_path / "s.jsonl", storage=f"sqlite:///{tmp_path}/t.db")
    assert again.indices().tolist() == study.indices().tolist()


def test_a_policy_on_super_arms_learns_around_workers_who_are_out(tmp_path):
    problem = rb.problems.Matching(["ann", "bob"], ["x", "y", "z"])
    study = rb.studies.create("s", problem, storage=f"sqlite:///{tmp_path}/s.db", seed=1)
    open_one = study.ask(unavailable=["ann"])
    study.set_policy(rb.SWUCB(window=5))
    assert len(study.ask().super_arm) == 2
    study.tell(open_one, dict.fromkeys(open_one.super_arm, 0.5))
    study.retire(["bob"])
    with pytest.raises(rb.InfeasibleError):
        study.ask()
    recorded = study.record(["ann->x"], {"ann->x": 0.5}, source="today")
    assert "made by 'today'" in str(study.explain(recorded))
    study.restore(["bob"])
    assert len(study.ask().super_arm) == 2
    assert study.policy.plays.sum() == 0


def test_what_a_mask_left_can_be_observed_as_any_super_arm():
    problem = rb.problems.Matching(["ann", "bob"], ["x", "y", "z"])
    first, second = rb.CRUCB(), rb.CRUCB()
    for policy in (first, second):
        policy.start(problem, 100, np.random.default_rng(0))
    mask = problem.mask(["ann"])
    for _ in range(8):
        arms = first.select(mask=mask)
        first.observe(arms, [0.5])
        second.observe(arms.tolist(), [0.5])
    assert first.indices().tolist() == second.indices().tolist()
    with pytest.raises(rb.InputError, match="not a feasible super arm"):
        second.observe([0, 1], [0.5, 0.5])
    listed = rb.SWUCB(window=5)
    listed.start(problem, 100, np.random.default_rng(0))
    with pytest.raises(rb.InputError, match="not a feasible super arm"):
        listed.observe([0], [0.5])
