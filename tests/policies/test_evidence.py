"""Evidence of rises: against plain regression, and what it does to decisions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rising_bandits as rb
from rising_bandits.antmaze import read_result
from rising_bandits.policies.foresight import Foresight
from rising_bandits.policies.rules.evidence import RISING, SEEN, first_evidence, judge, own_noise

DATA = Path(__file__).parents[2] / "docs" / "data" / "antmaze"


def plain(outcomes, pooled, top, rounds):
    """The evidence by least squares on every arm's outcomes, with no shortcuts."""
    rises, errors = [], []
    for values in outcomes:
        count = len(values)
        if count < 8:
            continue
        noise = max(pooled, np.sqrt((0.5 * np.sum(np.diff(values) ** 2) + 4.0 * pooled**2) / (count - 1 + 4.0)))
        times = np.arange(count)
        rise = count * np.polyfit(times, values, 1)[0]
        # The error of a slope with n points one apart is sigma over the root of n(n²-1)/12, nearly n³/12.
        error = noise * np.sqrt(12.0 / count)
        if count >= 16 and rise > 5.0 * error:
            return 1.0, True
        if count >= 0.002 * rounds:
            rises.append(rise)
            errors.append(error)
    together = np.sqrt(np.sum(np.square(errors)))
    if rises and sum(rises) > 3.5 * together:
        return 1.0, True
    known, arms = len(rises), len(outcomes)
    hidden = min(1.0, (max(0.0, sum(rises)) + 2.0 * together) / (known * 0.1 * top)) if known else 0.0
    return max(0.05, 1.0 - known / arms + known / arms * hidden), False


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=40), min_size=1, max_size=5),
    st.floats(0.01, 0.5),
    st.sampled_from([0.0, 5_000.0, 10_000.0]),
)
def test_evidence_is_that_of_least_squares(outcomes, pooled, rounds):
    lines = np.zeros((len(outcomes), 3, 3))
    jumps = np.zeros(len(outcomes))
    for unit, values in enumerate(outcomes):
        slope, level = np.polyfit(np.arange(len(values)), values, 1)
        lines[unit, 0] = level, slope, len(values)
        jumps[unit] = 0.5 * np.sum(np.diff(values) ** 2)
    evidence = first_evidence()
    judge(lines, jumps, pooled, 0.8, rounds, evidence)
    rising, seen = plain([np.array(values) for values in outcomes], pooled, 0.8, rounds)
    assert evidence[RISING] == pytest.approx(rising, abs=1e-9)
    assert bool(evidence[SEEN]) == seen


def test_a_rise_that_was_seen_is_not_forgotten():
    lines, evidence = np.zeros((2, 3, 3)), np.array([1.0, 1.0])
    lines[:, 0] = 0.5, 0.0, 1e6
    judge(lines, np.zeros(2), 0.1, 1.0, 0.0, evidence)
    assert evidence.tolist() == [1.0, 1.0]


def test_noise_is_that_of_the_arm_or_of_all_arms():
    assert own_noise(0.2, 0.0, 50.0) == 0.2
    assert own_noise(0.2, 9.0, 1e9) == 0.2


@pytest.mark.parametrize("noise", [rb.curves.Gaussian(0.1), rb.curves.Bernoulli()])
@pytest.mark.parametrize("rise", [0.0, 0.3])
def test_flat_arms_are_believed_flat_and_rising_arms_rising(noise, rise):
    """On ten seeds: flat arms are taken for rising ones at most once, rising arms never for flat ones."""
    starts = [0.3 + 0.02 * arm for arm in range(8)]
    curves = tuple(rb.curves.Exponential(time=300.0, start=start, end=start + rise) for start in starts)
    task = rb.Task("eight", rb.problems.TopK(8, k=2), curves, 20_000, noise)
    seen = 0
    for seed in range(10):
        policy = Foresight()
        rb.simulate(task, policy, horizon=20_000, seed=seed)
        evidence = policy._rule.evidence
        seen += int(evidence[SEEN])
        assert evidence[SEEN] == 1.0 or rise > 0.0 or evidence[RISING] < 0.75
    assert seen == 10 if rise > 0.0 else seen <= 1


def test_a_state_from_before_there_was_evidence_can_be_read():
    policy = Foresight()
    policy.start(rb.problems.TopK(3, k=1), horizon=500, rng=0)
    policy.observe([1], [0.4])
    state = {name: part for name, part in policy.state().items() if name != "checksum"}
    del state["rule"]["evidence"]
    assert Foresight.from_state({**state, "version": 1})._rule.evidence.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("name", ["complex-foresight-12", "easy-foresight-11"])
def test_the_trained_ants_were_led_by_this_very_policy(name):
    """Met with the outcomes of a recorded run, the policy chooses the recorded path in every episode."""
    result = read_result(DATA / f"{name}.npz")
    record, problem = result.record, result.maze.problem
    tries = {}
    for episode, arm, steps in zip(record.episode, record.arm, record.steps, strict=True):
        tries.setdefault(episode, []).append((arm, steps))
    policy = Foresight()
    seed = np.random.SeedSequence(int(name.rsplit("-", 1)[1])).spawn(4)[3]
    policy.start(problem, horizon=record.episodes, rng=np.random.default_rng(seed))
    for episode, path in enumerate(record.paths, start=1):
        assert problem.oracle.ordered(policy.select()).tolist() == list(path), episode
        outcomes = np.zeros(len(path))
        met = [1.0 / steps if steps else 0.0 for _, steps in tries[episode]]
        outcomes[: len(met)] = met
        policy.observe(np.array(path), outcomes, played=np.arange(len(path)) < len(met))
