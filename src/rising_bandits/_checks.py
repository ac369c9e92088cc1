"""Checks of arguments, shared by every room. They never change what they check."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from numbers import Number, Real
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rising_bandits.errors import InputError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def number(
    name: str,
    value: Any,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    open_low: bool = False,
    open_high: bool = False,
    limit: float | None = None,
    wanted: str = "",
) -> float:
    """A finite float inside an interval, or an `InputError` that says which.

    ``low`` and ``high`` follow from the meaning of the argument. ``limit`` refuses numbers so large that
    sums of them would overflow.
    """
    left, right = "(" if open_low else "[", ")" if open_high else "]"
    wanted = wanted or f"a finite number in {left}{float(low):g}, {float(high):g}{right}"
    # A Decimal and a complex number cannot be combined with floats.
    unfit = isinstance(value, Number) and not isinstance(value, Real)
    if unfit or isinstance(value, bool | np.bool_ | str | bytes):
        raise InputError(f"{name} must be {wanted}, got {value!r}")
    try:
        result = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be {wanted}, got {value!r}") from None
    except OverflowError:
        raise InputError(f"{name} must be {wanted}, got a number too large for a float") from None
    below = result <= low if open_low else result < low
    above = result >= high if open_high else result > high
    if not math.isfinite(result) or below or above:
        raise InputError(f"{name} must be {wanted}, got {value!r}")
    if limit is not None and abs(result) > limit:
        raise InputError(f"{name} must be at most {limit:g}, more is beyond any use; got {value!r}")
    return result


def listed(value: Any) -> list[Any] | None:
    """The members of a list, an array or another iterable; None for a text, and for what has no members.

    >>> listed((1, 2)), listed("ab"), listed(3)
    ([1, 2], None, None)
    """
    return list(value) if is_list(value) else None


def numbers(name: str, values: Iterable[Any], *, low: float = -math.inf, high: float = math.inf) -> tuple[float, ...]:
    """A list of finite floats inside an interval, each checked as `number` checks one. It may be empty.

    >>> numbers("values", (0.1, 1), low=0.0, high=1.0)
    (0.1, 1.0)
    """
    members = listed(values)
    if members is None:
        raise InputError(f"{name} must be a list of numbers, as in (0.1, 0.4), got {values!r:.80}")
    found = tuple(members)
    # Tables of floats can be long, so they are checked at once. All else, and what is wrong, is looked at singly.
    if set(map(type, found)) <= {float, np.float64}:
        table = np.array(found, dtype=np.float64)
        if bool(((table >= low) & (table <= high)).all()):
            return tuple(table.tolist())
    return tuple(number(name, value, low=low, high=high) for value in found)


def integer(
    name: str, value: Any, *, low: int, high: int | None = None, limit: int | None = None, wanted: str = ""
) -> int:
    """An integer inside an interval, or an `InputError` that says which.

    ``high`` follows from the meaning of the argument. ``limit`` refuses sizes that no computer can hold.
    """
    wanted = wanted or (f"an integer of at least {low}" if high is None else f"an integer from {low} to {high}")
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(f"{name} must be {wanted}, got {value!r}")
    result = int(value)
    if result < low or (high is not None and result > high):
        raise InputError(f"{name} must be {wanted}, got {_size(result)}")
    if limit is not None and result > limit:
        raise InputError(f"{name} must be at most {limit}, more is beyond any use; got {_size(result, '.3g')}")
    return result


def _size(value: int, style: str = "") -> str:
    """An integer for an error, however many digits it has.

    >>> _size(12), _size(10**15, ".3g"), _size(-(10**400))
    ('12', '1e+15', 'less than -2**1328')
    """
    bits = value.bit_length()
    if bits < 1000:
        return format(value, style)
    return f"more than 2**{bits - 1}" if value > 0 else f"less than -2**{bits - 1}"


def returned(wanted: str, value: Any, *, low: float = 0.0, high: float = math.inf) -> float:
    """Check the number that a user's own function returned; ``wanted`` is the first part of the error."""
    try:
        result = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{wanted}, got {value!r}") from None
    if not low <= result <= high or math.isinf(result):
        raise InputError(f"{wanted}, got {value!r}")
    return result


MOST_BYTES = 8 * 2**30
"""How much memory a single array may take before it is refused."""


