"""Entries of the reorder window: decisions with their outcomes so far, late tells and control events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits.studies.log.arms import Arms
from rising_bandits.studies.log.events import Event, raw_of, revalued, values_of

if TYPE_CHECKING:
    from rising_bandits.studies.scales import Scale

Feedback = tuple[Ints, Floats, int, int]
"""Arms, their outcomes, how many of them were played (they come first), and rounds: see `Policy._take_in`."""


@dataclass(slots=True)
class Entry:
    """An entry of the reorder window: a decision with its outcomes so far, a late tell, or a control event.

    Control events change the policy without a decision: problem, reset, import and prior.
    """

    seq: int
    decision: int = 0
    """The number of the decision; 0 for a late tell and for a control event."""
    arms: tuple[int, ...] = ()
    """The keys of the decision's arms; of a late tell, only those that it still teaches something about."""
    asked_at: float = 0.0
    values: dict[int, float] | None = None
    """The values in [0, 1] that were told so far, by key; None if there was no tell."""
    told: list[dict[int, float]] = field(default_factory=list)
    """The outcomes of each tell, by key, in the user's unit."""
    told_at: list[float] = field(default_factory=list)
    """The time of each tell, in seconds since 1970."""
    closed: bool = False
    """Whether no further tell can change this entry."""
    rounds: int = 1
    """How many rounds the entry counts; 0 for a late tell whose decision has counted its round before."""
    control: Event | None = None
    """The control event; None for decisions and late tells."""
    late: int = 0
    """The number of the decision that a late tell belongs to; 0 for other entries."""
    by: str = ""
    """The name of the rule that decided; empty if it was the study's policy."""
    meta: dict[str, Any] | None = None
    """The metadata of the decision."""
    past: tuple[int, ...] = ()
    """Arms of a late tell that restarted, or left the problem, after the ask. Their outcomes are not learnt."""
    kept: tuple[Arms, Feedback] | None = field(default=None, init=False, repr=False, compare=False)
    """What `feedback` has returned last, and for which arms; None if it is not known."""
    _place: tuple[Arms, Ints | None] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def counts(self) -> bool:
        """Whether it changes what the policy knows."""
        return self.values is not None or self.control is not None

    def add(self, event: Event) -> None:
        """Add the outcomes of a piece or of the final tell."""
        raw = raw_of(event.body)
        values = values_of(event.body) if "value" in event.body else raw
        # Neither of the two is ever changed, so they may be one.
        self.values = {**self.values, **values} if self.values else values
        self.told.append(raw)
        self.told_at.append(event.at)
        self.closed = self.closed or event.kind == "tell"
        self.kept = None

    def feedback(self, known: Arms) -> Feedback:
        """The arms, their outcomes, how many arms were played, and the rounds: the arguments of `Policy._take_in`.

        The result is cached, because a tell out of order makes the live policy learn all later entries again.
        """
        if self.kept is None or self.kept[0] is not known:
            told = self.values or {}
            whole = known.ascending(self.arms) if len(told) == len(self.arms) and not self.late else None
            if whole is not None and all(map(told.__contains__, self.arms)):
                arms, keys = whole
                values = np.array(list(map(told.__getitem__, keys)), dtype=np.float64)
                self.kept = (known, (arms, values, arms.size, self.rounds))
                return self.kept[1]
            # Played arms first, each group in ascending order, as in `Policy.observe`.
            played = sorted((known.arm_of[key], value) for key, value in told.items() if key in known.arm_of)
            others = known.numbers([key for key in self.arms if key not in told])
            arms = np.array([arm for arm, _ in played] + others.tolist(), dtype=np.int64)
            values = np.zeros(arms.size)
            values[: len(played)] = [value for _, value in played]
            self.kept = (known, (arms, values, len(played), self.rounds))
        return self.kept[1]

    def rescale(self, scale: Scale) -> None:
        """Compute the values again from the outcomes, on another scale."""
        if self.control is not None:
            self.control = revalued(self.control, scale)
        elif self.values is not None:
            raw = {key: outcome for told in self.told for key, outcome in told.items()}
            self.values = {key: scale.value(raw[key], "an outcome in the log")[1] for key in self.values}
            self.kept = None

    def super_arm(self, known: Arms, since: int) -> Ints | None:
        """The arms of a decision, ascending, or None if the problem has no such super arm.

        ``since`` is the event that set the problem. The check is slow, so its result is cached, and it is skipped if
        the decision is newer than the problem.
        """
        if self._place is None or self._place[0] is not known:
            arms = known.numbers(self.arms)
            there = self.seq > since or (arms.size == len(self.arms) and known.problem.oracle.is_feasible(arms))
            self._place = (known, arms if there else None)
        return self._place[1]

    @staticmethod
    def asked(event: Event) -> Entry:
        """The entry of a decision, from its ask."""
        assert event.decision is not None
        by, meta = event.body.get("by", ""), event.body.get("meta")
        return Entry(event.seq, event.decision, tuple(event.body["arms"]), event.at, by=by, meta=meta)

    @staticmethod
    def too_late(event: Event) -> Entry:
        """The entry of a late tell, without the outcomes that were learnt before or are not learnt at all."""
        entry = Entry(event.seq, arms=tuple(event.body["of"]), rounds=0 if event.body.get("again") else 1)
        entry.closed, entry.late = True, event.decision or 0
        entry.past = tuple(event.body.get("past", ()))
        entry.add(event)
        skipped = {*entry.past, *event.body.get("told", ())}
        entry.values = {key: value for key, value in values_of(event.body).items() if key not in skipped}
        return entry
