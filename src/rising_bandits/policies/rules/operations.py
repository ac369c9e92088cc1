"""What every index rule can do, in plain Python and in compiled code alike."""

from __future__ import annotations

from typing import Any, Protocol

from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import operation, optional_operation


@operation
def indices(state: Any, t: int, rng: Any, out: Any) -> None:
    """Write the index of every unit at round ``t`` into ``out``."""


@operation
def update(state: Any, unit: int, outcome: float) -> None:
    """Take in one more outcome of a unit."""


@optional_operation
def assume(state: Any, unit: int, value: float) -> None:
    """Give a unit without plays this index in place of an infinite one.

    Used for units that cannot get their first plays. Only rules whose index is infinite at first need it.
    """


@operation
def roomy(state: Any, pushes: int) -> bool:
    """Whether ``pushes`` outcomes can be taken in before Python must add memory."""
    raise NotImplementedError


class Rule(Protocol):
    """What a rule's state may have beside the operations; only ``plays`` is required."""

    plays: Ints
    """Plays of every unit."""

    def with_room(self, pushes: int) -> Any:
        """The same state with memory for ``pushes`` more outcomes."""

    def check(self) -> None:
        """Raise `InputError` where the state, as read from a file, is none that plays could have led to.

        Shapes and types were checked before. After this check no operation may read or write outside its arrays.
        """

    def terms(self, t: int) -> dict[str, Floats] | None:
        """What the indices at round ``t`` are made of, by name and per unit; NaN for units without an index."""

    def inheritance(self) -> dict[str, str]:
        """Arrays that `Policy.rebase` does not carry over unit by unit: ``"whole"`` or ``"none"``, by name."""
