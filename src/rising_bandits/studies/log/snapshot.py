"""Snapshots: a fold as bytes, so that a study with a long log opens quickly.

A snapshot follows from the log up to its event. It can be deleted without loss.
"""

from __future__ import annotations

import json
import logging
import zlib
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rising_bandits.errors import InputError, RisingBanditsError
from rising_bandits.policies import saving
from rising_bandits.policies.policy import Policy
from rising_bandits.problems.base import _label, _plain
from rising_bandits.studies.log.arms import Arms
from rising_bandits.studies.log.entries import Entry
from rising_bandits.studies.log.events import Event
from rising_bandits.studies.log.fold import Fold
from rising_bandits.studies.log.learned import Learned, Resolve
from rising_bandits.studies.log.tally import Tally
from rising_bandits.studies.log.watch import Watch

if TYPE_CHECKING:
    from rising_bandits.studies.settings import Settings

FORMAT = 4
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
    return zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 1)


def load(body: bytes, kind: Callable[[str], type[Policy]], resolve: Resolve, settings: Settings) -> Fold | None:
    """The fold that was dumped, or None if the bytes cannot be used. The log is then read instead.

    ``kind`` gives the class of a policy by its name, and ``settings`` are those with which the study was created.
    """
    try:
        with saving.reading("snapshot"):
            return _load(zlib.decompress(body), kind, resolve, settings)
    except (zlib.error, RisingBanditsError) as error:
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
    policy = kind(settings.policy).from_state(data["policy"], arms.problem)
    labels = [_label(label) for label in data["labels"]]
    fold = Fold(Learned(policy, arms), labels, resolve, settings)
    fold.rescaled = settings.scale if data.get("rescaled") else None
    fold.seq, fold.decisions = data["seq"], data["decisions"]
    fold.changed, fold.unlisted = fold.seq, data["unlisted"]
    # Older snapshots lack these two.
    fold.at, fold.digest = data.get("at", 0.0), data.get("digest")
    fold.tally, fold.watch = Tally.load(data["tally"]), Watch.load(data["watch"])
    fold.own, fold.used = data.get("own", fold.decisions), dict(data.get("used", ()))
    fold.clipped = Counter(dict(data.get("clipped", ())))
    fold.retired, fold.began = set(data["retired"]), dict(data["began"])
    fold.keys = {str(key): (int(first), int(count)) for key, first, count in data.get("keys", ())}
    for saved in data["window"]:
        fold._push(_from(saved))
    fold.arms_since = data["arms_since"]
    return fold


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


def _from(data: dict[str, Any]) -> Entry:
    """The inverse of `_entry`."""
    entry = Entry(data["seq"], data["decision"], tuple(data["arms"]), data["asked_at"])
    entry.values = None if data["values"] is None else dict(data["values"])
    entry.told, entry.told_at = [dict(told) for told in data["told"]], data["told_at"]
    entry.closed, entry.rounds, entry.late = data["closed"], data["rounds"], data["late"]
    entry.past = tuple(data["past"])
    entry.by, entry.meta = data.get("by", ""), data.get("meta")
    entry.control = None if data["control"] is None else Event(*data["control"])
    return entry
