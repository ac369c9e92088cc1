"""How the outcomes of a super arm make its reward: sum, max, harmonic, product, or one's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from rising_bandits._checks import Floats
from rising_bandits._compile import operation
from rising_bandits.errors import InputError

_CODES = {"sum": 0, "max": 1, "harmonic": 2, "product": 3}


class Builtin(NamedTuple):
    """A built-in reward as compiled code knows it."""

    code: int


@operation
def combine(state: Any, values: Any) -> float:
    """The reward of the outcomes ``values``."""
    raise NotImplementedError


@combine.register(Builtin)
def _combine(state: Builtin, values: Floats) -> float:
    code = state.code
    if code == 0:
        total = 0.0
        for value in values:
            total += value
        return total
    if code == 1:
        best = 0.0
        for value in values:
            best = max(best, value)
        return best
    if code == 2:
        total = 0.0
        for value in values:
            if value <= 0.0:
                return 0.0
            total += 1.0 / value
        return 1.0 / total if total > 0.0 else 0.0
    total = 1.0
    for value in values:
        total *= value
    return total


@dataclass(frozen=True)
class Reward:
    """A monotone reward with r(S, 0) = 0 (paper, Assumption 2).

    - ``sum``: additive; paths, matchings and trees of the paper.
    - ``max``: k-MAX.
    - ``harmonic``: 1 / sum(1 / x), one over the total time when an outcome is one over a time.
    - ``product``: the chance that all parts work.

    >>> Reward("sum")([0.5, 0.25])
    0.75
    >>> Reward("max").largest(3)
    1.0
    """

    name: str
    function: Callable[[Floats], float] | None = None

    def __post_init__(self) -> None:
        if not isinstance(cast(object, self.name), str) or (self.function is None and self.name not in _CODES):
            raise InputError(f"reward must be one of {', '.join(_CODES)}, or Reward(name, function), got {self.name!r}")

    @property
    def kernel(self) -> Builtin | None:
        """The reward as compiled code knows it, or None for a function of the user's own."""
        return None if self.function is not None else Builtin(_CODES[self.name])

    @property
    def additive(self) -> bool:
        """Whether the reward is the sum of the outcomes."""
        return self.function is None and self.name == "sum"

    def combine(self, values: Floats) -> float:
        """The reward of an array of outcomes."""
        kernel = self.kernel
        return float(combine(kernel, values) if self.function is None else self.function(values))

    def __call__(self, values: npt.ArrayLike) -> float:
        return self.combine(np.asarray(values, dtype=np.float64))

    def over_plays(self, means: Floats) -> Floats:
        """The reward of every row of a table of means (a row a play, a column an arm)."""
        if self.function is not None:
            return np.array([self.function(row) for row in means], dtype=np.float64)
        if self.name == "sum":
            return np.asarray(means.sum(axis=1))
        if self.name == "max":
            return np.asarray(means.max(axis=1))
        if self.name == "product":
            return np.asarray(means.prod(axis=1))
        positive = (means > 0.0).all(axis=1)
        inverse = 1.0 / np.where(means > 0.0, means, 1.0)
        return np.where(positive, 1.0 / inverse.sum(axis=1), 0.0)

    def largest(self, size: int) -> float:
        """The most that a super arm of up to ``size`` arms with outcomes in [0, 1] can bring."""
        return self.combine(np.ones(size)) if self.additive or self.function is not None else 1.0


def as_reward(reward: Reward | str) -> Reward:
    """A reward, also by the name of one that is built in.

    >>> as_reward("max") == Reward("max")
    True
    """
    return reward if isinstance(reward, Reward) else Reward(reward)
