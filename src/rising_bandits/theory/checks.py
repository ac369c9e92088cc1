r"""Theorems and lemmas put to the test: the optimality ratio on random instances, the concentration of estimates."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits.curves import Noiseless, Tabulated
from rising_bandits.problems.base import Problem
from rising_bandits.problems.sets import KMax
from rising_bandits.problems.tasks import Task
from rising_bandits.theory.optimum import optimal_constant
from rising_bandits.theory.policy import optimal_policy


def additive_bounds(problem: Problem, draws: int = 2_000, seed: int = 0) -> tuple[float, float]:
    r"""The tightest :math:`B_L, B_U` with :math:`B_L \sum \mu \le r(S, \mu) \le B_U \sum \mu`, as far as tried.

    Computed over the corners of [0, 1]^L, equal outcomes and random ones, for every size of super arm.

    >>> additive_bounds(KMax(4, k=2))
    (0.5, 1.0)
    """
    rng = np.random.default_rng(seed)
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
    """Theorem 2 on random instances: optimal over best constant reward, against B_U / B_L."""

    ratios: Floats
    bound: float
    """B_U / B_L, computed."""
    paper_low: float
    """The paper's B_L for k-MAX."""
    low: float
    """The B_L that holds."""

    @property
    def held(self) -> bool:
        """Whether no instance exceeded the bound."""
        return bool(self.ratios.max() <= self.bound * (1.0 + 1e-12))


def random_concave(rng: np.random.Generator, horizon: int) -> Tabulated:
    """A random rising concave curve in [0, 1]."""
    start = rng.random() * rng.integers(0, 2)
    steps = np.sort(rng.random(horizon - 1) ** rng.integers(1, 6))[::-1]
    total = steps.sum()
    rise = (1.0 - start) * rng.random() / total if total > 0 else 0.0
    return Tabulated(tuple(np.clip(start + rise * np.concatenate([[0.0], np.cumsum(steps)]), 0.0, 1.0)))


def check_ratio(instances: int = 2_000, *, n_arms: int = 3, k: int = 2, horizon: int = 6, seed: int = 0) -> RatioCheck:
    """Compare the exact optimum with the best constant super arm on random k-MAX instances.

    >>> check = check_ratio(20)
    >>> check.held, check.bound
    (True, 2.0)
    """
    rng = np.random.default_rng(seed)
    problem = KMax(n_arms, k=k)
    low, high = additive_bounds(problem)
    ratios = np.empty(_checks.integer("instances", instances, low=1))
    for place in range(instances):
        curves = tuple(random_concave(rng, horizon) for _ in range(n_arms))
        task = Task("random", problem, curves, horizon, Noiseless())
        ratios[place] = optimal_policy(task).total / max(optimal_constant(task).total, 1e-300)
    return RatioCheck(ratios, high / low, 1.0 / math.sqrt(k), low)


@dataclass(frozen=True)
class Concentration:
    """How often an estimate was further from its mean than its bonus, by round."""

    rounds: Ints
    frequency: Floats
    """Share of runs in which some arm's estimate was off by more than its bonus."""
    allowed: Floats
    """The lemma's 2K / t^2."""
    runs: int
    constant: float


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
    r"""Measure :math:`P(\exists i: |\hat\mu_i(t) - \tilde\mu_i(t)| > \beta_i(t))` against :math:`2K/t^2` (Lemma 3).

    Arms are played in turn, so each has about t/K plays; what is left of an estimate when its mean is
    taken away is its noise alone, so flat arms with Gaussian noise show the general case.

    >>> bool((concentration(runs=50, horizon=200).frequency == 0).all())
    True
    """
    n_arms = _checks.integer("n_arms", n_arms, low=1)
    horizon = _checks.integer(
        "horizon", horizon, low=4 * n_arms, wanted=f"an integer of at least 4 n_arms, {4 * n_arms}"
    )
    runs = _checks.integer("runs", runs, low=1)
    _checks.number("sigma", sigma, low=0.0)
    _checks.number("epsilon", epsilon, low=0.0, high=0.5, open_low=True, open_high=True)
    _checks.number("constant", constant, low=0.0)
    rng = np.random.default_rng(_checks.integer("seed", seed, low=0))
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
