"""Counts of plays, rounds and outcomes. A row of the history needs the counts of all rows before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any

from rising_bandits import _checks
from rising_bandits.studies.log.events import Event

if TYPE_CHECKING:
    from rising_bandits.studies.log.entries import Entry

TOGETHER = 32
"""How many entries wait until their plays are counted."""


class Tally:
    """The plays of every arm, by key, and the numbers of rounds and outcomes so far."""

    def __init__(self) -> None:
        self._plays: Counter[int] = Counter()
        self._uncounted: list[dict[int, float]] = []
        """The outcomes of the newest entries, by key. They are counted together, which takes a fraction of the time."""
        self.ended: Counter[int] = Counter()
        """Plays of each arm before its last restart."""
        self.rounds = 0
        self.outcomes = 0

    def take(self, entry: Entry) -> None:
        """Count an entry."""
        if entry.control is not None:
            self._control(entry.control)
            return
        self.rounds += entry.rounds
        told, uncounted = entry.values, self._uncounted
        if told:
            uncounted.append(told)
            self.outcomes += len(told)
            if len(uncounted) >= TOGETHER:
                self._count()
        if entry.past:
            self.ended.update(entry.past)
            self.outcomes += len(entry.past)

    def _count(self) -> None:
        """Count the plays of the newest entries."""
        uncounted, self._uncounted = self._uncounted, []
        self._plays.update(chain.from_iterable(uncounted))

    @property
    def plays(self) -> Counter[int]:
        """Plays of each arm since its last restart."""
        if self._uncounted:
            self._count()
        return self._plays

    def _control(self, event: Event) -> None:
        """Count a control event."""
        if event.kind == "import":
            for key, values in zip(event.body["arms"], event.body["value"], strict=True):
                self.plays[key] += len(values)
                self.outcomes += len(values)
            self.rounds += int(event.body["rounds"])
            return
        for key in self.ending(event):
            self.ended[key] = self.plays.pop(key, 0)

    def ending(self, event: Event) -> set[int]:
        """The keys of the arms whose plays an event makes the policy forget."""
        if event.kind == "problem":
            return set(self.plays).difference(event.body["keys"])
        return set(event.body["arms"]) if event.kind == "reset" else set()

    def copy(self) -> Tally:
        """An independent copy."""
        tally = Tally()
        tally._plays, tally.ended = self.plays.copy(), self.ended.copy()
        tally.rounds, tally.outcomes = self.rounds, self.outcomes
        return tally

    def dump(self) -> list[Any]:
        """The counts as plain data."""
        return [list(self.plays.items()), list(self.ended.items()), self.rounds, self.outcomes]

    @staticmethod
    def load(data: list[Any]) -> Tally:
        """The inverse of `dump`, checked."""
        plays, ended, rounds, outcomes = data
        tally = Tally()
        tally._plays, tally.ended = _counts(plays), _counts(ended)
        tally.rounds, tally.outcomes = _count("rounds", rounds), _count("outcomes", outcomes)
        return tally


def _counts(pairs: Iterable[tuple[object, object]]) -> Counter[int]:
    """A count for each of some keys."""
    return Counter({_count("a key", key): _count("plays", plays) for key, plays in pairs})


def _count(name: str, value: object) -> int:
    """A whole number that a database can hold."""
    return _checks.integer(name, value, low=0, high=2**62)
