"""What an oracle is: a family of super arms, and which of them is best for given weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rising_bandits import _checks
from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits.errors import InfeasibleError, InputError, TooManySuperArmsError
from rising_bandits.oracles.operations import solve as solve_state

LIST_LIMIT = 100_000
"""How many super arms are listed before an oracle refuses."""
MOST_ARMS = 1_000_000
"""How many base arms an oracle may have."""


class SuperArmOracle(ABC):
    """A family of super arms over ``n_arms`` base arms, and its best member for given weights.

    A subclass in plain Python writes `best` and `is_feasible` and sets ``n_arms`` and ``max_size``;
    everything else follows. It then runs in the same loop as the built-in oracles.

    >>> import numpy as np
    >>> class Either(SuperArmOracle):
    ...     '''Arm 0 alone, or arms 1 and 2 together.'''
    ...     n_arms, max_size = 3, 2
    ...     def best(self, weights):
    ...         return [0] if weights[0] > weights[1] + weights[2] else [1, 2]
    ...     def is_feasible(self, arms):
    ...         return sorted(arms) in ([0], [1, 2])
    >>> Either().solve([0.5, 0.3, 0.4])
    array([1, 2])
    >>> Either().solve([0.5, 0.3, 0.4], mask=np.array([False, True, False]))
    array([0])
    """

    n_arms: int
    """Number of base arms, K."""
    max_size: int
    """Size of the largest super arm, L, or a bound on it where that is hard to know (paths with cycles)."""
    exact: bool = True
    """Whether `solve` always finds a best super arm."""
    exact_for: frozenset[str] = frozenset({"sum"})
    """The rewards that `solve` maximises exactly."""
    note: str = ""
    """What to know of exactness, in one line."""

    @abstractmethod
    def best(self, weights: Floats) -> Sequence[int] | Ints:
        """A super arm of largest total weight. Weights are finite and of any sign."""

    @abstractmethod
    def is_feasible(self, arms: Sequence[int] | Ints) -> bool:
        """Whether a set of arm numbers is a super arm."""

    def kernel(self) -> Any:
        """The state that compiled code solves with, or None where only Python can."""
        return None

    def enumerate(self) -> Iterator[Sequence[int]] | None:
        """Every super arm once, in any order, or None where they cannot be listed."""
        return None

    def count(self) -> int | None:
        """The size of the family, or None where it is not known."""
        try:
            return len(self.super_arms())
        except TooManySuperArmsError:
            return None

    def cover_rounds(self, times: int) -> int | None:
        """How many rounds it takes to play every arm so often, where a formula says so."""
        return None

    def ordered(self, arms: Sequence[int] | Ints) -> Ints:
        """The arms of a super arm in the order in which they are used (ascending where there is none)."""
        return np.sort(np.asarray(arms, dtype=np.int64))

    def spec(self) -> dict[str, Any] | None:
        """Plain data that rebuilds the oracle, or None where it holds code of the user's own."""
        return None

    def solve(self, weights: npt.ArrayLike, mask: npt.ArrayLike | None = None) -> Ints:
        """Arm numbers of a best super arm, ascending.

        ``mask`` is True for each base arm that may not be used now.
        """
        values = self.rescale(_checks.weights(weights, self.n_arms))
        return np.sort(self.search(values, _checks.mask(mask, self.n_arms)))

    def rescale(self, weights: Floats) -> Floats:
        """Weights whose sums cannot overflow; for sums only their proportions matter."""
        largest = float(np.abs(weights).max())
        return weights / largest if largest > 1e290 else weights

    def search(self, weights: Floats, mask: Bools | None) -> Ints:
        """`solve` on checked input: positive infinities are allowed, the order is the structure's."""
        kernel = self.kernel()
        if kernel is not None:
            values = weights if mask is None else np.where(mask, -np.inf, weights)
            arms = np.empty(self.max_size, dtype=np.int64)
            # On a copy of the work space: other threads may be solving too.
            with np.errstate(invalid="ignore"):
                size = solve_state(own_work_space(kernel), values, arms)
            if size == 0:
                raise self.nothing_left(mask)
            return arms[:size]
        values = finite_weights(weights)
        if mask is not None:
            # One forbidden arm must cost more than everything else can bring.
            values = values.copy()
            values[mask] = -(1.0 + 2.0 * float(np.abs(values).sum()))
        arms = self.ordered(self._checked_answer(self.best(values)))
        if mask is not None and mask[arms].any():
            raise self.nothing_left(mask)
        return arms

    def _checked_answer(self, answer: Any) -> Ints:
        """What `best` of a user's own oracle returned, refused where it is no super arm."""
        try:
            return self.check_super_arm(answer)
        except (InputError, TypeError, ValueError):
            raise InputError(
                f"what {type(self).__name__}.best returns must be a feasible super arm of different arm numbers, "
                f"got {answer!r}"
            ) from None

    def can(self, mask: npt.ArrayLike | None = None) -> bool:
        """Whether some super arm avoids every arm of the mask."""
        try:
            self.require(_checks.mask(mask, self.n_arms))
        except InfeasibleError:
            return False
        return True

    def require(self, mask: Bools | None) -> None:
        """Raise `InfeasibleError` where no super arm avoids every arm of the mask."""
        self.search(np.zeros(self.n_arms), mask)

    def containing(
        self, arm: int, mask: npt.ArrayLike | None = None, prefer: npt.ArrayLike | None = None
    ) -> Ints | None:
        """A feasible super arm that holds ``arm``, ascending, or None where there is none.

        Among those it takes one with many arms of ``prefer`` (booleans), which is how a good
        initialisation covers many arms in a round.
        """
        arm = _checks.integer("arm", arm, low=0, high=self.n_arms - 1)
        values = np.zeros(self.n_arms)
        if prefer is not None:
            values[self.preferred(prefer)] = 1.0
        values[arm] = self.n_arms + 1.0
        try:
            arms = self.search(values, _checks.mask(mask, self.n_arms))
        except InfeasibleError:
            return None
        return np.sort(arms) if arm in arms else None

    def preferred(self, prefer: npt.ArrayLike | None) -> Bools:
        """Checked booleans of the arms that `containing` should prefer, none by default."""
        if prefer is None:
            return np.zeros(self.n_arms, dtype=np.bool_)
        return _checks.booleans("prefer", prefer, self.n_arms, "True for each base arm to prefer")

    def super_arms(self, limit: int = LIST_LIMIT) -> list[Ints]:
        """Every super arm as an ascending array, in lexicographic order."""
        listing = self.enumerate()
        if listing is None:
            raise TooManySuperArmsError(f"the super arms of {type(self).__name__} cannot be listed")
        known = self.known_count()
        if known is not None and known > limit:
            raise TooManySuperArmsError(f"there are {known} super arms, more than the limit of {limit} that are listed")
        found: list[tuple[int, ...]] = []
        for arms in listing:
            found.append(tuple(sorted(arms)))
            if len(found) > limit:
                raise TooManySuperArmsError(f"there are more than {limit} super arms, the limit of what is listed")
        return [np.array(arms, dtype=np.int64) for arms in sorted(found)]

    def sample(self, rng: np.random.Generator, mask: npt.ArrayLike | None = None) -> Ints:
        """A uniformly random super arm, ascending."""
        blocked = _checks.mask(mask, self.n_arms)
        listing = self.super_arms()
        if blocked is not None:
            listing = [arms for arms in listing if not blocked[arms].any()]
        if not listing:
            raise self.nothing_left(blocked)
        return listing[int(rng.random() * len(listing))]

    def check_super_arm(self, arms: Sequence[int] | npt.ArrayLike) -> Ints:
        """The arms as an array in the order given, or an `InputError` if they are no super arm."""
        array = _checks.arms(arms, self.n_arms)
        if not self.is_feasible(array):
            raise InputError(f"arms {array.tolist()} are not a feasible super arm")
        return array

    def known_count(self) -> int | None:
        """The count where a formula gives it without listing."""
        return None

    def nothing_left(self, mask: Bools | None) -> InfeasibleError:
        """The error to raise where no super arm avoids the mask."""
        if mask is None:
            return InfeasibleError(f"{type(self).__name__} has no feasible super arm")
        blocked = np.flatnonzero(mask)
        shown = ", ".join(map(str, blocked[:10])) + (", ..." if blocked.size > 10 else "")
        return InfeasibleError(
            f"mask leaves no feasible super arm: it blocks {blocked.size} of {self.n_arms} arms ({shown}); unblock some"
        )


class KernelOracle(SuperArmOracle):
    """An oracle whose solver is compiled."""

    _kernel: Any

    def kernel(self) -> Any:
        return self._kernel

    def best(self, weights: Floats) -> Ints:
        return self.search(weights, None)


def own_work_space(kernel: Any) -> Any:
    """A copy of a solver's state, arrays and all."""
    return kernel._make(part.copy() if isinstance(part, np.ndarray) else part for part in kernel)


def finite_weights(weights: Floats) -> Floats:
    """The same order of super arms without infinities: an infinite weight becomes one that outbids all others.

    >>> finite_weights(np.array([1.0, np.inf, -2.0])).tolist()
    [1.0, 7.0, -2.0]
    """
    infinite = np.isposinf(weights)
    if not infinite.any():
        return weights
    values = weights.copy()
    values[infinite] = 0.0
    values[infinite] = 1.0 + 2.0 * float(np.abs(values).sum())
    return values
