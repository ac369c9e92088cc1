"""Where outcomes come from in a simulation: rising curves, noise, and feedback that may stop early."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import operation
from rising_bandits.curves import Curve
from rising_bandits.problems.tasks import Task


class Environment(NamedTuple):
    """Arms whose mean depends on how often they were played (rested), as tables of means.

    The mean of arm ``i`` at a play with ``n`` plays before it is
    ``values[first[i] + min(n, last[i])]``.
    """

    values: Floats
    first: Ints
    last: Ints
    plays: Ints
    arms: Ints
    outcomes: Floats
    means: Floats
    sigma: float
    noise: int
    """0: none, 1: Gaussian clipped to [0, 1], 2: Bernoulli."""
    cascade: bool
    """Whether a super arm stops at its first outcome of 0."""


@operation
def draw(state: Any, arms: Any, rng: Any) -> int:
    """Play the arms in turn: fill ``state.outcomes`` and ``state.means``, return how many were played."""
    raise NotImplementedError


@draw.register(Environment)
def _draw(state: Environment, arms: Ints, rng: np.random.Generator) -> int:
    played = arms.size
    for place in range(arms.size):
        if place >= played:
            # Not reached: it was not played, and brings nothing.
            state.means[place] = 0.0
            state.outcomes[place] = 0.0
            continue
        arm = arms[place]
        n = state.plays[arm]
        mean = state.values[state.first[arm] + min(n, state.last[arm])]
        state.means[place] = mean
        if state.noise == 1:
            outcome = min(1.0, max(0.0, mean + state.sigma * rng.standard_normal()))
        elif state.noise == 2:
            outcome = 1.0 if rng.random() < mean else 0.0
        else:
            outcome = mean
        state.plays[arm] = n + 1
        state.outcomes[place] = outcome
        if state.cascade and outcome <= 0.0:
            played = place + 1
    return played


def make_environment(task: Task, horizon: int) -> Environment:
    """The arms of a task before their first play; arms with the same curve share its table."""
    place: dict[Curve, tuple[int, int]] = {}
    tables: list[Floats] = []
    filled = 0
    for curve in dict.fromkeys(task.curves):
        table = curve.table(horizon)
        place[curve] = (filled, table.size - 1)
        tables.append(table)
        filled += table.size
    size = task.problem.oracle.max_size
    return Environment(
        values=np.concatenate(tables),
        first=np.array([place[curve][0] for curve in task.curves], dtype=np.int64),
        last=np.array([place[curve][1] for curve in task.curves], dtype=np.int64),
        plays=np.zeros(task.problem.n_arms, dtype=np.int64),
        arms=np.zeros(size, dtype=np.int64),
        outcomes=np.zeros(size),
        means=np.zeros(size),
        sigma=float(task.noise.sigma),
        noise=task.noise.code,
        cascade=task.cascade,
    )
