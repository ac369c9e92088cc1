"""Where outcomes come from in a simulation: rising curves, noise, and feedback that may stop early.

The outcome of a play is a function of the seed, the arm and how often it was played before
(`rising_bandits.curves.draws`). An environment has no random state to advance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import operation
from rising_bandits.curves import Curve, Failing
from rising_bandits.curves.draws import arm_keys, draw_of, uniform
from rising_bandits.curves.noise import sample
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
    keys: Ints
    """The key of every arm, from which its random numbers follow."""
    arms: Ints
    outcomes: Floats
    means: Floats
    noise: Any
    cascade: bool
    """Whether a super arm stops at its first outcome of 0."""
    product: bool
    """Whether outcomes are multiplied, so that every arm counts with its mean, reached or not."""


class FailingArms(NamedTuple):
    """Arms that succeed or fail by chance; tables as in `Environment`, and chances of success laid out likewise."""

    values: Floats
    first: Ints
    last: Ints
    plays: Ints
    keys: Ints
    arms: Ints
    outcomes: Floats
    means: Floats
    cascade: bool
    product: bool
    chances: Floats
    first_chance: Ints
    last_chance: Ints
    whole: bool
    """Whether a round is worth the chance that no arm fails, times the reward of the successes."""


@operation
def draw(state: Any, arms: Any) -> int:
    """Play the arms in turn: fill ``state.outcomes`` and ``state.means``, return how many were played.

    The reward of ``state.means`` is the expected reward of the round.
    """
    raise NotImplementedError


@draw.register(Environment)
def _draw(state: Environment, arms: Ints) -> int:
    played = arms.size
    for place in range(arms.size):
        arm = arms[place]
        # Never so; it tells the compiler that no place counts from the end, and saves a tenth of a round.
        if arm < 0:
            break
        n = state.plays[arm]
        mean = state.values[state.first[arm] + min(n, state.last[arm])]
        if place >= played:
            # Not reached: it was not played, and brings nothing.
            state.means[place] = mean if state.product else 0.0
            state.outcomes[place] = 0.0
            continue
        outcome = sample(state.noise, arm, n, mean, draw_of(state.keys[arm], n))
        state.means[place] = mean
        state.outcomes[place] = outcome
        state.plays[arm] = n + 1
        if state.cascade and outcome <= 0.0:
            played = place + 1
    return played


@draw.register(FailingArms)
def _try(state: FailingArms, arms: Ints) -> int:
    """What counts is known before the draw: chances of success times outcomes of success.

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
        chance = state.chances[state.first_chance[arm] + min(n, state.last_chance[arm])]
        if uniform(draw_of(state.keys[arm], n)) >= chance:
            state.outcomes[place] = 0.0
            if state.cascade:
                played = place + 1
        state.plays[arm] = n + 1
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
        _checks.memory(f"the means of {len(curves)} arms over {horizon} rounds", 2.0 * filled)
    first, last = (np.array([place[curve][side] for curve in curves], dtype=np.int64) for side in (0, 1))
    return np.concatenate(tables), first, last


def make_environment(task: Task, horizon: int, seed: int) -> Environment | FailingArms:
    """The arms of a task before their first play."""
    values, first, last = _lay_out(task.curves, horizon)
    size = task.problem.oracle.max_size
    common: dict[str, Any] = {
        "values": values,
        "first": first,
        "last": last,
        "plays": np.zeros(task.problem.n_arms, dtype=np.int64),
        "keys": arm_keys(seed, task.problem.n_arms),
        "arms": np.zeros(size, dtype=np.int64),
        "outcomes": np.zeros(size),
        "means": np.zeros(size),
        "cascade": task.cascade,
        "product": task.problem.reward == Reward("product"),
    }
    if not isinstance(task.noise, Failing):
        return Environment(**common, noise=task.noise.state())
    chances, first_chance, last_chance = _lay_out(task.noise.chances, horizon)
    return FailingArms(
        **common,
        chances=chances,
        first_chance=first_chance,
        last_chance=last_chance,
        whole=all_must_succeed(task),
    )
