"""Finished runs as files: how a run becomes a table, and how such a file is read.

A file is read as if a stranger had written it. It is data: nothing that it names is imported or called, and its size is
known before memory is asked for.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits._extras import require
from rising_bandits._parquet import check_pages
from rising_bandits.errors import InputError
from rising_bandits.experiments.metrics import RESERVED
from rising_bandits.experiments.spec import RunSpec
from rising_bandits.simulation import Run

FORMAT = 2
"""The format of result files. Since format 2 every row says which run it belongs to; files of format 1 can be read."""
META = b"rising_bandits"
SERIES = ("round", "regret", "reward", "realised_regret", "realised_reward")
"""The columns that differ from row to row, beside ``plays``."""
_MOST_BYTES = 2**30
_MOST_META = 64 * 2**20
_MOST_LABEL = 300_000
_MOST_BESIDE = 2**20
"""How many bytes a column may have beside its values: dictionaries, and the heads of its pages."""
_MOST_NUMBERS = 21_000_000
_USUAL_ROWS = 402
_NUMBERS = ("INT32", "INT64", "FLOAT", "DOUBLE")


class StoredRun:
    """A finished run, read from its file.

    Parameters
    ----------
    columns
        The columns of the file.
    meta
        What the file says about the run: its settings, label, optimum and time.
    trust
        The modules of your own that the run's spec may import; by default none. See `RunSpec`.

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

    def __init__(self, columns: dict[str, Any], meta: dict[str, Any], trust: Collection[str] | None = ()) -> None:
        self.spec = replace(RunSpec.from_dict(meta["settings"]), trust=None if trust is None else tuple(trust))
        self.meta = meta
        self.rounds: Ints = np.asarray(columns["round"], dtype=np.int64)
        self.regret: Floats = np.asarray(columns["regret"], dtype=np.float64)
        self.reward: Floats = np.asarray(columns["reward"], dtype=np.float64)
        self.realised_regret: Floats = np.asarray(columns["realised_regret"], dtype=np.float64)
        self.realised_reward: Floats = np.asarray(columns["realised_reward"], dtype=np.float64)
        self.plays_at: Ints = np.array(columns["plays"], dtype=np.int64)

    @property
    def label(self) -> str:
        """The label of the policy in tables and figures."""
        return str(self.meta["label"])

    @property
    def task_name(self) -> str:
        """The name of the task in headings."""
        return str(self.meta.get("task_name") or self.spec.task)

    @property
    def metrics(self) -> dict[str, float]:
        """The numbers of the run's metrics, by column."""
        return dict(self.meta.get("metrics", {}))


def describe(spec: RunSpec, run: Run, version: str, sources: str, metrics: dict[str, float]) -> dict[str, Any]:
    """What a result file says about its run, beside the columns."""
    return {
        "format": FORMAT,
        "version": version,
        "sources": sources,
        "settings": spec.as_dict(),
        "label": spec.label,
        "task_name": run.task.name,
        "recorded": run.task.recorded,
        "arms": [str(label) for label in run.task.problem.labels],
        "super_arm_plays": [[list(arms), count] for arms, count in run.super_arm_plays.items()],
        "optimal_super_arm": None if run.optimum is None else run.optimum.super_arm.tolist(),
        "optimal_total": math.nan if run.optimum is None else run.optimum.total,
        "optimal_plays": run.optimal_plays,
        "seconds": run.seconds,
        "metrics": metrics,
    }


def columns_of(run: Run) -> dict[str, Any]:
    """The columns of a run that differ from row to row, as arrays."""
    return {
        "round": run.rounds,
        "regret": run.regret,
        "reward": run.reward,
        "realised_regret": run.realised_regret,
        "realised_reward": run.realised_reward,
        "plays": run.plays_at,
    }


def columns_of_stored(run: StoredRun) -> dict[str, Any]:
    """The columns of a run that was read from a file."""
    return {"round": run.rounds, "plays": run.plays_at, **{name: getattr(run, name) for name in SERIES[1:]}}


def parameter_column(name: str) -> str:
    """The name of the column of a parameter; a name that another column has is prefixed.

    >>> parameter_column("epsilon"), parameter_column("horizon")
    ('epsilon', 'policy_horizon')
    """
    return f"policy_{name}" if name in RESERVED else name


