r"""The mean of the newer half of a unit's outcomes, with a bonus for the uncertainty of that mean.

For a unit with :math:`N` plays and :math:`w = \max(1, \lfloor N/2 \rfloor)`, the index is

.. math::

    \frac1w \sum_{l=N-w+1}^{N} X(l) + \sigma \sqrt{\frac{C \log t}{w}}.

If :math:`\sigma` is not given, it is measured. Half the mean squared difference of neighbouring outcomes of a unit is
the variance of the noise, even if the unit rises slowly.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import compiled
from rising_bandits.errors import InputError
from rising_bandits.policies.rules.checking import bounded, check_unplayed
from rising_bandits.policies.rules.operations import assume, indices, roomy, update
from rising_bandits.policies.rules.rings import Rings, make_rings
from rising_bandits.policies.rules.terms import AVERAGE, BONUS
from rising_bandits.policies.rules.usual import assume_unplayed, roomy_rings
from rising_bandits.policies.rules.window import check_windows, held_plays, slide

HALF = 0.5
"""The share of the plays in the window."""


class NewerHalfUCB(NamedTuple):
    """State of the index: counts, the sum over the newer half, and the measure of noise."""

    plays: Ints
    total: Floats
    unplayed: Floats
    """The index of each unit while it has no plays."""
    rings: Rings
    last: Floats
    """The last outcome of each unit."""
    noise: Floats
    """Half the sum of squared differences of neighbouring outcomes, and their number."""
    sigma: float
    """The noise; less than 0 if it is measured."""
    constant: float

    @property
    def draws(self) -> bool:
        """Whether it uses the generator."""
        return False

    def inheritance(self) -> dict[str, str]:
        """For `rebase`: the noise is copied as a whole."""
        return {"noise": "whole"}

    def check(self) -> None:
        check_windows(self.plays, self.total, self.rings, 1, HALF)
        check_unplayed(self.unplayed)
        if not ((self.last >= 0.0) & (self.last <= 1.0)).all():
            raise InputError("state holds outcomes outside [0, 1]")
        if not bounded(self.noise) or self.noise[0] < 0.0 or self.noise[1] < 1.0:
            raise InputError("state holds a measure of noise that outcomes cannot have")

    def terms(self, t: int) -> dict[str, Floats]:
        plays = np.where(self.plays == 0, np.nan, self.plays)
        held = np.maximum(1.0, np.floor(HALF * plays))
        return {AVERAGE: self.total / held, BONUS: spread(self) * np.sqrt(self.constant * math.log(t) / held)}


def make_newer_half(n_units: int, *, sigma: float | None, constant: float) -> NewerHalfUCB:
    """The state before the first play: every index is infinite. A ``sigma`` of None is measured."""
    return NewerHalfUCB(
        plays=np.zeros(n_units, dtype=np.int64),
        total=np.zeros(n_units),
        unplayed=np.full(n_units, np.inf),
        rings=make_rings(n_units),
        last=np.zeros(n_units),
        # Until it is measured, the noise is the largest that is possible in [0, 1]: as if by one difference.
        noise=np.array([0.25, 1.0]),
        sigma=-1.0 if sigma is None else sigma,
        constant=constant,
    )


@compiled
def spread(state: NewerHalfUCB) -> float:
    """The noise, given or measured."""
    return state.sigma if state.sigma >= 0.0 else math.sqrt(state.noise[0] / state.noise[1])


@update.register(NewerHalfUCB)
def _update(state: NewerHalfUCB, unit: int, outcome: float) -> None:
    if state.plays[unit] > 0:
        jump = outcome - state.last[unit]
        state.noise[0] += 0.5 * (jump * jump)
        state.noise[1] += 1.0
    state.last[unit] = outcome
    slide(state.plays, state.total, state.rings, 1, HALF, unit, outcome)


def _all_indices(state: NewerHalfUCB, t: int, rng: object, out: Floats) -> None:
    """`_indices` of all units at once."""
    out[:] = state.unplayed
    known = np.flatnonzero(state.plays)
    held = np.maximum(1, (HALF * state.plays[known]).astype(np.int64))
    out[known] = state.total[known] / held + spread(state) * np.sqrt(state.constant * math.log(t) / held)


@indices.register(NewerHalfUCB, plain=_all_indices)
def _indices(state: NewerHalfUCB, t: int, rng: object, out: Floats) -> None:
    confidence, sigma = state.constant * math.log(t), spread(state)
    for unit in range(out.size):
        plays = state.plays[unit]
        if plays == 0:
            out[unit] = state.unplayed[unit]
        else:
            held = held_plays(1, HALF, plays)
            out[unit] = state.total[unit] / held + sigma * math.sqrt(confidence / held)


assume.register(NewerHalfUCB)(assume_unplayed)
roomy.register(NewerHalfUCB)(roomy_rings)
