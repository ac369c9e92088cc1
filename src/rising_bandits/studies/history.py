"""What happened, as tables: a row an outcome, in the order in which the policy learnt it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from rising_bandits.errors import InputError
from rising_bandits.problems.base import Label
from rising_bandits.studies.arms import Arms
from rising_bandits.studies.events import Event, raw_of, values_of
from rising_bandits.studies.fold import Entry, Fold, Learned, Resolve
from rising_bandits.studies.log import Log
from rising_bandits.studies.scales import Scale
from rising_bandits.theory.logs import read_logs

COLUMNS = ["decision_id", "arm", "play", "outcome", "value", "round", "asked_at", "told_at", "super_arm", "forgotten"]


class _Order(Learned):
    """In place of a policy: notes in which order it would learn."""

    def __init__(self, arms: Arms) -> None:
        self.arms = arms
        self.entries: list[Entry] = []

    def take(self, entry: Entry, resolve: Resolve) -> None:
        self.entries.append(entry)


def in_order(first: Event, events: Iterable[Event], resolve: Resolve, reorder: int) -> Iterator[Entry]:
    """What counts after the first event, in the order in which it counts, whenever it was told."""
    order = _Order(Arms(resolve(first.body), first.body))
    fold = Fold(order, order.arms.problem.labels, resolve, reorder)
    for event in events:
        fold.apply(event)
        yield from order.entries
        order.entries.clear()
    yield from (entry for entry in fold.window if entry.counts)


def history(log: Log) -> Any:
    """A DataFrame with a row for every outcome of a study."""
    # It takes longer to import than everything else that a study needs.
    import pandas as pd

    with log.look() as (fold, reader):
        labels = list(fold.labels)
        first, *events = reader.later(log.number, 0)
    asked = {event.decision: event for event in events if event.kind == "ask"}
    told: dict[tuple[int | None, int], tuple[float, float, float]] = {}
    for event in events:
        if event.kind in ("tell", "piece"):
            values = values_of(event.body)
            for key, raw in raw_of(event.body).items():
                # A final tell may repeat what a piece told: it was learnt from the piece.
                told.setdefault((event.decision, key), (event.at, raw, values[key]))
    rows: list[list[Any]] = []
    since: dict[int, int] = {}
    """Per key: the row before which its plays are forgotten."""
    plays: Counter[int] = Counter()
    ended: Counter[int] = Counter()
    """Per key: the plays of the arm that it was before it last began anew."""
    rounds = 0
    for entry in in_order(first, events, log.resolve, log.settings.reorder):
        if entry.control is not None:
            rounds += _control(entry.control, rows, plays, ended, since, labels)
            continue
        number = entry.decision or entry.late
        ask = asked[number]
        arms = [labels[key] for key in ask.body["arms"]]
        for key in ask.body["arms"]:
            past = key in entry.past
            if past or key in (entry.values or {}):
                count = ended if past else plays
                count[key] += 1
                at, raw, value = told[number, key]
                rows.append([number, key, count[key], raw, value, rounds + entry.rounds, ask.at, at, arms, past])
        rounds += entry.rounds
    for place, row in enumerate(rows):
        row[9] = row[9] or place < since.get(row[1], 0)
        row[1] = labels[row[1]]
    table = pd.DataFrame(rows, columns=COLUMNS)
    for column in ("asked_at", "told_at"):
        table[column] = pd.to_datetime(table[column].astype("float64"), unit="s", utc=True)
    return table.astype({"decision_id": "Int64", "play": "int64", "round": "int64", "forgotten": "bool"})


def _control(
    event: Event,
    rows: list[list[Any]],
    plays: Counter[int],
    ended: Counter[int],
    since: dict[int, int],
    labels: list[Label],
) -> int:
    """Take in what is not a decision; returns the rounds that it brought."""
    if event.kind == "import":
        for key, raw, values in zip(event.body["arms"], event.body["raw"], event.body["value"], strict=True):
            for outcome, value in zip(raw, values, strict=True):
                plays[key] += 1
                rows.append([None, key, plays[key], outcome, value, 0, None, event.at, [labels[key]], False])
        return int(event.body["rounds"])
    gone = set(event.body["arms"]) if event.kind == "reset" else set(plays) - set(event.body["keys"])
    for key in gone:
        ended[key], plays[key] = plays[key], 0
        since[key] = len(rows)
    return 0


def read_plays(logs: Any, scale: Scale) -> list[tuple[Label, list[float], list[float]]]:
    """Plays from a user's table: each arm's label, outcomes and values, oldest first."""

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
