"""HorizonCRUCB: what an arm would bring on average over the rounds left, bounded by lines through its past."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import compiled
from rising_bandits.errors import InputError
from rising_bandits.policies.dyadic import fit, make_sums, push, step_of
from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.operations import assume, indices, roomy, update
from rising_bandits.policies.outlook import mean_outlook, mean_rise
from rising_bandits.problems.base import Problem

SHORTEST = 16
"""A window that is not the whole past holds at least so many plays: shorter ones mostly see noise."""
AHEAD = 100_000
"""With no horizon given, at least so many rounds are taken to be still to come."""
PROVED = 4.0
"""C in C·log T with which the bound in the documentation is proved."""


class Outlook(NamedTuple):
    """State of the index: counts, prefix sums, the lines through each unit's windows, and its index."""

    plays: Ints
    sums: Floats
    lines: Floats
    """Per unit and window: mean, slope and size; a size of 0 where the past is too short for the window."""
    value: Floats
    stamp: Ints
    """The round whose index ``value`` is; -1 where the lines have changed since."""
    noise: Floats
    """Sigma; then, where it is measured: half the sum of squared steps, their number, the number to look again at."""
    last: Floats
    horizon: int
    """0 where it is unknown."""
    ahead: int
    measured: bool
    constant: float
    proved: bool
    decay: float
    patience: float
    share: float
    """The part of the arms that a super arm holds."""
    largest: bool
    """Whether the reward is the largest outcome."""


@compiled
def clock(t: int, scale: int) -> int:
    """``t`` rounded down to a power of two that is at most a 64th of ``scale`` (to 1 where that is less).

    Rounds are read on this clock by what is past or left, whichever is less, and an arm's plays by
    themselves. Then an index holds for a while, which makes a round cheap.

    >>> [clock(t, t) for t in (100, 129, 1001, 50_001)], clock(50_001, 500)
    ([100, 128, 1000, 49664], 50000)
    """
    bits = 0
    while scale >> (bits + 7) > 0:
        bits += 1
    return t >> bits << bits


@update.register(Outlook)
def _update(state: Outlook, unit: int, outcome: float) -> None:
    plays = state.plays[unit] + 1
    state.plays[unit] = plays
    step = step_of(plays)
    push(state.sums[unit], plays, step, outcome)
    # The grid's step is an eighth of the plays, the clock's another eighth of that.
    if plays > 1 and (step <= 3 or plays & ((1 << (step - 3)) - 1) == 0):
        lines = state.lines[unit]
        for halvings in range(lines.shape[0]):
            if halvings == 0 or plays >> halvings >= SHORTEST:
                fit(state.sums[unit], plays, halvings, step, lines[halvings])
        state.stamp[unit] = -1
    if state.measured:
        noise = state.noise
        if plays > 1:
            # Half the squared step of neighbours is the variance, whatever slow trend the arm follows.
            noise[1] += 0.5 * (outcome - state.last[unit]) ** 2
            noise[2] += 1.0
        state.last[unit] = outcome
        if noise[2] >= noise[3]:
            noise[0] = math.sqrt(noise[1] / noise[2])
            noise[3] = 1.25 * noise[2]
            for other in range(state.stamp.size):
                state.stamp[other] = -1


@compiled
def _evaluate(state: Outlook, unit: int, now: int) -> float:
    """The index of a unit with at least two plays at round ``now``: the smallest over its windows."""
    left = max(1, state.horizon - now + 1) if state.horizon > 0 else max(state.ahead, now)
    horizon = float(max(state.horizon, now - 1 + left))
    plays = clock(state.plays[unit], state.plays[unit])
    if state.proved:
        root = math.sqrt(state.constant * math.log(horizon))
    else:
        root = math.sqrt(state.constant * math.log1p(state.share * now * (left / horizon) / plays))
    width = state.noise[0] * root
    start = plays + state.patience * horizon
    ahead = mean_rise(start, float(left), state.decay)
    # The lines hold until the clock of this unit moves on, so they are drawn to the last play before that.
    beyond = max(0, (1 << max(0, step_of(plays) - 3)) - 1)
    best = np.inf
    lines = state.lines[unit]
    for place in range(lines.shape[0]):
        mean, slope, size = lines[place, 0], lines[place, 1], lines[place, 2]
        if size == 0.0:
            break
        spread = size * (size * size - 1.0) / 12.0
        middle = 0.5 * (size + 1.0) + beyond
        steep = max(0.0, slope + width / math.sqrt(spread))
        high = mean + width / math.sqrt(size) + steep * middle
        best = min(best, mean_outlook(high, steep, start, float(left), state.decay))
        if not state.proved:
            # The mean of the line is one number: its own deviation is less than those of level and slope together.
            reach = middle + ahead
            best = min(best, mean + max(0.0, slope) * reach + width * math.sqrt(1.0 / size + reach * reach / spread))
    return float(best)


@compiled
def _today(lines: Floats) -> float:
    """The mean of the shortest window there is."""
    place = 0
    while place + 1 < lines.shape[0] and lines[place + 1, 2] > 0.0:
        place += 1
    return float(lines[place, 0])


@indices.register(Outlook)
def _indices(state: Outlook, t: int, rng: np.random.Generator, out: Floats) -> None:
    now = clock(t, t if state.horizon == 0 else max(1, min(t, state.horizon - t + 1)))
    for unit in range(out.size):
        if state.stamp[unit] != now and state.plays[unit] > 1:
            state.value[unit] = _evaluate(state, unit, now)
            state.stamp[unit] = now
        out[unit] = state.value[unit]
    if state.largest:
        # One place goes to the arm that is best today: then the others can be tried at no loss.
        best = 0
        for unit in range(1, out.size):
            if _today(state.lines[unit]) > _today(state.lines[best]):
                best = unit
        out[best] += 1.0


