"""Blocks of ``with`` statements that are made from a generator, as `contextlib.contextmanager` makes them.

Every call of a study enters two of them, and those of the standard library take several times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import wraps
from typing import Generic, ParamSpec, TypeVar

Made = TypeVar("Made")
Given = ParamSpec("Given")


class Block(Generic[Made]):
    """The block of one ``with`` statement: it runs where the generator yields."""

    __slots__ = ("_steps",)

    def __init__(self, steps: Generator[Made, None, None]) -> None:
        self._steps = steps

    def __enter__(self) -> Made:
        return next(self._steps)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            next(self._steps, None)
            return
        try:
            self._steps.throw(error)
        except StopIteration:
            raise AssertionError("a block must not hide the errors inside it") from error


def block(steps: Callable[Given, Generator[Made, None, None]]) -> Callable[Given, Block[Made]]:
    """Make a generator function with one ``yield`` usable in ``with`` statements. It must not hide errors.

    >>> @block
    ... def shouting():
    ...     yield "HELLO"
    >>> with shouting() as word:
    ...     print(word)
    HELLO
    """

    @wraps(steps)
    def made(*args: Given.args, **kwargs: Given.kwargs) -> Block[Made]:
        return Block(steps(*args, **kwargs))

    return made
