"""Read a user's log of plays from any kind of table, check it, and sort it by arm."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits.errors import InputError

COLUMNS = ("arm", "play", "outcome")


def _columns(logs: Any) -> list[list[Any]]:
    """The three columns of a log as lists. The log may be a mapping, a table or a list of rows."""
    if not hasattr(logs, "columns") and not hasattr(logs, "column_names") and hasattr(logs, "to_dict"):
        logs = logs.to_dict("list")
    names = list(logs) if isinstance(logs, Mapping) else getattr(logs, "column_names", getattr(logs, "columns", None))
    if names is None:
        rows = _list("logs", logs)
        for number, row in enumerate(rows):
            if not isinstance(row, Sequence | np.ndarray) or isinstance(row, str | bytes) or len(row) != 3:
                raise InputError(f"logs must be rows of (arm, play, outcome), got {row!r} in row {number}")
        return [_list(name, [row[place] for row in rows]) for place, name in enumerate(COLUMNS)]
    absent = [name for name in COLUMNS if name not in list(names)]
    if absent:
        raise InputError(f"logs must have the columns {list(COLUMNS)}, got {list(names)}; add {absent}")
    columns = [_list(name, logs[name]) for name in COLUMNS]
    sizes = {name: len(column) for name, column in zip(COLUMNS, columns, strict=True)}
    if len(set(sizes.values())) > 1:
        raise InputError(f"logs must have columns of equal length, one row per play, got {sizes}")
    return columns


def _list(name: str, values: Any) -> list[Any]:
    """A column as a list of Python values."""
    for method in ("to_pylist", "tolist"):
        values = getattr(values, method)() if hasattr(values, method) else values
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError(f"{name} must be a list, a column or a table of plays, got {values!r}")
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def _refuse(name: str, values: list[Any], good: Callable[[Any], bool], wanted: str) -> None:
    """Raise `InputError` for the first value that is not good."""
    for number, value in enumerate(values):
        if not good(value):
            raise InputError(f"{name} must be {wanted}, got {value!r} in row {number}")


def _is_label(value: Any) -> bool:
    """Whether a value can be a label: hashable, and neither None nor NaN."""
    try:
        hash(value)
    except TypeError:
        return False
    return value is not None and bool(value == value)


def _is_play(value: Any) -> bool:
    """Whether a value is a whole number of at least 0."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**53 and value % 1 == 0


def _is_outcome(value: Any) -> bool:
    """Whether a value is a number in [0, 1]."""
    return isinstance(value, int | float) and 0 <= value <= 1


def read_logs(
    logs: Any,
    inside: Callable[[Any], bool] = _is_outcome,
    wanted: str = "a number in [0, 1] (rescale outcomes, drop rows without one)",
) -> list[tuple[Hashable, Ints, Floats]]:
    """Read and check a log.

    Parameters
    ----------
    logs
        The log, as in `diagnose`.
    inside
        Tells whether an outcome is accepted.
    wanted
        Which outcomes are accepted, in words for the error message.

    Returns
    -------
    list of tuples
        For each arm its label, its plays in ascending order, and their outcomes.

    Raises
    ------
    InputError
        A column is missing, a value is not valid, or a play of an arm occurs twice.
    """
    arms, raw_plays, raw_outcomes = _columns(logs)
    if not arms:
        raise InputError("logs must hold at least one play, got none")
    _refuse("arm", arms, _is_label, "a label such as a string, a number or a tuple of them")
    _refuse("play", raw_plays, _is_play, "the number of the play, an integer of at least 0 (drop the row if unknown)")
    _refuse("outcome", raw_outcomes, inside, wanted)
    plays, outcomes = np.array(raw_plays, dtype=np.int64), np.array(raw_outcomes, dtype=np.float64)
    numbers: dict[Hashable, int] = {}
    codes = np.array([numbers.setdefault(arm, len(numbers)) for arm in arms])
    order = np.lexsort((plays, codes))
    codes, plays, outcomes = codes[order], plays[order], outcomes[order]
    again = np.flatnonzero((np.diff(codes) == 0) & (np.diff(plays) == 0))
    if again.size:
        first, second = sorted(order[again[0] : again[0] + 2].tolist())
        raise InputError(
            f"play must differ in all rows of an arm, got {raw_plays[first]!r} for arm {arms[first]!r} "
            f"in rows {first} and {second}; number an arm's plays 0, 1, 2, ... and report each once"
        )
    for column in (plays, outcomes):
        column.setflags(write=False)
    ends = np.flatnonzero(np.diff(codes)) + 1
    return list(zip(numbers, np.split(plays, ends), np.split(outcomes, ends), strict=True))
