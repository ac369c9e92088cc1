"""Sets of arms whose costs stay within a budget (the knapsack problem), with or without groups."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rising_bandits import _checks
from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits._compile import compiled
from rising_bandits.errors import InfeasibleError, InputError
from rising_bandits.oracles.base import KernelOracle
from rising_bandits.oracles.groups import pack_groups
from rising_bandits.oracles.listing import Partial, distinct_arms, leaves
from rising_bandits.oracles.operations import solve

MOST_UNITS = 100_000
"""The largest budget in units."""
MOST_COUNTED = 2_000_000
"""Up to this many arms times units, super arms are counted, and drawn with equal chances, without a list."""


class Budget(NamedTuple):
    """State of the solver: group ``g`` is ``members[first[g]:first[g + 1]]``, costs are whole units; and work space."""

    first: Ints
    members: Ints
    units: Ints
    """The cost of each arm."""
    required: bool
    """Whether each group must have an arm."""
    value: Floats
    """The largest weight for each budget from 0 on."""
    taken: Any
    """For each group and budget, the arm that was taken, or -1."""


def _finite_total(weights: Floats) -> float:
    """A number larger than the sum of all finite weights, which stands for infinity. The loop adds in this order."""
    total = 1.0
    for weight in weights[np.isfinite(weights)].tolist():
        total += 2.0 * abs(weight)
    return total


@compiled
def _read_back(state: Budget, weights: Floats, out: Ints) -> int:
    """The arms that were taken, in the order of the groups. Where none pays, the best single arm."""
    budget = state.value.size - 1
    left = budget
    size = 0
    for group in range(state.first.size - 2, -1, -1):
        arm = state.taken[group, left]
        if arm >= 0:
            out[size] = arm
            size += 1
            left -= state.units[arm]
        elif state.required:
            return 0
    if size == 0:
        best = -np.inf
        for arm in state.members:
            if state.units[arm] <= budget and weights[arm] > best:
                best = weights[arm]
                out[0] = arm
                size = 1
    for place in range(size // 2):
        out[place], out[size - 1 - place] = out[size - 1 - place], out[place]
    return size


def _solve_rows(state: Budget, weights: Floats, out: Ints) -> int:
    """`_solve` in NumPy: all budgets of an arm at once, compared in the same order."""
    gains = np.minimum(weights, _finite_total(weights))
    value, taken = state.value, state.taken
    budget = value.size - 1
    value[:] = 0.0
    for group in range(state.first.size - 1):
        best = np.full(budget + 1, -np.inf) if state.required else value.copy()
        taken[group] = -1
        for arm in state.members[state.first[group] : state.first[group + 1]].tolist():
            cost = int(state.units[arm])
            if cost > budget or gains[arm] == -np.inf:
                continue
            with_arm = value[: budget + 1 - cost] + gains[arm]
            better = with_arm > best[cost:]
            best[cost:][better] = with_arm[better]
            taken[group, cost:][better] = arm
        value[:] = best
    return _read_back(state, weights, out)


@solve.register(Budget, plain=_solve_rows)
def _solve(state: Budget, weights: Floats, out: Ints) -> int:
    """The set of largest weight, by dynamic programming over budgets."""
    value, taken = state.value, state.taken
    budget = value.size - 1
    total = 1.0
    for weight in weights:
        if np.isfinite(weight):
            total += 2.0 * abs(weight)
    for units in range(budget + 1):
        value[units] = 0.0
    for group in range(state.first.size - 1):
        # From large budgets to small ones, so that the values of the group before are still there.
        for units in range(budget, -1, -1):
            best = -np.inf if state.required else value[units]
            chosen = -1
            for place in range(state.first[group], state.first[group + 1]):
                arm = state.members[place]
                cost = state.units[arm]
                if cost > units or weights[arm] == -np.inf:
                    continue
                with_arm = value[units - cost] + min(weights[arm], total)
                if with_arm > best:
                    best = with_arm
                    chosen = arm
            value[units] = best
            taken[group, units] = chosen
    return _read_back(state, weights, out)


class BudgetSets(KernelOracle):
    """Non-empty sets whose total cost is within a budget; with groups, exactly one arm of each. Exact for sums.

    The solver works in whole units. Costs with up to six decimals are not rounded, as long as the budget is at most
    100 000 units of the last decimal. Otherwise a unit is ``budget / resolution``, and every cost is rounded *up* to
    units. A set that fits by less than one unit per arm may then be left out. A set that does not fit is never
    chosen.

    A call takes time and memory in proportion to the arms times the units.

    Parameters
    ----------
    costs
        The cost of each base arm, at least 0. An arm that costs more than the budget is in no super arm.
    budget
        The largest total cost, above 0.
    groups
        Groups of arm numbers. A super arm has exactly one arm of each group. By default there are no groups, and any
        arms may be together.
    resolution
        The number of units of the budget if costs have to be rounded.

    Raises
    ------
    InfeasibleError
        No set is within the budget.

    >>> BudgetSets([2, 1, 2], budget=3).solve([0.5, 0.3, 0.4])
    array([0, 1])
    >>> BudgetSets([5, 1, 4, 1], budget=6, groups=[[0, 1], [2, 3]]).solve([0.9, 0.2, 0.8, 0.3])
    array([0, 3])
    """

    def __init__(
        self,
        costs: Sequence[float] | Floats,
        budget: float,
        groups: Sequence[Sequence[int]] | None = None,
        resolution: int = 1_000,
    ) -> None:
        self.costs = _costs(costs)
        self.n_arms = self.costs.size
        self.budget = _checks.number("budget", budget, low=0.0, open_low=True)
        self.resolution = _checks.integer("resolution", resolution, low=1, high=MOST_UNITS)
        self.units, most = _units(self.costs, self.budget, self.resolution)
        singles = [[arm] for arm in range(self.n_arms)]
        self.groups, layout, _ = pack_groups(singles if groups is None else groups, self.n_arms)
        self.grouped = groups is not None
        _checks.memory(f"a table of {len(self.groups)} groups and {most} units", len(self.groups) * most / 2)
        self._kernel = Budget(
            first=layout.first,
            members=layout.members,
            units=self.units,
            required=self.grouped,
            value=np.zeros(most + 1),
            taken=np.zeros((len(self.groups), most + 1), dtype=np.int32),
        )
        self._most = most
        self._count: int | None = None
        self._group = np.full(self.n_arms, -1, dtype=np.int64)
        for number, group in enumerate(self.groups):
            self._group[group] = number
        cheapest = np.sort([min(int(self.units[arm]) for arm in group) for group in self.groups])
        fitting = int(np.searchsorted(np.cumsum(cheapest), most, side="right"))
        if fitting == 0 or (self.grouped and fitting < len(self.groups)):
            least = self.costs.min() if not self.grouped else sum(min(self.costs[g]) for g in self.groups)
            rounded = "" if least > self.budget else f", with costs rounded up to 1/{self.resolution} of the budget"
            raise InfeasibleError(
                f"budget must allow some super arm: the cheapest costs {least:g}{rounded}, got {self.budget:g}"
            )
        self.max_size = fitting

    def is_feasible(self, arms: Sequence[int] | Ints) -> bool:
        chosen = distinct_arms(arms, self.n_arms)
        if chosen is None or int(self.units[chosen].sum()) > self._most:
            return False
        groups = sorted(self._group[chosen].tolist())
        return groups == list(range(len(self.groups))) if self.grouped else True

    def ordered(self, arms: Sequence[int] | Ints) -> Ints:
        numbers = _checks.arms(arms, self.n_arms)
        return numbers[np.lexsort((numbers, self._group[numbers]))]

    def enumerate(self) -> Iterator[Sequence[int]]:
        least = np.zeros(len(self.groups) + 1, dtype=np.int64)
        if self.grouped:
            cheapest = [min(int(self.units[arm]) for arm in group) for group in self.groups]
            least[:-1] = np.cumsum(cheapest[::-1])[::-1]
        begin: tuple[Partial, int] = ((0, ()), 0)

        def extend(state: tuple[Partial, int]) -> list[tuple[Partial, int]] | None:
            (group, chosen), spent = state
            if group == len(self.groups):
                return None if chosen else []
            after = [] if self.grouped else [((group + 1, chosen), spent)]
            costs = [(arm, spent + int(self.units[arm])) for arm in self.groups[group]]
            left = self._most - int(least[group + 1])
            return after + [((group + 1, (*chosen, arm)), total) for arm, total in costs if total <= left]

        return (chosen for (_, chosen), _ in leaves(begin, extend))

    def _ways(self, blocked: Bools | None) -> list[npt.NDArray[np.object_]] | None:
        """For each group and each budget, how many ways there are from this group on; None if that is too much."""
        if self._kernel.members.size * (self._most + 1) > MOST_COUNTED:
            return None
        # Python integers, because there may be more sets than a float can count.
        ways = [np.full(self._most + 1, 1, dtype=object)]
        for group in reversed(self.groups):
            after = ways[-1]
            here = np.full(self._most + 1, 0, dtype=object) if self.grouped else after.copy()
            for arm in group:
                if self.units[arm] <= self._most and (blocked is None or not blocked[arm]):
                    here[self.units[arm] :] += after[: self._most + 1 - self.units[arm]]
            ways.append(here)
        return ways[::-1]

    def known_count(self) -> int | None:
        if self._count is None and (ways := self._ways(None)) is not None:
            # Without groups, one of the ways is to take nothing.
            self._count = int(ways[0][-1]) - (not self.grouped)
        return self._count

    def count(self) -> int | None:
        return super().count() if self.known_count() is None else self.known_count()

    def sample(self, rng: np.random.Generator, mask: Any = None) -> Ints:
        _checks.generator("rng", rng)
        blocked = _checks.mask(mask, self.n_arms)
        ways = self._ways(blocked)
        if ways is None:
            return super().sample(rng, mask)
        if ways[0][-1] <= (not self.grouped):
            raise self.nothing_left(blocked)
        chosen: list[int] = []
        while not chosen:
            left = self._most
            for group, after in zip(self.groups, ways[1:], strict=True):
                fits = [arm for arm in group if self.units[arm] <= left and (blocked is None or not blocked[arm])]
                shares = [after[left - self.units[arm]] for arm in fits]
                total = sum(shares) + (0 if self.grouped else after[left])
                # Each choice is drawn in proportion to the number of ways to go on, so all sets are equally likely.
                mark = int.from_bytes(rng.bytes(int(total).bit_length() // 8 + 9)) % int(total)
                for arm, share in zip(fits, shares, strict=True):
                    if mark < share:
                        chosen.append(arm)
                        left -= int(self.units[arm])
                        break
                    mark -= share
        return np.sort(np.array(chosen, dtype=np.int64))

    def spec(self) -> dict[str, Any]:
        return {
            "type": "BudgetSets",
            "costs": self.costs.tolist(),
            "budget": self.budget,
            "groups": self.groups if self.grouped else None,
            "resolution": self.resolution,
        }


def _costs(costs: npt.ArrayLike) -> Floats:
    """Costs as an array of finite numbers of at least 0."""
    try:
        found = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"costs must be a list of numbers, one per base arm, got {costs!r}") from None
    if found.ndim != 1 or found.size == 0:
        raise InputError(f"costs must be a list of numbers, one per base arm, got shape {found.shape}")
    wrong = ~(np.isfinite(found) & (found >= 0.0))
    if wrong.any():
        arm = int(np.flatnonzero(wrong)[0])
        raise InputError(f"costs must be finite numbers of at least 0, got {found[arm]} for arm {arm}")
    return found


def _units(costs: Floats, budget: float, resolution: int) -> tuple[Ints, int]:
    """Costs in whole units, and the budget in units. An arm that is too dear costs one unit more than the budget."""
    fits = costs <= budget
    used = np.where(fits, costs, 0.0)
    for decimals in range(7):
        # Costs with few decimals are whole numbers of a small unit. Numbers such as 0.3 are not exact floats.
        scaled, most = used * 10.0**decimals, budget * 10.0**decimals
        if used.max() * 10.0**decimals >= 2**52 or not np.allclose(scaled, np.rint(scaled), rtol=1e-12, atol=1e-12):
            continue
        whole = np.rint(scaled).astype(np.int64)
        divisor = max(1, math.gcd(*whole.tolist()))
        limit = min(math.floor(most * (1.0 + 1e-12)), int(whole.sum())) // divisor
        if limit <= MOST_UNITS:
            return np.where(fits, whole // divisor, limit + 1), limit
    units = np.ceil(used * (resolution / budget) * (1.0 - 1e-12)).astype(np.int64)
    return np.where(fits, units, resolution + 1), resolution
