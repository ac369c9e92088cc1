"""Matchings in which workers and jobs have capacities, and may be optional or required.

The solver sends units of flow from workers to jobs. Each augmenting path is one of largest gain, so after each the
matching is the best one of its size. Gains fall from path to path, so the first path that does not pay is the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import compiled
from rising_bandits.errors import InfeasibleError, InputError
from rising_bandits.oracles.base import MOST_ARMS, SuperArmOracle
from rising_bandits.oracles.listing import Partial, distinct_arms, leaves
from rising_bandits.oracles.operations import solve
from rising_bandits.oracles.pairs import PairOracle, Pairs


class Flow(NamedTuple):
    """State of the solver. Nodes are the workers, then the jobs. Arm ``a`` joins ``ends[a, 0]`` and ``ends[a, 1]``.

    A gain has three parts, compared one after another: how many required units it meets, how many infinite weights it
    has, and the sum of the other weights.
    """

    ends: Ints
    least: Ints
    """For each node, how many arms it must have."""
    most: Ints
    """For each node, how many arms it may have."""
    workers: int
    load: Ints
    """How many arms each node has."""
    used: Any
    """Whether each arm is chosen."""
    order: Ints
    """The arms in the order in which they are played."""
    met: Ints
    endless: Ints
    gain: Floats
    via: Ints
    """The arm by which the best path enters each node, or -1."""


@compiled
def _larger(met: int, endless: int, gain: float, met2: int, endless2: int, gain2: float, slack: float) -> bool:
    """Whether the first gain is larger than the second, by more than rounding."""
    if met != met2:
        return met > met2
    if endless != endless2:
        return endless > endless2
    return gain > gain2 + slack


@compiled
def _spread(state: Flow, weights: Floats, slack: float) -> int:
    """Find the best augmenting path (Bellman-Ford). Return the job where it ends, or -1."""
    ends, load, least, most = state.ends, state.load, state.least, state.most
    met, endless, gain, via = state.met, state.endless, state.gain, state.via
    nodes = load.size
    for node in range(nodes):
        via[node] = -1
        met[node] = -nodes - 2
        endless[node] = 0
        gain[node] = -np.inf
        if node < state.workers and load[node] < most[node]:
            met[node] = 1 if load[node] < least[node] else 0
            gain[node] = 0.0
    for _ in range(nodes):
        changed = False
        for arm in range(weights.size):
            weight = weights[arm]
            if weight == -np.inf:
                continue
            # A chosen arm is walked backwards, which takes it away again.
            away = 1 if state.used[arm] else 0
            tail, head = ends[arm, away], ends[arm, 1 - away]
            if gain[tail] == -np.inf:
                continue
            sign = 1 - 2 * away
            infinite = 1 if weight == np.inf else 0
            more = gain[tail] + (0.0 if infinite else sign * weight)
            if gain[head] == -np.inf or _larger(
                met[tail], endless[tail] + sign * infinite, more, met[head], endless[head], gain[head], slack
            ):
                met[head] = met[tail]
                endless[head] = endless[tail] + sign * infinite
                gain[head] = more
                via[head] = arm
                changed = True
        if not changed:
            break
    best = -1
    best_met = 0
    for job in range(state.workers, nodes):
        if load[job] >= most[job] or gain[job] == -np.inf:
            continue
        here = met[job] + (1 if load[job] < least[job] else 0)
        if best < 0 or _larger(here, endless[job], gain[job], best_met, endless[best], gain[best], 0.0):
            best = job
            best_met = here
    if best >= 0:
        met[best] = best_met
    return best


@solve.register(Flow)
def _solve(state: Flow, weights: Floats, out: Ints) -> int:
    """The matching of largest total weight, by successive best augmenting paths."""
    ends, load, used, via = state.ends, state.load, state.used, state.via
    nodes = load.size
    top = 0.0
    for arm in range(weights.size):
        used[arm] = False
        if np.isfinite(weights[arm]):
            top = max(top, abs(weights[arm]))
    for node in range(nodes):
        load[node] = 0
    # Rounding errors of a path, which must not look like a gain.
    slack = 1e-15 * nodes * top
    size = 0
    while size < out.size:
        job = _spread(state, weights, slack)
        if job < 0:
            break
        if size > 0 and not _larger(state.met[job], state.endless[job], state.gain[job], 0, 0, 0.0, 0.0):
            break
        node = job
        for _ in range(2 * nodes):
            if via[node] < 0:
                break
            arm = via[node]
            used[arm] = not used[arm]
            node = ends[arm, 0] if used[arm] else ends[arm, 1]
        load[job] += 1
        load[node] += 1
        size += 1
    for node in range(nodes):
        if load[node] < state.least[node]:
            if node >= state.workers:
                return 0
            # A mask may block all pairs of a worker, who is then left out.
            for arm in range(weights.size):
                if ends[arm, 0] == node and weights[arm] > -np.inf:
                    return 0
    size = 0
    for arm in state.order:
        if used[arm]:
            out[size] = arm
            size += 1
    return size


class CapacityMatchings(PairOracle):
    """Non-empty sets of pairs of a worker and a job, with bounds on how many pairs each is in; exact for sums.

    If a mask blocks all pairs of a worker, the worker is left out.

    Parameters
    ----------
    n_workers, n_jobs
        How many workers and jobs there are, at least 1 of each.
    pairs
        The pairs (worker, job) that are allowed, as numbers from 0. Arm ``a`` is ``pairs[a]``. By default all pairs
        are allowed, and arm ``worker * n_jobs + job`` is the pair (worker, job).
    worker_least, worker_most, job_least, job_most
        How many jobs each worker must and may have, and how many workers each job must and may have. One number stands
        for all. By default nobody must and everybody may have one.

    Raises
    ------
    InfeasibleError
        No set of pairs is within the bounds.

    >>> CapacityMatchings(2, 2).solve([0.9, 0.8, 0.7, -0.1])
    array([1, 2])
    >>> CapacityMatchings(2, 2, job_most=2).solve([0.9, 0.2, 0.7, -0.1])
    array([0, 2])
    """

    def __init__(
        self,
        n_workers: int,
        n_jobs: int,
        pairs: Sequence[tuple[int, int]] | None = None,
        worker_least: int | Sequence[int] = 0,
        worker_most: int | Sequence[int] = 1,
        job_least: int | Sequence[int] = 0,
        job_most: int | Sequence[int] = 1,
    ) -> None:
        self._set_pairs(n_workers, n_jobs, pairs)
        least = [*_bounds("worker_least", worker_least, n_workers), *_bounds("job_least", job_least, n_jobs)]
        most = [*_bounds("worker_most", worker_most, n_workers), *_bounds("job_most", job_most, n_jobs)]
        for low, high in zip(least, most, strict=True):
            if low > high:
                raise InputError(f"a capacity must be at least what is required, {low}, got {high}")
        self._least, self._most = np.array(least, dtype=np.int64), np.array(most, dtype=np.int64)
        nodes = self.n_workers + self.n_jobs
        ends = np.array([(worker, self.n_workers + job) for worker, job in self.pairs], dtype=np.int64)
        self._ends = ends
        degree = np.bincount(ends.ravel(), minlength=nodes)
        reach = np.minimum(self._most, degree)
        self.max_size = int(min(reach[: self.n_workers].sum(), reach[self.n_workers :].sum()))
        if self.max_size == 0:
            raise InfeasibleError("capacities must leave some pair, but all of them are 0")
        self._kernel = Flow(
            ends=ends,
            least=self._least,
            most=self._most,
            workers=self.n_workers,
            load=np.zeros(nodes, dtype=np.int64),
            used=np.zeros(self.n_arms, dtype=np.bool_),
            order=np.array(sorted(range(self.n_arms), key=lambda arm: self.pairs[arm]), dtype=np.int64),
            met=np.zeros(nodes, dtype=np.int64),
            endless=np.zeros(nodes, dtype=np.int64),
            gain=np.zeros(nodes),
            via=np.zeros(nodes, dtype=np.int64),
        )
        if (degree < self._least).any() or not self.can():
            raise InfeasibleError("pairs and capacities must allow all that is required; no such matching exists")

    def is_feasible(self, arms: Sequence[int] | Ints) -> bool:
        return self._within(arms, self._least)

    def is_allowed(self, arms: Sequence[int] | Ints, mask: npt.ArrayLike | None) -> bool:
        blocked = _checks.mask(mask, self.n_arms)
        if blocked is None:
            return self.is_feasible(arms)
        least = self._least.copy()
        out = np.bincount(self._ends[~blocked, 0], minlength=self.n_workers) == 0
        least[: self.n_workers][out] = 0
        return self._within(arms, least) and not blocked[_checks.arms(arms, self.n_arms)].any()

    def _with_workers(self, workers: list[int], pairs: Pairs) -> SuperArmOracle:
        jobs = slice(self.n_workers, None)
        return CapacityMatchings(
            len(workers),
            self.n_jobs,
            pairs,
            self._least[workers].tolist(),
            self._most[workers].tolist(),
            self._least[jobs].tolist(),
            self._most[jobs].tolist(),
        )

    def _within(self, arms: Sequence[int] | Ints, least: Ints) -> bool:
        """Whether arms are different, and within the capacities."""
        chosen = distinct_arms(arms, self.n_arms)
        if chosen is None:
            return False
        load = np.bincount(self._ends[chosen].ravel(), minlength=least.size)
        return bool((load >= least).all() and (load <= self._most).all())

    def enumerate(self) -> Iterator[Sequence[int]]:
        # How many arms of each node come from each arm on.
        ahead = np.zeros((self.n_arms + 1, self._least.size), dtype=np.int64)
        for arm in range(self.n_arms - 1, -1, -1):
            ahead[arm] = ahead[arm + 1]
            ahead[arm, self._ends[arm]] += 1
        begin: tuple[Partial, Ints] = ((0, ()), np.zeros(self._least.size, dtype=np.int64))

        def extend(state: tuple[Partial, Ints]) -> list[tuple[Partial, Ints]] | None:
            (arm, chosen), load = state
            if (load + ahead[arm] < self._least).any():
                return []
            if arm == self.n_arms:
                return None if chosen else []
            after = [((arm + 1, chosen), load)]
            if (load[self._ends[arm]] < self._most[self._ends[arm]]).all():
                taken = load.copy()
                taken[self._ends[arm]] += 1
                after.append(((arm + 1, (*chosen, arm)), taken))
            return after

        return (chosen for (_, chosen), _ in leaves(begin, extend))

    def spec(self) -> dict[str, Any]:
        workers = slice(0, self.n_workers)
        jobs = slice(self.n_workers, None)
        return {
            "type": "CapacityMatchings",
            "n_workers": self.n_workers,
            "n_jobs": self.n_jobs,
            "pairs": None if self.complete else [list(pair) for pair in self.pairs],
            "worker_least": self._least[workers].tolist(),
            "worker_most": self._most[workers].tolist(),
            "job_least": self._least[jobs].tolist(),
            "job_most": self._most[jobs].tolist(),
        }


def _bounds(name: str, value: int | Sequence[int], count: int) -> list[int]:
    """One bound for each of ``count`` workers or jobs."""
    if isinstance(value, int | np.integer):
        return [_checks.integer(name, value, low=0, limit=MOST_ARMS)] * count
    found = _checks.listed(value)
    if found is None or len(found) != count:
        raise InputError(f"{name} must be a number, or {count} of them, got {value!r:.80}")
    return [_checks.integer(name, bound, low=0, limit=MOST_ARMS) for bound in found]
