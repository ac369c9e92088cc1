"""Scales: monotone maps from outcomes in the user's unit to values in [0, 1], and back.

A policy learns from values in [0, 1], where larger is better. The log stores outcomes and values. Values are computed
again from the outcomes only if the scale of a study is set.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, cast

from rising_bandits import _checks
from rising_bandits.errors import InputError


class Scale(ABC):
    """Base of scales: a monotone map from outcomes in the user's unit to values in [0, 1], with its inverse.

    Use `Range`, `Log`, `Decay`, `Inverse` or `Reciprocal`. A study cannot store other scales.
    """

    unit: str
    """The name of the user's unit, for messages and tables."""
    lower_is_better: bool
    """Whether smaller outcomes have larger values."""
    clip: bool
    """Whether an outcome outside the domain counts as its nearer end. Otherwise such outcomes are refused."""

    @property
    @abstractmethod
    def domain(self) -> tuple[float, float]:
        """The smallest and the largest outcome that are accepted."""

    @abstractmethod
    def _to(self, outcome: float) -> float:
        """The value of an outcome in the domain."""

    @abstractmethod
    def _back(self, value: float) -> float | None:
        """The outcome with this value, or None if there is none."""

    def value(self, outcome: Any, what: str = "outcome") -> tuple[float, float]:
        """Check an outcome and compute its value.

        Parameters
        ----------
        outcome
            A number in the domain, in the user's unit; any finite number if the scale clips.
        what
            What an error message calls the outcome.

        Returns
        -------
        tuple of float
            The outcome as a float, not clipped, and its value in [0, 1].

        Raises
        ------
        InputError
            The outcome is not a number in the domain.
        """
        low, high = self.domain
        if type(outcome) is float and low <= outcome <= high < math.inf:
            return outcome, min(max(self._to(outcome), 0.0), 1.0)
        if self.clip:
            raw = _checks.number(what, outcome, wanted=f"a finite number{f' of {self.unit}' if self.unit else ''}")
            return raw, min(max(self._to(min(max(raw, low), high)), 0.0), 1.0)
        interval = f"[{low:g}, {high:g}]" if math.isfinite(high) else f"of at least {low:g}"
        unit = f" {self.unit}" if self.unit else ""
        raw = _checks.number(
            what, outcome, low=low, high=high, wanted=f"a number {'in ' * (interval[0] == '[')}{interval}{unit}"
        )
        # Rounding may give a value slightly outside [0, 1].
        return raw, min(max(self._to(raw), 0.0), 1.0)

    def unchanged(self, outcomes: Iterable[Any]) -> bool:
        """Whether all of these are floats in [0, 1] and their own values. False if that is not clear at once.

        Parameters
        ----------
        outcomes
            Outcomes of whatever kind, as they were told.

        >>> UNIT.unchanged([0.5, 0.75]), UNIT.unchanged([0.5, 7.0]), Range(0, 200).unchanged([0.5])
        (True, False, False)
        """
        return False

    def clips(self, outcome: float) -> bool:
        """Whether an outcome is outside the domain of a scale that clips.

        Parameters
        ----------
        outcome
            The outcome in the unit of the scale.

        >>> Range(0, 200, unit="ms", clip=True).clips(350.0)
        True
        """
        low, high = self.domain
        return self.clip and not low <= outcome <= high

    def outcome(self, value: float) -> float | None:
        """Compute the outcome that has a value.

        Parameters
        ----------
        value
            A value, usually in [0, 1].

        Returns
        -------
        float or None
            The outcome in the user's unit, or None if no outcome has this value.

        >>> Range(0, 200, lower_is_better=True, unit="ms").outcome(0.75)
        50.0
        """
        return None if math.isnan(value) or math.isinf(value) else self._back(value)

    def text(self, value: float, digits: int = 4) -> str:
        """Format a value in the user's unit.

        Parameters
        ----------
        value
            A value, usually in [0, 1].
        digits
            The number of significant digits.

        Returns
        -------
        str
            The outcome with its unit, or a dash if no outcome has this value.
        """
        outcome = self.outcome(value)
        return "–" if outcome is None else f"{outcome:.{digits}g}{f' {self.unit}' if self.unit else ''}"

    def spec(self) -> dict[str, Any]:
        """Plain data from which `scale_from_spec` makes the scale again."""
        return {"type": type(self).__name__, **self._arguments()}

    def _arguments(self) -> dict[str, Any]:
        """The arguments that make an equal scale. ``clip`` is left out if it is False, as in older versions."""
        given = [part.name for part in fields(cast(Any, self)) if part.init and (part.name != "clip" or self.clip)]
        return {name: getattr(self, name) for name in given}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={part!r}' for name, part in self._arguments().items())})"


