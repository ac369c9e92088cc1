"""Why a decision: what the indices of its arms are made of, and which super arm came second."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits.errors import InfeasibleError, TooManySuperArmsError
from rising_bandits.oracles.base import finite_weights
from rising_bandits.policies.engines.cover import PLAYS_FIRST
from rising_bandits.policies.levels import RulePolicy, SuperArmPolicy
from rising_bandits.policies.policy import Policy
from rising_bandits.policies.rules.terms import AVERAGE, BONUS, IMPROVEMENT
from rising_bandits.problems.base import Label, Problem
from rising_bandits.studies.scales import Scale

LISTED = 2_000
"""Families up to this size are listed to find the runner-up; in larger ones the solver looks for it."""


@dataclass(frozen=True)
class Reason:
    """What is known of one unit (a base arm, or a super arm for policies that act on those)."""

    label: str
    plays: int | None
    recent_average: float | None
    predicted_improvement: float | None
    bonus: float | None
    index: float | None
    """None where it is infinite: a unit with too few plays."""
    recent_outcome: float | None
    """The outcome, in the user's unit, whose value is the recent average; not the average of outcomes where the scale
    is not linear."""
    predicted_outcome: float | None
    """With the predicted improvement, in the user's unit; None where no outcome has that value."""

    def cells(self, unit: str) -> list[str]:
        """The cells of a row of a table; see `HEADINGS`. Outcomes are in the user's unit, the rest is on [0, 1]."""
        change = None
        if self.predicted_outcome is not None and self.recent_outcome is not None:
            change = self.predicted_outcome - self.recent_outcome
        unit = f" {unit}" if unit else ""
        return [
            self.label,
            "–" if self.plays is None else f"{self.plays}",
            _number(self.recent_outcome, unit),
            _number(change, unit, sign="+"),
            _number(self.bonus),
            # A policy that does not learn counts no plays.
            "first plays" if self.index is None and self.plays is not None else _number(self.index),
        ]


@dataclass(frozen=True)
class Choice:
    """A super arm, the reasons for it, and the reward that its indices promise."""

    super_arm: list[Label]
    reasons: list[Reason]
    score: float | None


