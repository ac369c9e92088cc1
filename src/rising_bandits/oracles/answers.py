"""What an oracle answers, checked. An oracle of a user's own may answer anything, and compiled code checks nothing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Bools, Ints
from rising_bandits.errors import InputError
from rising_bandits.oracles.operations import solve

if TYPE_CHECKING:
    from rising_bandits.oracles.base import SuperArmOracle
    from rising_bandits.oracles.family import SuperArmFamily

MOST_ARMS = 1_000_000
"""The largest number of base arms that an oracle accepts."""


def check_oracle(oracle: SuperArmOracle) -> None:
    """Refuse an oracle whose sizes are not numbers of arms, or whose solver is not one."""
    name = type(oracle).__name__
    _checks.integer(f"n_arms of {name}", getattr(oracle, "n_arms", None), low=1, limit=10 * MOST_ARMS)
    _checks.integer(f"max_size of {name}", getattr(oracle, "max_size", None), low=1, limit=10 * MOST_ARMS)
    kernel = oracle.kernel()
    if kernel is not None and not solve.handles(kernel):
        raise InputError(
            f"what {name}.kernel returns must be None or a NamedTuple with a registered solve, got {kernel!r}"
        )


def feasible(oracle: SuperArmFamily, arms: Sequence[int] | Ints) -> bool:
    """What ``is_feasible`` of an oracle says."""
    found: object = oracle.is_feasible(arms)
    if not isinstance(found, bool | np.bool_):
        raise InputError(f"what {type(oracle).__name__}.is_feasible returns must be True or False, got {found!r}")
    return bool(found)


def accepts(oracle: SuperArmFamily, arms: Ints) -> bool:
    """Whether arms are a super arm, or would be one if a mask blocked all others."""
    if arms.size > oracle.max_size:
        return False
    others = np.ones(oracle.n_arms, dtype=np.bool_)
    others[arms] = False
    return feasible(oracle, arms) or bool(oracle.is_allowed(arms, others))


def check_sets(oracle: SuperArmFamily, method: str, sets: Sequence[Sequence[int]]) -> None:
    """Refuse listed sets that are no sets of arms. Each must be ascending.

    Parameters
    ----------
    oracle
        The oracle that lists them.
    method
        The name of its method, for the error.
    sets
        The sets.
    """
    sizes = np.fromiter(map(len, sets), dtype=np.int64, count=len(sets))
    members = _checks.array(list(chain.from_iterable(sets)))
    wrong = (sizes < 1) | (sizes > oracle.max_size)
    if members.size and members.dtype.kind not in "iu":
        for place, arms in enumerate(sets):
            try:
                _checks.arms(list(arms), oracle.n_arms)
            except InputError:
                wrong[place] = True
    elif members.size:
        row = np.repeat(np.arange(sizes.size), sizes)
        outside = (members < 0) | (members >= oracle.n_arms)
        outside[1:] |= (members[1:] == members[:-1]) & (row[1:] == row[:-1])
        wrong[row[outside]] = True
    if wrong.any():
        raise no_super_arm(oracle, method, list(sets[int(np.flatnonzero(wrong)[0])]))


def answered(oracle: SuperArmOracle, method: str, answer: Any, mask: Bools | None = None) -> Ints:
    """The arms that a method of an oracle returned, as an ascending array; refuses what is no super arm.

    Parameters
    ----------
    oracle
        The oracle.
    method
        The name of the method, for the error.
    answer
        What it returned.
    mask
        True for each arm that may not be used, or None.
    """
    try:
        arms = np.sort(_checks.arms(answer, oracle.n_arms))
    except InputError:
        raise no_super_arm(oracle, method, answer) from None
    blocked = mask is not None and bool(mask[arms].any())
    # Solvers of the library answer with super arms. To ask every time would cost time.
    if arms.size > oracle.max_size or blocked or (oracle.kernel() is None and not accepts(oracle, arms)):
        raise no_super_arm(oracle, method, answer)
    return arms


def holding(oracle: SuperArmOracle, arm: int, mask: Bools | None = None, prefer: Bools | None = None) -> Ints | None:
    """What ``containing`` of an oracle returns: an ascending super arm that holds an arm, or None if there is none."""
    found: Any = oracle.containing(arm, mask=mask, prefer=prefer)
    if found is None:
        return None
    arms = answered(oracle, "containing", found, mask)
    if not (arms == arm).any():
        raise InputError(f"what {type(oracle).__name__}.containing({arm}) returns must hold arm {arm}, got {found!r}")
    return arms


def drawn(oracle: SuperArmOracle, rng: np.random.Generator, mask: Bools | None = None) -> Ints:
    """What ``sample`` of an oracle returns: an ascending super arm without blocked arms."""
    return answered(oracle, "sample", oracle.sample(rng, mask), mask)


def in_order(oracle: SuperArmFamily, arms: Ints) -> Ints:
    """What ``ordered`` of an oracle returns: the same arms in the order in which they are played."""
    found: Any = oracle.ordered(arms)
    if isinstance(found, np.ndarray) and found is arms:
        return found
    row = _checks.array(found)
    # The arms themselves were checked, so it is enough to compare.
    if row.ndim != 1 or row.dtype.kind not in "iu" or sorted(row.tolist()) != sorted(arms.tolist()):
        raise InputError(
            f"what {type(oracle).__name__}.ordered({arms.tolist()}) returns must be the same arms, got {found!r}"
        )
    return np.ascontiguousarray(row, dtype=np.int64)


def no_super_arm(oracle: SuperArmFamily, method: str, answer: Any) -> InputError:
    """The error for an answer that is no super arm."""
    return InputError(
        f"what {type(oracle).__name__}.{method} returns must be a feasible super arm: 1 to {oracle.max_size} "
        f"(max_size) different arm numbers from 0 to {oracle.n_arms - 1}, got {answer!r:.200}"
    )
