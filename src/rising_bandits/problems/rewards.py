"""Rewards: how the outcomes of a super arm are combined into one number.

A built-in reward is a state with a registered `combine` that `register` has added under a name. A user-defined function
is called in Python, and its result is checked.
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
from rising_bandits.oracles.base import MOST_ARMS


@operation
def combine(state: Any, values: Any) -> float:
    """Combine outcomes into a reward.

    Parameters
    ----------
    state
        The state of the reward.
    values
        The outcomes of the arms that were played.
    """
    raise NotImplementedError


class Sum(NamedTuple):
    """State of the reward ``sum``. As in the other states, ``empty`` is the start value, before any outcome."""

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
    """The sum of the outcomes."""
    total = state.empty
    for value in values:
        total += value
    return total


@combine.register(Max)
def _max(state: Max, values: Floats) -> float:
    """The largest outcome."""
    best = state.empty
    for value in values:
        best = max(best, value)
    return best


@combine.register(Harmonic)
def _harmonic(state: Harmonic, values: Floats) -> float:
    """One over the sum of 1/outcome, or 0 if an outcome is 0."""
    total = state.empty
    for value in values:
        if value <= 0.0:
            return 0.0
        total += 1.0 / value
    return 1.0 / total if total > 0.0 else 0.0


@combine.register(Product)
def _product(state: Product, values: Floats) -> float:
    """The product of the outcomes."""
    total = state.empty
    for value in values:
        total *= value
    return total


def _harmonic_rows(means: Floats) -> Floats:
    """The harmonic reward of every row."""
    positive = (means > 0.0).all(axis=1)
    inverse = 1.0 / np.where(means > 0.0, means, 1.0)
    return np.where(positive, 1.0 / inverse.sum(axis=1), 0.0)


class Kind(NamedTuple):
    """A reward that is registered under a name."""

    state: Any
    rows: Callable[[Floats], Any]
    """Computes the reward of every row of a table of outcomes."""


_KINDS: dict[str, Kind] = {}


def register(name: str, state: Any, rows: Callable[[Floats], Any]) -> None:
    """Add a reward for compiled code, so that ``Reward(name)`` works.

    Parameters
    ----------
    name
        A name that is not taken yet.
    state
        A NamedTuple for which `combine` is registered.
    rows
        The same reward for every row of a two-dimensional array, in NumPy.
    """
    if not isinstance(cast(object, name), str) or not name or not callable(rows):
        raise InputError(f"register takes a name, a state and a function, got {name!r}, {state!r:.80} and {rows!r}")
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
    """A user-defined reward whose results are checked before a policy sees them."""

    def __init__(self, reward: Reward, most: float) -> None:
        self._reward, self._most = reward, most

    def combine(self, values: Floats) -> float:
        """The reward of the outcomes. It must be at least 0, and at most the reward of outcomes that are all 1."""
        reward = self._reward.combine(values)
        if reward > self._most * (1.0 + 1e-9):
            raise InputError(
                f"the reward {self._reward.name!r} must not fall as outcomes rise: outcomes {values.tolist()} give "
                f"{reward:g}, but outcomes of 1 give {self._most:g}"
            )
        return reward


@dataclass(frozen=True)
class Reward:
    """How the outcomes of a super arm make its reward.

    A reward is monotone: it does not fall as outcomes rise, and it is 0 if all outcomes are 0 (Assumption 2 of the
    paper). These rewards are built in:

    - ``sum``: the sum of the outcomes, as for the paper's paths, matchings and trees.
    - ``max``: the largest outcome, as for k-MAX.
    - ``harmonic``: 1 / sum(1 / x). If an outcome is one over a time, this is one over the total time.
    - ``product``: the product of the outcomes. If an outcome is the probability that a part works, this is the
      probability that all parts work.

    Parameters
    ----------
    name
        The name of a built-in reward, or any name for your own function.
    function
        Your own reward. It takes an array of outcomes and returns a number of at least 0.

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
        """The state for compiled code, or None for a user-defined function."""
        return None if self.function is not None else _KINDS[self.name].state

    def state(self, size: int) -> Any:
        """The object that combines outcomes in a simulation: a state for compiled code, or a Python object.

        Parameters
        ----------
        size
            The size of the largest super arm.
        """
        return OwnReward(self, self.largest(size)) if self.function is not None else _KINDS[self.name].state

    @property
    def additive(self) -> bool:
        """Whether the reward is the sum of the outcomes."""
        return self.function is None and self.name == "sum"

    def combine(self, values: Floats) -> float:
        """The reward of an array of outcomes. The array is not checked; calling the reward itself checks it.

        Parameters
        ----------
        values
            The outcomes of the arms of a super arm, as a one-dimensional array of floats.

        Raises
        ------
        InputError
            A user-defined function returned something other than a finite number of at least 0.
        """
        if self.function is None:
            return float(combine(_KINDS[self.name].state, values))
        wanted = f"what the reward {self.name!r} returns must be a finite number of at least 0"
        return _checks.returned(wanted, self.function(values))

    def __call__(self, values: npt.ArrayLike) -> float:
        found = _checks.numbers("values", cast(Any, values))
        return self.combine(np.array(found, dtype=np.float64))

    def over_plays(self, means: Floats) -> Floats:
        """The reward of every row of a table.

        Parameters
        ----------
        means
            A two-dimensional array with one row per play and one column per arm.
        """
        if not isinstance(cast(object, means), np.ndarray) or means.ndim != 2:
            raise InputError(f"means must be a two-dimensional array, got {means!r:.80}")
        if self.function is not None:
            return np.array([self.combine(row) for row in means], dtype=np.float64)
        return np.asarray(_KINDS[self.name].rows(means))

    def largest(self, size: int) -> float:
        """The largest reward that is possible with outcomes in [0, 1].

        Parameters
        ----------
        size
            The size of the largest super arm.
        """
        size = _checks.integer("size", size, low=1, limit=MOST_ARMS)
        return self.combine(np.ones(size)) if self.additive or self.function is not None else 1.0


def as_reward(reward: Reward | str) -> Reward:
    """Turn the name of a built-in reward into a `Reward`. A `Reward` is returned as it is.

    >>> as_reward("max") == Reward("max")
    True
    """
    return reward if isinstance(reward, Reward) else Reward(reward)
