"""Operations that many rules share. A rule registers them for its own state."""

from __future__ import annotations

from typing import Any

from rising_bandits.policies.rules.rings import has_room


def assume_unplayed(state: Any, unit: int, value: float) -> None:
    """`assume` of rules with a field ``unplayed``, the index of each unit while it has too few plays."""
    state.unplayed[unit] = value


def assume_level(state: Any, unit: int, value: float) -> None:
    """`assume` of rules with a field ``level``, which is the index of a unit with fewer than two plays."""
    state.level[unit] = value


def roomy_rings(state: Any, pushes: int) -> bool:
    """`roomy` of rules with a field ``rings``."""
    return has_room(state.rings, pushes)


def roomy_always(state: Any, pushes: int) -> bool:
    """`roomy` of rules with a fixed amount of memory."""
    return True
