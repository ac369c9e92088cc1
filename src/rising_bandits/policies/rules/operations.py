"""The operations of index rules. They work in plain Python and in compiled code."""

from __future__ import annotations

from typing import Any, Protocol

from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import operation, optional_operation


@operation
def indices(state: Any, t: int, rng: Any, out: Any) -> None:
    """Write the index of every unit at round ``t`` into ``out``."""


@operation
def update(state: Any, unit: int, outcome: float) -> None:
    """Learn an outcome of a unit."""


@optional_operation
def postpone(state: Any, unit: int, outcome: float) -> None:
    """Learn an outcome of a unit, but leave what only its index needs to `catch_up`.

    A rule has both where they save time: in a run of outcomes, many are of the same unit. The state after any number of
    `postpone` and then one `catch_up` for each of their units is bit for bit that after as many `update`.
    """
    update(state, unit, outcome)


@optional_operation
def catch_up(state: Any, unit: int) -> None:
    """Do what `postpone` left. Without a need for it, nothing changes."""


@optional_operation
def assume(state: Any, unit: int, value: float) -> None:
    """Set the index of a unit without plays, which is infinite otherwise.

    It is used for units that cannot get first plays. Only rules whose index is infinite at first need it.
    """


@optional_operation
def tick(state: Any) -> None:
    """Count a round. It is called once a round, before `update`."""


@operation
def roomy(state: Any, pushes: int) -> bool:
    """Whether ``pushes`` more outcomes can be learnt before Python must add memory."""
    raise NotImplementedError


class Rule(Protocol):
    """The attributes that the state of a rule may have, beside the operations. Only ``plays`` is required.

    If it has a field ``rings`` (`rising_bandits.policies.rules.rings`), the policy adds memory to it.
    """

    plays: Ints
    """Plays of every unit."""

    def check(self) -> None:
        """Raise `InputError` if the state, which was read from a file, cannot be the result of plays.

        Shapes and types were checked before. After this check no operation may read or write outside its arrays.
        """

    def terms(self, t: int) -> dict[str, Floats] | None:
        """The parts of the indices at round ``t``, by name, one number per unit; NaN for units without an index."""

    def inheritance(self) -> dict[str, str]:
        """Arrays that `Policy.rebase` copies as a whole (``"whole"``) or not at all (``"none"``), by name."""
