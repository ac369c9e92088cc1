"""Families given by linear constraints on 0/1 variables. Small ones are listed, large ones are solved by HiGHS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits.errors import InfeasibleError, InputError, RisingBanditsError
from rising_bandits.oracles.base import SuperArmOracle, finite_weights
from rising_bandits.oracles.explicit import SetList, pack
from rising_bandits.oracles.listing import Partial, distinct_arms, leaves
from rising_bandits.oracles.solver import run_milp

MOST_LISTED = 50_000
"""A family with at most this many sets is listed when the oracle is created."""
_NOTHING = "matrix, lower and upper leave no feasible non-empty set; relax a bound"


class LinearSets(SuperArmOracle):
    """Non-empty sets whose 0/1 vectors x satisfy ``lower <= matrix @ x <= upper``.

    A family of at most 50 000 sets is listed when the oracle is created. It is then solved exactly and in compiled
    code, like `ExplicitSets`.

    A larger family is solved by HiGHS, an integer programming solver. A call takes a millisecond or more. The result is
    exact up to the solver's tolerances: totals that differ by less than 1e-12 of the largest weight count as equal. If
    a coefficient exceeds 100 000, these tolerances are too coarse, and ``exact`` is False.

    Parameters
    ----------
    matrix
        The coefficients, with one row per constraint and one column per base arm.
    lower, upper
        The bounds, one per row. A bound of None is no bound; None in place of the list means no bounds at all.

    Raises
    ------
    InfeasibleError
        No non-empty set satisfies the constraints.

    >>> LinearSets([[1, 1, 0], [0, 1, 1]], upper=[1, 1]).solve([0.5, 0.8, 0.4])
    array([0, 2])
    """

    note = "exact up to the tolerances of the integer solver (about 1e-12 of the largest weight)"
    _listed: SetList | None = None

    def __init__(
        self,
        matrix: npt.ArrayLike,
        lower: Sequence[float | None] | Floats | None = None,
        upper: Sequence[float | None] | Floats | None = None,
    ) -> None:
        try:
            self.matrix = np.array(matrix, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"matrix must be a table of numbers, a row per constraint, got {matrix!r}") from None
        if self.matrix.ndim != 2 or self.matrix.shape[1] == 0:
            raise InputError(
                f"matrix must have a row per constraint and a column per base arm, got shape {self.matrix.shape}"
            )
        rows = self.matrix.shape[0]
        self.lower = _bounds("lower", lower, rows, -np.inf)
        self.upper = _bounds("upper", upper, rows, np.inf)
        for name, bound in (("lower", self.lower), ("upper", self.upper)):
            if bound.shape != (rows,):
                raise InputError(f"{name} must have one bound per row of the matrix, {rows}, got {bound.shape}")
        if not np.isfinite(self.matrix).all() or np.isnan(self.lower).any() or np.isnan(self.upper).any():
            raise InputError("matrix must be finite, and lower and upper must not be NaN")
        self.n_arms = int(self.matrix.shape[1])
        # The tolerance for rounding errors of sums. Even with coefficients of 1e9 it stays below 1.
        size = np.abs(self.matrix).sum(axis=1)
        self._slack = np.minimum(1e-9 * (1.0 + size), np.maximum(1e-6, 4.0 * np.finfo(np.float64).eps * size))
        found = self._list_all()
        if found is not None:
            if not found:
                raise InfeasibleError(_NOTHING)
            self._listed, self.note = pack(found), "exact: every super arm is listed"
            self.max_size = max(arms.size for arms in found)
            return
        if np.abs(self.matrix).max(initial=0.0) > 1e5:
            self.exact = False
            self.note = "coefficients above 100 000 are beyond the tolerances of the integer solver"
        try:
            self.max_size = len(self.search(np.ones(self.n_arms), None))
        except InfeasibleError:
            raise InfeasibleError(_NOTHING) from None

    def kernel(self) -> SetList | None:
        return self._listed

    def _list_all(self) -> list[Ints] | None:
        """All super arms in lexicographic order, or None if there are more than `MOST_LISTED`.

        It goes through the arms one by one and extends all partial sets at once. A partial set is dropped as soon as
        the remaining arms cannot satisfy its bounds any more.
        """
        least, most = self._reach()
        totals = np.zeros((1, self.matrix.shape[0]))
        chosen = np.zeros((1, self.n_arms), dtype=np.bool_)
        for arm in range(self.n_arms):
            totals = np.concatenate([totals, totals + self.matrix[:, arm]])
            chosen = np.concatenate([chosen, chosen])
            chosen[len(chosen) // 2 :, arm] = True
            low_enough = (totals + least[arm + 1] <= self.upper + self._slack).all(axis=1)
            high_enough = (totals + most[arm + 1] >= self.lower - self._slack).all(axis=1)
            totals, chosen = totals[low_enough & high_enough], chosen[low_enough & high_enough]
            if len(chosen) > MOST_LISTED or chosen.size > 400 * MOST_LISTED:
                return None
        sets = sorted(tuple(np.flatnonzero(row).tolist()) for row in chosen if row.any())
        return [np.array(arms, dtype=np.int64) for arms in sets]

    def _reach(self) -> tuple[Floats, Floats]:
        """For every arm, the smallest and the largest amount that it and all later arms can add to each row."""
        shape = (self.n_arms + 1, self.matrix.shape[0])
        least, most = np.zeros(shape), np.zeros(shape)
        for arm in range(self.n_arms - 1, -1, -1):
            least[arm] = least[arm + 1] + np.minimum(self.matrix[:, arm], 0.0)
            most[arm] = most[arm + 1] + np.maximum(self.matrix[:, arm], 0.0)
        return least, most

    def best(self, weights: Floats) -> Ints:
        return self.search(weights, None)

    def search(self, weights: Floats, mask: Bools | None) -> Ints:
        if self._listed is not None:
            return super().search(weights, mask)
        from scipy.optimize import Bounds, LinearConstraint

        values = finite_weights(weights)
        top = float(np.abs(values).max())
        upper = np.ones(self.n_arms)
        if mask is not None:
            upper[mask] = 0.0
        some = np.ones((1, self.n_arms))
        result = run_milp(
            # Weights are scaled up, so that the solver's absolute tolerance is small relative to them.
            c=-(values / top) * 1e6 if top > 0 else np.zeros(self.n_arms),
            constraints=LinearConstraint(
                np.vstack([self.matrix, some]), np.append(self.lower, 1.0), np.append(self.upper, np.inf)
            ),
            integrality=np.ones(self.n_arms),
            bounds=Bounds(np.zeros(self.n_arms), upper),
            options={"mip_rel_gap": 0.0},
        )
        if result.x is None:
            raise self.nothing_left(mask)
        arms = np.flatnonzero(result.x > 0.5).astype(np.int64)
        if not self.is_feasible(arms):
            raise RisingBanditsError(
                f"the integer solver's tolerances are too coarse for these constraints: it returned {arms.tolist()}, "
                "which violates them; rescale the rows of matrix so that no coefficient exceeds 100 000"
            )
        return arms

    def is_feasible(self, arms: Sequence[int] | Ints) -> bool:
        chosen = distinct_arms(arms, self.n_arms)
        if chosen is None:
            return False
        total = self.matrix[:, chosen].sum(axis=1)
        return bool((total >= self.lower - self._slack).all() and (total <= self.upper + self._slack).all())

    def enumerate(self) -> Iterator[Sequence[int]]:
        listed = self._listed
        if listed is not None:
            ends = zip(listed.first[:-1], listed.first[1:], strict=True)
            return (listed.members[start:end].tolist() for start, end in ends)
        # Partial sets whose bounds the remaining arms cannot satisfy are pruned.
        least, most = self._reach()
        slack = self._slack

        begin: tuple[Partial, Floats] = ((0, ()), np.zeros(self.matrix.shape[0]))

        def extend(state: tuple[Partial, Floats]) -> list[tuple[Partial, Floats]] | None:
            (arm, chosen), total = state
            if (total + most[arm] < self.lower - slack).any() or (total + least[arm] > self.upper + slack).any():
                return []
            if arm == self.n_arms:
                return None if chosen else []
            return [((arm + 1, chosen), total), ((arm + 1, (*chosen, arm)), total + self.matrix[:, arm])]

        return (chosen for (_, chosen), _ in leaves(begin, extend))

    def known_count(self) -> int | None:
        return None if self._listed is None else self._listed.first.size - 1

    def spec(self) -> dict[str, Any]:
        return {
            "type": "LinearSets",
            "matrix": self.matrix.tolist(),
            "lower": [None if np.isneginf(bound) else float(bound) for bound in self.lower],
            "upper": [None if np.isposinf(bound) else float(bound) for bound in self.upper],
        }


def _bounds(name: str, bounds: Sequence[float | None] | Floats | None, rows: int, missing: float) -> Floats:
    """Bounds as an array. ``missing`` stands for a bound of None, and for all bounds if ``bounds`` is None."""
    if bounds is None:
        return np.full(rows, missing)
    try:
        return np.array([missing if bound is None else float(bound) for bound in bounds], dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a list of {rows} numbers (None for no bound), got {bounds!r}") from None
