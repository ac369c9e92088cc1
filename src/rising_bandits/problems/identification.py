"""Tasks for best super arm identification: which super arm is best depends on the budget."""

from __future__ import annotations

from rising_bandits.curves import Exponential, Flat, Gaussian
from rising_bandits.problems.graphs import ShortestPath
from rising_bandits.problems.sets import TopK
from rising_bandits.problems.tasks import Family, Task, grid_edges

HORIZON = 2_000
"""The budget if the name of the task has none."""
_CURVES = (
    Flat(0.5),
    Exponential(time=10.0, end=0.6),
    Exponential(time=20.0, end=0.66),
    Exponential(time=40.0, end=0.72),
    Exponential(time=80.0, end=0.8),
    Exponential(time=160.0, end=0.86),
)
"""From quick and low to slow and high: the larger the budget, the later the best curve."""


def _models(name: str, horizon: int) -> Task:
    """One of six models, which learn at different speeds."""
    models = ["constant", "tiny", "small", "middle", "large", "huge"]
    note = "one of six models that learn at different speeds; which is best depends on the budget"
    return Task(name, TopK(models, k=1), _CURVES, horizon, Gaussian(0.05), description=note)


def _paths(name: str, horizon: int) -> Task:
    """Paths through a grid whose edges learn at different speeds."""
    edges = grid_edges(3)
    curves = tuple(_CURVES[(5 * place + 1) % 6] for place in range(len(edges)))
    note = "paths through a 3 x 3 grid of edges that learn at different speeds"
    return Task(name, ShortestPath(edges, "0,0", "2,2"), curves, horizon, Gaussian(0.05), description=note)


_MEMBERS = {"models": _models, "paths": _paths}


def _build(name: str, member: str, rounds: int | None) -> Task:
    """The task of a member. The number of rounds after ``@`` is the budget; curves do not depend on it."""
    return _MEMBERS[member](name, HORIZON if rounds is None else rounds)


FAMILY = Family(
    "identify-",
    lambda: list(_MEMBERS),
    _build,
    "which super arm is best after a budget of plays: models, paths",
)
"""The tasks ``identify-models`` and ``identify-paths``."""
