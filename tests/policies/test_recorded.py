"""Decisions are those that were recorded before the engines were rebuilt, and states saved then can be read.

``tests/data/decisions.json`` holds hashes of decisions of every policy on every task, made from outcomes that are a
function of arm and play, and the regret of runs without noise; ``states-1.json`` holds states of version 1.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits.curves import Failing, Noiseless
from rising_bandits.problems import recorded

DATA = Path(__file__).parents[1] / "data"
RECORDED = json.loads((DATA / "decisions.json").read_text())
STATES = json.loads((DATA / "states-1.json").read_text())
HORIZON = 3_000
POLICIES = {
    "crucb": lambda: rb.CRUCB(sigma=0.01),
    "crucb-reference": lambda: rb.CRUCB(sigma=0.02, epsilon=0.25, bonus="reference"),
    "crucb-upward": lambda: rb.CRUCB(sigma=0.05, upward=True),
    "crucb-coarse": lambda: rb.CRUCB(sigma=0.01, resolution=8),
    "crucb-coarse-upward": lambda: rb.CRUCB(sigma=0.01, resolution=8, upward=True),
    "horizon-crucb": lambda: rb.HorizonCRUCB(),
    "horizon-crucb-told": lambda: rb.HorizonCRUCB(sigma=0.01, decay=0.3),
    "horizon-crucb-proved": lambda: rb.HorizonCRUCB(sigma=0.01, bonus="proved", decay=0.0),
    "horizon-crucb-anytime": lambda: rb.HorizonCRUCB(ahead=1000, windows=4),
    "r-ed-ucb": lambda: rb.RedUCB(sigma=0.01),
    "r-ed-ucb-coarse": lambda: rb.RedUCB(sigma=0.01, resolution=8),
    "sw-ucb": lambda: rb.SWUCB(),
    "sw-cucb": lambda: rb.SWCUCB(),
    "sw-cucb-share": lambda: rb.SWCUCB(window=0.25),
    "sw-ts": lambda: rb.SWTS(),
    "sw-cts": lambda: rb.SWCTS(),
    "sw-cts-share": lambda: rb.SWCTS(window=0.25),
    "random": lambda: rb.Random(),
    "tour": lambda: rb.Tour(),
}


def task_of(name):
    """The task as it was when decisions were recorded: the ant's curves grow with every run that is trained."""
    return recorded.from_file(str(DATA / f"{name}.json")) if name.startswith("antmaze") else rb.tasks.get(name)


LONG = {"path-easy", "k-max", "antmaze-easy"}
"""Tasks that are played for a thousand rounds instead of two hundred."""


def outcome(table, arm, play):
    noise = ((7919 * (arm + 1) + 104729 * (play + 1)) % 1009) / 1009.0 - 0.5
    return float(min(1.0, max(0.0, table[arm][min(play, len(table[arm]) - 1)] + 0.04 * noise)))


def play(policy, task, rounds, counts, chosen, partial):
    """Rounds in which, with ``partial``, every fifth one brings only some outcomes."""
    table = [curve.table(HORIZON) for curve in task.curves]
    for _ in range(rounds):
        t = len(chosen)
        arms = policy.select()
        chosen.append([int(arm) for arm in arms])
        ordered = task.problem.ordered(arms)
        outcomes = [outcome(table, int(arm), counts[int(arm)]) for arm in ordered]
        some = 1 + t % len(ordered) if partial and t % 5 == 4 and len(ordered) > 1 else len(ordered)
        policy.observe(ordered, outcomes, [place < some for place in range(len(ordered))])
        for arm in ordered[:some]:
            counts[int(arm)] += 1


def digest(chosen):
    return hashlib.sha256(json.dumps(chosen, separators=(",", ":")).encode()).hexdigest()[:16]


@pytest.mark.parametrize("label", POLICIES)
@pytest.mark.parametrize("name", sorted({key.split("|")[0] for key in RECORDED["decisions"]}))
def test_decisions_are_those_recorded(name, label):
    task = task_of(name)
    rounds = (50, 200, 1000) if name in LONG else (50, 200)
    for partial in (False, True):
        policy = POLICIES[label]()
        policy.start(task.problem, horizon=HORIZON, rng=np.random.default_rng(7))
        counts, chosen = [0] * task.problem.n_arms, []
        play(policy, task, rounds[-1], counts, chosen, partial)
        wanted = RECORDED["decisions"][f"{name}|{label}|{'partial' if partial else 'whole'}"]["decisions"]
        assert [digest(chosen[:length]) for length in rounds] == wanted[: len(rounds)]


@pytest.mark.parametrize("label", POLICIES)
@pytest.mark.parametrize("name", sorted({key.split("|")[0] for key in RECORDED["noiseless"]}))
def test_runs_without_noise_are_those_recorded(name, label, monkeypatch):
    # Without noise many indices are equal. Ties were broken by order when these runs were recorded.
    monkeypatch.setattr("rising_bandits.policies.copying.luck_of", lambda rng: 0)
    task = rb.tasks.get(name)
    assert not isinstance(task.noise, Failing)
    # To compile a loop takes longer than to play these rounds in plain Python, which decides the same.
    fast = name in ("path-easy", "path-complex")
    run = rb.simulate(replace(task, noise=Noiseless()), POLICIES[label](), horizon=5_000, seed=3, compiled=fast)
    wanted = RECORDED["noiseless"][f"{name}|{label}"]
    assert [float(value).hex() for value in run.regret[::97]] == wanted["regret"]
    assert run.plays.tolist() == wanted["plays"]


def test_indices_are_those_recorded_to_the_last_bit():
    task = rb.tasks.get("path-easy")
    for label in ("crucb", "crucb-coarse", "horizon-crucb", "sw-cucb"):
        policy = POLICIES[label]()
        policy.start(task.problem, horizon=HORIZON, rng=np.random.default_rng(7))
        counts, chosen = [0] * task.problem.n_arms, []
        play(policy, task, HORIZON, counts, chosen, False)
        wanted = RECORDED["decisions"][f"path-easy|{label}|whole"]["indices"]
        assert [float(index).hex() for index in policy.indices()] == wanted


@pytest.mark.parametrize("key", sorted(STATES))
def test_states_of_version_1_go_on_as_they_did(key):
    saved = STATES[key]
    task = rb.tasks.get(key.split("|")[0])
    policy = getattr(rb, saved["class"]).from_state(saved["state"])
    chosen = [[]] * 230
    play(policy, task, len(saved["next"]), list(saved["counts"]), chosen, True)
    assert chosen[230:] == saved["next"]
