"""Where outcomes come from in a simulation: rising curves, noise, and feedback that may stop early."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import compiled, operation
from rising_bandits.curves import Curve, Failing
from rising_bandits.problems.rewards import Reward
from rising_bandits.problems.tasks import Task
from rising_bandits.theory.cascade import all_must_succeed


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
    """0: none, 1: Gaussian clipped to [0, 1], 2: Bernoulli, 3: failing."""
    cascade: bool
    """Whether a super arm stops at its first outcome of 0."""
    chances: Floats
    """For failing arms: chances of success, laid out as ``values``."""
    first_chance: Ints
    last_chance: Ints
    whole: bool
    """Whether a round is worth the chance that no arm fails, times the reward of the successes."""
    product: bool
    """Whether outcomes are multiplied, so that every arm counts with its mean, reached or not."""


@operation
def draw(state: Any, arms: Any, rng: Any) -> int:
    """Play the arms in turn: fill ``state.outcomes`` and ``state.means``, return how many were played.

    The reward of ``state.means`` is the expected reward of the round.
    """
    raise NotImplementedError


@compiled
def _try(state: Environment, arms: Ints, rng: np.random.Generator) -> int:
    """Arms that succeed or fail. What counts is known before: chances of success times outcomes of success.

    For a sum under a cascade an arm counts if it and all before it succeed; for the harmonic reward,
    which is homogeneous, every outcome is scaled by the chance that all succeed; a product of means is that already.
    """
    reached = 1.0
    for place in range(arms.size):
        arm = arms[place]
        n = state.plays[arm]
        chance = state.chances[state.first_chance[arm] + min(n, state.last_chance[arm])]
        mean = state.values[state.first[arm] + min(n, state.last[arm])]
        # Kept here until the draw below: what a success brings.
        state.outcomes[place] = mean / chance if chance > 0.0 else 0.0
        state.means[place] = reached * mean if state.cascade and not state.product else mean
        reached *= chance
    if state.whole:
        for place in range(arms.size):
            state.means[place] = reached * state.outcomes[place]
    played = arms.size
    for place in range(arms.size):
        if place >= played:
            state.outcomes[place] = 0.0
            continue
        arm = arms[place]
        n = state.plays[arm]
        if rng.random() >= state.chances[state.first_chance[arm] + min(n, state.last_chance[arm])]:
            state.outcomes[place] = 0.0
            if state.cascade:
                played = place + 1
        state.plays[arm] = n + 1
    return played


@draw.register(Environment)
def _draw(state: Environment, arms: Ints, rng: np.random.Generator) -> int:
    if state.noise == 3:
        return _try(state, arms, rng)
    played = arms.size
    for place in range(arms.size):
        arm = arms[place]
        n = state.plays[arm]
        mean = state.values[state.first[arm] + min(n, state.last[arm])]
        if place >= played:
            # Not reached: it was not played, and brings nothing.
            state.means[place] = mean if state.product else 0.0
            state.outcomes[place] = 0.0
            continue
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


def _lay_out(curves: tuple[Curve, ...], horizon: int) -> tuple[Floats, Ints, Ints]:
    """The tables of all curves in one array, and where each arm's begins and ends; equal curves share theirs."""
    place: dict[Curve, tuple[int, int]] = {}
    tables: list[Floats] = []
    filled = 0
    for curve in dict.fromkeys(curves):
        table = curve.table(horizon)
        place[curve] = (filled, table.size - 1)
        tables.append(table)
        filled += table.size
    first, last = (np.array([place[curve][side] for curve in curves], dtype=np.int64) for side in (0, 1))
    return np.concatenate(tables), first, last


def make_environment(task: Task, horizon: int) -> Environment:
    """The arms of a task before their first play."""
    values, first, last = _lay_out(task.curves, horizon)
    chances, first_chance, last_chance = (
        _lay_out(task.noise.chances, horizon) if isinstance(task.noise, Failing) else (np.ones(1), first[:0], last[:0])
    )
    size = task.problem.oracle.max_size
    return Environment(
        values=values,
        first=first,
        last=last,
        plays=np.zeros(task.problem.n_arms, dtype=np.int64),
        arms=np.zeros(size, dtype=np.int64),
        outcomes=np.zeros(size),
        means=np.zeros(size),
        sigma=float(task.noise.sigma),
        noise=task.noise.code,
        cascade=task.cascade,
        chances=chances,
        first_chance=first_chance,
        last_chance=last_chance,
        whole=all_must_succeed(task),
        product=task.problem.reward == Reward("product"),
    )
