"""A study that was written before the engines were rebuilt opens, and goes on as it did."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import rising_bandits as rb

DATA = Path(__file__).parents[1] / "data"
RECORDED = json.loads((DATA / "study-1.json").read_text())


def value(label, number):
    return round(0.3 + 0.5 * ((sum(map(ord, label)) * 31 + number * 17) % 101) / 101, 6)


def check(study):
    assert [float(index).hex() for index in study.policy.indices()] == RECORDED["indices"]
    history = study.history()
    assert [[row.arm, int(row.play), row.outcome] for row in history.itertuples()] == RECORDED["history"]
    chosen = []
    for _ in RECORDED["next"]:
        decision = study.ask()
        chosen.append(decision.super_arm)
        study.tell(decision.id, {label: value(label, decision.id) for label in decision.super_arm})
    assert chosen == RECORDED["next"]


def test_its_database_opens_and_goes_on(tmp_path):
    shutil.copy(DATA / "study-1.db", tmp_path / "study.db")
    with rb.studies.open("routes", storage=f"sqlite:///{tmp_path}/study.db") as study:
        check(study)


def test_its_log_is_loaded_and_goes_on(tmp_path):
    with rb.studies.load(DATA / "study-1.jsonl", storage=f"sqlite:///{tmp_path}/new.db") as study:
        check(study)
