"""Tasks from LCDB with many data sets: one classifier for each, within a budget of measured training time.

Each round chooses a classifier for every data set. The chosen ones are trained on one more slice of their data, as in
`rising_bandits.problems.lcdb`, and the reward is the sum of their accuracies. The cost of a classifier is the training
time that LCDB measured for it on the whole data set. The costs of the chosen classifiers must stay within a budget,
which is a share of what the most accurate classifiers of all data sets cost together.
"""

from __future__ import annotations

import numpy as np

from rising_bandits import _checks
from rising_bandits.curves import Spread
from rising_bandits.errors import InputError
from rising_bandits.problems import lcdb
from rising_bandits.problems.groups import Knapsack
from rising_bandits.problems.task import Task
from rising_bandits.problems.tasks import Family

SHARE = 0.25
"""The budget, as a share of the cost of the most accurate classifiers."""
DATASETS = {
    "portfolio": (23, 181, 401, 679, 737, 819, 847, 979),
    "portfolio-even": (44, 60, 182, 720, 728, 806, 930, 976),
}
"""The OpenML ids of each task: odd ones to report on, even ones to develop on."""


def portfolio(
    datasets: tuple[int, ...] = DATASETS["portfolio"],
    horizon: int = lcdb.HORIZON,
    *,
    share: float = SHARE,
    name: str = "lcdb-portfolio",
) -> Task:
    """One classifier for each data set, within a budget of training time.

    Parameters
    ----------
    datasets
        OpenML ids, each one of `lcdb.ids`.
    horizon
        The number of rounds, which is also the number of slices of each data set.
    share
        The budget, as a share of what the most accurate classifiers of all data sets cost together.
    name
        The name of the task.

    >>> task = portfolio((3, 23), horizon=300)
    >>> task.problem.n_arms, task.problem.oracle.max_size
    (38, 2)
    """
    _checks.integer("horizon", horizon, low=1, limit=10**9)
    _checks.number("share", share, low=0.0, high=1.0, open_low=True)
    if not isinstance(datasets, tuple | list) or not datasets:
        raise InputError(f"datasets must be a list of at least one OpenML id, got {datasets!r:.80}")
    found = {str(key): lcdb.curves(key) for key in datasets}
    every = [curve for curves in found.values() for curve in curves]
    seconds = {(key, curve.learner): float(curve.seconds[-1]) for key, curves in found.items() for curve in curves}
    best = sum(max(curves, key=lambda curve: curve.accuracy[-1]).seconds[-1] for curves in found.values())
    least = sum(min(curve.seconds[-1] for curve in curves) for curves in found.values())
    deviations = tuple(lcdb.by_play(curve, curve.spread, horizon) for curve in every)
    return Task(
        name,
        Knapsack(
            seconds,
            # Some margin for rounding, so that the cheapest classifiers are always affordable.
            max(share * float(best), 1.1 * float(least)),
            groups={key: [curve.learner for curve in curves] for key, curves in found.items()},
        ),
        tuple(lcdb.by_play(curve, curve.accuracy, horizon) for curve in every),
        horizon,
        Spread(deviations, told=float(np.sqrt(np.mean([np.mean(d.table(horizon) ** 2) for d in deviations])))),
        description=f"a classifier for each of {len(found)} data sets within a budget of training time (LCDB)",
        recorded=True,
    )


def by_name(name: str, member: str, horizon: int | None) -> Task:
    """The task of a member of the family ``lcdb-``: a portfolio or a single data set."""
    rounds = lcdb.HORIZON if horizon is None else horizon
    if member in DATASETS:
        return portfolio(DATASETS[member], rounds, name=name)
    return lcdb.single(name, int(member), rounds)


FAMILY = Family(
    "lcdb-",
    lambda: [*(str(key) for key in lcdb.ids()), *DATASETS],
    by_name,
    "a classifier for an OpenML data set, from measured learning curves; lcdb-portfolio: one for each of 8 data sets",
)
