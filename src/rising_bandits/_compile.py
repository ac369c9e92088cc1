"""The one door to Numba: a cached compiler and functions chosen by the type of their first argument.

Two ideas live here, and nothing else in the package touches Numba's machinery.

`compiled` is ``numba.njit(cache=True)`` whose cache folder is named by a hash of every
source file of the package. Numba itself looks only at the file of the function it caches, so
a change in a file that this function calls into would otherwise run stale machine code.

`operation` declares a function with one implementation per state type. The same call works
from Python (live decisions) and inside compiled loops (simulations), so there is one piece of
mathematics at two speeds.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar, cast

import numba
from numba.core.caching import FunctionCache, _CacheLocator
from numba.extending import overload

Function = TypeVar("Function", bound=Callable[..., Any])

_types: Any = numba.types
_NAMED_TUPLES = (_types.NamedTuple, _types.NamedUniTuple)
_PACKAGE = Path(__file__).resolve().parent


def source_hash(*rooms: str) -> str:
    """Hash of every source and data file of the package, or of some of its rooms, and of the compiler's version.

    >>> len(source_hash()), source_hash() == source_hash("curves")
    (16, False)
    """
    digest = hashlib.sha256(f"{numba.__version__}".encode())
    for path in sorted(path for kind in ("*.py", "*.json") for path in _PACKAGE.rglob(kind)):
        if rooms and path.relative_to(_PACKAGE).parts[0] not in (*rooms, "_compile.py", "_checks.py"):
            continue
        digest.update(path.relative_to(_PACKAGE).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _writable_folder() -> Path:
    """The first folder for machine code that can be written: chosen, user's, temporary."""
    chosen = os.environ.get("RISING_BANDITS_CACHE")
    base = os.environ.get("XDG_CACHE_HOME")
    candidates = [Path(chosen)] if chosen else []
    # A user without a home (a service, a container) still has a temporary folder.
    with contextlib.suppress(RuntimeError):
        candidates.append((Path(base) if base else Path.home() / ".cache") / "rising-bandits")
    for candidate in candidates:
        try:
            candidate.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(candidate, os.W_OK):
            return candidate
    owner = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"rising-bandits-{owner}"


SOURCE_HASH = source_hash()
CACHE_FOLDER = _writable_folder() / SOURCE_HASH


class _Locator(_CacheLocator):  # type: ignore[misc]
    """Where machine code is kept, and what makes it stale: any change of any source."""

    def __init__(self, py_func: Any) -> None:
        self._name = py_func.__module__

    def get_cache_path(self) -> str:
        return str(CACHE_FOLDER)

    def get_source_stamp(self) -> str:
        return SOURCE_HASH

    def get_disambiguator(self) -> str:
        return str(self._name)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _Locator:
        return cls(py_func)


def _all_ours(signature: Any) -> bool:
    """Whether every state in a signature is the package's own: the hash knows nothing of other sources."""
    states = [part for part in getattr(signature, "args", signature) if isinstance(part, _NAMED_TUPLES)]
    return all(
        state.instance_class.__module__.startswith("rising_bandits.") and _all_ours(tuple(state.types))
        for state in states
    )


class _CacheByHash(FunctionCache):  # type: ignore[misc]
    """Numba's own cache, with the package's locator instead of its list of them."""

    def save_overload(self, sig: Any, data: Any) -> None:
        if _all_ours(sig):
            super().save_overload(sig, data)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        return super().load_overload(sig, target_context) if _all_ours(sig) else None

    class _impl_class(FunctionCache._impl_class):  # type: ignore[misc]  # noqa: N801
        _locator_classes: ClassVar[list[type]] = [_Locator]


def compiled(function: Function) -> Function:
    """Compile a function on first call and keep the machine code on disk.

    >>> @compiled
    ... def twice(x):
    ...     return 2 * x
    >>> twice(4)
    8
    """
    if numba.config.DISABLE_JIT:
        return function
    dispatcher = numba.njit(_nrt=False, error_model="numpy", forceinline=True)(function)
    if function.__module__.startswith("rising_bandits."):
        dispatcher._cache = _CacheByHash(dispatcher.py_func)
    return cast(Function, dispatcher)


class Operation(Protocol):
    """A function with one implementation per type of its first argument."""

    def __call__(self, state: Any, *arguments: Any) -> Any: ...

    def register(self, state_type: type) -> Callable[[Function], Function]: ...

    def handles(self, state: Any) -> bool: ...


def direct(call: Any, *arguments: Any) -> Callable[..., Any]:
    """The machine code of a compiled function or operation for arguments of just these types.

    Finding it by the types of its arguments takes longer than many a call; whoever calls with the
    same types again and again may ask once. The types are not checked again.

    >>> @compiled
    ... def plus(x, y):
    ...     return x + y
    >>> direct(plus, 1, 2)(3, 4)
    7
    """
    function = call.implementation(type(arguments[0])) if hasattr(call, "implementation") else call
    if not hasattr(function, "compile"):
        return cast(Callable[..., Any], function)
    return cast(Callable[..., Any], function.compile(tuple(numba.typeof(part) for part in arguments)))


def operation(declaration: Function) -> Operation:
    """Declare a function that is chosen by the type of its first argument.

    Register an implementation for a NamedTuple with ``@name.register(StateType)``. Its argument
    names must be those of the declaration. Called from Python with an object that has no
    implementation, the operation calls the method of its own name, so that plain Python
    classes take part uncompiled.

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
    name = declaration.__name__
    python: dict[type, Callable[..., Any]] = {}
    native: dict[type, Callable[..., Any]] = {}

    def dispatch(state: Any, *arguments: Any) -> Any:
        implementation = native.get(type(state))
        if implementation is None:
            return getattr(state, name)(*arguments)
        return implementation(state, *arguments)

    def choose(state: Any, *arguments: Any) -> Callable[..., Any] | None:
        if isinstance(state, _NAMED_TUPLES):
            return python.get(state.instance_class)
        return None

    def register(state_type: type) -> Callable[[Function], Function]:
        def decorate(function: Function) -> Function:
            python[state_type] = function
            native[state_type] = compiled(function)
            return function

        return decorate

    dispatch.__name__ = dispatch.__qualname__ = name
    dispatch.__doc__ = declaration.__doc__
    dispatch.register = register  # type: ignore[attr-defined]
    dispatch.implementation = native.__getitem__  # type: ignore[attr-defined]
    dispatch.handles = lambda state: type(state) in native or hasattr(state, name)  # type: ignore[attr-defined]
    overload(dispatch, strict=False, jit_options={"_nrt": False, "error_model": "numpy", "forceinline": True})(choose)
    return cast(Operation, dispatch)
