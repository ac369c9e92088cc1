"""The operation that the state of a compiled oracle implements."""

from __future__ import annotations

from typing import Any

from rising_bandits._compile import operation


@operation
def solve(state: Any, weights: Any, out: Any) -> int:
    """Write the best super arm for the weights into ``out``.

    Parameters
    ----------
    state
        The NamedTuple with the structure and the work space of the solver.
    weights
        One weight per base arm. Minus infinity forbids an arm.
    out
        An array with space for the largest super arm. The arms are written in the order of `SuperArmOracle.ordered`.

    Returns
    -------
    int
        The size of the super arm, or 0 if there is none.
    """
    raise NotImplementedError
