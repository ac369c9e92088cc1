"""The chronicle of a study: what the page draws, kept in little memory while the log grows.

It follows the log event by event, and can be stored at any event and go on from there, see `rising_bandits.serve.kept`.
A study with a hundred thousand decisions is drawn from a few kilobytes for each arm.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np
from msgspec import Struct, field

from rising_bandits.problems.base import Label, Problem
from rising_bandits.serve.curves import Curve, short
from rising_bandits.studies import Study
from rising_bandits.studies.log.events import Event, revalued
from rising_bandits.studies.reports.units import total
from rising_bandits.studies.scales import UNIT, Scale, scale_from_spec

OWN = "study"
"""The source of decisions of the study's own policy; no other source may have this name."""
WAITING = 20_000
"""How many decisions without a final tell are remembered at most."""
NEWEST = 60
"""How many of the newest decisions are listed."""
_CHANGES = 50
_RECENT = 200
_DAY = 86_400
_DAYS = 400
_LONGEST = 120
"""How many letters of a setting are shown at most."""
_NAMED = 5
"""How many arms of a change are named."""


class Asked(Struct):
    """A decision that waits for its final tell."""

    arms: list[int]
    at: float
    source: str
    raw: dict[int, float] = field(default_factory=dict)
    values: dict[int, float] = field(default_factory=dict)
    past: list[int] = field(default_factory=list)
    """Arms that restarted since it was asked for. Their outcomes are not those of the new arms."""


class Shown(Struct):
    """One of the newest decisions."""

    id: int
    at: float
    arms: list[int]
    source: str
    earned: float | None = None
    """What it earned, as in `Chronicle.earned`."""
    told: bool = False
    metadata: dict[str, Any] | None = None


class Change(Struct):
    """An event that is no ask and no tell."""

    seq: int
    at: float
    kind: str
    what: str
    author: str | None = None

    @classmethod
    def of(cls, event: Event, labels: Sequence[Label]) -> Change:
        """An event that is no ask and no tell, with what it changed as text."""
        return cls(event.seq, event.at, event.kind, _what(event, labels), event.author)