@dataclass(frozen=True)
class Explanation:
    """Why a study decided as it did, from what it knew when it was asked."""

    study: str
    decision: int
    round: int
    policy: str
    unit: str
    chosen: Choice
    runner_up: Choice | None
    margin: float | None
    exact: bool
    """Whether the runner-up is surely the second best."""
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""

        def choice(made: Choice | None) -> dict[str, Any] | None:
            if made is None:
                return None
            return {
                "super_arm": [_text(label) for label in made.super_arm],
                "score": made.score,
                "arms": [dict(reason.__dict__) for reason in made.reasons],
            }

        simple = {key: value for key, value in self.__dict__.items() if key not in ("chosen", "runner_up", "notes")}
        return {
            **simple,
            "chosen": choice(self.chosen),
            "runner_up": choice(self.runner_up),
            "notes": list(self.notes),
        }

    def rows(self) -> list[list[str]]:
        """The arms of the decision as the cells of a table; see `HEADINGS`."""
        return [reason.cells(self.unit) for reason in self.chosen.reasons]

    def verdict(self) -> str:
        """The decision, the runner-up and the margin in one or two lines."""
        lines = [f"chosen: {_joined(self.chosen.super_arm)}" + _score(self.chosen.score)]
        if self.runner_up is not None:
            line = f"runner-up: {_joined(self.runner_up.super_arm)}" + _score(self.runner_up.score)
            if self.margin is not None:
                line += f", behind by {self.margin:.4g}"
            lines.append(line + ("" if self.exact else " (there may be a better one)"))
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def __str__(self) -> str:
        rows = [list(HEADINGS), *self.rows()]
        widths = [max(len(row[place]) for row in rows) for place in range(len(HEADINGS))]
        table = [
            "  ".join(
                cell.ljust(width) if place == 0 else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        head = f"decision {self.decision} of study {self.study!r}, round {self.round}, {self.policy}"
        return "\n".join([head, *table, self.verdict()])


HEADINGS = ("arm", "plays", AVERAGE, IMPROVEMENT, BONUS, "index")


def explain_choice(
    policy: Policy, arms: Ints, mask: Bools | None, scale: Scale, *, study: str, decision: int
) -> Explanation:
    """Why a policy, in the state in which it was asked, chose these arms."""
    problem, indices = policy.problem, policy.indices()
    plays = getattr(policy, "plays", None)
    notes = []
    learns = isinstance(policy, RulePolicy)
    if isinstance(policy, SuperArmPolicy):
        sets = problem.oracle.super_arms()
        number = {members.tobytes(): place for place, members in enumerate(sets)}
        units = [number[arms.tobytes()]]
        free = [place for place, members in enumerate(sets) if mask is None or not mask[members].any()]
        second = max((place for place in free if place != units[0]), key=lambda place: indices[place], default=None)
        other = None if second is None else sets[second]
        scores = (float(indices[units[0]]), None if second is None else float(indices[second]))
        names = [_joined(problem.labels_of(problem.ordered(members))) for members in sets]
        others, exact = ([] if second is None else [second]), True
    else:
        units = problem.ordered(arms).tolist()
        other, exact = runner_up(problem, indices, arms, mask) if learns else (None, True)
        scores = (_reward(problem, indices, arms), None if other is None else _reward(problem, indices, other))
        names = [_text(label) for label in problem.labels]
        others = [] if other is None else problem.ordered(other).tolist()
    if not learns:
        notes.append("this policy does not learn; the decision has no reason but its rule")
    elif plays is not None and any(plays[unit] < PLAYS_FIRST for unit in units):
        notes.append(f"every arm is played {PLAYS_FIRST} times first; this decision serves that, not the indices")
    if not problem.exact and learns:
        notes.append(f"the solver is not exact for the reward {problem.reward.name!r}")

    reason = _reasons(policy, scale, names, indices)

    def choice(members: Ints, chosen: Sequence[int], score: float | None) -> Choice:
        labels = problem.labels_of(problem.ordered(members))
        return Choice(labels, [reason(unit) for unit in chosen], _finite(score) if learns else None)

    first = choice(arms, units, scores[0])
    last = None if other is None else choice(other, others, scores[1])
    best, next_best = first.score, None if last is None else last.score
    margin = None if best is None or next_best is None else best - next_best
    return Explanation(
        study, decision, policy.round, repr(policy), scale.unit, first, last, margin, exact, tuple(notes)
    )


def reasons(policy: Policy, scale: Scale) -> list[Reason]:
    """What is known of every unit of a policy: its base arms, or its super arms."""
    problem = policy.problem
    names = [_text(label) for label in problem.labels]
    if isinstance(policy, SuperArmPolicy):
        names = [_joined(problem.labels_of(problem.ordered(arms))) for arms in problem.oracle.super_arms()]
    reason = _reasons(policy, scale, names, policy.indices())
    return [reason(unit) for unit in range(len(names))]


def _reasons(policy: Policy, scale: Scale, names: Sequence[str], indices: Floats) -> Callable[[int], Reason]:
    learns = isinstance(policy, RulePolicy)
    terms = policy.terms() if isinstance(policy, RulePolicy) else None
    plays = getattr(policy, "plays", None)

    def reason(unit: int) -> Reason:
        part = {name: _finite(values[unit]) for name, values in (terms or {}).items()}
        average, better = part.get(AVERAGE), part.get(IMPROVEMENT)
        predicted = None if average is None or better is None else scale.outcome(average + better)
        return Reason(
            label=names[unit],
            plays=None if plays is None else int(plays[unit]),
            recent_average=average,
            predicted_improvement=better,
            bonus=part.get(BONUS),
            index=_finite(indices[unit]) if learns else None,
            recent_outcome=None if average is None else scale.outcome(average),
            predicted_outcome=predicted,
        )

    return reason


def runner_up(problem: Problem, indices: Floats, arms: Ints, mask: Bools | None) -> tuple[Ints | None, bool]:
    """The best super arm but one, and whether it surely is.

    A small family is listed. Otherwise another super arm lacks at least one arm of the best, so the best of those
    without each arm in turn is the second best; unless a super arm holds all of the best and more, which families of
    paths, trees, matchings and k-sets do not have.
    """
    weights = finite_weights(np.asarray(indices, dtype=np.float64))
    oracle = problem.oracle
    count = oracle.known_count()
    try:
        listed = oracle.super_arms(LISTED) if count is None or count <= LISTED else None
    except TooManySuperArmsError:
        listed = None
    if listed is not None:
        found = [
            members
            for members in listed
            if not np.array_equal(members, arms) and (mask is None or not mask[members].any())
        ]
        exact = True
    else:
        found = []
        blocked = np.zeros(problem.n_arms, dtype=np.bool_) if mask is None else mask.copy()
        for arm in arms.tolist():
            blocked[arm], before = True, blocked[arm]
            try:
                found.append(oracle.solve(weights, blocked))
            except InfeasibleError:
                pass
            finally:
                blocked[arm] = before
        exact = problem.exact and problem.reward.additive
    if not found:
        return None, True
    return max(found, key=lambda members: _reward(problem, weights, members)), exact


def _reward(problem: Problem, weights: Floats, arms: Ints) -> float:
    """What the reward would be if outcomes were as good as the indices say."""
    return problem.reward.combine(weights[problem.ordered(arms)])


def _finite(value: Any) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def _text(label: Label) -> str:
    return label if isinstance(label, str) else str(label)


def _joined(labels: Sequence[Label]) -> str:
    return ", ".join(_text(label) for label in labels)


def _number(value: float | None, unit: str = "", sign: str = "") -> str:
    # What rounding leaves of a zero is no news.
    return "–" if value is None else f"{round(value, 9) + 0.0:{sign}.4g}{unit}"


def _score(score: float | None) -> str:
    return "" if score is None else f" (index {score:.4g})"
