"""The operation that the state of a compiled oracle implements."""

from __future__ import annotations

from typing import Any

from rising_bandits._compile import compiled, operation, optional_operation
from rising_bandits.curves.draws import draw_of


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


@optional_operation
def choose(state: Any, weights: Any, draw: int, out: Any) -> int:
    """`solve` with ties broken at random. A solver without an implementation breaks them in its own way.

    Parameters
    ----------
    state, weights, out
        As in `solve`.
    draw
        A random number of 63 bits. With 0, ties are broken as by `solve`.

    Returns
    -------
    int
        The size of the super arm, or 0 if there is none.
    """
    return solve(state, weights, out)  # type: ignore[no-any-return]


@compiled
def takes_over(draw: int, place: int, equals: int) -> bool:
    """Whether the last of ``equals`` equally good choices replaces the one that was chosen among the others.

    It does so with chance ``1 / equals``, so all are equally likely in the end. ``place`` is its number.

    >>> takes_over(0, 5, 2)
    False
    >>> abs(sum(takes_over(12345, place, 4) for place in range(4000)) - 1000) < 100
    True
    """
    return draw != 0 and draw_of(draw, place) % equals == 0
