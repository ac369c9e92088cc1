"""Run a plan on several cores. A stopped plan can be resumed, and results do not depend on the number of workers."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from rising_bandits.errors import InputError, RisingBanditsError
from rising_bandits.experiments.spec import RunSpec
from rising_bandits.experiments.store import ResultStore, StoredRun
from rising_bandits.experiments.workers import WORKING, begin_worker, count_workers, stopping, wait_for
from rising_bandits.policies.policy import Policy
from rising_bandits.policies.reference import Oracle
from rising_bandits.simulation import Simulation, checkpoints

CHECKPOINT_SECONDS = 20.0
"""How often a run in progress is saved."""
_STRETCH_SECONDS = 0.2
"""How long a run goes on before it reports progress and checks whether to stop."""

Progress = Callable[[int, int], None]
"""Called with the position of a run in the plan and the number of rounds it has played."""

_shared: dict[str, Any] = {}
"""What a worker process got from its parent."""


def _begin(spec: RunSpec, store: ResultStore) -> Simulation:
    """The simulation of a run: from its checkpoint if there is one, otherwise from the first round."""
    state = store.read_partial(spec)
    if state is not None:
        try:
            return begin(spec, state)
        except RisingBanditsError as error:
            store.damaged(spec, error)
    return begin(spec, None)


def begin(spec: RunSpec, state: dict[str, Any] | None) -> Simulation:
    """The simulation of a run, from a saved state or from the first round.

    A run that cannot be saved always starts with the first round.
    """
    policy = spec.make_policy()
    if state is not None and saves(spec, policy):
        found = Simulation.from_state(state, spec.make_task(), type(policy))
        if (found.horizon, found.seed, found.policy.parameters()) != (spec.horizon, spec.seed, policy.parameters()):
            raise InputError("state must be of this run, but is of another horizon, seed or policy")
        return found
    return Simulation(spec.make_task(), policy, spec.horizon, spec.seed, rounds=spec.rounds, delay=spec.delay)


def saves(spec: RunSpec, policy: Any) -> bool:
    """Whether a run in progress can be saved: its policy derives from `Policy`, and outcomes come without delay."""
    return isinstance(policy, Policy) and spec.delay == 0


def stretch_after(stretch: int, took: float) -> int:
    """The number of rounds of the next stretch, which should take about `_STRETCH_SECONDS`."""
    return max(100, min(1_000_000, int(stretch * min(4.0, _STRETCH_SECONDS / max(took, 1e-6)))))


def execute(
    spec: RunSpec,
    store: ResultStore,
    version: str,
    *,
    progress: Callable[[int], None] | None = None,
    stopping: Callable[[], bool] = lambda: False,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
) -> bool:
    """Run one spec to its end and store the result; returns False if it was asked to stop before the end."""
    simulation = _begin(spec, store)
    kept = saves(spec, simulation.policy)
    saved = time.monotonic()
    stretch = 200
    while not simulation.done:
        started = time.monotonic()
        simulation.advance(stretch)
        # Stretches are short, so that progress and requests to stop are prompt.
        stretch = stretch_after(stretch, time.monotonic() - started)
        if progress is not None:
            progress(simulation.next_round - 1)
        if stopping():
            if kept:
                store.write_partial(spec, simulation.state())
            return False
        if kept and time.monotonic() - saved > checkpoint_seconds:
            store.write_partial(spec, simulation.state())
            saved = time.monotonic()
    store.write_run(spec, simulation.result(), version)
    return True


@contextlib.contextmanager
def interrupt_heard() -> Iterator[Callable[[], bool]]:
    """A function that says whether Ctrl-C was pressed. Checked between stretches, it never interrupts a round."""
    heard = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield heard.is_set
        return
    before = signal.signal(signal.SIGINT, lambda *_: heard.set())
    try:
        yield heard.is_set
    finally:
        signal.signal(signal.SIGINT, before)


def _start_worker(played: Any, stop: Any) -> None:
    """Prepare a worker process: ``played`` is the shared array of rounds played, ``stop`` the event to stop."""
    begin_worker(stop)
    _shared["played"] = played


def _work(number: int, spec: RunSpec, folder: str, version: str, checkpoint_seconds: float) -> bool:
    """Execute run ``number`` of the plan in a worker process."""

    def report(rounds: int) -> None:
        _shared["played"][number] = rounds

    store = ResultStore(folder)
    with WORKING:
        return execute(spec, store, version, progress=report, stopping=stopping, checkpoint_seconds=checkpoint_seconds)


def run_plan(
    plan: Sequence[RunSpec],
    folder: str | Path,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    version: str = "",
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
) -> list[StoredRun]:
    """Run the runs of a plan that are not in the folder yet, and return all runs of the plan in its order.

    Each run has its own seed, so results do not depend on the number of workers or on the order in which runs finish.
    A plan that was stopped can be resumed: call this again with the same folder. A run in progress continues from its
    last checkpoint if its policy derives from `Policy` and it has no delays; otherwise it starts again.

    Parameters
    ----------
    plan
        The runs, as `make_plan` returns them.
    folder
        Where results and checkpoints are kept; see `ResultStore`.
    workers
        How many processes to use; by default one for each core that this process may use.
    executor
        Any ``concurrent.futures`` executor to run on in place of processes of this machine, for example that of a Dask
        cluster; see `experiments.cluster`. Its workers need the package, but not the folder: checkpoints and results
        come back and are written here.
    progress
        Called now and then with the position of a run in the plan and the number of rounds it has played.
    version
        A version that is noted in the result files.
    checkpoint_seconds
        How often a run in progress is saved.

    Returns
    -------
    list of StoredRun
        The finished runs, in the order of the plan.

    Raises
    ------
    InputError
        A run of the plan is not possible, for example because its horizon is too short. Nothing was run.
    RisingBanditsError
        Worker processes were killed or a cluster was lost. The same call continues from the last checkpoints.

    >>> import tempfile
    >>> from rising_bandits.experiments.plan import make_plan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runs = run_plan(make_plan(["toy"], ["random"], seeds=2, horizon=100), folder, workers=1)
    >>> [run.spec.seed for run in runs]
    [0, 1]
    """
    store = ResultStore(folder)
    wanted, workers = workers, count_workers(workers)
    todo = []
    for number, spec in enumerate(plan):
        if store.has(spec):
            if progress is not None:
                progress(number, spec.horizon)
        else:
            todo.append((number, spec))
    _check(plan)
    store.prepare(plan, version)
    if executor is not None:
        from rising_bandits.experiments.executors import run_remote

        run_remote(executor, in_order(todo), store, version, wanted, progress, checkpoint_seconds)
    elif min(workers, len(todo)) <= 1:
        with interrupt_heard() as stopped:
            for number, spec in todo:
                report = None if progress is None else (lambda rounds, number=number: progress(number, rounds))
                execute(spec, store, version, progress=report, stopping=stopped, checkpoint_seconds=checkpoint_seconds)
                if stopped():
                    raise KeyboardInterrupt
    else:
        _run_parallel(todo, len(plan), store, version, min(workers, len(todo)), progress, checkpoint_seconds)
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
            policy = spec.make_policy()
            if isinstance(policy, Policy) and not isinstance(policy, Oracle):
                policy.start(spec.make_task().problem, spec.horizon, 0)


def _run_parallel(
    todo: list[tuple[int, RunSpec]],
    size: int,
    store: ResultStore,
    version: str,
    workers: int,
    progress: Progress | None,
    checkpoint_seconds: float,
) -> None:
    """Execute the runs of ``todo``, given with their positions in a plan of ``size`` runs, in worker processes."""
    context = multiprocessing.get_context("spawn")
    played = context.Array("q", size, lock=False)
    stop = context.Event()
    with ProcessPoolExecutor(workers, context, _start_worker, (played, stop)) as pool:
        futures = [
            pool.submit(_work, number, spec, str(store.folder), version, checkpoint_seconds)
            for number, spec in in_order(todo)
        ]

        def look() -> None:
            if progress is not None:
                for number, _ in todo:
                    progress(number, played[number])

        try:
            wait_for(futures, stop, look)
        except BrokenProcessPool:
            raise RisingBanditsError(
                "a worker process was killed, perhaps for lack of memory; the same command goes on from the last "
                "checkpoints, with --workers for fewer at a time"
            ) from None
