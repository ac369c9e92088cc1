"""Families of super arms: which sets of base arms may be played, in which order, and how many there are."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rising_bandits import _checks
from rising_bandits._checks import Bools, Ints
from rising_bandits.errors import InfeasibleError, InputError, TooManySuperArmsError
from rising_bandits.oracles.answers import check_sets, feasible

if TYPE_CHECKING:
    from rising_bandits.oracles.base import SuperArmOracle

LIST_LIMIT = 100_000
"""The largest number of super arms that an oracle lists by default."""


_MOST_DIGITS = 40
"""Larger numbers are shown as powers of ten."""


class SuperArmFamily(ABC):
    """A family of super arms. `SuperArmOracle` adds the solver that finds the best one.

    A super arm is a set of base arms, which have the numbers 0 to ``n_arms - 1``.
    """

    n_arms: int
    """Number of base arms, K."""
    max_size: int
    """Size of the largest super arm, L. For paths in graphs with cycles it is an upper bound on that size."""
    choices: tuple[str, ...] = ()
    """The names of the families of which a decision may choose one; empty if there is only one family."""

    @abstractmethod
    def is_feasible(self, arms: Sequence[int] | Ints) -> bool:
        """Tell whether a set of arms is a super arm.

        Parameters
        ----------
        arms
            Arm numbers in any order.
        """

    def is_allowed(self, arms: Sequence[int] | Ints, mask: npt.ArrayLike | None) -> bool:
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
        blocked = _checks.mask(mask, self.n_arms)
        return self.is_feasible(arms) and (blocked is None or not blocked[_checks.arms(arms, self.n_arms)].any())

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

    def enumerate(self) -> Iterator[Sequence[int]] | None:
        """Iterate over all super arms in any order. None if they cannot be listed."""
        return None

    def count(self) -> int | None:
        """The number of super arms, or None if it is not known. It may list up to `LIST_LIMIT` super arms."""
        try:
            return len(self.super_arms())
        except TooManySuperArmsError:
            return None

    def known_count(self) -> int | None:
        """The number of super arms if it is known without listing them, else None."""
        return None

    def log_count(self) -> float | None:
        """The natural logarithm of `known_count`, without computing a number of many thousand digits."""
        known = self.known_count()
        return None if known is None else math.log(known)

    def shown_count(self) -> str | None:
        """The number of super arms as text; None if it is not known.

        A number of more than forty digits is given as a power of ten.
        """
        logarithm = self.log_count()
        if logarithm is None:
            return None
        power = logarithm / math.log(10.0)
        if power > _MOST_DIGITS:
            return f"about 10^{power:.0f}"
        known = self.known_count()
        return f"about {math.exp(logarithm):.3g}" if known is None else str(known)

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
        return np.sort(_checks.arms(arms, self.n_arms))

    def spec(self) -> dict[str, Any] | None:
        """Describe the oracle as plain data for `from_spec`.

        Returns
        -------
        dict or None
            The class name under ``"type"`` and the constructor's arguments, in types that JSON can hold. None if the
            oracle contains Python code, which cannot be saved.
        """
        return None

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
        listing: Any = self.enumerate()
        if listing is None:
            raise TooManySuperArmsError(f"the super arms of {type(self).__name__} cannot be listed")
        if not isinstance(listing, Iterable):
            raise InputError(
                f"what {type(self).__name__}.enumerate returns must be super arms or None, got {listing!r}"
            )
        logarithm = self.log_count()
        if logarithm is not None and logarithm > math.log(limit + 0.5):
            raise TooManySuperArmsError(
                f"there are {self.shown_count()} super arms, more than the limit of {limit} that are listed"
            )
        found: list[tuple[int, ...]] = []
        for arms in listing:
            try:
                found.append(tuple(sorted(arms)))
            except TypeError:
                raise InputError(
                    f"what {type(self).__name__}.enumerate returns must be lists of arm numbers, got {arms!r}"
                ) from None
            if len(found) > limit:
                raise TooManySuperArmsError(f"there are more than {limit} super arms, the limit of what is listed")
        check_sets(self, "enumerate", found)
        found.sort()
        twice = next((list(arms) for arms, after in pairwise(found) if arms == after), None)
        if twice is not None:
            raise InputError(f"what {type(self).__name__}.enumerate returns must not repeat, got {twice} twice")
        return [np.array(arms, dtype=np.int64) for arms in found]

    def super_arms_without(self, mask: npt.ArrayLike, limit: int = LIST_LIMIT) -> list[Ints]:
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
        blocked = _checks.mask(mask, self.n_arms)
        return [arms for arms in self.super_arms(limit) if blocked is None or not blocked[arms].any()]

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
        _checks.generator("rng", rng)
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
        if array.size > self.max_size or not feasible(self, array):
            raise InputError(f"arms {array.tolist()} are not a feasible super arm")
        return array

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
