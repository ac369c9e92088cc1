"""The cheapest path in any graph, by Dijkstra's method. Costs are positive and fall as the index rises."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rising_bandits import _checks
from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits._compile import compiled, copied
from rising_bandits.errors import InfeasibleError, InputError
from rising_bandits.oracles.arcs import Arcs, check_walk, walk_order
from rising_bandits.oracles.base import SuperArmOracle
from rising_bandits.oracles.listing import leaves
from rising_bandits.oracles.operations import choose, solve, takes_over
from rising_bandits.oracles.through import simple_path_through, turns, two_ways

_COSTS = {"inverse": 0, "log": 1}
_EXACT_FOR = {"inverse": frozenset({"harmonic"}), "log": frozenset({"product"})}
_TRIES = 12
"""How often `CostPaths.containing` tries to join two shortest paths before it starts an exhaustive search."""
SMALLEST_WEIGHT = 1e-12
"""Smaller weights are raised to this one, so that costs stay finite and positive."""


class Roads(NamedTuple):
    """State of the solver: the steps out of each node, the kind of cost, and work space.

    The steps out of node ``v`` are ``first[v]`` to ``first[v + 1]``. ``key``, ``rank`` and ``item`` hold a binary heap
    in the order of ``key``, and of ``rank`` where keys are equal.
    """

    first: Ints
    head: Ints
    arm: Ints
    ends: Ints
    """Source and target."""
    cost: Floats
    demerit: Floats
    """The second cost of each arm. It decides between paths of equal cost."""
    distance: Floats
    trouble: Floats
    """The sum of second costs along the cheapest known path to each node."""
    via: Ints
    """The last step of the cheapest known path to each node."""
    equals: Ints
    """How many last steps of equally cheap paths to each node are known; 0 once the path to the node is settled."""
    tail: Ints
    key: Floats
    rank: Floats
    item: Ints
    kind: int


@compiled
def _push(state: Roads, size: int, value: float, rank: float, node: int) -> int:
    """Add a node to the heap and return the new size."""
    key, ranks, item = state.key, state.rank, state.item
    at = size
    while at > 0:
        above = (at - 1) // 2
        if key[above] < value or (key[above] == value and ranks[above] <= rank):
            break
        key[at] = key[above]
        ranks[at] = ranks[above]
        item[at] = item[above]
        at = above
    key[at] = value
    ranks[at] = rank
    item[at] = node
    return size + 1


@compiled
def _pop(state: Roads, size: int) -> int:
    """Remove the smallest key, which is at the root, from the heap and return the new size."""
    key, ranks, item = state.key, state.rank, state.item
    size -= 1
    value, rank, node = key[size], ranks[size], item[size]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and (
            key[child + 1] < key[child] or (key[child + 1] == key[child] and ranks[child + 1] < ranks[child])
        ):
            child += 1
        if key[child] > value or (key[child] == value and ranks[child] >= rank):
            break
        key[at] = key[child]
        ranks[at] = ranks[child]
        item[at] = item[child]
        at = child
    key[at] = value
    ranks[at] = rank
    item[at] = node
    return size


@compiled
def cheapest(state: Roads, draw: int, out: Ints) -> int:
    """Write the path of smallest ``state.cost`` into ``out`` and return its length. Infinite cost forbids an arm.

    Of several cheapest paths it is the one with the smallest sum of ``state.demerit``. Where paths to a node are equal
    in both, the last step is drawn, or is the first one found if ``draw`` is 0.
    """
    source, target = state.ends[0], state.ends[1]
    for node in range(state.distance.size):
        state.distance[node] = np.inf
        state.trouble[node] = np.inf
        state.via[node] = -1
        state.equals[node] = 1
    state.distance[source] = 0.0
    state.trouble[source] = 0.0
    size = _push(state, 0, 0.0, 0.0, source)
    while size > 0:
        distance, trouble, node = state.key[0], state.rank[0], state.item[0]
        size = _pop(state, size)
        if distance > state.distance[node] or trouble > state.trouble[node]:
            continue
        if node == target:
            break
        # From here on the path to this node stays as it is: steps of no cost must not lead it in a circle.
        state.equals[node] = 0
        for step in range(state.first[node], state.first[node + 1]):
            arm = state.arm[step]
            reach = distance + state.cost[arm]
            also = trouble + state.demerit[arm]
            head = state.head[step]
            if reach < state.distance[head] or (
                reach == state.distance[head] and reach < np.inf and also < state.trouble[head]
            ):
                state.distance[head] = reach
                state.trouble[head] = also
                state.via[head] = step
                state.equals[head] = 1
                size = _push(state, size, reach, also, head)
            elif reach == state.distance[head] < np.inf and also == state.trouble[head] and state.equals[head] > 0:
                state.equals[head] += 1
                if takes_over(draw, step, state.equals[head]):
                    state.via[head] = step
    if state.via[target] < 0:
        return 0
    length = 0
    node = target
    while node != source:
        step = state.via[node]
        out[length] = state.arm[step]
        length += 1
        node = state.tail[step]
    for place in range(length // 2):
        out[place], out[length - 1 - place] = out[length - 1 - place], out[place]
    return length


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
        state.demerit[arm] = 0.0
        if weight == -np.inf:
            state.cost[arm] = np.inf
            continue
        if state.kind == 0:
            state.cost[arm] = 1.0 / max(weight, SMALLEST_WEIGHT)
        else:
            state.cost[arm] = max(0.0, -math.log(max(weight, SMALLEST_WEIGHT)))
        if weight <= SMALLEST_WEIGHT or (state.kind == 1 and 1.0 <= weight < np.inf):
            state.demerit[arm] = 1.0 - weight / (1.0 + abs(weight))
    return cheapest(state, draw, out)


class CostPaths(SuperArmOracle):
    """Simple paths from a source to a target in any graph; the path of smallest total cost is best.

    The base arms are the arcs, in the order given. The solver is exact for total costs. It does not maximise sums of
    weights. A weight below 1e-12 counts as 1e-12. Indices of policies may lie outside [0, 1], where costs no longer
    tell them apart. Of paths of equal cost, one with higher such weights is then taken.

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
        if not callable(cost) and cost not in _COSTS:
            raise InputError(f"cost must be 'inverse', 'log' or a function of the indices, got {cost!r}")
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
            demerit=np.zeros(self.n_arms),
            distance=np.zeros(self.arcs.n_nodes),
            trouble=np.zeros(self.arcs.n_nodes),
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
        state.demerit[:] = 0.0
        out = np.empty(self.max_size, dtype=np.int64)
        size = cheapest(state, 0, out)
        if size == 0:
            raise self.nothing_left(mask)
        return out[:size]

    def search(self, weights: Floats, mask: Bools | None) -> Ints:
        if isinstance(self.cost, str):
            return super().search(weights, mask)
        costs = np.array(self.cost(weights), dtype=np.float64)
        if costs.shape != weights.shape or not (costs >= 0).all():
            raise InputError("cost must return one cost of at least 0 per arm")
        return self._cheapest(costs, mask)

    def is_feasible(self, arms: Sequence[int] | Ints) -> bool:
        return check_walk(self.arcs, arms)

    def ordered(self, arms: Sequence[int] | Ints) -> Ints:
        return walk_order(self.arcs, arms)

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
            one = _piece(self._steps, cost, self.arcs.source, tail, {head, self.arcs.target} - {tail})
            if one is not None and head not in one[1]:
                two = _piece(self._steps, cost, head, self.arcs.target, one[1])
                if two is not None:
                    return np.sort(np.array([*one[0], arm, *two[0]], dtype=np.int64))
        return None

    def spec(self) -> dict[str, Any] | None:
        if not isinstance(self.cost, str):
            return None
        return {"type": "CostPaths", **self.arcs.spec(), "cost": self.cost, "directed": self.arcs.directed}


def _piece(
    steps: list[list[tuple[int, int]]], cost: Floats, start: int, end: int, avoid: set[int]
) -> tuple[list[int], set[int]] | None:
    """The cheapest path between two nodes that avoids given nodes: its arms, and the nodes that it visits."""
    if start in avoid or end in avoid:
        return None
    best: dict[int, float] = {start: 0.0}
    via: dict[int, tuple[int, int]] = {}
    heap = [(0.0, start)]
    while heap:
        distance, node = heapq.heappop(heap)
        if node == end:
            break
        if distance > best[node]:
            continue
        for arm, head in steps[node]:
            reach = distance + float(cost[arm])
            if head not in avoid and reach < best.get(head, math.inf):
                best[head] = reach
                via[head] = (arm, node)
                heapq.heappush(heap, (reach, head))
    if end not in best:
        return None
    arms: list[int] = []
    nodes = {end}
    while end != start:
        arm, end = via[end]
        arms.append(arm)
        nodes.add(end)
    return arms[::-1], nodes
