"""Decisions that are underway: chosen and not observed yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from rising_bandits._checks import Ints


class Underway(Sequence[Ints]):
    """The super arms of decisions underway, and a count of them per unit.

    Parameters
    ----------
    find
        A function that lists them. It is called only if a policy reads them.
    """

    def __init__(self, find: Callable[[], Iterable[Ints]]) -> None:
        self._find = find
        self._added: list[Ints] = []
        self._units: Callable[[Ints], Any] | None = None

    @cached_property
    def _all(self) -> list[Ints]:
        """All super arms."""
        return [*self._find(), *self._added]

    def add(self, arms: Ints) -> None:
        """Add a super arm that was chosen."""
        if "_all" in self.__dict__:
            self._all.append(arms)
        else:
            self._added.append(arms)
        if self._units is not None:
            self._counts[self._units(arms)] += 1

    def counts(self, n_units: int, units: Callable[[Ints], Any]) -> Ints:
        """Count, for each unit, the super arms that contain it.

        Parameters
        ----------
        n_units
            The number of units.
        units
            A function from a super arm to its unit or units. It must be the same in every call.
        """
        if self._units is None:
            self._units = units
            self._counts = np.zeros(n_units, dtype=np.int64)
            for arms in self._all:
                self._counts[units(arms)] += 1
        return self._counts

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, place: Any) -> Any:
        return self._all[place]
