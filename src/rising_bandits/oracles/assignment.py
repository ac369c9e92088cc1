"""Assignments of workers to different jobs, solved by the Hungarian method for rectangular tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits.errors import InfeasibleError, InputError
from rising_bandits.oracles.base import SuperArmOracle
from rising_bandits.oracles.listing import distinct_arms, leaves
from rising_bandits.oracles.operations import solve
from rising_bandits.oracles.pairs import PairOracle, Pairs


class Table(NamedTuple):
    """State of the solver: the arm of each pair (worker, job), and work space.

    ``arm`` is -1 for a pair that is not allowed.
    """

    arm: Ints
    worker_price: Floats
    job_price: Floats
    slack: Floats
    holder: Ints
    """The worker who holds each job, or -1. The last entry is the worker who is being placed."""
    before: Ints
    reached: Any


@solve.register(Table)
def _solve(state: Table, weights: Floats, out: Ints) -> int:
    """The assignment of largest total weight, by shortest augmenting paths with prices (Kuhn-Munkres)."""
    # It is written out here because compiled code cannot call scipy. The tests compare it with
    # scipy.optimize.linear_sum_assignment.
    arm, holder, slack, before, reached = state.arm, state.holder, state.slack, state.before, state.reached
    worker_price, job_price = state.worker_price, state.job_price
    workers, jobs = arm.shape
    # An infinite weight is replaced by a finite one that is larger than the sum of all others.
    total = 1.0
    for weight in weights:
        if np.isfinite(weight):
            total += 2.0 * abs(weight)
    for job in range(jobs + 1):
        holder[job] = -1
        job_price[job] = 0.0
    for worker in range(workers):
        worker_price[worker] = 0.0
    for worker in range(workers):
        # A mask may block all pairs of a worker, who is then left out.
        out[worker] = -1
        free = False
        for job in range(jobs):
            pair = arm[worker, job]
            if pair >= 0 and weights[pair] > -np.inf:
                free = True
                break
        if not free:
            continue
        holder[jobs] = worker
        at = jobs
        for job in range(jobs + 1):
            slack[job] = np.inf
            before[job] = -1
            reached[job] = False
        while holder[at] >= 0:
            reached[at] = True
            owner = holder[at]
            least = np.inf
            nearest = -1
            for job in range(jobs):
                if reached[job]:
                    continue
                pair = arm[owner, job]
                if pair >= 0 and weights[pair] > -np.inf:
                    gain = min(weights[pair], total)
                    cost = -gain - worker_price[owner] - job_price[job]
                    if cost < slack[job]:
                        slack[job] = cost
                        before[job] = at
                if slack[job] < least:
                    least = slack[job]
                    nearest = job
            if nearest < 0:
                return 0
            for job in range(jobs + 1):
                if reached[job]:
                    worker_price[holder[job]] += least
                    job_price[job] -= least
                else:
                    slack[job] -= least
            at = nearest
        while at != jobs:
            previous = before[at]
            holder[at] = holder[previous]
            at = previous
    for job in range(jobs):
        if holder[job] >= 0:
            out[holder[job]] = arm[holder[job], job]
    size = 0
    for worker in range(workers):
        if out[worker] >= 0:
            out[size] = out[worker]
            size += 1
    return size


class Assignments(PairOracle):
    """Assignments that give every worker a different job; exact for sums of weights.

    If a mask blocks all pairs of a worker, the worker is left out.

    A base arm is a pair of a worker and a job. Without ``pairs``, arm ``worker * n_jobs + job`` is the pair
    (worker, job).

    Parameters
    ----------
    n_workers
        Number of workers, at least 1.
    n_jobs
        Number of jobs, at least ``n_workers``.
    pairs
        The pairs (worker, job) that are allowed, as numbers from 0. Arm ``a`` is then ``pairs[a]``. By default all
        pairs are allowed.

    Raises
    ------
    InfeasibleError
        The allowed pairs do not give every worker a different job.

    >>> Assignments(2, 3).solve([0.9, 0.8, 0.1, 0.7, 0.1, 0.2])
    array([1, 3])
    >>> Assignments(2, 4).count()
    12
    """

    def __init__(self, n_workers: int, n_jobs: int, pairs: Sequence[tuple[int, int]] | None = None) -> None:
        self._set_pairs(n_workers, n_jobs, pairs)
        if self.n_workers > self.n_jobs:
            raise InputError(
                f"there must be at least as many jobs as workers, got {n_workers} workers and {n_jobs} jobs; "
                "swap the two, or add idle jobs"
            )
        _checks.memory(f"a table of {n_workers} workers and {n_jobs} jobs", float(self.n_workers) * self.n_jobs)
        table = np.full((self.n_workers, self.n_jobs), -1, dtype=np.int64)
        for arm, (worker, job) in enumerate(self.pairs):
            table[worker, job] = arm
        self.max_size = self.n_workers
        self._kernel = Table(
            arm=table,
            worker_price=np.zeros(self.n_workers),
            job_price=np.zeros(self.n_jobs + 1),
            slack=np.zeros(self.n_jobs + 1),
            holder=np.zeros(self.n_jobs + 1, dtype=np.int64),
            before=np.zeros(self.n_jobs + 1, dtype=np.int64),
            reached=np.zeros(self.n_jobs + 1, dtype=np.bool_),
        )
        if len({worker for worker, _ in self.pairs}) < self.n_workers or (not self.complete and not self.can()):
            raise InfeasibleError("pairs must allow every worker a job of their own; no such matching exists")

    def is_feasible(self, arms: Sequence[int] | Ints) -> bool:
        chosen = [self.pairs[arm] for arm in distinct_arms(arms, self.n_arms) or ()]
        workers = {worker for worker, _ in chosen}
        jobs = {job for _, job in chosen}
        return len(chosen) == len(workers) == len(jobs) == self.n_workers

    def is_allowed(self, arms: Sequence[int] | Ints, mask: npt.ArrayLike | None) -> bool:
        blocked = _checks.mask(mask, self.n_arms)
        if blocked is None:
            return self.is_feasible(arms)
        numbers = distinct_arms(arms, self.n_arms) or []
        if not numbers or blocked[numbers].any():
            return False
        there = {worker for arm, (worker, _) in enumerate(self.pairs) if not blocked[arm]}
        workers = [self.pairs[arm][0] for arm in numbers]
        jobs = {self.pairs[arm][1] for arm in numbers}
        return set(workers) == there and len(there) == len(jobs) == len(numbers)

    def _with_workers(self, workers: list[int], pairs: Pairs) -> SuperArmOracle:
        return Assignments(len(workers), self.n_jobs, pairs)

    def known_count(self) -> int | None:
        return math.perm(self.n_jobs, self.n_workers) if self.complete else None

    def log_count(self) -> float | None:
        if not self.complete or self.n_jobs <= 1_000:
            return super().log_count()
        return math.lgamma(self.n_jobs + 1) - math.lgamma(self.n_jobs - self.n_workers + 1)

    def count(self) -> int | None:
        return self.known_count() if self.complete else super().count()

    def enumerate(self) -> Iterator[Sequence[int]]:
        table = self._kernel.arm

        nobody: tuple[int, ...] = ()

        def place(jobs: tuple[int, ...]) -> list[tuple[int, ...]] | None:
            worker = len(jobs)
            if worker == self.n_workers:
                return None
            free = [job for job in range(self.n_jobs) if table[worker, job] >= 0 and job not in jobs]
            return [(*jobs, job) for job in free]

        return ([int(table[worker, job]) for worker, job in enumerate(jobs)] for jobs in leaves(nobody, place))

    def sample(self, rng: np.random.Generator, mask: Any = None) -> Ints:
        if not self.complete or _checks.mask(mask, self.n_arms) is not None:
            return super().sample(rng, mask)
        _checks.generator("rng", rng)
        jobs = rng.permutation(self.n_jobs)[: self.n_workers]
        return np.sort(self._kernel.arm[np.arange(self.n_workers), jobs])

    def spec(self) -> dict[str, Any]:
        return {
            "type": "Assignments",
            "n_workers": self.n_workers,
            "n_jobs": self.n_jobs,
            "pairs": None if self.complete else [list(pair) for pair in self.pairs],
        }
