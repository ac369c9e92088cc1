"""Diagnose a log of plays: whether each base arm rises, is concave and has levelled off, and how noisy it is."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits.theory.diagnosis import FEWEST, ArmDiagnosis, Diagnosis, Finding, Verdict, is_binary
from rising_bandits.theory.logs import read_logs

NEGLIGIBLE = 0.02
"""A change of the mean outcome that counts as negligible. Outcomes are in [0, 1]."""
SCALES = 3
"""The number of scales for the test of concavity: all plays, halves and quarters."""


class _Log(NamedTuple):
    """Consecutive plays of one arm, and the confidence level."""

    plays: Ints
    outcomes: Floats
    binary: bool
    level: float

    @property
    def least_variance(self) -> float:
        """A lower limit on the variance: equal outcomes do not prove that rare other outcomes cannot occur."""
        if not self.binary:
            return 1e-18  # the square of the rounding error of a mean
        chance = 1.0 - ((1.0 - self.level) / 2) ** (1.0 / self.plays.size)
        return float(chance * (1.0 - chance))

    def stretch(self, start: int, length: int) -> _Log:
        """``length`` consecutive plays from position ``start`` on."""
        part = slice(start, start + length)
        return self._replace(plays=self.plays[part], outcomes=self.outcomes[part])


class _Contrast(NamedTuple):
    """A weighted sum of outcomes, its standard error, and the degrees of freedom of the standard error."""

    estimate: float
    error: float
    freedom: float

    def report(self, level: float, bound: float) -> tuple[float, tuple[float, float]]:
        """The estimate and its confidence interval, clipped to [-bound, bound]."""
        from scipy.special import stdtrit

        reach = self.error * float(stdtrit(self.freedom, 0.5 + level / 2))
        estimate, low, high = (min(bound, max(-bound, self.estimate + side)) for side in (0.0, -reach, reach))
        return estimate, (low, high)

    def p_value(self, value: float, side: int) -> float:
        """The p-value of a one-sided test whose alternative is a sum above (side 1) or below (side -1) ``value``."""
        from scipy.special import stdtr

        return float(stdtr(self.freedom, side * (value - self.estimate) / self.error))


def _contrast(weights: Floats, log: _Log) -> _Contrast:
    r"""A weighted sum of outcomes with a standard error that is robust to trends and to a changing variance.

    The difference of two neighbouring outcomes contains their noise and hardly any trend. So the variance of
    :math:`\sum w_i Y_i` is estimated by :math:`\sum \tfrac12(w_i^2 + w_{i+1}^2)(Y_{i+1} - Y_i)^2/2`.
    """
    squares = weights**2
    carried = (squares[:-1] + squares[1:]) / 2
    # The first and the last play have only one neighbour, so its difference gets their whole weight.
    carried[0] += squares[0] / 2
    carried[-1] += squares[-1] / 2
    variance = max(float(carried @ np.diff(log.outcomes) ** 2) / 2, float(squares.sum()) * log.least_variance)
    # The factor is 2/3 because neighbouring differences share a play (von Neumann et al., 1941).
    freedom = 2 / 3 * float(carried.sum()) ** 2 / float(carried @ carried)
    return _Contrast(float(weights @ log.outcomes), math.sqrt(variance), max(1.0, freedom))


def _rising(log: _Log) -> Finding:
    """Test for an upward trend."""
    from scipy.stats import kendalltau

    third = -(-log.plays.size // 3)
    weights = np.zeros(log.plays.size)
    weights[:third], weights[-third:] = -1 / third, 1 / third
    rise, (low, high) = _contrast(weights, log).report(log.level, 1.0)
    same = log.outcomes.min() == log.outcomes.max()
    p_value = 1.0 if same else float(kendalltau(log.plays, log.outcomes, alternative="greater").pvalue)
    verdict: Verdict = "yes" if p_value <= 1 - log.level else "no" if high < NEGLIGIBLE else "cannot tell"
    return Finding(verdict, rise, (low, high), p_value)


def _arch(log: _Log) -> _Contrast:
    """The coefficient of -z² in a quadratic regression, where z runs from -1 to 1 over these plays."""
    z = 2.0 * (log.plays - log.plays[0]) / float(log.plays[-1] - log.plays[0]) - 1.0
    line, square = z - z.mean(), z**2 - (z**2).mean()
    weights = line * (line @ square) / (line @ line) - square
    size = float(weights @ weights)
    if size < 1e-9 * z.size:
        # Nearly all plays are at one end, so the coefficient cannot be estimated.
        return _Contrast(0.0, math.inf, 1.0)
    return _contrast(weights / size, log)


def _concave(log: _Log) -> Finding:
    """Test for concavity on all scales."""
    stretches: list[tuple[float, _Contrast, _Log]] = []
    for depth in range(SCALES):
        length, count = log.plays.size >> depth, 2 ** (depth + 1) - 1
        for start in np.linspace(0, log.plays.size - length, count):
            part = log.stretch(int(start), length)
            arch = _arch(part)
            # Bonferroni correction: every scale gets an equal share of the error probability.
            stretches.append((SCALES * count * arch.p_value(0.0, -1), arch, part))
    p_value, arch, part = min(stretches, key=lambda stretch: stretch[0])
    means = [eighth.mean() for eighth in np.array_split(log.outcomes, 8)]
    small = max(NEGLIGIBLE, float(np.ptp(means)) / 10)
    verdict: Verdict = "no"
    if p_value > 1.0 - log.level:
        # "yes" needs no correction, because all tests must agree (intersection-union test, Berger 1982).
        agreed = all(other.p_value(-small, 1) <= 1.0 - log.level for _, other, _ in stretches)
        verdict = "yes" if agreed else "cannot tell"
        _, arch, part = stretches[0]
    # For curves in [0, 1] the coefficient is at most 1.44, which a step up and down reaches.
    ends = int(part.plays[0]), int(part.plays[-1])
    return Finding(verdict, *arch.report(log.level, 1.5), min(1.0, p_value), ends)


def _plateaued(log: _Log) -> Finding:
    """Extrapolate the slope of the last third of the plays."""
    third = -(-log.plays.size // 3)
    last = log.stretch(log.plays.size - third, third)
    centred = last.plays - last.plays.mean()
    further = float(log.plays[-1] - log.plays[0]) + 1.0
    gain, (low, high) = _contrast(further * centred / (centred @ centred), last).report(log.level, 1.0)
    verdict: Verdict = "yes" if high < NEGLIGIBLE else "no" if low > 0.0 else "cannot tell"
    return Finding(verdict, gain, (low, high))


def _sigma(log: _Log) -> Finding:
    """Estimate the noise from differences of successive outcomes."""
    from scipy.special import chdtri

    squares = np.diff(log.outcomes) ** 2
    count, variance = squares.size, float(squares.mean()) / 2
    low = high = variance
    if variance > 0.0:
        # E d^4 = 2 mu_4 + 6 sigma^4. With few plays heavy tails are not seen, so the kurtosis is at least Gaussian,
        # except for outcomes of 0 and 1.
        kurtosis = max(1.0 if log.binary else 3.0, float((squares / variance) @ (squares / variance)) / count / 2 - 3.0)
        freedom = 2.0 * count**2 / (count * kurtosis - (kurtosis - 1.0) / 2)
        low, high = (freedom * variance / float(chdtri(freedom, 0.5 + side * log.level / 2)) for side in (-1, 1))
    if log.binary:
        high = min(0.25, max(high, log.least_variance))
    return Finding("measured", math.sqrt(variance), (math.sqrt(low), math.sqrt(high)))


def diagnose(logs: Any, *, level: float = 0.95) -> Diagnosis:
    r"""Check for every arm in a log whether it behaves as the theory of rising bandits assumes.

    There are four questions for each arm. Outcomes are assumed to be independent around a mean that changes slowly.
    "Significantly" means by a test or a confidence interval at ``level``, which holds for each arm and question
    separately. An arm with fewer than 20 plays is not diagnosed.

    - *rising*: Kendall's test for a trend (Mann 1945). "Yes" if the trend is significant. "No" if the rise from the
      first to the last third of the plays is significantly below 0.02.
    - *concave*: the height of the curve's middle above the straight line between its ends, by quadratic regression. It
      is never negative for a concave curve. It is tested for all plays, for 3 overlapping halves and for 7 overlapping
      quarters, with Bonferroni's correction. "No" if it is significantly negative in one of them. "Yes" if it is
      significantly above -0.02 in all of them, or above minus a tenth of the range of the arm's means if that is more.
    - *plateaued*: the gain if the slope of the last third continues for as many plays as the log spans. "Yes" if it is
      significantly below 0.02, "no" if it is significantly above 0.
    - *sigma*: :math:`\hat\sigma^2 = \frac{1}{2m} \sum d_i^2` from the m differences of successive outcomes (von Neumann
      et al. 1941). The interval is a chi-square interval with :math:`2m^2 / (m\kappa - (\kappa - 1)/2)` degrees of
      freedom, where :math:`\kappa` is the kurtosis (3 for Gaussian noise). For outcomes of 0 and 1 this is the standard
      deviation; the subgaussian constant that policies need is 1/2.

    Parameters
    ----------
    logs
        A list of rows (arm, play, outcome), a mapping with the columns "arm", "play" and "outcome", or a table with
        such columns (pandas, pyarrow). An arm is any hashable label. A play is the arm's own count of plays; rows may
        be in any order and plays may be missing. Outcomes are in [0, 1].
    level
        The confidence level, between 0.5 and 1.

    Returns
    -------
    Diagnosis
        The findings about each arm.

    Raises
    ------
    InputError
        The log has a missing column or a value that is not valid, or an arm has the same play twice.

    >>> import numpy as np
    >>> n = np.arange(300)
    >>> noise = np.random.default_rng(0).normal(0.0, 0.01, 300)
    >>> found = diagnose({"arm": ["a"] * 300, "play": n, "outcome": 0.2 + 0.6 * (1 - np.exp(-n / 60)) + noise})
    >>> arm = found.arm("a")
    >>> arm.rising.verdict, arm.concave.verdict, arm.plateaued.verdict
    ('yes', 'yes', 'no')
    >>> round(arm.sigma.estimate, 3)
    0.01
    """
    level = _checks.number("level", level, low=0.5, high=1.0, open_low=True, open_high=True)
    return Diagnosis([_arm(label, plays, outcomes, level) for label, plays, outcomes in read_logs(logs)], level)


def _arm(label: Hashable, plays: Ints, outcomes: Floats, level: float) -> ArmDiagnosis:
    """Diagnose one arm."""
    if plays.size < FEWEST:
        few = Finding("too few plays")
        return ArmDiagnosis(label, few, few, few, few, plays, outcomes)
    log = _Log(plays, outcomes, is_binary(outcomes), level)
    return ArmDiagnosis(label, _rising(log), _concave(log), _plateaued(log), _sigma(log), plays, outcomes)
