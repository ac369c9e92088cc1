"""The base class of oracles: a family of super arms, and a solver for the best one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rising_bandits import _checks
from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits._compile import copied
from rising_bandits.errors import InfeasibleError, InputError, TooManySuperArmsError
from rising_bandits.oracles.operations import solve as solve_state

LIST_LIMIT = 100_000
"""The largest number of super arms that an oracle lists by default."""
MOST_ARMS = 1_000_000
"""The largest number of base arms that an oracle accepts."""


class SuperArmOracle(ABC):
    """Base class of oracles: a family of super arms, and a solver that finds the best one for given weights.

    A super arm is a set of base arms, which have the numbers 0 to ``n_arms - 1``. To write your own oracle in plain
    Python, derive from this class, set ``n_arms`` and ``max_size``, and implement `best` and `is_feasible`. All other
    methods have defaults. Your oracle then runs in the same simulation loop as the built-in ones.

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
    """Size of the largest super arm, L. For paths in graphs with cycles it is an upper bound on that size."""
    exact: bool = True
    """Whether `solve` always finds a best super arm."""
    exact_for: frozenset[str] = frozenset({"sum"})
    """Names of the rewards that `solve` maximises exactly."""
    note: str = ""
    """One line for the user on how exact the solver is."""
    choices: tuple[str, ...] = ()
    """The names of the families of which a decision may choose one; empty if there is only one family."""

    @abstractmethod
    def best(self, weights: Floats) -> Sequence[int] | Ints:
        """Find a super arm of largest total weight.

        Parameters
        ----------
        weights
            One finite weight per base arm, of any sign.

        Returns
        -------
        sequence of int
            The arm numbers of the super arm, in any order.
        """

    @abstractmethod
    def is_feasible(self, arms: Sequence[int] | Ints) -> bool:
        """Tell whether a set of arms is a super arm.

        Parameters
        ----------
        arms
            Arm numbers in any order.
        """

    def is_allowed(self, arms: Sequence[int] | Ints, mask: Bools | None) -> bool:
        """Tell whether arms can be chosen while some arms are blocked.

        Parameters
        ----------
        arms
            Arm numbers.
        mask
            True for each arm that may not be used, or None.

        Returns
        -------
        bool
            Whether the arms are a super arm without blocked arms. Some families have smaller super arms while arms are
            blocked: a matching leaves a worker out who has no free pair.
        """
        return self.is_feasible(arms) and (mask is None or not mask[np.asarray(arms, dtype=np.int64)].any())

    def among(self, choice: str) -> SuperArmOracle:
        """The oracle of one family of super arms, over the same base arms.

        Parameters
        ----------
        choice
            One of ``choices``.

        Raises
        ------
        InputError
            There is no such family.
        """
        raise InputError(f"among must not be given: {type(self).__name__} has only one family, got {choice!r}")

    def kernel(self) -> Any:
        """The solver's state for compiled code, or None if the oracle can only be solved in Python."""
        return None

    def enumerate(self) -> Iterator[Sequence[int]] | None:
        """Iterate over all super arms in any order. None if they cannot be listed."""
        return None

    def count(self) -> int | None:
        """The number of super arms, or None if it is not known. It may list up to `LIST_LIMIT` super arms."""
        try:
            return len(self.super_arms())
        except TooManySuperArmsError:
            return None

    def cover_rounds(self, times: int) -> int | None:
        """How many rounds are needed to play every arm a number of times. None if there is no formula for it.

        Parameters
        ----------
        times
            How often every arm is to be played.
        """
        return None

    def ordered(self, arms: Sequence[int] | Ints) -> Ints:
        """The arms of a super arm in the order in which they are played.

        Parameters
        ----------
        arms
            The arm numbers of a super arm.

        Returns
        -------
        array of int
            For a path, the arms from the source to the target. Families without an order return ascending numbers.
        """
        return np.sort(np.asarray(arms, dtype=np.int64))

    def spec(self) -> dict[str, Any] | None:
        """Describe the oracle as plain data for `from_spec`.

        Returns
        -------
        dict or None
            The class name under ``"type"`` and the constructor's arguments, in types that JSON can hold. None if the
            oracle contains Python code, which cannot be saved.
        """
        return None

    def solve(self, weights: npt.ArrayLike, mask: npt.ArrayLike | None = None) -> Ints:
        """Find the best super arm.

        Parameters
        ----------
        weights
            One finite weight per base arm.
        mask
            One boolean per base arm, True for each arm that may not be used.

        Returns
        -------
        array of int
            The arm numbers of the super arm, ascending.

        Raises
        ------
        InfeasibleError
            Every super arm holds an arm of the mask.
        InputError
            The weights or the mask have a wrong shape or type, or a weight is not finite.
        """
        values = self.rescale(_checks.weights(weights, self.n_arms))
        return np.sort(self.search(values, _checks.mask(mask, self.n_arms)))

    def rescale(self, weights: Floats) -> Floats:
        """Divide huge weights by their maximum, so that sums cannot overflow. The best super arm stays the same.

        Parameters
        ----------
        weights
            One finite weight per base arm.
        """
        largest = float(np.abs(weights).max())
        return weights / largest if largest > 1e290 else weights

    def search(self, weights: Floats, mask: Bools | None) -> Ints:
        """Find the best super arm for input that is already checked.

        Parameters
        ----------
        weights
            One weight per base arm. Plus infinity is allowed.
        mask
            True for each arm that may not be used, or None.

        Returns
        -------
        array of int
            The arm numbers, in the order of `ordered`.
        """
        kernel = self.kernel()
        if kernel is not None:
            values = weights if mask is None else np.where(mask, -np.inf, weights)
            arms = np.empty(self.max_size, dtype=np.int64)
            # A copy, because another thread may be using the solver's work space.
            with np.errstate(invalid="ignore"):
                size = solve_state(copied(kernel), values, arms)
            if size == 0:
                raise self.nothing_left(mask)
            return arms[:size]
        values = finite_weights(weights)
        if mask is not None:
            # The penalty for a forbidden arm must be larger than the sum of all other weights.
            values = values.copy()
            values[mask] = -(1.0 + 2.0 * float(np.abs(values).sum()))
        arms = self.ordered(self._checked_answer(self.best(values)))
        if mask is not None and mask[arms].any():
            raise self.nothing_left(mask)
        return arms

    def _checked_answer(self, answer: Any) -> Ints:
        """Check what `best` of a user-defined oracle returned: it must be a super arm."""
        try:
            return self.check_super_arm(answer)
        except (InputError, TypeError, ValueError):
            raise InputError(
                f"what {type(self).__name__}.best returns must be a feasible super arm: at most {self.max_size} "
                f"(max_size) different arm numbers, got {answer!r}"
            ) from None

    def can(self, mask: npt.ArrayLike | None = None) -> bool:
        """Tell whether some super arm avoids every arm of the mask.

        Parameters
        ----------
        mask
            One boolean per base arm, True for each arm that may not be used.
        """
        try:
            self.require(_checks.mask(mask, self.n_arms))
        except InfeasibleError:
            return False
        return True

    def require(self, mask: Bools | None) -> None:
        """Check that some super arm avoids every arm of a mask.

        Parameters
        ----------
        mask
            True for each arm that may not be used, or None.

        Raises
        ------
        InfeasibleError
            There is no such super arm.
        """
        self.search(np.zeros(self.n_arms), mask)

    def containing(
        self, arm: int, mask: npt.ArrayLike | None = None, prefer: npt.ArrayLike | None = None
    ) -> Ints | None:
        """Find a super arm that holds a given arm. Policies use it for the first plays of every arm.

        Parameters
        ----------
        arm
            The arm that the super arm must hold.
        mask
            One boolean per base arm, True for each arm that may not be used.
        prefer
            One boolean per base arm. Of the super arms that hold ``arm``, one with many preferred arms is chosen.

        Returns
        -------
        array of int or None
            The arm numbers, ascending. None if there is no such super arm.
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
        """Check the argument ``prefer`` of `containing`.

        Parameters
        ----------
        prefer
            One boolean per base arm; None if no arm is preferred.
        """
        if prefer is None:
            return np.zeros(self.n_arms, dtype=np.bool_)
        return _checks.booleans("prefer", prefer, self.n_arms, "True for each base arm to prefer")

    def super_arms(self, limit: int = LIST_LIMIT) -> list[Ints]:
        """List all super arms.

        Parameters
        ----------
        limit
            The largest number of super arms to list.

        Returns
        -------
        list of arrays
            Every super arm as an ascending array, in lexicographic order.

        Raises
        ------
        TooManySuperArmsError
            There are more than ``limit`` super arms, or they cannot be listed.
        """
        limit = _checks.integer("limit", limit, low=0)
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

    def super_arms_without(self, mask: Bools, limit: int = LIST_LIMIT) -> list[Ints]:
        """List the super arms that can be chosen while some arms are blocked, see `is_allowed`.

        Parameters
        ----------
        mask
            One boolean per base arm, True for each arm that may not be used.
        limit
            The largest number of super arms to list.

        Returns
        -------
        list of arrays
            Each as an ascending array, in lexicographic order.

        Raises
        ------
        TooManySuperArmsError
            As in `super_arms`.
        """
        return [arms for arms in self.super_arms(limit) if not mask[arms].any()]

    def sample(self, rng: np.random.Generator, mask: npt.ArrayLike | None = None) -> Ints:
        """Draw a super arm, each with the same probability.

        Parameters
        ----------
        rng
            The random generator to draw from.
        mask
            One boolean per base arm, True for each arm that may not be used.

        Returns
        -------
        array of int
            The arm numbers, ascending.

        Raises
        ------
        InfeasibleError
            Every super arm holds an arm of the mask.
        TooManySuperArmsError
            The oracle can only draw from a list, and there are more than `LIST_LIMIT` super arms.
        """
        blocked = _checks.mask(mask, self.n_arms)
        listing = self.super_arms() if blocked is None else self.super_arms_without(blocked)
        if not listing:
            raise self.nothing_left(blocked)
        return listing[int(rng.random() * len(listing))]

    def check_super_arm(self, arms: Sequence[int] | npt.ArrayLike) -> Ints:
        """Check that arms are a super arm.

        Parameters
        ----------
        arms
            Arm numbers in any order.

        Returns
        -------
        array of int
            The arms in the order given.

        Raises
        ------
        InputError
            The arms are not a super arm.
        """
        array = _checks.arms(arms, self.n_arms)
        if array.size > self.max_size or not self.is_feasible(array):
            raise InputError(f"arms {array.tolist()} are not a feasible super arm")
        return array

    def known_count(self) -> int | None:
        """The number of super arms if it is known without listing them, else None."""
        return None

    def nothing_left(self, mask: Bools | None) -> InfeasibleError:
        """The error to raise if no super arm avoids a mask.

        Parameters
        ----------
        mask
            True for each arm that may not be used, or None.
        """
        if mask is None:
            return InfeasibleError(f"{type(self).__name__} has no feasible super arm")
        blocked = np.flatnonzero(mask)
        shown = ", ".join(map(str, blocked[:10])) + (", ..." if blocked.size > 10 else "")
        return InfeasibleError(
            f"mask leaves no feasible super arm: it blocks {blocked.size} of {self.n_arms} arms ({shown}); unblock some"
        )


class KernelOracle(SuperArmOracle):
    """Base class of oracles whose solver can be compiled. A subclass sets ``_kernel`` to the solver's state."""

    _kernel: Any

    def kernel(self) -> Any:
        return self._kernel

    def best(self, weights: Floats) -> Ints:
        return self.search(weights, None)


def finite_weights(weights: Floats) -> Floats:
    """Replace each infinite weight by a finite one that is larger than the sum of all finite weights.

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
