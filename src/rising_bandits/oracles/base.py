"""The base class of oracles: a family of super arms with a solver for the best one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rising_bandits import _checks
from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits._compile import copied
from rising_bandits.errors import InfeasibleError
from rising_bandits.oracles.answers import MOST_ARMS, answered, in_order
from rising_bandits.oracles.family import LIST_LIMIT, SuperArmFamily
from rising_bandits.oracles.operations import solve as solve_state

__all__ = ["LIST_LIMIT", "MOST_ARMS", "KernelOracle", "SuperArmFamily", "SuperArmOracle", "finite_weights"]


class SuperArmOracle(SuperArmFamily):
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

    exact: bool = True
    """Whether `solve` always finds a best super arm."""
    exact_for: frozenset[str] = frozenset({"sum"})
    """Names of the rewards that `solve` maximises exactly."""
    note: str = ""
    """One line for the user on how exact the solver is."""

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

    def kernel(self) -> Any:
        """The solver's state for compiled code, or None if the oracle can only be solved in Python."""
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
        arms = in_order(self, answered(self, "best", self.best(values)))
        if mask is not None and mask[arms].any():
            raise self.nothing_left(mask)
        return arms

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
