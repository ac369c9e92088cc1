"""Totals in the user's unit: what a super arm costs or brings, from the outcomes of its arms."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rising_bandits.problems.rewards import Reward
from rising_bandits.studies.scales import UNIT, Reciprocal, Scale


def total(reward: Reward, scale: Scale, outcomes: Sequence[float]) -> float | None:
    """The total of a super arm in the user's unit, or None if its reward has no meaning in that unit.

    Parameters
    ----------
    reward
        The reward of the problem.
    scale
        The scale of the study.
    outcomes
        The outcomes of the arms, in the user's unit.

    >>> from rising_bandits.studies.scales import Range
    >>> total(Reward("sum"), Range(0, 60, unit="min"), [20.0, 18.0])
    38.0
    """
    if reward.function is not None or not outcomes:
        return None
    if reward.name == "sum" or (reward.name == "harmonic" and isinstance(scale, Reciprocal)):
        return math.fsum(outcomes)
    if reward.name == "max":
        return min(outcomes) if scale.lower_is_better else max(outcomes)
    return math.prod(outcomes) if reward.name == "product" and scale == UNIT else None


def better(difference: float, scale: Scale, digits: int = 4) -> str:
    """A difference of outcomes in words.

    >>> from rising_bandits.studies.scales import Range
    >>> better(-5.0, Range(0, 60, lower_is_better=True, unit="min"))
    '5 min better'
    """
    # Rounded first: a rounding error such as -1e-17 is no difference.
    difference = round(difference, 9)
    if difference == 0.0:
        return "the same"
    unit = f" {scale.unit}" if scale.unit else ""
    good = (difference < 0.0) == scale.lower_is_better
    return f"{abs(difference):.{digits}g}{unit} {'better' if good else 'worse'}"