@assume.register(Outlook)
def _assume(state: Outlook, unit: int, value: float) -> None:
    state.value[unit] = value


@roomy.register(Outlook)
def _roomy(state: Outlook, pushes: int) -> bool:
    return True


@dataclass(kw_only=True, eq=False)
class HorizonCRUCB(BaseArmPolicy):
    r"""CRUCB that knows how many rounds are left, and looks at several windows at once.

    For an arm with :math:`N` plays and :math:`m` rounds left, take the least-squares line through its last
    :math:`w` outcomes, for :math:`w` = N, N/2, N/4, ... (``windows`` of them). Where means are concave the
    line lies above all that is to come. With :math:`\bar x` its mean, :math:`s` its slope,
    :math:`S = w(w^2-1)/12`, :math:`\kappa` the bonus, and slopes that go on falling as
    :math:`\Phi` says (see `rising_bandits.policies.outlook`), the window bounds the mean outcome over the
    :math:`m` plays to come, and the index is the smallest of these bounds:

    .. math::

        \min_w \frac1m \int_0^m \min\big(1,\; \bar x + \tfrac{\kappa\sigma}{\sqrt w}
        + s^+ (\tfrac{w+1}{2} + \Phi(x))\big)\,dx,
        \qquad s^+ = \max\big(0, s + \tfrac{\kappa\sigma}{\sqrt S}\big),

    or the mean of the line plus :math:`\kappa` deviations of that mean, where that is smaller.

    - ``sigma``: the noise is ``sigma``-subgaussian; None measures it from steps between neighbouring outcomes.
    - ``decay``: the power c with which slopes fall at least; 0 assumes concavity and no more.
    - ``patience``: slopes may stay as they are for so long, as a share of the horizon.
    - ``windows``: how many windows, each half as long as the one before.
    - ``bonus``: C in :math:`\kappa^2 = C \log(1 + \frac{tm}{T}\frac{L}{KN})`, which lets an arm rest as its
      share of the plays is reached; or ``"proved"`` for :math:`\kappa^2 = 4 \log T`
      and the first bound only.
    - ``ahead``: in place of a horizon, as many rounds as have been are taken to be still to come, and at
      least so many; 100 000 where there is no horizon, and a number makes it do without one.

    For a reward that is the largest outcome, the arm that is best today is always kept (its index is
    raised by 1). Costs O(1) per play and windows, and a fixed memory per arm. The theory page on the horizon has the
    derivation, what is proved of it and what is only measured. The remaining horizon as the thing to
    bound is the idea of CURE-UCB (*Rising Multi-Armed Bandits with Known Horizons*, arXiv 2602.10727).

    >>> import numpy as np, rising_bandits as rb
    >>> policy = HorizonCRUCB(sigma=0.01)
    >>> policy.start(rb.problems.TopK(["x", "y"], k=1), horizon=100, rng=np.random.default_rng(0))
    >>> for outcome in (0.2, 0.21, 0.5, 0.5):
    ...     arms = policy.select()
    ...     policy.observe(arms, [outcome])
    >>> policy.indices().round(2).tolist()
    [0.67, 0.8]
    """

    name = "horizon-crucb"

    sigma: float | None = None
    decay: float = 0.5
    patience: float = 0.001
    windows: int = 3
    bonus: str | float = 2.0
    ahead: int | None = None

    def __post_init__(self) -> None:
        if self.sigma is not None:
            wanted = "a number of at least 0, the subgaussian constant of the noise, or None to measure it"
            self.sigma = _checks.number("sigma", self.sigma, low=0.0, wanted=wanted)
        self.decay = _checks.number("decay", self.decay, low=0.0, high=10.0)
        self.patience = _checks.number("patience", self.patience, low=0.0, high=1.0)
        self.windows = _checks.integer("windows", self.windows, low=1, high=4)
        if self.ahead is not None:
            self.ahead = _checks.integer("ahead", self.ahead, low=1)
        wanted = "'proved' or a number C of at least 0"
        if isinstance(self.bonus, str):
            if self.bonus != "proved":
                raise InputError(f"bonus must be {wanted}, got {self.bonus!r}")
        else:
            self.bonus = _checks.number("bonus", self.bonus, low=0.0, wanted=wanted)

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> Outlook:
        proved = isinstance(self.bonus, str)
        # Before there is anything to measure the noise is taken to be the largest that [0, 1] allows.
        first = 0.5 if self.sigma is None else self.sigma
        return Outlook(
            plays=np.zeros(n_units, dtype=np.int64),
            sums=make_sums(n_units),
            lines=np.zeros((n_units, self.windows, 3)),
            value=np.full(n_units, np.inf),
            stamp=np.full(n_units, -1, dtype=np.int64),
            noise=np.array([first, 0.25, 1.0, 2.0]),
            last=np.zeros(n_units),
            horizon=horizon if horizon is not None and self.ahead is None else 0,
            ahead=AHEAD if self.ahead is None else self.ahead,
            measured=self.sigma is None,
            constant=PROVED if proved else float(self.bonus),
            proved=proved,
            decay=float(self.decay),
            patience=float(self.patience),
            share=problem.oracle.max_size / n_units,
            largest=problem.reward.name == "max",
        )
