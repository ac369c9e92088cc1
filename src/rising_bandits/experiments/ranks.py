"""Mean ranks of policies over tasks or seeds, and the difference from which on they tell policies apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Ranks:
    """Mean ranks of policies over blocks, 1 for the least. Blocks are tasks, or seeds if there is one task.

    Attributes
    ----------
    mean
        The mean rank of each policy, the best first.
    blocks
        How many blocks there are.
    of
        What a block is: ``task`` or ``seed``.
    critical
        The critical difference of Nemenyi's test: mean ranks that differ by less are not told apart.
    p
        The p-value of Friedman's test of "all policies are alike"; NaN for fewer than three policies.
    """

    mean: dict[str, float]
    blocks: int
    of: str
    critical: float
    p: float

    def cliques(self) -> list[list[str]]:
        """Groups of policies that are not told apart, each as large as possible, the best first."""
        names = list(self.mean)
        found: list[list[str]] = []
        for place, name in enumerate(names):
            group = [other for other in names[place:] if self.mean[other] - self.mean[name] < self.critical]
            if len(group) > 1 and not any(set(group) <= set(other) for other in found):
                found.append(group)
        return found


def mean_ranks(values: dict[tuple[str, Any], dict[str, float]], labels: list[str]) -> Ranks | None:
    """Mean ranks over the blocks that have all policies.

    Parameters
    ----------
    values
        The measure of each run: by task and seed, then by policy.
    labels
        The policies.

    Returns
    -------
    Ranks or None
        None if no task and seed has all policies.
    """
    from scipy import stats

    whole = {key: cells for key, cells in values.items() if set(labels) <= cells.keys()}
    worlds = list(dict.fromkeys(world for world, _ in whole))
    if not whole:
        return None
    rows = [[cells[label] for label in labels] for cells in whole.values()]
    of = "seed"
    if len(worlds) > 1:
        # Seeds of one task are not independent evidence about tasks: a task is one block, with means over its seeds.
        of = "task"
        rows = [
            np.mean(
                [[cells[label] for label in labels] for (name, _), cells in whole.items() if name == world], axis=0
            ).tolist()
            for world in worlds
        ]
    ranked = np.array([stats.rankdata(row) for row in rows]).mean(axis=0)
    count, blocks = len(labels), len(rows)
    mean = {labels[place]: float(ranked[place]) for place in np.argsort(ranked, kind="stable")}
    critical = p = math.nan
    if blocks > 1:
        width = float(stats.studentized_range.ppf(0.95, count, np.inf)) / math.sqrt(2)
        critical = width * math.sqrt(count * (count + 1) / (6 * blocks))
        columns = np.array(rows).T
        if count > 2 and any(len(set(row)) > 1 for row in rows):
            p = float(stats.friedmanchisquare(*columns).pvalue)
    return Ranks(mean, blocks, of, critical, p)