def _check_clip(scale: Scale) -> None:
    """Refuse a ``clip`` that is not a boolean."""
    if not isinstance(cast(object, scale.clip), bool):
        raise InputError(f"clip must be True or False, got {scale.clip!r}")


@dataclass(frozen=True, repr=False)
class Range(Scale):
    """A linear scale from a range of outcomes to [0, 1].

    Parameters
    ----------
    low, high
        The ends of the range.
    lower_is_better
        True gives ``low`` the value 1 and ``high`` the value 0; False gives the opposite.
    unit
        The name of the unit.
    clip
        True takes outcomes outside the domain as its nearer end; False refuses them.

    >>> Range(0, 200, lower_is_better=True, unit="ms").value(50)
    (50.0, 0.75)
    """

    low: float = 0.0
    high: float = 1.0
    lower_is_better: bool = False
    unit: str = ""
    clip: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        _check_clip(self)
        low, high = _checks.number("low", self.low), _checks.number("high", self.high)
        if not low < high or not math.isfinite(high - low):
            raise InputError(f"high must be larger than low, and their difference finite, got low={low}, high={high}")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def domain(self) -> tuple[float, float]:
        return self.low, self.high

    def value(self, outcome: Any, what: str = "outcome") -> tuple[float, float]:
        # What most outcomes are, without a detour.
        if type(outcome) is float and 0.0 <= outcome <= 1.0 == self.high and not (self.low or self.lower_is_better):
            return outcome, outcome
        return super().value(outcome, what)

    def unchanged(self, outcomes: Iterable[Any]) -> bool:
        if self.high != 1.0 or self.low or self.lower_is_better or set(map(type, outcomes)) != {float}:
            return False
        # With NaN anywhere the sum is NaN, which compares with nothing.
        return bool(min(outcomes) >= 0.0 and max(outcomes) <= 1.0 and sum(outcomes) >= 0.0)

    def _to(self, outcome: float) -> float:
        if (self.low, self.high, self.lower_is_better) == (0.0, 1.0, False):
            return outcome
        share = (outcome - self.low) / (self.high - self.low)
        return 1.0 - share if self.lower_is_better else share

    def _back(self, value: float) -> float:
        share = 1.0 - value if self.lower_is_better else value
        return self.low + share * (self.high - self.low)


@dataclass(frozen=True, repr=False)
class Log(Scale):
    """A logarithmic scale from a range of positive outcomes to [0, 1]: each doubling changes the value equally.

    Parameters
    ----------
    low, high
        The ends of the range, both above 0.
    lower_is_better
        True gives ``low`` the value 1 and ``high`` the value 0; False gives the opposite.
    unit
        The name of the unit.
    clip
        True takes outcomes outside the domain as its nearer end; False refuses them.

    >>> Log(1, 100, lower_is_better=True, unit="ms").value(10)
    (10.0, 0.5)
    """

    low: float
    high: float
    lower_is_better: bool = False
    unit: str = ""
    clip: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        _check_clip(self)
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
        # Far outside the range the power would overflow.
        return self.low * (self.high / self.low) ** share if -0.5 <= share <= 1.5 else None


@dataclass(frozen=True, repr=False)
class _Halved(Scale):
    """Base of scales for outcomes from 0 without an upper end: the value is 1 at 0 and 1/2 at ``half``."""

    half: float
    unit: str = ""
    lower_is_better: bool = field(default=True, init=False, repr=False)
    clip: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        _check_clip(self)
        object.__setattr__(self, "half", _checks.number("half", self.half, low=0.0, open_low=True))

    @property
    def domain(self) -> tuple[float, float]:
        return 0.0, math.inf


