"""What compiled oracles can do."""

from __future__ import annotations

from typing import Any

from rising_bandits._compile import operation


@operation
def solve(state: Any, weights: Any, out: Any) -> int:
    """Write the best super arm for the weights into ``out``, in the order of the structure.

    Returns its size, 0 where there is none. A weight of minus infinity forbids an arm.
    ``out`` has room for the largest super arm.
    """
    raise NotImplementedError
