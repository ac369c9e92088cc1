"""What is learnt depends on what was told, not on when: decisions, open ones, and the order of tells."""

from __future__ import annotations

import contextlib
import random
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from study_kit import ARMS, POLICIES, PROBLEM, QUICK, SMALLER, Clock, make, outcomes_for

import rising_bandits as rb
from rising_bandits.studies.log import arms as study_arms


def test_the_contract_of_the_spec_word_for_word(storage):
    study = rb.studies.create("routes", PROBLEM, rb.CRUCB(sigma=0.05), storage=storage)
    study = rb.studies.open("routes", storage=storage)
    decision = study.ask()
    assert study.tell(decision.id, dict.fromkeys(decision.super_arm, 0.5))
    table = study.history()
    assert {"decision_id", "arm", "play", "outcome"} <= set(table.columns)
    assert table["arm"].tolist() == decision.super_arm
    assert "plays" in str(decision.explain())


@pytest.mark.parametrize("name", POLICIES)
def test_decisions_are_those_of_the_policy_itself(storage, name):
    """One at a time, a study decides as the bare policy does with the same generators."""
    study = make(storage, POLICIES[name]())
    plain = POLICIES[name]()
    plain.start(PROBLEM)
    for number in range(1, 41):
        plain.rng = np.random.default_rng(np.random.SeedSequence([7, number]))
        arms = plain.select()
        decision = study.ask()
        assert decision.id == number
        assert decision.super_arm == PROBLEM.labels_of(PROBLEM.ordered(arms))
        told = outcomes_for(decision)
        study.tell(decision.id, told)
        plain.observe(arms, [told[label] for label in PROBLEM.labels_of(arms)])
        if number % 10 == 0:
            study = rb.studies.open("s", storage=storage)
    plain.rng = np.random.default_rng(np.random.SeedSequence([7, 41]))
    assert study.indices().tolist() == plain.indices().tolist()


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.integers(1, 3)),
        st.tuples(st.just("tell"), st.integers(0, 30), st.integers(0, 15)),
        st.tuples(st.just("piece"), st.integers(0, 30), st.integers(0, 15)),
        st.tuples(st.just("wait"), st.integers(1, 6)),
        st.tuples(st.just("reset"), st.integers(0, 3)),
        st.tuples(st.just("problem"), st.booleans()),
        st.tuples(st.just("reopen")),
        st.tuples(st.just("snapshot")),
    ),
    min_size=5,
    max_size=60,
)


class Model:
    """The documented rule in its plainest form: a line of decisions, and a policy that is told in that order."""

    def __init__(self, reorder):
        self.reorder, self.gone, self.line, self.at = reorder, [], [], {}
        self.time, self.began, self.problem = 0, {}, PROBLEM

    def ask(self, decision):
        self.time += 1
        self.at[decision.id] = slot = {"decision": decision, "told": None, "closed": False, "round": True}
        slot |= {"time": self.time, "all": {}, "off": set()}
        self.line.append(slot)
        self.move()

    def control(self, problem, begun):
        """The arms in ``begun`` begin anew, on a problem."""
        self.time += 1
        self.began.update(dict.fromkeys(begun, self.time))
        self.line.append({"problem": problem, "begun": set(begun), "closed": True})
        self.problem = problem
        self.move()

    def tell(self, decision, told, final):
        slot = self.at[decision.id]
        if any(slot is other for other in self.line):
            slot["told"] = {**(slot["told"] or {}), **told}
            slot["closed"] = final
        else:
            first = not slot.get("late") and slot["told"] is None
            past = {label for label in decision.super_arm if self.began.get(label, 0) > slot["time"]}
            news = {label: value for label, value in told.items() if label not in slot["all"] and label not in past}
            self.line.append({"decision": decision, "told": news, "closed": True, "round": first, "off": past})
            slot["late"] = True
        slot["all"] |= told
        self.move()

    def move(self):
        while self.line and (self.line[0]["closed"] or len(self.line) > self.reorder):
            self.gone.append(self.line.pop(0))

    def policy(self, policy):
        policy.start(PROBLEM)
        for slot in self.gone + self.line:
            here = policy.problem
            if "problem" in slot:
                known = [label if label not in slot["begun"] else None for label in slot["problem"].labels]
                origin = [here.index(label) if label in here.labels else -1 for label in known]
                policy = policy.rebase(slot["problem"], origin)
            elif slot["told"] is not None:
                told = {label: value for label, value in slot["told"].items() if label in here.labels}
                labels = [label for label in slot["decision"].super_arm if label in here.labels]
                labels = sorted(set(labels) - slot["off"], key=here.index)
                if slot["round"]:
                    labels.sort(key=lambda label: label not in told)
                    arms = np.array([here.index(label) for label in labels], dtype=np.int64)
                    policy._take_in(arms, np.array([told.get(label, 0.0) for label in labels]), len(told))
                else:
                    for label in sorted(told, key=here.index):
                        policy.absorb(here.index(label), np.array([told[label]]))
        return policy


