"""Outcomes in the user's own unit: monotone maps to [0, 1] and back.

A policy needs outcomes in [0, 1], larger is better. A scale says how a measurement becomes one. Storage keeps both,
so nothing depends on a transform being computed again.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, cast

from rising_bandits import _checks
from rising_bandits.errors import InputError


class Scale(ABC):
    """A monotone map from the user's unit to [0, 1], with its inverse."""

    unit: str
    lower_is_better: bool

    @property
    @abstractmethod
    def domain(self) -> tuple[float, float]:
        """The outcomes that are accepted, both ends included."""

    @abstractmethod
    def _to(self, outcome: float) -> float:
        """The value of an outcome of the domain."""

    @abstractmethod
    def _back(self, value: float) -> float | None:
        """The outcome of a value, or None where no outcome has it."""

    def value(self, outcome: Any, what: str = "outcome") -> tuple[float, float]:
        """A checked outcome as a float, and its value in [0, 1]."""
        low, high = self.domain
        interval = f"[{low:g}, {high:g}]" if math.isfinite(high) else f"of at least {low:g}"
        unit = f" {self.unit}" if self.unit else ""
        raw = _checks.number(
            what, outcome, low=low, high=high, wanted=f"a number {'in ' * (interval[0] == '[')}{interval}{unit}"
        )
        # Rounding may lead a hair outside.
        return raw, min(max(self._to(raw), 0.0), 1.0)

    def outcome(self, value: float) -> float | None:
        """What a value means in the user's unit, or None where it means nothing there.

        >>> Range(0, 200, lower_is_better=True, unit="ms").outcome(0.75)
        50.0
        """
        return None if math.isnan(value) or math.isinf(value) else self._back(value)

    def text(self, value: float, digits: int = 4) -> str:
        """A value in the user's unit for people to read, a dash where it has no meaning there."""
        outcome = self.outcome(value)
        return "–" if outcome is None else f"{outcome:.{digits}g}{f' {self.unit}' if self.unit else ''}"

    def spec(self) -> dict[str, Any]:
        """Plain data that rebuilds the scale."""
        given = [part.name for part in fields(cast(Any, self)) if part.init]
        return {"type": type(self).__name__, **{name: getattr(self, name) for name in given}}


@dataclass(frozen=True)
class Range(Scale):
    """A range of outcomes, mapped to [0, 1] in proportion.

    >>> Range(0, 200, lower_is_better=True, unit="ms").value(50)
    (50.0, 0.75)
    """

    low: float = 0.0
    high: float = 1.0
    lower_is_better: bool = False
    unit: str = ""

    def __post_init__(self) -> None:
        low, high = _checks.number("low", self.low), _checks.number("high", self.high)
        if not low < high or not math.isfinite(high - low):
            raise InputError(f"high must be larger than low, and their difference finite, got low={low}, high={high}")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def domain(self) -> tuple[float, float]:
        return self.low, self.high

    def _to(self, outcome: float) -> float:
        if (self.low, self.high, self.lower_is_better) == (0.0, 1.0, False):
            return outcome
        share = (outcome - self.low) / (self.high - self.low)
        return 1.0 - share if self.lower_is_better else share

    def _back(self, value: float) -> float:
        share = 1.0 - value if self.lower_is_better else value
        return self.low + share * (self.high - self.low)


