"""Explanations of decisions as data and as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rising_bandits._text import shown_text
from rising_bandits.policies.rules.terms import AVERAGE, BONUS, IMPROVEMENT
from rising_bandits.problems.base import Label
from rising_bandits.studies.reports.units import better
from rising_bandits.studies.scales import UNIT, Scale

HEADINGS = ("arm", "plays", AVERAGE, IMPROVEMENT, BONUS, "index")
"""The columns of a table of reasons."""


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

    On a linear scale it may be better than the best outcome. None if no number has that value."""

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
        expected = (
            None if self.predicted_improvement is None else (self.recent_average or 0.0) + self.predicted_improvement
        )
        if expected is not None and expected > 1.0 + 1e-9:
            # No outcome is that good, though a linear scale has a number for it.
            change = "beyond the best"
        elif self.predicted_outcome is not None and self.recent_outcome is not None:
            change = better(self.predicted_outcome - self.recent_outcome, scale)
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
                "super_arm": [text_of(label) for label in made.super_arm],
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
            "by_averages": None if self.by_averages is None else [text_of(label) for label in self.by_averages],
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
        lines = [f"chosen: {joined(self.chosen.super_arm)}{self._worth(self.chosen)}"]
        if self.runner_up is not None:
            line = f"runner-up: {joined(self.runner_up.super_arm)}{self._worth(self.runner_up)}"
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


def text_of(label: Label) -> str:
    """A label as text."""
    return label if isinstance(label, str) else str(label)


def joined(labels: Sequence[Label]) -> str:
    """Labels as one text."""
    return ", ".join(text_of(label) for label in labels)


def _number(value: float | None, unit: str = "") -> str:
    """A number with its unit, or a dash if it is missing."""
    # Rounded first: a rounding error such as -1e-17 is shown as 0.
    return "–" if value is None else f"{round(value, 9) + 0.0:.4g}{unit}"
