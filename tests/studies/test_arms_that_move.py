"""Arms that retire, return or begin anew, new problems, imported plays, and code of the user's own."""

from __future__ import annotations

import math

import numpy as np
import pytest
from study_kit import POLICIES, PROBLEM, ROADS, log_of, make, outcomes_for

import rising_bandits as rb


def test_imported_plays_are_the_newest_and_count_each_time(storage):
    study = make(storage, problem=rb.problems.TopK(["a"], k=1))
    study.tell(study.ask(), {"a": 0.5})
    for _ in range(2):
        study.import_plays([("a", 0, 0.25)])
    assert study.history()["outcome"].tolist() == [0.5, 0.25, 0.25]
    assert study.policy.plays.tolist() == [3]
    assert study.plays() == {"a": 3}


def test_other_names_of_an_arm_are_understood(storage):
    study = make(storage, problem=rb.problems.ShortestPath(ROADS[:4], "a", "d"))
    assert study.tell(study.ask(), {("a", "b"): 0.5, "b->d": 0.25})
    assert study.policy.plays.tolist() == [1, 0, 1, 0]


def test_labels_of_every_plain_kind_survive(storage):
    labels = ["text", 3, ("pair", 1), 2.5, None]
    study = make(storage, problem=rb.problems.TopK(labels, k=5))
    assert study.tell(study.ask(), dict.fromkeys(labels, 0.5))
    assert rb.studies.open("s", storage=storage).ask().super_arm == labels


def test_masks_hold_for_one_decision_and_retirement_until_restored(storage):
    study = make(storage)
    for _ in range(5):
        assert "a->b" not in study.ask(unavailable=["a->b"]).super_arm
    with pytest.raises(rb.InfeasibleError):
        study.ask(unavailable=["a->b", "a->c"])
    study.retire([("a", "c")])
    assert study.retired == ["a->c"]
    again = rb.studies.open("s", storage=storage)
    assert all("a->c" not in decision.super_arm for decision in again.ask(5))
    with pytest.raises(rb.InputError, match=r"leave a feasible super arm"):
        study.retire(["a->b"])
    study.restore(["a->c"])
    assert study.retired == []
    with pytest.raises(rb.InputError, match=r"unavailable must be a list of labels"):
        study.ask(unavailable="a->b")


def absorbed(problem, policy, plays, rounds):
    """The policy that has taken in these plays of each arm and nothing else."""
    policy.start(problem)
    for label, outcomes in plays.items():
        policy.absorb(problem.index(label), np.array(outcomes))
    policy._pass_rounds(rounds)
    return policy


@pytest.mark.parametrize("name", ["crucb", "coarse", "horizon", "sw-cucb"])
def test_reset_new_problem_and_import_have_their_place_in_the_order(storage, name):
    """A late tell of an old decision belongs before the reset; a decision asked for after it belongs after."""
    study = make(storage, POLICIES[name]())
    plays = {label: [] for label in PROBLEM.labels}
    rounds = 0

    def tell(decision, keep=True):
        nonlocal rounds
        told = outcomes_for(decision)
        study.tell(decision, told)
        rounds += 1
        for label, outcome in told.items():
            if keep and label in plays:
                plays[label].append(outcome)

    for _ in range(20):
        tell(study.ask())
    late, later = study.ask(2)
    victim = late.super_arm[0]
    study.reset([victim])
    plays[victim] = []
    tell(study.ask())
    told = outcomes_for(late)
    study.tell(late, told)
    rounds += 1
    expected = {label: list(outcomes) for label, outcomes in plays.items()}
    problem = rb.problems.ShortestPath([*ROADS, ("a", "d", "direct")], "a", "d")
    study.set_problem(problem)
    assert study.problem.labels[-1] == "direct"
    assert study.import_plays([("direct", 0, 0.25), ("direct", 1, 0.5)]) == 2
    rounds += 2
    # The late tell came before the decision that was told first, for all arms that both hold.
    table = study.history()
    for label in PROBLEM.labels:
        after = table[(table["arm"] == label) & ~table["forgotten"]]
        expected[label] = after["value"].tolist()
        assert after["play"].tolist() == list(range(1, len(after) + 1))
    assert len(expected[victim]) <= 1
    wanted = absorbed(problem, POLICIES[name](), {**expected, "direct": [0.25, 0.5]}, rounds)
    for seen in (study, rb.studies.open("s", storage=storage)):
        assert seen.indices().tolist() == wanted.indices().tolist()
        assert seen.policy.round == wanted.round
    # Still open across all of that; its arms that were reset meanwhile are the old ones.
    assert study.tell(later, outcomes_for(later))