@dataclass(frozen=True, repr=False)
class Decay(_Halved):
    r"""A scale for outcomes without an upper end, where lower is better: :math:`2^{-x/\text{half}}`.

    Parameters
    ----------
    half
        The outcome with the value 1/2, above 0.
    unit
        The name of the unit.
    clip
        True takes outcomes outside the domain as its nearer end; False refuses them.

    >>> Decay(half=50, unit="ms").value(100)
    (100.0, 0.25)
    """

    def _to(self, outcome: float) -> float:
        return float(2.0 ** (-outcome / self.half))

    def _back(self, value: float) -> float | None:
        return -self.half * math.log2(value) if 0.0 < value <= 1.0 else None


@dataclass(frozen=True, repr=False)
class Inverse(_Halved):
    r"""A scale for outcomes without an upper end, where lower is better: :math:`\text{half}/(\text{half}+x)`.

    It falls more slowly than `Decay`, so large outcomes have clearly different values.

    Parameters
    ----------
    half
        The outcome with the value 1/2, above 0.
    unit
        The name of the unit.
    clip
        True takes outcomes outside the domain as its nearer end; False refuses them.

    >>> Inverse(half=50, unit="ms").value(150)
    (150.0, 0.25)
    """

    def _to(self, outcome: float) -> float:
        return self.half / (self.half + outcome)

    def _back(self, value: float) -> float | None:
        return self.half / value - self.half if 0.0 < value <= 1.0 else None


@dataclass(frozen=True, repr=False)
class Reciprocal(Scale):
    r"""A scale for times and costs, where lower is better: :math:`\text{best}/x`.

    With the reward ``harmonic``, the policy minimises the sum of outcomes, such as the total time of a path.

    Parameters
    ----------
    best
        The smallest possible outcome, above 0. Its value is 1.
    unit
        The name of the unit.
    clip
        True takes outcomes outside the domain as its nearer end; False refuses them.

    >>> Reciprocal(best=2, unit="ms").value(8)
    (8.0, 0.25)
    """

    best: float
    unit: str = ""
    lower_is_better: bool = field(default=True, init=False, repr=False)
    clip: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        _check_clip(self)
        object.__setattr__(self, "best", _checks.number("best", self.best, low=0.0, open_low=True))

    @property
    def domain(self) -> tuple[float, float]:
        return self.best, math.inf

    def _to(self, outcome: float) -> float:
        return self.best / outcome

    def _back(self, value: float) -> float | None:
        return self.best / value if value > 0.0 else None


UNIT = Range()
"""The scale of outcomes that are in [0, 1] already."""

_TYPES: dict[str, type[Any]] = {kind.__name__: kind for kind in (Range, Log, Decay, Inverse, Reciprocal)}


def scale_from_spec(spec: Mapping[str, Any]) -> Scale:
    """The inverse of `Scale.spec`.

    >>> scale_from_spec(Decay(half=5.0, unit="s").spec())
    Decay(half=5.0, unit='s')
    """
    if not isinstance(cast(object, spec), Mapping):
        raise InputError(f"scale must be a mapping with the type and the arguments of a scale, got {spec!r}")
    arguments = dict(spec)
    kind = arguments.pop("type", None)
    if kind not in _TYPES:
        raise InputError(f"scale must be one of {', '.join(_TYPES)}, got {kind!r}")
    try:
        scale: Scale = _TYPES[kind](**arguments)
    except TypeError as error:
        raise InputError(f"scale is damaged: {error}") from None
    return scale


def scale_by_name(name: str, parameters: Mapping[str, Any]) -> Scale:
    """The scale with this name on the command line.

    Parameters
    ----------
    name
        The name of its class, in small or capital letters.
    parameters
        The arguments of its class.

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
    """Refuse a scale of the user's own, because a study stores parameters but no code."""
    if type(scale) not in _TYPES.values():
        raise InputError(
            f"scale must be one of {', '.join(_TYPES)}, because a study cannot store other scales, got {scale!r}; "
            "map outcomes to [0, 1] before you tell them instead"
        )
