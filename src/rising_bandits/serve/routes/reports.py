"""Reports: what a study knows, what it did, and why."""

from __future__ import annotations

from typing import Any

from rising_bandits import studies
from rising_bandits.serve import schemas
from rising_bandits.serve.chronicle import Change
from rising_bandits.serve.labels import Texts
from rising_bandits.serve.operations import Call, operation
from rising_bandits.serve.problems import unknown
from rising_bandits.studies.log.events import CHANGES

_TAG = "Reports"


@operation("GET", "/v1/studies/{study}/arms", right="read", tag=_TAG, answer=schemas.Arms)
async def arms(call: Call) -> Any:
    """Show what is known about every arm now."""
    found = await call.hub.read(call.study, lambda study, _: study.arms())
    return schemas.Arms([as_arm(reason) for reason in found])


def as_arm(reason: studies.Reason) -> schemas.Arm:
    """What is known about an arm, as it is answered."""
    return schemas.Arm(**{name: getattr(reason, name) for name in schemas.Arm.__struct_fields__})


@operation("GET", "/v1/studies/{study}/decisions/{decision}/explain", right="read", tag=_TAG, answer=dict[str, Any])
async def explain(call: Call) -> Any:
    """Explain a decision, from what was known when it was asked for."""
    return await call.hub.read(call.study, lambda study, _: study.explain(decision_number(call, study)).to_dict())


def decision_number(call: Call, study: studies.Study) -> int:
    """The number of the decision in the path; refuses one that the study does not have."""
    text = call.path["decision"]
    if not (text.isascii() and text.isdigit() and len(text) < 17) or not 1 <= int(text) <= study.decisions:
        raise unknown("decision", text)
    return int(text)


@operation(
    "GET",
    "/v1/studies/{study}/compare",
    right="read",
    tag=_TAG,
    query=schemas.CompareQuery,
    answer=dict[str, Any],
)
async def compare(call: Call) -> Any:
    """Compare what the study earned with what a rule or source of your own earned.

    That is a rule that a share of the asks is handed to, or a source of recorded decisions. ``text`` is the result in
    words.
    """
    found = await call.hub.read(call.study, lambda study, _: study.compare(call.query.source))
    return found.to_dict() | {"text": str(found)}


_READ = 20_000
"""How many events of the log a request for changes reads."""


@operation(
    "GET",
    "/v1/studies/{study}/changes",
    right="read",
    tag=_TAG,
    query=schemas.ChangesQuery,
    answer=schemas.Changes,
)
async def changes(call: Call) -> Any:
    """List what was changed, oldest first, and by whom: arms, settings, the problem, and plays that were imported.

    A request reads a part of the log, in which there may be no change; ``next`` says where to go on.
    """
    after: int = call.query.after

    def work(study: studies.Study, _: Texts) -> schemas.Changes:
        with study._log.look() as (fold, reader):
            last = min(after + _READ, fold.seq)
            events = [] if after >= fold.seq else reader.later(study._log.number, after, last)
            found = [Change.of(event, fold.labels) for event in events if event.kind in CHANGES]
            more = last < fold.seq
        shown = [schemas.Changed(each.seq, each.at, each.kind, each.what, each.author) for each in found]
        return schemas.Changes(shown, last if more else None)

    return await call.hub.read(call.study, work)


@operation(
    "GET",
    "/v1/studies/{study}/history",
    right="read",
    tag=_TAG,
    query=schemas.HistoryQuery,
    answer=schemas.History,
)
async def history(call: Call) -> Any:
    """List outcomes, a page at a time.

    A page has the newest ``last`` rows, after the newest ``skip`` rows were passed over.
    """
    query: schemas.HistoryQuery = call.query

    def work(study: studies.Study, texts: Texts) -> schemas.History:
        table = study.history(last=query.last + query.skip + 1, since=query.since)
        end = len(table) - query.skip
        begin = max(0, end - query.last)
        rows = [_row(row, texts) for row in table.iloc[begin : max(end, 0)].to_dict("records")]
        return schemas.History(rows, begin > 0)

    return await call.hub.read(call.study, work)


def _row(row: dict[Any, Any], texts: Texts) -> schemas.Row:
    """A row of the history as it is answered."""
    import pandas as pd

    def seconds(time: Any) -> float | None:
        return None if pd.isna(time) else float(time.timestamp())

    found = row.get("metadata")
    return schemas.Row(
        decision_id=None if pd.isna(row["decision_id"]) else int(row["decision_id"]),
        arm=texts.text(row["arm"]),
        play=int(row["play"]),
        outcome=float(row["outcome"]),
        value=float(row["value"]),
        round=int(row["round"]),
        asked_at=seconds(row["asked_at"]),
        told_at=seconds(row["told_at"]),
        super_arm=texts.shown(row["super_arm"]),
        forgotten=bool(row["forgotten"]),
        metadata=found if isinstance(found, dict) else None,
    )
