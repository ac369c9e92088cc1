"""The log of a study as one process sees it, kept up to date with what other processes write."""

from __future__ import annotations

import itertools
import json
import logging
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np

from rising_bandits.errors import InputError, RisingBanditsError, StorageError, StudyGoneError
from rising_bandits.policies.policy import Policy
from rising_bandits.problems.base import Label, Problem
from rising_bandits.studies.log import snapshot
from rising_bandits.studies.log.code import Code
from rising_bandits.studies.log.entries import Entry
from rising_bandits.studies.log.events import Event
from rising_bandits.studies.log.fold import Fold
from rising_bandits.studies.log.noticed import change_of, doubt
from rising_bandits.studies.scales import Scale
from rising_bandits.studies.settings import Settings, begin
from rising_bandits.studies.storage.base import Reader, Storage, Writer
from rising_bandits.studies.storage.blocks import block

_LOGGER = logging.getLogger(__name__)

SNAPSHOT_EVENTS = 2_000
"""The least number of events between two snapshots. It is larger if snapshots are large, see `Log._due`."""
_BYTES_PER_EVENT = 100
"""A snapshot of so many bytes has to wait for one more event."""
_RIVALS_KEPT = 4
"""Of how many policies of rules the state is kept."""


class Turn:
    """A write transaction: the state of the study, the time, and the events to append."""

    def __init__(self, fold: Fold, writer: Writer, author: str | None = None) -> None:
        self.fold, self.writer, self._author = fold, writer, author
        self.now = study_time(fold, writer)
        self.events: list[Event] = []

    def add(self, kind: str, body: dict[str, Any], decision: int | None = None) -> Event:
        """Add an event, which is written when the transaction ends."""
        event = Event(self.fold.seq + len(self.events) + 1, kind, self.now, decision, body)
        self.events.append(event)
        return event

    def change(self, kind: str, body: dict[str, Any]) -> Event:
        """Add a change that somebody makes, with the name of who it is if that is known."""
        return self.add(kind, body if self._author is None else {**body, "author": self._author})


