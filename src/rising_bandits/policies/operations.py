"""What every index rule and every actor can do, in Python and in compiled code alike."""

from __future__ import annotations

from typing import Any

from rising_bandits._compile import compiled, operation


@operation
def indices(state: Any, t: int, rng: Any, out: Any) -> None:
    """Write the index of every unit at round ``t`` into ``out``."""


@operation
def update(state: Any, unit: int, outcome: float) -> None:
    """Take in one more outcome of a unit (a base arm, or a super arm for super-arm policies)."""


@operation
def assume(state: Any, unit: int, value: float) -> None:
    """Give a unit that has no plays, and cannot get any now, this index in place of an infinite one.

    Only rules whose index is infinite at first need it.
    """


@operation
def roomy(state: Any, pushes: int) -> bool:
    """Whether ``pushes`` outcomes can be taken in before memory must be added from Python."""
    raise NotImplementedError


@operation
def select(state: Any, t: int, rng: Any, out: Any) -> int:
    """Write the super arm to play at round ``t`` into ``out`` and return its size.

    The order is that of the structure: a path's edges in turn.
    """
    raise NotImplementedError


@operation
def learn(state: Any, arms: Any, outcomes: Any, played: int) -> None:
    """Take in outcomes in the order of ``arms``; only the first ``played`` arms were played, the rest are 0."""


@compiled
def update_all(rule: Any, arms: Any, outcomes: Any, played: int) -> None:
    """Take in the outcomes of the first ``played`` arms, in turn."""
    for place in range(played):
        update(rule, arms[place], outcomes[place])
