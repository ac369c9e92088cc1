"""Run a plan on several cores. A stopped plan can be resumed, and results do not depend on the number of workers."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path

from rising_bandits._extras import require
from rising_bandits.experiments.executors import run_remote
from rising_bandits.experiments.playing import CHECKPOINT_SECONDS, Progress
from rising_bandits.experiments.processes import run_here
from rising_bandits.experiments.shards import shard as part_of
from rising_bandits.experiments.spec import RunSpec, sharing_tasks
from rising_bandits.experiments.store import ResultStore, StoredRun
from rising_bandits.experiments.workers import count_workers
from rising_bandits.policies.policy import Policy
from rising_bandits.policies.reference import Oracle
from rising_bandits.simulation import checkpoints


def run_plan(
    plan: Sequence[RunSpec],
    folder: str | Path,
    *,
    shard: str | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    version: str = "",
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
) -> list[StoredRun]:
    """Run the runs of a plan that are not in the folder yet, and return all runs of the plan in its order.

    Each run has its own seed, so results do not depend on the number of workers or on the order in which runs finish.
    A plan that was stopped can be resumed: call this again with the same folder. A run in progress continues from its
    last checkpoint if its policy derives from `Policy`; otherwise it starts again.

    Parameters
    ----------
    plan
        The runs, as `make_plan` returns them.
    folder
        Where results and checkpoints are kept; see `ResultStore`.
    shard
        Run and return only one of several parts of the plan, such as ``3/16``; see `experiments.shard`. The folder
        notes the whole plan, so `experiments.collect` can say which runs no part has finished.
    workers
        How many processes to use; by default one for each core that this process may use.
    executor
        Any ``concurrent.futures`` executor to run on in place of processes of this machine, for example that of a Dask
        cluster; see `experiments.cluster`. Its workers need the package, but not the folder: checkpoints and results
        come back and are written here.
    progress
        Called now and then with the position of a run in the plan (or in its part) and the number of rounds it has
        played.
    version
        A version that is noted in the result files.
    checkpoint_seconds
        How often a run in progress is saved.

    Returns
    -------
    list of StoredRun
        The finished runs of the plan or of its part, in the order of the plan.

    Raises
    ------
    InputError
        A run of the plan is not possible, for example because its horizon is too short. Nothing was run.
    MissingExtraError
        The extra ``lab`` is not installed.
    RisingBanditsError
        Worker processes were killed or a cluster was lost. The same call continues from the last checkpoints.

    >>> import tempfile
    >>> from rising_bandits.experiments.plan import make_plan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runs = run_plan(make_plan(["toy"], ["random"], seeds=2, horizon=100), folder, workers=1)
    >>> [run.spec.seed for run in runs]
    [0, 1]
    """
    with sharing_tasks():
        part = plan if shard is None else part_of(plan, shard)
        return _run(part, plan, ResultStore(folder), workers, executor, progress, version, checkpoint_seconds)


def _run(
    plan: Sequence[RunSpec],
    whole: Sequence[RunSpec],
    store: ResultStore,
    workers: int | None,
    executor: Executor | None,
    progress: Progress | None,
    version: str,
    checkpoint_seconds: float,
) -> list[StoredRun]:
    """`run_plan` of a plan or a part of it, once tasks are shared; the settings of the ``whole`` plan are kept."""
    require("lab", "pyarrow")
    at_once = count_workers(workers)
    todo = []
    for number, spec in enumerate(plan):
        if store.has(spec):
            if progress is not None:
                progress(number, spec.horizon)
        else:
            todo.append((number, spec))
    _check(plan)
    store.prepare(whole, version)
    if executor is not None:
        run_remote(executor, in_order(todo), store, version, workers, progress, checkpoint_seconds)
    elif todo:
        run_here(in_order(todo), store, version, min(at_once, len(todo)), progress, checkpoint_seconds)
    if todo:
        store.align()
    return [store.read(spec) for spec in plan]


def in_order(todo: list[tuple[int, RunSpec]]) -> list[tuple[int, RunSpec]]:
    """Runs in the order in which to begin them.

    First one run of each (task, policy), so that workers do not compile the same code at the same time; then the
    longest runs.
    """
    first = {(spec.task, spec.policy): number for number, spec in reversed(todo)}
    return sorted(todo, key=lambda item: (item[0] != first[item[1].task, item[1].policy], -item[1].horizon))


def _check(plan: Sequence[RunSpec]) -> None:
    """Refuse a plan with a run that cannot start (short horizon, too many super arms) before anything is written."""
    seen: set[str] = set()
    for spec in plan:
        checkpoints(spec.horizon, spec.rounds)
        kind = repr((spec.task, spec.policy, spec.parameters, spec.horizon, spec.options))
        if kind not in seen:
            seen.add(kind)
            RunSpec.from_dict(spec.as_dict())  # what could not be read back is refused now, not after the run
            policy = spec.make_policy()
            if isinstance(policy, Policy) and not isinstance(policy, Oracle):
                policy.start(spec.make_task().problem, spec.horizon, 0)
