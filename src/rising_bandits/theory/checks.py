"""Numerical tests of the theory: Theorem 2, Corollary 1, Lemma 2, Proposition 1, and the forecasts of Section 4."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits.curves import Noiseless, Tabulated
from rising_bandits.errors import InputError
from rising_bandits.problems.base import Problem
from rising_bandits.problems.sets import KMax, TopK
from rising_bandits.problems.tasks import Task
from rising_bandits.theory.optimum import optimal_constant
from rising_bandits.theory.policy import optimal_policy


def _generator(seed: int) -> np.random.Generator:
    """The generator of a seed."""
    return np.random.default_rng(_checks.integer("seed", seed, low=0))


def _sizes(instances: int, horizon: int) -> tuple[int, int]:
    """How many instances to draw, and their number of rounds."""
    return (
        _checks.integer("instances", instances, low=1, limit=10**6),
        _checks.integer("horizon", horizon, low=1, limit=10**4),
    )


def additive_bounds(problem: Problem, draws: int = 2_000, seed: int = 0) -> tuple[float, float]:
    r"""Estimate the tightest :math:`B_L, B_U` with :math:`B_L \sum_i \mu_i \le r(S, \mu) \le B_U \sum_i \mu_i`.

    These are the constants of Theorem 2. For every size of super arm they are the smallest and the largest ratio over
    equal means, single nonzero means, random means, and random means of 0 and 1.

    Parameters
    ----------
    problem
        The problem. Its super arms must be listable.
    draws
        The number of random vectors of each kind, for every size of super arm.
    seed
        The seed of the random vectors.

    Returns
    -------
    tuple of float
        B_L and B_U.

    >>> additive_bounds(KMax(4, k=2))
    (0.5, 1.0)
    """
    if not isinstance(cast(object, problem), Problem):
        raise InputError(f"problem must be a Problem such as KMax(4, k=2), got {problem!r:.80}")
    draws = _checks.integer("draws", draws, low=1, limit=10**7)
    rng = _generator(seed)
    low, high = math.inf, 0.0
    for size in sorted({arms.size for arms in problem.oracle.super_arms()}):
        rows = [
            np.ones(size),
            *np.eye(size),
            *rng.random((draws, size)),
            *rng.integers(0, 2, (draws, size)).astype(float),
        ]
        for row in rows:
            if row.sum() > 0.0:
                ratio = problem.reward.combine(row) / float(row.sum())
                low, high = min(low, ratio), max(high, ratio)
    return low, high


@dataclass(frozen=True)
class RatioCheck:
    """The result of `check_ratio`: a test of Theorem 2 on random instances."""

    ratios: Floats
    """For each instance, the optimal reward divided by the reward of the best constant super arm."""
    bound: float
    """The theorem's bound on these ratios, B_U / B_L, with the computed constants."""
    paper_low: float
    """The paper's B_L for k-MAX, 1 over the square root of k."""
    low: float
    """The computed B_L."""

    @property
    def held(self) -> bool:
        """Whether all ratios are within the bound."""
        return bool(self.ratios.max() <= self.bound * (1.0 + 1e-12))


def random_concave(rng: np.random.Generator, horizon: int) -> Tabulated:
    """Draw a rising concave curve with means in [0, 1].

    Parameters
    ----------
    rng
        The random generator to draw from.
    horizon
        The number of plays after which the curve is flat.
    """
    _checks.generator("rng", rng)
    horizon = _checks.integer("horizon", horizon, low=1, limit=10**7)
    start = rng.random() * rng.integers(0, 2)
    steps = np.sort(rng.random(horizon - 1) ** rng.integers(1, 6))[::-1]
    total = steps.sum()
    rise = (1.0 - start) * rng.random() / total if total > 0 else 0.0
    return Tabulated(tuple(np.clip(start + rise * np.concatenate([[0.0], np.cumsum(steps)]), 0.0, 1.0)))


