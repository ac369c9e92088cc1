"""Means and intervals over seeds, and what a table of results says."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits.experiments.store import StoredRun


@dataclass(frozen=True)
class Band:
    """A mean over runs with a confidence band, at recorded rounds."""

    rounds: Ints
    mean: Floats
    low: Floats
    high: Floats
    runs: int


def half_width(values: Floats, level: float = 0.99) -> Floats:
    """Half the width of the t-interval of a mean over the first axis; NaN for a single run.

    >>> float(half_width(np.array([1.0, 2.0, 3.0]), level=0.95).round(3))
    2.484
    """
    from scipy.stats import t

    runs = values.shape[0]
    if runs < 2:
        return np.full(values.shape[1:], np.nan)
    return np.asarray(t.ppf(0.5 + level / 2, runs - 1) * values.std(axis=0, ddof=1) / math.sqrt(runs))


def band(runs: Sequence[StoredRun], level: float = 0.99) -> Band:
    """Mean regret over runs of one policy on one task, with a t-interval."""
    regrets = np.stack([run.regret for run in runs])
    mean, half = regrets.mean(axis=0), half_width(regrets, level)
    half = np.where(np.isnan(half), 0.0, half)
    return Band(runs[0].rounds, mean, mean - half, mean + half, len(runs))


@dataclass(frozen=True)
class Row:
    """One line of the table of a comparison: a policy on a task."""

    task: str
    policy: str
    runs: int
    horizon: int
    regret: float
    half_width: float
    """Of the 99% t-interval of the final regret over seeds; NaN for a single run."""
    share: float
    """Final regret as a share of what the optimal constant super arm earns."""
    optimal_plays: float
    """Share of rounds in which the optimal constant super arm was played."""
    microseconds: float
    """Time per round."""


def group(runs: Iterable[StoredRun]) -> dict[tuple[str, str], list[StoredRun]]:
    """Runs by task and label of the policy, in order of appearance."""
    groups: dict[tuple[str, str], list[StoredRun]] = {}
    for run in runs:
        groups.setdefault((run.spec.task, run.label), []).append(run)
    return groups


def summarise(runs: Iterable[StoredRun], level: float = 0.99) -> list[Row]:
    """A row for each policy on each task, best regret first within a task."""
    rows = []
    for (task, label), members in group(runs).items():
        final = np.array([run.regret[-1] for run in members])
        horizon = members[0].spec.horizon
        rows.append(
            Row(
                task=task,
                policy=label,
                runs=len(members),
                horizon=horizon,
                regret=float(final.mean()),
                half_width=float(half_width(final, level)),
                share=float(final.mean() / members[0].meta["optimal_total"]),
                optimal_plays=float(np.mean([run.meta["optimal_plays"] for run in members]) / horizon),
                microseconds=float(np.mean([run.meta["seconds"] for run in members]) / horizon * 1e6),
            )
        )
    order = {task: place for place, task in enumerate(dict.fromkeys(row.task for row in rows))}
    return sorted(rows, key=lambda row: (order[row.task], row.regret))
