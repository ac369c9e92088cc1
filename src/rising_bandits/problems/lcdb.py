"""Tasks from LCDB, the Learning Curve Database: each round one classifier gets the next slice of a real data set.

LCDB (Mohr, Viering, Loog and van Rijn, *LCDB 1.0*, ECML PKDD 2022; MIT licence) measured the validation accuracy of 20
scikit-learn classifiers on 248 OpenML data sets at some training sizes. ``bench/make_lcdb.py`` made the data file from
the package ``lcdb``. ``data/LICENSES.md`` has the licence.

A task has one arm per classifier, and a super arm is one of them. The data are cut into T slices, where T is the
horizon of the task. The n-th play of a classifier is its training on n slices, n/T of the data, and the outcome is its
validation accuracy.

- Between two measured training sizes the mean is interpolated with a straight line. Below the smallest it is that of
  the smallest.
- The noise is Gaussian with the standard deviation over LCDB's splits, interpolated in the same way, and clipped to
  [0, 1]. Policies that want a subgaussian constant are told the root mean square over arms and plays.
- Nothing is smoothed: a third of the curves fall by more than a percentage point from one size to the next.
- Classifiers without a measurement at the largest size are left out, so a task has from 4 to 20 arms.

In LCDB every point is a new training with that much data. A task reads the points as one model that is trained further.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import NamedTuple

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats
from rising_bandits.curves import Interpolated, Spread
from rising_bandits.errors import InputError
from rising_bandits.problems.sets import TopK
from rising_bandits.problems.tasks import Task

SCALE = 10_000.0
"""Accuracies in the file are whole numbers of this fraction."""
HORIZON = 1_000
"""The number of rounds of a task whose name does not say another."""


class LearningCurve(NamedTuple):
    """The measurements of one classifier on one data set, by training size."""

    learner: str
    size: Floats
    """Rows of training data, ascending."""
    accuracy: Floats
    """Mean validation accuracy over the splits."""
    spread: Floats
    """Its standard deviation over the splits."""
    seconds: Floats
    """Mean training time over the splits."""


@cache
def _file() -> dict[str, np.ndarray]:
    path = resources.files("rising_bandits.problems") / "data" / "lcdb.npz"
    with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
        return {name: data[name] for name in data.files}


def ids() -> list[int]:
    """The OpenML ids of all data sets, ascending.

    >>> len(ids()), ids()[:4]
    (248, [3, 6, 11, 12])
    """
    return [int(key) for key in _file()["dataset_ids"]]


def _place(dataset: int) -> int:
    """The place of a data set in the file."""
    found = np.flatnonzero(_file()["dataset_ids"] == _checks.integer("dataset", dataset, low=1, limit=10**9))
    if found.size == 0:
        raise InputError(f"dataset must be one of the {len(ids())} OpenML ids of lcdb.ids(), got {dataset!r}")
    return int(found[0])


def curves(dataset: int) -> list[LearningCurve]:
    """The learning curves of a data set, in alphabetical order of the classifiers.

    Parameters
    ----------
    dataset
        An OpenML id, one of `ids`.

    Raises
    ------
    InputError
        LCDB has no data set with this id.

    >>> found = curves(3)
    >>> found[0].learner, found[0].size[:4].tolist(), found[0].accuracy[:4].tolist()
    ('BernoulliNB', [16.0, 23.0, 32.0, 45.0], [0.6403, 0.6806, 0.7144, 0.7371])
    """
    data = _file()
    found = np.flatnonzero(data["curve_dataset"] == data["dataset_ids"][_place(dataset)])
    parts = []
    for curve in found:
        rows = slice(data["curve_first"][curve], data["curve_first"][curve + 1])
        parts.append(
            LearningCurve(
                str(data["learners"][data["curve_learner"][curve]]),
                data["size"][rows].astype(np.float64),
                data["mean"][rows] / SCALE,
                data["spread"][rows] / SCALE,
                data["seconds"][rows].astype(np.float64),
            )
        )
    return parts


def title(dataset: int) -> str:
    """The name of a data set on OpenML, or ``OpenML`` and its id if LCDB does not say it.

    Parameters
    ----------
    dataset
        An OpenML id, one of `ids`.

    >>> title(3)
    'kr-vs-kp'
    """
    name = str(_file()["dataset_names"][_place(dataset)])
    return name or f"OpenML {dataset}"


def by_play(curve: LearningCurve, values: Floats, horizon: int) -> Interpolated:
    """Measured values by the number of previous plays, if the whole data are cut into ``horizon`` slices.

    Parameters
    ----------
    curve
        The learning curve, which has the training sizes.
    values
        One value per training size, such as ``curve.accuracy``.
    horizon
        The number of slices.

    >>> by_play(curves(3)[0], curves(3)[0].accuracy, horizon=100)
    Interpolated(16 means, 0.6403 to 0.8731)
    """
    return Interpolated(tuple(curve.size * (horizon / curve.size[-1]) - 1.0), tuple(values))


def task(dataset: int, horizon: int = HORIZON) -> Task:
    """The task of a data set: each round one classifier is trained on one more slice of the data.

    Parameters
    ----------
    dataset
        An OpenML id, one of `ids`.
    horizon
        The number of rounds, which is also the number of slices of the data.

    >>> made = task(3, horizon=200)
    >>> made.problem.n_arms, made.means(199).max().round(3).item()
    (18, 0.996)
    """
    return single(f"lcdb-{dataset}", dataset, horizon)


def single(name: str, dataset: int, horizon: int) -> Task:
    """`task` under another name.

    Parameters
    ----------
    name
        The name of the task.
    dataset, horizon
        As for `task`.
    """
    found = curves(dataset)
    _checks.integer("horizon", horizon, low=1, limit=10**9)
    deviations = tuple(by_play(curve, curve.spread, horizon) for curve in found)
    told = float(np.sqrt(np.mean([np.mean(curve.table(horizon) ** 2) for curve in deviations])))
    return Task(
        name,
        TopK([curve.learner for curve in found], k=1),
        tuple(by_play(curve, curve.accuracy, horizon) for curve in found),
        horizon,
        Spread(deviations, told=told),
        description=f"one of {len(found)} classifiers for the data set {title(dataset)} (LCDB)",
        recorded=True,
    )
