"""How to choose: CRUCB, the paper's baselines, and what one's own policies build on.

Every module of this folder may define policies. A class with a ``name`` is known to the command line, the conformance
suite and the figures as soon as its file is here; nothing else has to be touched.
"""

from __future__ import annotations

import inspect
import pkgutil
from functools import cache
from importlib import import_module
from typing import Any

from rising_bandits.errors import InputError
from rising_bandits.policies.crucb import CRUCB
from rising_bandits.policies.horizon_crucb import HorizonCRUCB
from rising_bandits.policies.index_policy import IndexPolicy
from rising_bandits.policies.levels import BaseArmPolicy, SuperArmPolicy
from rising_bandits.policies.policy import Policy
from rising_bandits.policies.red_ucb import RedUCB
from rising_bandits.policies.reference import Oracle, Random, Tour
from rising_bandits.policies.sliding import SWCTS, SWCUCB, SWTS, SWUCB

__all__ = [
    "CRUCB",
    "SWCTS",
    "SWCUCB",
    "SWTS",
    "SWUCB",
    "BaseArmPolicy",
    "HorizonCRUCB",
    "IndexPolicy",
    "Oracle",
    "Policy",
    "Random",
    "RedUCB",
    "SuperArmPolicy",
    "Tour",
    "by_name",
    "classes",
    "names",
]

_FIRST = ("crucb", "horizon-crucb", "r-ed-ucb", "sw-ucb", "sw-cucb", "sw-ts", "sw-cts")
_LAST = ("oracle", "random", "tour")
"""Where the names stand in lists; all others are between them, by name."""


@cache
def classes() -> dict[str, type[Policy]]:
    """Every policy of the library by its name, found by looking through this folder.

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
    """What the command line calls the policies.

    >>> names()[:3], names()[-1]
    (['crucb', 'horizon-crucb', 'r-ed-ucb'], 'tour')
    """
    return list(classes())


def by_name(name: str, **parameters: Any) -> Policy:
    """The policy of that name with these parameters.

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