def own_columns(meta: dict[str, Any]) -> dict[str, Any]:
    """The columns of a run that depend on its policy and metrics: a number, a text or None for each.

    Parameters that are neither are written as text, and so are whole numbers that a column of numbers would round.
    """
    settings = meta["settings"]
    found: dict[str, Any] = {}
    for name, value in {**settings.get("parameters", {}), **settings.get("options", {})}.items():
        plain = value is None or isinstance(value, str | float) or (isinstance(value, int) and abs(value) <= 2**53)
        found[parameter_column(name)] = value if plain else json.dumps(value)
    return {**found, **{name: value for name, value in meta.get("metrics", {}).items() if name not in RESERVED}}


def columns_together(metas: Iterable[dict[str, Any]], known: Mapping[str, bool] | None = None) -> dict[str, bool]:
    """The columns of `own_columns` of several runs, and whether they hold text; ``known`` are some to begin with."""
    found = dict(known or {})
    for meta in metas:
        for name, value in own_columns(meta).items():
            found[name] = found.get(name, False) or is_text(value)
    return found


def to_table(columns: dict[str, Any], meta: dict[str, Any], extra: Sequence[tuple[str, bool]] | None = None) -> Any:
    """A run as an Arrow table in which every row says which run it belongs to.

    ``extra`` lists the columns of parameters and metrics, and whether they hold text; by default those of this run.
    """
    import pyarrow as pa

    settings = meta["settings"]
    rows = len(columns["round"])
    own = own_columns(meta)
    if extra is None:
        extra = [(name, is_text(value)) for name, value in own.items()]
    fixed: dict[str, tuple[Any, Any]] = {
        "task": (settings["task"], pa.string()),
        "policy": (settings["policy"], pa.string()),
        "label": (meta["label"], pa.string()),
        "parameters": (json.dumps(settings.get("parameters", {})), pa.string()),
        "seed": (settings.get("seed", 0), pa.int64()),
        "horizon": (settings.get("horizon", 1), pa.int64()),
        "seconds": (meta["seconds"], pa.float64()),
        "code": (settings.get("code", ""), pa.string()),
    }
    arrays = {name: pa.repeat(pa.scalar(value, kind), rows) for name, (value, kind) in fixed.items()}
    for name, text in extra:
        kind = pa.string() if text else pa.float64()
        value = own.get(name)
        value = None if value is None else str(value) if text else float(value)
        arrays[name] = pa.repeat(pa.scalar(value, kind), rows)
    for name in SERIES:
        arrays[name] = pa.array(columns[name], type=pa.int64() if name == "round" else pa.float64())
    plays = np.asarray(columns["plays"], dtype=np.int64)
    width = plays.shape[1] if plays.ndim == 2 else 0
    offsets = pa.array(np.arange(rows + 1) * width, type=pa.int32())
    arrays["plays"] = pa.ListArray.from_arrays(offsets, pa.array(plays.reshape(-1)))
    return pa.table(arrays).replace_schema_metadata({META: json.dumps(meta).encode()})


def is_text(value: Any) -> bool:
    """Whether the column of a value holds text."""
    return isinstance(value, str)


def read_meta(path: str | Path) -> dict[str, Any]:
    """The settings and other facts that the file of a run holds beside its columns."""
    require("lab", "pyarrow")
    import pyarrow.parquet as pq

    path = Path(path)
    try:
        _check_size(path)
        return _checked_meta(pq.read_schema(path).metadata)
    except Exception as error:
        raise InputError(f"file must be a run written by 'rising run'; {str(path)!r} is not one ({error})") from None


def _check_size(path: Path) -> None:
    if not path.is_file() or path.stat().st_size > _MOST_BYTES:
        raise InputError(f"it must be a file of at most {_MOST_BYTES >> 20} MiB")


def _checked_meta(metadata: Any) -> dict[str, Any]:
    """The facts in a file's metadata; every part that is used has the right kind."""
    text = (metadata or {}).get(META)
    if text is None or len(text) > _MOST_META:
        raise InputError("it holds no settings of a run")
    meta = json.loads(text)
    if not isinstance(meta, dict) or meta.get("format") not in (1, FORMAT):
        raise InputError(f"its format must be 1 or {FORMAT}")
    RunSpec.from_dict(meta["settings"])
    label, arms, metrics = meta["label"], meta["arms"], meta.setdefault("metrics", {})
    if not isinstance(label, str) or not isinstance(arms, list) or not all(isinstance(a, str) for a in arms):
        raise InputError("its label must be a text and its arms a list of texts")
    if len(label) > _MOST_LABEL:
        raise InputError(f"its label must have at most {_MOST_LABEL} letters")
    "".join((label, meta["settings"]["task"], meta["settings"]["policy"], *arms)).encode()  # letters that UTF-8 has
    for name in ("optimal_total", "optimal_plays", "seconds"):
        if isinstance(meta[name], bool) or not _is_number(meta[name]):
            raise InputError(f"its {name} must be a number")
    if not isinstance(metrics, dict) or not all(_is_number(value) for value in metrics.values()):
        raise InputError("its metrics must be numbers")
    return meta


