"""A study notices arms that fall and outcomes that contradict sigma, says so, and resets arms if it is told to."""

from __future__ import annotations

import json
import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import rising_bandits as rb
from rising_bandits.cli.app import app
from rising_bandits.studies.log.entries import Entry
from rising_bandits.studies.log.watch import BLOCK, MOST, RECENT, Watch
from rising_bandits.theory.falls import fall
from rising_bandits.theory.noise import Steps, contradiction

PROBLEM = rb.problems.TopK(["ann", "bob"], k=1)


@pytest.fixture
def storage(tmp_path):
    return f"sqlite:///{tmp_path}/s.db"


def play(study, outcomes, label="ann"):
    """Plays of one arm, as decisions that were made elsewhere."""
    with study.group():
        for outcome in outcomes:
            study.record([label], {label: outcome}, source="today")


def falls_said(caplog):
    return [record.message for record in caplog.records if "has fallen" in record.message]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 900), st.integers(0, 600), st.integers(0, 2**32))
def test_blocks_are_the_test_on_the_outcomes_themselves(before, after, seed):
    rng = np.random.default_rng(seed)
    outcomes = [*(rng.random(before) < 0.8).astype(float), *(rng.random(after) < 0.3).astype(float)]
    watch = Watch()
    entry = Entry(1, values={})
    seen, steps = None, Steps()
    for number, outcome in enumerate(outcomes, start=1):
        entry.values = {0: outcome}
        watch.take(entry, {}, 3, None)
        if number % 37 == 0:
            # When they are counted makes no difference.
            watch.count()
        steps.add(outcome)
        if number % 37:
            continue
        blocks = watch.blocks[0]
        parts = np.array(outcomes[: len(blocks.sums) * blocks.size]).reshape(-1, blocks.size)
        assert blocks.sums == pytest.approx(parts.sum(axis=1))
        assert len(parts) < MOST
        assert parts.size + blocks.count + len(blocks.waiting) == number
    watch.count()
    assert watch.steps()[0].dump() == pytest.approx(steps.dump()) if outcomes else not watch.blocks
    size = BLOCK
    for whole in range(BLOCK, len(outcomes) + 1, BLOCK):
        known = np.array(outcomes[:whole])
        parts = np.split(known, range(size, whole, size))
        full = len(parts[-1]) == size
        recent, newest = np.concatenate(parts[-RECENT - (not full) :]), parts[-1].mean()
        far = len(parts[-1]) * (recent.mean() - newest) ** 2 >= 9 * recent.var() - 1e-12 and newest <= recent.mean()
        if max(known.mean(), recent.mean()) - newest > 1e-9 and (full or (seen is None and far)):
            means, squares = [part.mean() for part in parts], [(part**2).mean() for part in parts]
            ends = (known.min(), known.max())
            seen = fall(means, counts=[*map(len, parts)], squares=squares, ends=ends, arms=3) or seen
        size *= 2 if full and len(parts) == MOST else 1
    assert (seen is None) == (0 not in watch.fallen)
    if seen is not None:
        now = watch.fallen[0]
        assert (now.since, now.plays) == (seen.since, seen.plays)
        assert (now.before, now.after, now.chance) == pytest.approx((seen.before, seen.after, seen.chance))


def test_a_fall_is_said_once_and_listed(storage, caplog):
    study = rb.studies.create("s", PROBLEM, storage=storage, seed=1)
    with caplog.at_level(logging.WARNING, "rising_bandits.studies"):
        play(study, [0.9] * 64)
        assert study.fallen() == []
        play(study, [0.2] * 64)
        play(study, [0.2] * 64)
    assert len(falls_said(caplog)) == 1
    (change,) = study.fallen()
    assert (change.label, change.since, change.reset_at) == ("ann", 65, None)
    assert (change.before, change.after) == pytest.approx((0.9, 0.2))
    assert study.ask().id == 193
    assert study.plays()["ann"] == 192
    # Others who open the study know it too, and the log alone suffices.
    with rb.studies.open("s", storage=storage) as other:
        assert other.fallen() == [change]
    study.set_falls("ignore")
    study.reset(["ann"])
    assert study.fallen() == []


def test_each_process_says_it_once(storage, caplog):
    study = rb.studies.create("s", PROBLEM, storage=storage, seed=1)
    other = rb.studies.open("s", storage=storage)
    with caplog.at_level(logging.WARNING, "rising_bandits.studies"):
        # They take turns, so that each of them learns half of the outcomes from the log.
        for number in range(192):
            play((study, other)[number % 2], [0.9 if number < 64 else 0.2])
    assert len(falls_said(caplog)) == 2
    assert study.fallen() == other.fallen()


