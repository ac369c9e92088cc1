"""The only door to Numba: machine code for marked functions, and the folder where it is kept.

Nothing here is called while a program only decides. A simulation calls `prepared`, which compiles
its loop for the types of its arguments, or loads the machine code that an earlier process kept.

Numba notices a change only in the file of the function that it keeps, not in the files of functions
which that one calls. So the folder is named by a hash of every file with compiled code. If states of
the user's own take part, their modules are part of the hash. Changed code therefore never runs old
machine code. Numba reads the folder with pickle, so a folder that others could write to is not used.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rising_bandits._compile import MARKED, OPERATIONS, Operation
from rising_bandits._extras import require
from rising_bandits._sources import PACKAGE, hash_files, module_files

_OPTIONS = {"error_model": "numpy", "forceinline": True, "_nrt": False}
"""How everything is compiled.

``_nrt=False`` leaves out reference counting, which otherwise takes most of the time of a round; the price is that
compiled code cannot create arrays. ``forceinline`` makes one function of the small ones of a round.
"""

Types = tuple[Any, ...]
_declared = 0, 0
_ready: dict[tuple[Callable[..., Any], Types], Callable[..., Any]] = {}


def available() -> bool:
    """Whether there is a compiler: Numba is installed and not switched off by ``NUMBA_DISABLE_JIT``."""
    return find_spec("numba") is not None and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def prepared(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """The machine code of a marked function for arguments of these types. It is compiled if there is none yet.

    If ``NUMBA_DISABLE_JIT`` switches Numba off, the function itself is returned.
    """
    require("lab", "numba", "simulate with compiled=False, which runs the same loop in plain Python")
    if not available():
        return function
    import numba

    _declare()
    types = tuple(numba.typeof(argument) for argument in arguments)
    code = _ready.get((function, types))
    if code is None:
        machine = dict(MARKED).get(function, function)
        dispatcher = _dispatcher(machine, tuple(sorted(_foreign_modules(types))))
        dispatcher.compile(types)
        code = _ready[function, types] = dispatcher
    return code


def _declare() -> None:
    """Tell Numba about every function and operation that was marked since the last time."""
    global _declared
    from numba.extending import overload

    functions, operations = _declared
    for function, machine in MARKED[functions:]:
        overload(function, strict=False, jit_options=_OPTIONS)(_always(machine))
    for operation in OPERATIONS[operations:]:
        overload(operation, strict=False, jit_options=_OPTIONS)(_by_type(operation))
    _declared = len(MARKED), len(OPERATIONS)


def _always(function: Callable[..., Any]) -> Callable[..., Any]:
    def choose(*arguments: Any) -> Callable[..., Any]:
        return function

    return choose


def _by_type(operation: Operation[Any]) -> Callable[..., Any]:
    def choose(state: Any, *arguments: Any) -> Callable[..., Any] | None:
        return operation.implementations.get(getattr(state, "instance_class", type(None)), operation.default)

    return choose


@lru_cache(maxsize=64)
def _dispatcher(function: Callable[..., Any], foreign: tuple[str, ...]) -> Any:
    """Numba's compiler for one function. It keeps machine code on disk if there is a safe folder."""
    import numba

    folder = cache_folder(foreign)
    if folder is not None:
        # Numba reads the folder from its settings now. They hold for the whole process, so they are set back.
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
        try:
            kept = numba.njit(cache=True, **_OPTIONS)(function)
        except RuntimeError:  # no locator would keep this function
            kept = None
        finally:
            numba.config.CACHE_DIR = before
        # NUMBA_CACHE_LOCATOR_CLASSES may choose another folder, which would not be ours to trust.
        if kept is not None and Path(kept.stats.cache_path).is_relative_to(folder):
            return kept
    return numba.njit(**_OPTIONS)(function)


def _foreign_modules(types: Iterable[Any]) -> Iterator[str]:
    """The modules outside the package that define states in these types."""
    for part in types:
        kind = getattr(part, "instance_class", None)
        if kind is not None:
            if kind.__module__.partition(".")[0] != "rising_bandits":
                yield str(kind.__module__)
            yield from _foreign_modules(part.types)


@lru_cache(maxsize=1)
def _own_hash() -> str:
    """A hash of every file of the package that holds compiled code, and of the compiler."""
    import numba

    functions = [function for function, _ in MARKED]
    functions += [function for one in OPERATIONS for function in one.implementations.values()]
    own = {one.__module__ for one in functions if one.__module__.partition(".")[0] == "rising_bandits"}
    files = {Path(str(sys.modules[name].__file__)).resolve() for name in own}
    files |= {Path(__file__).resolve(), PACKAGE / "_compile.py"}
    return hash_files(files, base=PACKAGE, seed=f"{numba.__version__} {sys.version}")


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
