"""Metrics: functions of a finished run whose numbers are kept with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rising_bandits.errors import InputError
from rising_bandits.experiments.identity import Trust, load
from rising_bandits.simulation import Run

Metric = Callable[[Run], Any]
"""A function of a run that returns a number, or a table of numbers by name."""
SETTLED = 0.95
"""A policy has settled on a super arm from the round on after which it plays it in this share of the rounds."""
FALLEN = 0.1
"""An arm has fallen where its mean is this much below the largest mean that it had."""


def regret_split(run: Run) -> dict[str, float]:
    """Split the final regret by its cause.

    A run has three parts, told apart at its recorded rounds. In the first, some arm has fewer than two plays that gets
    them later. In the last, the policy has settled: one super arm is played in at least 95% of the rounds that are
    left. Between them it explores. The four numbers add up to the final regret.

    Parameters
    ----------
    run
        A finished run.

    Returns
    -------
    dict
        ``regret_first_plays``, ``regret_exploring``, ``regret_settled_wrong`` and ``regret_settled_right``. The last
        part of a run counts as settled wrong if its super arm is not the optimal constant one, else as settled right:
        the policy plays what the comparator plays, on arms that may be less practised. NaN where the run does not hold
        the plays of its arms.

    >>> import rising_bandits as rb
    >>> run = rb.simulate(rb.tasks.get("path-easy"), rb.SWCUCB(), horizon=2_000, seed=0)
    >>> parts = regret_split(run)
    >>> bool(np.isclose(sum(parts.values()), run.regret[-1]))
    True
    """
    names = ("regret_first_plays", "regret_exploring", "regret_settled_wrong", "regret_settled_right")
    if run.plays_at.shape[1:] != run.plays.shape or run.optimum is None or not np.isfinite(run.regret).all():
        return dict.fromkeys(names, math.nan)
    total = float(run.regret[-1])
    needed = np.minimum(run.plays, 2)
    first = int(np.argmax((run.plays_at >= needed).all(axis=1)))
    settled, arms = _settled(run, first)
    begun = float(run.regret[first])
    end = total if settled is None else float(run.regret[settled])
    right = arms is not None and np.array_equal(arms, run.optimum.super_arm)
    rest = total - end
    return dict(zip(names, (begun, end - begun, 0.0 if right else rest, rest if right else 0.0), strict=True))


def _settled(run: Run, first: int) -> tuple[int | None, Any]:
    """The place of the recorded round after which one super arm is played, and that super arm; None if none is."""
    oracle = run.task.problem.oracle
    for place in range(first, len(run.rounds) - 1):
        left = int(run.rounds[-1] - run.rounds[place])
        arms = np.flatnonzero(run.plays_at[-1] - run.plays_at[place] >= SETTLED * left)
        if arms.size and oracle.is_feasible(arms):
            return place, arms
    return None, None


def plays_fallen(run: Run) -> dict[str, float]:
    """Count the plays of arms that have fallen: how long a policy takes to leave them.

    An arm has fallen where the mean of a play is more than 0.1 below the largest mean that the arm had before.

    Parameters
    ----------
    run
        A finished run.

    Returns
    -------
    dict
        ``plays_fallen``: such plays of all arms together. If only one arm falls, it is the number of rounds in which
        the policy played the fallen arm.

    >>> import rising_bandits as rb
    >>> run = rb.simulate(rb.tasks.get("drop-once@1000"), rb.Oracle(super_arm=[0]), seed=0, compiled=False)
    >>> plays_fallen(run)
    {'plays_fallen': 500.0}
    """
    total = 0
    for curve, plays in zip(run.task.curves, run.plays.tolist(), strict=True):
        if plays:
            means = curve.table(plays)
            fallen = means < np.maximum.accumulate(means) - FALLEN
            total += int(fallen.sum()) + (plays - means.size) * int(fallen[-1])
    return {"plays_fallen": float(total)}


METRICS: dict[str, Metric] = {"regret-split": regret_split, "plays-fallen": plays_fallen}
"""The metrics of the library, by name."""


def metric(name: str, trust: Trust = None) -> Metric:
    """The metric of a name.

    Parameters
    ----------
    name
        A name in `METRICS`, or ``module:function`` for a function of your own. It gets a finished `simulation.Run` and
        returns a number, or a table of numbers by name.
    trust
        For a name that was read from a file: the modules that may be imported. By default any.

    Raises
    ------
    InputError
        The metric is not known or cannot be imported.
    """
    if ":" in name:
        found = load("metric", name, trust)
        if not callable(found):
            raise InputError(f"metric {name!r} must be a function of a run, got {type(found).__name__}")
        return found  # type: ignore[no-any-return]
    if name not in METRICS:
        raise InputError(f"metric must be one of {', '.join(METRICS)}, or module:function, got {name!r}")
    return METRICS[name]


def measure(run: Run, names: Sequence[str], trust: Trust = None) -> dict[str, float]:
    """The numbers of some metrics for a run, by the names of their columns.

    Parameters
    ----------
    run
        A finished run.
    names
        The metrics. One that returns a number gives a column of its own name.
    trust
        As for `metric`.

    Raises
    ------
    InputError
        A metric returned something else than numbers, or two metrics have the same column.
    """
    found: dict[str, float] = {}
    for name in names:
        value = metric(name, trust)(run)
        short = name.partition(":")[2] or name
        for column, number in value.items() if isinstance(value, Mapping) else [(short, value)]:
            if not isinstance(column, str) or not column.isidentifier() or column in found or column in RESERVED:
                raise InputError(f"metric {name!r} must have column names of its own, got {column!r}")
            try:
                found[column] = float(number)
            except (TypeError, ValueError):
                raise InputError(f"metric {name!r} must return a number for {column}, got {number!r}") from None
    return found


RESERVED = frozenset(
    [
        "task",
        "policy",
        "label",
        "parameters",
        "options",
        "code",
        "seed",
        "horizon",
        "round",
        "regret",
        "reward",
        "realised_regret",
        "realised_reward",
        "plays",
        "seconds",
    ]
)
"""Names of columns that metrics must not use."""