def check_ratio(instances: int = 2_000, *, n_arms: int = 3, k: int = 2, horizon: int = 6, seed: int = 0) -> RatioCheck:
    """Compare the exact optimum with the best constant super arm on random k-MAX instances (Theorem 2).

    Parameters
    ----------
    instances
        The number of instances.
    n_arms
        The number of base arms.
    k
        The number of arms in a super arm.
    horizon
        The number of rounds. The exact optimum is feasible for short horizons only.
    seed
        The seed of the random curves.

    >>> check = check_ratio(20)
    >>> check.held, check.bound
    (True, 2.0)
    """
    instances, horizon = _sizes(instances, horizon)
    rng = _generator(seed)
    problem = KMax(_checks.integer("n_arms", n_arms, low=1, limit=100), k=k)
    low, high = additive_bounds(problem)
    ratios = np.empty(instances)
    for place in range(instances):
        curves = tuple(random_concave(rng, horizon) for _ in range(n_arms))
        task = Task("random", problem, curves, horizon, Noiseless())
        ratios[place] = optimal_policy(task).total / max(optimal_constant(task).total, 1e-300)
    return RatioCheck(ratios, high / low, 1.0 / math.sqrt(k), low)


@dataclass(frozen=True)
class Concentration:
    """The result of `concentration`: how often an estimate was off by more than its bonus, by round."""

    rounds: Ints
    """The rounds t at which estimates were compared."""
    frequency: Floats
    """The share of runs in which the estimate of some arm was off by more than its bonus."""
    allowed: Floats
    """The bound of Lemma 2 on the probability of this event, 2K / t^2."""
    runs: int
    """The number of runs."""
    constant: float
    """The constant C of the bonus."""


