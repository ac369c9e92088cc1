"""Paired differences: one policy against another on the same worlds, with intervals and p-values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rising_bandits._checks import Floats
from rising_bandits.experiments.statistics import half_width

_EXACT = 12
"""Up to so many pairs all sign changes are tried."""


@dataclass(frozen=True)
class Difference:
    """One policy against the baseline on one task.

    Attributes
    ----------
    task, policy
        The task, with its options, and the label of the policy.
    pairs
        How many seeds both policies have.
    mean, baseline_mean
        The mean of the measure over these seeds, of the policy and of the baseline.
    difference
        The mean paired difference, policy minus baseline; negative if the policy has less.
    low, high
        Its confidence interval.
    p
        The p-value of "no difference".
    p_holm
        The p-value corrected by Holm for all comparisons of the table.
    effect
        The mean difference divided by the standard deviation of the differences.
    less
        The share of seeds on which the policy has less than the baseline; ties count half.
    """

    task: str
    policy: str
    pairs: int
    mean: float
    baseline_mean: float
    difference: float
    low: float
    high: float
    p: float
    p_holm: float
    effect: float
    less: float


def paired_difference(
    world: str, label: str, pairs: Floats, interval: str, level: float, resamples: int, rng: np.random.Generator
) -> Difference:
    """Compare one policy with the baseline on one task.

    Parameters
    ----------
    world, label
        The task with its options, and the policy.
    pairs
        A row for each seed: the value of the policy, and that of the baseline.
    interval, level
        ``bootstrap`` or ``t``, and the confidence level.
    resamples, rng
        How many resamples the bootstrap and the sign-change test take, and where they come from.

    Returns
    -------
    Difference
        Everything but ``p_holm``, which depends on the other comparisons.
    """
    from scipy import stats

    gaps = pairs[:, 0] - pairs[:, 1]
    count, mean = len(gaps), float(gaps.mean())
    low = high = p = effect = math.nan
    if count > 1:
        # What rounding leaves of equal differences is not a spread.
        spread = 0.0 if np.ptp(gaps) <= 1e-12 * np.abs(pairs).max() else float(gaps.std(ddof=1))
        effect = mean / spread if spread > 0 else (0.0 if mean == 0 else math.copysign(math.inf, mean))
        if interval == "t":
            half = float(half_width(gaps, level))
            low, high = mean - half, mean + half
            t = mean / (spread / math.sqrt(count)) if spread > 0 else effect
            p = float(2 * stats.t.sf(abs(t), count - 1))
        else:
            means = np.concatenate(
                [gaps[rng.integers(0, count, (size, count))].mean(axis=1) for size in _chunks(resamples, count)]
            )
            low, high = (float(end) for end in np.quantile(means, [0.5 - level / 2, 0.5 + level / 2]))
            p = sign_change(gaps, resamples, rng)
    less = float(np.mean(gaps < 0) + np.mean(gaps == 0) / 2)
    first, second = (float(side.mean()) for side in pairs.T)
    return Difference(world, label, count, first, second, mean, low, high, p, math.nan, effect, less)


def _chunks(resamples: int, count: int) -> list[int]:
    """Sizes of parts of the resamples that need little memory each."""
    size = max(1, min(resamples, 1_000_000 // count))
    return [size] * (resamples // size) + ([resamples % size] if resamples % size else [])


def smallest_p(count: int) -> float:
    """The smallest p-value that the sign-change test can give for so many differences.

    >>> smallest_p(5)
    0.0625
    """
    return 2.0 ** (1 - count)


def sign_change(gaps: Floats, resamples: int, rng: np.random.Generator) -> float:
    """The p-value of "the differences are symmetric around 0": how often random signs give a mean as far from 0.

    Up to 12 differences all signs are tried; beyond that, ``resamples`` random ones.

    Parameters
    ----------
    gaps
        The differences.
    resamples, rng
        How many random signs to try, and where they come from.

    >>> sign_change(np.array([1.0, 2.0, 3.0]), 100, np.random.default_rng(0))
    0.25
    """
    observed = abs(float(gaps.sum())) * (1 - 1e-12)
    if len(gaps) <= _EXACT:
        signs = 1 - 2 * ((np.arange(2 ** len(gaps))[:, None] >> np.arange(len(gaps))) & 1)
        return float(np.mean(np.abs(signs @ gaps) >= observed))
    hits = sum(
        int((np.abs(rng.choice([-1.0, 1.0], (size, len(gaps))) @ gaps) >= observed).sum())
        for size in _chunks(resamples, len(gaps))
    )
    # The observed signs are one of the draws, so that the p-value is never 0.
    return (hits + 1) / (resamples + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values corrected for several comparisons by Holm's method.

    Parameters
    ----------
    p_values
        The p-values. NaN stays and does not count as a comparison.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted((place for place, p in enumerate(p_values) if not math.isnan(p)), key=lambda place: p_values[place])
    out, before = [math.nan] * len(p_values), 0.0
    for rank, place in enumerate(order):
        before = max(before, min(1.0, (len(order) - rank) * p_values[place]))
        out[place] = before
    return out
