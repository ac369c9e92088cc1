"""What the page draws: studies at a glance and whole, curves, and what was known at any decision."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from rising_bandits.errors import RisingBanditsError
from rising_bandits.policies.levels import SuperArmPolicy
from rising_bandits.problems.base import Label
from rising_bandits.serve import schemas
from rising_bandits.serve.chronicle import NEWEST, Chronicle, earned_domain, earns
from rising_bandits.serve.curves import Curve, short
from rising_bandits.serve.forms import Text
from rising_bandits.serve.labels import Texts
from rising_bandits.serve.operations import Call, operation
from rising_bandits.serve.problems import unknown
from rising_bandits.serve.routes.changes import apply
from rising_bandits.serve.routes.page import packed
from rising_bandits.serve.routes.reports import decision_number
from rising_bandits.serve.routes.studies import summary
from rising_bandits.serve.structure import structure
from rising_bandits.serve.warnings import warnings
from rising_bandits.serve.whatif import what_if
from rising_bandits.studies import Explanation, Reason, Study
from rising_bandits.studies.scales import Scale

_TAG = "Page"
_FIRST_CURVES = 8
"""How many curves are sent with a study; others are sent when they are wanted."""
_MOST_POINTS = 32
"""How many points such a curve has at most: several are drawn in one chart. The curve of one arm has more."""
_MOST_ARMS = 5_000
COLUMNS = (*schemas.Arm.__struct_fields__, "possible_outcome")
"""What is sent of each arm. The last one is the outcome, in the user's unit, whose value is the index."""


def _head(call: Call, study: Study, texts: Texts) -> tuple[Chronicle, dict[str, Any]]:
    """The chronicle of a study, and what every picture of it begins with."""
    found, left = call.state.chronicles.of(study)
    brief = summary(study, texts)
    is_open, expired = found.waiting(brief.expires, time.time())
    return found, {
        "study": msgspec.to_builtins(brief) | {"open": is_open, "expired": expired},
        "seq": found.seq,
        "left": left,
        "warnings": warnings(study, brief, expired),
        "earns": earns(study.problem, study.scale),
        "earned_domain": _ends(earned_domain(study.problem, study.scale)),
        "earned": {source: curve.points() for source, curve in found.earned.items()},
        "days": sorted(found.days.items())[-60:],
    }


@operation("GET", "/v1/studies/{study}/glance", right="read", tag=_TAG, answer=dict[str, Any])
async def glance(call: Call) -> Any:
    """Give what the list of studies shows of a study.

    A long log is read in several calls: ``left`` says how many events the next calls have still to read.
    """

    def work(study: Study, texts: Texts) -> dict[str, Any]:
        found, head = _head(call, study, texts)
        return head | {"last_ask": found.last_ask}

    return packed(call, await call.hub.read(call.study, work))


@operation("GET", "/v1/studies/{study}/overview", right="read", tag=_TAG, answer=dict[str, Any])
async def overview(call: Call) -> Any:
    """Give everything that the page shows of a study, in a bounded size.

    A long log is read in several calls, see ``left`` of the glance.
    """

    def work(study: Study, texts: Texts) -> dict[str, Any]:
        found, head = _head(call, study, texts)
        known, labels, scale = study.arms(), study.problem.labels, study.scale
        acts_on_arms = not isinstance(study.policy, SuperArmPolicy)
        keys = study.keys()
        first = sorted(labels, key=lambda label: -found.plays.get(keys[label], 0))[:_FIRST_CURVES]
        curves = {texts.text(label): found.curves.get(keys[label]) for label in first}
        names = _key_names(study, texts)
        return head | {
            "structure": structure(study.problem, texts),
            "labels": texts.shown(labels),
            "units": "arms" if acts_on_arms else "super arms",
            "columns": COLUMNS,
            "arms": arm_rows(known, scale),
            "curves": {name: curve.points(_MOST_POINTS) for name, curve in curves.items() if curve is not None},
            "changes": found.changes,
            "newest": [
                msgspec.to_builtins(shown) | {"arms": [names[key] for key in shown.arms]}
                for shown in found.newest[-NEWEST:]
            ],
            "domain": _ends(scale.domain),
            "members": None
            if acts_on_arms
            else _members(
                {key: (found.plays.get(key, 0), curve.newest_value()) for key, curve in found.curves.items()},
                keys,
                texts,
                scale,
            ),
            "policy": _present_policy(study),
        }

    return packed(call, await call.hub.read(call.study, work))


def _ends(domain: tuple[float, float]) -> list[float | None]:
    """The ends of a domain; None for an end that is open."""
    return [number if math.isfinite(number) else None for number in domain]


def _members(
    known_of: Mapping[int, tuple[int, float | None]], keys: Mapping[Label, int], texts: Texts, scale: Scale
) -> list[list[Any]]:
    """What is known about base arms where the policy only knows super arms, as rows with the columns `COLUMNS`.

    ``known_of`` has the plays and the recent value of each arm, by its key.
    """
    rows = []
    for label, key in keys.items():
        plays, value = known_of.get(key, (0, None))
        known = {
            "label": texts.text(label),
            "plays": plays,
            "recent_average": value,
            "recent_outcome": None if value is None else scale.outcome(value),
        }
        rows.append([_round(known.get(name)) for name in COLUMNS])
    return rows[:_MOST_ARMS]


