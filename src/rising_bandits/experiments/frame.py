"""Results as one table: a row for each recorded round of each run, with everything that identifies the run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rising_bandits._extras import require
from rising_bandits.errors import InputError
from rising_bandits.experiments import layout
from rising_bandits.experiments.store import ResultStore
from rising_bandits.experiments.stored import (
    SERIES,
    StoredRun,
    columns_of_stored,
    is_text,
    own_columns,
    read_run,
    to_table,
)

Source = str | Path | Iterable[StoredRun]
"""A results folder, a result file, or runs."""


def frame(
    source: Source, *, final: bool = False, plays: bool = False, polars: bool = False, arrow: bool = False
) -> Any:
    """Results as one table.

    Nothing that the files name is imported or called.

    Parameters
    ----------
    source
        A results folder, one result file, or runs as `run_plan` returns them.
    final
        Whether to return only the last round of each run.
    plays
        Whether to add the column ``plays``, a list with the number of plays of each base arm.
    polars, arrow
        Whether to return a polars DataFrame or an Arrow table; by default it is a pandas DataFrame.

    Returns
    -------
    DataFrame
        The columns are ``task``, ``policy``, ``label`` (the policy with the parameters that differ from its defaults),
        each parameter of the policies, ``seed``, ``horizon``, ``round``, the cumulative ``regret`` and ``reward``,
        ``realised_regret`` and ``realised_reward``, ``seconds`` of the whole run, each metric, ``parameters`` as JSON,
        and ``code``, the hash of your own modules. A parameter that a policy does not have is empty. A column whose
        values are of several kinds holds text.

    Raises
    ------
    InputError
        There are no runs.

    >>> import tempfile
    >>> from rising_bandits.experiments import make_plan, run_plan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runs = run_plan(make_plan(["toy"], ["crucb", "random"], seeds=2, horizon=100), folder, workers=1)
    ...     table = frame(folder, final=True)
    >>> table[["task", "policy", "seed", "round", "epsilon"]].values.tolist()[0]
    ['toy', 'crucb', 0, 100, 0.125]
    """
    require("lab", "pyarrow")
    import pyarrow as pa

    if polars and arrow:
        raise InputError("polars and arrow must not both be True")
    runs = runs_of(source)
    extra: dict[str, bool] = {}
    for run in runs:
        for name, value in own_columns(run.meta).items():
            extra[name] = extra.get(name, False) or is_text(value)
    parameters = [name for name in extra if not any(name in run.metrics for run in runs)]
    wanted = ["task", "policy", "label", *parameters, "seed", "horizon", *SERIES, "seconds"]
    wanted += [name for name in extra if name not in parameters] + ["parameters", "code"] + ["plays"] * plays
    parts = []
    for run in runs:
        table = to_table(columns_of_stored(run), run.meta, list(extra.items())).select(wanted)
        parts.append(table.slice(table.num_rows - 1) if final else table)
    table = pa.concat_tables([part.replace_schema_metadata(None) for part in parts])
    if arrow:
        return table
    if polars:
        require("polars", "polars", "leave out polars=True for a pandas DataFrame")
        import polars as pl

        return pl.from_arrow(table)
    require("lab", "pandas")
    return table.to_pandas()


def runs_of(source: Source) -> list[StoredRun]:
    """The runs of a results folder, of a file, or as given.

    Parameters
    ----------
    source
        A results folder, one result file, or runs.

    Raises
    ------
    InputError
        There are none.
    """
    if isinstance(source, str | Path):
        path = Path(source)
        if not path.exists():
            raise InputError(f"folder must be a results folder, but {str(source)!r} does not exist")
        if path.is_file():
            return [read_run(path)]
        # The sub-folder of the runs will do as well.
        found = ResultStore(
            path.parent if path.name == layout.RUNS and not (path / layout.RUNS).exists() else path
        ).runs()
        if not found:
            raise InputError(f"folder must hold finished runs, but {str(source)!r} has none")
        return found
    found = list(source)
    if not found or not all(isinstance(run, StoredRun) for run in found):
        raise InputError(f"runs must be a results folder or a list of runs, got {source!r}")
    return found
