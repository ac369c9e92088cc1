"""Delays: the outcomes of a round become known some rounds later."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits.errors import InputError
from rising_bandits.policies.policy import Policy

_STREAM = 0xDE1A
"""The number of the random stream of delays, beside those of outcomes and policies."""


@dataclass(frozen=True)
class Geometric:
    """Delays with a geometric distribution: in every round an open report arrives with the same probability.

    Reports overtake each other.

    Parameters
    ----------
    mean
        The mean delay in rounds, at least 0.

    >>> Geometric(mean=20.0)
    Geometric(mean=20.0)
    """

    mean: float

    def __post_init__(self) -> None:
        _checks.number("mean", self.mean, low=0.0, high=1e9)


Delay = int | Geometric
"""A fixed number of rounds, or a distribution."""


def check_delay(delay: object) -> None:
    """Refuse what is no delay."""
    if not isinstance(delay, Geometric):
        _checks.integer("delay", delay, low=0, limit=10**9, wanted="a number of rounds of at least 0, or Geometric(20)")


def _draws(delay: Delay, seed: int) -> Iterator[int]:
    """The delay of each round. It depends on the seed only, so all policies have the same delays."""
    if not isinstance(delay, Geometric):
        while True:
            yield int(delay)
    rng = np.random.default_rng(np.random.SeedSequence([seed, _STREAM]))
    while True:
        yield from (rng.geometric(1.0 / (1.0 + delay.mean), 256) - 1).tolist()


class Delayed:
    """A policy whose outcomes arrive late, with the methods that a simulation calls.

    Outcomes of round t with a delay of d are observed just before the choice of round t + d + 1, in the order in which
    they arrive. `Policy.select` gets the super arms that are underway.
    """

    def __init__(self, policy: Any, delay: Delay, seed: int) -> None:
        check_delay(delay)
        self._policy = policy
        self._delays = _draws(delay, seed)
        self._round = 0
        # Reports by the round from which on they are known; the second number keeps the order of equals.
        self._open: list[tuple[int, int, Ints, Floats, Bools | None]] = []

    def select(self) -> Ints:
        """Hand over the reports that have arrived, and choose."""
        self._round += 1
        while self._open and self._open[0][0] <= self._round:
            _, _, arms, outcomes, played = heapq.heappop(self._open)
            self._policy.observe(arms, outcomes, *(() if played is None else (played,)))
        if not isinstance(self._policy, Policy):
            return self._policy.select()  # type: ignore[no-any-return]
        return self._policy.select(underway=[report[2] for report in sorted(self._open, key=lambda one: one[1])])

    def observe(self, arms: Ints, outcomes: Floats, played: Bools | None = None) -> None:
        """Keep the outcomes of this round until they are known."""
        known = self._round + next(self._delays) + 1
        heapq.heappush(self._open, (known, self._round, arms, outcomes, played))


def refuse_saving() -> InputError:
    """The error of a run with delays that is to be saved."""
    return InputError("a run with delays cannot be saved; run it without a stop, or without delay")
