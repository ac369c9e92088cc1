"""Matchings of workers and jobs: every worker gets a job, or some may stay without, and jobs may take several."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from rising_bandits import _checks
from rising_bandits.errors import InputError
from rising_bandits.oracles import Assignments, CapacityMatchings
from rising_bandits.problems.base import Label, Problem, gather, label_list
from rising_bandits.problems.rewards import Reward

Capacity = int | Mapping[Label, int]
Names = Collection[Label]


class Matching(Problem):
    """Assignments of jobs to workers.

    By default every worker gets one job, and no job is given twice. ``optional`` workers may stay without a job.
    ``required`` jobs must be given to somebody. With a larger capacity, a job takes several workers, and a worker
    takes several jobs.

    A mask that blocks all pairs of a worker leaves that worker out, and the others get their jobs. Policies that list
    all super arms cannot do that.

    A base arm is a pair of a worker and a job, with the label ``"worker->job"``. It can also be looked up by the tuple
    ``(worker, job)``.

    Parameters
    ----------
    workers
        The workers, or how many there are.
    jobs
        The jobs, or how many there are. Without ``optional`` and capacities, there must be at least as many jobs as
        workers.
    pairs
        The pairs (worker, job) that are allowed. By default all pairs are allowed.
    reward
        The reward of an assignment: a `Reward`, or the name of a built-in one.
    optional
        Workers that may stay without a job: a list of them, or True for all.
    required
        Jobs that must be given to a worker: a list of them, or True for all.
    worker_capacity
        How many jobs a worker may have: one number for all, or a mapping for some; the others may have 1.
    job_capacity
        How many workers a job may have, in the same way.

    Raises
    ------
    InfeasibleError
        The allowed pairs and capacities do not give every worker a job, except the optional ones.

    >>> problem = Matching(["ann", "bob"], ["cats", "cars", "maps"])
    >>> problem.labels_of(problem.oracle.solve([0.9, 0.8, 0.1, 0.7, 0.1, 0.2]))
    ['ann->cars', 'bob->cats']
    >>> problem = Matching(["ann", "bob", "cy"], ["cats", "cars"], optional=["cy"], job_capacity={"cats": 2})
    >>> problem.labels_of(problem.oracle.solve([0.9, 0.8, 0.7, 0.1, -0.5, -0.2]))
    ['ann->cats', 'bob->cats']
    """

    def __init__(
        self,
        workers: int | Sequence[Label],
        jobs: int | Sequence[Label],
        *,
        pairs: Sequence[tuple[Label, Label]] | None = None,
        reward: Reward | str = "sum",
        optional: Names | bool = False,
        required: Names | bool = False,
        worker_capacity: Capacity = 1,
        job_capacity: Capacity = 1,
    ) -> None:
        self.workers, self.jobs = label_list("workers", workers), label_list("jobs", jobs)
        for name, labels in (("workers", self.workers), ("jobs", self.jobs)):
            if len(set(labels)) != len(labels):
                raise InputError(f"{name} must be different, got {labels!r}")
        free = _chosen("optional", optional, self.workers)
        needed = _chosen("required", required, self.jobs)
        worker_most = _capacities("worker_capacity", worker_capacity, self.workers)
        job_most = _capacities("job_capacity", job_capacity, self.jobs)
        simple = not any(free) and not any(needed) and {*worker_most, *job_most} == {1}
        if simple and len(self.workers) > len(self.jobs):
            raise InputError(
                f"there must be at least as many jobs as workers, got {len(self.workers)} workers and "
                f"{len(self.jobs)} jobs; swap the two, add idle jobs, or say optional=True"
            )
        numbers, named = self._read_pairs(pairs)
        oracle: Assignments | CapacityMatchings
        if simple:
            oracle = Assignments(len(self.workers), len(self.jobs), numbers)
        else:
            oracle = CapacityMatchings(
                len(self.workers),
                len(self.jobs),
                numbers,
                worker_least=[0 if may else 1 for may in free],
                worker_most=worker_most,
                job_least=[1 if must else 0 for must in needed],
                job_most=job_most,
            )
        labels = [f"{worker}->{job}" for worker, job in named]
        groups = gather({"worker": [worker for worker, _ in named], "job": [job for _, job in named]})
        super().__init__(oracle, reward, labels, {pair: arm for arm, pair in enumerate(named)}, groups)

    def _read_pairs(
        self, pairs: Sequence[tuple[Label, Label]] | None
    ) -> tuple[list[tuple[int, int]] | None, list[tuple[Label, Label]]]:
        """The allowed pairs as numbers, None for all, and as labels."""
        if pairs is None:
            return None, [(worker, job) for worker in self.workers for job in self.jobs]
        worker_number = {label: place for place, label in enumerate(self.workers)}
        job_number = {label: place for place, label in enumerate(self.jobs)}
        found = _checks.listed(pairs)
        if not found:
            raise InputError(f"pairs must be a list of at least one pair (worker, job), got {pairs!r:.80}")
        for pair in found:
            if not isinstance(pair, Sequence) or len(pair) != 2:
                raise InputError(f"pairs must join a worker to a job, got {pair!r:.80}")
            worker, job = _checks.labels("pairs", pair)
            if worker not in worker_number or job not in job_number:
                raise InputError(f"pairs must join a worker to a job, got {(worker, job)!r}")
        return [(worker_number[worker], job_number[job]) for worker, job in found], [(a, b) for a, b in found]


def _chosen(name: str, value: Names | bool, labels: list[Label]) -> list[bool]:
    """For each label, whether it was named."""
    if isinstance(value, bool):
        return [value] * len(labels)
    named = _checks.labels(name, value)
    for label in named:
        if label not in labels:
            raise InputError(f"{name} must be True, False or a list of some of {labels!r:.80}, got {label!r}")
    return [label in named for label in labels]


def _capacities(name: str, value: Capacity, labels: list[Label]) -> list[int]:
    """The capacity of each label."""
    if not isinstance(value, Mapping):
        return [_checks.integer(name, value, low=1)] * len(labels)
    for label in value:
        if label not in labels:
            raise InputError(f"{name} must be a number, or map some of {labels!r:.80} to numbers, got {label!r}")
    return [_checks.integer(f"{name} of {label!r}", value.get(label, 1), low=1) for label in labels]
