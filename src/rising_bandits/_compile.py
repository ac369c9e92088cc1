"""Functions that run as plain Python and can also be compiled, without importing a compiler.

`compiled` marks a function. `operation` declares a function with one implementation per type of
state. Both run as plain Python wherever they are called; `rising_bandits._machine` compiles them
when a simulation asks for it. So there is one implementation at two speeds, and a program that
only decides never loads a compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Generic, TypeVar

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])

MARKED: list[tuple[Callable[..., Any], Callable[..., Any]]] = []
"""Every marked function and what is compiled for it, in the order of definition."""
OPERATIONS: list[Operation[Any]] = []
"""Every declared operation, in the order of definition."""


def compiled(function: Function) -> Function:
    """Mark a function as one that compiled code may call; the function itself stays plain Python.

    >>> @compiled
    ... def twice(x):
    ...     return 2 * x
    >>> twice(4)
    8
    """
    MARKED.append((function, function))
    return function


def compiled_as(machine: Callable[..., Any]) -> Callable[[Function], Function]:
    """Mark a function whose machine code is that of another one, with the same result bit for bit.

    For the few places that must be written differently for the compiler, such as integers that wrap around.
    """

    def mark(function: Function) -> Function:
        MARKED.append((function, machine))
        return function

    return mark


def quietly(function: Callable[..., Any]) -> Callable[..., Any]:
    """A marked function as plain Python. NumPy does not warn about infinities, as machine code does not.

    >>> float(quietly(np.log)(0.0))
    -inf
    """

    @wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return run


class Operation(Generic[Function]):
    """A function that is chosen by the type of its first argument. Made by `operation`."""

    def __init__(self, declaration: Function, *, optional: bool = False) -> None:
        self.name = self.__name__ = declaration.__name__
        self.default = declaration if optional else None
        """What is done for a state without an implementation; None where that is an error."""
        self.__doc__ = declaration.__doc__
        self.__module__ = declaration.__module__
        self.implementations: dict[type, Callable[..., Any]] = {}
        """What compiled code runs, by type of state."""
        self._plain: dict[type, Callable[..., Any]] = {}

    def __call__(self, state: Any, *arguments: Any) -> Any:
        function = self._plain.get(type(state))
        if function is not None:
            return function(state, *arguments)
        if self.default is not None and not hasattr(state, self.name):
            return self.default(state, *arguments)
        return getattr(state, self.name)(*arguments)

    def register(self, state_type: type, plain: Callable[..., Any] | None = None) -> Callable[[Function], Function]:
        """Register the implementation for a NamedTuple.

        Parameters
        ----------
        state_type
            The NamedTuple that the decorated function takes as its first argument.
        plain
            What plain Python runs instead, for instance one NumPy expression in place of a loop. It must give
            the same result bit for bit.
        """

        def decorate(function: Function) -> Function:
            self.implementations[state_type] = function
            self._plain[state_type] = function if plain is None else plain
            return function

        return decorate

    def handles(self, state: Any) -> bool:
        """Whether this state, or this Python object, has an implementation."""
        return type(state) in self._plain or callable(getattr(state, self.name, None))


def operation(declaration: Function) -> Operation[Function]:
    """Declare a function that is chosen by the type of its first argument.

    Register an implementation for a NamedTuple with ``@name.register(StateType)``; its argument names
    must be those of the declaration. For an object without an implementation the operation calls the
    method of its own name, so that plain Python classes take part.

    >>> from typing import NamedTuple
    >>> class Square(NamedTuple):
    ...     side: float
    >>> @operation
    ... def area(state, scale):
    ...     '''The area of a shape.'''
    >>> @area.register(Square)
    ... def square_area(state, scale):
    ...     return scale * state.side * state.side
    >>> area(Square(3.0), 2.0)
    18.0
    """
    made = Operation(declaration)
    OPERATIONS.append(made)
    return made


def optional_operation(declaration: Function) -> Operation[Function]:
    """An `operation` that a state need not have: without an implementation, the declaration itself is run."""
    made = Operation(declaration, optional=True)
    OPERATIONS.append(made)
    return made


def copied(state: Any) -> Any:
    """An independent copy of a state: its arrays are copied, and those of the states inside it.

    A state with a method ``copied`` copies itself. What is not a state, such as a Python object, is shared.

    >>> from typing import NamedTuple
    >>> class Pair(NamedTuple):
    ...     values: np.ndarray
    ...     size: int
    >>> pair = Pair(np.zeros(2), 2)
    >>> copied(pair).values[0] = 1.0
    >>> pair.values.tolist()
    [0.0, 0.0]
    """
    if isinstance(state, np.ndarray):
        return state.copy()
    if not isinstance(state, tuple):
        return state
    return state.copied() if hasattr(state, "copied") else type(state)._make(map(copied, state))  # type: ignore[attr-defined]


def compilable(state: Any) -> bool:
    """Whether compiled code can work with a state: a NamedTuple of arrays, numbers and other such NamedTuples.

    >>> from typing import NamedTuple
    >>> class Point(NamedTuple):
    ...     x: float
    >>> compilable(Point(1.0)), compilable(Point([1.0])), compilable(object())
    (True, False, False)
    """
    if isinstance(state, tuple):
        return hasattr(state, "_fields") and all(compilable(part) for part in state)
    return state is None or isinstance(state, np.ndarray | np.generic | bool | int | float)
