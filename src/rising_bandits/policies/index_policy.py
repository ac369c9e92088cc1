"""Policies in plain Python, written as one method."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits.errors import InputError
from rising_bandits.policies import saving
from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.problems.base import Label, Problem


class PlainRule:
    """An index rule in plain Python: it keeps all outcomes and computes indices with a function."""

    def __init__(self, index: Callable[[Floats, int], float], labels: Sequence[Label]) -> None:
        n_units = len(labels)
        self._labels = labels
        self._unplayed = np.full(n_units, np.inf)
        self.plays: Ints = np.zeros(n_units, dtype=np.int64)
        self._index = index
        self._store = [np.empty(4) for _ in range(n_units)]

    def outcomes(self, unit: int) -> Floats:
        """All outcomes of a unit, oldest first."""
        return self._store[unit][: self.plays[unit]]

    def update(self, unit: int, outcome: float) -> None:
        """Add an outcome of a unit."""
        plays = self.plays[unit]
        if plays == self._store[unit].size:
            self._store[unit] = np.concatenate([self._store[unit], np.empty(plays)])
        self._store[unit][plays] = outcome
        self.plays[unit] = plays + 1

    def indices(self, t: int, rng: np.random.Generator, out: Floats) -> None:
        """Write the index of every unit at round ``t`` into ``out``."""
        for unit in range(self.plays.size):
            seen = self.outcomes(unit)
            if seen.size == 0:
                out[unit] = self._unplayed[unit]
                continue
            index: Any = self._index(seen, t)
            try:
                # Neither a text nor an array is a number, though NumPy would make one of it.
                out[unit] = np.nan if isinstance(index, str | bytes) else index
            except (TypeError, ValueError, OverflowError):
                out[unit] = np.nan
            if np.isnan(out[unit]):
                raise InputError(
                    f"index must return a number, got {index!r} for arm {self._labels[unit]!r} at round {t}"
                )

    def copy(self) -> PlainRule:
        """An independent copy with the same function."""
        rule = PlainRule(self._index, self._labels)
        rule._unplayed, rule.plays = self._unplayed.copy(), self.plays.copy()
        rule._store = [outcomes.copy() for outcomes in self._store]
        return rule

    def bind(self, index: Callable[[Floats, int], float]) -> None:
        """Use another function from now on."""
        self._index = index

    def roomy(self, pushes: int) -> bool:
        """Always True, because the memory grows by itself."""
        return True

    def inherit(self, old: PlainRule, units: Ints) -> None:
        """Copy the outcomes of another rule's units; ``units`` is -1 for units that start without plays."""
        for unit, source in enumerate(units.tolist()):
            for outcome in old.outcomes(source) if source >= 0 else ():
                self.update(unit, float(outcome))

    def assume(self, unit: int, value: float) -> None:
        """Set the index of a unit without plays."""
        self._unplayed[unit] = value


class IndexPolicy(BaseArmPolicy):
    """Base of policies that need only a method `index`. It gives first plays, calls the oracle, saves and loads.

    It runs in plain Python, in the same loop and with the same random streams as a compiled policy. So it makes the
    same decisions as a compiled policy with the same index.

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
        """Compute the index of an arm. For random indices, draw from ``self.rng``.

        Parameters
        ----------
        outcomes
            All outcomes of the arm so far, oldest first; at least one.
        t
            The round.

        Returns
        -------
        float
            The index. The oracle prefers arms with a large index.
        """

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> PlainRule:
        return PlainRule(self.index, problem.labels)

    def _own_engine(self) -> Any:
        engine = super()._own_engine()
        # The copy must use its own parameters and generator.
        engine.rule.bind(self.index)
        return engine

    def _dump(self) -> dict[str, Any]:
        rule: PlainRule = self._rule
        held = [rule.outcomes(unit) for unit in range(rule.plays.size)]
        return {
            "plays": saving.encode_array(rule.plays),
            "outcomes": saving.encode_array(np.concatenate(held)),
            "aims": saving.encode_array(self._aims()),
        }

    def _load(self, state: saving.Saved) -> None:
        rule: PlainRule = self._rule
        plays = saving.load_plays(state, rule.plays.size)
        outcomes = state.row("outcomes", np.float64)
        if outcomes.size != plays.sum() or not ((outcomes >= 0.0) & (outcomes <= 1.0)).all():
            raise InputError(f"state must hold {plays.sum()} outcomes in [0, 1], as many as its plays")
        at = 0
        for unit, count in enumerate(plays.tolist()):
            for outcome in outcomes[at : at + count]:
                rule.update(unit, float(outcome))
            at += count
        self._engine.cover.aims[:] = saving.load_aims(state, plays.size)
        for given_up in np.flatnonzero((rule.plays == 0) & (self._engine.cover.aims >= self.first_plays)):
            rule.assume(int(given_up), 1.0)
