"""Explanations of decisions: the parts of the arms' indices, and the super arm that came second."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits._text import shown_text
from rising_bandits.errors import InfeasibleError, TooManySuperArmsError
from rising_bandits.oracles.base import finite_weights
from rising_bandits.policies.levels import BaseArmPolicy, RulePolicy, SuperArmPolicy
from rising_bandits.policies.policy import Policy
from rising_bandits.policies.rules.terms import AVERAGE, BONUS, IMPROVEMENT
from rising_bandits.problems.base import Label, Problem
from rising_bandits.studies.reports.units import better, total
from rising_bandits.studies.scales import UNIT, Scale

LISTED = 2_000
"""The runner-up is found by listing all super arms up to this number, and by the solver beyond it."""


@dataclass(frozen=True)
class Reason:
    """What a policy knows about one unit: a base arm, or a super arm for policies that act on super arms.

    An entry is None if the policy does not compute it, or if the unit has too few plays.
    """

    label: str
    """The label of the base arm, or the labels of the super arm."""
    plays: int | None
    """The number of plays."""
    recent_average: float | None
    """The average value in the window."""
    predicted_improvement: float | None
    """How much the policy expects the value to rise."""
    bonus: float | None
    """The part of the index that stands for uncertainty."""
    index: float | None
    """The index; None if it is infinite."""
    recent_outcome: float | None
    """The outcome, in the user's unit, whose value is the recent average.

    It is the average of the outcomes only if the scale is linear."""
    predicted_outcome: float | None
    """The outcome, in the user's unit, whose value is the recent average plus the predicted improvement.

    None if no outcome has that value."""

    def cells(self, scale: Scale) -> list[str]:
        """Format the reason as a row of a table, with the columns `HEADINGS`.

        Parameters
        ----------
        scale
            The scale of the study.

        Returns
        -------
        list of str
            The cells. Average and improvement are in the user's unit, bonus and index are values, where 1 is best.
        """
        change = "–"
        if self.predicted_outcome is not None and self.recent_outcome is not None:
            change = better(self.predicted_outcome - self.recent_outcome, scale)
        elif self.predicted_improvement is not None and self.predicted_improvement > 0.0:
            # No outcome is that good: the average and the improvement are beyond the best value.
            change = "beyond the best"
        unit = f" {scale.unit}" if scale.unit else ""
        return [
            self.label,
            "–" if self.plays is None else f"{self.plays}",
            _number(self.recent_outcome, unit),
            change,
            _number(self.bonus),
            # A policy that does not learn has no plays and no index.
            "first plays" if self.index is None and self.plays is not None else _number(self.index),
        ]


@dataclass(frozen=True)
class Choice:
    """A super arm in an explanation, with its reasons and its score."""

    super_arm: list[Label]
    """Labels of the arms, in the order in which they are used."""
    reasons: list[Reason]
    """What was known about each of its units."""
    score: float | None
    """The reward if every outcome were equal to its index; None if it is infinite or the policy does not learn."""
    total: float | None = None
    """The total in the user's unit if every outcome were its recent average; None if it is not known."""


