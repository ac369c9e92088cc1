r"""Greedy indices: the mean of a unit's outcomes, with random exploration or after forced plays.

- :math:`\varepsilon`-greedy: with probability :math:`\varepsilon_t` all indices of a round are uniform random numbers,
  so that the oracle returns a random super arm; else they are the means.
- Explore, then commit: every unit gets :math:`m` forced plays. From then on its index is the mean of its first
  :math:`m` outcomes, and never changes again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits.errors import InputError
from rising_bandits.policies.rules.checking import check_unplayed
from rising_bandits.policies.rules.forced import must_play
from rising_bandits.policies.rules.operations import assume, indices, roomy, update
from rising_bandits.policies.rules.terms import AVERAGE, BONUS
from rising_bandits.policies.rules.usual import assume_unplayed, roomy_always


class Greedy(NamedTuple):
    """State of the greedy index: counts and sums."""

    plays: Ints
    counted: Ints
    """How many outcomes of each unit count for its mean: all, or those of its forced plays."""
    total: Floats
    """Their sum."""
    unplayed: Floats
    """The index of each unit while it has no plays."""
    epsilon: float
    """The chance of a random round."""
    fading: bool
    """Whether the chance is ``epsilon`` times the number of units, divided by the round."""
    forced: int
    """How many plays each unit gets first, after which its mean is fixed; 0 if all outcomes count."""

    @property
    def draws(self) -> bool:
        """Whether it uses the generator."""
        return True

    def check(self) -> None:
        if ((self.counted > self.plays) | ((self.counted < 1) & (self.plays > 0)) | (self.counted < 0)).any():
            raise InputError("state holds means of more outcomes than plays, or of none")
        if not ((self.total >= -1e-6) & (self.total <= self.counted + 1e-6)).all():
            raise InputError("state holds sums of outcomes that its plays cannot have")
        check_unplayed(self.unplayed)

    def terms(self, t: int) -> dict[str, Floats]:
        average = self.total / np.where(self.plays == 0, np.nan, self.counted)
        wanted = np.empty(self.plays.size)
        # While units need forced plays, these decide.
        forced = must_play(self.plays, self.forced, t, wanted)
        return {AVERAGE: average, BONUS: wanted - average if forced else 0.0 * average}


def make_greedy(n_units: int, *, epsilon: float = 0.0, fading: bool = False, forced: int = 0) -> Greedy:
    """The state before the first play: every index is infinite."""
    plays = np.zeros(n_units, dtype=np.int64)
    return Greedy(plays, plays.copy(), np.zeros(n_units), np.full(n_units, np.inf), epsilon, fading, forced)


@update.register(Greedy)
def _update(state: Greedy, unit: int, outcome: float) -> None:
    state.plays[unit] += 1
    if state.forced == 0 or state.counted[unit] < state.forced:
        state.counted[unit] += 1
        state.total[unit] += outcome


@indices.register(Greedy)
def _indices(state: Greedy, t: int, rng: np.random.Generator, out: Floats) -> None:
    if must_play(state.plays, state.forced, t, out):
        return
    chance = min(1.0, state.epsilon * out.size / t) if state.fading else state.epsilon
    if chance > 0.0 and rng.random() < chance:
        for unit in range(out.size):
            out[unit] = rng.random()
        return
    for unit in range(out.size):
        if state.plays[unit] == 0:
            out[unit] = state.unplayed[unit]
        else:
            out[unit] = state.total[unit] / state.counted[unit]


assume.register(Greedy)(assume_unplayed)
roomy.register(Greedy)(roomy_always)
