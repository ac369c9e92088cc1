"""The world of a seed: outcomes are a function of seed, arm and play, for every noise, compiled or not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import rising_bandits as rb
from rising_bandits._machine import prepared
from rising_bandits.curves import Bernoulli, Failing, Flat, Gaussian, Linear, Noise, Noiseless
from rising_bandits.curves.draws import another, arm_keys, draw_of, normal, uniform

WORDS = st.integers(0, 2**63 - 1)


def test_it_is_splitmix64():
    # The first numbers for the seed 1234567, as other implementations print them.
    known = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821]
    assert [draw_of(1234567, play) for play in range(5)] == [number >> 1 for number in known]


@settings(deadline=None, derandomize=True, max_examples=300)
@given(key=WORDS, play=st.integers(0, 10**12))
def test_compiled_and_plain_draws_are_equal(key, play):
    word = draw_of(key, play)
    assert prepared(draw_of, key, play)(key, play) == word
    for function in (another, uniform, normal):
        assert prepared(function, word)(word) == function(word)


def test_draws_are_uniform_and_normal_and_independent():
    # A million draws each, fixed seed; Kolmogorov-Smirnov at the level 0.001, correlations within 5 deviations.
    keys = arm_keys(11, 100)
    words = np.array([[draw_of(int(key), play) for play in range(2_000)] for key in keys])
    draws = np.array([[uniform(int(word)) for word in row] for row in words])
    normals = np.array([[normal(int(word)) for word in row] for row in words])
    assert stats.kstest(draws.ravel(), "uniform").pvalue > 0.001
    assert stats.kstest(normals.ravel(), "norm").pvalue > 0.001
    for sample in (draws, normals):
        between_arms = np.corrcoef(sample) - np.eye(100)
        assert np.abs(between_arms).max() < 5 / np.sqrt(2_000)
        after_each_other = np.corrcoef(sample[:, :-1].ravel(), sample[:, 1:].ravel())[0, 1]
        assert abs(after_each_other) < 5 / np.sqrt(sample.size)


def test_normal_numbers_reach_into_the_tails_as_often_as_they_should():
    # 2 million numbers: about 516 beyond the edge of the ziggurat; within 5 deviations.
    code, count = prepared(_beyond, 5, 1, 3.654), 2_000_000
    expected = 2.0 * stats.norm.sf(3.654) * count
    assert abs(code(int(arm_keys(1, 1)[0]), count, 3.654) - expected) < 5 * np.sqrt(expected)


def _beyond(key, count, edge):
    found = 0
    for play in range(count):
        if abs(normal(draw_of(key, play))) > edge:
            found += 1
    return found


class Recorder:
    """A policy of one's own that writes down what every play of every arm brought."""

    def __init__(self, seed):
        self._seed, self.seen = seed, {}

    def start(self, problem, horizon=None, rng=None):
        self._sets, self._rng = problem.oracle.super_arms(), np.random.default_rng(self._seed)
        self.seen = {arm: [] for arm in range(problem.n_arms)}

    def select(self):
        return self._sets[self._rng.integers(len(self._sets))]

    def observe(self, arms, outcomes, played=None):
        for place, (arm, outcome) in enumerate(zip(arms, outcomes, strict=True)):
            if played is None or played[place]:
                self.seen[int(arm)].append(float(outcome))


class Laplace(Noise):
    """Noise of one's own: two-sided exponential, clipped."""

    sigma = 0.3

    def sample(self, arm, play, mean, word):
        side = 1.0 if uniform(word) < 0.5 else -1.0
        return min(1.0, max(0.0, mean + side * 0.2 * -np.log(1.0 - uniform(another(word)))))


@pytest.mark.parametrize(
    ("noise", "cascade"),
    [
        (Noiseless(), False),
        (Gaussian(0.1), False),
        (Bernoulli(), False),
        (Bernoulli(), True),
        (Failing((Flat(0.7),) * 4), True),
        (Laplace(), False),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Noise) else ("cascade" if value else "whole"),
)
def test_two_policies_on_one_seed_meet_the_same_world(noise, cascade):
    curves = tuple(Linear(duration=100 + arm, start=0.2, end=0.6) for arm in range(4))
    task = rb.Task("world", rb.problems.Explicit([[0, 1], [1, 2, 3], [3, 0]]), curves, 300, noise, cascade=cascade)
    worlds = []
    for seed in (1, 2):
        policy = Recorder(seed)
        rb.simulate(task, policy, seed=5)
        worlds.append(policy.seen)
    for arm in range(4):
        shared = min(len(world[arm]) for world in worlds)
        assert shared > 20
        assert worlds[0][arm][:shared] == worlds[1][arm][:shared]
    other = Recorder(1)
    rb.simulate(task, other, seed=6)
    if not isinstance(noise, Noiseless):
        assert other.seen != worlds[0]


def test_noise_of_ones_own_is_drawn_and_checked():
    task = rb.Task("mine", rb.problems.TopK(2, k=1), (Flat(0.5), Flat(0.5)), 2_000, Laplace())
    run = rb.simulate(task, rb.SWCUCB(), seed=0)
    assert run.realised_reward[-1] != run.reward[-1]
    assert run.realised_reward[-1] == pytest.approx(run.reward[-1], rel=0.05)

    class Wild(Laplace):
        def sample(self, arm, play, mean, word):
            return float("nan")

    wild = rb.Task("wild", task.problem, task.curves, 100, Wild())
    with pytest.raises(rb.InputError, match=r"what Wild.sample returns must be a number in \[0, 1\], got nan"):
        rb.simulate(wild, rb.SWCUCB(), seed=0)


def test_noise_that_does_not_say_how_it_is_drawn_is_refused():
    class Silent(Noise):
        sigma = 0.1

    with pytest.raises(rb.InputError, match="give Silent a method sample"):
        rb.Task("silent", rb.problems.TopK(2, k=1), (Flat(0.5), Flat(0.5)), 100, Silent())
