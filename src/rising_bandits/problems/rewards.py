"""How the outcomes of a super arm make its reward: sum, max, harmonic, product, or one's own.

A built-in reward is a state with a registered `combine` and a line in the table of kinds (`register`). A function of
the user's own is called in Python, and what it returns is checked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from rising_bandits import _checks
from rising_bandits._checks import Floats
from rising_bandits._compile import compilable, operation
from rising_bandits.errors import InputError


@operation
def combine(state: Any, values: Any) -> float:
    """The reward of the outcomes ``values``."""
    raise NotImplementedError


class Sum(NamedTuple):
    """State of the reward ``sum``; like those below it holds what no outcome at all is worth."""

    empty: float = 0.0


class Max(NamedTuple):
    """State of the reward ``max``."""

    empty: float = 0.0


class Harmonic(NamedTuple):
    """State of the reward ``harmonic``."""

    empty: float = 0.0


class Product(NamedTuple):
    """State of the reward ``product``."""

    empty: float = 1.0


@combine.register(Sum)
def _sum(state: Sum, values: Floats) -> float:
    total = state.empty
    for value in values:
        total += value
    return total


@combine.register(Max)
def _max(state: Max, values: Floats) -> float:
    best = state.empty
    for value in values:
        best = max(best, value)
    return best


@combine.register(Harmonic)
def _harmonic(state: Harmonic, values: Floats) -> float:
    total = state.empty
    for value in values:
        if value <= 0.0:
            return 0.0
        total += 1.0 / value
    return 1.0 / total if total > 0.0 else 0.0


@combine.register(Product)
def _product(state: Product, values: Floats) -> float:
    total = state.empty
    for value in values:
        total *= value
    return total


def _harmonic_rows(means: Floats) -> Floats:
    positive = (means > 0.0).all(axis=1)
    inverse = 1.0 / np.where(means > 0.0, means, 1.0)
    return np.where(positive, 1.0 / inverse.sum(axis=1), 0.0)


class Kind(NamedTuple):
    """What the library knows of a reward by its name."""

    state: Any
    rows: Callable[[Floats], Any]
    """The reward of every row of a table of outcomes."""


_KINDS: dict[str, Kind] = {}


def register(name: str, state: Any, rows: Callable[[Floats], Any]) -> None:
    """Add a reward that compiled code knows, so that ``Reward(name)`` works.

    Parameters
    ----------
    name
        A name that is not taken.
    state
        A NamedTuple for which `combine` is registered.
    rows
        The same reward for every row of a two-dimensional array, in NumPy.
    """
    if name in _KINDS:
        raise InputError(f"name must be new, but there is a reward {name!r} already")
    if type(state) not in combine.implementations or not compilable(state):
        raise InputError(f"state must be a NamedTuple with a registered combine, got {state!r}")
    _KINDS[name] = Kind(state, rows)


register("sum", Sum(), lambda means: means.sum(axis=1))
register("max", Max(), lambda means: means.max(axis=1))
register("harmonic", Harmonic(), _harmonic_rows)
register("product", Product(), lambda means: means.prod(axis=1))


class OwnReward:
    """A function of the user's own as a reward; what it returns is checked before anybody learns from it."""

    def __init__(self, reward: Reward, most: float) -> None:
        self._reward, self._most = reward, most

    def combine(self, values: Floats) -> float:
        """The reward of the outcomes, refused where it is no number from 0 to that of outcomes of 1."""
        reward = self._reward.combine(values)
        if reward > self._most * (1.0 + 1e-9):
            raise InputError(
                f"the reward {self._reward.name!r} must not fall as outcomes rise: {values.tolist()} bring {reward:g}, "
                f"but outcomes of 1 bring {self._most:g}"
            )
        return reward


@dataclass(frozen=True)
class Reward:
    """A monotone reward with r(S, 0) = 0 (paper, Assumption 2).

    - ``sum``: additive; paths, matchings and trees of the paper.
    - ``max``: k-MAX.
    - ``harmonic``: 1 / sum(1 / x), one over the total time when an outcome is one over a time.
    - ``product``: the chance that all parts work.

    Parameters
    ----------
    name
        One of the names above, or any name for a function of one's own.
    function
        From an array of outcomes to a number of at least 0 that does not fall as outcomes rise.

    >>> Reward("sum")([0.5, 0.25])
    0.75
    >>> Reward("max").largest(3)
    1.0
    """

    name: str
    function: Callable[[Floats], float] | None = None

    def __post_init__(self) -> None:
        if not isinstance(cast(object, self.name), str) or (self.function is None and self.name not in _KINDS):
            raise InputError(f"reward must be one of {', '.join(_KINDS)}, or Reward(name, function), got {self.name!r}")
        if self.function is not None and not callable(self.function):
            raise InputError(f"function must be a function of an array of outcomes, got {self.function!r}")

    @property
    def kernel(self) -> Any:
        """The reward as compiled code knows it, or None for a function of the user's own."""
        return None if self.function is not None else _KINDS[self.name].state

    def state(self, size: int) -> Any:
        """What outcomes of up to ``size`` arms are combined with: a state for compiled code, or a Python object."""
        return OwnReward(self, self.largest(size)) if self.function is not None else _KINDS[self.name].state

    @property
    def additive(self) -> bool:
        """Whether the reward is the sum of the outcomes."""
        return self.function is None and self.name == "sum"

    def combine(self, values: Floats) -> float:
        """The reward of an array of outcomes."""
        if self.function is None:
            return float(combine(_KINDS[self.name].state, values))
        wanted = f"what the reward {self.name!r} returns must be a finite number of at least 0"
        return _checks.returned(wanted, self.function(values))

    def __call__(self, values: npt.ArrayLike) -> float:
        return self.combine(np.asarray(values, dtype=np.float64))

    def over_plays(self, means: Floats) -> Floats:
        """The reward of every row of a table of means (a row a play, a column an arm)."""
        if self.function is not None:
            return np.array([self.combine(row) for row in means], dtype=np.float64)
        return np.asarray(_KINDS[self.name].rows(means))

    def largest(self, size: int) -> float:
        """The most that a super arm of up to ``size`` arms with outcomes in [0, 1] can bring."""
        return self.combine(np.ones(size)) if self.additive or self.function is not None else 1.0


def as_reward(reward: Reward | str) -> Reward:
    """A reward, also by the name of one that is built in.

    >>> as_reward("max") == Reward("max")
    True
    """
    return reward if isinstance(reward, Reward) else Reward(reward)
