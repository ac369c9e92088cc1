"""Which arm of a problem has which key: keys never change, problems do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rising_bandits._checks import Ints
from rising_bandits.problems.base import Problem


class Arms:
    """A problem, and the keys of its arms. It is never changed, and shared by all that learn about the problem."""

    def __init__(self, problem: Problem, body: dict[str, Any]) -> None:
        self.problem = problem
        self.body = body
        """The body of the event that brought the problem."""
        self.keys: list[int] = body["keys"]
        self.arm_of = {key: arm for arm, key in enumerate(self.keys)}

    def numbers(self, keys: Sequence[int]) -> Ints:
        """The arms of those keys that the problem has, ascending."""
        found = [self.arm_of[key] for key in keys if key in self.arm_of]
        return np.array(sorted(found), dtype=np.int64)