def _present_policy(study: Study) -> dict[str, Any]:
    """The policy as a request would name it, to begin a change with."""
    policy, settings = study.policy, study.settings
    return {"name": type(policy).name, "parameters": settings.parameters}


def _key_names(study: Study, texts: Texts) -> list[str]:
    """The text of every key, also of arms that the problem no longer has."""
    with study._log.look() as (fold, _):
        return texts.shown(fold.labels)


def arm_rows(known: list[Reason], scale: Scale) -> list[list[Any]]:
    """What is known about arms, as rows with the columns `COLUMNS`."""
    return [
        [_round(getattr(arm, name)) for name in COLUMNS[:-1]] + [_round(possible(arm, scale))]
        for arm in known[:_MOST_ARMS]
    ]


def possible(arm: Reason, scale: Scale) -> float | None:
    """The outcome whose value is the index, in the user's unit; None if the index is beyond all outcomes."""
    found = None if arm.index is None else scale.outcome(arm.index)
    low, high = scale.domain
    return found if found is not None and low <= found <= high else None


def explained(explanation: Explanation) -> dict[str, Any]:
    """An explanation, with the outcome that each index stands for."""
    made = explanation.to_dict()
    for name, choice in (("chosen", explanation.chosen), ("runner_up", explanation.runner_up)):
        if choice is not None:
            for row, arm in zip(made[name]["arms"], choice.reasons, strict=True):
                row["possible_outcome"] = possible(arm, explanation.scale)
    return made


def _round(value: Any) -> Any:
    """A number with seven digits."""
    return short(value) if isinstance(value, float) else value


class CurveQuery(Struct, forbid_unknown_fields=True):
    """Which curve."""

    arm: Text


@operation("GET", "/v1/studies/{study}/curve", right="read", tag=_TAG, query=CurveQuery, answer=dict[str, Any])
async def curve(call: Call) -> Any:
    """Give the outcome curve of one arm: means and standard errors by play."""

    def work(study: Study, texts: Texts) -> dict[str, Any]:
        found, _ = call.state.chronicles.of(study)
        key = study.keys().get(texts.label(call.query.arm))
        if key is None:
            raise unknown("arm", call.query.arm)
        drawn: Curve = found.curves.get(key, Curve())
        return drawn.points()

    return packed(call, await call.hub.read(call.study, work))


@operation("GET", "/v1/studies/{study}/decisions/{decision}/then", right="read", tag=_TAG, answer=dict[str, Any])
async def then(call: Call) -> Any:
    """Say what was known when a decision was asked for, and why it was made."""

    def work(study: Study, texts: Texts) -> dict[str, Any]:
        found, _ = call.state.chronicles.of(study)
        with study._then(decision_number(call, study)) as (ask, then):
            retired = [then.labels[key] for key in sorted(then.retired) if key in then.arms.arm_of]
            plays, scale = then.counted().plays, then.settings.scale
            acts_on_arms = not isinstance(then.live.policy, SuperArmPolicy)
            known = {
                "asked_at": ask.at,
                "retired": texts.shown(retired),
                "explanation": explained(study._explaining(ask, then)()),
                "arms": arm_rows(study._known(ask, then), scale),
            }
            seq = ask.seq
        keys = study.keys()
        with study._log.look() as (now, _reader):
            again = {key for key, event in now.began.items() if event > seq}
        # Of arms that restarted since, the chronicle has other plays than those of then.
        curves = {
            key: (plays[key], None if key in again or not plays[key] else curve.value_at(plays[key]))
            for key, curve in found.curves.items()
        }
        members = None if acts_on_arms else _members(curves, keys, texts, scale)
        restarted = [label for label, key in keys.items() if key in again]
        return known | {"members": members, "restarted": texts.shown(restarted)}

    return packed(call, await call.hub.read(call.study, work))


@operation(
    "POST",
    "/v1/studies/{study}/preview",
    right="read",
    tag=_TAG,
    body=schemas.Change,
    answer=dict[str, Any],
)
async def preview(call: Call) -> Any:
    """Say what a change would do to the next decision. Nothing is changed.

    The next decision is made twice on copies of the study: as it is, and after the change.
    """
    change: schemas.Change = call.body

    def work(study: Study, texts: Texts) -> dict[str, Any]:
        before = _next(what_if(study), texts, [])
        copy = what_if(study)
        try:
            apply(copy, texts, change)
            after: dict[str, Any] | None = _next(copy, texts, texts.meant(change.mask))
            refused = None
        except RisingBanditsError as error:
            after, refused = None, str(error)
        same = after is not None and after["super_arm"] == before["super_arm"]
        return {"before": before, "after": after, "same": same, "refused": refused}

    return await call.hub.read(call.study, work)


def _next(study: Study, texts: Texts, mask: list[Any]) -> dict[str, Any]:
    """The next decision of a copy of a study, with its explanation."""
    decision = study.ask(unavailable=mask)
    return {
        "super_arm": texts.shown(decision.super_arm),
        "explanation": explained(study.explain(decision.id)),
        "on_super_arms": isinstance(study.policy, SuperArmPolicy),
    }
