"""The engine of policies with an index per base arm: indices, then the oracle's solver; it breaks ties at random."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits._compile import compiled
from rising_bandits.curves.draws import draw_of
from rising_bandits.oracles.operations import choose
from rising_bandits.policies.engines.cover import Cover, copy_set, follow, next_unit
from rising_bandits.policies.engines.operations import learn, learn_in_run, ready, select
from rising_bandits.policies.rules.operations import assume, indices, postpone, roomy, tick, update


class BaseArms(NamedTuple):
    """A rule with an index per base arm, a solver, and the first plays that are still to come."""

    rule: Any
    solver: Any
    weights: Floats
    """Work space for the indices."""
    blocked: Bools
    """Arms that may not be used in this round."""
    masked: Ints
    """One number: whether any arm is blocked."""
    luck: Ints
    """One number, from the seed. With the round it makes the random number that breaks ties."""
    cover: Cover


@ready.register(BaseArms)
def ready_base_arms(state: Any, pushes: int) -> bool:
    """Whether there is memory, and all first plays are done or planned."""
    if not roomy(state.rule, pushes):
        return False
    cover = state.cover
    return cover.cursor[1] < cover.cursor[2] or next_unit(cover, state.rule.plays) < 0


@compiled
def tie_draw(luck: Ints, t: int) -> int:
    """The random number that breaks the ties of a round. If luck is 0, it is 0, which breaks them in a fixed order."""
    return draw_of(luck[0], t) if luck[0] != 0 else 0


@select.register(BaseArms)
def _select(state: BaseArms, t: int, rng: Any, out: Ints) -> int:
    cover = state.cover
    if cover.cursor[1] < cover.cursor[2]:
        return copy_set(cover.first, cover.members, cover.cursor[1], out)
    indices(state.rule, t, rng, state.weights)
    if state.masked[0]:
        for arm in range(state.weights.size):
            if state.blocked[arm]:
                state.weights[arm] = -np.inf
    return choose(state.solver, state.weights, tie_draw(state.luck, t), out)  # type: ignore[no-any-return]


@learn.register(BaseArms)
def learn_base_arms(state: Any, arms: Ints, outcomes: Floats, played: int) -> None:
    """The rule learns the outcome of each arm that was played."""
    _learn(state, arms, outcomes, played, False)


@learn_in_run.register(BaseArms)
def learn_base_arms_in_run(state: Any, arms: Ints, outcomes: Floats, played: int) -> None:
    """The same, but the rule may leave to `catch_up` what only indices need."""
    _learn(state, arms, outcomes, played, True)


@compiled
def _learn(state: Any, arms: Ints, outcomes: Floats, played: int, in_run: bool) -> None:
    """See `learn_base_arms` and `learn_base_arms_in_run`."""
    aimed = next_unit(state.cover, state.rule.plays)
    tick(state.rule)
    for place in range(played):
        arm = arms[place]
        # Never true. It tells the compiler that the index is not negative, which saves a tenth of the time.
        if arm < 0:
            break
        if in_run:
            postpone(state.rule, arm, outcomes[place])
        else:
            update(state.rule, arm, outcomes[place])
    if aimed >= 0:
        follow(state.cover, arms, played)
        for place in range(played, arms.size):
            if arms[place] == aimed:
                miss(state, aimed)


@compiled
def miss(state: Any, arm: int) -> None:
    """Note that a planned first play of an arm did not happen. After as many misses as first plays, it is given up."""
    state.cover.aims[arm] += 1
    if state.cover.aims[arm] >= state.cover.wanted:
        # From here on its index is 1, the largest outcome, in place of infinity.
        assume(state.rule, arm, 1.0)
