"""Many training runs, one process and one core each."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rising_bandits.antmaze.runs import CHECKPOINT_SECONDS, Result, RunFolder, TrainSpec, read_result, train
from rising_bandits.antmaze.training import Training
from rising_bandits.errors import RisingBanditsError
from rising_bandits.experiments.workers import WORKING, begin_worker, count_workers, stopping, wait_for

_RECENT = 50
"""Tries of an edge over which its success is shown."""

_shared: dict[str, Any] = {}


@dataclass(frozen=True)
class News:
    """How a run is getting on."""

    number: int
    """Its place in the plan."""
    episode: int
    seconds: float
    path: tuple[int, ...]
    """The edges chosen last."""
    success: tuple[float, ...]
    """For each edge, the share of its last tries that succeeded; NaN where it was never tried."""


def news(number: int, training: Training, seconds: float) -> News:
    """What there is to say after an episode."""
    arms, steps = np.array(training.record.arm), np.array(training.record.steps)
    success = []
    for arm in range(len(training.maze.edges)):
        recent = steps[arms == arm][-_RECENT:]
        success.append(float((recent > 0).mean()) if recent.size else float("nan"))
    return News(number, training.record.episodes, seconds, training.record.paths[-1], tuple(success))


def one_core() -> None:
    """Have this process compute on one core; must come before JAX computes anything.

    Beside speed it is a matter of sameness: how XLA divides a product among threads changes its last bits.
    """
    # XLA asks this variable, before the machine, how many threads to start; its flags for that have no effect.
    os.environ["NPROC"] = "1"
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def _start_worker(queue: Any, stop: Any) -> None:
    one_core()
    begin_worker(stop)
    _shared["queue"] = queue


def _work(number: int, spec: TrainSpec, folder: str, checkpoint_seconds: float) -> None:
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
    progress: Callable[[News], None] | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
) -> list[Result]:
    """Train whatever is not finished in the folder yet, and return all results in the order of the plan.

    Stopped at any moment, it goes on where it was when called again. A run's result depends on its spec alone.
    """
    workers = count_workers(workers)
    places = [RunFolder(folder, spec) for spec in specs]
    for place in places:
        place.check()
    todo = [number for number, place in enumerate(places) if not place.finished()]
    if todo:
        context = multiprocessing.get_context("spawn")
        queue, stop = context.SimpleQueue(), context.Event()
        with ProcessPoolExecutor(min(workers, len(todo)), context, _start_worker, (queue, stop)) as pool:
            futures = [pool.submit(_work, number, specs[number], str(folder), checkpoint_seconds) for number in todo]

            def look() -> None:
                # Emptied whether anybody listens or not: a full pipe would halt the workers.
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
