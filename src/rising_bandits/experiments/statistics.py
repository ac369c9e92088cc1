"""Means and confidence intervals over seeds, and the rows of a table of results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits.experiments.stored import StoredRun


@dataclass(frozen=True)
class Band:
    """The mean regret over runs with a confidence band, at the recorded rounds.

    Attributes
    ----------
    rounds
        The recorded rounds.
    mean
        The mean regret at each of them.
    low, high
        The ends of the interval of the mean; equal to the mean for a single run.
    runs
        How many runs there are.
    """

    rounds: Ints
    mean: Floats
    low: Floats
    high: Floats
    runs: int


def half_width(values: Floats, level: float = 0.99) -> Floats:
    """Half the width of the t-interval of the mean over the first axis; NaN for a single run.

    >>> float(half_width(np.array([1.0, 2.0, 3.0]), level=0.95).round(3))
    2.484
    """
    from scipy.stats import t

    runs = values.shape[0]
    if runs < 2:
        return np.full(values.shape[1:], np.nan)
    return np.asarray(t.ppf(0.5 + level / 2, runs - 1) * values.std(axis=0, ddof=1) / math.sqrt(runs))


def band(runs: Sequence[StoredRun], level: float = 0.99) -> Band:
    """The mean regret of one policy on one task, with a t-interval.

    Parameters
    ----------
    runs
        Runs of the policy on the task that differ in their seeds.
    level
        The confidence level of the interval.
    """
    regrets = np.stack([run.regret for run in runs])
    mean, half = regrets.mean(axis=0), half_width(regrets, level)
    half = np.where(np.isnan(half), 0.0, half)
    return Band(runs[0].rounds, mean, mean - half, mean + half, len(runs))


@dataclass(frozen=True)
class Row:
    """One row of the table of a comparison: one policy on one task.

    Attributes
    ----------
    task
        The task, as the runs name it, with its options.
    policy
        The label of the policy.
    runs
        How many runs there are.
    horizon
        The number of rounds of each run.
    regret
        The mean final regret.
    half_width
        Half the width of its t-interval over seeds; NaN for a single run.
    share
        The mean final regret as a share of the reward of the optimal constant super arm.
    optimal_plays
        The share of rounds in which the optimal constant super arm was played; NaN if it is not known.
    microseconds
        The mean time per round.
    metrics
        The mean of each metric that the runs have.
    """

    task: str
    policy: str
    runs: int
    horizon: int
    regret: float
    half_width: float
    share: float
    optimal_plays: float
    microseconds: float
    metrics: dict[str, float] = field(default_factory=dict)


def group(runs: Iterable[StoredRun]) -> dict[tuple[str, str], list[StoredRun]]:
    """Sort runs by task and policy, in order of appearance. A task with options counts as a task of its own.

    Parameters
    ----------
    runs
        The runs.

    Returns
    -------
    dict
        The runs of each pair (task, label of the policy).
    """
    groups: dict[tuple[str, str], list[StoredRun]] = {}
    for run in runs:
        groups.setdefault((run.spec.world, run.label), []).append(run)
    return groups


def _metrics(runs: Sequence[StoredRun]) -> dict[str, float]:
    """The mean of each metric over the runs that have it."""
    names = dict.fromkeys(name for run in runs for name in run.metrics)
    return {name: float(np.mean([run.metrics[name] for run in runs if name in run.metrics])) for name in names}


def summarise(runs: Iterable[StoredRun], level: float = 0.99) -> list[Row]:
    """One row for each policy on each task, the smallest regret first within a task.

    Parameters
    ----------
    runs
        The runs.
    level
        The confidence level of the intervals.
    """
    rows = []
    for (task, label), members in group(runs).items():
        final = np.array([run.regret[-1] for run in members])
        horizon, optimum = members[0].spec.horizon, float(members[0].meta["optimal_total"])
        rows.append(
            Row(
                task=task,
                policy=label,
                runs=len(members),
                horizon=horizon,
                regret=float(final.mean()),
                half_width=float(half_width(final, level)),
                # Where the best super arm earns nothing there is nothing to lose a share of.
                share=float(final.mean() / optimum) if optimum else math.nan,
                optimal_plays=math.nan
                if math.isnan(optimum)
                else float(np.mean([run.meta["optimal_plays"] for run in members]) / horizon),
                microseconds=float(np.mean([run.meta["seconds"] for run in members]) / horizon * 1e6),
                metrics=_metrics(members),
            )
        )
    order = {task: place for place, task in enumerate(dict.fromkeys(row.task for row in rows))}
    return sorted(rows, key=lambda row: (order[row.task], row.regret))