def test_arms_that_are_gone_begin_anew_when_they_return(storage):
    study = make(storage, problem=rb.problems.TopK(["x", "y"], k=1))
    for _ in range(6):
        decision = study.ask()
        study.tell(decision, outcomes_for(decision))
    (pending,) = study.ask(1)
    study.set_problem(rb.problems.TopK([label for label in ("x", "y") if label != pending.super_arm[0]], k=1))
    assert study.policy.plays.size == 1
    assert study.tell(pending, {pending.super_arm[0]: 0.5})
    study.set_problem(rb.problems.TopK(["y", "x"], k=1))
    assert study.policy.plays[study.problem.index(pending.super_arm[0])] == 0
    assert study.ask().super_arm == pending.super_arm


def test_super_arm_policies_refuse_what_has_no_meaning_for_them(storage):
    study = make(storage, rb.SWUCB(window=5))
    before = log_of(study)
    with pytest.raises(rb.InputError, match=r"SWUCB cannot learn plays of single base arms"):
        study.import_plays([("a->b", 0, 0.5)])
    assert log_of(study) == before
    study.tell(study.ask(), {})
    study.reset(["a->b"])
    assert study.policy.plays.sum() == 0


def test_a_policy_and_a_problem_of_ones_own(storage):
    class Latest(rb.IndexPolicy):
        name = "latest"

        def index(self, outcomes, t):
            return outcomes[-1]

    class Either(rb.oracles.SuperArmOracle):
        n_arms, max_size = 3, 2

        def best(self, weights):
            return [0] if weights[0] > weights[1] + weights[2] else [1, 2]

        def is_feasible(self, arms):
            return sorted(arms) in ([0], [1, 2])

    problem = rb.Problem(Either(), labels=["solo", "left", "right"])
    study = rb.studies.create("own", problem, Latest(), storage=storage, seed=1)
    study._log._snapshot_seq = -(10**9)
    decisions = study.ask(3)
    for decision in reversed(decisions):
        study.tell(decision, outcomes_for(decision))
    with pytest.raises(rb.InputError, match=r"policy must be passed .* your own class Latest"):
        rb.studies.open("own", storage=storage, problem=problem)
    with pytest.raises(rb.InputError, match=r"problem must be passed to open"):
        rb.studies.open("own", storage=storage, policy=Latest)
    with pytest.raises(rb.InputError, match=r"policy must be a Latest"):
        rb.studies.open("own", storage=storage, policy=rb.CRUCB(), problem=problem)
    again = rb.studies.open("own", storage=storage, policy=Latest, problem=problem)
    assert again.indices().tolist() == study.indices().tolist()
    study.reset(["left"])
    assert np.isinf(study.indices()).tolist() == [False, True, False]


def test_what_a_reward_of_ones_own_fails_on_is_not_written(storage):
    """Else no process could read the log again."""
    reward = rb.Reward("slow", lambda values: 1.0 + math.log(values.min()))
    problem = rb.problems.Explicit([["a"], ["b"]], reward=reward)
    study = make(storage, rb.SWUCB(window=10), problem=problem)
    first, second = study.ask(2)
    study.tell(first, dict.fromkeys(first.super_arm, 0.9))
    with pytest.raises(ValueError, match="math domain error"):
        study.tell(second, dict.fromkeys(second.super_arm, 0.0))
    assert study.policy.round == 2
    again = rb.studies.open("s", storage=storage, problem=problem)
    assert again.indices().tolist() == study.indices().tolist()
    assert again.tell(second.id, dict.fromkeys(second.super_arm, 0.5))
    assert study.policy.round == again.policy.round == 3


