r"""Families of rising curves: :math:`\mu(n)` is the mean of the play that has ``n`` plays before it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sized
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
import numpy.typing as npt

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits.errors import InputError


def _counts(plays: npt.ArrayLike) -> Ints:
    """Numbers of plays, refused where they are no whole numbers rather than cut to such."""
    given = np.asarray(plays)
    if given.dtype.kind not in "iuf" or (given.dtype.kind == "f" and not (given % 1.0 == 0.0).all()):
        raise InputError(f"plays must be whole numbers of plays, got {plays!r}")
    return given.astype(np.int64)


def _check_curve(curve: object) -> None:
    if not isinstance(curve, Curve):
        raise InputError(f"curve must be a curve such as Flat(0.5), got {curve!r}")


class Curve(ABC):
    """A mean outcome as a function of the plays before; frozen, hashable and vectorised.

    A subclass writes `mean`; one that ends at a constant also says from which play on (`settled`).
    """

    @abstractmethod
    def mean(self, plays: Ints) -> Floats:
        """The mean at each number of plays before."""

    @property
    def settled(self) -> int | None:
        """The number of plays from which the curve is constant, None where it never is."""
        return None

    def __call__(self, plays: npt.ArrayLike) -> Floats:
        counts = _counts(plays)
        if counts.size and counts.min() < 0:
            raise InputError(f"plays must be at least 0, got {counts.min()}")
        return np.asarray(self.mean(counts), dtype=np.float64)

    def table(self, horizon: int) -> Floats:
        """The means at 0, 1, ... plays: as many as ``horizon`` plays can see, or up to where it settles."""
        length = horizon if self.settled is None else min(horizon, self.settled + 1)
        _checks.memory(f"the means of {horizon} plays of {self!r:.80}", 2.0 * length)
        values = self(np.arange(max(1, length)))
        if values.shape != (max(1, length),):
            raise InputError(f"mean of {type(self).__name__} must return one mean per play, got shape {values.shape}")
        if not np.isfinite(values).all() or values.min() < 0.0 or values.max() > 1.0:
            raise InputError(
                f"the means of {self!r} must lie in [0, 1], got {values.min():g} to {values.max():g} "
                f"within {horizon} plays"
            )
        return values

    def total(self, horizon: int) -> float:
        """The sum of the means of the first ``horizon`` plays."""
        values = self.table(horizon)
        return float(values.sum() + values[-1] * (horizon - values.size))


@dataclass(frozen=True)
class Flat(Curve):
    """An early peaker: the same mean at every play.

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
    r"""The paper's late bloomer: zero at first, slopes that fall block by block, then a plateau.

    :math:`\gamma(n) = (c(\lfloor n/c \rfloor + 1) + 1)^{-1.2}` for ``n`` < ``stop``, else 0;
    :math:`\mu(n) = \sum_{l<n} \gamma(l)`.

    >>> curve = LateBloomer(block=250, stop=5000)
    >>> curve([0, 1, 5000, 300_000]).round(4).tolist()
    [0.0, 0.0013, 0.9452, 0.9452]
    """

    block: int
    stop: int

    def __post_init__(self) -> None:
        _checks.integer("block", self.block, low=1)
        _checks.integer("stop", self.stop, low=1)

    @property
    def settled(self) -> int:
        return self.stop

    @cached_property
    def _slopes(self) -> Floats:
        blocks = np.arange(1, -(-self.stop // self.block) + 2)
        return np.asarray((self.block * blocks + 1.0) ** -1.2)

    @cached_property
    def _starts(self) -> Floats:
        return np.concatenate([[0.0], np.cumsum(self.block * self._slopes)])

    def mean(self, plays: Ints) -> Floats:
        seen = np.minimum(plays, self.stop)
        block = seen // self.block
        return np.asarray(self._starts[block] + (seen - block * self.block) * self._slopes[block])


@dataclass(frozen=True)
class Linear(Curve):
    """A straight rise from ``start`` to ``end`` over ``duration`` plays, then flat.

    >>> Linear(duration=5000)([0, 2500, 9000]).tolist()
    [0.0, 0.5, 1.0]
    """

    duration: int
    start: float = 0.0
    end: float = 1.0

    def __post_init__(self) -> None:
        _checks.integer("duration", self.duration, low=1)
        _checks.number("start", self.start, low=0.0, high=1.0)
        _checks.number("end", self.end, low=self.start, high=1.0)

    @property
    def settled(self) -> int:
        return self.duration

    def mean(self, plays: Ints) -> Floats:
        return np.asarray(self.start + (self.end - self.start) * (np.minimum(plays, self.duration) / self.duration))


@dataclass(frozen=True)
class Exponential(Curve):
    r""":math:`\mu(n) = b - (b - a) e^{-n/\tau}`: a fast start that fades.

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
        # exp(-40) is below the rounding of 1.
        return math.ceil(40.0 * min(self.time, 1e300))

    def mean(self, plays: Ints) -> Floats:
        return np.asarray(self.end - (self.end - self.start) * np.exp(-plays / self.time))


@dataclass(frozen=True)
class PowerLaw(Curve):
    r""":math:`\mu(n) = b - (b - a)(1 + n/s)^{-p}`: a rise that never quite ends.

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
    """``offset + factor * curve``.

    >>> Scaled(Flat(0.5), factor=0.5, offset=0.3)(7).item()
    0.55
    """

    curve: Curve
    factor: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        _check_curve(self.curve)
        _checks.number("factor", self.factor, low=0.0)
        _checks.number("offset", self.offset)

    @property
    def settled(self) -> int | None:
        return self.curve.settled

    def mean(self, plays: Ints) -> Floats:
        return np.asarray(self.offset + self.factor * self.curve.mean(plays))


@dataclass(frozen=True)
class Capped(Curve):
    """The smaller of a curve and a cap.

    >>> Capped(Linear(duration=10), cap=0.5)([2, 9]).tolist()
    [0.2, 0.5]
    """

    curve: Curve
    cap: float = 1.0

    def __post_init__(self) -> None:
        _check_curve(self.curve)
        _checks.number("cap", self.cap)

    @property
    def settled(self) -> int | None:
        return self.curve.settled

    def mean(self, plays: Ints) -> Floats:
        return np.asarray(np.minimum(self.curve.mean(plays), self.cap))


@dataclass(frozen=True)
class Tabulated(Curve):
    """Means as a table, for instance measured ones; the last one holds from there on.

    >>> Tabulated((0.1, 0.4, 0.5))([0, 2, 10]).tolist()
    [0.1, 0.5, 0.5]
    """

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if not isinstance(cast(object, self.values), Sized) or len(self.values) == 0:
            raise InputError(f"values must hold at least one mean, as in (0.1, 0.4), got {self.values!r}")
        object.__setattr__(self, "values", tuple(_checks.number("values", v, low=0.0, high=1.0) for v in self.values))

    @property
    def settled(self) -> int:
        return len(self.values) - 1

    def mean(self, plays: Ints) -> Floats:
        return np.asarray(np.array(self.values)[np.minimum(plays, len(self.values) - 1)])
