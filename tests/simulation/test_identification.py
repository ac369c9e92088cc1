"""Best super arm identification: what is best, how recommendations are judged, and the command."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits.curves import Flat, Linear, Noiseless
from rising_bandits.simulation import best_after, error_rate

REWARDS = ["sum", "max", "product"]


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("budget", [1, 20, 500])
def test_the_best_super_arm_is_the_best_of_the_list(reward, budget):
    sets = [[0, 1], [2], [1, 3], [0, 2, 3]]
    problem = rb.Problem(rb.oracles.ExplicitSets(sets), reward)
    curves = (Flat(0.5), Linear(duration=30, end=0.9), Flat(0.8), Linear(duration=400, end=1.0))
    task = rb.Task("listed", problem, curves, 100, Noiseless())
    means = np.array([curve([budget - 1])[0] for curve in curves])
    worth = [{"sum": np.sum, "max": np.max, "product": np.prod}[reward](means[arms]) for arms in sets]
    best, value = best_after(task, budget)
    assert value == pytest.approx(max(worth))
    assert worth[[sorted(arms) for arms in sets].index(best.tolist())] == pytest.approx(max(worth))


def test_a_recommendation_is_judged_by_the_means_at_the_end_of_the_budget():
    task = rb.Task("two", rb.problems.TopK(2, k=1), (Flat(0.6), Linear(duration=100, end=0.9)), 200, Noiseless())
    for arm, wanted in ((0, False), (1, True)):
        found = rb.identify(task, rb.Oracle(super_arm=[arm]), compiled=False)
        assert found.correct == wanted
        assert found.simple_regret == pytest.approx(0.0 if wanted else 0.3)
    # With 50 rounds the second arm is not yet better.
    assert rb.identify(task, rb.Oracle(super_arm=[0]), budget=50, compiled=False).correct
    found = [rb.identify(task, rb.Oracle(super_arm=[arm]), compiled=False) for arm in (0, 1, 1, 1)]
    rate = error_rate(found)
    assert (rate.errors, rate.probability) == (1, 0.25)
    assert rate.simple_regret == pytest.approx(0.075)
    assert rate.low < 0.25 < rate.high


@pytest.mark.parametrize("policy", [rb.policies.RUCBE, rb.policies.RSR])
def test_rising_arms_are_found_where_means_of_all_plays_fail(policy):
    curves = (Flat(0.6), Flat(0.5), Linear(duration=150, end=0.9))
    task = rb.Task("late", rb.problems.TopK(3, k=1), curves, 900, Noiseless())
    found = rb.identify(task, policy(**({"sigma": 0.01} if policy is rb.policies.RUCBE else {})), compiled=False)
    assert found.super_arm.tolist() == [2]
    assert found.correct
    assert found.plays.sum() == 900


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: rb.identify(t, object()), "policy must have a method recommend"),
        (lambda t: rb.identify(t, rb.Random(), 50, compiled=False), "Random does not recommend"),
        (lambda t: rb.identify(t, rb.CRUCB(), budget=0), "budget must be an integer of at least 1"),
        (lambda t: best_after(rb.tasks.get("antmaze-easy"), 10), "task must not have cascading feedback"),
        (lambda t: error_rate([]), "found must be a list of at least one result"),
        (lambda t: rb.tasks.get("identify-dogs"), "must name one of the 2 members"),
    ],
)
def test_wrong_input_is_refused(call, message):
    with pytest.raises(rb.InputError, match=message):
        call(rb.tasks.get("identify-models@200"))


def test_the_command_prints_tables_and_json_and_draws(run, capsys, tmp_path):
    arguments = ["identify", "identify-models", "--policy", "r-sr", "--budget", "60", "--seeds", "2"]
    assert run(*arguments, "--plot", tmp_path) == 0
    text = capsys.readouterr().out
    assert "error probability" in text
    assert (tmp_path / "identify-models.png").stat().st_size > 10_000
    assert run(*arguments, "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["policy"], row["budget"], row["runs"]) == ("r-sr", 60, 2)
    # A grid is several policies, and seeds may be a range.
    grid = ["identify", "identify-models", "--policy", "r-ucbe(exploration=[1, 9])", "--budget", "60", "--seeds", "7-8"]
    assert run(*grid, "--json") == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["policy"], row["runs"]) for row in rows] == [
        ("r-ucbe(exploration=1)", 2),
        ("r-ucbe(exploration=9)", 2),
    ]
    assert run("identify", "identify-models", "--policy", "random", "--budget", "60", "--seeds", "1") == 2


def test_every_policy_is_listed_with_its_parameters(run, capsys):
    assert run("policies", "--json") == 0
    rows = {row["policy"]: row for row in json.loads(capsys.readouterr().out)["policies"]}
    assert list(rows) == rb.policies.names()
    assert rows["crucb"]["parameters"]["epsilon"] == 0.125
    assert rows["r-sr"]["acts_on"] == "super arms"
    assert all(row["description"].endswith(".") and ":math:" not in row["description"] for row in rows.values())
    assert run("policies") == 0
    assert "explore-then-commit" in capsys.readouterr().out
