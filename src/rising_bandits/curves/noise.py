"""What is added to a mean: nothing, clipped Gaussian noise, a coin flip, or failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rising_bandits import _checks
from rising_bandits.curves.families import Curve
from rising_bandits.errors import InputError


@dataclass(frozen=True)
class Noise:
    """A noise model: ``sigma`` is what a policy is told (subgaussian), ``code`` what compiled code knows it by."""

    code: ClassVar[int] = 0

    @property
    def sigma(self) -> float:
        """The subgaussian constant of an outcome around its mean."""
        return 0.0


@dataclass(frozen=True)
class Noiseless(Noise):
    """The outcome is the mean.

    >>> Noiseless().sigma
    0.0
    """


@dataclass(frozen=True)
class Gaussian(Noise):
    """Gaussian noise, the outcome clipped to [0, 1].

    Clipping moves the mean of an arm within about two deviations of 0 or 1 by less than one
    deviation; means and regret are those of the curve, before clipping.

    >>> Gaussian(0.01).sigma
    0.01
    """

    deviation: float = 0.01
    code: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _checks.number("deviation", self.deviation, low=0.0)

    @property
    def sigma(self) -> float:
        return self.deviation


@dataclass(frozen=True)
class Bernoulli(Noise):
    """1 with the mean as its chance, else 0; subgaussian with constant 1/2 (Hoeffding).

    >>> Bernoulli().sigma
    0.5
    """

    code: ClassVar[int] = 2

    @property
    def sigma(self) -> float:
        return 0.5


@dataclass(frozen=True)
class Failing(Noise):
    """A try fails and brings 0, or succeeds and brings the mean divided by the chance of success.

    ``chances`` holds a curve per arm, the chance of success by plays; ``told`` is the constant that policies
    are told, which need not be true. With cascading feedback a failure ends the round.

    >>> from rising_bandits.curves import Flat
    >>> Failing((Flat(0.5),), told=0.1).sigma
    0.1
    """

    chances: tuple[Curve, ...]
    told: float = 0.5
    code: ClassVar[int] = 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "chances", tuple(self.chances))
        for curve in self.chances:
            if not isinstance(curve, Curve):
                raise InputError(f"chances must be curves such as Flat(0.5), got {curve!r}")
        _checks.number("told", self.told, low=0.0)

    @property
    def sigma(self) -> float:
        return self.told
