"""The only door to Numba: machine code for marked functions, and the folder where it is kept.

Nothing here is called while a program only decides. A simulation calls `prepared`, which compiles
its loop for the types of its arguments, or loads the machine code that an earlier process kept.

Numba notices a change only in the file of the function that it keeps, not in the files of functions
which that one calls. So the folder is named by a hash of every file with compiled code. If states of
the user's own take part, their modules are part of the hash. Changed code therefore never runs old
machine code. Numba reads the folder with pickle, so a folder that others could write to is not used.

A version of Numba may refuse one of the compiler's options, or fail on the library's code. Then the code is compiled
without the option, or runs as plain Python. The results are the same, and one warning says that they come more slowly.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rising_bandits._compile import MARKED, OPERATIONS, Operation, quietly
from rising_bandits._extras import require
from rising_bandits._sources import PACKAGE, hash_files, module_files
from rising_bandits.errors import InputError

_NEEDED: dict[str, Any] = {"error_model": "numpy"}
"""The option without which results would differ: a division by zero gives infinity, as in NumPy."""
_FASTER: dict[str, Any] = {"forceinline": True, "_nrt": False, "no_cfunc_wrapper": True}
"""Options that only make machine code faster, or sooner ready.

``_nrt=False`` leaves out reference counting, which otherwise takes most of the time of a round; the price is that
compiled code cannot create arrays. It is a private option of Numba, so a version may refuse it. ``forceinline`` merges
the small functions of a round into one. ``no_cfunc_wrapper`` leaves out a second entrance to each function for callers
in C, of which there are none; it takes a tenth of the time to compile.
"""

Types = tuple[Any, ...]
_declared = 0, 0
_ready: dict[tuple[Callable[..., Any], Types], Callable[..., Any]] = {}


def available() -> bool:
    """Whether there is a compiler: Numba is installed and not switched off by ``NUMBA_DISABLE_JIT``."""
    return find_spec("numba") is not None and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def prepared(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """The machine code of a marked function for arguments of these types. It is compiled if there is none yet.

    If ``NUMBA_DISABLE_JIT`` switches Numba off, or Numba fails on the library's own code, the function is returned as
    plain Python.

    Raises
    ------
    MissingExtraError
        Numba is not installed.
    InputError
        States of the user's own take part, and they cannot be compiled.
    """
    require("lab", "numba", "simulate with compiled=False, which runs the same loop in plain Python")
    if not available():
        return quietly(function)
    import numba

    types = tuple(numba.typeof(argument) for argument in arguments)
    code = _ready.get((function, types))
    if code is None:
        own = tuple(sorted(set(_foreign_modules(types))))
        try:
            code = _machine_code(function, types, own)
        except Exception as error:
            # Numba raises errors of many types, also such as KeyError and AssertionError.
            if own and not isinstance(error, _UnfitError):
                raise InputError(
                    f"the states of {', '.join(own)} must be ones that Numba can compile, see 'Rules for compiled "
                    f"code' in CONTRIBUTING.md; Numba raised {type(error).__name__}. Or simulate with compiled=False, "
                    "which runs the same loop in plain Python"
                ) from error
            _warn(f"cannot compile the library's code ({_first_line(error)}); it runs as plain Python")
            code = quietly(function)
        _ready[function, types] = code
    return code


def direct(code: Callable[..., Any]) -> Callable[..., Any] | None:
    """The machine code of a function that was just prepared, without Numba's look at the types of its arguments.

    That look takes several times as long as a short function. Without it, arguments of other types than those that the
    function was prepared for give wrong results. None if the function runs as plain Python.
    """
    kinds = getattr(code, "overloads", None)
    found: Callable[..., Any] | None = getattr(next(iter(kinds.values())), "entry_point", None) if kinds else None
    return found


def is_for_one(code: Callable[..., Any] | None) -> bool:
    """Whether a prepared function has met arguments of no other types than those that it was prepared for."""
    return len(getattr(code, "overloads", ())) == 1


def _machine_code(function: Callable[..., Any], types: Types, own: tuple[str, ...]) -> Callable[..., Any]:
    """Compile a marked function for these types, or load what an earlier process compiled."""
    options = _options()
    _declare(options)
    dispatcher = _dispatcher(dict(MARKED).get(function, function), own)
    dispatcher.compile(types)
    return dispatcher  # type: ignore[no-any-return]


class _UnfitError(Exception):
    """This version of Numba cannot compile anything as it is needed."""


@lru_cache(maxsize=1)
def _options() -> dict[str, Any]:
    """The compiler's options: all that this version of Numba takes."""
    wanted = {**_NEEDED, **_FASTER}
    if not _refusal(wanted):
        return wanted
    reason = _refusal(_NEEDED)
    if reason:
        raise _UnfitError(reason)
    taken = {name: value for name, value in _FASTER.items() if not _refusal({**_NEEDED, name: value})}
    refused = ", ".join(f"{name}={value}" for name, value in _FASTER.items() if name not in taken)
    _warn(f"refuses {refused}; machine code is made without it")
    return {**_NEEDED, **taken}


def _refusal(options: dict[str, Any]) -> str:
    """Why Numba cannot compile a small function with these options; empty if it can."""
    import numba

    try:
        code = numba.njit(**options)(_inverse)
        code.compile((numba.float64,))
        return "" if code(0.0) == float("inf") else "a division by zero does not give infinity"
    except Exception as error:
        return _first_line(error)


def _inverse(x: float) -> float:
    return 1.0 / x


