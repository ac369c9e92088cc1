"""Limits of a service: sizes, times, and how often a client may call."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from rising_bandits import _checks

LABELS, LABEL, BATCH = 10_000, 500, 1_000
"""The most labels of a request, the longest label in characters, and the most decisions or tells of a request. The
OpenAPI text says so, and no service can allow more."""
CLIENTS_KEPT = 10_000
"""Of how many clients the rate is remembered."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a request may cost.

    Parameters
    ----------
    body
        The largest body, in bytes.
    batch
        The most decisions or tells of one request, at most `BATCH`.
    rate
        The most requests a second with one token (without tokens: from one address), on average; 0 for no limit. Twice
        as many may come at once.
    failures
        The most requests a second with a wrong token from one address.
    seconds
        How long a request may take.
    open
        How many studies are in memory at most.
    waiting
        How many requests may wait for one study.
    connections
        How many requests may be underway at once.

    Raises
    ------
    InputError
        A limit is out of range.

    >>> Limits(batch=10).batch
    10
    """

    body: int = 1_000_000
    batch: int = BATCH
    rate: float = 2_000.0
    failures: float = 5.0
    seconds: float = 30.0
    open: int = 64
    waiting: int = 4_096
    connections: int = 4_096

    def __post_init__(self) -> None:
        _checks.integer("batch", self.batch, low=1, high=BATCH)
        for name in ("body", "open", "waiting", "connections"):
            _checks.integer(name, getattr(self, name), low=1)
        _checks.number("rate", self.rate, low=0.0)
        for name in ("failures", "seconds"):
            _checks.number(name, getattr(self, name), low=0.0, open_low=True)


class Rate:
    """A token bucket for each client: ``rate`` calls a second on average, and twice as many at once.

    Parameters
    ----------
    rate
        Calls a second; 0 for no limit.
    clock
        A function that returns the time in seconds.
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self._clock = rate, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spent(self, client: str) -> bool:
        """Whether a client has no call left now."""
        return self.rate > 0 and self._now(client)[0] < 1.0

    def take(self, client: str) -> bool:
        """Count a call; False if the client had none left.

        >>> rate = Rate(1.0, clock=lambda: 0.0)
        >>> [rate.take("ann") for _ in range(3)], rate.take("bob")
        ([True, True, False], True)
        """
        if not self.rate:
            return True
        left, now = self._now(client)
        self._left[client] = (left - 1.0 if left >= 1.0 else left, now)
        self._left.move_to_end(client)
        if len(self._left) > CLIENTS_KEPT:
            self._left.popitem(last=False)
        return left >= 1.0

    def _now(self, client: str) -> tuple[float, float]:
        """The calls that a client has left, and the time."""
        now, most = self._clock(), 2.0 * self.rate if self.rate >= 0.5 else 1.0
        left, since = self._left.get(client, (most, now))
        return min(most, left + (now - since) * self.rate), now
