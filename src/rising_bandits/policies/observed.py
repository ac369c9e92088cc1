"""The arguments of `Policy.observe`, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set, Sized
from typing import Any, NamedTuple

import numpy as np

from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits.errors import InputError
from rising_bandits.problems.base import Problem

_NUMBERS = (bool, int, float, np.bool_, np.number)


class Observed(NamedTuple):
    """A super arm and its outcomes. The arms that were played come first."""

    arms: Ints
    outcomes: Floats
    """One per arm; 0 for arms that were not played."""
    played: int
    """How many arms were played."""


def checked_observed(
    problem: Problem,
    arms: Ints,
    outcomes: Sequence[float] | Floats,
    played: Sequence[bool] | Bools | None,
) -> Observed:
    """Check outcomes, and which arms were played, for a super arm that is already checked.

    Parameters
    ----------
    problem
        The problem, for the labels in error messages.
    arms
        The arm numbers of a super arm.
    outcomes, played
        As in `Policy.observe`.

    Returns
    -------
    Observed
        The arms and their outcomes, those that were played first.

    Raises
    ------
    InputError
        An argument is wrong.

    >>> from rising_bandits.problems import TopK
    >>> found = checked_observed(TopK(3, k=2), np.array([0, 2]), [0.5, 0.25], [False, True])
    >>> found.arms.tolist(), found.outcomes.tolist(), found.played
    ([2, 0], [0.25, 0.0], 1)
    """
    given = checked_row(outcomes)
    if len(given) != arms.size:
        raise InputError(f"outcomes must hold one number per arm, {arms.size} of them, got {len(given)}")
    values = np.zeros(arms.size)
    if played is None:
        for place, outcome in enumerate(given):
            values[place] = checked_outcome(problem, arms[place], outcome)
        return Observed(arms, values, arms.size)
    whole = _is_row(played) and len(played) == arms.size
    if not whole or not all(isinstance(was, _NUMBERS) and was in (True, False) for was in played):
        raise InputError(f"played must hold one boolean per arm, {arms.size} of them, got {played!r}")
    order = [place for place, was in enumerate(played) if was]
    for place, old in enumerate(order):
        values[place] = checked_outcome(problem, arms[old], given[old])
    rest = [place for place, was in enumerate(played) if not was]
    return Observed(arms[order + rest], values, len(order))


def checked_outcome(problem: Problem, arm: int, outcome: float) -> float:
    """An outcome as a float; refuses those outside [0, 1]."""
    try:
        # False for NaN too.
        inside = bool(0.0 <= outcome <= 1.0) and np.ndim(outcome) == 0
    except (TypeError, ValueError):
        inside = False
    if inside:
        return float(outcome)
    label = problem.labels[int(arm)]
    raise InputError(f"outcomes must be numbers in [0, 1], got {outcome!r} for arm {label!r}; rescale them first")


def checked_row(outcomes: Any) -> list[Any]:
    """Outcomes as a list, in the order given. The index of a pandas Series is ignored."""
    if not _is_row(outcomes):
        raise InputError(f"outcomes must be a list of numbers in the order of arms, got {outcomes!r}")
    return list(outcomes)


def _is_row(values: object) -> bool:
    """Whether the values have an order and one axis, like a list or an array with one axis."""
    unordered = isinstance(values, Mapping | Set | str | bytes)
    return isinstance(values, Sized) and not unordered and getattr(values, "ndim", 1) == 1
