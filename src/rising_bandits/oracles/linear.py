"""Any family given by 0/1 variables under linear constraints, through HiGHS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits.errors import InfeasibleError, InputError, RisingBanditsError
from rising_bandits.oracles.base import SuperArmOracle, finite_weights
from rising_bandits.oracles.listing import Partial, distinct_arms, leaves
from rising_bandits.oracles.solver import run_milp


class LinearSets(SuperArmOracle):
    """Non-empty sets whose 0/1 vectors x satisfy ``lower <= matrix @ x <= upper``, by HiGHS.

    A call takes about a millisecond for small problems and much more for large ones: it is the one oracle that
    is not compiled. Exact up to the solver's tolerances: totals that differ by less than a millionth of a
    millionth of the largest weight count as equal. Coefficients above 100 000 are beyond what the solver
    tells apart by ones: then all sets are tried where there are at most 18 arms, and with more arms
    ``exact`` is False.

    >>> LinearSets([[1, 1, 0], [0, 1, 1]], upper=[1, 1]).solve([0.5, 0.8, 0.4])
    array([0, 2])
    """

    note = "exact up to the tolerances of the integer solver (about 1e-12 of the largest weight)"
    # How many arms are few enough to try every set, which needs no tolerances.
    _FEW = 18

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
        # What bounds and sums of floats may be off by: a little, but with coefficients of 1e9 never a whole one.
        size = np.abs(self.matrix).sum(axis=1)
        self._slack = np.minimum(1e-9 * (1.0 + size), np.maximum(1e-6, 4.0 * np.finfo(np.float64).eps * size))
        self._wide = bool(np.abs(self.matrix).max(initial=0.0) > 1e5)
        if self._wide and self.n_arms > self._FEW:
            self.exact = False
            self.note = "coefficients above 100 000 are beyond the tolerances of the integer solver"
        try:
            self.max_size = len(self.search(np.ones(self.n_arms), None))
        except InfeasibleError:
            raise InfeasibleError("matrix, lower and upper leave no feasible non-empty set; relax a bound") from None

    def best(self, weights: Floats) -> Ints:
        return self.search(weights, None)

    def search(self, weights: Floats, mask: Bools | None) -> Ints:
        from scipy.optimize import Bounds, LinearConstraint

        values = finite_weights(weights)
        if self._wide and self.n_arms <= self._FEW:
            return self._try_all(values, mask)
        top = float(np.abs(values).max())
        upper = np.ones(self.n_arms)
        if mask is not None:
            upper[mask] = 0.0
        some = np.ones((1, self.n_arms))
        result = run_milp(
            # Scaled up so that the solver's absolute gap is small beside the weights.
            c=-(values / top) * 1e6 if top > 0 else np.zeros(self.n_arms),
            constraints=LinearConstraint(
                np.vstack([self.matrix, some]), np.append(self.lower, 1.0), np.append(self.upper, np.inf)
            ),
            integrality=np.ones(self.n_arms),
            bounds=Bounds(np.zeros(self.n_arms), upper),
            options={"mip_rel_gap": 0.0},
        )
        if result.x is None:
            raise self._nothing_left(mask)
        arms = np.flatnonzero(result.x > 0.5).astype(np.int64)
        if not self.is_feasible(arms):
            raise RisingBanditsError(
                f"the integer solver's tolerances do not fit these constraints: it proposed {arms.tolist()}, which "
                "breaks them; rescale the rows of the matrix so that no coefficient passes 100 000"
            )
        return arms

    def _try_all(self, weights: Floats, mask: Bools | None) -> Ints:
        best: tuple[float, tuple[int, ...]] | None = None
        for arms in self.enumerate():
            if mask is None or not mask[list(arms)].any():
                total = float(weights[list(arms)].sum())
                if best is None or total > best[0]:
                    best = (total, tuple(arms))
        if best is None:
            raise self._nothing_left(mask)
        return np.array(sorted(best[1]), dtype=np.int64)

    def is_feasible(self, arms: Sequence[int] | Ints) -> bool:
        chosen = distinct_arms(arms, self.n_arms)
        if chosen is None:
            return False
        total = self.matrix[:, chosen].sum(axis=1)
        return bool((total >= self.lower - self._slack).all() and (total <= self.upper + self._slack).all())

    def enumerate(self) -> Iterator[Sequence[int]]:
        # What the columns still to be decided can add, at least and at most, prunes the search.
        rows = self.matrix.shape[0]
        least, most = np.zeros((self.n_arms + 1, rows)), np.zeros((self.n_arms + 1, rows))
        for arm in range(self.n_arms - 1, -1, -1):
            least[arm] = least[arm + 1] + np.minimum(self.matrix[:, arm], 0.0)
            most[arm] = most[arm + 1] + np.maximum(self.matrix[:, arm], 0.0)
        slack = self._slack

        begin: tuple[Partial, Floats] = ((0, ()), np.zeros(rows))

        def extend(state: tuple[Partial, Floats]) -> list[tuple[Partial, Floats]] | None:
            (arm, chosen), total = state
            if (total + most[arm] < self.lower - slack).any() or (total + least[arm] > self.upper + slack).any():
                return []
            if arm == self.n_arms:
                return None if chosen else []
            return [((arm + 1, chosen), total), ((arm + 1, (*chosen, arm)), total + self.matrix[:, arm])]

        return (chosen for (_, chosen), _ in leaves(begin, extend))

    def spec(self) -> dict[str, Any]:
        return {
            "type": "LinearSets",
            "matrix": self.matrix.tolist(),
            "lower": [None if np.isneginf(bound) else float(bound) for bound in self.lower],
            "upper": [None if np.isposinf(bound) else float(bound) for bound in self.upper],
        }


def _bounds(name: str, bounds: Sequence[float | None] | Floats | None, rows: int, missing: float) -> Floats:
    """Bounds as an array, with None (all of them, or single ones) for no bound."""
    if bounds is None:
        return np.full(rows, missing)
    try:
        return np.array([missing if bound is None else float(bound) for bound in bounds], dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a list of {rows} numbers (None for no bound), got {bounds!r}") from None
