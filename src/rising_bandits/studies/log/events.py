"""Events: what can happen to a study, as plain data. The log of a study is a list of events.

======== ========================================================================
problem  a new problem: its spec, its labels, and the keys of its arms
ask      a decision: the keys of its arms, and of the arms that were unavailable; the key of the call and the family
         of super arms that was asked for, if there is one
piece    some outcomes of a decision; more may follow
tell     the last outcomes of a decision, which closes it
retire   arms that are not used until they are restored
restore  retired arms that are used again
reset    arms that restart: their plays are forgotten
import   plays of arms that were made elsewhere
prior    what is believed about arms: an outcome, and how many plays it is worth
set      settings that are different from here on, such as the policy or the scale
======== ========================================================================

Every arm has a key, which never changes, even if the problem does. Labels get keys in the order in which they first
appear.

The body of a change, which is every kind but ask, piece and tell, may hold ``author``: who made it. The body of an
ask may also hold ``by``, the name of the rule that decided instead of the study's policy; ``offered``, the rules among
which was drawn; ``meta``, the caller's metadata; and ``least``, an arm whose least share made the decision. The body of
a reset that the study made by itself holds ``fell``: for each arm the numbers of its
`rising_bandits.theory.falls.Fall`.

An arm *restarts* when its plays are forgotten: by a reset, or because it returns after a problem that lacked it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from rising_bandits.errors import InputError

if TYPE_CHECKING:
    from rising_bandits.studies.scales import Scale

KINDS = ("problem", "ask", "piece", "tell", "retire", "restore", "reset", "import", "prior", "set")
MOST_ROUNDS = 2**53
"""The largest number of rounds that a float can count exactly."""
CHANGES = frozenset(KINDS) - {"ask", "piece", "tell"}
"""The kinds of events that change a study, and may have an author."""
MOST_AUTHOR = 500
"""The most characters of the name of who makes a change."""
MOST_METADATA = 10_000
"""The most characters of a decision's metadata as JSON."""
MOST_PRIOR = 1_000_000
"""The most plays that a prior may be worth."""


def check_key(key: Any) -> None:
    """Refuse what cannot be the key of an ask; None is no key."""
    if key is not None and (not isinstance(key, str) or not 1 <= len(key) <= 200 or not key.isprintable()):
        raise InputError(f"key must be a text of 1 to 200 printable characters, or None, got {key!r}")


def check_source(source: Any) -> None:
    """Refuse what cannot be the name of who made a decision."""
    if not isinstance(source, str) or not 1 <= len(source) <= 100 or not source.isprintable() or source == "study":
        raise InputError(
            f"the name of a rule or source must be 1 to 100 printable characters, and not 'study', got {source!r}"
        )


def check_author(author: Any) -> None:
    """Refuse what cannot be the name of who changes a study; None is no name."""
    if author is not None and (
        not isinstance(author, str) or not 1 <= len(author) <= MOST_AUTHOR or not author.isprintable()
    ):
        raise InputError(f"author must be a text of 1 to {MOST_AUTHOR} printable characters, or None, got {author!r}")


def check_metadata(metadata: Any) -> dict[str, Any]:
    """The metadata of a decision as plain data; refuses what JSON cannot hold, and more than `MOST_METADATA`."""
    wanted = f"metadata must be a mapping of texts to plain data that JSON can hold, at most {MOST_METADATA} characters"
    if not isinstance(metadata, Mapping) or not all(isinstance(name, str) for name in metadata):
        raise InputError(f"{wanted}, got {metadata!r}")
    try:
        text = json.dumps(dict(metadata), allow_nan=False, ensure_ascii=False)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{wanted}: {error}") from None
    if len(text) > MOST_METADATA:
        raise InputError(f"{wanted}, got {len(text)} characters")
    plain: dict[str, Any] = json.loads(text)
    return plain


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

    @property
    def author(self) -> str | None:
        """Who made a change, as `Study.author` said; None if nobody was named, and for asks and tells."""
        return self.body.get("author")


def outcomes_body(raw: dict[int, float], values: dict[int, float]) -> dict[str, Any]:
    """The body of a tell: outcomes in the user's unit, and their values in [0, 1] if these differ.

    >>> outcomes_body({3: 50.0}, {3: 0.75})
    {'arms': [3], 'raw': [50.0], 'value': [0.75]}
    """
    body: dict[str, Any] = {"arms": list(raw), "raw": list(raw.values())}
    if raw is not values and raw != values:
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
        return [again(part) for part in raw] if isinstance(raw, list) else scale.value(raw, "an outcome in the log")[1]

    if "raw" not in event.body:
        return event
    return event._replace(body={**event.body, "value": again(event.body["raw"])})
