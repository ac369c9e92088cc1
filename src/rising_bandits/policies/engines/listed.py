"""The engine of policies that keep numbers per base arm and compare listed super arms as wholes."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits.oracles.explicit import SetList
from rising_bandits.oracles.operations import takes_over
from rising_bandits.policies.engines.base_arms import (
    learn_base_arms,
    learn_base_arms_in_run,
    ready_base_arms,
    tie_draw,
)
from rising_bandits.policies.engines.cover import Cover, copy_set
from rising_bandits.policies.engines.operations import learn, learn_in_run, ready, select
from rising_bandits.policies.rules.operations import indices


class Listed(NamedTuple):
    r"""A rule whose indices are means of base arms, and the list of super arms.

    The value of a super arm :math:`S` is :math:`\sum_{i \in S} \hat\mu_i + \sqrt{\frac{f(t)}{2} \sum_{i \in S} 1/N_i}`,
    with :math:`f(t) = \log t + 4 L \log \log t` for super arms of at most :math:`L` base arms. All are compared.
    """

    rule: Any
    solver: SetList
    """The list of super arms."""
    weights: Floats
    """Work space for the means."""
    blocked: Bools
    """Arms that may not be used in this round."""
    masked: Ints
    """One number: whether any arm is blocked."""
    luck: Ints
    """One number, from the seed. With the round it makes the random number that breaks ties."""
    cover: Cover
    largest: int
    """The largest number L of base arms in a super arm."""
    bonus: float
    """What the bonus is multiplied by."""

    @property
    def draws(self) -> bool:
        """Whether it uses the generator."""
        return False


ready.register(Listed)(ready_base_arms)
learn.register(Listed)(learn_base_arms)
learn_in_run.register(Listed)(learn_base_arms_in_run)


@select.register(Listed)
def _select(state: Listed, t: int, rng: Any, out: Ints) -> int:
    cover = state.cover
    if cover.cursor[1] < cover.cursor[2]:
        return copy_set(cover.first, cover.members, cover.cursor[1], out)
    indices(state.rule, t, rng, state.weights)
    listed = state.solver
    half = 0.5 * (math.log(t) + 4.0 * state.largest * math.log(max(1.0, math.log(t))))
    best, value, equals, draw = -1, 0.0, 1, tie_draw(state.luck, t)
    for place in range(listed.first.size - 1):
        mean, width, free = 0.0, 0.0, True
        for member in range(listed.first[place], listed.first[place + 1]):
            arm = listed.members[member]
            if state.masked[0] and state.blocked[arm]:
                free = False
            mean += state.weights[arm]
            # An arm without plays was given up; it counts as one that was played once.
            width += 1.0 / max(1, state.rule.plays[arm])
        total = mean + state.bonus * math.sqrt(half * width)
        if free and (best < 0 or total > value):
            best, value, equals = place, total, 1
        elif free and total == value:
            equals += 1
            if takes_over(draw, place, equals):
                best = place
    return 0 if best < 0 else copy_set(listed.first, listed.members, best, out)
