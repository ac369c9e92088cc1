"""Results on disk: one Parquet file per run, which also holds its settings, and checkpoints of runs in progress.

Every file is written under a temporary name and then renamed, so a file that exists is complete. Files that are damaged
all the same, for example by a full disk, are reported to the log and made anew.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import logging
import zlib
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rising_bandits._extras import require
from rising_bandits._files import clean, locked, replacing
from rising_bandits._sources import source_hash
from rising_bandits.errors import InputError
from rising_bandits.experiments import layout
from rising_bandits.experiments.metrics import measure
from rising_bandits.experiments.spec import RunSpec
from rising_bandits.experiments.stored import (
    FORMAT,
    SERIES,
    StoredRun,
    columns_of,
    columns_of_stored,
    columns_together,
    describe,
    read_meta,
    read_run,
    to_table,
)
from rising_bandits.simulation import Run

__all__ = ["NUMBERS_HASH", "ResultStore", "StoredRun", "read_meta", "read_run", "replacing"]

NUMBERS_HASH = source_hash("curves", "oracles", "policies", "problems", "simulation", "theory")
"""A hash of the source files that decide the numbers of a run. Runs made by other sources are run again."""
_MOST_SETTINGS = 512 * 2**20
_DAMAGE = (ValueError, KeyError, TypeError, RecursionError, OSError)
"""What reading a damaged file of settings may raise."""
_LOGGER = logging.getLogger(__name__)
T = TypeVar("T")


class ResultStore:
    """A folder of results.

    It holds finished runs in ``runs/``, runs in progress in ``_partial/``, and the specs of all runs in
    ``_settings.json``. Several processes may write to one folder at the same time. Programs that read a folder of
    Parquet files pass over names that begin with an underscore, so they read the results and nothing else.

    Parameters
    ----------
    folder
        The folder; it is created when something is written.

    Raises
    ------
    InputError
        There is a file in the place of the folder.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._columns: dict[str, bool] = {}
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"out must be a folder, got the file {str(folder)!r}")

    def run_path(self, spec: RunSpec) -> Path:
        """The file of a finished run, whether it exists yet or not.

        Parameters
        ----------
        spec
            The run.
        """
        return self.folder / layout.RUNS / f"{spec.key}.parquet"

    def partial_path(self, spec: RunSpec) -> Path:
        """The checkpoint file of a run, whether it exists or not.

        Parameters
        ----------
        spec
            The run.
        """
        return self.folder / layout.PARTIAL / f"{spec.key}.json.gz"

    def has(self, spec: RunSpec) -> bool:
        """Whether the folder holds a finished run that was made by the present source code.

        The source code is that of the library and, where modules of one's own take part, theirs. A file that cannot be
        read is reported to the log and does not count.

        Parameters
        ----------
        spec
            The run.
        """
        path = self.run_path(spec)
        if not path.exists():
            return False
        try:
            meta = read_meta(path)
        except InputError as error:
            _LOGGER.warning("the run is made anew: %s", error)
            return False
        return bool(meta.get("sources") == NUMBERS_HASH and meta["settings"].get("code", "") == spec.code)

    def specs(self) -> list[RunSpec]:
        """The specs of all finished runs in the folder, in the order of their plans.

        Nothing that they name is imported. Files that are not runs are reported to the log and left out.
        """
        return [RunSpec.from_dict(meta["settings"]) for _, meta in self._in_order(read_meta)]

    def runs(self, trust: Collection[str] | None = ()) -> list[StoredRun]:
        """All finished runs in the folder, in the order of their plans.

        Nothing that they name is imported. Files that are not runs are reported to the log and left out.

        Parameters
        ----------
        trust
            As for `read_run`.
        """
        return [run for _, run in self._in_order(lambda path: read_run(path, trust))]

    def _in_order(self, read: Callable[[Path], T]) -> list[tuple[Path, T]]:
        """The files of runs and what ``read`` makes of them, as `settings` lists them; others follow by name."""
        found = self._each(read)
        places = {spec.key: place for place, spec in enumerate(self.settings())}
        return sorted(found, key=lambda item: (places.get(item[0].stem, len(places)), item[0].name))

    def _each(self, read: Callable[[Path], T]) -> list[tuple[Path, T]]:
        """The files of runs and what ``read`` makes of them; those that it refuses are left out."""
        found = []
        for path in sorted((self.folder / layout.RUNS).glob("*.parquet")):
            try:
                found.append((path, read(path)))
            except InputError as error:
                _LOGGER.warning("left out: %s", error)
        return found

    def prepare(self, plan: Sequence[RunSpec], version: str) -> None:
        """Write the settings of a plan, and remove what killed processes left behind.

        Parameters
        ----------
        plan
            The runs, also those of other parts of the plan.
        version
            The version to note.
        """
        self.write_settings(list(plan), version)
        layout.rename_older(self.folder)
        # Files that have the columns of the whole plan from the start need not be written again by `align`.
        self._columns = columns_together({"settings": spec.as_dict()} for spec in plan)
        for name in (layout.RUNS, layout.PARTIAL):
            clean(self.folder / name)
        for spec in plan:
            # A process that was killed between writing a result and deleting the checkpoint leaves both.
            if self.partial_path(spec).exists() and self.has(spec):
                self.partial_path(spec).unlink(missing_ok=True)

    def write_settings(self, plan: list[RunSpec], version: str) -> None:
        """Write the specs of a plan to ``_settings.json``; specs that are there already stay.

        Parameters
        ----------
        plan
            The runs.
        version
            The version to note.
        """
        runs = {spec.key: spec.as_dict() for spec in plan}
        with locked(self.folder / ".lock"):
            # Runs of earlier plans, and of plans that other processes run now, stay in the folder with their specs.
            old = {spec.key: spec.as_dict() for spec in self.settings()}
            settings = {"format": FORMAT, "version": version, "runs": list({**old, **runs}.values())}
            with replacing(self.folder / layout.SETTINGS) as aside:
                aside.write_text(json.dumps(settings, indent=1) + "\n")
            # A file of this name that holds something else is not ours.
            with contextlib.suppress(*_DAMAGE):
                _read_settings(self.folder / layout.OLD_SETTINGS)
                (self.folder / layout.OLD_SETTINGS).unlink()

    def settings(self) -> list[RunSpec]:
        """The specs in ``_settings.json``; if it is damaged, those of the finished runs."""
        path = self.folder / layout.SETTINGS
        if not path.exists():
            path = self.folder / layout.OLD_SETTINGS
        if not path.exists():
            return []
        try:
            return _read_settings(path)
        except _DAMAGE as error:
            _LOGGER.warning("%s is damaged and is made anew from the runs in its folder: %s", path, error)
            return [RunSpec.from_dict(meta["settings"]) for _, meta in self._each(read_meta)]

    def write_run(self, spec: RunSpec, run: Run, version: str) -> None:
        """Write a finished run with its metrics, and delete its checkpoint.

        Parameters
        ----------
        spec
            The spec of the run.
        run
            The run, as `simulation.Simulation.result` returns it.
        version
            The version to note.
        """
        metrics = measure(run, spec.metrics, spec.trust)
        self.write_columns(spec, columns_of(run), describe(spec, run, version, NUMBERS_HASH, metrics))

    def write_columns(self, spec: RunSpec, columns: dict[str, Any], meta: dict[str, Any]) -> None:
        """Write a finished run that was played elsewhere, and delete its checkpoint.

        Parameters
        ----------
        spec
            The spec of the run.
        columns, meta
            Its numbers and facts, as `stored.columns_of` and `stored.describe` give them.
        """
        require("lab", "pyarrow")
        together = columns_together([meta], self._columns)
        self._write(self.run_path(spec), columns, meta, sorted(together.items()))
        self.partial_path(spec).unlink(missing_ok=True)

    def _write(self, path: Path, columns: dict[str, Any], meta: dict[str, Any], extra: Any) -> None:
        import pyarrow.parquet as pq

        table = to_table(columns, meta, extra)
        with replacing(path) as aside:
            pq.write_table(table, aside)

    def align(self) -> None:
        """Give all run files the same columns, so that other programs can read the folder ``runs`` as one table.

        Policies have different parameters. A file without a parameter or metric that another file has gets an empty
        column for it.
        """
        require("lab", "pyarrow")
        import pyarrow.parquet as pq

        with locked(self.folder / ".lock"):
            found = self._each(read_meta)
            wanted = sorted(columns_together(meta for _, meta in found).items())
            first = None
            for path, meta in found:
                first = first or to_table({name: [] for name in (*SERIES, "plays")}, meta, wanted).schema
                if not pq.read_schema(path).equals(first):
                    run = read_run(path)
                    self._write(path, columns_of_stored(run), {**meta, "format": FORMAT}, wanted)

    def write_partial(self, spec: RunSpec, state: dict[str, Any]) -> None:
        """Write the checkpoint of a run in progress.

        Parameters
        ----------
        spec
            The spec of the run.
        state
            The state of its simulation.
        """
        with replacing(self.partial_path(spec)) as aside, gzip.open(aside, "wt", compresslevel=1) as handle:
            json.dump({"sources": NUMBERS_HASH, "code": spec.code, "state": state}, handle)

    def read_partial(self, spec: RunSpec) -> dict[str, Any] | None:
        """The state of a run in progress; None if there is no checkpoint made by the present source code.

        A damaged checkpoint is reported to the log; the run then starts anew.

        Parameters
        ----------
        spec
            The spec of the run.
        """
        path = self.partial_path(spec)
        if not path.exists():
            return None
        try:
            _check_file(path)
            data = json.loads(_inflate(path, _most_state(spec)))
            # Other sources might have made other numbers, so the run starts again.
            if data["sources"] != NUMBERS_HASH or data.get("code", "") != spec.code:
                return None
            return dict(data["state"])
        except (ValueError, KeyError, TypeError, RecursionError, EOFError, OSError, zlib.error) as error:
            self.damaged(spec, error)
            return None

    def damaged(self, spec: RunSpec, error: Exception) -> None:
        """Say in the log that the checkpoint of a run cannot be used, and remove it.

        Parameters
        ----------
        spec
            The run.
        error
            What is wrong with it.
        """
        path = self.partial_path(spec)
        _LOGGER.warning("the checkpoint %s is damaged, and its run starts anew: %s", path, error)
        path.unlink(missing_ok=True)

    def read(self, spec: RunSpec) -> StoredRun:
        """Read a finished run.

        Parameters
        ----------
        spec
            The spec of the run.

        Raises
        ------
        InputError
            The folder does not hold the run, or its file is of another run.
        """
        run = read_run(self.run_path(spec), spec.trust)
        if run.spec != spec:
            raise InputError(f"{str(self.run_path(spec))!r} must hold the run that its name says, but holds another")
        return run


def _check_file(path: Path) -> None:
    """Refuse what is no file: a pipe might never end."""
    if not path.is_file():
        raise InputError("it is not a file")


def _read_settings(path: Path) -> list[RunSpec]:
    """The specs in a file of settings."""
    _check_file(path)
    if path.stat().st_size > _MOST_SETTINGS:
        raise InputError(f"it is larger than {_MOST_SETTINGS >> 20} MiB")
    return [RunSpec.from_dict(data) for data in json.loads(path.read_text())["runs"]]


def _most_state(spec: RunSpec) -> int:
    """How many bytes the state of a run may have, generously."""
    problem = spec.make_task().problem
    numbers = spec.horizon * problem.oracle.max_size + 1_000 * problem.n_arms
    return min(4 * 2**30, 64 * 2**20 + 64 * numbers)


def _inflate(path: Path, most: int) -> bytes:
    """The content of a compressed file, which must not have more than ``most`` bytes."""
    with gzip.open(path, "rb") as handle:
        found = handle.read(most + 1)
    if len(found) > most:
        raise ValueError(f"it holds more than {most} bytes")
    return found
