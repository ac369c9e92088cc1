"""From indices to a super arm: by an oracle over base arms, or by the best of a list of super arms."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import compiled
from rising_bandits.oracles.operations import solve
from rising_bandits.policies.operations import indices, learn, roomy, select, update, update_all
from rising_bandits.problems.rewards import combine


class BaseArms(NamedTuple):
    """Acts on base arms: an index per base arm, then the oracle."""

    rule: Any
    oracle: Any
    weights: Floats


class SuperArms(NamedTuple):
    """Acts on super arms: an index per listed super arm, then the largest, ties broken at random."""

    rule: Any
    first: Ints
    """Super arm ``s`` is ``members[first[s]:first[s + 1]]``."""
    members: Ints
    weights: Floats
    chosen: Ints
    """One number: the super arm whose reward the next ``learn`` brings."""
    reward: Any
    scale: float


class Constant(NamedTuple):
    """Always the same super arm."""

    members: Ints


class Uniform(NamedTuple):
    """A uniformly random super arm of a list."""

    first: Ints
    members: Ints


class Turns(NamedTuple):
    """The super arms of a list, one after another."""

    first: Ints
    members: Ints


@compiled
def _copy(members: Ints, start: int, stop: int, out: Ints) -> int:
    for place in range(start, stop):
        out[place - start] = members[place]
    return stop - start


@select.register(BaseArms)
def _select_base(state: BaseArms, t: int, rng: np.random.Generator, out: Ints) -> int:
    indices(state.rule, t, rng, state.weights)
    return solve(state.oracle, state.weights, out)  # type: ignore[no-any-return]


@learn.register(BaseArms)
def _learn_base(state: BaseArms, arms: Ints, outcomes: Floats, played: int) -> None:
    update_all(state.rule, arms, outcomes, played)


@roomy.register(BaseArms)
def _roomy_base(state: BaseArms, pushes: int) -> bool:
    return roomy(state.rule, pushes)  # type: ignore[no-any-return]


@compiled
def largest(weights: Floats, rng: np.random.Generator) -> int:
    """The place of the largest weight, ties broken at random."""
    best, ties = 0, 1
    for place in range(1, weights.size):
        if weights[place] > weights[best]:
            best, ties = place, 1
        elif weights[place] == weights[best]:
            # The k-th of k equals takes over with chance 1/k: each is as likely as any other.
            ties += 1
            if rng.random() * ties < 1.0:
                best = place
    return best


@select.register(SuperArms)
def _select_super(state: SuperArms, t: int, rng: np.random.Generator, out: Ints) -> int:
    indices(state.rule, t, rng, state.weights)
    best = largest(state.weights, rng)
    state.chosen[0] = best
    return _copy(state.members, state.first[best], state.first[best + 1], out)


@learn.register(SuperArms)
def _learn_super(state: SuperArms, arms: Ints, outcomes: Floats, played: int) -> None:
    if played == 0:
        return
    update(state.rule, state.chosen[0], combine(state.reward, outcomes) / state.scale)


@roomy.register(SuperArms)
def _roomy_super(state: SuperArms, pushes: int) -> bool:
    return roomy(state.rule, 1)  # type: ignore[no-any-return]


@select.register(Constant)
def _select_constant(state: Constant, t: int, rng: np.random.Generator, out: Ints) -> int:
    return _copy(state.members, 0, state.members.size, out)


@select.register(Uniform)
def _select_uniform(state: Uniform, t: int, rng: np.random.Generator, out: Ints) -> int:
    place = int(rng.random() * (state.first.size - 1))
    return _copy(state.members, state.first[place], state.first[place + 1], out)


@select.register(Turns)
def _select_turns(state: Turns, t: int, rng: np.random.Generator, out: Ints) -> int:
    place = (t - 1) % (state.first.size - 1)
    return _copy(state.members, state.first[place], state.first[place + 1], out)


@learn.register(Constant)
def _learn_constant(state: Constant, arms: Ints, outcomes: Floats, played: int) -> None:
    pass


@learn.register(Uniform)
def _learn_uniform(state: Uniform, arms: Ints, outcomes: Floats, played: int) -> None:
    pass


@learn.register(Turns)
def _learn_turns(state: Turns, arms: Ints, outcomes: Floats, played: int) -> None:
    pass


@roomy.register(Constant)
def _roomy_constant(state: Constant, pushes: int) -> bool:
    return True


@roomy.register(Uniform)
def _roomy_uniform(state: Uniform, pushes: int) -> bool:
    return True


@roomy.register(Turns)
def _roomy_turns(state: Turns, pushes: int) -> bool:
    return True
