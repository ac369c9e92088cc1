"""How to choose: CRUCB, the paper's baselines, and what one's own policies build on."""

from __future__ import annotations

import inspect
from typing import Any

from rising_bandits.errors import InputError
from rising_bandits.policies.base import Policy
from rising_bandits.policies.crucb import CRUCB
from rising_bandits.policies.horizon import HorizonCRUCB
from rising_bandits.policies.levels import BaseArmPolicy, SuperArmPolicy
from rising_bandits.policies.plain import IndexPolicy
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
    "names",
]

_BUILT_IN: dict[str, type[Policy]] = {
    policy.name: policy for policy in (CRUCB, HorizonCRUCB, RedUCB, SWUCB, SWCUCB, SWTS, SWCTS, Oracle, Random, Tour)
}


def names() -> list[str]:
    """What the command line calls the policies.

    >>> names()
    ['crucb', 'horizon-crucb', 'r-ed-ucb', 'sw-ucb', 'sw-cucb', 'sw-ts', 'sw-cts', 'oracle', 'random', 'tour']
    """
    return list(_BUILT_IN)


def by_name(name: str, **parameters: Any) -> Policy:
    """The policy of that name with these parameters.

    >>> by_name("crucb", epsilon=0.25)
    CRUCB(epsilon=0.25, sigma=0.01, bonus='paper')
    """
    if name not in _BUILT_IN:
        raise InputError(f"policy must be one of {', '.join(_BUILT_IN)}, got {name!r}")
    try:
        return _BUILT_IN[name](**parameters)
    except TypeError:
        known = ", ".join(inspect.signature(_BUILT_IN[name]).parameters) or "none"
        wrong = ", ".join(parameters)
        raise InputError(f"parameters of {name} are {known}; got {wrong}") from None