def concentration(
    *,
    n_arms: int = 4,
    sigma: float = 0.1,
    epsilon: float = 0.125,
    constant: float = 30.0,
    horizon: int = 2_000,
    runs: int = 2_000,
    seed: int = 0,
) -> Concentration:
    r"""Measure how often an estimate of CRUCB is off by more than its bonus (Lemma 2).

    The lemma says :math:`P(\exists i: |\hat\mu_i(t) - \tilde\mu_i(t)| > \beta_i(t)) \le 2K/t^2`. Here
    :math:`\hat\mu_i` is the estimate, :math:`\tilde\mu_i` the same formula with means in place of outcomes, and
    :math:`\beta_i` the bonus.

    Arms are played in turn, so each has about t/K plays. The estimate is linear in the outcomes, so its error depends
    on the noise only and not on the means. The simulation therefore draws Gaussian noise without means.

    Parameters
    ----------
    n_arms
        The number of base arms, K.
    sigma
        The standard deviation of the noise, and the subgaussian constant in the bonus.
    epsilon
        The window as a share of the plays, between 0 and 1/2.
    constant
        The constant C of the bonus
        :math:`\beta_i(t) = \sigma (t - N + h - 1) \sqrt{C \log t / h^3}`, with N plays and window h. It is 30 in the
        paper's algorithm.
    horizon
        The last round, at least four times ``n_arms``.
    runs
        The number of runs.
    seed
        The seed of the noise.

    >>> bool((concentration(runs=50, horizon=200).frequency == 0).all())
    True
    """
    n_arms = _checks.integer("n_arms", n_arms, low=1, limit=10**6)
    horizon = _checks.integer(
        "horizon", horizon, low=4 * n_arms, limit=10**9, wanted=f"an integer of at least 4 n_arms, {4 * n_arms}"
    )
    runs = _checks.integer("runs", runs, low=1, limit=10**9)
    _checks.memory(f"the noise of {runs} runs of {horizon} rounds", 3.0 * runs * horizon / n_arms)
    sigma = _checks.number("sigma", sigma, low=0.0, limit=1e9)
    epsilon = _checks.number("epsilon", epsilon, low=0.0, high=0.5, open_low=True, open_high=True)
    constant = _checks.number("constant", constant, low=0.0, limit=1e9)
    rng = _generator(seed)
    rounds = np.unique(np.geomspace(4 * n_arms, horizon, 24).astype(np.int64))
    plays = int(rounds[-1]) // n_arms
    off = np.zeros((runs, rounds.size), dtype=np.bool_)
    for _ in range(n_arms):
        noise = sigma * rng.standard_normal((runs, plays))
        for place, t in enumerate(rounds):
            n = max(2, int(t - 1) // n_arms)
            h = min(max(1, math.ceil(epsilon * n)), n // 2)
            new, old = noise[:, n - h : n], noise[:, n - 2 * h : n - h]
            ages = t - np.arange(n - h + 1, n + 1)
            estimate = new.mean(axis=1) + (ages * (new - old) / h).mean(axis=1)
            bonus = sigma * (t - n + h - 1) * math.sqrt(constant * math.log(t) / h**3)
            off[:, place] |= np.abs(estimate) > bonus
    return Concentration(rounds, off.mean(axis=0), 2.0 * n_arms / rounds.astype(np.float64) ** 2, runs, constant)


def expected_forecast(means: Floats, plays: int, window: int, t: int) -> float:
    """What the first two terms of CRUCB's index are in expectation (Section 4).

    Parameters
    ----------
    means
        The means of the arm's plays, the first play first.
    plays
        The number of plays so far, N.
    window
        The window h, with 2h at most N.
    t
        The round, above N.

    >>> round(expected_forecast(np.array([0.0, 0.1, 0.2, 0.3]), plays=4, window=2, t=6), 9)
    0.5
    """
    means = np.array(_checks.numbers("means", cast(Any, means)))
    plays = _checks.integer("plays", plays, low=2, high=means.size)
    window = _checks.integer("window", window, low=1, high=plays // 2)
    t = _checks.integer("t", t, low=plays + 1, limit=10**12)
    new, old = means[plays - window : plays], means[plays - 2 * window : plays - window]
    ages = t - np.arange(plays - window + 1, plays + 1)
    return float((new + ages * (new - old) / window).mean())


def check_optimism(curves: int = 500, *, horizon: int = 60, seed: int = 0) -> float:
    r"""Check that CRUCB's forecasts are optimistic for concave means (Section 4).

    In expectation the first two terms of the index at round t should be at least :math:`\mu(t)`, the mean that the arm
    has if it is played in all rounds from now to t.

    Parameters
    ----------
    curves
        The number of random concave curves. On each, a window and a later round are drawn for every number of plays.
    horizon
        The number of plays of each curve, at least 3.
    seed
        The seed of the curves.

    Returns
    -------
    float
        The smallest difference of the forecast and the mean; not below 0, but for rounding, if the claim holds.

    >>> check_optimism(20) > -1e-12
    True
    """
    horizon = _checks.integer("horizon", horizon, low=3, limit=10**4)
    rng = _generator(seed)
    smallest = math.inf
    for _ in range(_checks.integer("curves", curves, low=1, limit=10**6)):
        means = random_concave(rng, horizon)(np.arange(horizon))
        for plays in range(2, horizon):
            window = int(rng.integers(1, plays // 2 + 1))
            t = int(rng.integers(plays + 1, horizon + 1))
            smallest = min(smallest, expected_forecast(means, plays, window, t) - float(means[t - 1]))
    return smallest


def check_sum(instances: int = 500, *, n_arms: int = 4, k: int = 2, horizon: int = 6, seed: int = 0) -> float:
    """Compare the exact optimum with the best constant super arm on random instances whose reward is a sum.

    They are equal (Corollary 1, Lemma 1).

    Parameters
    ----------
    instances
        The number of instances.
    n_arms
        The number of base arms.
    k
        The number of arms in a super arm.
    horizon
        The number of rounds. The exact optimum is feasible for short horizons only.
    seed
        The seed of the random curves.

    Returns
    -------
    float
        The largest relative difference.

    >>> check_sum(20) < 1e-12
    True
    """
    instances, horizon = _sizes(instances, horizon)
    rng = _generator(seed)
    problem = TopK(_checks.integer("n_arms", n_arms, low=1, limit=100), k=k)
    largest = 0.0
    for _ in range(instances):
        task = Task("random", problem, tuple(random_concave(rng, horizon) for _ in range(n_arms)), horizon, Noiseless())
        constant = optimal_constant(task).total
        largest = max(largest, abs(optimal_policy(task).total - constant) / max(constant, 1e-300))
    return largest


def check_monotone(cases: int = 2_000, seed: int = 0) -> float:
    r"""Check Proposition 1 on random ranges of :math:`(n+1)^{-c}`: the sum stays close to the integral.

    Parameters
    ----------
    cases
        The number of random ranges.
    seed
        The seed of the ranges.

    Returns
    -------
    float
        The largest amount by which a sum leaves the proposition's bounds; at most rounding errors if it holds.

    >>> check_monotone(50) < 1e-9
    True
    """
    rng = _generator(seed)
    worst = -math.inf
    for _ in range(_checks.integer("cases", cases, low=1, limit=10**6)):
        low = int(rng.integers(1, 200))
        high = low + int(rng.integers(1, 400))
        c = float(rng.uniform(1.05, 1.95))
        values = (np.arange(low, high + 1) + 1.0) ** -c
        integral = ((low + 1.0) ** (1.0 - c) - (high + 1.0) ** (1.0 - c)) / (c - 1.0)
        gap = float(values.sum()) - integral
        worst = max(worst, float(values[[0, -1]].min()) - gap, gap - float(values[[0, -1]].max()))
    return worst
