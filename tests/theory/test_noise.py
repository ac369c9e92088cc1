"""When outcomes contradict sigma, against plain sums and measured false alarms."""

from __future__ import annotations

import json
import math
import warnings

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits.curves import Bernoulli, Exponential, Flat, Gaussian, Linear, Noiseless
from rising_bandits.errors import SigmaWarning
from rising_bandits.simulation.noise import contradicted
from rising_bandits.theory.noise import FALSE_ALARM, Steps, contradiction


def _steps(outcomes):
    steps = Steps()
    for outcome in outcomes:
        steps.add(float(outcome))
    return steps


def _plainly(outcomes, sigma, arms):
    """The test as its definition says, from the whole list."""
    pairs = [(outcomes[place], outcomes[place + 1]) for place in range(0, len(outcomes) - 1, 2)]
    falls = sorted(max(0.0, first - second) ** 2 for first, second in pairs)[:-2]
    if sum(falls) == 0.0:
        return False
    values = [part * sum(falls) / (4 * sigma**2) + len(pairs) / 2 * math.log(1 - part) for part in (0.2, 0.5, 0.8)]
    return max(values) >= math.log(3 * arms / FALSE_ALARM)


def test_the_running_sums_are_the_definition():
    rng = np.random.default_rng(1)
    verdicts = []
    for _ in range(300):
        outcomes = rng.normal(0.5, rng.choice([0.05, 0.2, 0.4]), rng.integers(2, 120)).clip(0, 1)
        steps = _steps(outcomes)
        verdicts.append(steps.against(0.08, 4))
        assert verdicts[-1] == _plainly(outcomes.tolist(), 0.08, 4)
        assert Steps.load(json.loads(json.dumps(steps.dump()))).dump() == steps.dump()
    assert 0.1 < np.mean(verdicts) < 0.9


@pytest.mark.parametrize("kind", ["normal", "coin", "uniform", "clipped", "rising"])
def test_a_true_sigma_is_hardly_ever_contradicted(kind):
    # 1000 worlds of 3 arms with 300 plays each, tested after every pair. One alarm in a thousand worlds is allowed on
    # average; at that rate seven or more would have a chance of 0.0001.
    rng, alarms = np.random.default_rng(7), 0
    level = math.log(3 * 3 / FALSE_ALARM)
    for _ in range(1_000):
        plays = np.arange(300)
        noise, sigma = rng.normal(0, 0.1, (3, 300)), 0.1
        mean = np.full((3, 300), 0.5)
        if kind == "coin":
            mean, sigma = np.full((3, 300), rng.random()), 0.5
            noise = (rng.random((3, 300)) < mean) - mean
        elif kind == "uniform":
            noise, sigma = rng.uniform(-0.3, 0.3, (3, 300)), 0.3 / math.sqrt(3)
        elif kind == "clipped":
            mean = np.full((3, 300), 0.02)
        elif kind == "rising":
            mean = np.broadcast_to(1 - np.exp(-plays / 20), (3, 300))
        outcomes = (mean + noise).clip(0, 1)
        falls = np.maximum(0.0, outcomes[:, 0::2] - outcomes[:, 1::2]) ** 2
        # Without leaving out the two largest falls, which only makes alarms more frequent.
        sums = np.cumsum(falls, axis=1) / (4 * sigma**2)
        pairs = np.arange(1, 151)
        alarms += any((part * sums + pairs / 2 * math.log(1 - part) >= level).any() for part in (0.2, 0.5, 0.8))
    assert alarms <= 6


def test_noise_of_three_sigma_is_found_and_one_break_is_not_noise():
    rng = np.random.default_rng(3)
    found = [contradiction({0: _steps(rng.normal(0.5, 0.15, 160).clip(0, 1))}, 0.05, 1) for _ in range(50)]
    assert sum(one is not None for one in found) >= 45
    assert np.mean([one.deviation for one in found if one is not None]) == pytest.approx(0.15, abs=0.03)
    broken = [*np.full(41, 0.9), *np.full(60, 0.2)]
    assert not _steps(broken).against(0.01)
    assert _steps([0.9, 0.2] * 4).against(0.01)


