"""Compare policies on the worlds that they share."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from rising_bandits import _checks
from rising_bandits._extras import require
from rising_bandits.errors import InputError
from rising_bandits.experiments.comparison import Comparison
from rising_bandits.experiments.frame import Source, frame, runs_of
from rising_bandits.experiments.paired import Difference, holm, paired_difference, smallest_p
from rising_bandits.experiments.ranks import mean_ranks
from rising_bandits.experiments.spec import OPTIONS

_MOST_RESAMPLES = 1_000_000
_SMALL = 0.05
"""P-values up to this one are usually called significant."""


def compare(
    source: Source | Any,
    baseline: str | None = None,
    *,
    measure: str = "regret",
    interval: str = "bootstrap",
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compare policies with a baseline on the worlds that they share.

    Two runs of one task with one seed and horizon meet the same outcomes, so their difference is a paired difference.

    Parameters
    ----------
    source
        A results folder, runs as `run_plan` returns them, or a table as `frame` returns it (pandas, polars or Arrow),
        perhaps filtered.
    baseline
        The label of the policy to compare with, such as ``crucb``; by default the first.
    measure
        The column to compare, at the last round of each run: ``regret``, ``reward``, ``seconds`` or a metric.
    interval
        ``bootstrap`` for percentile intervals of the mean difference with p-values of the sign-change test, or ``t``
        for Student's intervals with p-values of the paired t-test.
    level
        The confidence level.
    resamples, seed
        How many resamples the bootstrap and the sign-change test take, and their seed. The numbers of a row do not
        depend on the other rows, except for ``p_holm``.

    Returns
    -------
    Comparison
        The rows, mean ranks with their critical difference, and ways to print them.

    Raises
    ------
    InputError
        There are no runs to compare, or an argument is wrong.

    >>> import tempfile
    >>> from rising_bandits.experiments import make_plan, run_plan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plan = make_plan(["toy"], ["oracle", "random"], seeds=4, horizon=200)
    ...     found = compare(run_plan(plan, folder, workers=1), baseline="oracle", interval="t")
    >>> [(row.policy, row.pairs, row.less) for row in found.rows]
    [('random', 4, 0.0)]
    """
    if interval not in ("bootstrap", "t"):
        raise InputError(f"interval must be bootstrap or t, got {interval!r}")
    level = _checks.number("level", level, low=0.0, high=1.0, open_low=True, open_high=True)
    resamples = _checks.integer("resamples", resamples, low=100, high=_MOST_RESAMPLES)
    seed = _checks.integer("seed", seed, low=0)
    values = _values(source, measure)
    labels = list(dict.fromkeys(label for cells in values.values() for label in cells))
    baseline = labels[0] if baseline is None else baseline
    if len(labels) < 2:
        raise InputError(f"there must be runs of at least two policies, got only {labels[0]}")
    if baseline not in labels:
        raise InputError(f"baseline must be one of {', '.join(labels)}, got {baseline!r}")
    rows: list[Difference] = []
    notes: list[str] = []
    for world in dict.fromkeys(world for world, _ in values):
        blocks = [cells for (name, _), cells in values.items() if name == world]
        for label in labels:
            pairs = np.array([[cells[label], cells[baseline]] for cells in blocks if {label, baseline} <= cells.keys()])
            alone = sum(label in cells and baseline not in cells for cells in blocks)
            if label != baseline and alone:
                many = "1 run" if alone == 1 else f"{alone} runs"
                notes.append(f"{many} of {label} on {world} left out: {baseline} has no run with the same seed")
            if label != baseline and len(pairs):
                rng = np.random.default_rng([seed, *f"{world}\n{label}".encode()])
                rows.append(paired_difference(world, label, pairs, interval, level, resamples, rng))
    if not rows:
        raise InputError(f"no policy shares a task, horizon and seed with the baseline {baseline!r}")
    rows = [replace(row, p_holm=p) for row, p in zip(rows, holm([row.p for row in rows]), strict=True)]
    if interval == "bootstrap":
        notes += _too_few(rows)
    return Comparison(rows, mean_ranks(values, labels), baseline, measure, level, interval, tuple(notes))


def _too_few(rows: list[Difference]) -> list[str]:
    """A note if no p-value can be small, because there are few pairs and many comparisons."""
    most, tested = max(row.pairs for row in rows), sum(row.pairs > 1 for row in rows)
    least = min(1.0, tested * smallest_p(most))
    if tested == 0 or least <= _SMALL:
        return []
    needed = next(count for count in range(most, 64) if tested * smallest_p(count) <= _SMALL)
    comparisons = "1 comparison" if tested == 1 else f"{tested} comparisons"
    return [
        f"p (Holm) cannot be below {least:.3f} here: the sign-change test has {most} pairs for {comparisons}. "
        f"Use {needed} seeds or more, or the t interval if the differences are about normal."
    ]


def _values(source: Any, measure: str) -> dict[tuple[str, Any], dict[str, float]]:
    """The measure of each run: by world and seed, then by the label of the policy."""
    require("lab", "pandas")
    import pandas as pd

    table = source.to_pandas() if hasattr(source, "to_pandas") else source
    if not isinstance(table, pd.DataFrame):
        table = frame(runs_of(table), final=True)
    needed = ["task", "label", "seed", "horizon", "round", measure]
    if missing := [name for name in needed if name not in table.columns]:
        raise InputError(f"measure must be a column of the results, and {', '.join(missing)} is not one of them")
    if not pd.api.types.is_numeric_dtype(table[measure]):
        raise InputError(f"measure must be a column of numbers, got {measure!r}")
    options = [name for name in OPTIONS if name in table.columns]
    many = {task: table.loc[table.task == task, "horizon"].nunique() > 1 for task in table["task"].unique()}
    found: dict[tuple[str, Any], dict[str, float]] = {}
    last = table[table["round"] == table["horizon"]]
    for row in last[[*needed, *options]].itertuples(index=False):
        told = {name: getattr(row, name) for name in options if not pd.isna(getattr(row, name))}
        told |= {"horizon": row.horizon} if many[row.task] else {}
        world = f"{row.task} [{', '.join(f'{k}={_whole(v)}' for k, v in told.items())}]" if told else row.task
        cells = found.setdefault((world, (row.horizon, row.seed)), {})
        if row.label in cells:
            raise InputError(f"there must be one run of {row.label} on {world} with seed {row.seed}, got two")
        value = float(getattr(row, measure))
        if math.isfinite(value):
            cells[row.label] = value
    if not any(found.values()):
        raise InputError(f"there must be finished runs with a {measure}, got none")
    return found


def _whole(value: Any) -> Any:
    """A number of a column as it was given: a column with gaps holds whole numbers as 20.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