def run_steps(storage, steps, policy, reorder):
    """Drive a study by generated steps beside the model; both see only what the study accepted."""
    clock, model = Clock(), Model(reorder)
    rb.studies.delete("s", storage=storage)
    study = make(storage, policy(), reorder=reorder, expires=timedelta(seconds=10), clock=clock)
    asked, closed, pieces = [], set(), {}
    for step in steps:
        if step[0] == "ask":
            before = study.indices().tolist()
            for decision in study.ask(step[1]):
                asked.append(decision)
                model.ask(decision)
            # Asking teaches nothing (samples aside, which are drawn for the next decision).
            assert isinstance(study.policy, rb.SWCTS) or study.indices().tolist() == before
        elif step[0] == "wait":
            clock.time += step[1]
        elif step[0] == "reopen":
            study = rb.studies.open("s", storage=storage, clock=clock)
        elif step[0] == "snapshot":
            study._log._snapshot_seq = -(10**9)
        elif step[0] == "reset":
            study.reset([ARMS[step[1]]])
            model.control(model.problem, [ARMS[step[1]]])
        elif step[0] == "problem":
            problem = SMALLER if step[1] else PROBLEM
            study.set_problem(problem)
            model.control(problem, set(problem.labels) - set(model.problem.labels))
        elif asked:
            final = step[0] == "tell"
            decision = asked[step[1] % len(asked)]
            some = {
                label: value
                for place, (label, value) in enumerate(outcomes_for(decision).items())
                if step[2] >> place & 1
            }
            expired = clock.time >= decision.expires_at
            told = pieces.setdefault(decision.id, [])
            whole = {label: value for part in told for label, value in part.items()}
            if decision.id in closed and some == whole:
                # All the pieces of a closed decision in one.
                assert study.tell(decision.id, some, final=final) is False
            elif some in told and (decision.id in closed or not final):
                assert study.tell(decision.id, some, final=final) is False
            elif decision.id in closed:
                with pytest.raises(rb.AlreadyToldError):
                    study.tell(decision.id, some, final=final)
            elif expired:
                with pytest.raises(rb.ExpiredError):
                    study.tell(decision.id, some, final=final)
            else:
                assert study.tell(decision.id, some, final=final) is True
                told.append(some)
                if final:
                    closed.add(decision.id)
                model.tell(decision, some, final)
    wanted = model.policy(policy())
    for seen in (study, rb.studies.open("s", storage=storage, clock=clock)):
        found = seen.policy
        wanted.rng = found.rng = np.random.default_rng(1)
        assert seen.plays() == dict(zip(wanted.problem.labels, wanted.plays.tolist(), strict=True))
        assert found.plays.tolist() == wanted.plays.tolist()
        assert found.round == wanted.round
        assert found.indices().tolist() == wanted.indices().tolist()


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    storage = f"sqlite:///{tmp_path_factory.mktemp('property')}/studies.db"
    make(storage)
    return storage


@pytest.mark.parametrize("name", ["crucb", "coarse", "horizon", "measuring", "sw-cucb", "sw-cts"])
@QUICK
@given(steps=STEPS)
def test_any_interleaving_leaves_what_the_same_tells_in_order_leave(shared, name, steps):
    run_steps(shared, steps, POLICIES[name], reorder=1_000)


@QUICK
@given(steps=STEPS, reorder=st.integers(1, 6))
def test_beyond_the_reorder_limit_a_tell_counts_where_it_arrives(shared, steps, reorder):
    run_steps(shared, steps, POLICIES["crucb"], reorder=reorder)


def test_super_arm_policies_are_told_in_order_too(storage):
    study, plain = make(storage, rb.SWUCB(window=3)), rb.SWUCB(window=3)
    plain.start(PROBLEM)
    decisions = study.ask(8)
    for decision in reversed(decisions):
        study.tell(decision, outcomes_for(decision))
    for decision in decisions:
        arms = np.sort(PROBLEM.arms_of(decision.super_arm))
        plain.observe(arms, [outcomes_for(decision)[label] for label in PROBLEM.labels_of(arms)])
    assert study.indices().tolist() == plain.indices().tolist()


def test_decisions_can_be_kept_in_sets(storage):
    study = make(storage)
    held = {*study.ask(3), *study.open_decisions()}
    assert sorted(decision.id for decision in held) == [1, 2, 3]


def test_open_decisions_cover_different_arms(storage):
    study = make(storage, problem=rb.problems.TopK(8, k=2))
    arms = [label for decision in study.ask(8) for label in decision.super_arm]
    assert sorted(arms) == sorted(2 * list(range(8)))
    assert len(study.open_decisions()) == 8