@dataclass(frozen=True)
class Log(Scale):
    """A range of positive outcomes, mapped to [0, 1] by their logarithm: each doubling counts the same.

    >>> Log(1, 100, lower_is_better=True, unit="ms").value(10)
    (10.0, 0.5)
    """

    low: float
    high: float
    lower_is_better: bool = False
    unit: str = ""

    def __post_init__(self) -> None:
        low = _checks.number("low", self.low, low=0.0, open_low=True)
        high = _checks.number("high", self.high, low=0.0, open_low=True)
        if not low < high:
            raise InputError(f"high must be larger than low, got low={low}, high={high}")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def domain(self) -> tuple[float, float]:
        return self.low, self.high

    def _to(self, outcome: float) -> float:
        share = (math.log(outcome) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        return 1.0 - share if self.lower_is_better else share

    def _back(self, value: float) -> float | None:
        share = 1.0 - value if self.lower_is_better else value
        # Far outside the range the power overflows, and no outcome is meant.
        return self.low * (self.high / self.low) ** share if -0.5 <= share <= 1.5 else None


@dataclass(frozen=True)
class _Halved(Scale):
    """An outcome without an upper end, lower is better: 1 at nothing and one half at ``half``."""

    half: float
    unit: str = ""
    lower_is_better: bool = field(default=True, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "half", _checks.number("half", self.half, low=0.0, open_low=True))

    @property
    def domain(self) -> tuple[float, float]:
        return 0.0, math.inf


@dataclass(frozen=True)
class Decay(_Halved):
    r"""An outcome without an upper end, lower is better: :math:`2^{-x/\text{half}}`.

    >>> Decay(half=50, unit="ms").value(100)
    (100.0, 0.25)
    """

    def _to(self, outcome: float) -> float:
        return float(2.0 ** (-outcome / self.half))

    def _back(self, value: float) -> float | None:
        return -self.half * math.log2(value) if 0.0 < value <= 1.0 else None


@dataclass(frozen=True)
class Inverse(_Halved):
    r"""An outcome without an upper end, lower is better: :math:`\text{half}/(\text{half}+x)`.

    It falls more slowly than `Decay`, so that long times stay apart.

    >>> Inverse(half=50, unit="ms").value(150)
    (150.0, 0.25)
    """

    def _to(self, outcome: float) -> float:
        return self.half / (self.half + outcome)

    def _back(self, value: float) -> float | None:
        return self.half / value - self.half if 0.0 < value <= 1.0 else None


@dataclass(frozen=True)
class Reciprocal(Scale):
    r"""A time or a cost, lower is better: :math:`\text{best}/x`, one for the best there can be.

    With the reward ``harmonic`` a sum of such outcomes is what is minimised: the total time of a path.

    >>> Reciprocal(best=2, unit="ms").value(8)
    (8.0, 0.25)
    """

    best: float
    unit: str = ""
    lower_is_better: bool = field(default=True, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "best", _checks.number("best", self.best, low=0.0, open_low=True))

    @property
    def domain(self) -> tuple[float, float]:
        return self.best, math.inf

    def _to(self, outcome: float) -> float:
        return self.best / outcome

    def _back(self, value: float) -> float | None:
        return self.best / value if value > 0.0 else None


UNIT = Range()
"""Outcomes that are in [0, 1] already."""

_TYPES: dict[str, type[Any]] = {kind.__name__: kind for kind in (Range, Log, Decay, Inverse, Reciprocal)}


def scale_from_spec(spec: Mapping[str, Any]) -> Scale:
    """The scale that `Scale.spec` described.

    >>> scale_from_spec(Decay(half=5.0, unit="s").spec())
    Decay(half=5.0, unit='s')
    """
    arguments = dict(spec)
    kind = arguments.pop("type", None)
    if kind not in _TYPES:
        raise InputError(f"scale must be one of {', '.join(_TYPES)}, got {kind!r}")
    scale: Scale = _TYPES[kind](**arguments)
    return scale


def scale_by_name(name: str, parameters: Mapping[str, Any]) -> Scale:
    """A scale as the command line calls it.

    >>> scale_by_name("reciprocal", {"best": 2, "unit": "ms"})
    Reciprocal(best=2.0, unit='ms')
    """
    kinds = {kind.lower(): kind for kind in _TYPES}
    if name.lower() not in kinds:
        raise InputError(f"scale must be one of {', '.join(kinds)}, got {name!r}")
    kind = _TYPES[kinds[name.lower()]]
    known = [part.name for part in fields(kind) if part.init]
    unknown = [given for given in parameters if given not in known]
    if unknown:
        raise InputError(f"the scale {name} takes {', '.join(known)}, got {unknown[0]}")
    missing = [part.name for part in fields(kind) if part.init and part.default is MISSING]
    missing = [needed for needed in missing if needed not in parameters]
    if missing:
        raise InputError(f"the scale {name} needs {' and '.join(missing)}, as in {name}({missing[0]}=...)")
    scale: Scale = kind(**parameters)
    return scale


def check_kept(scale: Scale) -> None:
    """Refuse a scale that could not be made again when its study is opened: code is not kept, only parameters are."""
    if type(scale) not in _TYPES.values():
        raise InputError(
            f"scale must be one of {', '.join(_TYPES)}, for a study that is opened again finds no others; got "
            f"{scale!r}: map outcomes to [0, 1] before they are told instead"
        )
