"""From the log of a study to what its policy knows: a pure function of the events, without a database.

The policy's state is a function of what was told, in the order in which decisions were asked for. Tells may arrive
in any order: the policy is kept as of the oldest decision that may still be told (settled), and what is known of
later ones is applied to a copy, in order. Asking by itself changes nothing.

A decision leaves the front when ``reorder`` later things have happened, whether it was told or not. If it is told
after that, it counts where it arrives. So memory and work are bounded, and still only the log decides.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits.policies.policy import Policy
from rising_bandits.policies.underway import Underway
from rising_bandits.problems.base import Label, Problem
from rising_bandits.studies.log.arms import Arms
from rising_bandits.studies.log.events import Event, raw_of, values_of
from rising_bandits.studies.log.tally import Tally

Resolve = Callable[[dict[str, Any]], Problem]
"""From the body of a problem event to the problem."""


@dataclass(slots=True)
class Entry:
    """A decision and what is known of it, or another event that has its place among the decisions."""

    seq: int
    decision: int = 0
    arms: tuple[int, ...] = ()
    asked_at: float = 0.0
    values: dict[int, float] | None = None
    """What was told so far, by key, in [0, 1]; None if nothing was."""
    told: list[dict[int, float]] = field(default_factory=list)
    """The content of each tell, in the user's unit."""
    told_at: list[float] = field(default_factory=list)
    closed: bool = False
    rounds: int = 1
    control: Event | None = None
    late: int = 0
    """The decision that a tell is of which came too late for the decision's own place."""
    past: tuple[int, ...] = ()
    """Of such a tell: the arms that began anew since the ask, whose outcomes are of no use."""
    _feedback: tuple[Arms, Ints, Floats, int] | None = field(default=None, init=False, repr=False, compare=False)
    _place: tuple[Arms, Ints | None] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def counts(self) -> bool:
        """Whether it changes what the policy knows."""
        return self.values is not None or self.control is not None

    def add(self, event: Event) -> None:
        """Take in a piece or the final tell."""
        self.values = {**(self.values or {}), **values_of(event.body)}
        self.told.append(raw_of(event.body))
        self.told_at.append(event.at)
        self.closed = self.closed or event.kind == "tell"
        self._feedback = None

    def feedback(self, known: Arms) -> tuple[Ints, Floats, int]:
        """Arms, outcomes and how many of them were played, as `Policy._take_in` wants them.

        Kept, because a tell out of order makes a policy learn all later ones again.
        """
        if self._feedback is None or self._feedback[0] is not known:
            told = self.values or {}
            # In the order of arm numbers, played ones first, as `Policy.observe` has them.
            played = sorted((known.arm_of[key], value) for key, value in told.items() if key in known.arm_of)
            others = known.numbers([key for key in self.arms if key not in told])
            arms = np.array([arm for arm, _ in played] + others.tolist(), dtype=np.int64)
            values = np.zeros(arms.size)
            values[: len(played)] = [value for _, value in played]
            self._feedback = (known, arms, values, len(played))
        return self._feedback[1:]

    def super_arm(self, known: Arms, since: int) -> Ints | None:
        """The arms of a decision, ascending, or None where the problem (of the event ``since``) has no such super arm.

        Looking is slow, so it is done once, and only where the problem is newer than the decision.
        """
        if self._place is None or self._place[0] is not known:
            arms = known.numbers(self.arms)
            there = self.seq > since or (arms.size == len(self.arms) and known.problem.oracle.is_feasible(arms))
            self._place = (known, arms if there else None)
        return self._place[1]

    @staticmethod
    def too_late(event: Event) -> Entry:
        """A tell that counts where it arrives, and of that only what nothing else counted."""
        entry = Entry(event.seq, arms=tuple(event.body["of"]), rounds=0 if event.body.get("again") else 1)
        entry.closed, entry.late = True, event.decision or 0
        entry.past = tuple(event.body.get("past", ()))
        entry.add(event)
        skipped = {*entry.past, *event.body.get("told", ())}
        entry.values = {key: value for key, value in values_of(event.body).items() if key not in skipped}
        return entry


class Learned:
    """A policy, and which arm of its problem has which key."""

    def __init__(self, policy: Policy, arms: Arms) -> None:
        self.policy, self.arms = policy, arms

    def copy(self) -> Learned:
        """An independent copy."""
        return Learned(self.policy.copy(), self.arms)

    def take(self, entry: Entry, resolve: Resolve) -> None:
        """Apply one thing that happened."""
        if entry.control is not None:
            self._control(entry.control, resolve)
        elif entry.values is not None:
            arms, values, played = entry.feedback(self.arms)
            if arms.size == 0:
                self.policy._pass_rounds(entry.rounds)
            else:
                self.policy._take_in(arms, values, played, entry.rounds)

    def _control(self, event: Event, resolve: Resolve) -> None:
        arms = self.arms
        if event.kind == "problem":
            origin = [arms.arm_of.get(key, -1) for key in event.body["keys"]]
            self.arms = Arms(resolve(event.body), event.body)
            self.policy = self.policy.rebase(self.arms.problem, origin)
            self.policy._give_up(event.body["unreachable"])
        elif event.kind == "reset":
            gone = {arms.arm_of[key] for key in event.body["arms"] if key in arms.arm_of}
            origin = [-1 if arm in gone else arm for arm in range(arms.problem.n_arms)]
            self.policy = self.policy.rebase(arms.problem, origin)
            self.policy._give_up(gone.intersection(arms.body["unreachable"]))
        elif event.kind == "import":
            for key, values in zip(event.body["arms"], event.body["value"], strict=True):
                if key in arms.arm_of:
                    self.policy.absorb(arms.arm_of[key], np.asarray(values, dtype=np.float64))
            self.policy._pass_rounds(event.body["rounds"])


