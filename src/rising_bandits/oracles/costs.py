"""The oracle of cheapest paths in any graph. Costs are positive and fall as the index rises."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from rising_bandits import _checks
from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits._compile import compiled, copied
from rising_bandits.errors import InfeasibleError, InputError
from rising_bandits.oracles.arcs import Arcs, check_walk, walk_order
from rising_bandits.oracles.base import SuperArmOracle
from rising_bandits.oracles.dijkstra import Roads, cheapest, path_between
from rising_bandits.oracles.listing import leaves
from rising_bandits.oracles.operations import choose, solve
from rising_bandits.oracles.through import simple_path_through, turns, two_ways

_COSTS = {"inverse": 0, "log": 1}
_EXACT_FOR = {"inverse": frozenset({"harmonic"}), "log": frozenset({"product"})}
_TRIES = 12
"""How often `CostPaths.containing` tries to join two shortest paths before it starts an exhaustive search."""
SMALLEST_WEIGHT = 1e-12
"""Smaller weights are raised to this one, so that costs stay finite and positive."""


@solve.register(Roads)
def _solve(state: Roads, weights: Floats, out: Ints) -> int:
    return _best(state, weights, 0, out)


@choose.register(Roads)
@compiled
def _best(state: Roads, weights: Floats, draw: int, out: Ints) -> int:
    """Turn weights into costs and find the cheapest path.

    Weights of 1 or more all have the cost 0 of a sure success, and weights of almost 0 or less all have the same large
    cost. There, a second cost that falls with the weight ranks them.
    """
    for arm in range(weights.size):
        weight = weights[arm]
        state.second_cost[arm] = 0.0
        if weight == -np.inf:
            state.cost[arm] = np.inf
            continue
        if state.kind == 0:
            state.cost[arm] = 1.0 / max(weight, SMALLEST_WEIGHT)
        else:
            state.cost[arm] = max(0.0, -math.log(max(weight, SMALLEST_WEIGHT)))
        if weight <= SMALLEST_WEIGHT or (state.kind == 1 and 1.0 <= weight < np.inf):
            state.second_cost[arm] = 1.0 - weight / (1.0 + abs(weight))
    return cheapest(state, draw, out)


class CostPaths(SuperArmOracle):
    """Simple paths from a source to a target in any graph; the path of smallest total cost is best.

    The base arms are the arcs, in the order given. The solver is exact for total costs. It does not maximise sums of
    weights. A weight below 1e-12 counts as 1e-12. Indices of policies may lie outside [0, 1], where costs do not
    tell weights apart. Among paths of equal cost, the one with the larger such weights is taken.

    Parameters
    ----------
    tails, heads
        The two ends of each arc, in any hashable type.
    source, target
        The nodes between which paths run.
    cost
        How a weight w becomes a cost. ``"inverse"`` is 1/w, for weights that are one over a time; it is exact for the
        harmonic reward. ``"log"`` is max(0, -log w), for weights that are probabilities of success; it is exact for
        the product reward. A function takes the array of weights and returns an array of costs of at least 0; an
        oracle with a function runs in Python only and cannot be saved.
    directed
        False if paths may use every arc in both directions.

    Raises
    ------
    InfeasibleError
        There is no path from the source to the target.

    >>> oracle = CostPaths(["s", "s", "a", "t"], ["a", "t", "t", "s"], "s", "t")
    >>> oracle.solve([0.5, 0.2, 0.5, 0.1])
    array([0, 2])
    """

    note = "exact for positive costs that fall as the index rises, not for sums of indices"

    def __init__(
        self,
        tails: Sequence[Any],
        heads: Sequence[Any],
        source: Any,
        target: Any,
        *,
        cost: str | Callable[[Floats], npt.ArrayLike] = "inverse",
        directed: bool = True,
    ) -> None:
        if not callable(cost) and (not isinstance(cast(object, cost), str) or cost not in _COSTS):
            raise InputError(f"cost must be 'inverse', 'log' or a function of the indices, got {cost!r:.80}")
        directed = _checks.boolean("directed", directed)
        self.cost = cost
        self.arcs = Arcs.make(tails, heads, source, target, directed=directed)
        self.n_arms = self.arcs.n_arms
        self._useful = self.arcs.useful_arcs()
        self._steps = self.arcs.steps()
        self._hopeless: set[int] = set()
        self.exact_for = _EXACT_FOR.get(cost, frozenset()) if isinstance(cost, str) else frozenset()
        if not self._useful.any():
            raise InfeasibleError(f"there is no path from source {source!r} to target {target!r}")
        # A simple path has fewer edges than there are nodes.
        self.max_size = min(self.n_arms, self.arcs.n_nodes - 1)
        steps = self._steps
        flat = [(node, arm, head) for node, out in enumerate(steps) for arm, head in out]
        self._state = Roads(
            first=np.concatenate([[0], np.cumsum([len(out) for out in steps])]).astype(np.int64),
            head=np.array([head for _, _, head in flat], dtype=np.int64),
            arm=np.array([arm for _, arm, _ in flat], dtype=np.int64),
            ends=np.array([self.arcs.source, self.arcs.target], dtype=np.int64),
            cost=np.zeros(self.n_arms),
            second_cost=np.zeros(self.n_arms),
            distance=np.zeros(self.arcs.n_nodes),
            second_distance=np.zeros(self.arcs.n_nodes),
            via=np.zeros(self.arcs.n_nodes, dtype=np.int64),
            equals=np.zeros(self.arcs.n_nodes, dtype=np.int64),
            tail=np.array([node for node, _, _ in flat], dtype=np.int64),
            key=np.zeros(len(flat) + 2),
            rank=np.zeros(len(flat) + 2),
            item=np.zeros(len(flat) + 2, dtype=np.int64),
            kind=_COSTS[cost] if isinstance(cost, str) else -1,
        )

    def kernel(self) -> Roads | None:
        return self._state if isinstance(self.cost, str) else None

    def best(self, weights: Floats) -> Ints:
        return self.search(weights, None)

    def rescale(self, weights: Floats) -> Floats:
        # Costs are not proportional to weights, so weights must not be rescaled.
        return weights

    def require(self, mask: Bools | None) -> None:
        # Feasibility does not depend on costs. The user's cost function is not called: it may fail for these weights.
        self._cheapest(np.ones(self.n_arms), mask)

    def _cheapest(self, costs: Floats, mask: Bools | None) -> Ints:
        """The cheapest path that avoids the mask."""
        state = copied(self._state)
        state.cost[:] = costs if mask is None else np.where(mask, np.inf, costs)
        state.second_cost[:] = 0.0
        out = np.empty(self.max_size, dtype=np.int64)
        size = cheapest(state, 0, out)
        if size == 0:
            raise self.nothing_left(mask)
        return out[:size]

    def search(self, weights: Floats, mask: Bools | None) -> Ints:
        if isinstance(self.cost, str):
            return super().search(weights, mask)
        found: object = self.cost(weights)
        costs = _checks.array(found)
        if costs.dtype.kind not in "iuf" or costs.shape != weights.shape or not (costs >= 0).all():
            raise InputError(f"cost must return one cost of at least 0 per arm, got {found!r:.200}")
        return self._cheapest(costs.astype(np.float64), mask)

    def is_feasible(self, arms: Sequence[int] | Ints) -> bool:
        return check_walk(self.arcs, arms)

    def ordered(self, arms: Sequence[int] | Ints) -> Ints:
        return walk_order(self.arcs, _checks.arms(arms, self.n_arms))

    def enumerate(self) -> Iterator[Sequence[int]]:
        steps = self._steps
        alive = self.arcs.reach(self.arcs.target, backwards=True)
        begin: tuple[int, frozenset[int], tuple[int, ...]] = (self.arcs.source, frozenset({self.arcs.source}), ())

        def onwards(
            walk: tuple[int, frozenset[int], tuple[int, ...]],
        ) -> list[tuple[int, frozenset[int], tuple[int, ...]]] | None:
            node, seen, path = walk
            if node == self.arcs.target:
                return None
            ways = [(arm, head) for arm, head in steps[node] if head not in seen and alive[head]]
            return [(head, seen | {head}, (*path, arm)) for arm, head in ways]

        return (path for _, _, path in leaves(begin, onwards))

    def containing(
        self, arm: int, mask: npt.ArrayLike | None = None, prefer: npt.ArrayLike | None = None
    ) -> Ints | None:
        """Find a path through a given arc.

        In a directed graph this is NP-hard, so the search is bounded and may miss a path that exists.

        Parameters
        ----------
        arm
            The arc that the path must use.
        mask
            One boolean per base arm, True for each arm that may not be used.
        prefer
            One boolean per base arm. A path with many preferred arms is tried first.

        Returns
        -------
        array of int or None
            The arm numbers, ascending. None if no path was found.
        """
        arm = _checks.integer("arm", arm, low=0, high=self.n_arms - 1)
        blocked = _checks.mask(mask, self.n_arms)
        liked = self.preferred(prefer)
        if arm in self._hopeless or (blocked is not None and blocked[arm]):
            return None
        if blocked is None and not self._useful[arm]:
            self._hopeless.add(arm)
            return None
        cost = np.where(liked, 0.01, 1.0)
        rng = np.random.default_rng(arm)
        for _ in range(_TRIES):
            found = self._join(arm, cost if blocked is None else np.where(blocked, np.inf, cost))
            if found is not None:
                return found
            # Random costs give other shortest paths, which may be disjoint where these were not.
            cost = rng.random(self.n_arms)
        found = simple_path_through(self.arcs, arm, blocked) if two_ways(self.arcs, arm, blocked) else None
        if found is None and blocked is None:
            self._hopeless.add(arm)
        return found

    def _join(self, arm: int, cost: Floats) -> Ints | None:
        """Join a cheapest path to the arc with one from the arc to the target. None if no two of them are disjoint."""
        for tail, head in turns(self.arcs, arm):
            one = path_between(self._steps, cost, self.arcs.source, tail, {head, self.arcs.target} - {tail})
            if one is not None and head not in one[1]:
                two = path_between(self._steps, cost, head, self.arcs.target, one[1])
                if two is not None:
                    return np.sort(np.array([*one[0], arm, *two[0]], dtype=np.int64))
        return None

    def spec(self) -> dict[str, Any] | None:
        if not isinstance(self.cost, str):
            return None
        return {"type": "CostPaths", **self.arcs.spec(), "cost": self.cost, "directed": self.arcs.directed}
