"""The chronicle of a study: what the page draws, kept in little memory while the log grows.

It follows the log event by event. Curves are kept as at most `MOST` buckets: when there are more, each two neighbours
become one. So a study with a hundred thousand decisions is drawn from a few kilobytes.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rising_bandits.problems.base import Label, Problem, _label
from rising_bandits.studies import Study
from rising_bandits.studies.log.events import Event, raw_of, values_of

MOST = 64
"""How many buckets a curve has at most."""
_WAITING = 20_000
"""How many decisions without a final tell are remembered at most."""
NEWEST = 300
"""How many of the newest decisions are listed."""
_DAY = 86_400
_DAYS = 400


@dataclass
class Curve:
    """Means and spreads of a growing list of numbers, in buckets of equal size."""

    size: int = 1
    """How many numbers a bucket holds."""
    buckets: list[list[float]] = field(default_factory=list)
    """For each bucket: how many numbers, their sum, the sum of their squares, and the last position."""

    def add(self, number: float, position: float) -> None:
        """Add a number. The position (a play, or a time) grows from call to call."""
        if not self.buckets or self.buckets[-1][0] >= self.size:
            if len(self.buckets) >= MOST:
                self._halve()
            self.buckets.append([0.0, 0.0, 0.0, 0.0])
        last = self.buckets[-1]
        last[0] += 1.0
        last[1] += number
        last[2] += number * number
        last[3] = position

    def _halve(self) -> None:
        """Join each two neighbours."""
        pairs = zip(self.buckets[::2], self.buckets[1::2], strict=True)
        self.buckets = [[a + b for a, b in zip(one[:3], two[:3], strict=True)] + [two[3]] for one, two in pairs]
        self.size *= 2

    def points(self) -> dict[str, list[float]]:
        """Positions, counts, means and standard errors of the buckets.

        >>> curve = Curve()
        >>> for play, outcome in enumerate([1.0, 3.0, 5.0], start=1):
        ...     curve.add(outcome, play)
        >>> curve.points()["mean"]
        [1.0, 3.0, 5.0]
        """
        made: dict[str, list[float]] = {"at": [], "count": [], "mean": [], "error": []}
        for count, total, squares, position in self.buckets:
            mean = total / count
            spread = max(0.0, squares / count - mean * mean)
            made["at"].append(position)
            made["count"].append(int(count))
            made["mean"].append(_short(mean))
            made["error"].append(_short(math.sqrt(spread / count)))
        return made


def _short(number: float) -> float:
    """A number with seven digits, which is more than a picture shows."""
    return float(f"{number:.7g}")


@dataclass
class _Asked:
    """A decision that waits for its final tell."""

    arms: list[int]
    at: float
    source: str
    values: dict[int, float] = field(default_factory=dict)
    raw: dict[int, float] = field(default_factory=dict)


class Chronicle:
    """What the page draws of a study, up to event `seq`."""

    def __init__(self) -> None:
        self.seq = 0
        self.labels: dict[int, Label] = {}
        self.curves: dict[int, Curve] = {}
        self.plays: Counter[int] = Counter()
        self.reward: dict[str, Curve] = {}
        """The reward of decisions by time, for each source of decisions."""
        self.outcome: dict[str, Curve] = {}
        """The mean outcome of the arms of decisions, in the user's unit, by time, for each source."""
        self.days: Counter[int] = Counter()
        """How many decisions were asked for on each day, by days since 1970."""
        self.changes: deque[dict[str, Any]] = deque(maxlen=200)
        self.newest: deque[dict[str, Any]] = deque(maxlen=NEWEST)
        self.recent: deque[float] = deque(maxlen=200)
        """The rewards of the newest decisions."""
        self.last_ask = 0.0
        self.decisions = self.told = 0
        self._waiting: dict[int, _Asked] = {}
        self._shown: dict[int, dict[str, Any]] = {}
        self._values: dict[int, float] = {}
        """The newest value of each arm."""
        self._steps = (0, 0.0)
        """How many steps from one value of an arm to its next, and the sum of their squares."""

    def follow(self, study: Study) -> None:
        """Take in all that is new."""
        problem = study.problem
        while events := study.events(after=self.seq):
            for event in events:
                self._take(event, problem)

    def _take(self, event: Event, problem: Problem) -> None:
        """Take in an event."""
        self.seq = event.seq
        body = event.body
        if event.kind == "ask":
            self._ask(event)
        elif event.kind in ("tell", "piece", "record"):
            self._tell(event, problem)
        else:
            if event.kind == "problem":
                self.labels.update(zip(body["keys"], map(_label, body["labels"]), strict=True))
            elif event.kind == "reset":
                for key in body["arms"]:
                    self.curves.pop(key, None)
                    self.plays[key] = 0
            elif event.kind == "import":
                for key, outcomes in zip(body["arms"], body["raw"], strict=True):
                    for outcome in outcomes:
                        self._outcome(key, outcome)
            self.changes.append({"seq": event.seq, "at": event.at, "kind": event.kind, "what": self._what(event)})

    def _what(self, event: Event) -> str:
        """What an event changed, as text."""
        body = event.body
        if event.kind == "problem":
            return f"{len(body['keys'])} arms"
        if event.kind == "import":
            return f"{sum(map(len, body['raw']))} plays of {len(body['arms'])} arms"
        if "arms" in body:
            names = [str(self.labels.get(key, key)) for key in body["arms"]]
            return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        return ", ".join(f"{name}: {_brief(value)}" for name, value in body.items())

    def _ask(self, event: Event) -> None:
        """Take in a decision."""
        assert event.decision is not None
        self.decisions = event.decision
        self.last_ask = event.at
        day = int(event.at // _DAY)
        self.days[day] += 1
        if len(self.days) > _DAYS:
            del self.days[min(self.days)]
        source = str(event.body.get("by") or "policy")
        self._waiting[event.decision] = _Asked(event.body["arms"], event.at, source)
        if len(self._waiting) > _WAITING:
            del self._waiting[next(iter(self._waiting))]
        if len(self.newest) == NEWEST:
            self._shown.pop(self.newest[0]["id"], None)
        shown: dict[str, Any] = {
            "id": event.decision,
            "at": event.at,
            "arms": [str(self.labels[key]) for key in event.body["arms"]],
            "source": source,
            "reward": None,
            "told": False,
        }
        if event.body.get("meta"):
            shown["metadata"] = event.body["meta"]
        self.newest.append(shown)
        self._shown[event.decision] = shown

    def _tell(self, event: Event, problem: Problem) -> None:
        """Take in outcomes."""
        raw, values = raw_of(event.body), values_of(event.body)
        number = event.decision or 0
        asked = self._waiting.get(number)
        if asked is None:
            asked = _Asked(list(raw), event.at, str(event.body.get("by") or "policy"))
        for key, outcome in raw.items():
            if key not in asked.raw:
                self._outcome(key, outcome)
                if (before := self._values.get(key)) is not None:
                    count, squares = self._steps
                    self._steps = (count + 1, squares + (values[key] - before) ** 2)
                self._values[key] = values[key]
        asked.raw |= raw
        asked.values |= values
        if event.kind == "piece":
            return
        self._waiting.pop(number, None)
        self.told += 1
        reward = float(problem.reward.combine(np.array([asked.values.get(key, 0.0) for key in asked.arms] or [0.0])))
        if asked.source == "policy":
            self.recent.append(reward)
        self.reward.setdefault(asked.source, Curve()).add(reward, event.at)
        if asked.raw:
            mean = sum(asked.raw.values()) / len(asked.raw)
            self.outcome.setdefault(asked.source, Curve()).add(mean, event.at)
        shown = self._shown.get(number)
        if shown is not None:
            shown["reward"], shown["told"] = _short(reward), True

    def _outcome(self, key: int, outcome: float) -> None:
        """Note a play of an arm."""
        self.plays[key] += 1
        self.curves.setdefault(key, Curve()).add(outcome, float(self.plays[key]))

    def noise(self) -> float | None:
        """How much values vary from play to play of an arm, as a standard deviation; None if too little is known."""
        steps, squares = self._steps
        return math.sqrt(squares / steps / 2.0) if steps >= 100 else None

    def waiting(self, expires: float | None, now: float) -> tuple[int, int]:
        """How many decisions are open, and how many expired untold."""
        if expires is None:
            return len(self._waiting), 0
        late = sum(now >= asked.at + expires for asked in self._waiting.values())
        return len(self._waiting) - late, late


def _brief(value: Any) -> str:
    """A setting as text."""
    text = str(value)
    return text if len(text) <= 120 else text[:117] + "..."