def _first_line(error: Exception) -> str:
    """The type of an error and the first line of its message."""
    return f"{type(error).__name__}: {error}".partition("\n")[0]


@lru_cache(maxsize=64)
def _warn(what: str) -> None:
    """Warn about this version of Numba, once for the same words."""
    import numba

    warnings.warn(
        f"Numba {numba.__version__} {what}. Results are the same, but simulations are slower than with Numba 0.68",
        RuntimeWarning,
        stacklevel=2,
    )


def _declare(options: dict[str, Any]) -> None:
    """Tell Numba about every function and operation that was marked since the last time."""
    global _declared
    from numba.extending import overload

    functions, operations = _declared
    for function, machine in MARKED[functions:]:
        overload(function, strict=False, jit_options=options)(_always(machine))
    for operation in OPERATIONS[operations:]:
        overload(operation, strict=False, jit_options=options)(_by_type(operation))
    _declared = len(MARKED), len(OPERATIONS)


def _always(function: Callable[..., Any]) -> Callable[..., Any]:
    def choose(*arguments: Any) -> Callable[..., Any]:
        return function

    return choose


def _by_type(operation: Operation[Any]) -> Callable[..., Any]:
    def choose(state: Any, *arguments: Any) -> Callable[..., Any] | None:
        return operation.implementations.get(getattr(state, "instance_class", type(None)), operation.default)

    return choose


def _dispatcher(function: Callable[..., Any], foreign: tuple[str, ...]) -> Any:
    """A new compiler of Numba's for one function. It keeps machine code on disk if there is a safe folder."""
    import numba

    folder = cache_folder(foreign)
    if folder is not None:
        try:
            with _kept_in(folder):
                kept = numba.njit(cache=True, **_options())(function)
        except RuntimeError:  # no locator would keep this function
            kept = None
        # Another version of Numba may choose another folder, which would not be ours to trust.
        if kept is not None and Path(kept.stats.cache_path).is_relative_to(folder):
            return kept
    return numba.njit(**_options())(function)


@contextlib.contextmanager
def _kept_in(folder: Path) -> Iterator[None]:
    """Let Numba keep what is declared now in this folder, whatever its settings say.

    Numba's settings hold for the whole process, so they are set back.
    """
    import numba

    config = numba.config
    # NUMBA_CACHE_LOCATOR_CLASSES would choose another folder, with a check of Numba's own for stale code.
    wanted = {"CACHE_DIR": str(folder), "CACHE_LOCATOR_CLASSES": ""}
    before = {name: getattr(config, name) for name in wanted if hasattr(config, name)}
    try:
        for name in before:
            setattr(config, name, wanted[name])
        yield
    finally:
        for name, value in before.items():
            setattr(config, name, value)


def _foreign_modules(types: Iterable[Any]) -> Iterator[str]:
    """The modules that define states in these types, other than those that every simulation loads."""
    for part in types:
        kind = getattr(part, "instance_class", None)
        if kind is not None:
            if not _is_own(kind.__module__):
                yield str(kind.__module__)
            yield from _foreign_modules(part.types)


def _is_own(module: str) -> bool:
    """Whether a module is one of the package that every simulation loads. Examples are read like code of a user's."""
    package, _, rest = module.partition(".")
    return package == "rising_bandits" and rest.partition(".")[0] != "examples"


@lru_cache(maxsize=1)
def _own_hash() -> str:
    """A hash of every file of the package that holds compiled code, of the compiler and of its options.

    It does not depend on what else a program has imported.
    """
    import numba

    functions = [function for function, _ in MARKED]
    functions += [function for one in OPERATIONS for function in one.implementations.values()]
    own = {one.__module__ for one in functions if _is_own(one.__module__)}
    files = {Path(str(sys.modules[name].__file__)).resolve() for name in own}
    files |= {Path(__file__).resolve(), PACKAGE / "_compile.py"}
    return hash_files(files, base=PACKAGE, seed=f"{numba.__version__} {_options()} {sys.version}")


def cache_folder(foreign: tuple[str, ...] = ()) -> Path | None:
    """The folder for machine code in which these modules of the user take part; None if no folder is safe."""
    name = _own_hash()
    if foreign:
        files = [module_files(module) for module in foreign]
        if None in files:
            return None
        name += "-" + hash_files(path for some in files for path in some or ())
    base = _safe_base()
    if base is None:
        return None
    folder = base / name
    return folder if _is_private(folder) else None


def _safe_base() -> Path | None:
    """``RISING_BANDITS_CACHE``, or else the user's cache folder; None if both can be entered by others."""
    chosen = os.environ.get("RISING_BANDITS_CACHE")
    candidates = [Path(chosen)] if chosen else []
    home = os.environ.get("XDG_CACHE_HOME")
    # A user without a home (a service, a container) has nowhere to keep machine code.
    with contextlib.suppress(RuntimeError):
        candidates.append((Path(home) if home else Path.home() / ".cache") / "rising-bandits")
    for candidate in candidates:
        with contextlib.suppress(OSError):
            candidate.parent.mkdir(parents=True, exist_ok=True)
            if _is_private(candidate.absolute()):
                return candidate.absolute()
    return None


def _is_private(folder: Path) -> bool:
    """Whether the folder belongs to the user, is no link, and only the user can enter it.

    A missing folder is made. A folder of the user's that others can read, but not write to, is closed to them first.
    """
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode):
            return False
        if not hasattr(os, "getuid"):
            return os.access(folder, os.W_OK)
        if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o022:
            return False
        if stat.S_IMODE(found.st_mode) != 0o700:
            folder.chmod(0o700)
    except OSError:
        return False
    return True
