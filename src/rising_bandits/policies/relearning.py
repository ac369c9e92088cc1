"""The state of an index rule carried over to another problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from rising_bandits._checks import Bools, Ints
from rising_bandits.policies.rules.operations import update
from rising_bandits.policies.rules.rings import Rings, read, rearrange_rings


def rearrange_rule(fresh: Any, old: Any, units: Ints, again: Bools) -> Any:
    """Fill the fresh state of a rule with the units of an old state.

    Parameters
    ----------
    fresh, old
        States of the same rule on the new and on the old problem. A method ``inheritance`` of the rule names arrays
        that are copied as a whole (``"whole"``) and arrays that are not copied (``"none"``). A Python object with a
        method ``inherit(old, units)`` fills itself.
    units
        For each new unit, the same unit of the old state, or -1 if it starts without plays.
    again
        Old units whose first plays were given up, so that their index was set. They learn their outcomes again.
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
