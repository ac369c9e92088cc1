"""States as plain data: arrays, rings and random generators as what JSON can hold, bit for bit."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import numpy.typing as npt

from rising_bandits._checks import Bools, Ints
from rising_bandits.errors import InputError
from rising_bandits.policies.operations import update
from rising_bandits.policies.rings import Rings, copy_rings, dump_rings, load_rings, read, rearrange_rings

VERSION = 1


def encode_array(array: npt.NDArray[Any]) -> dict[str, Any]:
    """An array as plain data.

    >>> decode_array(encode_array(np.array([0.1, 0.2]))).tolist()
    [0.1, 0.2]
    """
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return {
        "dtype": little.dtype.str,
        "shape": list(array.shape),
        "data": base64.b64encode(little.tobytes()).decode("ascii"),
    }


def decode_array(data: dict[str, Any]) -> npt.NDArray[Any]:
    """The inverse of `encode_array`."""
    flat = np.frombuffer(base64.b64decode(data["data"]), dtype=np.dtype(data["dtype"]))
    return flat.reshape(data["shape"]).astype(flat.dtype.newbyteorder("="))


def dump_rule(rule: Any) -> dict[str, Any]:
    """The arrays of an index rule's state; its constants come from the policy's parameters."""
    data: dict[str, Any] = {}
    for name, value in rule._asdict().items():
        if isinstance(value, Rings):
            data[name] = {key: encode_array(part) for key, part in dump_rings(value, rule.plays).items()}
        elif isinstance(value, np.ndarray):
            data[name] = encode_array(value)
    return data


def load_rule(rule: Any, data: dict[str, Any]) -> Any:
    """A fresh state of the same rule, filled with what was dumped."""
    plays: Ints = decode_array(data["plays"])
    changes: dict[str, Any] = {}
    for name, value in rule._asdict().items():
        if isinstance(value, Rings):
            parts = {key: decode_array(part) for key, part in data[name].items()}
            changes[name] = load_rings(parts["capacity"], parts["held"], plays)
        elif isinstance(value, np.ndarray):
            changes[name] = decode_array(data[name])
            if changes[name].shape != value.shape:
                raise InputError(f"state holds {name} of shape {changes[name].shape}, the problem needs {value.shape}")
    return rule._replace(**changes)


def copy_rule(rule: Any) -> Any:
    """An independent copy of a rule's state."""
    changes: dict[str, Any] = {}
    for name, value in rule._asdict().items():
        if isinstance(value, Rings):
            changes[name] = copy_rings(value)
        elif isinstance(value, np.ndarray):
            changes[name] = value.copy()
    return rule._replace(**changes)


def rearrange_rule(fresh: Any, old: Any, units: Ints, again: Bools) -> Any:
    """A fresh state filled with the units of an old one: ``units`` says which, -1 for those that begin anew.

    A rule with a method ``inheritance`` names arrays that belong to all units ("whole") and arrays that are worth
    nothing on another problem ("none"). Units in ``again`` carry a mark of having been given up; they take in their
    outcomes anew.
    """
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


def _walk(value: Any, change: Any) -> Any:
    if isinstance(value, dict):
        return change({key: _walk(part, change) for key, part in value.items()})
    return change(value)


def dump_rng(rng: np.random.Generator) -> dict[str, Any]:
    """The state of a random generator, whatever its bit generator.

    >>> rng = np.random.default_rng(5)
    >>> again = load_rng(dump_rng(rng))
    >>> rng.random() == again.random()
    True
    """
    data: dict[str, Any] = _walk(
        dict(rng.bit_generator.state), lambda part: encode_array(part) if isinstance(part, np.ndarray) else part
    )
    return data


def load_rng(data: dict[str, Any]) -> np.random.Generator:
    """The inverse of `dump_rng`."""
    state = _walk(data, lambda part: decode_array(part) if isinstance(part, dict) and "dtype" in part else part)
    kind = getattr(np.random, str(state.get("bit_generator")), None)
    if not (isinstance(kind, type) and issubclass(kind, np.random.BitGenerator)):
        raise InputError(f"state names an unknown random generator, {state.get('bit_generator')!r}")
    bits = kind()
    bits.state = state
    return np.random.Generator(bits)