class Log:
    """The log of a study, and the state of the study after its newest event."""

    def __init__(
        self,
        name: str,
        number: int,
        settings: Settings,
        storage: Storage,
        kind: type[Policy] | None = None,
        problem: Problem | None = None,
    ) -> None:
        self.name, self.number, self.storage = name, number, storage
        self.settings = settings
        """The settings with which the study was created. Those in force are `Fold.settings`."""
        self.code = Code(kind, problem)
        self.resolve = self.code.resolve
        self._fold: Fold | None = None
        self._snapshot_seq, self._snapshot_size = 0, 0
        self._group: Writer | None = None
        """The transaction of the open `group`; None if there is none."""
        self._ready: Fold | None = None
        """A state with settings that are about to be set, see `learn_ahead`."""
        self.author: str | None = None
        """Who makes the changes from now on; None if nobody is named."""
        self._rivals: dict[str, Fold] = {}
        """States with the policies of rules in place of the study's own, see `rival`."""
        self._unreadable = False
        """Whether the storage holds a snapshot that this version cannot read."""

    @block
    def look(self) -> Generator[tuple[Fold, Reader], None, None]:
        """A read transaction: the present state, and a reader."""
        with self.storage.lock, self._reading() as reader:
            yield self.follow(reader), reader

    def _reading(self) -> AbstractContextManager[Reader]:
        """A read transaction, or the open group, which has written what no other transaction can see yet."""
        return self.storage.read() if self._group is None else nullcontext(self._group)

    @contextmanager
    def group(self) -> Iterator[None]:
        """One transaction for all turns in the block, each of which may fail by itself. Other threads wait.

        Nothing is stored before the block ends. If it raises, or cannot be stored, none of its turns counts.
        """
        with self.storage.lock:
            if self._group is not None:
                raise InputError("a group of calls must not be inside another one of the same study")
            try:
                with self.storage.write(self.number) as writer:
                    before = self.follow(writer).changed
                    self._group = writer
                    try:
                        yield
                    finally:
                        self._group = None
            except BaseException:
                # Memory may hold events that the log does not. Read the log again.
                self.forget()
                raise
            if self._fold is not None and self._fold.changed != before:
                self.keep_snapshot(self._fold)

    @block
    def turn(self) -> Generator[Turn, None, None]:
        """A write transaction: the study is locked, and its state is up to date.

        The events that the block adds are stored when it ends. A block that raises changes nothing. Events are applied
        before they are stored. If that fails, for example in a reward of the user's own, they are not stored, because
        a log that contains them could never be read again.
        """
        with self.storage.lock:
            ahead, group = False, self._group
            try:
                write = self.storage.write(self.number, self._catch_up) if group is None else nullcontext(group)
                with write as writer:
                    turn = Turn(self.follow(writer), writer, self.author)
                    yield turn
                    if turn.events:
                        ahead = True
                        self._take(turn.fold, turn.events)
                        again = turn.fold.stale > 0
                        self.relearn(turn.fold, writer, turn.events)
                        turn.fold.digest = writer.append(self.number, turn.events)
                        if again:
                            # Other processes read this snapshot, and need not read the whole log.
                            writer.keep_snapshot(self.number, turn.fold.seq, snapshot.dump(turn.fold))
            except BaseException:
                if ahead:
                    # Memory may hold events that the log does not. Read the log again.
                    self.forget()
                raise
            if turn.fold.watch.news:
                self._say_noticed(turn.fold)
            # A snapshot takes time. It is never written after an ask, because the caller waits for the decision.
            if group is None and turn.events and turn.events[-1].kind != "ask":
                self.keep_snapshot(turn.fold)

    def _say_noticed(self, fold: Fold) -> None:
        """Log what was noticed: arms that fell, and outcomes that contradict sigma. Each process says it once."""
        watch = fold.watch
        for what, key in watch.news:
            if what == "fall" and key in watch.fallen and fold.settings.falls != "ignore":
                change = change_of(fold, key, watch.fallen[key])
                _LOGGER.warning("study %r: %s; see Study.fallen()", self.name, change)
            elif what == "sigma" and (found := doubt(fold)) is not None:
                _LOGGER.warning("study %r: %s; see Study.contradiction()", self.name, found)
        watch.news.clear()

    def _take(self, fold: Fold, events: Iterable[Event]) -> None:
        """Apply events to a fold."""
        try:
            for event in events:
                fold.apply(event)
            fold.learn()
        except BaseException:
            # The events may be applied in part. Read the log again.
            self.forget()
            raise

    def _catch_up(self) -> None:
        """Read what others wrote. It is called while others come first, so that less is left to do in one's turn."""
        with self.storage.read() as reader:
            self.follow(reader)

    def follow(self, reader: Reader) -> Fold:
        """The state after all events in the storage. New events, of any process, are read and applied."""
        try:
            if self._fold is None:
                self._fold = self._loaded(reader)
            fold = self._fold
            self._apply(fold, reader.later(self.number, fold.seq, digest=fold.digest))
            if fold.stale:
                self._fold = fold = self._refresh(reader, fold)
            return fold
        except StudyGoneError:
            raise StudyGoneError(f"study {self.name!r} is gone: it was deleted") from None

    def _apply(self, fold: Fold, events: Iterable[Event]) -> None:
        """Apply events that were read from the storage. One that says nothing sensible is a fault of the storage."""
        before = fold.seq
        try:
            for event in events:
                fold.apply(event)
            if fold.seq != before:
                fold.learn()
        except BaseException as error:
            if isinstance(error, RisingBanditsError) and fold.seq == before:
                # Nothing could be read.
                raise
            # What was read may be applied in part. Read the log again.
            self.forget()
            if isinstance(error, Exception) and not isinstance(error, RisingBanditsError):
                raise StorageError(
                    f"event {fold.seq} of study {self.name!r} in {self.storage.place} cannot be applied "
                    f"({type(error).__name__}: {error}); see rising study check"
                ) from error
            raise

    def _refresh(self, reader: Reader, fold: Fold) -> Fold:
        """The same state with a policy that has learnt the log: from a newer snapshot, or from the whole log."""
        found = self._load(reader)
        if not found.stale and found.seq >= fold.stale:
            self._apply(found, reader.later(self.number, found.seq, digest=found.digest))
            return found
        self.relearn(fold, reader)
        return fold

    def relearn(self, fold: Fold, reader: Reader, unwritten: Sequence[Event] = ()) -> None:
        """If the policy or the scale was set, let the policy in force learn the whole log.

        ``unwritten`` are the newest events, which are not stored yet.
        """
        if not fold.stale:
            return
        ready, self._ready = self._ready, None
        if (
            ready is not None
            and ready.seq <= fold.seq
            and (ready.settings, ready.rescaled)
            == (
                fold.settings,
                fold.rescaled,
            )
        ):
            again = ready
        else:
            again = self._begin_again(reader, fold.settings, fold.rescaled)
        later = reader.later(self.number, again.seq, upto=fold.seq, digest=again.digest)
        self._apply(again, itertools.chain(later, unwritten))
        fold.learnt(again)

    def _begin_again(self, reader: Reader, settings: Settings, rescaled: Scale | None) -> Fold:
        """The state after the first event with other settings, to learn the log again."""
        again = self._start(next(reader.later(self.number, 0, 1)), settings)
        again.freeze(rescaled)
        return again

    def rival(self, settings: Settings, fold: Fold, reader: Reader) -> Fold:
        """The state of the study with another policy, which has learnt the same log as a fold. It must not be changed.

        It is kept, so that the next call only learns what is new. The first call reads the whole log.
        """
        parts = [settings.policy, settings.parameters, settings.horizon, settings.scale.spec(), settings.reorder]
        mark = json.dumps(parts, sort_keys=True)
        again = self._rivals.pop(mark, None)
        if again is None or again.seq > fold.seq:
            again = self._begin_again(reader, settings, fold.rescaled)
        self._apply(again, reader.later(self.number, again.seq, upto=fold.seq, digest=again.digest))
        self._rivals[mark] = again
        while len(self._rivals) > _RIVALS_KEPT:
            del self._rivals[next(iter(self._rivals))]
        return again

    def learn_ahead(self, body: dict[str, Any], kind: type[Policy] | None = None) -> None:
        """Learn the log with settings that are about to be set, so that no writer has to wait while it is read.

        Parameters
        ----------
        body
            The body of the event that will set them.
        kind
            The class of the policy, if it is set.
        """
        before = self.code.policy
        self.code.policy = before if kind is None else kind
        try:
            with self.look() as (fold, reader):
                settings = fold.settings.changed(body)
                again = self._begin_again(reader, settings, settings.scale if "scale" in body else fold.rescaled)
                self._apply(again, reader.later(self.number, again.seq, upto=fold.seq, digest=again.digest))
                self._ready = again
        except BaseException:
            self.code.policy = before
            raise

    def begin(self, first: Event, settings: Settings | None = None) -> Fold:
        """The state after the first event, with the settings of the beginning or with others."""
        if settings is not None or self.code.has_class(self.settings.policy):
            settings = self.settings if settings is None else settings
            return begin(settings, self.code.kind(settings.policy)(**settings.parameters), first, self.resolve)
        # The class of the first policy is not known. It is not needed if another policy was set later.
        return begin(self.settings, None, first, self.resolve)

    def _start(self, first: Event, settings: Settings | None = None) -> Fold:
        """The state after the first event of the storage."""
        try:
            return self.begin(first, settings)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
            if isinstance(error, RisingBanditsError):
                raise
            raise StorageError(
                f"the first event of study {self.name!r} in {self.storage.place} cannot be applied "
                f"({type(error).__name__}: {error}); see rising study check"
            ) from error

    def forget(self) -> None:
        """Read the log again when the state is needed next."""
        self._fold = None
        self._rivals.clear()

    def adopt(self, fold: Fold) -> None:
        """Use this fold as the present state, so that the log need not be read again."""
        self._fold = fold

    def _loaded(self, reader: Reader) -> Fold:
        """The state from the newest snapshot and the events after it; if these do not fit, the state after event 1."""
        fold = self._load(reader)
        if fold.seq > 1:
            try:
                self._apply(fold, reader.later(self.number, fold.seq, digest=fold.digest))
            except StorageError as error:
                # The log alone suffices. If it is damaged itself, reading it says so.
                _LOGGER.warning("a snapshot of study %r does not fit its log, which is read: %s", self.name, error)
                self._unreadable = True
                return self._start(next(reader.later(self.number, 0, 1)))
        return fold

    def _load(self, reader: Reader, upto: int | None = None) -> Fold:
        """The state at the newest snapshot (not after ``upto``), or after the first event if there is no snapshot."""
        body = reader.snapshot(self.number, upto)
        if body is not None:
            fold = snapshot.load(body, self.code.kind, self.resolve, self.settings)
            if fold is not None and self._belongs(reader, fold):
                if upto is None:
                    self._snapshot_seq, self._snapshot_size = fold.seq, len(body)
                return fold
            self._unreadable = True
        return self._start(next(reader.later(self.number, 0, 1)))

    def _belongs(self, reader: Reader, fold: Fold) -> bool:
        """Whether a snapshot was made from this log: its newest event must be the same."""
        try:
            next(reader.later(self.number, fold.seq, digest=fold.digest), None)
        except StorageError as error:
            _LOGGER.warning("a snapshot of study %r does not belong to its log, which is read: %s", self.name, error)
            return False
        return True

    def at(self, reader: Reader, seq: int) -> Fold:
        """The state at the newest snapshot that is not after an event. The caller may change it."""
        return self._load(reader, upto=seq)

    def before(self, reader: Reader, seq: int) -> Fold:
        """The state just before an event. The caller must not change it."""
        if self._fold is not None and self._fold.changed < seq:
            return self._fold
        fold = self._load(reader, upto=seq - 1)
        self._apply(fold, reader.later(self.number, fold.seq, upto=seq - 1, digest=fold.digest))
        self.relearn(fold, reader)
        return fold

    def entry(self, fold: Fold, reader: Reader | None, number: Any) -> Entry:
        """A decision by its number, from memory or from the log. Without a reader it must be in memory."""
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or not 1 <= number <= fold.decisions:
            known = f"from 1 to {fold.decisions}" if fold.decisions else "but none was asked for yet"
            raise InputError(f"decision must be the id of a decision of study {self.name!r}, {known}; got {number!r}")
        if (entry := fold.waiting.get(int(number))) is not None:
            return entry
        assert reader is not None
        first, *others = reader.of_decision(self.number, int(number))
        try:
            entry = asked(first)
            for event in others:
                entry.add(event)
        except (KeyError, TypeError, ValueError) as error:
            raise StorageError(
                f"decision {number} of study {self.name!r} in {self.storage.place} cannot be read "
                f"({type(error).__name__}: {error}); see rising study check"
            ) from error
        return entry

    def key(self, fold: Fold, label: Label) -> int:
        """The key of an arm of the present problem, by its label or another of its names."""
        return fold.arms.keys[fold.arms.problem.index(label)]

    def keys(self, fold: Fold, labels: Sequence[Label]) -> list[int]:
        """The keys of the arms that some labels or other names stand for, each once."""
        named = fold.arms.problem.named
        return list(dict.fromkeys(fold.arms.keys[arm] for label in labels for arm in named(label)))

    def keep_snapshot(self, fold: Fold) -> None:
        """Write a snapshot if enough events have happened since the last one."""
        if not (self._unreadable or self._due(fold, self._snapshot_seq)):
            return
        newest = fold.seq
        # The call itself is already stored. It must not fail because its snapshot cannot be written.
        try:
            with self.storage.read() as reader:
                newest = reader.snapshot_seq(self.number)
            if self._unreadable or self._due(fold, newest):
                # Made before the study is locked: others need not wait for that.
                body = snapshot.dump(fold)
                self._snapshot_size = len(body)
                with self.storage.write(self.number) as writer:
                    if self._unreadable:
                        # While these remain, every process reads the whole log when it opens the study.
                        writer.drop_snapshots(self.number)
                    # Raises if the study was deleted, or its log replaced.
                    next(writer.later(self.number, fold.seq, digest=fold.digest), None)
                    newest = writer.snapshot_seq(self.number)
                    # Another process may have written one since.
                    if self._unreadable or self._due(fold, newest):
                        writer.keep_snapshot(self.number, fold.seq, body)
                        newest = fold.seq
        except Exception as error:
            _LOGGER.warning("no snapshot of study %r could be written: %s", self.name, error)
        self._snapshot_seq, self._unreadable = newest, False

    def due(self, fold: Fold) -> bool:
        """Whether a log that is being written should have a snapshot here."""
        return not fold.stale and self._due(fold, self._snapshot_seq)

    def snapshot(self, fold: Fold) -> tuple[int, bytes]:
        """A snapshot of a log that is being written: its event and its bytes."""
        body = snapshot.dump(fold)
        self._snapshot_seq, self._snapshot_size = fold.seq, len(body)
        return fold.seq, body

    def _due(self, fold: Fold, newest: int) -> bool:
        """Whether enough events have happened since the newest snapshot."""
        return fold.seq - newest >= max(SNAPSHOT_EVENTS, self._snapshot_size // _BYTES_PER_EVENT)


def study_time(fold: Fold, reader: Reader) -> float:
    """The time of a study: a clock that was set back does not make it go back behind the newest event."""
    return max(fold.at, reader.now)


asked = Entry.asked
