"""Training on any executor, also of other machines.

A worker trains a leg of some minutes in a temporary folder of its own and returns the files of its checkpoint, or the
result. They are written to the folder of the run here, and the next leg may be trained by any worker.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rising_bandits._files import replacing
from rising_bandits._sources import source_hash
from rising_bandits.antmaze.pool import News, news, one_core
from rising_bandits.antmaze.runs import RunFolder, train
from rising_bandits.antmaze.spec import TrainSpec
from rising_bandits.antmaze.training import Training
from rising_bandits.errors import RisingBanditsError
from rising_bandits.experiments import identity
from rising_bandits.experiments.executors import places, relay
from rising_bandits.experiments.own_code import bundle
from rising_bandits.experiments.workers import WORKING

SOURCES = source_hash("antmaze", "oracles", "policies", "problems")
"""A hash of the source files that decide what a training does."""
_FILES = ("replay.bin", "checkpoint.npz")
"""The files of a checkpoint, in the order in which they are written."""


@dataclass(frozen=True)
class TrainLeg:
    """What a worker needs to train a part of a run."""

    number: int
    """The position of the run in the plan."""
    spec: TrainSpec
    """The run."""
    files: dict[str, bytes]
    """The files of its checkpoint, by name; empty for the first episode."""
    own: dict[str, bytes]
    """The sources of a policy of one's own, and the files beside them that they name."""
    sources: str
    """The hash of the library's sources."""
    seconds: float
    """How long to train at most."""


def train_leg(leg: TrainLeg) -> tuple[dict[str, bytes], News | None]:
    """Train a part of a run, and return its files by name: those of a checkpoint, or ``result.npz``.

    Parameters
    ----------
    leg
        The run, where it was, and how long to train.
    """
    if leg.sources != SOURCES:
        raise RisingBanditsError("a worker has another version of rising-bandits than this process; install the same")
    one_core()
    latest: list[News] = []
    with WORKING, tempfile.TemporaryDirectory(prefix="rising-antmaze-") as folder:
        identity.unpack(leg.own)
        place = RunFolder(folder, leg.spec)
        place.path.mkdir(parents=True)
        for name, content in leg.files.items():
            (place.path / name).write_bytes(content)
        until = time.monotonic() + leg.seconds

        def report(training: Training, seconds: float) -> None:
            if time.monotonic() >= until or training.done:
                latest[:] = [news(leg.number, training, seconds)]

        train(leg.spec, folder, progress=report, stopping=lambda: time.monotonic() >= until)
        names = ("result.npz",) if place.result.exists() else _FILES
        return {name: (place.path / name).read_bytes() for name in names}, latest[0] if latest else None


def train_remote(
    executor: Executor,
    folders: dict[int, RunFolder],
    workers: int | None,
    progress: Callable[[News], None] | None,
    checkpoint_seconds: float,
) -> None:
    """Train runs, given by their positions in the plan, on an executor; their files are written here."""
    with contextlib.ExitStack() as locks:
        first = {}
        for number, place in folders.items():
            locks.enter_context(place.locked())
            first[number] = _leg(number, place, checkpoint_seconds)

        def received(number: int, answer: tuple[dict[str, bytes], News | None]) -> TrainLeg | None:
            files, latest = answer
            place = folders[number]
            for name, content in files.items():
                with replacing(place.path / name) as aside:
                    aside.write_bytes(content)
            if latest is not None and progress is not None:
                progress(latest)
            if place.result.exists():
                for name in _FILES:
                    (place.path / name).unlink(missing_ok=True)
                return None
            return _leg(number, place, checkpoint_seconds)

        at_once = places(executor, workers)
        relay(executor, train_leg, first, received, at_once=at_once, patience=2.0 * checkpoint_seconds + 10.0)


def _leg(number: int, place: RunFolder, seconds: float) -> TrainLeg:
    """The next leg of a run, from the files in its folder."""
    files: dict[str, Any] = {}
    if place.checkpoint.exists():
        files = {name: Path(place.path / name).read_bytes() for name in _FILES}
    module = place.spec.policy.partition(":")[0] if ":" in place.spec.policy else None
    own = bundle([module]) if module is not None else {}
    return TrainLeg(number, place.spec, files, own, SOURCES, seconds)
