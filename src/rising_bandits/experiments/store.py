"""Results on disk: one Parquet file a run with its settings inside, and checkpoints of runs in progress.

Everything is written aside and renamed, so a file that exists is whole.
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
"""A hash of the sources that decide what numbers a run gives: results of other ones are run again."""
_META = b"rising_bandits"


class ResultStore:
    """A folder of results: ``runs/`` (finished), ``partial/`` (in progress), ``settings.json`` (what was asked)."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"out must be a folder, got the file {str(folder)!r}")

    def run_path(self, spec: RunSpec) -> Path:
        """Where the result of a run is, or will be."""
        return self.folder / "runs" / f"{spec.key}.parquet"

    def partial_path(self, spec: RunSpec) -> Path:
        """Where a run in progress is kept."""
        return self.folder / "partial" / f"{spec.key}.json.gz"

    def has(self, spec: RunSpec) -> bool:
        """Whether a run is finished, by code that gives the same numbers as this."""
        path = self.run_path(spec)
        return path.exists() and read_meta(path).get("sources") == NUMBERS_HASH

    def write_settings(self, plan: list[RunSpec], version: str) -> None:
        """Note what was asked for: every run in full."""
        runs = {spec.key: spec.as_dict() for spec in plan}
        path = self.folder / "settings.json"
        if path.exists():
            # Runs of earlier calls stay in the folder, and so do their settings.
            old = [RunSpec.from_dict(data) for data in json.loads(path.read_text())["runs"]]
            runs = {**{spec.key: spec.as_dict() for spec in old if self.run_path(spec).exists()}, **runs}
        settings = {"format": FORMAT, "version": version, "runs": list(runs.values())}
        with replacing(path) as aside:
            aside.write_text(json.dumps(settings, indent=1) + "\n")

    def write_run(self, spec: RunSpec, run: Run, version: str) -> None:
        """Keep a finished run and drop its checkpoint."""
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
        """Keep a run in progress."""
        with replacing(self.partial_path(spec)) as aside, gzip.open(aside, "wt", compresslevel=1) as handle:
            json.dump({"sources": NUMBERS_HASH, "state": state}, handle)

    def read_partial(self, spec: RunSpec) -> dict[str, Any] | None:
        """A run in progress, if there is one that this very code began."""
        path = self.partial_path(spec)
        if not path.exists():
            return None
        with gzip.open(path, "rt") as handle:
            data = json.load(handle)
        # Other code might end the run with other numbers; then it is begun anew.
        return dict(data["state"]) if data["sources"] == NUMBERS_HASH else None

    def read(self, spec: RunSpec) -> StoredRun:
        """A finished run."""
        return read_run(self.run_path(spec))


class StoredRun:
    """A finished run as it lies on disk."""

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
        """What tables and figures call it."""
        return str(self.meta["label"])


def read_meta(path: Path) -> dict[str, Any]:
    """What a run's file says of itself, without its numbers."""
    require("lab", "pyarrow")
    import pyarrow.parquet as pq

    try:
        return dict(json.loads(pq.read_schema(path).metadata[_META]))
    except Exception as error:
        raise InputError(f"file must be a run written by 'rising run'; {str(path)!r} is not one ({error})") from None


def read_run(path: str | Path) -> StoredRun:
    """A run from its own file: numbers and settings."""
    require("lab", "pyarrow")
    import pyarrow.parquet as pq

    path = Path(path)
    if not path.is_file():
        raise InputError(f"file must be a run written by 'rising run', but {str(path)!r} does not exist")
    meta = read_meta(path)
    table = pq.read_table(path)
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    return StoredRun(columns, meta)
