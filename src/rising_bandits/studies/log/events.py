"""What can happen to a study, as plain data: the lines of its log.

======== ========================================================================
problem  the problem from here on: its spec, labels, the keys of its arms
ask      a decision: the keys of its super arm, and of the arms that were masked
piece    some outcomes of a decision, more may follow
tell     the (other) outcomes of a decision; it is closed
retire   arms that are masked from here on, until ``restore``
reset    arms that begin anew
import   plays of arms that were made elsewhere
======== ========================================================================

An arm has a key that never changes, whatever becomes of the problem: keys are given in the order in which labels
first appear.
"""

from __future__ import annotations

from typing import Any, NamedTuple

KINDS = ("problem", "ask", "piece", "tell", "retire", "restore", "reset", "import")
MOST_ROUNDS = 2**53
"""More rounds than this cannot be counted exactly."""


class Event(NamedTuple):
    """A line of the log of a study."""

    seq: int
    kind: str
    at: float
    """When, in seconds since 1970."""
    decision: int | None
    body: dict[str, Any]


def outcomes_body(raw: dict[int, float], values: dict[int, float]) -> dict[str, Any]:
    """Outcomes by the key of their arm, in the user's unit and as values in [0, 1] where these differ.

    >>> outcomes_body({3: 50.0}, {3: 0.75})
    {'arms': [3], 'raw': [50.0], 'value': [0.75]}
    """
    body: dict[str, Any] = {"arms": list(raw), "raw": list(raw.values())}
    if raw != values:
        body["value"] = [values[key] for key in raw]
    return body


def raw_of(body: dict[str, Any]) -> dict[int, float]:
    """Outcomes in the user's unit."""
    return dict(zip(body["arms"], body["raw"], strict=True))


def values_of(body: dict[str, Any]) -> dict[int, float]:
    """Outcomes as values in [0, 1]."""
    return dict(zip(body["arms"], body.get("value", body["raw"]), strict=True))
