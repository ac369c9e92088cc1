"""What the two oracles of matchings share: base arms that are pairs of a worker and a job."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rising_bandits import _checks
from rising_bandits._checks import Ints
from rising_bandits.errors import InfeasibleError, InputError
from rising_bandits.oracles.base import LIST_LIMIT, MOST_ARMS, KernelOracle, SuperArmOracle

Pairs = list[tuple[int, int]]


class PairOracle(KernelOracle):
    """Base class of oracles whose base arms are pairs of a worker and a job."""

    n_workers: int
    """Number of workers."""
    n_jobs: int
    """Number of jobs."""
    pairs: Pairs
    """The pair of each base arm, as numbers from 0."""
    complete: bool
    """Whether all pairs are allowed, in the order of workers and then of jobs."""

    def _set_pairs(self, n_workers: int, n_jobs: int, pairs: Sequence[tuple[int, int]] | None) -> None:
        """Check the arguments that all these oracles have, and keep them."""
        self.n_workers = _checks.integer("n_workers", n_workers, low=1, limit=MOST_ARMS)
        self.n_jobs = _checks.integer("n_jobs", n_jobs, low=1, limit=MOST_ARMS)
        self.complete = pairs is None
        if pairs is None:
            if self.n_workers * self.n_jobs > MOST_ARMS:
                raise InputError(
                    f"n_workers times n_jobs must be at most {MOST_ARMS}, got {n_workers} workers and {n_jobs} jobs; "
                    "give the pairs that are allowed"
                )
            self.pairs = [(worker, job) for worker in range(self.n_workers) for job in range(self.n_jobs)]
        else:
            found = _checks.listed(pairs)
            if not found:
                raise InputError(f"pairs must be a list of at least one pair (worker, job), got {pairs!r:.80}")
            self.pairs = [self._pair(pair) for pair in found]
        if len(set(self.pairs)) != len(self.pairs):
            twice = next(pair for place, pair in enumerate(self.pairs) if pair in self.pairs[:place])
            raise InputError(f"pairs must not repeat, got {twice} twice")
        self.n_arms = len(self.pairs)

    def _pair(self, pair: object) -> tuple[int, int]:
        """A pair of a worker's and a job's number."""
        parts = _checks.listed(pair) or []
        whole = len(parts) == 2 and all(
            isinstance(part, int | np.integer) and not isinstance(part, bool) for part in parts
        )
        if not whole or not (0 <= parts[0] < self.n_workers and 0 <= parts[1] < self.n_jobs):
            raise InputError(
                f"pairs must be pairs (worker, job) of numbers in 0..{self.n_workers - 1} x 0..{self.n_jobs - 1}, "
                f"got {pair!r:.80}"
            )
        return int(parts[0]), int(parts[1])

    @abstractmethod
    def _with_workers(self, workers: list[int], pairs: Pairs) -> SuperArmOracle:
        """The same oracle with some of the workers, and with these pairs of them, numbered anew."""

    def super_arms_without(self, mask: npt.ArrayLike, limit: int = LIST_LIMIT) -> list[Ints]:
        blocked = _checks.mask(mask, self.n_arms)
        arms = np.arange(self.n_arms) if blocked is None else np.flatnonzero(~blocked)
        workers = sorted({self.pairs[arm][0] for arm in arms})
        if len(workers) == self.n_workers:
            return super().super_arms_without(mask, limit)
        if not workers:
            return []
        # A worker without a free pair is left out.
        pairs = [(workers.index(self.pairs[arm][0]), self.pairs[arm][1]) for arm in arms]
        try:
            smaller = self._with_workers(workers, pairs)
        except InfeasibleError:
            return []
        return [arms[found] for found in smaller.super_arms(limit)]

    def ordered(self, arms: Sequence[int] | Ints) -> Ints:
        numbers = _checks.arms(arms, self.n_arms).tolist()
        return np.array(sorted(numbers, key=lambda arm: self.pairs[arm]), dtype=np.int64)
