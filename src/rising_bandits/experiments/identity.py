"""One's own code in experiments: who may name it, which source files it has, and how workers get it.

A policy, a task or a metric of one's own is named by text, as in ``mine:Policy``. To make it, its module is imported.
Text that the caller wrote is imported without question. Text that was read from a file is data: it is imported only if
the caller named the module too (``trust``), or if it is one of the library's own builders of tasks.

The source files of such a module, and of what it imports from the same folder, are part of the identity of a run.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import secrets
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Collection, Iterable
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from rising_bandits import policies
from rising_bandits.errors import InputError
from rising_bandits.experiments.texts import parse_call
from rising_bandits.problems import Task, tasks

Trust = Collection[str] | None
"""Modules that the caller named. None: the caller wrote the text itself, so every module may be imported."""

BUILDERS = (
    "rising_bandits.benchmark.rested",
    "rising_bandits.benchmark.suite",
    "rising_bandits.problems.curve_files",
    "rising_bandits.problems.recorded",
    "rising_bandits.theory.instances",
)
"""Modules of the library whose functions that return a `Task` may be named by files."""
TASK_TEXT = "task must look like path-easy or module:function(argument=value)"
_PACKAGE = __name__.partition(".")[0]
_LIBRARIES = {_PACKAGE, "numpy", "scipy", "networkx", "numba", "pandas", "builtins", *sys.stdlib_module_names}
_MOST_OBJECTS = 20_000
_BUNDLES: dict[str, str] = {}
"""Folders into which sources from other machines were unpacked, by their digest."""
_lock = threading.RLock()
_imported: dict[str, tuple[Any, str]] = {}
"""For modules of one's own that were imported here: their import spec, and the digest of their sources then."""


def make_task(text: str, trust: Trust = None) -> Task:
    """The task that a text names.

    Parameters
    ----------
    text
        The name of a built-in task, or ``module:function(argument=value)`` for a function that returns a `Task`. The
        module is imported, so the text must be your own.
    trust
        For text that was read from a file: the modules that may be imported. By default any.

    Raises
    ------
    InputError
        The task is not known, may not be imported, cannot be imported, or is not a `Task`.

    >>> make_task("rising_bandits.theory.instances:general_a(horizon=300)").horizon
    300
    """
    if ":" not in text:
        return tasks.shared(text)
    name, arguments = parse_call(text, TASK_TEXT)
    builder = load("task", name, trust)
    if not callable(builder):
        raise InputError(f"task {text!r} must be a function that returns a Task, got {type(builder).__name__}")
    try:
        task = builder(**arguments)
    except TypeError as error:
        raise InputError(f"task {name!r} cannot be made with {arguments!r}: {error}") from None
    if not isinstance(task, Task):
        raise InputError(f"task {text!r} must be a function that returns a Task, got {type(task).__name__}")
    return task


def make_policy(name: str, parameters: dict[str, Any], trust: Trust = None) -> Any:
    """A new policy: a built-in one by name, or one of the user's own by ``module:Class``.

    Parameters
    ----------
    name, parameters
        The policy and its arguments.
    trust
        For a name that was read from a file: the modules that may be imported. By default any.
    """
    if ":" not in name:
        return policies.by_name(name, **parameters)
    kind = load("policy", name, trust)
    try:
        return kind(**parameters)
    except TypeError as error:
        raise InputError(f"policy {name!r} cannot be made with {parameters!r}: {error}") from None


