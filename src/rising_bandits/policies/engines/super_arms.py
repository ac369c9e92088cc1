"""The engine of policies with an index per listed super arm: the largest index, ties broken at random."""

from __future__ import annotations

from typing import Any, NamedTuple

from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits._compile import compiled
from rising_bandits.policies.engines.cover import Cover, copy_set, next_unit
from rising_bandits.policies.engines.operations import learn, ready, select
from rising_bandits.policies.rules.operations import indices, roomy, tick, update
from rising_bandits.problems.rewards import combine


class SuperArms(NamedTuple):
    """A rule with an index per super arm, the list of super arms, and the first plays that are still to come."""

    rule: Any
    first: Ints
    """Super arm ``s`` is ``members[first[s]:first[s + 1]]``."""
    members: Ints
    weights: Floats
    """Work space for the indices."""
    blocked: Bools
    """Super arms that may not be used in this round."""
    pending: Ints
    """Decisions underway for each super arm; they count as first plays."""
    chosen: Ints
    """One number: the super arm whose reward the next ``learn`` brings, -1 for none."""
    reward: Any
    scale: float
    """What the reward is divided by."""
    cover: Cover

    @property
    def draws(self) -> bool:
        """Whether it uses the generator."""
        return True


@ready.register(SuperArms)
def _ready(state: SuperArms, pushes: int) -> bool:
    return roomy(state.rule, 1)  # type: ignore[no-any-return]


@compiled
def _first_waiting(state: SuperArms) -> int:
    """The first super arm that still needs plays and may be used, or -1."""
    plays = state.rule.plays
    unit = next_unit(state.cover, plays)
    if unit < 0:
        return -1
    for place in range(unit, plays.size):
        if plays[place] + state.pending[place] < state.cover.wanted and not state.blocked[place]:
            return place
    return -1


@compiled
def largest(weights: Floats, blocked: Bools, rng: Any) -> int:
    """The place of the largest weight that is not blocked, ties broken at random; -1 where all are blocked."""
    best, ties = -1, 1
    for place in range(weights.size):
        if blocked[place]:
            continue
        if best < 0 or weights[place] > weights[best]:
            best, ties = place, 1
        elif weights[place] == weights[best]:
            # The k-th of k equal weights takes over with probability 1/k, so all are equally likely.
            ties += 1
            if rng.random() * ties < 1.0:
                best = place
    return best


@select.register(SuperArms)
def _select(state: SuperArms, t: int, rng: Any, out: Ints) -> int:
    best = _first_waiting(state)
    if best < 0:
        indices(state.rule, t, rng, state.weights)
        best = largest(state.weights, state.blocked, rng)
    state.chosen[0] = best
    if best < 0:
        return 0
    return copy_set(state.first, state.members, best, out)


@learn.register(SuperArms)
def _learn(state: SuperArms, arms: Ints, outcomes: Floats, played: int) -> None:
    tick(state.rule)
    if played > 0 and state.chosen[0] >= 0:
        update(state.rule, state.chosen[0], combine(state.reward, outcomes) / state.scale)
