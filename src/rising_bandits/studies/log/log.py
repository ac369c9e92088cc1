"""The log of one study in one process: what is known, kept up with what other processes write."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from rising_bandits.errors import InputError
from rising_bandits.policies.policy import Policy
from rising_bandits.problems.base import Label, Problem, _label
from rising_bandits.studies.log import snapshot
from rising_bandits.studies.log.events import Event
from rising_bandits.studies.log.fold import Entry, Fold
from rising_bandits.studies.settings import Settings, begin
from rising_bandits.studies.storage.base import Reader, Storage, Writer

SNAPSHOT_EVENTS = 2_000
"""A snapshot is written after so many events, or later where snapshots are large."""
_BYTES_PER_EVENT = 100
_PROBLEMS_KEPT = 4


class Turn:
    """One write: what is known, the clock, and the events to append."""

    def __init__(self, fold: Fold, writer: Writer) -> None:
        self.fold, self.writer, self.now = fold, writer, writer.now
        self.events: list[Event] = []

    def add(self, kind: str, body: dict[str, Any], decision: int | None = None) -> Event:
        """Append an event when the block ends."""
        event = Event(self.fold.seq + len(self.events) + 1, kind, self.now, decision, body)
        self.events.append(event)
        return event


class Log:
    """The log of a study, and what it amounts to at its newest event."""

    def __init__(
        self, name: str, number: int, settings: Settings, storage: Storage, kind: type[Policy], problem: Problem | None
    ) -> None:
        self.name, self.number, self.settings, self.storage = name, number, settings, storage
        self._kind, self._given = kind, problem
        self._fold: Fold | None = None
        self._problems: dict[str, Problem] = {}
        self._snapshot_seq, self._snapshot_size = 0, 0
        self._unreadable = False
        """Whether there are snapshots that this version cannot read."""

    @contextmanager
    def look(self) -> Iterator[tuple[Fold, Reader]]:
        """What is known now."""
        with self.storage.lock, self.storage.read() as reader:
            if not reader.exists(self.number):
                raise InputError(f"study {self.name!r} is gone: it was deleted")
            yield self.follow(reader), reader

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """The study's lock, with everything that others wrote before taken in.

        What the block adds is on disk when it ends. A block that raises changes nothing, and neither does one whose
        events cannot be learnt from, as where a reward of the user's own fails: they are taken in before they are
        written, because a log that holds them could never be read again.
        """
        with self.storage.lock:
            ahead = False
            try:
                with self.storage.write(self.number) as writer:
                    turn = Turn(self.follow(writer), writer)
                    yield turn
                    ahead = True
                    self._take(turn.fold, turn.events)
                    writer.append(self.number, turn.events)
            except BaseException:
                if ahead:
                    # What is in memory is not in the log, which is what counts: read it again.
                    self._fold = None
                raise
            # Who asks is waiting for an answer; who tells can wait a little longer now and then.
            if any(event.kind != "ask" for event in turn.events):
                self.keep_snapshot(turn.fold)

    def _take(self, fold: Fold, events: Sequence[Event] | Iterator[Event]) -> None:
        try:
            for event in events:
                fold.apply(event)
        except BaseException:
            # Half applied is worse than not known: read it again.
            self._fold = None
            raise

    def follow(self, reader: Reader) -> Fold:
        """Take in what was written since, by whomever."""
        if self._fold is None:
            self._fold = self._load(reader)
        self._take(self._fold, reader.later(self.number, self._fold.seq))
        return self._fold

    def begin(self, first: Event) -> Fold:
        """The study after its first event."""
        return begin(self.settings, self._kind(**self.settings.parameters), first, self.resolve)

    def adopt(self, fold: Fold) -> None:
        """Go on from what the log amounts to, as someone who wrote it knows."""
        self._fold = fold

    def _load(self, reader: Reader, upto: int | None = None) -> Fold:
        """The newest snapshot, or else the first event."""
        body = reader.snapshot(self.number, upto)
        if body is not None:
            fold = snapshot.load(body, self._kind, self.resolve, self.settings.reorder)
            if fold is not None:
                if upto is None:
                    self._snapshot_seq, self._snapshot_size = fold.seq, len(body)
                return fold
            self._unreadable = True
        first = next(iter(reader.later(self.number, 0)), None)
        if first is None:
            raise InputError(f"study {self.name!r} is gone: it was deleted")
        return self.begin(first)

    def at(self, reader: Reader, seq: int) -> Fold:
        """The study at its newest snapshot up to an event, or at its beginning; for the caller to go on with."""
        return self._load(reader, upto=seq)

    def before(self, reader: Reader, seq: int) -> Fold:
        """What was known just before an event; not to be changed."""
        if self._fold is not None and self._fold.changed < seq:
            return self._fold
        fold = self._load(reader, upto=seq - 1)
        for event in reader.later(self.number, fold.seq, upto=seq - 1):
            fold.apply(event)
        return fold

    def resolve(self, body: dict[str, Any]) -> Problem:
        """The problem of a problem event, by its data or as handed in."""
        text = json.dumps([body["spec"], body["labels"]])
        if text not in self._problems:
            if body["spec"] is not None:
                problem = Problem.from_spec(body["spec"])
            elif self._given is None or list(self._given.labels) != [_label(label) for label in body["labels"]]:
                arms = ", ".join(repr(_label(label)) for label in body["labels"][:6])
                raise InputError(
                    "problem must be handed in to open this study, because it holds code of the user's own: "
                    f"open(..., problem=...) with the arms {arms}{', ...' if len(body['labels']) > 6 else ''}"
                )
            else:
                problem = self._given
            self._problems = {**dict(list(self._problems.items())[1 - _PROBLEMS_KEPT :]), text: problem}
        return self._problems[text]

    def check_code(self, problem: Problem) -> None:
        """Refuse a second problem with code of the user's own: who opens the study can hand in only one."""
        given = self._given
        if given is not None and given is not problem and given.spec() is None:
            raise InputError(
                "problem must not be a second one that holds code of the user's own, because only one can be handed in "
                "when the study is opened; open it with problem=... where the arms are the same, or create a new study "
                "and import_plays of this one's history()"
            )

    def hand_in(self, problem: Problem) -> None:
        """A problem with code of the user's own, for events that cannot hold it."""
        self._given = problem

    def entry(self, fold: Fold, reader: Reader, number: Any) -> Entry:
        """A decision by its number, from memory or from the log."""
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or not 1 <= number <= fold.decisions:
            known = f"from 1 to {fold.decisions}" if fold.decisions else "but none was asked for yet"
            raise InputError(f"decision must be the id of a decision of study {self.name!r}, {known}; got {number!r}")
        if (entry := fold.waiting.get(int(number))) is not None:
            return entry
        first, *others = reader.of_decision(self.number, int(number))
        entry = asked(first)
        for event in others:
            entry.add(event)
        return entry

    def key(self, fold: Fold, label: Label) -> int:
        """The key of an arm that the problem has now; other names of an arm are fine too."""
        return fold.arms.keys[fold.arms.problem.index(label)]

    def keep_snapshot(self, fold: Fold) -> None:
        """Now and then save what reading the log again would cost; the cost is shared by many events."""
        if not (self._unreadable or self._due(fold, self._snapshot_seq)):
            return
        newest = fold.seq
        # The call that this follows is on disk already: a snapshot that cannot be kept must not make it fail.
        with contextlib.suppress(Exception), self.storage.write() as writer:
            if self._unreadable:
                # They would have every process read the whole log; one of the present kind ends that.
                writer.drop_snapshots(self.number)
            newest = writer.snapshot_seq(self.number)
            if (self._unreadable or self._due(fold, newest)) and writer.exists(self.number):
                newest = self._write_snapshot(writer, fold)
        self._snapshot_seq, self._unreadable = newest, False

    def pass_by(self, writer: Writer, fold: Fold) -> None:
        """Leave snapshots on the way, while a whole log is written at once."""
        if self._due(fold, self._snapshot_seq):
            self._snapshot_seq = self._write_snapshot(writer, fold)

    def _due(self, fold: Fold, newest: int) -> bool:
        return fold.seq - newest >= max(SNAPSHOT_EVENTS, self._snapshot_size // _BYTES_PER_EVENT)

    def _write_snapshot(self, writer: Writer, fold: Fold) -> int:
        body = snapshot.dump(fold)
        writer.keep_snapshot(self.number, fold.seq, body)
        self._snapshot_size = len(body)
        return fold.seq


def asked(event: Event) -> Entry:
    """The decision that an ask event made."""
    assert event.decision is not None
    return Entry(event.seq, event.decision, tuple(event.body["arms"]), event.at)
