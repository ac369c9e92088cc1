r"""A line through an arm's latest outcomes, carried to the end of the horizon or over the rounds left.

The line is that of the rising index (`rising_bandits.policies.rules.rising`): for a unit with :math:`N` plays and
window :math:`h`, with :math:`l = N-h+1, \dots, N`, its value at play :math:`n` is

.. math::

    \hat\mu(n) = \frac1h \sum_l X(l) + \frac1h \sum_l (n-l)\,\frac{X(l)-X(l-h)}{h},
    \qquad \beta(n) = \sigma\,(n-N+h-1)\sqrt{\frac{C'}{h^3}}.

The index is :math:`\hat\mu(n) + \beta(n)`, with :math:`\hat\mu(n)` no less than the recent mean,
for one of two plays :math:`n`:

- the end, :math:`n = T`: what the arm would give if it were played in all :math:`T` rounds;
- the middle of the rounds left, :math:`n = N + (m+1)/2` for :math:`m` rounds left: a line's mean over the next
  :math:`m` plays is its value in the middle of them.

With forced plays (`rising_bandits.policies.rules.forced`), only the outcomes of these count, and the index never
changes after them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import compiled
from rising_bandits.errors import InputError
from rising_bandits.policies.rules.forced import must_play
from rising_bandits.policies.rules.operations import assume, indices, roomy, update
from rising_bandits.policies.rules.rings import Rings
from rising_bandits.policies.rules.rising import check_lines, new_lines, update_rising
from rising_bandits.policies.rules.terms import AVERAGE, BONUS, IMPROVEMENT
from rising_bandits.policies.rules.usual import assume_level, roomy_rings


class Projected(NamedTuple):
    """State of the index: that of the rising index, and where its line is evaluated."""

    plays: Ints
    counted: Ints
    """How many plays of each unit its line is made of: all, or its forced plays."""
    window: Ints
    sums: Floats
    level: Floats
    slope: Floats
    width: Floats
    delay: Floats
    rings: Rings
    epsilon: float
    sigma: float
    constant: float
    """The number C' under the root of the bonus."""
    horizon: int
    end: bool
    """Whether the line is evaluated at the end of the horizon, else in the middle of the rounds left."""
    forced: int
    """How many plays each unit gets first; 0 if all plays count."""

    @property
    def draws(self) -> bool:
        """Whether it uses the generator."""
        return False

    def check(self) -> None:
        most = np.minimum(self.plays, self.forced) if self.forced > 0 else self.plays
        least = 0 if self.forced > 0 else self.plays
        if not ((self.counted >= least) & (self.counted <= most)).all():
            raise InputError("state holds lines through more or fewer outcomes than its plays call for")
        check_lines(self, self.counted)

    def terms(self, t: int) -> dict[str, Floats]:
        short = self.counted < 2
        average = self.sums[:, 0] / np.maximum(self.window, 1)
        at = np.array([play_of(self, unit, t) for unit in range(self.plays.size)])
        rise = np.maximum(np.where(short, 0.0, self.level) + self.slope * at - average, 0.0)
        bonus = self.width * (at - self.delay) * math.sqrt(self.constant)
        wanted = np.empty(self.plays.size)
        if must_play(self.plays, self.forced, t, wanted):
            # While units need forced plays, these decide.
            rise, bonus = 0.0 * average, wanted - average
        parts = {AVERAGE: average, IMPROVEMENT: rise, BONUS: bonus}
        return {name: np.where(short, np.nan, part) for name, part in parts.items()}


def make_projected(
    n_units: int, *, epsilon: float, sigma: float, constant: float, horizon: int, end: bool, forced: int = 0
) -> Projected:
    """The state before the first play: every index is infinite."""
    return Projected(
        **new_lines(n_units),
        counted=np.zeros(n_units, dtype=np.int64),
        epsilon=epsilon,
        sigma=sigma,
        constant=constant,
        horizon=horizon,
        end=end,
        forced=forced,
    )


@update.register(Projected)
def _update(state: Projected, unit: int, outcome: float) -> None:
    plays = state.plays[unit]
    if state.forced > 0 and (plays >= state.forced or plays > state.counted[unit]):
        state.plays[unit] = plays + 1
    else:
        update_rising(state, unit, outcome)
        state.counted[unit] = plays + 1


@compiled
def play_of(state: Projected, unit: int, t: int) -> float:
    """The play at which the line of a unit is evaluated."""
    if state.end:
        return float(state.horizon)
    if state.forced > 0:
        # The rounds that the forced plays leave; a number that does not change afterwards.
        return float(state.counted[unit] + 0.5 * (max(1, state.horizon - state.forced * state.plays.size) + 1))
    return float(state.plays[unit] + 0.5 * (max(1, state.horizon - t + 1) + 1))


@indices.register(Projected)
def _indices(state: Projected, t: int, rng: object, out: Floats) -> None:
    if must_play(state.plays, state.forced, t, out):
        return
    root = math.sqrt(state.constant)
    for unit in range(out.size):
        if state.counted[unit] < 2:
            out[unit] = state.level[unit]
        else:
            at = play_of(state, unit, t)
            average = state.sums[unit, 0] / state.window[unit]
            line = max(average, state.level[unit] + state.slope[unit] * at)
            out[unit] = line + state.width[unit] * (at - state.delay[unit]) * root


assume.register(Projected)(assume_level)
roomy.register(Projected)(roomy_rings)
