"""Saving and loading: states as plain data that JSON can hold. Data that is loaded is checked completely."""

from __future__ import annotations

import base64
import binascii
import copy
import hashlib
import inspect
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from rising_bandits import _checks
from rising_bandits._checks import Ints
from rising_bandits._compile import copied
from rising_bandits.errors import InputError, RisingBanditsError
from rising_bandits.policies.rules.rings import Rings, dump_rings, load_rings
from rising_bandits.problems.base import Problem, check_problem, same_problem

if TYPE_CHECKING:
    from rising_bandits.policies.copying import Copyable

VERSION = 2
"""The version of saved states. Version 2 added the checksum; states of version 1 can be read as well."""
_READABLE = (1, 2)
MOST_PLAYS = 2**52
"""The largest number of plays of a unit in a saved state."""
AnyPolicy = TypeVar("AnyPolicy", bound="Copyable")


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Turn the errors that damaged data causes into an `InputError`."""
    try:
        yield
    except RisingBanditsError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        raise InputError(f"{what} is damaged: {type(error).__name__} {error}") from None
    except (RecursionError, MemoryError) as error:
        raise InputError(f"{what} is damaged: it is nested too deeply or too large ({type(error).__name__})") from None


class Saved:
    """Saved data. Its entries are checked when they are read."""

    def __init__(self, what: str, data: object) -> None:
        if not isinstance(data, Mapping):
            raise InputError(f"{what} must be a mapping of names to values, got {type(data).__name__}")
        self.what, self.data = what, data

    def get(self, name: str) -> Any:
        """An entry of any kind."""
        if name not in self.data:
            raise InputError(f"{self.what} has no entry {name!r}")
        return self.data[name]

    def part(self, name: str) -> Saved:
        """An entry that is a mapping itself."""
        return Saved(f"{name} of {self.what}", self.get(name))

    def integer(self, name: str, *, low: int, high: int) -> int:
        """A whole number in a range."""
        return _checks.integer(f"{name} of {self.what}", self.get(name), low=low, high=high)

    def number(self, name: str, *, low: float) -> float:
        """A finite number."""
        return _checks.number(f"{name} of {self.what}", self.get(name), low=low)

    def array(self, name: str, like: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """An array of the type and shape of another one."""
        found = decode_array(self.get(name), f"{name} of {self.what}", like.dtype)
        if found.shape != like.shape:
            raise InputError(f"{name} of {self.what} has shape {found.shape}, but {like.shape} is needed")
        return found

    def row(self, name: str, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """An array of one axis and any length."""
        found = decode_array(self.get(name), f"{name} of {self.what}", np.dtype(dtype))
        if found.ndim != 1:
            raise InputError(f"{name} of {self.what} must have one axis, got {found.ndim}")
        return found


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


def decode_array(data: object, what: str = "an array", wanted: np.dtype[Any] | None = None) -> npt.NDArray[Any]:
    """The inverse of `encode_array`; refuses what is not an array of numbers, or not of the wanted type."""
    with reading(what):
        saved = Saved(what, data)
        dtype, shape, text = saved.get("dtype"), saved.get("shape"), saved.get("data")
        kinds = [np.dtype(kind) for kind in ("<f8", "<i8", "<u8", "<u4", "|i1", "|b1")]
        found = next((kind for kind in kinds if kind.str == dtype), None)
        if found is None or (wanted is not None and found != wanted.newbyteorder("<")):
            raise InputError(f"{what} must be an array of {wanted or 'numbers'}, got {dtype!r}")
        if not isinstance(shape, list | tuple) or not all(type(side) is int and side >= 0 for side in shape):
            raise InputError(f"{what} must have a shape of whole numbers, got {shape!r}")
        try:
            raw = base64.b64decode(text, validate=True)
        except (binascii.Error, TypeError, ValueError):
            raise InputError(f"{what} must hold base64 text") from None
        size = 1
        for side in shape:
            size *= side
        if len(raw) != size * found.itemsize:
            raise InputError(f"{what} holds {len(raw)} bytes, but its shape {list(shape)} calls for {size} numbers")
        flat = np.frombuffer(raw, dtype=found)
        if found.kind == "b" and (flat.view(np.uint8) > 1).any():
            raise InputError(f"{what} must hold booleans")
        return flat.reshape(shape).astype(found.newbyteorder("="))


def checksum(data: Mapping[str, Any]) -> str:
    """A hash of plain data, whatever the order of its entries; its own entry ``checksum`` is left out."""
    rest = {name: value for name, value in data.items() if name != "checksum"}
    try:
        text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the state must be plain data that JSON can hold: {error}") from None
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def sealed(data: dict[str, Any]) -> dict[str, Any]:
    """The data with its checksum added."""
    return {**data, "checksum": checksum(data)}


def opened(what: str, data: object) -> Saved:
    """Saved data, after its version and its checksum have been checked."""
    saved = Saved(what, data)
    version = saved.data.get("version")
    if type(version) is not int or version not in _READABLE:
        raise InputError(f"{what} must be of version {' or '.join(map(str, _READABLE))}, got {version!r}")
    if version > 1 and saved.get("checksum") != checksum(saved.data):
        raise InputError(f"{what} is damaged or was edited: its checksum is wrong")
    return saved


def save_policy(policy: Copyable) -> dict[str, Any]:
    """The complete state of a policy as plain data."""
    known = set(getattr(policy, "__dataclass_fields__", ()))
    unknown = set(inspect.signature(type(policy)).parameters) - known
    if unknown:
        raise InputError(
            f"the parameters {', '.join(sorted(unknown))} of {type(policy).__name__} would not be saved; make it a "
            "dataclass with these fields, as in @dataclass(kw_only=True, eq=False)"
        )
    return sealed(
        {
            "version": VERSION,
            "policy": type(policy).__name__,
            "parameters": policy.parameters(),
            "problem": policy.problem.spec(),
            "horizon": policy.horizon,
            "round": policy.round,
            "rng": dump_rng(policy.rng),
            **policy._dump(),
        }
    )


def load_policy(kind: type[AnyPolicy], state: object, problem: Problem | None) -> AnyPolicy:
    """The inverse of `save_policy`; raises `InputError` if something is wrong with the state."""
    if problem is not None:
        check_problem(problem)
    saved = opened("state", state)
    with reading("state"):
        if saved.data.get("policy") != kind.__name__:
            raise InputError(f"state must be one of {kind.__name__}, got one of {saved.data.get('policy')!r}")
        spec = saved.get("problem")
        if problem is None:
            if spec is None:
                raise InputError("state holds no problem (its oracle or reward is the user's own code); pass problem=")
            problem = Problem.from_spec(spec)
        elif spec is not None and not same_problem(problem.spec() or spec, spec):
            raise InputError("problem must be the one that the state was saved with, got another one")
        horizon = None if saved.get("horizon") is None else saved.integer("horizon", low=1, high=10**12)
        round_ = saved.integer("round", low=1, high=MOST_PLAYS)
        policy = kind(**dict(saved.part("parameters").data))
        policy._prepare_load(saved)
        policy.start(problem, horizon, load_rng(saved.get("rng")))
        policy._load(saved)
        policy._round = round_
        return policy


def dump_rule(rule: Any) -> dict[str, Any]:
    """The arrays of an index rule's state; its constants come from the policy's parameters."""
    data: dict[str, Any] = {}
    for name, value in rule._asdict().items():
        if isinstance(value, Rings):
            data[name] = {key: encode_array(part) for key, part in dump_rings(value, rule.plays).items()}
        elif isinstance(value, np.ndarray):
            data[name] = encode_array(value)
    return data


def load_plays(saved: Saved, n_units: int) -> Ints:
    """Numbers of plays, one per unit."""
    plays: Ints = saved.array("plays", np.zeros(n_units, dtype=np.int64))
    if (plays < 0).any() or (plays > MOST_PLAYS).any():
        raise InputError(f"plays of {saved.what} must be from 0 to {MOST_PLAYS}")
    return plays


def load_rule(rule: Any, saved: Saved) -> Any:
    """A fresh state of the same rule, filled with what was dumped."""
    plays = load_plays(saved, rule.plays.size)
    changes: dict[str, Any] = {}
    since: frozenset[str] = getattr(rule, "since", frozenset())
    for name, value in rule._asdict().items():
        if name in since and name not in saved.data:
            continue
        if isinstance(value, Rings):
            parts = saved.part(name)
            changes[name] = load_rings(parts.array("capacity", plays), parts.row("held", np.float64), plays)
        elif isinstance(value, np.ndarray):
            changes[name] = saved.array(name, value)
    filled = rule._replace(**changes)
    if hasattr(filled, "check"):
        filled.check()
    return filled


def load_aims(saved: Saved, n_units: int) -> Ints:
    """How often first plays of each unit were tried without success."""
    aims = saved.array("aims", np.zeros(n_units, dtype=np.int8))
    if (aims < 0).any():
        raise InputError(f"aims of {saved.what} must be at least 0")
    return aims.astype(np.int64)


def copy_rule(rule: Any, problem: Problem) -> Any:
    """An independent copy of a rule: a state, or a Python object, by its method ``copy`` where it has one."""
    if isinstance(rule, tuple):
        return copied(rule)
    return rule.copy() if hasattr(rule, "copy") else copy.deepcopy(rule, {id(problem): problem})


def _walk(value: Any, change: Any) -> Any:
    """Nested mappings with ``change`` applied to every part."""
    if isinstance(value, Mapping):
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


_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
_POSITIONS = {"MT19937": ("state", "pos", 624), "Philox": (None, "buffer_pos", 4)}
"""Where the state of a generator has the position in its buffer, and the largest position. NumPy does not check it."""


def load_rng(data: object) -> np.random.Generator:
    """The inverse of `dump_rng`."""
    with reading("the random generator of state"):
        saved = Saved("the random generator of state", data)
        name = saved.get("bit_generator")
        if name not in _GENERATORS:
            raise InputError(f"state names an unknown random generator, {name!r}")
        state = _walk(
            saved.data,
            lambda part: decode_array(part) if isinstance(part, Mapping) and "dtype" in part else part,
        )
        if name in _POSITIONS:
            inside, key, most = _POSITIONS[name]
            position = (state if inside is None else state[inside])[key]
            _checks.integer(f"{key} of the random generator", position, low=0, high=most)
        # NumPy changes numbers that are out of range, so the state must come back as it was given.
        bits = getattr(np.random, name)()
        bits.state = state
        if not _same(bits.state, state):
            raise InputError("the random generator of state is damaged: its numbers are out of range")
        return np.random.Generator(bits)


def _same(one: Any, two: Any) -> bool:
    """Whether two states of a generator are equal."""
    if isinstance(one, Mapping):
        return isinstance(two, Mapping) and one.keys() == two.keys() and all(_same(one[k], two[k]) for k in one)
    return bool(np.array_equal(one, two))
