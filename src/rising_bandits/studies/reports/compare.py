"""Comparisons of the study's policy with a rule of the user's, on the same days."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from rising_bandits import _checks
from rising_bandits._text import shown_text
from rising_bandits.errors import InputError
from rising_bandits.problems.base import Problem
from rising_bandits.studies.log.events import raw_of, revalued, values_of
from rising_bandits.studies.log.log import Log
from rising_bandits.studies.reports.units import total

_DAY = 86_400.0


@dataclass(frozen=True)
class Difference:
    """A mean for each of the two, and their difference with a confidence interval."""

    study: float
    """The mean of the study's decisions."""
    other: float
    """The mean of the other's decisions."""
    difference: float
    """How much larger the study's mean is, compared day by day."""
    low: float
    """The lower end of the interval of the difference."""
    high: float
    """The upper end of the interval of the difference."""


@dataclass(frozen=True)
class Comparison:
    """The result of `Study.compare`. Print it to read it."""

    source: str
    """The name of the rule or source."""
    drawn: bool
    """Whether the asks were drawn at random. Otherwise the decisions were recorded."""
    decisions: tuple[int, int]
    """How many decisions of the study and of the other are compared."""
    told: tuple[int, int]
    """How many decisions of both were told, those included that are not compared."""
    untold: tuple[int, int]
    """How many further decisions of both were not told, or not yet."""
    days: int
    """On how many days, or groups of days, both decided at least twice."""
    level: float
    """The confidence level."""
    reward: Difference | None
    """The reward per decision, from values in [0, 1]; None with too few decisions."""
    total: Difference | None
    """The total per decision in the user's unit, of decisions all of whose arms were played; None if there is none."""
    unit: str
    """The name of the user's unit."""
    lower_is_better: bool = field(repr=False)
    """Whether smaller outcomes are better."""

    @property
    def winner(self) -> str | None:
        """Who earned more: ``"study"`` or the source; None if it is not clear yet."""
        if self.reward is None or self.reward.low <= 0.0 <= self.reward.high:
            return None
        return "study" if self.reward.low > 0.0 else self.source

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data that JSON can hold."""
        return {**asdict(self), "winner": self.winner}

    def __str__(self) -> str:
        how = "asks that were drawn at random" if self.drawn else "decisions, of which one part was recorded elsewhere"
        if self.reward is None:
            return shown_text(self._missing(), lines=True)
        days = f"{self.days} day{'' if self.days == 1 else 's'}"
        lines = [f"the study and {self.source!r} on {sum(self.decisions)} {how}, over {days}"]
        unit = f" {self.unit}" if self.unit else ""
        for place, name in enumerate(("study", "other")):
            who = "the study" if place == 0 else repr(self.source)
            mean = f"mean reward {getattr(self.reward, name):.4g}"
            whole = "" if self.total is None else f", mean total {getattr(self.total, name):.4g}{unit}"
            missing = f", {self.untold[place]} more not told" if self.untold[place] else ""
            lines.append(f"{who}: {self.decisions[place]} decisions{missing}, {mean}{whole}")
        percent = f"{100 * self.level:g}% interval"
        span = f"{self.reward.difference:+.3g} a decision ({percent} {self.reward.low:+.3g} to {self.reward.high:+.3g})"
        if self.winner is None:
            lines.append(f"not clear yet who earned more: the study {span}")
        else:
            lines.append(
                f"{'the study' if self.winner == 'study' else repr(self.source)} earned more: the study {span}"
            )
        if self.total is not None:
            word = "lower" if self.total.difference < 0.0 else "higher"
            ends = sorted((abs(self.total.low), abs(self.total.high)))
            clear = self.total.low * self.total.high > 0.0
            shown = f"{ends[0]:.3g} to {ends[1]:.3g}" if clear else f"{self.total.low:+.3g} to {self.total.high:+.3g}"
            lines.append(f"total of the study: {abs(self.total.difference):.4g}{unit} {word} ({percent} {shown}{unit})")
            worse = (self.total.difference > 0.0) == self.lower_is_better
            if self.total.difference and self.reward.difference and worse == (self.reward.difference > 0.0):
                lines.append(
                    "note: reward and total disagree, because a sum of values favours super arms with many arms; "
                    "see the reward 'harmonic' with the scale Reciprocal"
                )
        if not self.drawn:
            lines.append("note: nobody drew who decides when, so other things may differ too; see Study.hand_over")
        return shown_text("\n".join(lines), lines=True)

    def _missing(self) -> str:
        """What is missing for a comparison."""
        counts = [
            f"{told} of {name}{f' ({others} more not told)' if others else ''}"
            for name, told, others in zip(("the study", repr(self.source)), self.told, self.untold, strict=True)
        ]
        return f"too few decisions were told: {' and '.join(counts)}; at least two of each are needed"


@dataclass
class _Made:
    """A decision with its outcomes."""

    at: float
    arms: tuple[int, ...]
    other: bool
    problem: Problem
    raw: dict[int, float] = field(default_factory=dict)
    values: dict[int, float] = field(default_factory=dict)
    closed: bool = False


def compare(log: Log, source: str, level: float) -> Comparison:
    """Compare the decisions of a study with those of a source, see `Study.compare`."""
    level = _checks.number("level", level, low=0.0, high=1.0, open_low=True, open_high=True)
    with log.look() as (now, reader):
        rescaled, scale = now.rescaled, now.settings.scale
        made: dict[int, _Made] = {}
        drawn, sources = False, set()
        offers: dict[int, bool] = {}
        problem = None
        for event in reader.later(log.number, 0):
            if event.kind == "problem":
                problem = log.resolve(event.body)
            elif event.kind == "ask":
                by = event.body.get("by")
                sources.add(by)
                assert event.decision is not None
                assert problem is not None
                offers[event.decision] = source in event.body.get("offered", ())
                drawn = drawn or offers[event.decision]
                if by in (None, source):
                    made[event.decision] = _Made(event.at, tuple(event.body["arms"]), by == source, problem)
            elif event.kind in ("tell", "piece") and event.decision in made:
                again = event if rescaled is None else revalued(event, rescaled)
                decision = made[event.decision]
                decision.raw |= raw_of(again.body)
                decision.values |= values_of(again.body)
                decision.closed = decision.closed or event.kind == "tell"
    if source not in sources:
        known = ", ".join(repr(name) for name in sorted(name for name in sources if name)) or "there are none"
        raise InputError(f"source must be the name of a rule or source in the log ({known}), got {source!r}")
    compared = [decision for number, decision in made.items() if offers[number] or not drawn]
    told = [decision for decision in compared if decision.closed]
    groups = list(_days(told))
    inside = [decision for group in groups for decision in group]
    rewards = [[(decision.other, _reward(decision)) for decision in group] for group in groups]
    totals = [
        [
            (decision.other, whole)
            for decision in group
            if len(decision.raw) == len(decision.arms)
            and (whole := total(decision.problem.reward, scale, list(decision.raw.values()))) is not None
        ]
        for group in groups
    ]
    return Comparison(
        source=source,
        drawn=drawn,
        decisions=(sum(not decision.other for decision in inside), sum(decision.other for decision in inside)),
        told=(sum(not decision.other for decision in told), sum(decision.other for decision in told)),
        untold=(
            sum(not decision.other and not decision.closed for decision in compared),
            sum(decision.other and not decision.closed for decision in compared),
        ),
        days=len(groups),
        level=level,
        reward=difference(rewards, level),
        total=difference(totals, level),
        unit=scale.unit,
        lower_is_better=scale.lower_is_better,
    )


def _reward(decision: _Made) -> float:
    """The reward of a decision; arms that were not played count as 0."""
    return decision.problem.reward.combine(np.array([decision.values.get(key, 0.0) for key in decision.arms]))


def _days(made: list[_Made]) -> Iterator[list[_Made]]:
    """Groups of whole days, each with at least two decisions of both. What is left at the end is dropped."""
    group: list[_Made] = []
    day = None
    for decision in sorted(made, key=lambda decision: decision.at):
        here = decision.at // _DAY
        if day is not None and here != day and _both(group):
            yield group
            group = []
        day = here
        group.append(decision)
    if _both(group):
        yield group


def _both(group: list[_Made]) -> bool:
    """Whether there are at least two decisions of both."""
    other = sum(decision.other for decision in group)
    return other >= 2 and len(group) - other >= 2


def difference(groups: list[list[tuple[bool, float]]], level: float) -> Difference | None:
    """The difference of two means, compared within groups, with an interval by Welch and Satterthwaite.

    Parameters
    ----------
    groups
        For each group, pairs of whether a number belongs to the other one, and the number.
    level
        The confidence level.

    Returns
    -------
    Difference or None
        The means and their difference; None if no group has two numbers of both.

    >>> found = difference([[(False, 1.0), (False, 2.0), (True, 0.0), (True, 1.0)]], 0.95)
    >>> found.difference, round(found.low, 2), round(found.high, 2)
    (1.0, -2.04, 4.04)
    """
    from scipy import stats

    sides = [([number for other, number in group if not other], [number for other, number in group if other])
             for group in groups]  # fmt: skip
    sides = [(ours, theirs) for ours, theirs in sides if len(ours) >= 2 and len(theirs) >= 2]
    size = sum(len(ours) + len(theirs) for ours, theirs in sides)
    if not sides:
        return None
    middle = variance = freedom = 0.0
    for ours, theirs in sides:
        weight = (len(ours) + len(theirs)) / size
        middle += weight * (float(np.mean(ours)) - float(np.mean(theirs)))
        for part in (ours, theirs):
            each = weight * weight * float(np.var(part, ddof=1)) / len(part)
            variance += each
            freedom += each * each / (len(part) - 1)
    reach = 0.0
    if variance > 0.0:
        reach = float(stats.t.ppf(0.5 + level / 2.0, variance * variance / freedom)) * math.sqrt(variance)
    mine = float(np.mean([number for ours, _ in sides for number in ours]))
    yours = float(np.mean([number for _, theirs in sides for number in theirs]))
    return Difference(mine, yours, middle, middle - reach, middle + reach)
