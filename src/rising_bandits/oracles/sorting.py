"""Sorting in place and without allocating memory, for compiled code."""

from __future__ import annotations

from rising_bandits._checks import Ints
from rising_bandits._compile import compiled


@compiled
def sort_ascending(numbers: Ints, size: int) -> None:
    """Sort the first ``size`` numbers in place by Shell sort.

    >>> import numpy as np
    >>> numbers = np.array([3, 1, 2, 0])
    >>> sort_ascending(numbers, 3)
    >>> numbers.tolist()
    [1, 2, 3, 0]
    """
    gap = 1
    while gap < size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for place in range(gap, size):
            item = numbers[place]
            at = place
            while at >= gap and numbers[at - gap] > item:
                numbers[at] = numbers[at - gap]
                at -= gap
            numbers[at] = item
        gap //= 3
