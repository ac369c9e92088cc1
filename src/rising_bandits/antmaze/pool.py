"""Training of many runs in parallel, each in a process of its own on one core."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rising_bandits.antmaze.results import Result, read_result
from rising_bandits.antmaze.runs import CHECKPOINT_SECONDS, RunFolder, train
from rising_bandits.antmaze.spec import TrainSpec
from rising_bandits.antmaze.training import Training
from rising_bandits.errors import RisingBanditsError
from rising_bandits.experiments.workers import WORKING, begin_worker, count_workers, stopping, wait_for

_RECENT = 50
"""How many tries of an edge its success in progress reports is measured over."""

_shared: dict[str, Any] = {}
"""What a worker process got from its parent."""


@dataclass(frozen=True)
class News:
    """The progress of a run."""

    number: int
    """The position of the run in the plan."""
    episode: int
    """How many episodes were played."""
    seconds: float
    """How long it was trained."""
    path: tuple[int, ...]
    """The path of the last episode, as edges."""
    success: tuple[float, ...]
    """For each edge the success rate over its last tries; NaN if it was never tried."""


def news(number: int, training: Training, seconds: float) -> News:
    """The progress of a run after an episode."""
    arms, steps = np.array(training.record.arm), np.array(training.record.steps)
    success = []
    for arm in range(len(training.maze.edges)):
        recent = steps[arms == arm][-_RECENT:]
        success.append(float((recent > 0).mean()) if recent.size else float("nan"))
    return News(number, training.record.episodes, seconds, training.record.paths[-1], tuple(success))


def one_core() -> None:
    """Make this process compute on one core. Call it before JAX computes anything.

    One core per run is fast if there are many runs. It also makes results reproducible: the number of threads among
    which XLA divides a matrix product changes the last bits of the result.
    """
    # XLA reads the number of threads from this variable before it asks the system; its own flags have no effect.
    os.environ["NPROC"] = "1"
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def _start_worker(queue: Any, stop: Any) -> None:
    """Prepare a worker process: ``queue`` takes its news, ``stop`` is the event to stop."""
    one_core()
    begin_worker(stop)
    _shared["queue"] = queue


def _work(number: int, spec: TrainSpec, folder: str, checkpoint_seconds: float) -> None:
    """Train run ``number`` of the plan in a worker process."""
    said = [0.0]

    def report(training: Training, seconds: float) -> None:
        if seconds - said[0] > 1.0 or training.done:
            said[0] = seconds
            _shared["queue"].put(news(number, training, seconds))

    with WORKING:
        train(spec, folder, progress=report, stopping=stopping, checkpoint_seconds=checkpoint_seconds)


def train_all(
    specs: Sequence[TrainSpec],
    folder: str | Path,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[News], None] | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
) -> list[Result]:
    """Train the runs that are not finished in the folder yet, and return all results in the order of ``specs``.

    After an interruption the same call continues from the last checkpoints. The result of a run depends on its spec
    alone.

    Parameters
    ----------
    specs
        The runs.
    folder
        The folder that holds a sub-folder for each run.
    workers
        How many runs at the same time; by default one for each core that this process may use.
    executor
        Any ``concurrent.futures`` executor to train on in place of processes of this machine, for example that of a
        Dask cluster. Its workers need the package with the extra ``antmaze``, but not the folder.
    progress
        Called with the news of a run about once a second; with an executor, at every checkpoint.
    checkpoint_seconds
        How often a run in progress is saved.

    Raises
    ------
    InputError
        The folder holds a run of the same name with other settings.
    RisingBanditsError
        A worker process was killed.
    """
    workers = count_workers(workers)
    places = [RunFolder(folder, spec) for spec in specs]
    for place in places:
        place.check()
    todo = [number for number, place in enumerate(places) if not place.finished()]
    if executor is not None:
        from rising_bandits.antmaze.remote import train_remote

        train_remote(executor, {number: places[number] for number in todo}, workers, progress, checkpoint_seconds)
    elif todo:
        context = multiprocessing.get_context("spawn")
        queue, stop = context.SimpleQueue(), context.Event()
        with ProcessPoolExecutor(min(workers, len(todo)), context, _start_worker, (queue, stop)) as pool:
            futures = [pool.submit(_work, number, specs[number], str(folder), checkpoint_seconds) for number in todo]

            def look() -> None:
                # The queue is emptied even if there is no progress function: a full pipe would block the workers.
                while not queue.empty():
                    latest = queue.get()
                    if progress is not None:
                        progress(latest)

            try:
                wait_for(futures, stop, look)
            except BrokenProcessPool:
                raise RisingBanditsError(
                    "a process that trained was killed, perhaps for lack of memory; the same command goes on from its "
                    "last checkpoint, with --workers for fewer at a time"
                ) from None
    return [read_result(place.result) for place in places]
