"""The state of a study as a pure function of the events in its log. Nothing here uses a database.

A policy learns outcomes in the order in which their decisions were asked for. Tells may arrive in any other order. A
fold therefore keeps two things:

- the *settled* policy, which has learnt everything before the oldest decision that is still open;
- the *reorder window*: that decision and all entries after it. They are applied, in order, to a copy of the settled
  policy, the *live* policy. The live policy decides.

Asking changes neither policy. The reorder window has a capacity, ``reorder``. When it is full, its oldest decision
leaves it, told or not. If such a decision is told later, its outcomes are learnt when they arrive (a *late tell*). So
memory and work are bounded, and the state still depends on the log alone.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rising_bandits._checks import Bools, Ints
from rising_bandits.policies.underway import Underway
from rising_bandits.problems.base import Label
from rising_bandits.studies.log.arms import Arms
from rising_bandits.studies.log.entries import Entry
from rising_bandits.studies.log.events import Event, revalued
from rising_bandits.studies.log.learned import Learned, Resolve, Unlearned
from rising_bandits.studies.log.tally import Tally
from rising_bandits.studies.log.watch import Watch

if TYPE_CHECKING:
    from rising_bandits.studies.scales import Scale
    from rising_bandits.studies.settings import Settings

KEYS_KEPT = 10_000
"""How many keys of asks are remembered: those of the newest asks that have one."""
RELEARNT = frozenset(("policy", "horizon", "scale"))
"""Settings after which the policy learns the whole log again."""


class Fold:
    """The complete state of a study after some event of its log."""

    def __init__(self, learned: Learned, labels: Sequence[Label], resolve: Resolve, settings: Settings) -> None:
        self.settings = settings
        """The settings in force."""
        self.rescaled: Scale | None = None
        """The scale from which all values are computed again; None if the scale was never set."""
        self.frozen = False
        """Whether events of kind ``set`` are passed over: the fold only orders or learns what happened."""
        self.stale = 0
        """The event since which the settled policy has to learn the log again; 0 if it is up to date."""
        self.seq = 0
        """The newest event."""
        self.changed = 0
        """The newest event that is not an ask. Nothing was learnt after it."""
        self.at = 0.0
        """The latest time of an event. The time of a study never goes back behind it."""
        self.digest: int | None = None
        """The checksum of the newest event in its storage; None if it is not known."""
        self.decisions = 0
        """The number of decisions so far."""
        self.labels: list[Label] = list(labels)
        """The label of every key."""
        self.key_of: dict[Label, int] = {label: key for key, label in enumerate(self.labels)}
        self.retired: set[int] = set()
        self.began: dict[int, int] = {}
        """The event of the last restart of each arm, by key. Arms that never restarted are missing."""
        self.own = 0
        """How many decisions the study's own policy has made."""
        self.used: dict[int, int] = {}
        """For each arm with a least share, by key: ``own`` when it was last used, or when its share was set."""
        self.clipped: Counter[int] = Counter()
        """How many outcomes of each arm were clipped by the scale, by key."""
        self.keys: dict[str, tuple[int, int]] = {}
        """The first decision and the number of decisions of an ask with a key, by the key; oldest first."""
        self.settled = learned
        """The settled policy."""
        self.arms = learned.arms
        """The newest problem and its keys."""
        self.arms_since = 1
        """The event that set the newest problem."""
        self.tally = Tally()
        """Counts of what is settled."""
        self.watch = Watch()
        """What was noticed in what is settled."""
        self.window: deque[Entry] = deque()
        """The reorder window, oldest entry first."""
        self.waiting: dict[int, Entry] = {}
        """The decisions in the window, by number."""
        self.unlisted = 0
        """How many decisions left the window and have no final tell."""
        self._live: Learned | None = None
        """The live policy; None if it has to be made again from the settled one."""
        self._spare: Learned | None = None
        """A live policy that is not needed any more, of which the next one is made."""
        self._effects = 0
        """How many entries of the window count."""
        self._newest = 0
        """The newest entry that counts."""
        self._resolve = resolve

    @property
    def live(self) -> Learned:
        """The live policy: the settled policy after it has learnt the whole window."""
        if self._effects == 0:
            return self.settled
        if self._live is None:
            live = self.settled.again(self._spare)
            self._spare = None
            live.take_all(self.window, self._resolve)
            self._live = live
        return self._live

    def learn(self) -> None:
        """Learn what was gathered from events, so that what cannot be learnt shows here."""
        self.settled.learn()
        if self._live is not None:
            self._live.learn()

    def counted(self) -> Tally:
        """The counts of everything so far, settled or not."""
        tally = self.tally.copy()
        for entry in self.window:
            if entry.counts:
                tally.take(entry)
        return tally

    def watched(self) -> Watch:
        """What can be noticed in everything so far, settled or not."""
        watch = self.watch.copy()
        for entry in self.window:
            if entry.counts:
                watch.take(entry, self.began, len(self.arms.keys), self.settled.sigma)
        return watch

    def apply(self, event: Event) -> None:
        """Apply the next event."""
        if self.rescaled is not None:
            event = revalued(event, self.rescaled)
        seq, kind, at, decision, body, digest = event
        if self.settings.scale.clip and "raw" in body and kind != "prior":
            self._clip(event)
        self.seq, self.digest = seq, digest or None
        if at > self.at:
            self.at = at
        if kind == "ask":
            assert decision is not None
            self.decisions = decision
            if (key := body.get("key")) is not None:
                self._remember(key, decision)
            self._use(body)
            entry = Entry.asked(event)
            self.window.append(entry)
            self.waiting[decision] = entry
            # Nothing can settle before an ask that could not settle without it, unless the window is full.
            if len(self.window) > self.settings.reorder:
                self._settle()
            return
        self.changed = seq
        if kind in ("tell", "piece"):
            assert decision is not None
            waits = self.waiting.get(decision)
            if waits is None:
                self.unlisted -= kind == "tell"
                self._push(Entry.too_late(event))
            else:
                self._add(waits, event)
        elif event.kind == "retire":
            self.retired.update(event.body["arms"])
        elif event.kind == "restore":
            self.retired.difference_update(event.body["arms"])
        elif event.kind == "set":
            self._set(event)
        else:
            if event.kind == "problem":
                self._name(event.body)
                self._begin(set(event.body["keys"]).difference(self.arms.keys), event.seq)
            elif event.kind == "reset":
                self._begin(event.body["arms"], event.seq)
                if "fell" in event.body:
                    self.watch.reset(event.at, event.body["arms"], event.body["fell"])
            self._push(Entry(event.seq, closed=True, control=event))
        self._settle()

    def _set(self, event: Event) -> None:
        """Apply an event that changes settings."""
        if self.frozen:
            return
        self.settings = self.settings.changed(event.body)
        if "scale" in event.body:
            self.rescaled = self.settings.scale
            for entry in self.window:
                entry.rescale(self.settings.scale)
        if "least" in event.body:
            self.used = {key: self.used.get(key, self.own) for key, _ in self.settings.least}
        if not RELEARNT.isdisjoint(event.body):
            self.forget(event.seq)

    def _use(self, body: dict[str, Any]) -> None:
        """Note which arms with a least share a decision uses."""
        if "by" not in body:
            self.own += 1
            if self.used:
                for key in body["arms"]:
                    if key in self.used:
                        self.used[key] = self.own

    def freeze(self, rescaled: Scale | None) -> None:
        """Pass over changes of settings from now on; all values are those of a scale, if one is given."""
        self.frozen, self.rescaled = True, rescaled
        if rescaled is not None:
            for entry in self.window:
                entry.rescale(rescaled)

    def forget(self, seq: int) -> None:
        """Note that the policy has to learn the log again, because of an event."""
        self.settled, self._live, self.stale = Unlearned(self.settled.arms), None, seq
        self._spare = None

    def learnt(self, again: Fold) -> None:
        """Use the settled policy of a fold that has read the same log again."""
        self.settled, self._live, self.stale = again.settled, None, 0
        self._spare = None
        self.clipped, self.watch = again.clipped, again.watch

    def _remember(self, key: str, decision: int) -> None:
        """Note a decision of an ask with a key. All decisions of one ask follow each other."""
        first, count = self.keys.pop(key, (decision, 0))
        self.keys[key] = (first, count + 1)
        if len(self.keys) > KEYS_KEPT:
            del self.keys[next(iter(self.keys))]

    def _clip(self, event: Event) -> None:
        """Count the outcomes of an event that the scale clips. Outcomes that a piece told before count once."""
        told = self.waiting.get(event.decision or 0)
        before = set(event.body.get("told", ())).union({} if told is None else told.values or {})
        for key, raw in zip(event.body["arms"], event.body["raw"], strict=True):
            if key not in before:
                outcomes = raw if isinstance(raw, list) else [raw]
                self.clipped[key] += sum(map(self.settings.scale.clips, outcomes))

    def _begin(self, keys: Iterable[int], seq: int) -> None:
        """Note that these arms restart at an event."""
        for key in keys:
            self.began[key] = seq
            self.watch.restart(key)

    def _name(self, body: dict[str, Any]) -> None:
        """Note the labels of new keys."""
        for key, label in zip(body["keys"], self._resolve(body).labels, strict=True):
            if key == len(self.labels):
                self.labels.append(label)
                self.key_of[label] = key

    def _push(self, entry: Entry) -> None:
        """Append an entry to the window."""
        self.window.append(entry)
        if entry.decision:
            self.waiting[entry.decision] = entry
        if entry.control is not None and entry.control.kind == "problem":
            self.arms, self.arms_since = Arms(self._resolve(entry.control.body), entry.control.body), entry.seq
        if entry.counts:
            self._learn(entry)

    def _add(self, entry: Entry, event: Event) -> None:
        """Add a tell to a decision in the window."""
        first = entry.values is None
        entry.add(event)
        if first and entry.seq > self._newest:
            self._learn(entry)
        else:
            # The tell belongs before entries that the live policy has learnt. It is made again when it is needed.
            self._effects += first
            self._spare, self._live = self._live or self._spare, None

    def _learn(self, entry: Entry) -> None:
        """Learn an entry that comes after all entries that count so far."""
        if self._live is not None:
            self._live.take(entry, self._resolve)
        self._effects += 1
        self._newest = entry.seq

    def _settle(self) -> None:
        """Move closed entries, and those beyond the capacity, from the front of the window to the settled policy."""
        window, done = self.window, []
        while window and (window[0].closed or len(window) > self.settings.reorder):
            entry = window.popleft()
            self.waiting.pop(entry.decision, None)
            self.unlisted += not entry.closed
            if entry.counts:
                done.append(entry)
                self.tally.take(entry)
                self.watch.take(entry, self.began, len(self.arms.keys), self.settled.sigma)
        self._effects -= len(done)
        if self._effects == 0 and self._live is not None:
            # The live policy has learnt exactly these entries, so it becomes the settled one.
            self.settled, self._live, self._spare = self._live, None, None
            return
        for entry in done:
            self.settled.take(entry, self._resolve)

    def mask(self, unavailable: Sequence[int] = ()) -> Bools | None:
        """A mask of the retired arms and of ``unavailable`` keys, or None if all arms may be used."""
        blocked = self.retired.union(unavailable)
        if not blocked:
            return None
        arm_of = self.arms.arm_of
        mask = np.zeros(len(arm_of), dtype=np.bool_)
        mask[[arm_of[key] for key in blocked if key in arm_of]] = True
        return mask if mask.any() else None

    def underway(self, settings: Settings, now: float) -> Underway:
        """The super arms of decisions in the window that were not told yet and have not expired.

        They are looked up only if the policy reads them. Super arms that the present problem lacks are left out.
        """
        since = -math.inf if settings.expires is None else now - settings.expires

        def found() -> Iterator[Ints]:
            for entry in self.waiting.values():
                if entry.values is None and entry.asked_at > since:
                    arms = entry.super_arm(self.arms, self.arms_since)
                    if arms is not None:
                        yield arms

        return Underway(found)
