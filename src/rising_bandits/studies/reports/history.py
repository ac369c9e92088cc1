"""The history of a study: a table with a row for every outcome, in the order in which the policy learnt them."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from rising_bandits import _checks
from rising_bandits._extras import require
from rising_bandits.errors import InputError
from rising_bandits.problems.base import Label
from rising_bandits.studies.log.arms import Arms
from rising_bandits.studies.log.entries import Entry
from rising_bandits.studies.log.events import Event, raw_of, revalued, values_of
from rising_bandits.studies.log.fold import Fold
from rising_bandits.studies.log.learned import Resolve, Unlearned
from rising_bandits.studies.log.log import Log
from rising_bandits.studies.log.tally import Tally
from rising_bandits.studies.scales import Scale
from rising_bandits.studies.storage.base import Reader
from rising_bandits.theory.logs import read_logs

COLUMNS = ["decision_id", "arm", "play", "outcome", "value", "round", "asked_at", "told_at", "super_arm", "forgotten"]
COLUMNS += ["source", "metadata"]
IMPORTED = "import"
"""The source of imported plays."""
_TOLD_AT, _FORGOTTEN = COLUMNS.index("told_at"), COLUMNS.index("forgotten")


class _Order(Unlearned):
    """Stands in for a policy and collects the entries that the policy would learn, in order."""

    def __init__(self, arms: Arms) -> None:
        super().__init__(arms)
        self.entries: list[Entry] = []

    def take(self, entry: Entry, resolve: Resolve) -> None:
        self.entries.append(entry)


def in_order(first: Event, events: Iterable[Event], resolve: Resolve, now: Fold) -> Iterator[Entry]:
    """The entries that count, in the order in which a policy learns them. ``events`` follow the first event.

    ``now`` is the state of the study after all of them. All values are those of its scale.
    """
    order = _Order(Arms(resolve(first.body), first.body))
    return _settling(Fold(order, order.arms.problem.labels, resolve, now.settings), events, now)


def _settling(fold: Fold, events: Iterable[Event], now: Fold) -> Iterator[Entry]:
    """The entries that settle while ``events`` are applied to a fold, then the entries left in its window.

    No policy learns from them, which saves time.
    """
    fold.freeze(now.rescaled)
    order = fold.settled = _Order(fold.settled.arms)
    for event in events:
        fold.apply(event)
        yield from order.entries
        order.entries.clear()
    yield from (entry for entry in fold.window if entry.counts)


def history(log: Log, last: int | None = None, since: Any = None) -> Any:
    """The history of a study as a DataFrame, see `Study.history`."""
    require("studies", "pandas")
    # Imported here, because importing pandas takes longer than everything else.
    import pandas as pd

    if last is not None:
        last = _checks.integer("last", last, low=1, wanted="a number of rows, at least 1")
    with log.look() as (now, reader):
        time = None if since is None else _time(since, reader.now)
        rows: deque[list[Any]] = deque(maxlen=last)
        begun: Counter[int] = Counter()
        fold = _start(log, reader, now, last, time)
        if fold is not None:
            rows.extend(row for row in _rows(log, reader, fold, begun, now) if time is None or row[_TOLD_AT] >= time)
    for row in rows:
        era = row.pop()
        row[_FORGOTTEN] = row[_FORGOTTEN] or begun[row[1]] > era
        row[1] = now.labels[row[1]]
    table = pd.DataFrame(list(rows), columns=COLUMNS)
    for column in ("asked_at", "told_at"):
        table[column] = pd.to_datetime(table[column].astype("float64"), unit="s", utc=True)
        table[column] = table[column].astype("datetime64[us, UTC]")
    numbers = {"play": "int64", "round": "int64", "outcome": "float64", "value": "float64"}
    return table.astype(
        {
            "decision_id": "Int64",
            "arm": "object",
            **numbers,
            "super_arm": "object",
            "forgotten": "bool",
            "source": "object",
            "metadata": "object",
        }
    )


def _time(since: Any, now: float) -> float:
    """The time ``since`` in seconds since 1970."""
    if isinstance(since, timedelta):
        return now - since.total_seconds()
    if isinstance(since, datetime) and since.tzinfo is not None:
        # The table rounds times to microseconds. A time from the table must still include its own row.
        return since.timestamp() - 1e-6
    wanted = "a datetime with a time zone, a timedelta back from now, or seconds since 1970"
    return _checks.number("since", since, wanted=wanted)


def _start(log: Log, reader: Reader, now: Fold, last: int | None, time: float | None) -> Fold | None:
    """The state at the newest snapshot before all wanted rows, or at the first event; None if no row is wanted."""
    if time is not None:
        first = reader.first_since(log.number, time)
        return None if first is None else log.at(reader, first - 1)
    wanted = 0
    if last is not None:
        wanted = now.counted().outcomes - last
    fold = log.at(reader, now.seq if wanted > 0 else 1)
    while fold.tally.outcomes > max(wanted, 0):
        fold = log.at(reader, fold.seq - 1)
    return fold


def _rows(log: Log, reader: Reader, fold: Fold, begun: Counter[int], now: Fold) -> Iterator[list[Any]]:
    """The rows in the order of learning.

    Each row ends with one more number: how often its arm had restarted when it was learnt. ``begun`` counts the
    restarts of all arms up to the end.
    """
    tally, labels = fold.tally.copy(), fold.labels
    for entry in _settling(fold, reader.later(log.number, fold.seq), now):
        if entry.control is not None:
            if entry.control.kind == "import":
                yield from _imported(entry.control, tally, labels, begun)
            begun.update(tally.ending(entry.control))
        else:
            number, asked_at, arms, told, said = _report(log, reader, entry, now)
            names = [labels[key] for key in arms]
            for key in arms:
                past = key in entry.past
                if past or key in (entry.values or {}):
                    play = (tally.ended if past else tally.plays)[key] + 1
                    at, raw, value = told[key]
                    rounds = tally.rounds + entry.rounds
                    yield [number, key, play, raw, value, rounds, asked_at, at, names, past, *said, begun[key]]
        tally.take(entry)


def _imported(event: Event, tally: Tally, labels: list[Label], begun: Counter[int]) -> Iterator[list[Any]]:
    """The rows of imported plays."""
    plays = Counter(tally.plays)
    for key, raw, values in zip(event.body["arms"], event.body["raw"], event.body["value"], strict=True):
        for outcome, value in zip(raw, values, strict=True):
            plays[key] += 1
            row = [None, key, plays[key], outcome, value, 0, None, event.at, [labels[key]], False, IMPORTED, {}]
            yield [*row, begun[key]]


def _report(
    log: Log, reader: Reader, entry: Entry, now: Fold
) -> tuple[int, float, tuple[int, ...], dict[int, tuple[float, float, float]], tuple[str, dict[str, Any]]]:
    """The number of a decision, the time of its ask, its arms, (time, outcome, value) by key, source and metadata."""
    told: dict[int, tuple[float, float, float]] = {}
    if entry.late:
        ask, *others = reader.of_decision(log.number, entry.late)
        for event in others if now.rescaled is None else (revalued(event, now.rescaled) for event in others):
            values = values_of(event.body)
            # A final tell may repeat outcomes of a piece. They were learnt from the piece.
            told = {key: (event.at, raw, values[key]) for key, raw in raw_of(event.body).items()} | told
        asked = Entry.asked(ask)
        return entry.late, ask.at, asked.arms, told, (asked.by or "study", asked.meta or {})
    for at, part in zip(entry.told_at, entry.told, strict=True):
        told = {key: (at, raw, (entry.values or {})[key]) for key, raw in part.items()} | told
    return entry.decision, entry.asked_at, entry.arms, told, (entry.by or "study", entry.meta or {})


def read_plays(logs: Any, scale: Scale) -> list[tuple[Label, list[float], list[float]]]:
    """Read a user's table of plays: for each arm its label, its outcomes and their values, oldest first."""

    def inside(outcome: Any) -> bool:
        try:
            scale.value(outcome)
        except InputError:
            return False
        return True

    low, high = scale.domain
    found = read_logs(logs, inside, f"a number in [{low:g}, {high:g}] {scale.unit}".strip())
    return [
        (label, outcomes.tolist(), [scale.value(outcome)[1] for outcome in outcomes.tolist()])
        for label, _, outcomes in found
    ]
