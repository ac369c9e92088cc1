"""Policies: CRUCB, the paper's baselines, and base classes for policies of your own.

Every module of this folder may define policies. The command line, the conformance suite and the figures find every
class there that has a ``name``. No list has to be changed.
"""

from __future__ import annotations

import inspect
import pkgutil
from functools import cache
from importlib import import_module
from typing import Any

from rising_bandits.errors import InputError
from rising_bandits.policies.crucb import CRUCB
from rising_bandits.policies.cts import CTS
from rising_bandits.policies.cucb import CUCB
from rising_bandits.policies.cure_ucb import CureUCB
from rising_bandits.policies.epsilon_greedy import EpsilonGreedy
from rising_bandits.policies.escb import ESCB
from rising_bandits.policies.explore_commit import ExploreThenCommit
from rising_bandits.policies.foresight import Foresight
from rising_bandits.policies.glr_cucb import GLRCUCB
from rising_bandits.policies.horizon_crucb import HorizonCRUCB
from rising_bandits.policies.index_policy import IndexPolicy
from rising_bandits.policies.levels import BaseArmPolicy, SuperArmPolicy
from rising_bandits.policies.newer_half import NewerHalf
from rising_bandits.policies.policy import Policy
from rising_bandits.policies.probe_commit import ProbeAndCommit
from rising_bandits.policies.program_crucb import ProgramCRUCB
from rising_bandits.policies.r_less_ucb import RLessUCB
from rising_bandits.policies.r_sr import RSR
from rising_bandits.policies.r_ucbe import RUCBE
from rising_bandits.policies.recent_mean import RecentMean
from rising_bandits.policies.recommendation import recommended
from rising_bandits.policies.red_ucb import RedUCB
from rising_bandits.policies.reference import Oracle, Random, Tour
from rising_bandits.policies.rising_ts import RisingTS
from rising_bandits.policies.sliding import SWCTS, SWCUCB, SWTS, SWUCB
from rising_bandits.policies.successive_halving import SuccessiveHalving
from rising_bandits.policies.ti_ucb import TIUCB

__all__ = [
    "CRUCB",
    "CTS",
    "CUCB",
    "ESCB",
    "GLRCUCB",
    "RSR",
    "RUCBE",
    "SWCTS",
    "SWCUCB",
    "SWTS",
    "SWUCB",
    "TIUCB",
    "BaseArmPolicy",
    "CureUCB",
    "EpsilonGreedy",
    "ExploreThenCommit",
    "Foresight",
    "HorizonCRUCB",
    "IndexPolicy",
    "NewerHalf",
    "Oracle",
    "Policy",
    "ProbeAndCommit",
    "ProgramCRUCB",
    "RLessUCB",
    "Random",
    "RecentMean",
    "RedUCB",
    "RisingTS",
    "SuccessiveHalving",
    "SuperArmPolicy",
    "Tour",
    "by_name",
    "classes",
    "names",
    "recommended",
]

_FIRST = ("crucb", "horizon-crucb", "r-ed-ucb", "sw-ucb", "sw-cucb", "sw-ts", "sw-cts")
_LAST = ("oracle", "random", "tour")
"""The names that come first and last in lists. All others are between them, in alphabetical order."""


@cache
def classes() -> dict[str, type[Policy]]:
    """Find every policy class of the library.

    Returns
    -------
    dict
        The classes by name, in the order of `names`.

    >>> classes()["sw-cucb"].__name__
    'SWCUCB'
    """
    found: dict[str, type[Policy]] = {}
    for module in pkgutil.iter_modules(__path__):
        if not module.ispkg:
            for thing in vars(import_module(f"{__name__}.{module.name}")).values():
                if inspect.isclass(thing) and issubclass(thing, Policy) and "name" in vars(thing):
                    found[thing.name] = thing
    between = sorted(set(found) - {*_FIRST, *_LAST})
    return {name: found[name] for name in (*_FIRST, *between, *_LAST)}


def names() -> list[str]:
    """List the names of the policies, as the command line uses them.

    Returns
    -------
    list of str
        The names: the paper's policies first, the policies that do not learn last.

    >>> names()[:3], names()[-1]
    (['crucb', 'horizon-crucb', 'r-ed-ucb'], 'tour')
    """
    return list(classes())


def by_name(name: str, **parameters: Any) -> Policy:
    r"""Make a policy by its name.

    Parameters
    ----------
    name
        One of `names`.
    \**parameters
        The arguments of its class.

    Returns
    -------
    Policy
        The policy, not started yet.

    Raises
    ------
    InputError
        The name or a parameter is unknown, or the value of a parameter is wrong.

    >>> by_name("crucb", epsilon=0.25)
    CRUCB(epsilon=0.25, sigma=0.01, bonus='paper')
    """
    if name not in classes():
        raise InputError(f"policy must be one of {', '.join(names())}, got {name!r}")
    kind = classes()[name]
    try:
        return kind(**parameters)
    except TypeError:
        known = ", ".join(inspect.signature(kind).parameters) or "none"
        wrong = ", ".join(parameters)
        raise InputError(f"parameters of {name} are {known}; got {wrong}") from None
