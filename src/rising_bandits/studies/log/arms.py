"""The keys of a problem's arms. An arm keeps its key when the problem changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rising_bandits._checks import Ints
from rising_bandits.oracles.answers import in_order
from rising_bandits.problems.base import Problem

_ORDERED = 256
"""For so many super arms it is cached in which order their arms are used."""


class Arms:
    """A problem and the keys of its arms. It is immutable, so copies of a policy share it."""

    def __init__(self, problem: Problem, body: dict[str, Any]) -> None:
        self.problem = problem
        self.body = body
        """The body of the problem event."""
        self.keys: list[int] = body["keys"]
        """The key of every arm."""
        self.arm_of = {key: arm for arm, key in enumerate(self.keys)}
        """The arm of every key."""
        self._ordered: dict[bytes, list[int]] = {}
        self._ascending: dict[tuple[int, ...], tuple[Ints, tuple[int, ...]]] = {}

    def in_order(self, arms: Ints) -> list[int]:
        """The keys of a super arm, in the order in which its arms are used. The newest answers are cached."""
        place = arms.tobytes()
        found = self._ordered.get(place)
        if found is None:
            ordered = in_order(self.problem.oracle, arms)
            found = list(map(self.keys.__getitem__, ordered.tolist()))
            if len(self._ordered) >= _ORDERED:
                self._ordered.clear()
            self._ordered[place] = found
            if ordered is arms:
                # They are ascending, and will be told soon.
                self._keep_ascending(tuple(found), arms, tuple(found))
        return list(found)

    def ascending(self, keys: tuple[int, ...]) -> tuple[Ints, tuple[int, ...]] | None:
        """The arms of a super arm, ascending, and their keys in that order; None if the problem lacks one of them.

        The newest answers are cached. The array must not be changed.
        """
        found = self._ascending.get(keys)
        if found is None:
            try:
                arms = list(map(self.arm_of.__getitem__, keys))
            except KeyError:
                return None
            rising = sorted(arms)
            ordered = keys if rising == arms else tuple(map(self.keys.__getitem__, rising))
            found = self._keep_ascending(keys, np.array(rising, dtype=np.int64), ordered)
        return found

    def _keep_ascending(
        self, keys: tuple[int, ...], arms: Ints, ordered: tuple[int, ...]
    ) -> tuple[Ints, tuple[int, ...]]:
        """Cache an answer of `ascending`."""
        if len(self._ascending) >= _ORDERED:
            self._ascending.clear()
        found = self._ascending[keys] = arms, ordered
        return found

    def numbers(self, keys: Sequence[int]) -> Ints:
        """The arms of these keys, ascending. Keys that the problem lacks are skipped."""
        found = [self.arm_of[key] for key in keys if key in self.arm_of]
        return np.array(sorted(found), dtype=np.int64)
