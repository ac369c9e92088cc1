"""Oracles: each knows a family of super arms and finds the best one for given weights.

There are oracles for paths, matchings, spanning trees, sets of k arms, one arm of each group, budgets, explicit lists
and linear constraints.
"""

from __future__ import annotations

from typing import Any, cast

from rising_bandits.errors import InputError, RisingBanditsError
from rising_bandits.oracles.assignment import Assignments
from rising_bandits.oracles.base import LIST_LIMIT, SuperArmOracle
from rising_bandits.oracles.budget import BudgetSets
from rising_bandits.oracles.capacities import CapacityMatchings
from rising_bandits.oracles.costs import CostPaths
from rising_bandits.oracles.dag import DagPaths
from rising_bandits.oracles.explicit import ExplicitSets
from rising_bandits.oracles.families import Families
from rising_bandits.oracles.groups import GroupChoices
from rising_bandits.oracles.ksets import KSubsets
from rising_bandits.oracles.linear import LinearSets
from rising_bandits.oracles.tree import SpanningTrees

__all__ = [
    "LIST_LIMIT",
    "Assignments",
    "BudgetSets",
    "CapacityMatchings",
    "CostPaths",
    "DagPaths",
    "ExplicitSets",
    "Families",
    "GroupChoices",
    "KSubsets",
    "LinearSets",
    "SpanningTrees",
    "SuperArmOracle",
    "from_spec",
    "register",
]

_TYPES: dict[str, type[SuperArmOracle]] = {
    kind.__name__: kind
    for kind in (
        Assignments,
        BudgetSets,
        CapacityMatchings,
        CostPaths,
        DagPaths,
        ExplicitSets,
        Families,
        GroupChoices,
        KSubsets,
        LinearSets,
        SpanningTrees,
    )
}


def from_spec(spec: dict[str, Any]) -> SuperArmOracle:
    """Build an oracle from its description.

    Parameters
    ----------
    spec
        What `SuperArmOracle.spec` returned: the class name under ``"type"``, and the constructor's arguments.

    Returns
    -------
    SuperArmOracle
        An oracle with the same arms and the same super arms.

    Raises
    ------
    InputError
        The type is unknown, or the arguments are not valid for it.

    >>> from_spec(KSubsets(3, 2).spec()).count()
    3
    """
    try:
        arguments = dict(spec)
        kind = arguments.pop("type", None)
        if not isinstance(kind, str) or kind not in _TYPES:
            raise InputError(f"oracle type must be one of {', '.join(_TYPES)}, got {kind!r}")
        return _TYPES[kind](**arguments)
    except RisingBanditsError:
        raise
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError) as error:
        raise InputError(f"the description of an oracle is damaged: {type(error).__name__} {error}") from None


def register(kind: type[SuperArmOracle]) -> type[SuperArmOracle]:
    """Make your own oracle class known to `from_spec`, so that saved policies can hold it.

    It can be used as a class decorator.

    Parameters
    ----------
    kind
        A class whose ``spec()`` returns a dictionary with the class name under ``"type"`` and the constructor's
        arguments under their names.

    Returns
    -------
    type
        The class itself.

    Raises
    ------
    InputError
        It is not an oracle class, or another oracle class has the same name.

    >>> register(KSubsets) is KSubsets
    True
    """
    if not isinstance(cast(object, kind), type) or not issubclass(kind, SuperArmOracle):
        raise InputError(f"kind must be a class derived from SuperArmOracle, got {kind!r:.80}")
    if kind.__name__ in _TYPES and _TYPES[kind.__name__] is not kind:
        raise InputError(f"kind must have a new class name, but there is an oracle {kind.__name__!r} already")
    _TYPES[kind.__name__] = kind
    return kind