class Chronicle(Struct):
    """What the page draws of a study, up to event `seq`. Arms are given by their keys."""

    scale: dict[str, Any] = field(default_factory=dict)
    """The scale of the study. A chronicle of another scale is begun anew."""
    seq: int = 0
    """The newest event that was taken in."""
    digest: int = 0
    """Its checksum in the storage; 0 if it is not known."""
    keys: list[int] = field(default_factory=list)
    """The arms of the problem."""
    curves: dict[int, Curve] = field(default_factory=dict)
    """The outcomes of each arm, by play."""
    plays: dict[int, int] = field(default_factory=dict)
    earned: dict[str, Curve] = field(default_factory=dict)
    """What decisions earned, by time, for each source of decisions: their totals, or else their mean outcomes."""
    days: dict[int, int] = field(default_factory=dict)
    """How many decisions were asked for on each day, by days since 1970."""
    changes: list[Change] = field(default_factory=list)
    newest: list[Shown] = field(default_factory=list)
    recent: list[float] = field(default_factory=list)
    """The rewards of the newest decisions of the study's own policy, on the scale from 0 to 1."""
    last_ask: float = 0.0
    asked: dict[int, Asked] = field(default_factory=dict)
    """The decisions without a final tell."""

    @classmethod
    def of(cls, study: Study) -> Chronicle:
        """The empty chronicle of a study."""
        return cls(scale=study.scale.spec())

    def fits(self, study: Study) -> bool:
        """Whether it is about this log: the scale is the same, and its newest event is still the same one."""
        if self.scale != study.scale.spec():
            return False
        with study._log.look() as (fold, reader):
            if self.seq > fold.seq:
                return False
            next(reader.later(study._log.number, self.seq, digest=self.digest or None), None)
        return True

    def follow(self, study: Study, most: int | None = None) -> int:
        """Take in what is new, all or at most so many events. Returns how many events of the log are left."""
        log = study._log
        with log.look() as (fold, reader):
            later = reader.later(log.number, self.seq, digest=self.digest or None)
            self._take(islice(later, most), fold.arms.problem, fold.labels, fold.settings.scale, fold.rescaled)
            return fold.seq - self.seq

    def _take(
        self, events: Iterable[Event], problem: Problem, labels: Sequence[Label], scale: Scale, rescaled: Scale | None
    ) -> None:
        """Take in some events."""
        event: Event | None = None
        for event in events:
            if rescaled is not None:
                event = revalued(event, rescaled)
            kind = event.kind
            if kind == "ask":
                self._ask(event)
            elif kind in ("tell", "piece"):
                self._tell(event, problem, scale)
            else:
                self._change(event, labels)
        if event is not None:
            self.seq, self.digest = event.seq, event.digest

    def _change(self, event: Event, labels: Sequence[Label]) -> None:
        """Take in an event that is no ask and no tell."""
        body = event.body
        if event.kind == "problem":
            self._restart(set(body["keys"]).difference(self.keys))
            self.keys = body["keys"]
        elif event.kind == "reset":
            self._restart(set(body["arms"]))
        elif event.kind == "import":
            for key, raw, values in zip(body["arms"], body["raw"], body.get("value", body["raw"]), strict=True):
                for outcome, value in zip(raw, values, strict=True):
                    self._outcome(key, outcome, value)
        self.changes.append(Change.of(event, labels))
        del self.changes[:-_CHANGES]

    def _restart(self, keys: set[int]) -> None:
        """Forget the plays of some arms."""
        for key in keys:
            for known in (self.curves, self.plays):
                known.pop(key, None)
        for asked in self.asked.values():
            asked.past += keys.intersection(asked.arms)

    def _ask(self, event: Event) -> None:
        """Take in a decision."""
        number, body, at = event.decision or 0, event.body, event.at
        self.last_ask = at
        day = int(at // _DAY)
        if day in self.days:
            self.days[day] += 1
        else:
            self.days[day] = 1
            if len(self.days) > _DAYS:
                del self.days[min(self.days)]
        source = body.get("by") or OWN
        self.asked[number] = Asked(body["arms"], at, source)
        if len(self.asked) > WAITING:
            del self.asked[next(iter(self.asked))]
        self.newest.append(Shown(number, at, body["arms"], source, metadata=body.get("meta")))
        if len(self.newest) > 2 * NEWEST:
            del self.newest[:-NEWEST]

    def _tell(self, event: Event, problem: Problem, scale: Scale) -> None:
        """Take in outcomes."""
        number, body = event.decision or 0, event.body
        asked = self.asked.get(number)
        if asked is None:
            asked = Asked(body.get("of", body["arms"]), event.at, body.get("by") or OWN)
        raw, values = asked.raw, asked.values
        past = [*asked.past, *body.get("past", ())]
        for key, outcome, value in zip(body["arms"], body["raw"], body.get("value", body["raw"]), strict=True):
            if key not in raw and key not in past:
                self._outcome(key, outcome, value)
            raw[key], values[key] = outcome, value
        if event.kind == "piece":
            return
        self.asked.pop(number, None)
        reward = problem.reward.combine(np.array([values.get(key, 0.0) for key in asked.arms] or [0.0]))
        if asked.source == OWN:
            self.recent.append(float(reward))
            if len(self.recent) > 2 * _RECENT:
                del self.recent[:-_RECENT]
        earned = float(reward) if scale == UNIT else _earned(problem, scale, asked)
        if earned is not None:
            curve = self.earned.get(asked.source)
            if curve is None:
                curve = self.earned[asked.source] = Curve()
            curve.add(earned, event.at)
            earned = short(earned)
        for shown in reversed(self.newest):
            if shown.id <= number:
                if shown.id == number:
                    shown.earned, shown.told = earned, True
                break

    def _outcome(self, key: int, outcome: float, value: float) -> None:
        """Note a play of an arm: its outcome in the user's unit, and the value from 0 to 1."""
        plays = self.plays.get(key, 0) + 1
        self.plays[key] = plays
        curve = self.curves.get(key)
        if curve is None:
            curve = self.curves[key] = Curve()
        curve.add(outcome, float(plays), value)

    def waiting(self, expires: float | None, now: float) -> tuple[int, int]:
        """How many decisions are open, and how many expired untold."""
        if expires is None:
            return len(self.asked), 0
        late = sum(now >= asked.at + expires for asked in self.asked.values())
        return len(self.asked) - late, late


def earns(problem: Problem, scale: Scale) -> str:
    """What `Chronicle.earned` means for a problem: reward, total or mean outcome."""
    if scale == UNIT:
        return "reward"
    return "mean outcome" if total(problem.reward, scale, [1.0]) is None else "total"


def earned_domain(problem: Problem, scale: Scale) -> tuple[float, float]:
    """Ends that no number of `Chronicle.earned` lies beyond."""
    meaning = earns(problem, scale)
    if meaning == "mean outcome":
        return scale.domain
    low = 0.0 if meaning == "reward" else scale.domain[0]
    return (low if low >= 0.0 else -math.inf), math.inf


def _earned(problem: Problem, scale: Scale, asked: Asked) -> float | None:
    """What a decision earned, in the user's unit; None if that is not known because arms were not told."""
    if not asked.raw or any(key not in asked.raw for key in asked.arms):
        return None
    outcomes = [asked.raw[key] for key in asked.arms]
    found = total(problem.reward, scale, outcomes)
    return sum(outcomes) / len(outcomes) if found is None else found


def _what(event: Event, labels: Sequence[Label]) -> str:
    """What an event changed, as text."""
    body = event.body
    if event.kind == "problem":
        return f"{len(body['keys'])} arms"
    if event.kind == "import":
        return f"{sum(map(len, body['raw']))} plays of {len(body['arms'])} arms"
    if "arms" in body:
        names = [str(labels[key]) for key in body["arms"][:_NAMED]]
        more = len(body["arms"]) - len(names)
        return ", ".join(names) + (f" and {more} more" if more else "")
    return ", ".join(_setting(name, value, labels) for name, value in body.items() if name != "author")


def _rule(body: dict[str, Any], labels: Sequence[Label]) -> str:
    """A stored rule as text."""
    return str(body["policy"]) if "policy" in body else ", ".join(str(labels[key]) for key in body["arms"])


def _setting(name: str, value: Any, labels: Sequence[Label]) -> str:
    """A setting as text."""
    if name == "passed":
        return f"the horizon of {value} rounds has passed"
    if name == "scale":
        value = scale_from_spec(value)
    if name == "shares":
        value = ", ".join(f"{share:g} to {rule!r}" for rule, share in value) or "none"
    if name == "rules":
        value = ", ".join(f"{rule!r} is {_rule(body, labels)}" for rule, body in value) or "none"
    text = "none" if value is None else str(value)
    return f"{name}: {text if len(text) <= _LONGEST else text[: _LONGEST - 3] + '...'}"
