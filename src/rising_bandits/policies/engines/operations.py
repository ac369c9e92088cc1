"""What every engine can do, in plain Python and in compiled code alike."""

from __future__ import annotations

from typing import Any

from rising_bandits._compile import operation, optional_operation


@operation
def ready(state: Any, pushes: int) -> bool:
    """Whether a round can be played that brings up to ``pushes`` outcomes.

    False where Python has to act first: memory is short, or the plan of first plays has to be made.
    """
    raise NotImplementedError


@operation
def select(state: Any, t: int, rng: Any, out: Any) -> int:
    """Write the super arm to play at round ``t`` into ``out`` and return its size, 0 where there is none.

    The arms are in the order of the structure, such as the edges of a path from its start.
    """
    raise NotImplementedError


@operation
def learn(state: Any, arms: Any, outcomes: Any, played: int) -> None:
    """Learn outcomes in the order of ``arms``. Only the first ``played`` arms were played; the other outcomes are 0."""


@optional_operation
def learn_in_run(state: Any, arms: Any, outcomes: Any, played: int) -> None:
    """Like `learn`, but the rule may leave what only indices need for later: a run ends with `catch_up`."""
    learn(state, arms, outcomes, played)
