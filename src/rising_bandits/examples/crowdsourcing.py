"""Assign tasks to workers who improve with practice: ``python -m rising_bandits.examples.crowdsourcing``."""

from __future__ import annotations

import numpy as np

from rising_bandits import _checks
from rising_bandits.curves import Curve, Flat, Gaussian, Linear
from rising_bandits.examples.compare import main
from rising_bandits.problems import Matching, Task

WORKERS = ("ann", "bob", "cy", "dee")
TASKS = ("birds", "boats", "maps", "faces", "cells", "speech")
TITLE = "Four workers, six tasks"
HORIZONS = (2_000, 20_000, 100_000)


def problem() -> Matching:
    """Give every worker a different task.

    >>> problem()
    Matching(24 base arms, 360 super arms of up to 4, sum reward)
    """
    return Matching(WORKERS, TASKS)


def task(world: int = 0) -> Task:
    """Workers who agree with reviewers more or less often, depending on the task and on practice.

    About two in five pairs of a worker and a task improve over 1500 batches and then beat most of the others. The other
    pairs keep their quality. An outcome is the share of labels in a batch that reviewers agree with, with noise of
    standard deviation 0.02.

    Parameters
    ----------
    world
        The seed of the random curves.
    """
    rng = np.random.default_rng(_checks.integer("world", world, low=0))
    curves: list[Curve] = []
    for _ in range(len(WORKERS) * len(TASKS)):
        if rng.random() < 0.6:
            curves.append(Flat(float(rng.uniform(0.55, 0.8))))
        else:
            curves.append(Linear(1_500, start=float(rng.uniform(0.2, 0.5)), end=float(rng.uniform(0.8, 0.97))))
    return Task("crowdsourcing", problem(), tuple(curves), HORIZONS[-1], Gaussian(0.02))


if __name__ == "__main__":
    main(task, HORIZONS, TITLE, __doc__ or "")
