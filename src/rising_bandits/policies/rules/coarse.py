r"""The rising index in bounded memory: windows of whole blocks.

The window :math:`h = \lceil\varepsilon N\rceil` of `Rising` grows with the plays, and so does its memory. This rule
keeps only sums over blocks of :math:`s` plays, where :math:`s` is a power of two that doubles as :math:`N` grows.

Let :math:`n = s\lfloor N/s\rfloor` be the plays in full blocks. Let :math:`h_s` be the window of :math:`n` plays,
rounded up to whole blocks (or down, if that is needed to keep :math:`2 h_s \le n`). The index is exactly the rising
index of an arm with :math:`n` plays and window :math:`h_s`. Blocks are merged in pairs when a window contains
:math:`2R` of them, where ``R`` is the resolution. So

.. math:: N - n < s \le h_s / R, \qquad 0 \le h_s - h < s

(without the rounding down). At most :math:`4R + 8` blocks of two numbers are kept per unit, whatever :math:`N` is.
While :math:`h < 2R` nothing is rounded. The index has the same form as the exact one, over a window of real plays, so
it is optimistic too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import compiled
from rising_bandits.errors import InputError
from rising_bandits.policies.rules.operations import assume, catch_up, indices, postpone, roomy, update
from rising_bandits.policies.rules.rising import (
    check_coefficients,
    improvement,
    new_coefficients,
    rising_terms,
    window_of,
    write_lines,
    write_lines_at_once,
)
from rising_bandits.policies.rules.usual import assume_level, roomy_always

DROPPED = 4
"""How many of the oldest blocks are dropped together: to drop one moves all others."""


class Coarse(NamedTuple):
    """State of the coarse rising index."""

    plays: Ints
    step: Ints
    """Plays in a block, a power of two."""
    held: Ints
    """The number of full blocks that are kept."""
    blocks: Floats
    """Per unit and block: the sum of its outcomes, and their sum weighted by age in the block. The newest is last."""
    partial: Floats
    """Per unit: the same two sums for the block that is not full yet."""
    average: Floats
    level: Floats
    slope: Floats
    width: Floats
    delay: Floats
    epsilon: float
    sigma: float
    constant: float
    upward: bool
    resolution: int

    @property
    def draws(self) -> bool:
        """Whether it uses the generator."""
        return False

    def check(self) -> None:
        for plays, step, held in zip(self.plays.tolist(), self.step.tolist(), self.held.tolist(), strict=True):
            if step < 1 or step & (step - 1) or step > max(1, plays):
                raise InputError(f"state holds blocks of {step} plays for an arm with {plays}")
            marked = step * (plays // step)
            need = 2 * effective_window(marked, step, self.epsilon) // step if marked > 1 else 0
            if not need <= held <= min(self.blocks.shape[1], plays // step):
                raise InputError(f"state holds {held} blocks of {step} plays for an arm with {plays}")
            # When the next block is full, two windows must fit into the blocks that are left then.
            if 2 * effective_window(marked + step, step, self.epsilon) > (self.blocks.shape[1] - DROPPED + 1) * step:
                raise InputError(f"state holds blocks of {step} plays for an arm with {plays}, which are too short")
        check_coefficients(
            self.plays, self.level, self.slope, self.width, self.delay, self.average, self.blocks, self.partial
        )

    def terms(self, t: int) -> dict[str, Floats]:
        return rising_terms(self, self.average, t)

    def copied_over(self, spare: Coarse, units: Ints) -> Coarse:
        """An independent copy, made of one that differs in some units only. That one is used up."""
        for mine, other in zip(self, spare, strict=True):
            if isinstance(mine, np.ndarray) and isinstance(other, np.ndarray):
                other[units] = mine[units]
        return spare


def make_coarse(
    n_units: int, *, epsilon: float, sigma: float, constant: float, resolution: int, upward: bool = False
) -> Coarse:
    """The state before the first play: every index is infinite."""
    _checks.memory(f"resolution {resolution} for {n_units} units", n_units * (4.0 * resolution + 8) * 2)
    return Coarse(
        plays=np.zeros(n_units, dtype=np.int64),
        step=np.ones(n_units, dtype=np.int64),
        held=np.zeros(n_units, dtype=np.int64),
        blocks=np.zeros((n_units, 4 * resolution + 8, 2), dtype=np.float64),
        partial=np.zeros((n_units, 2), dtype=np.float64),
        average=np.zeros(n_units),
        **new_coefficients(n_units),
        epsilon=epsilon,
        sigma=sigma,
        constant=constant,
        upward=upward,
        resolution=resolution,
    )


@compiled
def _append(state: Coarse, unit: int) -> None:
    """Append the partial block, which is full. If there is no room, drop the oldest blocks, which no window needs."""
    blocks, partial, held = state.blocks[unit], state.partial[unit], state.held[unit]
    if held == blocks.shape[0]:
        for place in range(DROPPED, held):
            blocks[place - DROPPED, 0], blocks[place - DROPPED, 1] = blocks[place, 0], blocks[place, 1]
        held -= DROPPED
        for place in range(held, held + DROPPED):
            blocks[place, 0] = blocks[place, 1] = 0.0
    blocks[held, 0], blocks[held, 1] = partial[0], partial[1]
    partial[0] = partial[1] = 0.0
    state.held[unit] = held + 1


@compiled
def _merge(state: Coarse, unit: int) -> None:
    """Merge blocks in pairs. The number of plays so far must be a multiple of the new block length."""
    blocks, held, step = state.blocks[unit], state.held[unit], state.step[unit]
    start = held % 2
    for place in range(held // 2):
        first, second = start + 2 * place, start + 2 * place + 1
        total = blocks[first, 0] + blocks[second, 0]
        # In the merged block, the outcomes of the older block are ``step`` plays older.
        aged = blocks[first, 1] + step * blocks[first, 0] + blocks[second, 1]
        blocks[place, 0], blocks[place, 1] = total, aged
    for place in range(held // 2, held):
        blocks[place, 0] = blocks[place, 1] = 0.0
    state.held[unit] = held // 2
    state.step[unit] = 2 * step


@compiled
def effective_window(marked: int, step: int, epsilon: float) -> int:
    """The window after ``marked`` plays, in whole blocks of ``step`` plays. Two windows fit into the plays.

    >>> [effective_window(n, 4, 0.125) for n in (64, 68, 72)]
    [8, 12, 12]
    """
    h = window_of(marked, epsilon)
    return min(step * ((h + step - 1) // step), step * (marked // step // 2))


@update.register(Coarse)
def _update(state: Coarse, unit: int, outcome: float) -> None:
    if _add(state, unit, outcome):
        _write_line(state, unit)


@postpone.register(Coarse)
def _postpone(state: Coarse, unit: int, outcome: float) -> None:
    _add(state, unit, outcome)


@catch_up.register(Coarse)
def _catch_up(state: Coarse, unit: int) -> None:
    _write_line(state, unit)


@compiled
def _add(state: Coarse, unit: int, outcome: float) -> bool:
    """Add an outcome to the blocks. Returns whether it filled one, so that the coefficients change."""
    plays = state.plays[unit] + 1
    state.plays[unit] = plays
    partial = state.partial[unit]
    partial[1] += partial[0]
    partial[0] += outcome
    step = state.step[unit]
    if plays % step != 0:
        return False
    _append(state, unit)
    if plays >= 2 and window_of(plays, state.epsilon) >= 2 * state.resolution * step and plays % (2 * step) == 0:
        _merge(state, unit)
    return True


@compiled
def _write_line(state: Coarse, unit: int) -> None:
    """Compute the coefficients from the full blocks."""
    step = state.step[unit]
    plays = step * (state.plays[unit] // step)
    if plays < 2:
        return
    h = effective_window(plays, step, state.epsilon)
    count = h // step
    blocks, held = state.blocks[unit], state.held[unit]
    newer = older = aged = 0.0
    for place in range(count):
        # Ages count from the end of the half that a block is in.
        ago = step * place
        late, early = blocks[held - 1 - place], blocks[held - 1 - count - place]
        newer += late[0]
        older += early[0]
        aged += (late[1] - early[1]) + ago * (late[0] - early[0])
    width = 1.0 / h
    slope = (newer - older) * width * width
    state.average[unit] = newer * width
    state.slope[unit] = slope
    state.level[unit] = newer * width + aged * width * width - plays * slope
    state.width[unit] = state.sigma * math.sqrt(width) * width
    state.delay[unit] = plays - h + 1


def _all_indices(state: Coarse, t: int, rng: object, out: Floats) -> None:
    """`_indices` for all units at once."""
    write_lines_at_once(state, t, out)
    if state.upward:
        known = np.flatnonzero(state.plays >= 2)
        out[known] -= np.minimum(improvement(state, known, state.average[known], t), 0.0)


@indices.register(Coarse, plain=_all_indices)
def _indices(state: Coarse, t: int, rng: object, out: Floats) -> None:
    write_lines(state, t, out)
    if state.upward:
        for unit in range(out.size):
            if state.plays[unit] >= 2:
                out[unit] -= min(improvement(state, unit, state.average[unit], t), 0.0)


assume.register(Coarse)(assume_level)
roomy.register(Coarse)(roomy_always)
