"""Scales of outcomes between two ends."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from rising_bandits import _checks
from rising_bandits.errors import InputError
from rising_bandits.studies.scales.base import Scale, check_form


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
        check_form(self)
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
        check_form(self)
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
