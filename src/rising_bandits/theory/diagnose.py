"""Diagnose a log of plays: whether each base arm rises, is concave and has levelled off, and how noisy it is."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits.errors import InputError
from rising_bandits.theory.logs import read_logs

FEWEST = 20
"""An arm with fewer plays gets the verdict "too few plays"."""
NEGLIGIBLE = 0.02
"""A change of the mean outcome that counts as negligible. Outcomes are in [0, 1]."""
SCALES = 3
"""The number of scales for the test of concavity: all plays, halves and quarters."""

Verdict = Literal["yes", "no", "cannot tell", "too few plays", "measured"]


@dataclass(frozen=True)
class Finding:
    """The answer to one question about an arm, and the numbers behind it.

    The numbers are None if there are too few plays, or if the question has no such number.
    """

    verdict: Verdict
    """The answer. For the noise it is "measured"."""
    estimate: float | None = None
    """The estimated quantity; `ArmDiagnosis` says which one."""
    interval: tuple[float, float] | None = None
    """The two-sided confidence interval of the estimate, at the level of the diagnosis."""
    p_value: float | None = None
    """The p-value of the test, if there is one."""
    stretch: tuple[int, int] | None = None
    """The first and the last play of the part of the log that the estimate is about."""


@dataclass(frozen=True)
class ArmDiagnosis:
    """The findings about one base arm, and its log."""

    label: Hashable
    """The label of the arm."""
    rising: Finding
    """Whether the mean rises. The null hypothesis is that there is no upward trend. The estimate is the mean outcome of
    the last third of the plays minus that of the first third."""
    concave: Finding
    """Whether the curve is concave. The null hypothesis is that it is, so a small p-value means that it is not. The
    estimate is the height of the curve's middle above the straight line between its ends. It is about all plays, or,
    if the verdict is "no", about the part of the log with the strongest evidence."""
    plateaued: Finding
    """Whether the mean has levelled off. The estimate is the gain over as many further plays as the log spans, if the
    slope of the last third continues."""
    sigma: Finding
    """The standard deviation of an outcome around its mean, averaged over plays."""
    plays: Ints = field(repr=False, compare=False)
    """The play numbers, ascending."""
    outcomes: Floats = field(repr=False, compare=False)
    """The outcomes, in the order of ``plays``."""

    @property
    def n_plays(self) -> int:
        """The number of plays in the log."""
        return self.plays.size

    @property
    def span(self) -> int:
        """The number of plays from the first to the last one in the log, including those that are missing in it."""
        return int(self.plays[-1] - self.plays[0]) + 1

    @property
    def missing_plays(self) -> int:
        """How many more plays are needed before the arm can be diagnosed."""
        return max(0, FEWEST - self.n_plays)

    def lines(self) -> list[str]:
        """The findings as lines of text."""
        heading = f"arm {self.label!r}: {self.n_plays} {'play' if self.n_plays == 1 else 'plays'}"
        if self.span > self.n_plays:
            heading += f" ({self.span - self.n_plays} more between them are not in the log)"
        if self.missing_plays:
            return [heading, f"  too few plays: {FEWEST} are needed, {self.missing_plays} more"]
        first, last = self.concave.stretch or (self.plays[0], self.plays[-1])
        coin = "; as outcomes are 0 or 1, give policies 0.5" if _is_binary(self.outcomes) else ""
        return [
            heading,
            f"  rising: {self.rising.verdict} "
            f"({_p(self.rising)}; from the first to the last third {_between(self.rising)})",
            f"  concave: {self.concave.verdict} ({_p(self.concave)} against it; from play {first} to {last} "
            f"the middle is {_between(self.concave)} above the line between the ends)",
            f"  plateaued: {self.plateaued.verdict} "
            f"(at its last slope, {self.span} further plays gain {_between(self.plateaued)})",
            f"  sigma: {self.sigma.estimate:.3g} ({_between(self.sigma, '.3g')}{coin})",
        ]


@dataclass(frozen=True)
class Diagnosis:
    """The result of `diagnose`."""

    arms: list[ArmDiagnosis]
    """The findings about each arm, in the order in which arms first occur in the log."""
    level: float
    """The confidence level."""

    def arm(self, label: Hashable) -> ArmDiagnosis:
        """The findings about one arm.

        Parameters
        ----------
        label
            The label of the arm.

        Raises
        ------
        InputError
            The log has no such arm.
        """
        for found in self.arms:
            if found.label == label:
                return found
        raise InputError(f"arm must be one of the labels {[a.label for a in self.arms]}, got {label!r}")

    def rows(self) -> list[dict[str, Any]]:
        """The findings as one plain dictionary per arm, for a table or for JSON."""
        return [self._row(arm) for arm in self.arms]

    @staticmethod
    def _row(arm: ArmDiagnosis) -> dict[str, Any]:
        """The dictionary of one arm."""
        row: dict[str, Any] = {"arm": arm.label, "plays": arm.n_plays, "missing_plays": arm.missing_plays}
        for question, quantity in (("rising", "rise"), ("concave", "arch"), ("plateaued", "gain"), ("sigma", "sigma")):
            finding: Finding = getattr(arm, question)
            if question != quantity:
                row[question] = finding.verdict
            if question in ("rising", "concave"):
                row[f"{question}_p_value"] = finding.p_value
            row[quantity] = finding.estimate
            row[f"{quantity}_low"], row[f"{quantity}_high"] = finding.interval or (None, None)
            if question == "concave":
                row["arch_first_play"], row["arch_last_play"] = finding.stretch or (None, None)
        return row

    def summary(self) -> str:
        """The findings as text: first how often each verdict occurs, then the findings about each arm."""
        total = sum(arm.n_plays for arm in self.arms)
        arms = "1 arm" if len(self.arms) == 1 else f"{len(self.arms)} arms"
        lines = [f"{arms}, {total} plays; tests and intervals at {100 * self.level:g}% for each arm"]
        for question in ("rising", "concave", "plateaued"):
            verdicts = [getattr(arm, question).verdict for arm in self.arms]
            seen = [verdict for verdict in get_args(Verdict) if verdict in verdicts]
            lines.append(f"{question}: " + ", ".join(f"{verdicts.count(v)} {v}" for v in seen))
        return "\n".join(lines + [line for arm in self.arms for line in ("", *arm.lines())])


def _is_binary(outcomes: Floats) -> bool:
    """Whether all outcomes are 0 or 1."""
    return bool(((outcomes == 0.0) | (outcomes == 1.0)).all())


def _p(finding: Finding) -> str:
    """The p-value as text."""
    p = finding.p_value
    return "" if p is None else "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _between(finding: Finding, digits: str = "+.3f") -> str:
    """The interval as text."""
    low, high = finding.interval or (math.nan, math.nan)
    return f"{low:{digits}} to {high:{digits}}"


class _Log(NamedTuple):
    """The plays of one arm, or consecutive ones of them, with the confidence level."""

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
    log = _Log(plays, outcomes, _is_binary(outcomes), level)
    return ArmDiagnosis(label, _rising(log), _concave(log), _plateaued(log), _sigma(log), plays, outcomes)