def load(kind: str, name: str, trust: Trust = None) -> Any:
    """Import the object that ``module:attribute`` names; ``kind`` is its name in error messages."""
    module, _, attribute = name.partition(":")
    if trust is not None and not _trusted(module, trust) and not _is_builder(module, attribute):
        raise InputError(
            f"{kind} {name!r} is named by a file, and what a file names is not imported; if the module is your own, "
            f"name it: --trust {module}"
        )
    try:
        found = getattr(import_own(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(f"{kind} {name!r} cannot be imported: {error}") from None
    defined = getattr(found, "__module__", None)
    if trust is not None and not (isinstance(defined, str) and (defined in BUILDERS or _trusted(defined, trust))):
        # A trusted module may have imported functions of other modules, which a file must not reach.
        raise InputError(f"{kind} {name!r} is named by a file and must be defined in a module that is trusted")
    return found


def _trusted(module: str, trust: Collection[str]) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in trust)


def _is_builder(module: str, attribute: str) -> bool:
    """Whether a file may name this function of the library: a public function that returns a task."""
    if module not in BUILDERS or attribute.startswith("_"):
        return False
    found = getattr(importlib.import_module(module), attribute, None)
    return inspect.isfunction(found) and found.__module__ == module and found.__annotations__.get("return") == "Task"


def import_own(name: str) -> ModuleType:
    """Import a module. Modules in the current folder can be imported, as with ``python -m``.

    If the sources of a module have changed since it was imported here, it is imported anew, as a new process would.
    """
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    with _lock:
        if name.partition(".")[0] in _LIBRARIES:
            return importlib.import_module(name)
        module = _import(name)
        digest = digest_of([name])
        before = _imported.get(name)
        if before is not None and before[0] is module.__spec__ and before[1] != digest:
            _forget(name)
            module = _import(name)
        _imported[name] = (module.__spec__, digest)
        return module


def _import(name: str) -> ModuleType:
    """Import a module without leaving bytecode on disk.

    Python takes old bytecode for current if a source changed within a second and kept its size.
    """
    importlib.invalidate_caches()
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        return importlib.import_module(name)
    finally:
        sys.dont_write_bytecode = before


def _forget(name: str) -> None:
    """Forget imported modules whose files belong to the sources of a module, but never the main program."""
    files = {path.resolve() for path in source_files(name).values()}
    for other, module in list(sys.modules.items()):
        source = getattr(module, "__file__", None)
        if other != "__main__" and source is not None and Path(source).resolve() in files:
            del sys.modules[other]


# --- the sources of a module ---


@lru_cache(maxsize=1)
def _installed() -> tuple[Path, ...]:
    """Folders of installed packages and of Python itself."""
    paths = sysconfig.get_paths()
    return tuple({Path(paths[key]).resolve() for key in ("stdlib", "platstdlib", "purelib", "platlib")})


def source_files(name: str) -> dict[str, Path]:
    """The source files of an imported module and of what it imports from the same folder.

    Imports are read from the sources, so it does not matter what is imported when. A module of an installed package
    counts with its package only.

    Returns
    -------
    dict
        The files by their names relative to the folder; empty if the module has no source file, as in a notebook.
    """
    module = sys.modules.get(name)
    source = getattr(module, "__file__", None)
    if module is None or source is None or not Path(source).is_file():
        return {}
    path = Path(source).resolve()
    package = path.name == "__init__.py"
    parts = [path.stem] if name == "__main__" else name.split(".")
    root = path.parents[len(parts) - 1 + (1 if package else 0)] if len(path.parents) > len(parts) else path.parent
    top = parts[0] if root in _installed() else None
    found: dict[str, Path] = {}
    waiting = [(".".join(parts), path)]
    waiting += [(".".join(parts[:n]), root.joinpath(*parts[:n], "__init__.py")) for n in range(1, len(parts))]
    while waiting:
        called, file = waiting.pop()
        if not file.is_file() or file.relative_to(root).as_posix() in found:
            continue
        found[file.relative_to(root).as_posix()] = file
        if file.suffix == ".py":
            for imported in _imports(file, called, package=file.name == "__init__.py"):
                if top is None or imported.partition(".")[0] == top:
                    waiting += _places(root, imported)
    return found


def _imports(file: Path, called: str, *, package: bool) -> set[str]:
    """The full names of what a source file imports, anywhere in it. Some of them may be attributes of modules."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = called.split(".")[: None if package else -1]
                up = up[: len(up) - (node.level - 1)]
                base = ".".join([*up, *([base] if base else [])])
            names |= {f"{base}.{alias.name}" if base else alias.name for alias in node.names} | ({base} - {""})
    return names


def _places(root: Path, name: str) -> list[tuple[str, Path]]:
    """The files under a folder that the import of a name may run: the module and the packages that hold it."""
    parts = name.split(".")
    found = []
    for size in range(1, len(parts) + 1):
        called, base = ".".join(parts[:size]), root.joinpath(*parts[:size])
        found += [(called, path) for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()]
    return found


def sources(modules: Iterable[str]) -> dict[str, bytes]:
    """The source files of some imported modules by their names relative to their folders."""
    return {name: path.read_bytes() for module in sorted(set(modules)) for name, path in source_files(module).items()}


def digest_of(modules: Iterable[str]) -> str:
    """A short hash of the sources of some imported modules; empty for none.

    A module without a source file, as in a notebook, gets another hash each time, because nobody can tell whether it
    has changed.
    """
    names = sorted(set(modules))
    if any(not source_files(name) for name in names):
        return f"unseen-{secrets.token_hex(5)}"
    return digest(sources(names)) if names else ""


def digest(files: dict[str, bytes]) -> str:
    """A short hash of the names and contents of files."""
    total = hashlib.sha256()
    for name, content in sorted(files.items()):
        total.update(f"{name}\0{len(content)}\0".encode() + content)
    return total.hexdigest()[:16]


# --- the modules of one's own that take part in a run ---


def own_modules(*things: Any) -> list[str]:
    """The modules of one's own that some objects come from: their classes, their functions and what they hold."""
    found: set[str] = set()
    seen: set[int] = set()
    waiting = list(things)
    while waiting and len(seen) < _MOST_OBJECTS:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, str | bytes | int | float | complex | type(None)):
            continue
        seen.add(id(thing))
        if isinstance(thing, list | tuple | set | frozenset):
            waiting += thing
            continue
        if isinstance(thing, dict):
            waiting += [*thing, *thing.values()]
            continue
        code = thing if inspect.isclass(thing) or inspect.isroutine(thing) else type(thing)
        for kind in code.__mro__ if inspect.isclass(code) else (code,):
            module = getattr(kind, "__module__", None) or ""
            if module and module.partition(".")[0] not in _LIBRARIES:
                found.add(module)
        if code is not thing and (code.__module__.partition(".")[0] == _PACKAGE or code.__module__ in found):
            waiting += list(getattr(thing, "__dict__", {}).values())
    return sorted(found)


# --- sources for workers on other machines ---


def pack(modules: Iterable[str]) -> dict[str, bytes]:
    """The sources that a worker on another machine needs, to be passed to `unpack` there."""
    return sources(modules)


def unpack(files: dict[str, bytes]) -> None:
    """Make the sources from another machine importable here, in place of others of the same names."""
    if not files:
        return
    with _lock:
        mark = digest(files)
        folder = _BUNDLES.get(mark)
        if folder is None:
            folder = tempfile.mkdtemp(prefix="rising-bandits-")
            for name, content in files.items():
                path = Path(folder, name)
                if not path.resolve().is_relative_to(Path(folder).resolve()):
                    raise InputError(f"sources must be inside their folder, got {name!r}")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            _BUNDLES[mark] = folder
        if sys.path[:1] == [folder]:
            return
        sys.path[:] = [folder, *(path for path in sys.path if path not in _BUNDLES.values())]
        importlib.invalidate_caches()
        tops = {name.partition("/")[0].removesuffix(".py") for name in files}
        for other in [name for name in sys.modules if name.partition(".")[0] in tops]:
            del sys.modules[other]
            _imported.pop(other, None)
