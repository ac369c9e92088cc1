"""Each warning of the page is made to happen, and does not come without its reason."""

from __future__ import annotations

import random
import warnings

import pytest

import rising_bandits as rb
from rising_bandits.studies.scales import Range

TEAM = rb.problems.TopK(["ann", "bob"], k=1)


def play(storage, outcome, rounds, policy, **options):
    """A study in which both arms are used in turn; ``outcome`` gives the outcome of an arm's play."""
    study = rb.studies.create("team", TEAM, policy, storage=storage, seed=1, **options)
    with study.group(), warnings.catch_warnings():
        # The policy itself warns of a wrong sigma, too.
        warnings.simplefilter("ignore")
        for number in range(rounds):
            arm = ["ann", "bob"][number % 2]
            study.record([arm], {arm: outcome(arm, number // 2)}, source="turns")
    return study


def said(client):
    found = client.get("/v1/studies/team/glance").json()["warnings"]
    assert client.get("/v1/studies/team/overview").json()["warnings"] == found
    return found


@pytest.mark.parametrize(("sigma", "doubted"), [(0.01, True), (0.5, False)])
def test_outcomes_that_contradict_sigma(storage, client, sigma, doubted):
    drawn = random.Random(1)
    play(storage, lambda arm, number: float(drawn.random() < 0.5), 80, rb.CRUCB(sigma=sigma))
    assert any(f"contradict sigma = {sigma:g}" in text for text in said(client)) == doubted


@pytest.mark.parametrize(("horizon", "passed"), [(19, True), (21, False)])
def test_a_horizon_that_has_passed(storage, client, horizon, passed):
    study = play(storage, lambda arm, number: 0.5, 20, rb.HorizonCRUCB(), horizon=horizon)
    assert study.policy.round == 21
    wanted = f"the horizon of {horizon} rounds has passed (round 21)"
    assert (wanted in said(client)) == passed


def test_a_horizon_that_has_passed_is_still_said_after_the_study_goes_on_without_one(storage, client):
    study = play(storage, lambda arm, number: 0.5, 20, rb.HorizonCRUCB(), horizon=19)
    with pytest.warns(UserWarning, match="has passed"):
        study.ask()
    assert study.settings.horizon is None
    assert [text for text in said(client) if "the horizon of 19 rounds has passed" in text] == said(client)
    study.set_horizon(100)
    assert said(client) == []


def test_decisions_that_were_never_told(storage, client):
    study = rb.studies.create("team", TEAM, rb.CRUCB(sigma=0.5), storage=storage, seed=1, reorder=2)
    study.ask(3)
    assert said(client) == ["1 decision before the newest 2 without a final tell"]
    study.set_expiry(0.001)
    assert said(client) == ["3 decisions expired without a final tell"]


def falling(arm, number):
    """Ann drops after 40 plays; bob goes on."""
    return (0.85 if arm == "bob" or number < 40 else 0.05) + 0.02 * ((number * 7) % 5)


def rising(arm, number):
    return min(0.9, 0.2 + number / 200) + 0.02 * ((number * 7) % 5)


@pytest.mark.parametrize(("outcome", "dropped"), [(falling, True), (rising, False)])
@pytest.mark.parametrize("lower_is_better", [False, True])
def test_an_arm_that_dropped(storage, client, outcome, dropped, lower_is_better):
    scale = Range(0, 100, lower_is_better=lower_is_better, unit="ms")

    def in_unit(arm, number):
        value = outcome(arm, number)
        return 100 * (1 - value) if lower_is_better else 100 * value

    study = play(storage, in_unit, 200, rb.CRUCB(sigma=0.5), scale=scale)
    assert [text.split()[0] for text in said(client)] == ["ann"] * dropped
    assert said(client) == [str(change) for change in study.fallen()]


def test_doubts_and_falls_are_those_of_the_library(storage, client):
    study = play(storage, lambda arm, number: float((number < 30) != (number % 20 == 7)), 240, rb.CRUCB())
    study.reset(["bob"])
    study.import_plays([("bob", number, float(number % 2)) for number in range(1, 31)])
    assert len(study.fallen()) == 1
    assert said(client) == [str(study.contradiction()), *map(str, study.fallen())]


def test_arms_that_are_retired(storage, client):
    study = play(storage, lambda arm, number: 0.5, 4, rb.CRUCB(sigma=0.5))
    assert said(client) == []
    study.retire(["bob"])
    assert said(client) == ["retired: bob"]


def test_the_menu_of_policies_is_that_of_the_library(client):
    found = {each["name"]: each for each in client.get("/v1/policies").json()["policies"]}
    assert found["crucb"]["parameters"]["epsilon"] == rb.CRUCB().epsilon
    assert "1/2" in found["crucb"]["help"]["epsilon"]
    for name, about in found.items():
        # Every entry can be chosen with its defaults.
        rb.policies.by_name(name, **about["parameters"])