@dataclass(frozen=True)
class Explanation:
    """Why a study made a decision, from what it knew when the decision was asked for. Print it to read it."""

    study: str
    """The name of the study."""
    decision: int
    """The id of the decision."""
    round: int
    """The round of the policy when the decision was asked for."""
    policy: str
    """The policy with its parameters."""
    unit: str
    """The name of the user's unit."""
    chosen: Choice
    """The super arm of the decision."""
    runner_up: Choice | None
    """The best other super arm that was found; None if there is none or the policy does not learn."""
    margin: float | None
    """The score of the chosen super arm minus that of the runner-up; None if one of them has no score."""
    exact: bool
    """Whether the runner-up is certainly the best of the other super arms."""
    notes: tuple[str, ...]
    """Remarks for the reader."""
    scale: Scale = field(default=UNIT, repr=False)
    """The scale of the study at the time of the decision."""
    by_averages: list[Label] | None = None
    """The super arm that recent averages alone would have chosen; None if an arm has no average yet, or the policy does
    not learn about arms. Chosen arms that are not in it are being explored."""

    @property
    def total_margin(self) -> float | None:
        """The total of the chosen super arm minus that of the runner-up, in the user's unit; None if one is missing."""
        if self.runner_up is None or self.chosen.total is None or self.runner_up.total is None:
            return None
        return self.chosen.total - self.runner_up.total

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain data that JSON can hold."""

        def choice(made: Choice | None) -> dict[str, Any] | None:
            if made is None:
                return None
            return {
                "super_arm": [_text(label) for label in made.super_arm],
                "score": made.score,
                "total": made.total,
                "arms": [dict(reason.__dict__) for reason in made.reasons],
            }

        simple = {
            key: value
            for key, value in self.__dict__.items()
            if key not in ("chosen", "runner_up", "notes", "scale", "by_averages")
        }
        return {
            **simple,
            "total_margin": self.total_margin,
            "scale": self.scale.spec(),
            "chosen": choice(self.chosen),
            "runner_up": choice(self.runner_up),
            "notes": list(self.notes),
            "by_averages": None if self.by_averages is None else [_text(label) for label in self.by_averages],
        }

    def rows(self) -> list[list[str]]:
        """Format the arms of the decision as rows of a table, with the columns `HEADINGS`.

        Returns
        -------
        list of list of str
            One row of cells per arm.
        """
        return [reason.cells(self.scale) for reason in self.chosen.reasons]

    def verdict(self) -> str:
        """Format the decision, the runner-up, the margin and the notes.

        Returns
        -------
        str
            One line for each.
        """
        lines = [f"chosen: {_joined(self.chosen.super_arm)}{self._worth(self.chosen)}"]
        if self.runner_up is not None:
            line = f"runner-up: {_joined(self.runner_up.super_arm)}{self._worth(self.runner_up)}"
            lines.append(line + ("" if self.exact else " (there may be a better one)"))
        lead = [] if self.margin is None else [f"{self.margin:.4g} in the index"]
        if self.total_margin is not None:
            lead.append(f"{better(self.total_margin, self.scale)} in the recent average")
        if lead:
            lines.append(f"margin of the chosen one: {', '.join(lead)}")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _worth(self, choice: Choice) -> str:
        """The total and the score of a super arm in brackets, or nothing if both are missing."""
        unit = f" {self.unit}" if self.unit else ""
        parts = [] if choice.total is None else [f"recently {choice.total:.4g}{unit}"]
        parts += [] if choice.score is None else [f"index {choice.score:.4g}"]
        return f" ({', '.join(parts)})" if parts else ""

    def __str__(self) -> str:
        rows = [list(HEADINGS), *([shown_text(cell) for cell in row] for row in self.rows())]
        widths = [max(len(row[place]) for row in rows) for place in range(len(HEADINGS))]
        table = [
            "  ".join(
                cell.ljust(width) if place == 0 else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        head = f"decision {self.decision} of study {self.study!r}, round {self.round}, {self.policy}"
        return "\n".join([shown_text(head), *table, shown_text(self.verdict(), lines=True)])


HEADINGS = ("arm", "plays", AVERAGE, IMPROVEMENT, BONUS, "index")
"""The columns of a table of reasons."""


def explain_choice(
    policy: Policy,
    arms: Ints,
    mask: Bools | None,
    scale: Scale,
    *,
    study: str,
    decision: int,
    notes: Sequence[str] = (),
) -> Explanation:
    """Explain why a policy chose these arms.

    Parameters
    ----------
    policy
        The policy in the state in which it chose.
    arms
        The chosen super arm.
    mask
        The arms that could not be used; None if all could.
    scale
        The scale of the study.
    study, decision
        The name of the study and the id of the decision.
    notes
        Remarks for the reader.

    Returns
    -------
    Explanation
        The explanation.
    """
    problem, indices = policy.problem, policy.indices()
    plays, wanted = getattr(policy, "plays", None), getattr(policy, "first_plays", 0)
    notes = list(notes)
    learns = isinstance(policy, RulePolicy)
    if isinstance(policy, SuperArmPolicy):
        sets = problem.oracle.super_arms()
        number = {members.tobytes(): place for place, members in enumerate(sets)}
        # A smaller super arm, of a matching without one of its workers, is not in the list.
        units = [number[arms.tobytes()]] if arms.tobytes() in number else []
        free = [place for place, members in enumerate(sets) if mask is None or not mask[members].any()]
        second = max((place for place in free if place not in units), key=lambda place: indices[place], default=None)
        other = None if second is None else sets[second]
        scores = (float(indices[units[0]]) if units else None, None if second is None else float(indices[second]))
        names = [_joined(problem.labels_of(problem.ordered(members))) for members in sets]
        others, exact = ([] if second is None else [second]), True
    else:
        units = problem.ordered(arms).tolist()
        other, exact = runner_up(problem, indices, arms, mask) if learns else (None, True)
        scores = (_reward(problem, indices, arms), None if other is None else _reward(problem, indices, other))
        names = [_text(label) for label in problem.labels]
        others = [] if other is None else problem.ordered(other).tolist()
    if not learns:
        notes.append("this policy does not learn; it decides by a fixed rule")
    elif not notes and plays is not None and any(plays[unit] < wanted for unit in units):
        often = "once" if wanted == 1 else f"{wanted} times"
        notes.append(f"every arm is played {often} first; this decision was made for that, not by the indices")
    if not problem.exact and learns:
        notes.append(f"the solver is not exact for the reward {problem.reward.name!r}")

    reason = _reasons(policy, scale, names, indices)

    def choice(members: Ints, chosen: Sequence[int], score: float | None) -> Choice:
        labels = problem.labels_of(problem.ordered(members))
        found = [reason(unit) for unit in chosen]
        recent = [known.recent_outcome for known in found]
        whole = None
        if not isinstance(policy, SuperArmPolicy) and None not in recent:
            whole = total(problem.reward, scale, [outcome for outcome in recent if outcome is not None])
        return Choice(labels, found, _finite(score) if learns else None, whole)

    first = choice(arms, units, scores[0])
    last = None if other is None else choice(other, others, scores[1])
    best, next_best = first.score, None if last is None else last.score
    margin = None if best is None or next_best is None else best - next_best
    if margin is not None and margin < -1e-9 * max(1.0, abs(best or 0.0)) and not notes:
        notes.append("the runner-up has the larger index: the decision was not the best by its indices")
    return Explanation(
        study,
        decision,
        policy.round,
        repr(policy),
        scale.unit,
        first,
        last,
        margin,
        exact,
        tuple(notes),
        scale,
        _by_averages(policy, arms, mask),
    )


def _by_averages(policy: Policy, arms: Ints, mask: Bools | None) -> list[Label] | None:
    """The super arm that recent averages alone would choose, the given one if none is better; None if not known."""
    terms = policy.terms() if isinstance(policy, BaseArmPolicy) else None
    averages = None if terms is None else terms.get(AVERAGE)
    if averages is None:
        return None
    usable = np.ones(len(averages), dtype=np.bool_) if mask is None else ~mask
    if not np.isfinite(averages[usable]).all():
        return None
    problem, weights = policy.problem, np.where(usable, averages, 0.0)
    try:
        best = problem.oracle.solve(weights, mask)
    except InfeasibleError:
        return None
    if _reward(problem, weights, arms) >= _reward(problem, weights, best):
        best = arms
    return problem.labels_of(problem.ordered(best))


def reasons(policy: Policy, scale: Scale) -> list[Reason]:
    """What a policy knows about each of its units: base arms or super arms."""
    problem = policy.problem
    names = [_text(label) for label in problem.labels]
    if isinstance(policy, SuperArmPolicy):
        names = [_joined(problem.labels_of(problem.ordered(arms))) for arms in problem.oracle.super_arms()]
    reason = _reasons(policy, scale, names, policy.indices())
    return [reason(unit) for unit in range(len(names))]


def _reasons(policy: Policy, scale: Scale, names: Sequence[str], indices: Floats) -> Callable[[int], Reason]:
    """A function that makes the reason of a unit."""
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
    """Find the best super arm other than the chosen one.

    If there are few super arms, all of them are compared. Otherwise the solver is called once for each chosen arm, with
    that arm blocked. Every other super arm lacks one of the chosen arms, unless it contains all of them and more. No
    path, tree, matching or k-set contains another one, so for these the best result is the second best super arm.

    Parameters
    ----------
    problem
        The problem.
    indices
        The index of every base arm.
    arms
        The chosen super arm.
    mask
        The arms that could not be used; None if all could.

    Returns
    -------
    tuple
        The arms of the runner-up (None if there is none), and whether it is certainly the second best.
    """
    weights = finite_weights(np.asarray(indices, dtype=np.float64))
    oracle = problem.oracle
    count = oracle.known_count()
    try:
        listed = oracle.super_arms(LISTED) if count is None or count <= LISTED else None
    except TooManySuperArmsError:
        listed = None
    found = [
        members
        for members in listed or ()
        if not np.array_equal(members, arms) and (mask is None or not mask[members].any())
    ]
    exact = True
    if not found:
        # There are too many to list; or a mask leaves smaller ones, as in a matching without one of its workers.
        blocked = np.zeros(problem.n_arms, dtype=np.bool_) if mask is None else mask.copy()
        for arm in arms.tolist():
            blocked[arm], before = True, blocked[arm]
            try:
                other = oracle.solve(weights, blocked)
                # Without this arm a worker may have no job. Such a smaller matching was not there to be chosen.
                if oracle.is_feasible(other) or oracle.is_allowed(other, mask):
                    found.append(other)
            except InfeasibleError:
                pass
            finally:
                blocked[arm] = before
        exact = problem.exact and problem.reward.additive
    if not found:
        return None, True
    # Of super arms of equal score the one with the larger indices comes second.
    return max(found, key=lambda members: (_reward(problem, weights, members), float(weights[members].sum()))), exact


def _reward(problem: Problem, weights: Floats, arms: Ints) -> float:
    """The reward if every outcome were equal to its weight.

    For products and harmonic rewards a weight counts as the solver counts it: below 0 as 0, and in a product above 1 as
    1. Otherwise two weights below 0 would make a large product.
    """
    values = weights[problem.ordered(arms)]
    if problem.reward.function is None and problem.reward.name in ("product", "harmonic"):
        values = np.clip(values, 0.0, 1.0 if problem.reward.name == "product" else np.inf)
    return problem.reward.combine(values)


def _finite(value: Any) -> float | None:
    """The number, or None if it is missing or not finite."""
    return None if value is None or not math.isfinite(value) else float(value)


def _text(label: Label) -> str:
    """A label as text."""
    return label if isinstance(label, str) else str(label)


def _joined(labels: Sequence[Label]) -> str:
    """Labels as one text."""
    return ", ".join(_text(label) for label in labels)


def _number(value: float | None, unit: str = "") -> str:
    """A number with its unit, or a dash if it is missing."""
    # Rounded first: a rounding error such as -1e-17 is shown as 0.
    return "–" if value is None else f"{round(value, 9) + 0.0:.4g}{unit}"
