"""Delays: the outcomes of a round become known some rounds later."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits.errors import InputError
from rising_bandits.policies.policy import Policy
from rising_bandits.policies.saving import Saved
from rising_bandits.problems.base import Problem

_STREAM = 0xDE1A
"""The number of the random stream of delays, beside those of outcomes and policies."""
_BLOCK = 256
"""How many delays are drawn at a time."""
_MOST_DELAY = 10**9


@dataclass(frozen=True)
class Geometric:
    """Delays with a geometric distribution: in every round an open report arrives with the same probability.

    So a report may arrive before an older one.

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
    """Check that a delay is a number of rounds or a distribution."""
    if not isinstance(delay, Geometric):
        _checks.integer(
            "delay", delay, low=0, limit=_MOST_DELAY, wanted="a number of rounds of at least 0, or Geometric(20)"
        )


def _draws(delay: Delay, seed: int, first: int = 0) -> Iterator[int]:
    """The delay of each round after the first ones. It depends on the seed only, so all policies have the same."""
    if not isinstance(delay, Geometric):
        while True:
            yield int(delay)
    rng = np.random.default_rng(np.random.SeedSequence([seed, _STREAM]))
    for _ in range(first // _BLOCK):
        rng.geometric(1.0 / (1.0 + delay.mean), _BLOCK)
    skip = first % _BLOCK
    while True:
        yield from (rng.geometric(1.0 / (1.0 + delay.mean), _BLOCK) - 1).tolist()[skip:]
        skip = 0


class Delayed:
    """A policy whose outcomes arrive late, with the methods that a simulation calls.

    Outcomes of round t with a delay of d are observed just before the choice of round t + d + 1, in the order in which
    they arrive. `Policy.select` gets the super arms that are underway.
    """

    def __init__(self, policy: Any, delay: Delay, seed: int) -> None:
        check_delay(delay)
        self._policy, self.delay = policy, delay
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

    def state(self) -> dict[str, Any]:
        """The delay and the open reports as plain data, without the policy."""
        return {
            "delay": {"mean": self.delay.mean} if isinstance(self.delay, Geometric) else int(self.delay),
            "open": [
                [known, number, arms.tolist(), outcomes.tolist(), None if played is None else played.tolist()]
                for known, number, arms, outcomes, played in sorted(self._open, key=lambda one: one[1])
            ],
        }

    @classmethod
    def from_state(cls, saved: Saved, policy: Policy, seed: int, rounds: int) -> Delayed:
        """The inverse of `state`, for a policy as it was after some rounds; everything is checked."""
        delay = saved.get("delay")
        if isinstance(delay, Mapping):
            delay = Geometric(saved.part("delay").number("mean", low=0.0))
        found = cls(policy, delay, seed)
        found._round, found._delays = rounds, _draws(delay, seed, rounds)
        reports = saved.get("open")
        if not isinstance(reports, list) or len(reports) > rounds:
            raise InputError(f"open of {saved.what} must be a list of at most {rounds} reports")
        found._open = [_report(one, policy.problem, rounds) for one in reports]
        if len({number for _, number, *_ in found._open}) < len(reports):
            raise InputError(f"open of {saved.what} must hold a round once")
        if policy.round != rounds + 1 - len(reports):
            raise InputError(f"{saved.what} must hold {rounds + 1 - policy.round} open reports, got {len(reports)}")
        heapq.heapify(found._open)
        return found


def _report(data: object, problem: Problem, rounds: int) -> tuple[int, int, Ints, Floats, Bools | None]:
    """An open report that was saved after some rounds; it is checked."""
    if not isinstance(data, list) or len(data) != 5 or not all(isinstance(part, list) for part in data[2:4]):
        raise InputError(f"an open report must be a list of five parts, got {data!r:.80}")
    number = _checks.integer("the round of an open report", data[1], low=1, high=rounds)
    known = _checks.integer("the time of an open report", data[0], low=rounds + 1, high=rounds + 2 * _MOST_DELAY)
    arms = [_checks.integer("an arm of an open report", arm, low=0, high=problem.n_arms - 1) for arm in data[2]]
    outcomes = [_checks.number("an outcome of an open report", value) for value in data[3]]
    played = data[4]
    if played is not None and not (isinstance(played, list) and all(isinstance(one, bool) for one in played)):
        raise InputError(f"an open report must say of each arm whether it was played, got {played!r:.80}")
    sizes = {len(arms), len(outcomes), len(arms if played is None else played)}
    if len(sizes) > 1 or not arms:
        raise InputError("an open report must have an outcome for each of its arms")
    return (
        known,
        number,
        np.array(arms, dtype=np.int64),
        np.array(outcomes),
        None if played is None else np.array(played, dtype=bool),
    )
