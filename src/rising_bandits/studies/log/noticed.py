"""What a study has noticed, in the words and the unit of its user."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from rising_bandits._text import shown_text
from rising_bandits.problems.base import Label
from rising_bandits.studies.log.fold import Fold
from rising_bandits.studies.log.watch import Watch
from rising_bandits.theory.falls import Fall
from rising_bandits.theory.noise import Contradiction, contradiction


@dataclass(frozen=True)
class Change:
    """An arm that has fallen. Print it to read it."""

    label: Label
    """The label of the arm."""
    since: int
    """The first play after the fall, from 1, counted since the last reset of the arm."""
    plays: int
    """The plays of the arm since its last reset."""
    before: float
    """The mean outcome before the fall, in the user's unit."""
    after: float
    """The mean outcome since the fall, in the user's unit."""
    chance: float
    """A bound on the chance to see this for any arm, ever, if no arm falls."""
    unit: str = ""
    """The name of the user's unit."""
    reset_at: float | None = None
    """When the study reset the arm for this fall, in seconds since 1970; None if it did not."""

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return shown_text(
            f"{self.label} has fallen since play {self.since}: from {self.before:.4g}{unit} to {self.after:.4g}{unit} "
            f"({self.plays} plays)"
            + ("" if self.reset_at is None else f"; the study has reset it at {_time(self.reset_at)}")
        )


def _time(seconds: float) -> str:
    """A time as text."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(sep=" ", timespec="seconds")


def change_of(fold: Fold, key: int, found: Fall, reset_at: float | None = None) -> Change:
    """A fall of an arm in the user's unit."""
    scale = fold.settings.scale
    before, after = (
        value if (outcome := scale.outcome(value)) is None else outcome for value in (found.before, found.after)
    )
    return Change(fold.labels[key], found.since, found.plays, before, after, found.chance, scale.unit, reset_at)


def doubt(fold: Fold, watch: Watch | None = None) -> Contradiction | None:
    """Whether outcomes contradict the sigma of the policy; by default those that are settled."""
    sigma = fold.settled.sigma
    if sigma is None:
        return None
    steps = (fold.watch if watch is None else watch).steps()
    mine = {fold.labels[key]: each for key, each in steps.items() if key in fold.arms.arm_of}
    return contradiction(mine, sigma, fold.arms.problem.n_arms)
