"""Places of plain data, and copies in which one of them is another value: for what a stranger might have written."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

Path = tuple[Any, ...]


def never(value: Any) -> bool:
    return False


def leaves(value: Any, path: Path = (), whole: Callable[[Any], bool] = never) -> Iterator[tuple[Path, Any]]:
    """Every place with its value; of lists only the first and the last entry, and nothing inside a ``whole`` value."""
    yield path, value
    if whole(value):
        return
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, (*path, key), whole)
    elif isinstance(value, list):
        for place in sorted({0, len(value) - 1} if value else ()):
            yield from leaves(value[place], (*path, place), whole)


def put(data: Any, path: Path, value: Any) -> Any:
    """A copy with another value in one place."""
    changed = copy.deepcopy(data)
    at = changed
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return changed
