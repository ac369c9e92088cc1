"""What users write as text: calls such as ``crucb(epsilon=0.25)``, grids of parameters, and seeds."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from rising_bandits import _checks
from rising_bandits.errors import InputError

_CALL = re.compile(r"^(?P<name>[A-Za-z_][\w.:-]*)(?:\((?P<arguments>.*)\))?$", re.DOTALL)
MOST_VALUES = 10_000
"""The largest number of values of a grid, and the largest number of seeds."""


class Grid(list[Any]):
    """Several values of one argument, each of which is to be tried."""


def parse_call(text: str, wanted: str) -> tuple[str, dict[str, Any]]:
    """The name and the keyword arguments of a call written as text.

    Arguments are literals. ``range(...)``, ``linspace(...)`` and ``geomspace(...)`` stand for several values and give a
    `Grid`. ``wanted`` begins the message of the error that a wrong text raises.
    """
    match = _CALL.match(text.strip())
    if match is None:
        raise InputError(f"{wanted}, got {text!r}")
    arguments: dict[str, Any] = {}
    if match["arguments"]:
        try:
            call = ast.parse(f"f({match['arguments']})", mode="eval").body
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                raise ValueError
            if call.args or any(item.arg is None for item in call.keywords):
                raise ValueError
            arguments = {str(item.arg): _value(item.value) for item in call.keywords}
        except InputError:
            raise
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            raise InputError(f"{wanted}, got {text!r}") from None
    return match["name"], arguments


def _value(node: ast.expr) -> Any:
    """The value of an argument: a literal, or the values of a range."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        given = [ast.literal_eval(part) for part in node.args]
        return spaced(node.func.id, given)
    return ast.literal_eval(node)


def spaced(kind: str, given: list[Any]) -> Grid:
    """The values of ``range(first, end, step)``, ``linspace(first, last, count)`` or ``geomspace(first, last, count)``.

    >>> spaced("linspace", [0.1, 0.4, 4]), spaced("range", [1, 6, 2])
    ([0.1, 0.2, 0.3, 0.4], [1, 3, 5])
    """
    wanted = "a range must look like range(1, 9, 2), linspace(0.1, 0.4, 4) or geomspace(0.001, 1, 4)"
    shown = f"{kind}({', '.join(map(repr, given))})"
    if kind == "range" and 1 <= len(given) <= 3 and all(type(part) is int for part in given):
        if len(given) == 3 and given[2] == 0:
            raise InputError(f"{wanted}, got {shown}")
        values: list[Any] = list(range(*given)[: MOST_VALUES + 1])
    elif kind in ("linspace", "geomspace") and len(given) == 3 and type(given[2]) is int and given[2] >= 1:
        first, last = (float(part) for part in given[:2])
        if not np.isfinite([first, last]).all() or (kind == "geomspace" and not first * last > 0):
            raise InputError(f"{wanted}, got {shown}")
        spread = (np.linspace if kind == "linspace" else np.geomspace)(first, last, min(given[2], MOST_VALUES + 1))
        # 0.30000000000000004 is not what anybody means; twelve digits tell all values apart.
        values = [float(f"{value:.12g}") for value in spread]
    else:
        raise InputError(f"{wanted}, got {shown}")
    if not 1 <= len(values) <= MOST_VALUES:
        raise InputError(f"a range must hold 1 to {MOST_VALUES} values, got {shown}")
    return Grid(values)


def unfold(arguments: dict[str, Any], takes_list: Callable[[str], bool]) -> list[dict[str, Any]]:
    """Every combination of the values of a call whose arguments may be grids.

    A list is a grid, unless ``takes_list`` says of the argument's name that the argument itself is a list. A tuple is
    always one value.

    >>> unfold({"a": [1, 2], "b": 0}, lambda name: False)
    [{'a': 1, 'b': 0}, {'a': 2, 'b': 0}]
    """
    choices = []
    for name, value in arguments.items():
        many = isinstance(value, Grid) or (isinstance(value, list) and not takes_list(name))
        if many and not value:
            raise InputError(f"{name} must have at least one value, got []")
        choices.append(list(value) if many else [value])
    if np.prod([float(len(values)) for values in choices]) > MOST_VALUES:
        raise InputError(f"a grid must have at most {MOST_VALUES} combinations, got {arguments!r}")
    return [dict(zip(arguments, chosen, strict=True)) for chosen in product(*choices)]


def call_text(name: str, arguments: dict[str, Any]) -> str:
    """A call as text; the inverse of `parse_call`.

    >>> call_text("crucb", {"epsilon": 0.25}), call_text("random", {})
    ('crucb(epsilon=0.25)', 'random')
    """
    inside = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    return f"{name}({inside})" if inside else name


def seeds_of(seeds: int | str | range, first: int = 0) -> range:
    """The seeds that a number or a text names. Every command and function understands ``seeds`` in this way.

    Parameters
    ----------
    seeds
        How many seeds, as in ``5``; or the first and the last of them, as in ``1000-1004``.
    first
        The first seed where only their number is given.

    Raises
    ------
    InputError
        The seeds are not of this form.

    >>> seeds_of(5), seeds_of("5", first=10), seeds_of("1000-1004"), seeds_of("7-7")
    (range(0, 5), range(10, 15), range(1000, 1005), range(7, 8))
    """
    first = _checks.integer("the first seed", first, low=0)
    found: range | None = None
    if isinstance(seeds, range):
        found = seeds
    elif isinstance(seeds, int) and not isinstance(seeds, bool):
        found = range(first, first + max(0, seeds))
    elif isinstance(seeds, str) and len(seeds) < 50:
        start, dash, last = (part.strip() for part in seeds.partition("-"))
        if start.isdecimal() and not dash:
            found = range(first, first + int(start))
        elif start.isdecimal() and last.isdecimal():
            found = range(int(start), int(last) + 1)
    if found is None or len(found) == 0 or found.start < 0 or found.step != 1:
        raise InputError(f"seeds must be a number of at least 1, or a range such as 1000-1004, got {seeds!r}")
    if len(found) > MOST_VALUES:
        raise InputError(f"seeds must be at most {MOST_VALUES}, got {seeds!r}")
    return found
