"""Which super arm is best for given weights: paths, matchings, trees, k-sets, lists, linear constraints."""

from __future__ import annotations

from typing import Any

from rising_bandits.errors import InputError
from rising_bandits.oracles.assignment import Assignments
from rising_bandits.oracles.base import LIST_LIMIT, SuperArmOracle
from rising_bandits.oracles.costs import CostPaths
from rising_bandits.oracles.dag import DagPaths
from rising_bandits.oracles.explicit import ExplicitSets
from rising_bandits.oracles.ksets import KSubsets
from rising_bandits.oracles.linear import LinearSets
from rising_bandits.oracles.tree import SpanningTrees

__all__ = [
    "LIST_LIMIT",
    "Assignments",
    "CostPaths",
    "DagPaths",
    "ExplicitSets",
    "KSubsets",
    "LinearSets",
    "SpanningTrees",
    "SuperArmOracle",
    "from_spec",
]

_TYPES: dict[str, type[SuperArmOracle]] = {
    kind.__name__: kind
    for kind in (Assignments, CostPaths, DagPaths, ExplicitSets, KSubsets, LinearSets, SpanningTrees)
}


def from_spec(spec: dict[str, Any]) -> SuperArmOracle:
    """The oracle that `SuperArmOracle.spec` described.

    >>> from_spec(KSubsets(3, 2).spec()).count()
    3
    """
    arguments = dict(spec)
    kind = arguments.pop("type", None)
    if kind not in _TYPES:
        raise InputError(f"oracle type must be one of {', '.join(_TYPES)}, got {kind!r}")
    return _TYPES[kind](**arguments)
