"""Environments: they draw the outcomes of a simulation from curves and noise.

The outcome of a play depends only on the seed, the arm and the number of earlier plays of the arm
(`rising_bandits.curves.draws`). An environment therefore has no random state.
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
    """Rested arms: the mean of an arm depends on the number of its earlier plays. Means are kept in tables.

    The mean of arm ``i`` after ``n`` plays is ``values[first[i] + min(n, last[i])]``.
    """

    values: Floats
    """The tables of all arms, one after another."""
    first: Ints
    """Where the table of each arm begins."""
    last: Ints
    """The last place in the table of each arm."""
    plays: Ints
    """Plays of each arm so far."""
    keys: Ints
    """The key of every arm, from which its random numbers follow."""
    arms: Ints
    """Work space: the super arm of the round."""
    outcomes: Floats
    """Work space: the outcomes of the round."""
    means: Floats
    """Work space: the means of the round."""
    noise: Any
    """The state of the noise model."""
    cascade: bool
    """Whether a super arm stops at its first outcome of 0."""
    product: bool
    """Whether the reward is the product of the outcomes. Then arms that are not reached count with their mean."""


class FailingArms(NamedTuple):
    """Arms that succeed or fail by chance. Means and chances of success are kept in tables, as in `Environment`."""

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
    """Whether the expected reward is the chance that no arm fails, times the reward if all succeed."""


@operation
def draw(state: Any, arms: Any) -> int:
    """Play the arms in turn and return how many were played.

    The outcomes are written to ``state.outcomes``. Numbers whose reward is the expected reward of the round are written
    to ``state.means``.
    """
    raise NotImplementedError


@draw.register(Environment)
def _draw(state: Environment, arms: Ints) -> int:
    played = arms.size
    for place in range(arms.size):
        arm = arms[place]
        # Never true. It tells the compiler that the index is not negative, which saves a tenth of the time.
        if arm < 0:
            break
        n = state.plays[arm]
        mean = state.values[state.first[arm] + min(n, state.last[arm])]
        if place >= played:
            # The cascade stopped before this arm, so it was not played.
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
    """Fill in the expected part first, then draw.

    For a sum under a cascade, an arm contributes if it and all arms before it succeed. For the harmonic reward, every
    outcome is multiplied by the chance that all arms succeed, which multiplies the reward by it. For a product, the
    product of the means is the expected reward.
    """
    reached = 1.0
    for place in range(arms.size):
        arm = arms[place]
        n = state.plays[arm]
        chance = state.chances[state.first_chance[arm] + min(n, state.last_chance[arm])]
        mean = state.values[state.first[arm] + min(n, state.last[arm])]
        # The outcome of a success. The draw below replaces it if the arm fails.
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
    """The tables of all curves in one array, and where each arm's begins and ends. Equal curves share a table."""
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
    """Make the environment of a task, before the first play of its arms.

    Parameters
    ----------
    task
        The task.
    horizon
        How many plays of an arm the tables must cover.
    seed
        The seed of all outcomes.
    """
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
