"""Events: what can happen to a study, as plain data. The log of a study is a list of events.

======== ========================================================================
problem  a new problem: its spec, its labels, and the keys of its arms
ask      a decision: the keys of its arms, and of the arms that were unavailable; the key of the call, if it has one
piece    some outcomes of a decision; more may follow
tell     the last outcomes of a decision, which closes it
retire   arms that are not used until they are restored
restore  retired arms that are used again
reset    arms that restart: their plays are forgotten
import   plays of arms that were made elsewhere
set      settings that are different from here on: the policy, the scale, the horizon, the expiry
======== ========================================================================

Every arm has a key, which never changes, even if the problem does. Labels get keys in the order in which they first
appear.

An arm *restarts* when its plays are forgotten: by a reset, or because it returns after a problem that lacked it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from rising_bandits.errors import InputError

if TYPE_CHECKING:
    from rising_bandits.studies.scales import Scale

KINDS = ("problem", "ask", "piece", "tell", "retire", "restore", "reset", "import", "set")
MOST_ROUNDS = 2**53
"""The largest number of rounds that a float can count exactly."""


def check_key(key: Any) -> None:
    """Refuse what cannot be the key of an ask; None is no key."""
    if key is not None and (not isinstance(key, str) or not 1 <= len(key) <= 200 or not key.isprintable()):
        raise InputError(f"key must be a text of 1 to 200 printable characters, or None, got {key!r}")


class Event(NamedTuple):
    """An event of a log."""

    seq: int
    """The place of the event in the log, from 1."""
    kind: str
    """One of `KINDS`."""
    at: float
    """The time of the event, in seconds since 1970."""
    decision: int | None
    """The number of the decision of an ask, a piece or a tell; None for other kinds."""
    body: dict[str, Any]
    """What the event says; its entries depend on the kind."""
    digest: int = 0
    """The checksum of the event in its storage; 0 if it was not read from one."""


def outcomes_body(raw: dict[int, float], values: dict[int, float]) -> dict[str, Any]:
    """The body of a tell: outcomes in the user's unit, and their values in [0, 1] if these differ.

    >>> outcomes_body({3: 50.0}, {3: 0.75})
    {'arms': [3], 'raw': [50.0], 'value': [0.75]}
    """
    body: dict[str, Any] = {"arms": list(raw), "raw": list(raw.values())}
    if raw != values:
        body["value"] = [values[key] for key in raw]
    return body


def raw_of(body: dict[str, Any]) -> dict[int, float]:
    """The outcomes of a tell in the user's unit, by key."""
    return dict(zip(body["arms"], body["raw"], strict=True))


def values_of(body: dict[str, Any]) -> dict[int, float]:
    """The outcomes of a tell as values in [0, 1], by key."""
    return dict(zip(body["arms"], body.get("value", body["raw"]), strict=True))


def revalued(event: Event, scale: Scale) -> Event:
    """An event whose values are computed again from its outcomes; other events are returned as they are.

    >>> from rising_bandits.studies.scales import Range
    >>> revalued(Event(2, "tell", 0.0, 1, {"arms": [3], "raw": [50.0]}), Range(0, 200)).body
    {'arms': [3], 'raw': [50.0], 'value': [0.25]}
    """

    def again(raw: Any) -> Any:
        return [again(part) for part in raw] if isinstance(raw, list) else scale.value(raw)[1]

    if "raw" not in event.body:
        return event
    return event._replace(body={**event.body, "value": again(event.body["raw"])})
