"""Policies in plain Python: one method, and the same loop as the compiled ones."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits.errors import InputError
from rising_bandits.policies.base import PLAYS_FIRST
from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.state import decode_array, encode_array
from rising_bandits.problems.base import Label, Problem


class PlainRule:
    """All outcomes of every arm, and a Python function that turns them into an index."""

    def __init__(self, index: Callable[[Floats, int], float], labels: Sequence[Label]) -> None:
        n_units = len(labels)
        self._labels = labels
        self._unplayed = np.full(n_units, np.inf)
        self.plays: Ints = np.zeros(n_units, dtype=np.int64)
        self._index = index
        self._store = [np.empty(4) for _ in range(n_units)]

    def outcomes(self, unit: int) -> Floats:
        """Every outcome of a unit so far, oldest first."""
        return self._store[unit][: self.plays[unit]]

    def update(self, unit: int, outcome: float) -> None:
        """Take in one more outcome."""
        plays = self.plays[unit]
        if plays == self._store[unit].size:
            self._store[unit] = np.concatenate([self._store[unit], np.empty(plays)])
        self._store[unit][plays] = outcome
        self.plays[unit] = plays + 1

    def indices(self, t: int, rng: np.random.Generator, out: Floats) -> None:
        """Write the index of every unit."""
        for unit in range(self.plays.size):
            seen = self.outcomes(unit)
            out[unit] = self._index(seen, t) if seen.size else self._unplayed[unit]
            if np.isnan(out[unit]):
                raise InputError(f"index must be a number, got NaN for arm {self._labels[unit]!r} at round {t}")

    def inherit(self, old: PlainRule, units: Ints) -> None:
        """Take over the outcomes of another rule's units; ``units`` is -1 for those that begin anew."""
        for unit, source in enumerate(units.tolist()):
            for outcome in old.outcomes(source) if source >= 0 else ():
                self.update(unit, float(outcome))

    def assume(self, unit: int, value: float) -> None:
        """The index of a unit without plays."""
        self._unplayed[unit] = value


class IndexPolicy(BaseArmPolicy):
    """Write ``index`` and have a policy: the base class covers the arms, calls the oracle, saves and loads.

    ``index(outcomes, t)`` gets every outcome of one arm so far (at least one, oldest first) and the round, and
    returns its index; ``self.rng`` is there for randomised indices. It runs in Python, in the same
    loop and with the same random streams as a compiled policy, so both make the same decisions.

    >>> import rising_bandits as rb
    >>> class LastSeen(IndexPolicy):
    ...     name = "last-seen"
    ...     def index(self, outcomes, t):
    ...         return outcomes[-1]
    >>> run = rb.simulate(rb.tasks.get("path-easy"), LastSeen(), horizon=500, seed=0)
    >>> int(run.plays.sum())
    2000
    """

    @abstractmethod
    def index(self, outcomes: Floats, t: int) -> float:
        """The index of an arm with these outcomes at round ``t``."""

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> PlainRule:
        return PlainRule(self.index, problem.labels)

    def _dump(self) -> dict[str, Any]:
        rule: PlainRule = self._rule
        held = [rule.outcomes(unit) for unit in range(rule.plays.size)]
        return {
            "plays": encode_array(rule.plays),
            "outcomes": encode_array(np.concatenate(held)),
            "aims": encode_array(self._cover.aims),
        }

    def _load(self, state: dict[str, Any]) -> None:
        rule: PlainRule = self._rule
        at = 0
        outcomes = decode_array(state["outcomes"])
        for unit, plays in enumerate(decode_array(state["plays"]).tolist()):
            for outcome in outcomes[at : at + plays]:
                rule.update(unit, float(outcome))
            at += plays
        self._cover.aims[:] = decode_array(state["aims"])
        self._cover.reset()
        for given_up in np.flatnonzero((rule.plays == 0) & (self._cover.aims >= PLAYS_FIRST)):
            rule.assume(int(given_up), 1.0)