def test_a_rising_arm_is_left_alone(storage, caplog):
    study = rb.studies.create("s", PROBLEM, storage=storage, seed=1, falls="reset")
    rng = np.random.default_rng(0)
    with caplog.at_level(logging.WARNING, "rising_bandits.studies"):
        play(study, (rng.random(1500) < np.linspace(0.1, 0.9, 1500)).astype(float))
    study.ask()
    assert study.fallen() == []
    assert falls_said(caplog) == []


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_the_next_ask_resets_an_arm_that_fell(storage, caplog, tmp_path, suffix):
    scale = rb.studies.Range(0, 200, lower_is_better=True, unit="ms")
    study = rb.studies.create("s", PROBLEM, storage=storage, seed=1, scale=scale, falls="reset")
    play(study, [20.0] * 64)
    waiting = study.ask()
    with caplog.at_level(logging.WARNING, "rising_bandits.studies"):
        play(study, [180.0] * 64)
        # What is after an open decision is not settled yet.
        assert study.fallen() == []
        study.tell(waiting, dict.fromkeys(waiting.super_arm, 20.0))
        # Another process asks.
        with rb.studies.open("s", storage=storage) as other:
            decision = other.ask()
        assert study.plays()["ann"] == 0
    assert len(falls_said(caplog)) == 2
    assert "the study has reset it" in falls_said(caplog)[1]
    (change,) = study.fallen()
    assert change.label == "ann"
    assert (change.before, change.after) == pytest.approx((20.0, 180.0))
    assert change.reset_at is not None
    assert sum(event.kind == "reset" for event in study.events()) == 1
    study.ask()
    assert sum(event.kind == "reset" for event in study.events()) == 1
    # The same from a file, and after another scale, which reads the log again.
    study.export(tmp_path / f"s.{suffix}")
    with rb.studies.load(tmp_path / f"s.{suffix}", storage=f"sqlite:///{tmp_path}/t.db") as again:
        assert again.fallen() == [change]
        assert again.settings.falls == "reset"
        assert again.indices().tolist() == study.indices().tolist()
    study.set_scale(rb.studies.Range(0, 400, lower_is_better=True, unit="ms"))
    assert study.fallen()[0].since == change.since
    assert decision.id == 130


def test_outcomes_from_before_a_reset_do_not_count(storage):
    study = rb.studies.create("s", PROBLEM, storage=storage, seed=1)
    first = study.ask()
    play(study, [0.9] * 64)
    # Not settled, as the first decision is open: these come before the reset in the order.
    study.reset(["ann"])
    play(study, [0.2] * 64)
    study.tell(first, {})
    assert study.fallen() == []
    assert study.plays()["ann"] == 64


def test_wrong_settings_and_policies_that_cannot_forget_are_refused(storage):
    with pytest.raises(rb.InputError, match="falls must be one of"):
        rb.studies.create("s", PROBLEM, storage=storage, falls="never")
    study = rb.studies.create("s", PROBLEM, storage=storage, seed=1)
    with pytest.raises(rb.InputError, match="falls must be one of"):
        study.set_falls(None)
    assert study.settings.falls == "propose"
    fixed = rb.Oracle(super_arm=[0])
    with pytest.raises(rb.InputError, match="cannot change its problem"):
        rb.studies.create("fixed", PROBLEM, fixed, storage=storage, falls="reset")
    # A policy that is set later does not end the asks.
    study.set_falls("reset")
    study.set_policy(fixed)
    play(study, [0.9] * 64 + [0.2] * 64)
    assert study.ask().super_arm == ["ann"]
    assert [change.reset_at for change in study.fallen()] == [None]


def test_a_contradicted_sigma_is_said_once_and_found_without_the_log(storage, caplog):
    study = rb.studies.create("s", PROBLEM, rb.CRUCB(sigma=0.01), storage=storage, seed=1)
    rng = np.random.default_rng(3)
    outcomes = (rng.random(203) < 0.5).astype(float).tolist()
    with caplog.at_level(logging.WARNING, "rising_bandits.studies"):
        play(study, outcomes)
    assert sum("contradict sigma" in record.message for record in caplog.records) == 1
    steps = Steps()
    for outcome in outcomes:
        steps.add(outcome)
    assert str(study.contradiction()) == str(contradiction({"ann": steps}, 0.01, 2))
    study.set_policy(rb.CRUCB(sigma=0.5))
    assert study.contradiction() is None
    assert Watch.load(json.loads(json.dumps(study._log._fold.watch.dump()))).dump() == study._log._fold.watch.dump()


def test_the_shell_shows_what_was_noticed(storage, caplog):
    def rising(*arguments):
        result = CliRunner().invoke(app, ["study", *arguments, "--storage", storage])
        assert result.exit_code == 0, result.output
        return result.output

    rising("create", "s", "--arms", "ann,bob", "--k", "1", "--policy", "crucb(sigma=0.001)", "--falls", "ignore")
    with rb.studies.open("s", storage=storage) as study:
        play(study, [0.9, 0.8] * 32 + [0.2] * 64)
    assert sum("contradict sigma" in record.message for record in caplog.records) == 1
    assert falls_said(caplog) == []
    shown = rising("show", "s")
    assert "note: ann has fallen since play 65" in shown
    assert "note: outcomes contradict sigma = 0.001" in shown
    rising("set-falls", "s", "reset")
    rising("ask", "s")
    assert "the study has reset it at" in rising("show", "s")
    said = json.loads(rising("show", "s", "--json"))
    assert said["falls"] == "reset"
    assert said["fallen"][0]["label"] == "ann"
    assert said["contradiction"] is None
