"""The base of scales."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import fields
from typing import Any, cast

from rising_bandits import _checks
from rising_bandits._text import shown_text
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
        unit = f" {shown_text(self.unit)}" if self.unit else ""
        if self.clip:
            raw = _checks.number(what, outcome, wanted=f"a finite number{f' of{unit}' if unit else ''}")
            return raw, min(max(self._to(min(max(raw, low), high)), 0.0), 1.0)
        interval = f"[{low:g}, {high:g}]" if math.isfinite(high) else f"of at least {low:g}"
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

        >>> from rising_bandits.studies.scales import UNIT, Range
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

        >>> from rising_bandits.studies.scales import Range
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

        >>> from rising_bandits.studies.scales import Range
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


def check_form(scale: Scale) -> None:
    """Refuse a ``clip`` that is not a boolean, and a unit that is not text."""
    _checks.boolean("clip", scale.clip)
    if not isinstance(cast(object, scale.unit), str):
        raise InputError(f"unit must be a text such as 'ms', got {scale.unit!r}")
