"""Scales of outcomes without an upper end."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from rising_bandits import _checks
from rising_bandits.studies.scales.base import Scale, check_form


@dataclass(frozen=True, repr=False)
class _Halved(Scale):
    """Base of scales for outcomes from 0 without an upper end: the value is 1 at 0 and 1/2 at ``half``."""

    half: float
    unit: str = ""
    lower_is_better: bool = field(default=True, init=False, repr=False)
    clip: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        check_form(self)
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
        check_form(self)
        object.__setattr__(self, "best", _checks.number("best", self.best, low=0.0, open_low=True))

    @property
    def domain(self) -> tuple[float, float]:
        return self.best, math.inf

    def _to(self, outcome: float) -> float:
        return self.best / outcome

    def _back(self, value: float) -> float | None:
        return self.best / value if value > 0.0 else None
