"""Two simple practices as policies: use what has been best so far, or use every arm equally often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.rules.operations import assume, indices, roomy, update
from rising_bandits.problems import Problem


class Means(NamedTuple):
    """State of `BestSoFar`: plays and the sum of the outcomes of each arm."""

    plays: Ints
    total: Floats


class Shares(NamedTuple):
    """State of `RoundRobin`: plays of each arm."""

    plays: Ints


@update.register(Means)
def _update_means(state: Means, unit: int, outcome: float) -> None:
    """Count the play and add its outcome."""
    state.plays[unit] += 1
    state.total[unit] += outcome


@update.register(Shares)
def _update_shares(state: Shares, unit: int, outcome: float) -> None:
    """Count the play."""
    state.plays[unit] += 1


@indices.register(Means)
def _indices_means(state: Means, t: int, rng: np.random.Generator, out: Floats) -> None:
    """The average outcome of each arm, 0 before its first play."""
    for unit in range(out.size):
        out[unit] = state.total[unit] / max(state.plays[unit], 1)


@indices.register(Shares)
def _indices_shares(state: Shares, t: int, rng: np.random.Generator, out: Floats) -> None:
    """One over one plus the plays of each arm."""
    for unit in range(out.size):
        out[unit] = 1.0 / (1.0 + state.plays[unit])


@assume.register(Means)
def _assume_means(state: Means, unit: int, value: float) -> None:
    # The index of an arm without plays is finite, so there is nothing to replace.
    pass


@assume.register(Shares)
def _assume_shares(state: Shares, unit: int, value: float) -> None:
    # The index of an arm without plays is finite, so there is nothing to replace.
    pass


@roomy.register(Means)
def _roomy_means(state: Means, pushes: int) -> bool:
    """Always: memory does not grow with plays."""
    return True


@roomy.register(Shares)
def _roomy_shares(state: Shares, pushes: int) -> bool:
    """Always: memory does not grow with plays."""
    return True


@dataclass(kw_only=True, eq=False)
class BestSoFar(BaseArmPolicy):
    """Play every arm twice, then always the super arm with the largest average outcomes so far.

    >>> import rising_bandits as rb
    >>> policy = BestSoFar()
    >>> policy.start(rb.problems.TopK(["x", "y"], k=1), rng=0)
    >>> for outcome in (0.4, 0.4, 0.6, 0.5):
    ...     policy.observe(policy.select(), [outcome])
    >>> policy.indices().tolist()
    [0.4, 0.55]
    """

    name = "best-so-far"

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> Means:
        return Means(np.zeros(n_units, dtype=np.int64), np.zeros(n_units))


@dataclass(kw_only=True, eq=False)
class RoundRobin(BaseArmPolicy):
    """Play all arms equally often, whatever their outcomes. The index of an arm falls with its plays.

    >>> import rising_bandits as rb
    >>> policy = RoundRobin()
    >>> policy.start(rb.problems.TopK(4, k=2), rng=0)
    >>> for _ in range(20):
    ...     policy.observe(policy.select(), [0.5, 0.5])
    >>> policy.plays.tolist()
    [10, 10, 10, 10]
    """

    name = "round-robin"

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> Shares:
        return Shares(np.zeros(n_units, dtype=np.int64))