def memory(what: str, numbers: float) -> None:
    """Refuse arrays of so many numbers if they would take more than `MOST_BYTES`."""
    if 8.0 * numbers > MOST_BYTES:
        raise InputError(
            f"{what} would take {8.0 * numbers / 2**30:.0f} GiB of memory; the limit is {MOST_BYTES >> 30} GiB"
        )


def boolean(name: str, value: object) -> bool:
    """True or False, or an `InputError`."""
    if not isinstance(value, bool):
        raise InputError(f"{name} must be True or False, got {value!r:.80}")
    return value


def path(name: str, value: Any) -> Path:
    """The path of a file.

    >>> path("path", "a/b.txt").name
    'b.txt'
    """
    if not isinstance(value, str | os.PathLike) or "\0" in str(value):
        raise InputError(f"{name} must be the path of a file, got {value!r}")
    return Path(value)


def generator(name: str, value: Any) -> np.random.Generator:
    """A random generator, or an `InputError`."""
    if not isinstance(value, np.random.Generator):
        raise InputError(f"{name} must be a generator, as np.random.default_rng(0) makes one, got {value!r:.80}")
    return value


def is_list(values: object) -> bool:
    """Whether values can be gone through one by one, and are no text.

    >>> is_list([1]), is_list("ab"), is_list(np.array(1))
    (True, False, False)
    """
    return isinstance(values, Iterable) and not isinstance(values, str | bytes) and getattr(values, "ndim", 1) > 0


def labels(name: str, values: Iterable[Any]) -> list[Any]:
    """Labels as a list. A label is any hashable value, such as a string, a number or a tuple."""
    if isinstance(values, str | bytes):
        raise InputError(f"{name} must be a list of labels, as in [{values!r}], got {values!r}")
    if not is_list(values):
        raise InputError(f"{name} must be a list of labels, got {values!r}")
    found = list(values)
    for label in found:
        try:
            hash(label)
        except TypeError:
            raise InputError(
                f"{name} must be labels that are hashable, such as strings, numbers or tuples, got {label!r}"
            ) from None
    return found


def array(value: Any) -> npt.NDArray[Any]:
    """A value as an array; one of objects if NumPy cannot make an array of numbers of it.

    >>> array([[1], [2, 3]]).dtype, array([1, 2]).tolist()
    (dtype('O'), [1, 2])
    """
    try:
        return np.asarray(value)
    except (TypeError, ValueError, OverflowError):
        return np.array(None)


def weights(value: npt.ArrayLike, n_arms: int) -> Floats:
    """Finite weights, one per base arm, as a new float array."""
    try:
        result = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"weights must be {n_arms} numbers, one per base arm, got {value!r}") from None
    if result.shape != (n_arms,):
        raise InputError(f"weights must have shape ({n_arms},), one per base arm, got shape {result.shape}")
    if not np.isfinite(result).all():
        arm = int(np.flatnonzero(~np.isfinite(result))[0])
        raise InputError(f"weights must be finite, got {result[arm]} for arm {arm}")
    return result


def mask(value: npt.ArrayLike | None, n_arms: int) -> Bools | None:
    """A boolean mask of arms that may not be used now (True = may not), or None."""
    if value is None:
        return None
    result = booleans("mask", value, n_arms, "True for each base arm that may not be used now")
    return result if result.any() else None


def booleans(name: str, value: npt.ArrayLike, n_arms: int, meaning: str) -> Bools:
    """One boolean per base arm."""
    result = array(value)
    if result.dtype != np.bool_ or result.shape != (n_arms,):
        raise InputError(
            f"{name} must be {n_arms} booleans, {meaning}, got dtype {result.dtype} and shape {result.shape}"
        )
    return result


def arms(value: Sequence[int] | npt.ArrayLike, n_arms: int) -> Ints:
    """Distinct arm numbers in the order given, as an int64 array."""
    result = array(value)
    if result.ndim != 1 or result.size == 0 or result.dtype.kind not in "iu":
        raise InputError(f"arms must be a non-empty list of arm numbers from 0 to {n_arms - 1}, got {value!r}")
    # Contiguous, because compiled code reads it without looking at its strides.
    result = np.ascontiguousarray(result, dtype=np.int64)
    numbers = result.tolist()
    if min(numbers) < 0 or max(numbers) >= n_arms:
        raise InputError(f"arms must be numbers from 0 to {n_arms - 1}, got {numbers}")
    if len(set(numbers)) != len(numbers):
        raise InputError(f"arms must not repeat, got {numbers}")
    return result