def recounted(study, count, now):
    """The next decisions by the obvious way: list what is open from the log alone, count it anew for each of them."""
    fresh = rb.studies.open("s", storage=str(study._log.storage.url), clock=lambda: now)
    with fresh._log.look() as (fold, _):
        policy, problem, keys = fold.live.policy.copy(), fold.arms.problem, fold.arms.keys
        since, first = now - fresh.settings.expires, fold.decisions + 1
        held = [entry for entry in fold.waiting.values() if entry.values is None and entry.asked_at > since]
        held = [np.array(sorted(keys.index(key) for key in entry.arms if key in keys)) for entry in held]
        held = [arms for arms in held if arms.size and problem.oracle.is_feasible(arms)]

    def expected():
        plays = policy.plays
        for arms in held:
            units = [list(map(bytes, policy._sets)).index(bytes(arms))] if isinstance(policy, rb.SWUCB) else arms
            plays[units] += 1
        return plays

    policy._expected = expected
    chosen = []
    for number in range(first, first + count):
        policy.rng = fresh.settings.rng(number)
        held.append(policy.select(underway=list(held)))
        chosen.append(problem.labels_of(problem.ordered(held[-1])))
    return chosen


@pytest.mark.parametrize("name", ["crucb", "sw-ucb"])
@QUICK
@given(steps=STEPS)
def test_decisions_are_those_of_counting_everything_open_anew(shared, name, steps):
    clock = Clock()
    rb.studies.delete("s", storage=shared)
    study = make(shared, POLICIES[name](), reorder=20, expires=timedelta(seconds=10), clock=clock)
    asked = []
    for step in steps:
        if step[0] == "ask":
            wanted = recounted(study, step[1], clock.time)
            decisions = study.ask(step[1])
            assert [decision.super_arm for decision in decisions] == wanted
            asked += decisions
        elif step[0] == "wait":
            clock.time += step[1]
        elif step[0] == "reset":
            study.reset([ARMS[step[1]]])
        elif step[0] == "problem":
            study.set_problem(SMALLER if step[1] else PROBLEM)
        elif step[0] == "reopen":
            study = rb.studies.open("s", storage=shared, clock=clock)
        elif step[0] == "snapshot":
            study._log._snapshot_seq = -(10**9)
        elif asked:
            decision = asked[step[1] % len(asked)]
            with contextlib.suppress(rb.InputError):
                study.tell(decision, outcomes_for(decision), final=step[0] == "tell")


def test_what_is_open_is_looked_at_once(storage, monkeypatch):
    """Feasibility is slow to find out: once per open decision and problem, not at every ask; nor for each of many."""
    study = make(storage, problem=rb.problems.TopK(60, k=2))
    looked = []
    oracle = type(study.problem.oracle)
    monkeypatch.setattr(oracle, "is_feasible", lambda _, arms: looked.append(arms) is None)
    study.ask(20)
    study.ask()
    assert looked == []
    study.set_problem(rb.problems.TopK(61, k=2))
    for _ in range(5):
        study.ask(5)
    assert len(looked) == 21


def test_what_was_told_is_put_in_order_once(storage, monkeypatch):
    """A tell out of order makes the policy learn later ones again, which must not prepare them again."""
    study = make(storage)
    decisions = study.ask(30)
    prepared = []
    ascending = study_arms.Arms.ascending
    monkeypatch.setattr(study_arms.Arms, "ascending", lambda self, keys: prepared.append(keys) or ascending(self, keys))
    for decision in decisions[::-1]:
        study.tell(decision, outcomes_for(decision))
        assert study.policy.round > 1
    assert len(prepared) == 30


def test_open_decisions_beyond_the_limit_are_counted(storage):
    study = make(storage, problem=rb.problems.TopK(["a", "b", "c"], k=2), reorder=3)
    held = study.ask(8)
    assert (len(study.open_decisions()), study.unlisted) == (3, 5)
    study.tell(held[0], {"a": 0.5}, final=False)
    assert (len(study.open_decisions()), study.unlisted) == (2, 6)
    study.tell(held[0], {"a": 0.5})
    study.tell(held[7], {})
    study._log._snapshot_seq = -(10**9)
    study.restore(["a"])
    opened = rb.studies.open("s", storage=storage)
    assert [(len(seen.open_decisions()), seen.unlisted) for seen in (study, opened)] == [(0, 6), (0, 6)]
    assert study.tell_many([(decision, {}) for decision in held[1:7]]) == [True] * 6
    assert study.unlisted == 0


@pytest.mark.parametrize("resolution", [None, 4])
def test_a_live_policy_made_of_the_last_one_is_the_policy_of_the_log(tmp_path, resolution):
    """Tells in any order, partial ones and changes of the arms: what decides is what the log alone gives."""
    problem, rng = rb.problems.TopK(list("abcdefgh"), k=2), random.Random(5)
    storage = f"sqlite:///{tmp_path}/s.db"
    policy = rb.CRUCB(sigma=0.1, resolution=resolution)
    study = rb.studies.create("s", problem, policy, storage=storage, seed=1, reorder=12)
    waiting = study.ask(6)
    for step in range(150):
        decision = waiting.pop(rng.randrange(len(waiting)))
        told = rng.sample(decision.super_arm, rng.choice((1, 2, 2)))
        study.tell(decision, {label: rng.random() for label in told})
        if step % 40 == 20:
            study.reset([rng.choice("abcdefgh")])
        if step % 50 == 30:
            study.import_plays([("c", 1, 0.25), ("c", 2, 0.5)])
        waiting.append(study.ask())
        if step % 10 == 0:
            known = study.policy.state()
            study._log.forget()
            assert study.policy.state() == known
