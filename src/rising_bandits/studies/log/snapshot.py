"""Snapshots: a fold as bytes, so that a study with a long log opens quickly.

A snapshot follows from the log up to its event. It can be deleted without loss.
"""

from __future__ import annotations

import json
import logging
import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from rising_bandits import _checks
from rising_bandits.errors import InputError, RisingBanditsError
from rising_bandits.policies import saving
from rising_bandits.policies.policy import Policy
from rising_bandits.problems.base import _label, _plain
from rising_bandits.studies.log.arms import Arms
from rising_bandits.studies.log.entries import Entry
from rising_bandits.studies.log.events import Event, check_metadata
from rising_bandits.studies.log.fold import Fold
from rising_bandits.studies.log.learned import Learned, Resolve
from rising_bandits.studies.log.tally import Tally
from rising_bandits.studies.log.watch import Watch
from rising_bandits.studies.storage.digests import packed_snapshot, unpacked_snapshot

if TYPE_CHECKING:
    from rising_bandits.studies.settings import Settings

FORMAT = 5
_LOGGER = logging.getLogger(__name__)


def dump(fold: Fold) -> bytes:
    """A fold as bytes."""
    data = {
        "format": FORMAT,
        "seq": fold.seq,
        "at": fold.at,
        "digest": fold.digest,
        "decisions": fold.decisions,
        "labels": [_plain(label) for label in fold.labels],
        "unlisted": fold.unlisted,
        "retired": sorted(fold.retired),
        "arms_since": fold.arms_since,
        "began": list(fold.began.items()),
        "settings": fold.settings.since(),
        "rescaled": fold.rescaled is not None,
        "clipped": list(fold.clipped.items()),
        "own": fold.own,
        "used": list(fold.used.items()),
        "keys": [[key, *found] for key, found in fold.keys.items()],
        "problem": fold.settled.arms.body,
        "policy": saving.sealed({**fold.settled.policy.state(), "problem": None}),
        "tally": fold.tally.dump(),
        "watch": fold.watch.dump(),
        "window": [_entry(entry) for entry in fold.window],
    }
    return packed_snapshot(json.dumps(data, separators=(",", ":")).encode())


def load(body: bytes, kind: Callable[[str], type[Policy]], resolve: Resolve, settings: Settings) -> Fold | None:
    """The fold that was dumped, or None if the bytes cannot be used. The log is then read instead.

    ``kind`` gives the class of a policy by its name, and ``settings`` are those with which the study was created.
    """
    try:
        with saving.reading("snapshot"):
            return _load(unpacked_snapshot(body), kind, resolve, settings)
    except RisingBanditsError as error:
        _LOGGER.warning("a snapshot of a study cannot be used, so its log is read instead: %s", error)
        return None


def _load(text: bytes, kind: Callable[[str], type[Policy]], resolve: Resolve, settings: Settings) -> Fold:
    """The fold of a snapshot; raises if it is damaged or of another format."""
    data = json.loads(text)
    if data["format"] != FORMAT:
        raise InputError(f"its format must be {FORMAT}, got {data['format']!r}")
    arms = Arms(resolve(data["problem"]), data["problem"])
    # Snapshots of older versions have no settings: they could not change.
    settings = settings.changed(data["settings"]) if "settings" in data else settings
    for _, share in settings.least:
        _checks.number("least of a snapshot", share, low=0.0, high=1.0, open_low=True)
    policy = kind(settings.policy).from_state(data["policy"], arms.problem)
    labels = [_label(label) for label in data["labels"]]
    known = set(_keys("keys", data["problem"]["keys"], len(labels)))
    if len(known) != len(arms.keys) or len(known) != arms.problem.n_arms:
        raise InputError("its arms must have a key each, all different")
    if [labels[key] for key in arms.keys] != list(arms.problem.labels) or len({*labels}) != len(labels):
        raise InputError("its labels must be those of its problem and of former arms, all different")
    _keys("unreachable", data["problem"]["unreachable"], arms.problem.n_arms)
    fold = Fold(Learned(policy, arms), labels, resolve, settings)
    fold.rescaled = settings.scale if data.get("rescaled") else None
    fold.seq, fold.decisions = _whole("seq", data["seq"], low=1), _whole("decisions", data["decisions"])
    fold.changed, fold.unlisted = fold.seq, _whole("unlisted", data["unlisted"])
    # Older snapshots lack these two.
    fold.at, fold.digest = _time("at", data.get("at", 0.0)), data.get("digest")
    fold.tally, fold.watch = Tally.load(data["tally"]), Watch.load(data["watch"])
    _keys("watch", fold.watch.keys(), len(labels))
    fold.own, fold.used = _whole("own", data.get("own", fold.decisions)), _counts("used", data.get("used", ()))
    if fold.used.keys() != {*_keys("least", dict(settings.least), len(labels))}:
        raise InputError("it must say when each arm with a least share was used")
    fold.clipped = Counter(_counts("clipped", data.get("clipped", ())))
    fold.retired, fold.began = set(_keys("retired", data["retired"], len(labels))), _counts("began", data["began"])
    fold.keys = {str(key): (_whole("keys", first), _whole("keys", count)) for key, first, count in data.get("keys", ())}
    for saved in data["window"]:
        fold._push(_from(saved, len(labels)))
    fold.arms_since = _whole("arms_since", data["arms_since"])
    return fold


