"""What the page draws is kept between starts, and is always what the log says."""

from __future__ import annotations

import random

import msgspec
import pytest
from service_kit import PROBLEM, make

import rising_bandits as rb
from rising_bandits.serve import kept
from rising_bandits.serve.chronicle import Chronicle
from rising_bandits.serve.kept import Chronicles
from rising_bandits.studies.scales import Range


def play(study, rounds, seed=1):
    drawn = random.Random(seed)
    for _ in range(rounds):
        decision = study.ask()
        if drawn.random() < 0.9:
            first, *others = decision.super_arm
            if drawn.random() < 0.3:
                study.tell(decision, {first: drawn.random()}, final=False)
            study.tell(decision, {arm: drawn.random() for arm in others})


def followed(found, study):
    """Whether a chronicle has read all of the log, and says what the log says."""
    made, left = found
    return left == 0 and kept._encode(made) == kept._encode(fresh(study))


def fresh(study):
    """The chronicle of a study, from its whole log at once."""
    made = Chronicle.of(study)
    assert made.follow(study) == 0
    return made


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "EVERY", 10)
    return tmp_path / "pages"


def test_a_kept_chronicle_is_the_one_of_the_log(storage, folder):
    study = make(storage)
    play(study, 30)
    assert followed(Chronicles(folder, 4).of(study), study)
    (path,) = folder.iterdir()
    assert (path.stat().st_mode & 0o077) == 0
    # Another process writes while no service runs; a service that starts reads only what is new.
    other = rb.studies.open("routes", storage=storage)
    play(other, 12, seed=2)
    other.reset(["a->b"])
    play(other, 3, seed=3)
    again = Chronicles(folder, 4)
    assert again._load(study).seq > 60
    assert followed(again.of(study), study)
    # It goes on from there.
    play(study, 7, seed=4)
    assert followed(again.of(study), study)


@pytest.mark.parametrize("damage", [lambda data: data[:-3], lambda data: b"", lambda data: data[:60] + b"x" * 40])
def test_a_damaged_file_is_passed_over(storage, folder, damage):
    study = make(storage)
    play(study, 20)
    Chronicles(folder, 4).of(study)
    (path,) = folder.iterdir()
    path.write_bytes(damage(path.read_bytes()))
    assert Chronicles(folder, 4)._load(study) is None
    assert followed(Chronicles(folder, 4).of(study), study)


def test_a_file_of_another_log_is_passed_over(storage, folder, tmp_path):
    study = make(storage)
    play(study, 20)
    Chronicles(folder, 4).of(study)
    study.close()
    # A study of the same name and number, in a file of the same name.
    for suffix in ("", "-wal", "-shm"):
        (tmp_path / f"studies.db{suffix}").unlink(missing_ok=True)
    study = make(storage)
    play(study, 30, seed=9)
    assert Chronicles(folder, 4)._load(study) is None
    assert followed(Chronicles(folder, 4).of(study), study)


def test_another_scale_begins_anew(storage, folder):
    study = rb.studies.create("routes", PROBLEM, rb.CRUCB(sigma=0.1), storage=storage, scale=Range(0, 2, unit="s"))
    play(study, 80)
    held = Chronicles(folder, 4)
    assert _values(held.of(study)[0]) == pytest.approx(study.history()["outcome"].sum() / 2.0)
    study.set_scale(Range(0, 4, unit="s"))
    assert followed(held.of(study), study)
    assert followed(Chronicles(folder, 4).of(study), study)
    assert _values(fresh(study)) == pytest.approx(study.history()["outcome"].sum() / 4.0)


def _values(found):
    """The sum of all values that a chronicle holds."""
    return sum(bucket[3] for curve in found.curves.values() for bucket in curve.buckets)


def test_a_long_log_is_read_in_parts(storage, client, monkeypatch):
    study = make(storage)
    play(study, 40)
    monkeypatch.setattr(kept, "AT_ONCE", 25)
    first = client.get("/v1/studies/routes/overview").json()
    assert first["left"] > 0
    assert first["study"]["decisions"] == 40
    left = [first["left"]]
    while left[-1]:
        left.append(client.get("/v1/studies/routes/glance").json()["left"])
    assert left == sorted(left, reverse=True)
    assert len(left) == len(set(left))
    seen = client.get("/v1/studies/routes/overview").json()
    whole = fresh(study)
    assert seen["earned"] == {source: curve.points() for source, curve in whole.earned.items()}
    assert seen["changes"] == msgspec.to_builtins(whole.changes)


def test_outcomes_of_an_arm_that_was_reset_are_not_those_of_the_new_one(storage):
    study = make(storage)
    play(study, 20)
    before = study.ask()
    arm = before.super_arm[0]
    study.reset([arm])
    study.tell(before, dict.fromkeys(before.super_arm, 0.5))
    found = fresh(study)
    plays = {label: found.plays.get(key, 0) for label, key in study.keys().items()}
    assert plays == {each.label: each.plays for each in study.arms()}
    assert plays[arm] == 0