def test_a_second_problem_with_code_is_refused_because_the_log_could_not_be_read_again(storage):
    def mine(k, pick):
        return rb.Problem(rb.oracles.KSubsets(3, k), rb.Reward("mine", pick), ["x", "y", "z"])

    one, two = mine(1, lambda values: float(values.sum())), mine(2, lambda values: float(values.max()))
    study = make(storage, problem=one)
    study.tell(first := study.ask(), outcomes_for(first))
    with pytest.raises(rb.InputError, match="problem must not be a second one that contains your own code"):
        study.set_problem(two)
    assert len(study.ask().super_arm) == 1
    # Data, and back to the same one, is fine; and who opens the study says which problem it is.
    study.set_problem(rb.problems.TopK(["x", "y", "z"], k=2))
    assert len(study.ask().super_arm) == 2
    study.set_problem(one)
    assert len(study.ask().super_arm) == 1
    again = rb.studies.open("s", storage=storage, problem=two)
    assert len(again.ask().super_arm) == 2
    assert again.policy.plays.sum() == 1


def test_a_problem_with_code_may_follow_one_without(storage):
    problem = rb.Problem(rb.oracles.KSubsets(2, 1), rb.Reward("mine", lambda values: float(values.sum())), ["x", "y"])
    study = make(storage, problem=rb.problems.TopK(["x", "y"], k=2))
    study.set_problem(problem)
    assert len(rb.studies.open("s", storage=storage, problem=problem).ask().super_arm) == 1


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_outcomes_of_arms_with_numbers_or_tuples_for_labels_come_back_from_a_file(storage, tmp_path, suffix):
    import pandas as pd

    problem = rb.problems.TopK([0, ("a", "b"), "c"], k=3)
    study = make(storage, problem=problem)
    study.tell(first := study.ask(), dict.fromkeys(first.super_arm, 0.5))
    path = study.export_history(tmp_path / f"history.{suffix}")
    table = pd.read_parquet(path) if suffix == "parquet" else pd.read_json(path, lines=True, dtype={"arm": str})
    other = make(storage, problem=problem, name="other")
    assert other.import_plays(table) == 3
    assert other.policy.plays.tolist() == [1, 1, 1]


def test_an_arm_that_no_super_arm_holds_is_never_waited_for(storage):
    problem = rb.Problem(rb.oracles.ExplicitSets([[0], [1]], n_arms=3), labels=["a", "b", "c"])
    study = make(storage, problem=problem)
    assert study.indices().tolist() == [math.inf, math.inf, 1.0]
    before = study.indices().tolist()
    study.ask(6)
    assert study.indices().tolist() == before


def test_a_problem_that_needs_retired_arms_is_refused(storage):
    study = make(storage, problem=rb.problems.TopK(["a", "b", "c"], k=2))
    study.retire(["a"])
    with pytest.raises(rb.InputError, match=r"without the retired arms \['a'\]"):
        study.set_problem(rb.problems.TopK(["a", "q"], k=2))
    assert "a" not in study.ask().super_arm


@pytest.mark.parametrize("gone", ["reset", "problem"])
def test_the_recommended_policy_can_be_saved_after_arms_were_forgotten(storage, gone):
    """What forgotten arms told about the others stays in its state, and is no damage."""
    roads = [("a", "b"), ("b", "d"), ("a", "c"), ("c", "d")]
    with rb.studies.create("f", rb.problems.ShortestPath(roads, "a", "d"), storage=storage, seed=1) as study:
        for part in range(4):
            decision = study.ask()
            study.tell(decision, dict.fromkeys(decision.super_arm, 0.3 + 0.1 * part))
        if gone == "reset":
            study.reset(["a->b", "b->d"])
        else:
            study.set_problem(rb.problems.ShortestPath([*roads[2:], ("a", "e"), ("e", "d")], "a", "d"))
        policy = study.policy
        assert type(policy).from_state(policy.state()).indices().tolist() == policy.indices().tolist()
