"""The definition of the paper's tasks, written out."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from hypothesis import settings

quick = settings(deadline=None, derandomize=True, max_examples=40)


@cache
def late_means(c: int, s: int, length: int) -> np.ndarray:
    """Means of a late bloomer at 0, 1, ... plays: one addition a play."""
    means = []
    total = 0.0
    for n in range(length):
        means.append(total)
        if n < s:
            total += (c * (math.floor(n / c) + 1) + 1) ** -1.2
    return np.array(means)


@cache
def means_of(kind: str, length: int) -> np.ndarray:
    """Means of each kind of arm that the tasks have."""
    if kind.startswith("flat"):
        return np.full(length, float(kind.removeprefix("flat ")))
    if kind == "easy":
        return late_means(250, 5_000, length)
    if kind == "complex":
        return late_means(1_000, 20_000, length)
    if kind == "toy shared":
        return late_means(1_000, 500_000, 500_000)[:length] / late_means(1_000, 500_000, 500_000)[499_999]
    if kind == "toy late":
        return np.array([min(1.0, n / 5_000) for n in range(length)])
    share, base = {"k-max second": (0.5, 0.3), "k-max third": (0.1, 0.5)}[kind]
    return base + share * means_of("easy", length)


def grid_paths(size: int) -> list[tuple[int, ...]]:
    """Edges row by row: the horizontal ones of a row, then the vertical ones from it to the next."""
    number: dict[tuple, int] = {}
    for i in range(size):
        for j in range(size - 1):
            number[(i, j), (i, j + 1)] = len(number)
        if i + 1 < size:
            for j in range(size):
                number[(i, j), (i + 1, j)] = len(number)
    found = []
    for rights in itertools.combinations(range(2 * size - 2), size - 1):
        i = j = 0
        arms = []
        for move in range(2 * size - 2):
            to = (i, j + 1) if move in rights else (i + 1, j)
            arms.append(number[(i, j), to])
            i, j = to
        found.append(tuple(sorted(arms)))
    return sorted(found)


def matchings(workers: int, jobs: int) -> list[tuple[int, ...]]:
    chosen = itertools.permutations(range(jobs), workers)
    return sorted(tuple(worker * jobs + job for worker, job in enumerate(row)) for row in chosen)


def spanning_trees(nodes: int) -> list[tuple[int, ...]]:
    edges = list(itertools.combinations(range(nodes), 2))

    def joins_all(arms: Sequence[int]) -> bool:
        part = list(range(nodes))
        for arm in arms:
            a, b = edges[arm]
            part = [part[a] if here == part[b] else here for here in part]
        return len(set(part)) == 1

    return sorted(arms for arms in itertools.combinations(range(len(edges)), nodes - 1) if joins_all(arms))


@dataclass(frozen=True)
class Row:
    """A row of the table of tasks."""

    arms: int
    size: int
    longest: int
    horizon: int
    sigma: float
    late: tuple[int, ...]
    kinds: tuple[str, ...]
    family: Callable[[], list[tuple[int, ...]]]


def mixed(arms: int, late: Sequence[int], level: str) -> tuple[str, ...]:
    return tuple(level if arm in late else {"easy": "flat 0.9", "complex": "flat 0.6"}[level] for arm in range(arms))


EDGES = (5, 16, 27, 38, 49, 55, 56, 57, 58, 59)
TABLE: dict[str, Row] = {
    "toy": Row(
        3, 2, 2, 500_000, 0.0, (0, 2), ("toy shared", "flat 0.9", "toy late"), lambda: [(0, 1), (0, 2)]
    ),
    "path-easy": Row(
        12, 6, 4, 300_000, 0.01, (2, 5, 6, 9), mixed(12, (2, 5, 6, 9), "easy"), lambda: grid_paths(3)
    ),
    "path-complex": Row(60, 252, 10, 500_000, 0.01, EDGES, mixed(60, EDGES, "complex"), lambda: grid_paths(6)),
    "matching-easy": Row(8, 12, 2, 300_000, 0.01, (0, 5), mixed(8, (0, 5), "easy"), lambda: matchings(2, 4)),
    "matching-complex": Row(
        28, 840, 4, 500_000, 0.01, (0, 8, 16, 24), mixed(28, (0, 8, 16, 24), "complex"), lambda: matchings(4, 7)
    ),
    "spanning-easy": Row(
        6, 16, 3, 300_000, 0.01, (1, 3, 5), mixed(6, (1, 3, 5), "easy"), lambda: spanning_trees(4)
    ),
    "spanning-complex": Row(
        15, 1296, 5, 500_000, 0.01, (1, 3, 5, 6, 8), mixed(15, (1, 3, 5, 6, 8), "complex"), lambda: spanning_trees(6)
    ),
    "k-max": Row(
        5, 10, 2, 300_000, 0.01, (0, 1, 2), ("easy", "k-max second", "k-max third", "flat 0.7", "flat 0.9"),
        lambda: sorted(itertools.combinations(range(5), 2)),
    ),
}  # fmt: skip
every_task = pytest.mark.parametrize("name", TABLE)
