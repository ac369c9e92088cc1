r"""The rising index as the authors' AntMaze program computes it, which differs from the printed formula.

For a unit played :math:`N` times, with :math:`h = \lfloor N/4 \rfloor`, at round :math:`t`:

.. math::

    \frac1h \Big( \sum_{l=N-h+1}^{N} X(l) + \max\big(0,\; (t-N+1)\,\tfrac{X(N)-X(N-h)}{h}\big) \Big)
    + \sigma\,(t-N+h-1)\sqrt{\frac{C \log t}{h^3}},

and at least 1e-6. Of the sum over slopes only the last summand is kept, and only if it is positive. The index is
infinite for fewer than four plays.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits.errors import InputError
from rising_bandits.policies.rules.checking import check_totals, check_unplayed
from rising_bandits.policies.rules.operations import assume, indices, roomy, update
from rising_bandits.policies.rules.rings import Rings, grow, make_rings, read, write
from rising_bandits.policies.rules.terms import AVERAGE, BONUS, IMPROVEMENT
from rising_bandits.policies.rules.usual import assume_unplayed, roomy_rings

QUARTER = 4
"""A window is a quarter of the plays."""
LEAST = 1e-6
"""The smallest index."""


class Program(NamedTuple):
    """State of the program's index."""

    plays: Ints
    total: Floats
    """The sum of the outcomes in the window."""
    rise: Floats
    """The last outcome minus the outcome just before the window, divided by the window."""
    unplayed: Floats
    """The index of each unit while it has fewer than four plays."""
    rings: Rings
    sigma: float
    constant: float

    @property
    def draws(self) -> bool:
        """Whether it uses the generator."""
        return False

    def check(self) -> None:
        held = self.plays // QUARTER
        if (self.rings.capacity < np.minimum(self.plays, held + 1)).any():
            raise InputError("state holds buffers that are smaller than its windows")
        if not ((self.total >= -1e-6) & (self.total <= held + 1e-6)).all() or not (np.abs(self.rise) <= 1.0).all():
            raise InputError("state holds sums or slopes of outcomes that its windows cannot have")
        check_totals(self.total, self.rings, self.plays, held)
        check_unplayed(self.unplayed)

    def terms(self, t: int) -> dict[str, Floats]:
        known = self.plays >= QUARTER
        window = np.where(known, self.plays // QUARTER, np.nan)
        return {
            AVERAGE: self.total / window,
            IMPROVEMENT: np.maximum(0.0, (t - self.plays + 1) * self.rise) / window,
            BONUS: np.asarray(
                self.sigma * (t - self.plays + window - 1) * np.sqrt(self.constant * math.log(t) / window**3)
            ),
        }


def make_program(n_units: int, *, sigma: float, constant: float) -> Program:
    """The state before the first play: every index is infinite."""
    return Program(
        plays=np.zeros(n_units, dtype=np.int64),
        total=np.zeros(n_units),
        rise=np.zeros(n_units),
        unplayed=np.full(n_units, np.inf),
        rings=make_rings(n_units),
        sigma=float(sigma),
        constant=float(constant),
    )


@update.register(Program)
def _update(state: Program, unit: int, outcome: float) -> None:
    before = state.plays[unit]
    rings = state.rings
    old, h = before // QUARTER, (before + 1) // QUARTER
    # Room for the window and the outcome before it, for this play and the next.
    if h + 2 > rings.capacity[unit]:
        grow(rings, unit, before)
    leaving = read(rings, unit, before + 1 - old) if h == old and old > 0 else 0.0
    write(rings, unit, before + 1, outcome)
    state.plays[unit] = before + 1
    if h > 0:
        state.total[unit] += outcome - leaving
        if old == 0:
            # The first window contains only the newest outcome.
            state.total[unit] = outcome
        state.rise[unit] = (outcome - read(rings, unit, before + 1 - h)) / h


@indices.register(Program)
def _indices(state: Program, t: int, rng: object, out: Floats) -> None:
    confidence = state.constant * math.log(t)
    for unit in range(out.size):
        plays = state.plays[unit]
        if plays < QUARTER:
            out[unit] = state.unplayed[unit]
        else:
            h = float(plays // QUARTER)
            rising = max(0.0, (t - plays + 1) * state.rise[unit])
            bonus = state.sigma * (t - plays + h - 1) * math.sqrt(confidence / (h * h * h))
            out[unit] = max(LEAST, (state.total[unit] + rising) / h + bonus)


assume.register(Program)(assume_unplayed)
roomy.register(Program)(roomy_rings)