def _whole(name: str, value: object, *, low: int = 0) -> int:
    """A whole number that a database can hold."""
    return _checks.integer(f"{name} of a snapshot", value, low=low, high=2**62)


def _time(name: str, value: object) -> float:
    """A time in seconds since 1970."""
    return _checks.number(f"{name} of a snapshot", value, low=-1e12, high=1e12)


def _counts(name: str, pairs: Iterable[tuple[object, object]]) -> dict[int, int]:
    """A count for each of some keys."""
    return {_whole(name, key): _whole(name, count) for key, count in pairs}


def _keys(name: str, values: Iterable[object], count: int) -> tuple[int, ...]:
    """Keys of arms, of which there are ``count``."""
    return tuple(_checks.integer(f"{name} of a snapshot", key, low=0, high=count - 1) for key in values)


def _outcomes(
    pairs: Iterable[tuple[object, object]], count: int, *, low: float = -math.inf, high: float = math.inf
) -> dict[int, float]:
    """An outcome for each of some keys."""
    found = dict(pairs)
    numbers = [_checks.number("an outcome of a snapshot", one, low=low, high=high) for one in found.values()]
    return dict(zip(_keys("outcomes", found, count), numbers, strict=True))


def _entry(entry: Entry) -> dict[str, Any]:
    """An entry as plain data."""
    return {
        "seq": entry.seq,
        "decision": entry.decision,
        "arms": list(entry.arms),
        "asked_at": entry.asked_at,
        "values": None if entry.values is None else list(entry.values.items()),
        "told": [list(told.items()) for told in entry.told],
        "told_at": entry.told_at,
        "closed": entry.closed,
        "rounds": entry.rounds,
        "control": entry.control,
        "late": entry.late,
        "past": list(entry.past),
        "by": entry.by,
        "meta": entry.meta,
    }


def _from(data: dict[str, Any], count: int) -> Entry:
    """The inverse of `_entry`, for a study that has had so many arms."""
    entry = Entry(
        _whole("seq", data["seq"]),
        _whole("decision", data["decision"]),
        _keys("arms", data["arms"], count),
        _time("asked_at", data["asked_at"]),
    )
    entry.values = None if data["values"] is None else _outcomes(data["values"], count, low=0.0, high=1.0)
    if entry.decision and not {*entry.arms}.issuperset(entry.values or ()):
        raise InputError("the outcomes of a decision in a snapshot must be those of its arms")
    entry.told = [_outcomes(told, count) for told in data["told"]]
    entry.told_at = [_time("told_at", at) for at in data["told_at"]]
    entry.closed, entry.rounds = bool(data["closed"]), _checks.integer("rounds", data["rounds"], low=0, high=10**12)
    entry.late, entry.past = _whole("late", data["late"]), _keys("past", data["past"], count)
    entry.by, meta = str(data.get("by", "")), data.get("meta")
    entry.meta = None if meta is None else check_metadata(meta)
    entry.control = None if data["control"] is None else Event(*data["control"])
    return entry
