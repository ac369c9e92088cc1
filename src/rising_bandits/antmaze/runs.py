"""Training runs on disk: train one to its end, with checkpoints.

The folder of a run in progress holds ``checkpoint.npz`` (networks, optimiser state, policy, random generators and log)
and ``replay.bin`` (the replay buffer). A finished run has only ``result.npz``, and an empty lock file. The checkpoint
says how many rows of ``replay.bin`` belong to it. It is written under a temporary name and then renamed, so that it is
always complete, and only a checkpoint of a later episode replaces it.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np

from rising_bandits.antmaze.buffer import Buffer
from rising_bandits.antmaze.files import MOST_CHECKPOINT, read_npz, write_npz
from rising_bandits.antmaze.record import Record
from rising_bandits.antmaze.results import Result, read_result
from rising_bandits.antmaze.settings import Settings
from rising_bandits.antmaze.spec import TrainSpec, differing
from rising_bandits.antmaze.training import Training
from rising_bandits.errors import InputError

CHECKPOINT_SECONDS = 60.0
"""How often a run in progress is saved."""


class RunFolder:
    """The folder of one run, in progress or finished.

    Parameters
    ----------
    folder
        The folder that holds the folders of all runs.
    spec
        The run.
    """

    def __init__(self, folder: str | Path, spec: TrainSpec) -> None:
        self.spec = spec
        self.path = Path(folder) / spec.key
        self.checkpoint, self.replay, self.result = (
            self.path / name for name in ("checkpoint.npz", "replay.bin", "result.npz")
        )

    def check(self) -> None:
        """Raise `InputError` if the folder holds a result or a checkpoint of a run with other settings."""
        if self.result.exists():
            self._check(self.result, read_result(self.result).spec.as_dict())
        elif self.checkpoint.exists():
            self._read_checkpoint()

    def _read_checkpoint(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The arrays and the plain data of the checkpoint, which must be of this run."""
        try:
            arrays, meta = read_npz(self.checkpoint, MOST_CHECKPOINT)
            spec = {**meta["spec"], "settings": Settings.from_dict(meta["spec"]["settings"]).as_dict()}
        except Exception as error:
            raise InputError(f"{str(self.checkpoint)!r} cannot be read ({error}); move it away to start anew") from None
        self._check(self.checkpoint, spec)
        return arrays, meta

    def open(self) -> tuple[Training, float]:
        """The training, and how many seconds it has taken so far.

        It continues from the checkpoint if there is one; otherwise it is new.

        Raises
        ------
        InputError
            The checkpoint cannot be read or is of another run.
        """
        if not self.checkpoint.exists():
            return self.spec.begin(), 0.0
        arrays, meta = self._read_checkpoint()
        training = self.spec.begin()
        leaves = [arrays[f"leaf_{place}"] for place in range(meta["leaves"])]
        learner = jax.tree.unflatten(jax.tree.structure(training.agent.learner), [jax.numpy.asarray(x) for x in leaves])
        buffer = Buffer.read(self.replay, meta["state"]["rows"])
        training.restore(meta["state"], learner, buffer, Record.load(training.maze, arrays))
        return training, float(meta["seconds"])

    def _check(self, path: Path, have: dict[str, Any]) -> None:
        """Raise `InputError` if a file is of another run, and say in what it differs."""
        have, want = (json.loads(json.dumps(spec)) for spec in (have, self.spec.as_dict()))
        if differ := differing(have, want):
            raise InputError(
                f"{str(path)!r} is of a run with other settings ({', '.join(differ)}); "
                "give another folder, or the same settings"
            )

    def save(self, training: Training, seconds: float) -> None:
        """Write a checkpoint.

        Parameters
        ----------
        training
            The training.
        seconds
            How long it has taken so far.

        Raises
        ------
        InputError
            There is a checkpoint of a later episode, or of another run.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        rows = 0
        if self.checkpoint.exists():
            _, meta = self._read_checkpoint()
            if meta["episodes"] > training.record.episodes:
                raise InputError(
                    f"{str(self.checkpoint)!r} is of episode {meta['episodes']}, "
                    f"later than {training.record.episodes}, and is not overwritten"
                )
            rows = int(meta["state"]["rows"])
        training.buffer.write_from(self.replay, rows)
        leaves = jax.tree.leaves(training.agent.learner)
        meta = {
            "spec": self.spec.as_dict(),
            "state": training.state(),
            "episodes": training.record.episodes,
            "seconds": seconds,
            "leaves": len(leaves),
        }
        arrays = {f"leaf_{place}": np.asarray(leaf) for place, leaf in enumerate(leaves)}
        write_npz(self.checkpoint, {**training.record.dump(), **arrays, "meta": json.dumps(meta)}, small=False)

    def finish(self, training: Training, seconds: float) -> Result:
        """Write the result, delete the checkpoint and the replay buffer, and return the result.

        Parameters
        ----------
        training
            The finished training.
        seconds
            How long it took.
        """
        walk = training.walk_last().astype(np.float32)
        meta = json.dumps({"spec": self.spec.as_dict(), "label": self.spec.label, "seconds": seconds})
        self.path.mkdir(parents=True, exist_ok=True)
        write_npz(self.result, {**training.record.dump(), "walk": walk, "meta": meta}, small=True)
        self._clean()
        return Result(self.spec, training.record, walk, seconds)

    def finished(self) -> bool:
        """Whether the run has a result. Files that a killed process left beside a result are deleted."""
        if self.result.exists() and (self.checkpoint.exists() or self.replay.exists()):
            with self.locked():
                pass
        return self.result.exists()

    def _clean(self) -> None:
        """Delete temporary files, and the checkpoint and replay buffer of a finished run."""
        finished = (self.checkpoint, self.replay) if self.result.exists() else ()
        for path in (*finished, *self.path.glob(".*.tmp")):
            path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder against other processes that train. The lock ends with the process, however it ends.

        Raises
        ------
        InputError
            Another process has the lock, or the folder cannot be made.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise InputError(f"runs are kept in a folder, but {str(self.path.parent)!r} is a file") from None
        with (self.path / "lock").open("w") as file:
            try:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except ImportError:  # pragma: no cover - this system has no such locks
                pass
            except OSError:
                raise InputError(f"another process is training in {str(self.path)!r}") from None
            self._clean()
            yield


def train(
    spec: TrainSpec,
    folder: str | Path,
    *,
    progress: Callable[[Training, float], None] | None = None,
    stopping: Callable[[], bool] = lambda: False,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
) -> Result | None:
    """Train one run to its end, continuing from its checkpoint if there is one.

    A run that was interrupted at any moment ends with the same result as one that was not. The last bits of the result
    may depend on the number of threads that JAX uses. To rule this out, call `pool.one_core` before JAX is used.

    Parameters
    ----------
    spec
        The run.
    folder
        The folder that holds the folders of all runs.
    progress
        Called after each episode with the training and the seconds it has taken so far.
    stopping
        Called after each episode; if it returns True, a checkpoint is written and training stops.
    checkpoint_seconds
        How often a checkpoint is written.

    Returns
    -------
    Result or None
        The result; None if ``stopping`` ended the training before its last episode.

    Raises
    ------
    InputError
        The folder holds another run of the same name, or another process trains this run.
    """
    place = RunFolder(folder, spec)
    place.check()
    if place.finished():
        return read_result(place.result)
    with place.locked():
        if place.result.exists():
            return read_result(place.result)  # another process has just finished it
        training, before = place.open()
        started = saved = time.monotonic()
        while not training.done:
            training.episode()
            now = time.monotonic()
            seconds = before + now - started
            if progress is not None:
                progress(training, seconds)
            if stopping():
                place.save(training, seconds)
                return None
            if now - saved > checkpoint_seconds:
                place.save(training, seconds)
                saved = time.monotonic()
        return place.finish(training, before + time.monotonic() - started)
