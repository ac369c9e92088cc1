"""Random instances. Each is determined by its family, structure, noise, horizon and seed."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable
from typing import cast

import numpy as np

from rising_bandits import _checks
from rising_bandits.curves import (
    Bernoulli,
    Curve,
    Exponential,
    Flat,
    Gaussian,
    LateBloomer,
    Linear,
    Noise,
    PowerLaw,
    Scaled,
)
from rising_bandits.errors import InputError
from rising_bandits.problems import Matching, Problem, ShortestPath, SpanningTree, Task, TopK
from rising_bandits.problems.tasks import grid_edges

NOISES: dict[str, Noise] = {
    "gaussian-0.01": Gaussian(0.01),
    "gaussian-0.1": Gaussian(0.1),
    "bernoulli": Bernoulli(),
}
"""The noise models by name."""
HORIZONS = (5_000, 50_000, 500_000)
"""The numbers of rounds."""
EDITION = 1
"""The edition of the suite. It is raised when the instances change, so that old results are not taken for new ones."""
SIZES = 5
"""How many sizes each structure comes in; the seed chooses one."""


def _path(size: int) -> Problem:
    """Paths through a square grid."""
    side = (3, 4, 5, 7, 10)[size]
    return ShortestPath(grid_edges(side), "0,0", f"{side - 1},{side - 1}")


def _matching(size: int) -> Problem:
    """Matchings of workers to jobs."""
    workers, jobs = ((2, 4), (4, 7), (5, 8), (8, 12), (10, 20))[size]
    return Matching([f"w{i}" for i in range(workers)], [f"j{i}" for i in range(jobs)])


def _tree(size: int) -> Problem:
    """Spanning trees of a complete graph."""
    nodes = (4, 6, 8, 12, 20)[size]
    return SpanningTree([(i, j) for i in range(nodes) for j in range(i + 1, nodes)])


def _top_k(size: int) -> Problem:
    """The k best of many arms."""
    return TopK(*((10, 2), (20, 4), (50, 5), (100, 10), (200, 20))[size])


STRUCTURES: dict[str, Callable[[int], Problem]] = {
    "path": _path,
    "matching": _matching,
    "tree": _tree,
    "top-k": _top_k,
}
"""The structures by name: functions that make a problem of a size from 0 to 4."""


def _spread(rng: np.random.Generator, low: float, high: float) -> float:
    """A number drawn log-uniformly between ``low`` and ``high``."""
    return float(math.exp(rng.uniform(math.log(low), math.log(high))))


def _ends(rng: np.random.Generator) -> tuple[float, float]:
    """A random first and last value of a rising curve."""
    end = float(rng.uniform(0.3, 0.95))
    return end * float(rng.uniform(0.0, 1.0)), end


def _exponential(rng: np.random.Generator, horizon: int) -> Curve:
    """A random exponential curve."""
    start, end = _ends(rng)
    return Exponential(time=horizon * _spread(rng, 1e-3, 1e-1), start=start, end=end)


def _power(rng: np.random.Generator, horizon: int) -> Curve:
    """A random power law."""
    start, end = _ends(rng)
    return PowerLaw(scale=horizon * _spread(rng, 1e-4, 1e-2), power=float(rng.uniform(0.5, 2.0)), start=start, end=end)


def _linear(rng: np.random.Generator, horizon: int) -> Curve:
    """A random linear rise that then stays constant."""
    start, end = _ends(rng)
    return Linear(duration=max(1, round(horizon * _spread(rng, 1e-3, 1e-1))), start=start, end=end)


def _flat(rng: np.random.Generator, horizon: int) -> Curve:
    """A random constant."""
    return Flat(float(rng.uniform(0.2, 0.9)))


def _late(rng: np.random.Generator, horizon: int) -> Curve:
    """With probability 0.3 a late bloomer, which starts at 0 and ends above every constant; otherwise a constant."""
    if rng.random() >= 0.3:
        return Flat(float(rng.uniform(0.3, 0.65)))
    block = max(1, round(horizon * _spread(rng, 5e-4, 2e-3)))
    bloomer = LateBloomer(block=block, stop=20 * block)
    return Scaled(bloomer, factor=float(rng.uniform(0.7, 0.95)) / float(bloomer(20 * block)))


_SINGLE: dict[str, Callable[[np.random.Generator, int], Curve]] = {
    "exponential": _exponential,
    "power-law": _power,
    "linear": _linear,
    "flat": _flat,
    "late": _late,
}


def _mixed(rng: np.random.Generator, horizon: int) -> Curve:
    """A curve of a random family."""
    return list(_SINGLE.values())[int(rng.integers(len(_SINGLE)))](rng, horizon)


FAMILIES: dict[str, Callable[[np.random.Generator, int], Curve]] = {**_SINGLE, "mixed": _mixed}
"""The families of curves by name: functions that draw a curve for a horizon."""


def one_of(name: str, value: str, known: Iterable[str]) -> str:
    """The value if it is one of ``known``; otherwise an `InputError` that calls it ``name``.

    Parameters
    ----------
    name
        The name of the argument.
    value
        Its value.
    known
        The values that are allowed.
    """
    if not isinstance(cast(object, value), str) or value not in known:
        raise InputError(f"{name} must be one of {', '.join(known)}, got {value!r}")
    return value


def instance(*, family: str, structure: str, noise: str, horizon: int, seed: int, edition: int = EDITION) -> Task:
    """The random instance with these properties.

    Instances with the same family, structure and seed have the same problem, and curves of the same shapes, for every
    noise and horizon: the times of the curves are drawn as shares of the horizon. So comparisons between noises or
    horizons are paired.

    Parameters
    ----------
    family
        The family of curves, one of `FAMILIES`.
    structure
        The structure of the problem, one of `STRUCTURES`.
    noise
        The noise, one of `NOISES`.
    horizon
        The number of rounds, at least 1000.
    seed
        The seed of the draw.
    edition
        The edition of the suite; only the present one can be drawn.

    Raises
    ------
    InputError
        An argument is wrong.

    >>> task = instance(family="late", structure="top-k", noise="bernoulli", horizon=5_000, seed=7)
    >>> task.problem
    TopK(50 base arms, 2118760 super arms of up to 5, sum reward)
    >>> task.means(0).shape, task.sigma
    ((50,), 0.5)
    """
    one_of("family", family, FAMILIES)
    one_of("structure", structure, STRUCTURES)
    one_of("noise", noise, NOISES)
    horizon = _checks.integer("horizon", horizon, low=1_000)
    _checks.integer("edition", edition, low=EDITION, high=EDITION)
    seed = _checks.integer("seed", seed, low=0)
    # A checksum, because Python's hash of a string differs from process to process.
    rng = np.random.default_rng([zlib.crc32(f"{family} {structure}".encode()), seed])
    problem = STRUCTURES[structure](int(rng.integers(SIZES)))
    curves = tuple(FAMILIES[family](rng, horizon) for _ in range(problem.n_arms))
    name = f"{family}-{structure}-{noise}-{horizon}-{seed}"
    return Task(name, problem, curves, horizon, NOISES[noise], description=f"{family} curves, {structure}")