class Fold:
    """Everything that a study is at one event of its log."""

    def __init__(self, learned: Learned, labels: Sequence[Label], resolve: Resolve, reorder: int) -> None:
        self.seq = 0
        self.changed = 0
        """The newest event that is not an ask: since then nothing was learnt."""
        self.decisions = 0
        self.labels: list[Label] = list(labels)
        """The label of every key."""
        self.key_of: dict[Label, int] = {label: key for key, label in enumerate(self.labels)}
        self.retired: set[int] = set()
        self.began: dict[int, int] = {}
        """The event with which an arm last began anew, by key; not there for arms that did not."""
        self.settled = learned
        self.arms = learned.arms
        """The newest problem and its keys."""
        self.arms_since = 1
        """The event that brought it."""
        self.tally = Tally()
        """Of what is settled."""
        self.window: deque[Entry] = deque()
        self.waiting: dict[int, Entry] = {}
        """Decisions of the window by number."""
        self.unlisted = 0
        """Decisions that left the window and were not closed."""
        self._live: Learned | None = None
        self._effects = 0
        self._newest = 0
        """The newest entry of those that count."""
        self._resolve, self._reorder = resolve, reorder

    @property
    def live(self) -> Learned:
        """What is known now: the settled policy and all that came later, in the order of the decisions."""
        if self._effects == 0:
            return self.settled
        if self._live is None:
            live = self.settled.copy()
            for entry in self.window:
                live.take(entry, self._resolve)
            self._live = live
        return self._live

    def counted(self) -> Tally:
        """What was played up to now, settled or not."""
        tally = self.tally.copy()
        for entry in self.window:
            if entry.counts:
                tally.take(entry)
        return tally

    def apply(self, event: Event) -> None:
        """Go on by one event."""
        self.seq = event.seq
        self.changed = self.changed if event.kind == "ask" else event.seq
        if event.kind == "ask":
            assert event.decision is not None
            self.decisions = event.decision
            self._push(Entry(event.seq, event.decision, tuple(event.body["arms"]), event.at))
        elif event.kind in ("tell", "piece"):
            assert event.decision is not None
            entry = self.waiting.get(event.decision)
            if entry is None:
                self.unlisted -= event.kind == "tell"
                self._push(Entry.too_late(event))
            else:
                self._add(entry, event)
        elif event.kind == "retire":
            self.retired.update(event.body["arms"])
        elif event.kind == "restore":
            self.retired.difference_update(event.body["arms"])
        else:
            if event.kind == "problem":
                self._name(event.body)
                self._begin(set(event.body["keys"]).difference(self.arms.keys), event.seq)
            elif event.kind == "reset":
                self._begin(event.body["arms"], event.seq)
            self._push(Entry(event.seq, closed=True, control=event))
        self._settle()

    def _begin(self, keys: Iterable[int], seq: int) -> None:
        self.began.update(dict.fromkeys(keys, seq))

    def _name(self, body: dict[str, Any]) -> None:
        for key, label in zip(body["keys"], self._resolve(body).labels, strict=True):
            if key == len(self.labels):
                self.labels.append(label)
                self.key_of[label] = key

    def _push(self, entry: Entry) -> None:
        self.window.append(entry)
        if entry.decision:
            self.waiting[entry.decision] = entry
        if entry.control is not None and entry.control.kind == "problem":
            self.arms, self.arms_since = Arms(self._resolve(entry.control.body), entry.control.body), entry.seq
        if entry.counts:
            self._learn(entry)

    def _add(self, entry: Entry, event: Event) -> None:
        first = entry.values is None
        entry.add(event)
        if first and entry.seq > self._newest:
            self._learn(entry)
        else:
            # It belongs before what was applied already: begin again from the settled policy when asked.
            self._effects += first
            self._live = None

    def _learn(self, entry: Entry) -> None:
        """Take in what comes after all that counts."""
        if self._live is not None:
            self._live.take(entry, self._resolve)
        self._effects += 1
        self._newest = entry.seq

    def _settle(self) -> None:
        window, done = self.window, []
        while window and (window[0].closed or len(window) > self._reorder):
            entry = window.popleft()
            self.waiting.pop(entry.decision, None)
            self.unlisted += not entry.closed
            if entry.counts:
                done.append(entry)
                self.tally.take(entry)
        self._effects -= len(done)
        if self._effects == 0 and self._live is not None:
            # It has taken in just these.
            self.settled, self._live = self._live, None
            return
        for entry in done:
            self.settled.take(entry, self._resolve)

    def mask(self, unavailable: Sequence[int] = ()) -> Bools | None:
        """The arms that may not be used now, retired ones and others, or None where all may."""
        blocked = self.retired.union(unavailable)
        if not blocked:
            return None
        arm_of = self.arms.arm_of
        mask = np.zeros(len(arm_of), dtype=np.bool_)
        mask[[arm_of[key] for key in blocked if key in arm_of]] = True
        return mask if mask.any() else None

    def underway(self, since: float) -> Underway:
        """The super arms of open decisions that were asked for after a time, looked up only when a policy wants them.

        Of a super arm that the problem no longer has nothing is to be learnt by waiting.
        """

        def found() -> Iterator[Ints]:
            for entry in self.waiting.values():
                if entry.values is None and entry.asked_at > since:
                    arms = entry.super_arm(self.arms, self.arms_since)
                    if arms is not None:
                        yield arms

        return Underway(found)