def _is_number(value: Any) -> bool:
    """Whether a value is a number that a column can hold. JSON has whole numbers of any size."""
    return isinstance(value, float) or (isinstance(value, int) and abs(value) <= sys.float_info.max)


def read_run(path: str | Path, trust: Collection[str] | None = ()) -> StoredRun:
    """Read a finished run from its file. Nothing that the file names is imported.

    Parameters
    ----------
    path
        A file in the ``runs`` folder of a results folder.
    trust
        The modules of your own that the run's spec may import when its policy or task is made; by default none.

    Raises
    ------
    InputError
        The file does not exist, does not hold a run, or is too large.
    """
    require("lab", "pyarrow")
    import pyarrow.parquet as pq

    path = Path(path)
    if not path.is_file():
        raise InputError(f"file must be a run written by 'rising run', but {str(path)!r} does not exist")
    try:
        _check_size(path)
        with pq.ParquetFile(path) as file:
            meta = _checked_meta(file.schema_arrow.metadata)
            rows = _check_shape(file, meta)
            with path.open("rb") as source:
                check_pages(source, file.metadata, [*SERIES, "plays"])
            table = next(file.iter_batches(batch_size=rows + 1, columns=[*SERIES, "plays"]))
        if table.num_rows != rows or any(table.column(name).null_count for name in (*SERIES, "plays")):
            raise InputError("its columns have gaps")
        columns: dict[str, Any] = {name: table.column(name).to_numpy(zero_copy_only=False) for name in SERIES}
        plays = table.column("plays")
        width = len(plays[0])
        values = plays.flatten().to_numpy(zero_copy_only=False)
        if width not in (0, len(meta["arms"])) or values.size != rows * width or (values < 0).any():
            raise InputError("its plays are not one number per arm")
        if columns["round"][0] < 1 or (np.diff(columns["round"]) < 1).any():
            raise InputError("its rounds do not rise from 1 on")
        return StoredRun({**columns, "plays": values.reshape(rows, width)}, meta, trust)
    except Exception as error:
        raise InputError(f"file must be a run written by 'rising run'; {str(path)!r} is not one ({error})") from None


def _check_shape(file: Any, meta: dict[str, Any]) -> int:
    """The number of rows of a file; sizes that its run cannot have are refused before anything is read."""
    found = file.metadata
    rows = int(found.num_rows)
    most = _USUAL_ROWS + len(meta["settings"].get("rounds", []))
    if not 1 <= rows <= most or found.num_row_groups > rows:
        raise InputError(f"it must have 1 to {most} rows, got {rows} in {found.num_row_groups} groups")
    _check_kinds(file.schema_arrow)
    most_plays = min(_MOST_NUMBERS, rows * max(1, len(meta["arms"])))
    for group in range(found.num_row_groups):
        for place in range(found.num_columns):
            column = found.row_group(group).column(place)
            most_here = most_plays if column.path_in_schema.startswith("plays.") else rows
            if column.num_values > most_here:
                raise InputError(f"its column {column.path_in_schema} must hold at most {most_here} values")
            if column.path_in_schema.partition(".")[0] not in (*SERIES, "plays"):
                continue  # these are not read
            # Texts may be of any length, whatever the number of values.
            if column.physical_type not in _NUMBERS or column.total_uncompressed_size > 16 * most_here + _MOST_BESIDE:
                raise InputError(f"its column {column.path_in_schema} must hold {most_here} numbers and nothing else")
    return rows


def _check_kinds(schema: Any) -> None:
    """Refuse columns that are read and do not hold numbers."""
    import pyarrow as pa

    for name in SERIES:
        kind = schema.field(name).type
        if not (pa.types.is_integer(kind) if name == "round" else pa.types.is_floating(kind)):
            raise InputError(f"its column {name} must hold numbers, got {kind}")
    kind = schema.field("plays").type
    if not pa.types.is_list(kind) or not pa.types.is_integer(kind.value_type):
        raise InputError(f"its column plays must hold lists of whole numbers, got {kind}")