def test_a_live_policy_warns_once_and_names_the_arm():
    policy = rb.CRUCB(sigma=0.01)
    policy.start(rb.problems.TopK(["x", "y"], k=1), rng=0)
    rng = np.random.default_rng(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(60):
            policy.observe([0], [float(rng.random() < 0.7)])
    assert [one.category for one in caught] == [SigmaWarning]
    assert str(caught[0].message).startswith("outcomes contradict sigma = 0.01: those of 'x' vary by about 0.")
    assert caught[0].filename == __file__
    # What it decides is not changed by the warning.
    twin = rb.CRUCB.from_state(policy.state())
    assert twin.select().tolist() == policy.select().tolist()


@pytest.mark.parametrize("sigma", [0.5, None])
def test_no_warning_where_sigma_holds_or_is_measured(sigma):
    policy = rb.HorizonCRUCB(sigma=sigma)
    policy.start(rb.problems.TopK(["x", "y"], k=1), rng=0)
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(200):
            arms = policy.select()
            policy.observe(arms, [float(rng.random() < 0.7)])
    assert sigma is None or policy.copy()._doubt is not policy._doubt


class _Wide(rb.IndexPolicy):
    """A policy of one's own, which may call anything ``sigma``."""

    name = "wide"

    def __init__(self, sigma):
        self.sigma = sigma

    def index(self, outcomes, t):
        return float(outcomes[-1])


@pytest.mark.parametrize(
    "sigma", [1e200, float("inf"), float("nan"), -1.0, True, 10**400, "wide", None], ids=lambda sigma: str(sigma)[:5]
)
def test_a_policy_of_ones_own_may_call_anything_sigma(sigma):
    policy = _Wide(sigma)
    policy.start(rb.problems.TopK(["x", "y"], k=1), rng=0)
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(60):
            policy.observe(policy.select(), [float(rng.random())])
    assert policy.round == 61


def test_no_outcomes_contradict_a_sigma_that_is_too_large_to_square():
    steps = _steps([1.0, 0.0] * 100)
    assert steps.against(0.01)
    assert not steps.against(1e200)
    assert contradiction({"x": steps}, 1e200, 1) is None


def test_arms_that_were_not_played_and_copies_are_left_alone():
    policy = rb.CRUCB(sigma=0.01)
    policy.start(rb.problems.Explicit([[0, 1]]), rng=0)
    copy = policy.copy()
    for _ in range(20):
        policy.observe([0, 1], [0.5, 0.5], played=[True, False])
    assert {arm: steps.pairs for arm, steps in policy._doubt.steps.items()} == {0: 10}
    assert copy._doubt.steps == {}


def test_a_simulation_is_judged_after_the_run():
    problem = rb.problems.TopK(3, 1)
    curves = (Flat(0.9), Exponential(time=50.0, end=0.8), Linear(duration=30))
    for noise, told, wrong in (
        (Bernoulli(), 0.5, False),
        (Bernoulli(), 0.01, True),
        (Gaussian(0.05), 0.05, False),
        (Gaussian(0.05), 0.01, True),
        (Noiseless(), 0.0, False),
    ):
        task = rb.Task("noise", problem, curves, 300, noise)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            run = rb.simulate(task, rb.CRUCB(sigma=told), seed=5, compiled=False)
        assert (contradicted(task, 5, run.plays, told) is not None) == wrong
    # The outcomes that are drawn again are those of the run.
    seen = rb.simulate(rb.Task("one", rb.problems.TopK(1, 1), (Flat(0.5),), 60, Gaussian(0.2)), rb.Random(), seed=5)
    outcomes = np.diff(seen.realised_reward, prepend=0.0)
    if seen.rounds.size == 60:
        found = contradicted(seen.task, 5, seen.plays, 0.01)
        assert found.deviation == pytest.approx(_steps(outcomes).deviation)


def test_rising_run_says_it_under_the_table(run, tmp_path, capsys):
    arguments = [
        "run",
        "two-arms",
        "--policy",
        "crucb(sigma=0.01)",
        "--policy",
        "crucb",
        "--seeds",
        "1",
        "--horizon",
        "200",
    ]
    assert run(*arguments, "--out", str(tmp_path), "--workers", "1") == 0
    text = capsys.readouterr().out
    assert text.count("warning: ") == 1
    assert "warning: crucb(sigma=0.01): outcomes contradict sigma = 0.01" in text
    assert run(*arguments, "--out", str(tmp_path), "--workers", "1", "--json") == 0
    (found,) = json.loads(capsys.readouterr().out)["warnings"]
    assert found.startswith("two-arms, crucb(sigma=0.01): outcomes contradict")
