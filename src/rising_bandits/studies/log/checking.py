"""Checks for events from a file: each must be an event that the study itself would have written."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rising_bandits import _checks
from rising_bandits.errors import InputError
from rising_bandits.studies.log.events import (
    MOST_PRIOR,
    MOST_ROUNDS,
    Event,
    check_author,
    check_key,
    check_metadata,
    check_source,
)
from rising_bandits.studies.log.fold import Fold
from rising_bandits.studies.log.least import check_least
from rising_bandits.studies.log.log import Log
from rising_bandits.studies.log.telling import tell_body
from rising_bandits.studies.settings import problem_body
from rising_bandits.studies.storage.base import Reader

_CLOSE = 1e-9
"""The largest difference between a stored value and the value computed here. Machines differ in the last digit."""


def check_first(log: Log, event: Event) -> None:
    """Refuse an event that cannot be the first of a log."""
    if event.kind != "problem":
        raise InputError(f"a log begins with a problem, got {event.kind!r}")
    check_author(event.author)
    _check_problem(log, event.body, {})


def check(log: Log, fold: Fold, reader: Reader | None, event: Event) -> None:
    """Refuse an event that the study, in the state of the fold, would not write next."""
    body = event.body
    check_author(event.author)
    if event.kind == "ask":
        _check_ask(fold, event)
    elif event.kind in ("tell", "piece"):
        _check_tell(log, fold, reader, event)
    elif event.decision is not None:
        raise InputError(f"an event of kind {event.kind!r} must not name a decision, got {event.decision!r}")
    elif event.kind == "problem":
        _check_problem(log, body, fold.key_of)
        off = np.array([key in fold.retired for key in body["keys"]])
        if off.any() and not log.resolve(body).oracle.can(off):
            raise InputError("the problem must have a feasible super arm without the retired arms")
    elif event.kind == "set":
        _check_set(log, fold, body)
    else:
        keys = _known(fold, body["arms"], distinct=False)
        if event.kind == "retire":
            mask = fold.mask(keys)
            if mask is not None and not fold.arms.problem.oracle.can(mask):
                raise InputError("a feasible super arm must be left without the retired arms")
        elif event.kind == "reset" and "fell" in body:
            _check_fell(body)
        elif event.kind == "import":
            _check_import(fold, body)
        elif event.kind == "prior":
            _check_prior(fold, body)


def _check_problem(log: Log, body: dict[str, Any], key_of: Any) -> None:
    """Refuse a problem event whose labels, keys or unreachable arms do not belong to its problem."""
    wanted = problem_body(log.resolve(body), key_of)
    for part in ("labels", "keys", "unreachable"):
        if body[part] != wanted[part]:
            raise InputError(f"{part} of the problem must be {wanted[part]!r}, got {body[part]!r}")


def _check_set(log: Log, fold: Fold, body: dict[str, Any]) -> None:
    """Refuse settings that the study could not have."""
    settings = fold.settings.changed(body)
    if "least" in body:
        _known(fold, [key for key, _ in settings.least])
        check_least(dict(settings.least))
    for _, rule in settings.rules if "rules" in body else ():
        if "arms" in rule:
            _known(fold, rule["arms"])
        else:
            log.code.kind(rule["policy"])(**rule["parameters"]).start(fold.arms.problem, settings.horizon, 0)
    if not {"policy", "horizon"}.isdisjoint(body):
        # A policy that cannot decide about the problem raises here.
        kind = log.code.kind(settings.policy)
        kind(**settings.parameters).start(fold.arms.problem, settings.horizon, 0)


def _check_ask(fold: Fold, event: Event) -> None:
    """Refuse an ask with a wrong number, or with arms that could not be chosen."""
    if event.decision != fold.decisions + 1:
        raise InputError(f"the next decision must be {fold.decisions + 1}, got {event.decision!r}")
    keys = _known(fold, event.body["arms"])
    arms = fold.arms.numbers(keys)
    oracle = fold.arms.problem.oracle
    if "among" in event.body:
        oracle = oracle.among(event.body["among"])
    blocked = _known(fold, event.body.get("off", []), distinct=False)
    off = fold.retired.union(blocked)
    _check_said(fold, event.body)
    free = "by" in event.body and oracle.is_feasible(arms)
    if not free and off.isdisjoint(keys) and not oracle.is_allowed(arms, fold.mask(blocked)):
        raise InputError(f"the arms {_named(fold, keys)} are not a feasible super arm")
    if not free and not off.isdisjoint(keys):
        raise InputError(f"the arms {_named(fold, sorted(off.intersection(keys)))} were retired or unavailable")


def _check_said(fold: Fold, body: dict[str, Any]) -> None:
    """Refuse what an ask says beside its arms if no study would have written it."""
    check_key(body.get("key"))
    for name in [*([body["by"]] if "by" in body else []), *body.get("offered", [])]:
        check_source(name)
    if "meta" in body:
        check_metadata(body["meta"])
    if "least" in body and body["least"] not in fold.used:
        raise InputError(f"the arm {body['least']!r} has no least share")


def _check_fell(body: dict[str, Any]) -> None:
    """Refuse falls that no test could have found."""
    if len(body["fell"]) != len(body["arms"]):
        raise InputError("a reset must say for each arm how it fell")
    for since, plays, before, after, chance in body["fell"]:
        _checks.integer("plays", plays, low=2, high=MOST_ROUNDS)
        _checks.integer("since", since, low=2, high=plays)
        for value in (before, after, chance):
            _checks.number("fell", value, low=0.0, high=1.0)


def _check_prior(fold: Fold, body: dict[str, Any]) -> None:
    """Refuse a prior with wrong values or plays."""
    raw = body["raw"]
    if len(set(body["arms"])) < len(body["arms"]) or not len(body["arms"]) == len(raw) == len(body["plays"]):
        raise InputError("a prior must name each arm once, with one outcome and one number of plays")
    _check_values(body["value"], [fold.settings.scale.value(outcome, "prior")[1] for outcome in raw])
    for plays in body["plays"]:
        _checks.integer("plays", plays, low=1, high=MOST_PRIOR)


def _check_tell(log: Log, fold: Fold, reader: Reader | None, event: Event) -> None:
    """Refuse a tell or a piece that `Study.tell` would not have written."""
    body = event.body
    entry = log.entry(fold, reader, event.decision)
    raw = body["raw"]
    keys = [_checks.integer("arm", key, low=0, high=len(fold.labels) - 1) for key in body["arms"]]
    if len(set(keys)) < len(keys):
        raise InputError(f"outcomes must name each arm once, got {_named(fold, keys)}")
    outcomes = {fold.labels[key]: outcome for key, outcome in zip(keys, raw, strict=True)}
    late = fold.settings.late(entry.asked_at, event.at)
    wanted = tell_body(fold, entry, outcomes, fold.settings.scale, final=event.kind == "tell", late=late)
    if wanted is None:
        raise InputError(f"decision {event.decision} was told the same before")
    _check_values(body.get("value", raw), wanted.get("value", wanted["raw"]))
    if entry.decision not in fold.waiting:
        for part in ("of", "again", "told", "past"):
            if body.get(part) != wanted.get(part):
                raise InputError(f"{part!r} of a tell this late must be {wanted.get(part)!r}, got {body.get(part)!r}")


def _check_import(fold: Fold, body: dict[str, Any]) -> None:
    """Refuse imported plays with wrong values or too few rounds."""
    scale = fold.settings.scale
    for key, raw, values in zip(body["arms"], body["raw"], body["value"], strict=True):
        _check_values(values, [scale.value(outcome, f"outcome of {fold.labels[key]!r}")[1] for outcome in raw])
    _checks.integer("rounds", body["rounds"], low=max(map(len, body["raw"])), high=MOST_ROUNDS)


def _check_values(values: Any, wanted: list[float]) -> None:
    """Refuse values that do not follow from their outcomes."""
    for value, right in zip(values, wanted, strict=True):
        if not math.isclose(_checks.number("value", value, low=0.0, high=1.0), right, rel_tol=0.0, abs_tol=_CLOSE):
            raise InputError(f"the value of this outcome must be {right!r}, got {value!r}")


def _known(fold: Fold, keys: Any, *, distinct: bool = True) -> list[int]:
    """The keys, checked: each must be an arm of the problem."""
    found = [_checks.integer("arm", key, low=0) for key in keys]
    unknown = [key for key in found if key not in fold.arms.arm_of]
    if unknown:
        raise InputError(f"the problem has no arm with the key {unknown[0]}")
    if distinct and len(set(found)) < len(found):
        raise InputError(f"arms must be named once each, got {_named(fold, found)}")
    return found


def _named(fold: Fold, keys: list[int]) -> str:
    """The labels of these keys, for an error message."""
    return ", ".join(repr(fold.labels[key]) for key in keys)
