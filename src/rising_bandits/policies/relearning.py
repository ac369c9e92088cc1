"""Knowledge that moves to another problem: which units keep their plays, and which begin anew."""

from __future__ import annotations

from typing import Any

import numpy as np

from rising_bandits._checks import Bools, Ints
from rising_bandits.policies.rules.operations import update
from rising_bandits.policies.rules.rings import Rings, read, rearrange_rings


def rearrange_rule(fresh: Any, old: Any, units: Ints, again: Bools) -> Any:
    """A fresh state filled with the units of an old one.

    Parameters
    ----------
    fresh, old
        States of the same rule on the new problem and on the old one. A rule with a method ``inheritance`` names
        arrays that belong to all units (``"whole"``) and arrays that are worth nothing on another problem (``"none"``).
        A Python object does it by itself, in a method ``inherit(old, units)``.
    units
        For every new unit the old one that it was, -1 for those that begin anew.
    again
        Old units that were given up and carry a mark of that: they take in their outcomes anew.
    """
    if hasattr(fresh, "inherit"):
        fresh.inherit(old, units)
        return fresh
    rings: Any = getattr(old, "rings", None)
    special: dict[str, str] = fresh.inheritance() if hasattr(fresh, "inheritance") else {}
    repeat = again & (old.plays > 0) if rings is not None else np.zeros(old.plays.size, dtype=np.bool_)
    begin = (units < 0) | (again & ((old.plays == 0) | repeat))[units]
    kept, source = np.flatnonzero(~begin), units[~begin]
    changes: dict[str, Any] = {}
    for name, value in fresh._asdict().items():
        if isinstance(value, Rings):
            changes[name] = rearrange_rings(getattr(old, name), old.plays, units, begin)
        elif special.get(name) == "whole":
            value[...] = getattr(old, name)
        elif special.get(name) == "none":
            continue
        elif isinstance(value, np.ndarray) and value.ndim and value.shape[0] == units.size:
            value[kept] = getattr(old, name)[source]
    filled = fresh._replace(**changes)
    for unit in np.flatnonzero(begin & (units >= 0)):
        for play in range(1, int(old.plays[units[unit]]) + 1):
            update(filled, int(unit), read(rings, int(units[unit]), play))
    return filled
