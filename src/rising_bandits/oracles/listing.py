"""Depth-first listing of a family, without recursion, so that the size of super arms is not limited."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from rising_bandits import _checks
from rising_bandits._checks import Ints
from rising_bandits.errors import InputError

Node = TypeVar("Node")
Partial = tuple[int, tuple[int, ...]]
"""A partial super arm: the next node or arm to decide on, and the arms chosen so far."""


def leaves(root: Node, expand: Callable[[Node], Iterable[Node] | None]) -> Iterator[Node]:
    """Iterate over the leaves of a search tree. ``expand`` returns the children of a node, or None for a leaf.

    >>> sorted(leaves("", lambda word: None if len(word) == 2 else [word + letter for letter in "ab"]))
    ['aa', 'ab', 'ba', 'bb']
    """
    waiting = [root]
    while waiting:
        node = waiting.pop()
        below = expand(node)
        if below is None:
            yield node
        else:
            waiting.extend(below)


def distinct_arms(arms: Sequence[int] | Ints, n_arms: int) -> list[int] | None:
    """The arms as a list of Python integers, or None if they are not a list of one or more different arm numbers.

    >>> distinct_arms([2, 0], 3), distinct_arms([0, 0], 3), distinct_arms([-1], 3), distinct_arms([0.5], 3)
    ([2, 0], None, None, None)
    """
    try:
        return _checks.arms(arms, n_arms).tolist()  # type: ignore[no-any-return]
    except InputError:
        return None
