"""Families of rising curves: flat, linear, exponential, power-law and late-blooming ones, and curves made of curves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits.curves.curve import Curve, check_curve
from rising_bandits.errors import InputError

__all__ = [
    "Capped",
    "Curve",
    "Exponential",
    "Flat",
    "LateBloomer",
    "Linear",
    "PowerLaw",
    "Scaled",
    "Tabulated",
]


MOST_PLAYS = 10**15
"""The largest number of plays over which a curve can be told to rise."""


@dataclass(frozen=True)
class Flat(Curve):
    """An early peaker: the mean is the same at every play.

    Parameters
    ----------
    value
        The mean, in [0, 1].

    >>> Flat(0.9)([0, 5]).tolist()
    [0.9, 0.9]
    """

    value: float

    def __post_init__(self) -> None:
        _checks.number("value", self.value, low=0.0, high=1.0)

    @property
    def settled(self) -> int:
        return 0

    def mean(self, plays: Ints) -> Floats:
        return np.full(plays.shape, float(self.value))


@dataclass(frozen=True)
class LateBloomer(Curve):
    r"""The paper's late bloomer: it starts at 0, rises with slopes that fall from block to block, and then stays flat.

    .. math::

        \mu(n) = \sum_{l<n} \gamma(l), \qquad
        \gamma(n) = (c(\lfloor n/c \rfloor + 1) + 1)^{-1.2} \text{ for } n < \text{stop, else } 0

    with the block length c (*Combinatorial Rising Bandits*, appendix on experimental details).

    Parameters
    ----------
    block
        The number of plays with the same slope, c. The paper uses 250 and 1000.
    stop
        The number of plays after which the curve is flat. The paper uses 5000 and 20000.

    >>> curve = LateBloomer(block=250, stop=5000)
    >>> curve([0, 1, 5000, 300_000]).round(4).tolist()
    [0.0, 0.0013, 0.9452, 0.9452]
    """

    block: int
    stop: int

    def __post_init__(self) -> None:
        _checks.integer("block", self.block, low=1, limit=MOST_PLAYS)
        _checks.integer("stop", self.stop, low=1, limit=MOST_PLAYS)
        _checks.memory(f"a curve of {self.stop // self.block} blocks", 4.0 * self.stop / self.block)

    @property
    def settled(self) -> int:
        return self.stop

    @cached_property
    def _slopes(self) -> Floats:
        """The slope of each block."""
        blocks = np.arange(1, -(-self.stop // self.block) + 2)
        return np.asarray((self.block * blocks + 1.0) ** -1.2)

    @cached_property
    def _starts(self) -> Floats:
        """The mean at the start of each block."""
        return np.concatenate([[0.0], np.cumsum(self.block * self._slopes)])

    def mean(self, plays: Ints) -> Floats:
        seen = np.minimum(plays, self.stop)
        block = seen // self.block
        return np.asarray(self._starts[block] + (seen - block * self.block) * self._slopes[block])


@dataclass(frozen=True)
class Linear(Curve):
    """A straight rise, then flat.

    Parameters
    ----------
    duration
        The number of plays over which the mean rises.
    start
        The mean of the first play, in [0, 1].
    end
        The mean after ``duration`` plays, from ``start`` to 1.

    >>> Linear(duration=5000)([0, 2500, 9000]).tolist()
    [0.0, 0.5, 1.0]
    """

    duration: int
    start: float = 0.0
    end: float = 1.0

    def __post_init__(self) -> None:
        _checks.integer("duration", self.duration, low=1, limit=MOST_PLAYS)
        _checks.number("start", self.start, low=0.0, high=1.0)
        _checks.number("end", self.end, low=self.start, high=1.0)

    @property
    def settled(self) -> int:
        return self.duration

    def mean(self, plays: Ints) -> Floats:
        return np.asarray(self.start + (self.end - self.start) * (np.minimum(plays, self.duration) / self.duration))


@dataclass(frozen=True)
class Exponential(Curve):
    r"""An exponential approach to a limit: :math:`\mu(n) = b - (b - a) e^{-n/\tau}`.

    Parameters
    ----------
    time
        The number of plays :math:`\tau` in which the distance to the limit falls by the factor e.
    start
        The mean of the first play, a, in [0, 1].
    end
        The limit, b, from ``start`` to 1.

    >>> Exponential(time=100.0)([0, 100]).round(3).tolist()
    [0.0, 0.632]
    """

    time: float
    start: float = 0.0
    end: float = 1.0

    def __post_init__(self) -> None:
        _checks.number("time", self.time, low=0.0, open_low=True)
        _checks.number("start", self.start, low=0.0, high=1.0)
        _checks.number("end", self.end, low=self.start, high=1.0)

    @property
    def settled(self) -> int:
        # exp(-40) is smaller than the rounding error of 1.
        return math.ceil(40.0 * min(self.time, 1e300))

    def mean(self, plays: Ints) -> Floats:
        return np.asarray(self.end - (self.end - self.start) * np.exp(-plays / self.time))


@dataclass(frozen=True)
class PowerLaw(Curve):
    r"""A power-law approach to a limit: :math:`\mu(n) = b - (b - a)(1 + n/s)^{-p}`. It never becomes constant.

    Parameters
    ----------
    scale
        The number of plays s at which the curve begins to flatten, above 0.
    power
        The exponent p, above 0.
    start
        The mean of the first play, a, in [0, 1].
    end
        The limit, b, from ``start`` to 1.

    >>> PowerLaw(scale=10.0, power=1.0)([0, 10, 90]).tolist()
    [0.0, 0.5, 0.9]
    """

    scale: float
    power: float
    start: float = 0.0
    end: float = 1.0

    def __post_init__(self) -> None:
        _checks.number("scale", self.scale, low=0.0, open_low=True)
        _checks.number("power", self.power, low=0.0, open_low=True)
        _checks.number("start", self.start, low=0.0, high=1.0)
        _checks.number("end", self.end, low=self.start, high=1.0)

    def mean(self, plays: Ints) -> Floats:
        return np.asarray(self.end - (self.end - self.start) * (1.0 + plays / self.scale) ** -self.power)


@dataclass(frozen=True)
class Scaled(Curve):
    """Another curve, scaled and shifted: ``offset + factor * curve``.

    Parameters
    ----------
    curve
        The other curve.
    factor
        The factor, at least 0.
    offset
        What is added. All means must stay in [0, 1].

    >>> Scaled(Flat(0.5), factor=0.5, offset=0.3)(7).item()
    0.55
    """

    curve: Curve
    factor: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        check_curve(self.curve)
        _checks.number("factor", self.factor, low=0.0)
        _checks.number("offset", self.offset)

    @property
    def settled(self) -> int | None:
        return self.curve.settled

    def mean(self, plays: Ints) -> Floats:
        return np.asarray(self.offset + self.factor * self.curve.mean(plays))


@dataclass(frozen=True)
class Capped(Curve):
    """Another curve that is cut off at a cap.

    Parameters
    ----------
    curve
        The other curve.
    cap
        The largest mean. It replaces every larger one.

    >>> Capped(Linear(duration=10), cap=0.5)([2, 9]).tolist()
    [0.2, 0.5]
    """

    curve: Curve
    cap: float = 1.0

    def __post_init__(self) -> None:
        check_curve(self.curve)
        _checks.number("cap", self.cap)

    @property
    def settled(self) -> int | None:
        return self.curve.settled

    def mean(self, plays: Ints) -> Floats:
        return np.asarray(np.minimum(self.curve.mean(plays), self.cap))


@dataclass(frozen=True)
class Tabulated(Curve):
    """A curve given by a table of means, for instance measured ones.

    Parameters
    ----------
    values
        The means after 0, 1, 2, ... plays, in [0, 1]. The last one holds for all later plays.

    >>> Tabulated((0.1, 0.4, 0.5))([0, 2, 10]).tolist()
    [0.1, 0.5, 0.5]
    """

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        found = _checks.listed(self.values)
        if not found:
            raise InputError(f"values must hold at least one mean, as in (0.1, 0.4), got {self.values!r:.80}")
        object.__setattr__(self, "values", _checks.numbers("values", found, low=0.0, high=1.0))

    @property
    def settled(self) -> int:
        return len(self.values) - 1

    def mean(self, plays: Ints) -> Floats:
        return np.asarray(np.array(self.values)[np.minimum(plays, len(self.values) - 1)])
