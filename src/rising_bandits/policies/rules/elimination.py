r"""Elimination in phases: all survivors get equally many plays, then the worst of them leave.

Phase :math:`j` brings every survivor to ``quota[j]`` plays in all. When it ends, the ``keep[j]`` survivors with the
best estimates stay. The estimate is the mean over a unit's last :math:`h` plays, of all plays or of a share of them.
After the last phase the best survivor is played for ever.

While a phase lasts, the index of a survivor is above 1 if it still needs plays, more so the more it needs. After the
last phase it is the estimate. The index of a unit that has left is its estimate minus 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import compiled
from rising_bandits.errors import InputError
from rising_bandits.policies.rules.operations import indices, roomy, update
from rising_bandits.policies.rules.rings import Rings, make_rings
from rising_bandits.policies.rules.terms import AVERAGE, BONUS
from rising_bandits.policies.rules.usual import roomy_rings
from rising_bandits.policies.rules.window import ALL_PLAYS, check_windows, held_plays, slide


class Plan(NamedTuple):
    """The phases."""

    quota: Ints
    """For each phase, how many plays every survivor has at its end."""
    keep: Ints
    """For each phase, how many units stay when it ends."""


class Elimination(NamedTuple):
    """State of an elimination: counts, sums over windows, and who has survived how many phases."""

    plays: Ints
    total: Floats
    rings: Rings
    survived: Ints
    """How many phases each unit has survived."""
    phase: Ints
    """Two numbers: the phase, from 0, and a unit before which no survivor needs plays."""
    plan: Plan
    share: float
    """The window as a share of the plays; 0 for all plays."""

    @property
    def draws(self) -> bool:
        """Whether it uses the generator."""
        return False

    def inheritance(self) -> dict[str, str]:
        """For `rebase`: another problem starts with the first phase. Plays of units that stay are kept."""
        return {"survived": "none", "phase": "none"}

    def check(self) -> None:
        check_windows(self.plays, self.total, self.rings, ALL_PLAYS, self.share)
        phases = self.plan.quota.size
        if not 0 <= self.phase[0] <= phases or not ((self.survived >= 0) & (self.survived <= self.phase[0])).all():
            raise InputError("state holds phases that its elimination does not have")
        if not (self.survived == self.phase[0]).any() or not 0 <= self.phase[1] <= self.plays.size:
            raise InputError("state holds an elimination without survivors")

    def terms(self, t: int) -> dict[str, Floats]:
        average, index = np.empty(self.plays.size), np.empty(self.plays.size)
        for unit in range(self.plays.size):
            average[unit] = estimate(self, unit)
        _indices(self, t, None, index)
        unknown = self.plays == 0
        # The bonus is what a unit gets for plays that it needs in this phase, or loses for having left.
        parts = {AVERAGE: average, BONUS: index - average}
        return {name: np.where(unknown, np.nan, part) for name, part in parts.items()}


def make_elimination(n_units: int, quota: Ints, keep: Ints, share: float) -> Elimination:
    """The state before the first play: every unit is in the first phase."""
    return Elimination(
        plays=np.zeros(n_units, dtype=np.int64),
        total=np.zeros(n_units),
        rings=make_rings(n_units),
        survived=np.zeros(n_units, dtype=np.int64),
        phase=np.zeros(2, dtype=np.int64),
        plan=Plan(quota.astype(np.int64), keep.astype(np.int64)),
        share=share,
    )


@compiled
def estimate(state: Elimination, unit: int) -> float:
    """The mean over the window of a unit; 0 without plays."""
    plays = state.plays[unit]
    if plays == 0:
        return 0.0
    return float(state.total[unit] / held_plays(ALL_PLAYS, state.share, plays))


def standing(state: Elimination) -> Floats:
    """What each unit is worth: its estimate, less by the phases that it did not survive."""
    estimates = np.array([estimate(state, unit) for unit in range(state.plays.size)])
    return np.asarray(estimates - (state.phase[0] - state.survived))


@compiled
def _better(state: Elimination, level: float) -> int:
    """How many survivors have an estimate of at least ``level``."""
    count = 0
    for unit in range(state.plays.size):
        if state.survived[unit] == state.phase[0] and estimate(state, unit) >= level:
            count += 1
    return count


@compiled
def _end_phase(state: Elimination) -> None:
    """Keep the best survivors; of equal ones, the first."""
    phase = state.phase[0]
    keep = state.plan.keep[phase]
    # Bisection on the estimate of the last one that stays: no memory is needed to sort.
    low, high = -1.0, 2.0
    for _ in range(64):
        middle = 0.5 * (low + high)
        if _better(state, middle) >= keep:
            low = middle
        else:
            high = middle
    room = keep - _better(state, high)
    for unit in range(state.plays.size):
        if state.survived[unit] == phase:
            value = estimate(state, unit)
            if value >= high:
                state.survived[unit] = phase + 1
            elif value >= low and room > 0:
                state.survived[unit] = phase + 1
                room -= 1
    state.phase[0] = phase + 1
    state.phase[1] = 0


@update.register(Elimination)
def _update(state: Elimination, unit: int, outcome: float) -> None:
    slide(state.plays, state.total, state.rings, ALL_PLAYS, state.share, unit, outcome)
    while state.phase[0] < state.plan.quota.size:
        phase, place = state.phase[0], state.phase[1]
        quota = state.plan.quota[phase]
        while place < state.plays.size and (state.survived[place] < phase or state.plays[place] >= quota):
            place += 1
        state.phase[1] = place
        if place < state.plays.size:
            break
        _end_phase(state)


@indices.register(Elimination)
def _indices(state: Elimination, t: int, rng: object, out: Floats) -> None:
    phase = state.phase[0]
    quota = state.plan.quota[phase] if phase < state.plan.quota.size else 0
    for unit in range(out.size):
        missing = quota - state.plays[unit]
        if state.survived[unit] < phase:
            out[unit] = estimate(state, unit) - 1.0
        elif missing > 0:
            out[unit] = 1.0 + missing / quota
        else:
            out[unit] = estimate(state, unit)


roomy.register(Elimination)(roomy_rings)
