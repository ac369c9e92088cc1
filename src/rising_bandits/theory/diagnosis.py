"""What a diagnosis of a log says: the answers to questions about each arm, as numbers and as text."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from rising_bandits._checks import Floats, Ints
from rising_bandits.errors import InputError

FEWEST = 20
"""An arm with fewer plays gets the verdict "too few plays"."""

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
        coin = "; as outcomes are 0 or 1, give policies 0.5" if is_binary(self.outcomes) else ""
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
        try:
            return {found.label: found for found in self.arms}[label]
        except (KeyError, TypeError):
            pass
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


def is_binary(outcomes: Floats) -> bool:
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
