"""Engines that learn nothing: one super arm for ever, a uniformly random one of a list, or those of a list in turn."""

from __future__ import annotations

from typing import Any, NamedTuple

from rising_bandits._checks import Floats, Ints
from rising_bandits.policies.engines.cover import copy_set
from rising_bandits.policies.engines.operations import learn, ready, select


class Constant(NamedTuple):
    """Always the same super arm, as a packed list of one."""

    first: Ints
    members: Ints


class Uniform(NamedTuple):
    """A uniformly random super arm of a packed list."""

    first: Ints
    members: Ints

    @property
    def draws(self) -> bool:
        """Whether it uses the generator."""
        return True


class Turns(NamedTuple):
    """The super arms of a packed list, one after another."""

    first: Ints
    members: Ints


@select.register(Constant)
def _select_constant(state: Constant, t: int, rng: Any, out: Ints) -> int:
    return copy_set(state.first, state.members, 0, out)


@select.register(Uniform)
def _select_uniform(state: Uniform, t: int, rng: Any, out: Ints) -> int:
    return copy_set(state.first, state.members, int(rng.random() * (state.first.size - 1)), out)


@select.register(Turns)
def _select_turns(state: Turns, t: int, rng: Any, out: Ints) -> int:
    return copy_set(state.first, state.members, (t - 1) % (state.first.size - 1), out)


@learn.register(Constant)
@learn.register(Uniform)
@learn.register(Turns)
def _learn_nothing(state: Any, arms: Ints, outcomes: Floats, played: int) -> None:
    pass


@ready.register(Constant)
@ready.register(Uniform)
@ready.register(Turns)
def _always(state: Any, pushes: int) -> bool:
    return True
