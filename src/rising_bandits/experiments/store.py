"""Results on disk: one Parquet file per run, which also holds its settings, and checkpoints of runs in progress.

Every file is written under a temporary name and then renamed, so a file that exists is complete.
"""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from rising_bandits._extras import require
from rising_bandits._files import replacing
from rising_bandits._sources import source_hash
from rising_bandits.errors import InputError
from rising_bandits.experiments.plan import RunSpec
from rising_bandits.simulation import Run

FORMAT = 1
NUMBERS_HASH = source_hash("curves", "oracles", "policies", "problems", "simulation", "theory")
"""A hash of the source files that decide the numbers of a run. Runs made by other sources are run again."""
_META = b"rising_bandits"


class ResultStore:
    """A folder of results.

    It holds finished runs in ``runs/``, runs in progress in ``partial/``, and the specs of all runs in
    ``settings.json``.

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
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"out must be a folder, got the file {str(folder)!r}")

    def run_path(self, spec: RunSpec) -> Path:
        """The file of a finished run, whether it exists yet or not.

        Parameters
        ----------
        spec
            The run.
        """
        return self.folder / "runs" / f"{spec.key}.parquet"

    def partial_path(self, spec: RunSpec) -> Path:
        """The checkpoint file of a run, whether it exists or not.

        Parameters
        ----------
        spec
            The run.
        """
        return self.folder / "partial" / f"{spec.key}.json.gz"

    def has(self, spec: RunSpec) -> bool:
        """Whether the folder holds a finished run that was made by the present source code.

        Parameters
        ----------
        spec
            The run.
        """
        path = self.run_path(spec)
        return path.exists() and read_meta(path).get("sources") == NUMBERS_HASH

    def write_settings(self, plan: list[RunSpec], version: str) -> None:
        """Write the specs of a plan to ``settings.json``; specs of finished runs that are there already stay.

        Parameters
        ----------
        plan
            The runs.
        version
            The version to note.
        """
        runs = {spec.key: spec.as_dict() for spec in plan}
        path = self.folder / "settings.json"
        if path.exists():
            # Runs of earlier plans stay in the folder, and so do their specs.
            old = [RunSpec.from_dict(data) for data in json.loads(path.read_text())["runs"]]
            runs = {**{spec.key: spec.as_dict() for spec in old if self.run_path(spec).exists()}, **runs}
        settings = {"format": FORMAT, "version": version, "runs": list(runs.values())}
        with replacing(path) as aside:
            aside.write_text(json.dumps(settings, indent=1) + "\n")

    def write_run(self, spec: RunSpec, run: Run, version: str) -> None:
        """Write a finished run and delete its checkpoint.

        Parameters
        ----------
        spec
            The spec of the run.
        run
            The run, as `simulation.Simulation.result` returns it.
        version
            The version to note.
        """
        require("lab", "pyarrow")
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table(
            {
                "round": run.rounds,
                "regret": run.regret,
                "reward": run.reward,
                "realised_regret": run.realised_regret,
                "realised_reward": run.realised_reward,
                "plays": pa.array(run.plays_at.tolist(), type=pa.list_(pa.int64())),
            }
        )
        meta = {
            "format": FORMAT,
            "version": version,
            "sources": NUMBERS_HASH,
            "settings": spec.as_dict(),
            "label": spec.label,
            "arms": [str(label) for label in run.task.problem.labels],
            "super_arm_plays": [[list(arms), count] for arms, count in run.super_arm_plays.items()],
            "optimal_super_arm": None if run.optimum is None else run.optimum.super_arm.tolist(),
            "optimal_total": math.nan if run.optimum is None else run.optimum.total,
            "optimal_plays": run.optimal_plays,
            "seconds": run.seconds,
        }
        table = table.replace_schema_metadata({_META: json.dumps(meta).encode()})
        with replacing(self.run_path(spec)) as aside:
            pq.write_table(table, aside)
        self.partial_path(spec).unlink(missing_ok=True)

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
            json.dump({"sources": NUMBERS_HASH, "state": state}, handle)

    def read_partial(self, spec: RunSpec) -> dict[str, Any] | None:
        """The state of a run in progress; None if there is no checkpoint made by the present source code.

        Parameters
        ----------
        spec
            The spec of the run.
        """
        path = self.partial_path(spec)
        if not path.exists():
            return None
        with gzip.open(path, "rt") as handle:
            data = json.load(handle)
        # Other sources might have made other numbers, so the run starts again.
        return dict(data["state"]) if data["sources"] == NUMBERS_HASH else None

    def read(self, spec: RunSpec) -> StoredRun:
        """Read a finished run.

        Parameters
        ----------
        spec
            The spec of the run.

        Raises
        ------
        InputError
            The folder does not hold the run.
        """
        return read_run(self.run_path(spec))


class StoredRun:
    """A finished run, read from its file.

    Parameters
    ----------
    columns
        The columns of the file.
    meta
        What the file says about the run: its settings, label, optimum and time.

    Attributes
    ----------
    spec
        The `RunSpec` of the run.
    meta
        As given.
    rounds
        The recorded rounds.
    regret, reward
        Cumulative expected regret and expected reward at these rounds.
    realised_reward
        Cumulative reward of the outcomes that were drawn.
    realised_regret
        The expected reward of the optimal constant super arm minus ``realised_reward``.
    plays_at
        The number of plays of each base arm at these rounds, one row per round; without columns where there would be
        too many numbers to keep.
    """

    def __init__(self, columns: dict[str, Any], meta: dict[str, Any]) -> None:
        self.spec = RunSpec.from_dict(meta["settings"])
        self.meta = meta
        self.rounds = np.asarray(columns["round"], dtype=np.int64)
        self.regret = np.asarray(columns["regret"], dtype=np.float64)
        self.reward = np.asarray(columns["reward"], dtype=np.float64)
        self.realised_regret = np.asarray(columns["realised_regret"], dtype=np.float64)
        self.realised_reward = np.asarray(columns["realised_reward"], dtype=np.float64)
        self.plays_at = np.array(columns["plays"], dtype=np.int64)

    @property
    def label(self) -> str:
        """The label of the policy in tables and figures."""
        return str(self.meta["label"])


def read_meta(path: Path) -> dict[str, Any]:
    """The settings and other facts that the file of a run holds beside its columns."""
    require("lab", "pyarrow")
    import pyarrow.parquet as pq

    try:
        return dict(json.loads(pq.read_schema(path).metadata[_META]))
    except Exception as error:
        raise InputError(f"file must be a run written by 'rising run'; {str(path)!r} is not one ({error})") from None


def read_run(path: str | Path) -> StoredRun:
    """Read a finished run from its file.

    Parameters
    ----------
    path
        A file in the ``runs`` folder of a results folder.

    Raises
    ------
    InputError
        The file does not exist, or does not hold a run.
    """
    require("lab", "pyarrow")
    import pyarrow.parquet as pq

    path = Path(path)
    if not path.is_file():
        raise InputError(f"file must be a run written by 'rising run', but {str(path)!r} does not exist")
    meta = read_meta(path)
    table = pq.read_table(path)
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    return StoredRun(columns, meta)
