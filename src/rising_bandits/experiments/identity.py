"""One's own code in experiments: who may name it, how it is imported, and how workers get it.

A policy, a task or a metric of one's own is named by text, as in ``mine:Policy``. To make it, its module is imported.
Text that the caller wrote is imported without question. Text that was read from a file is data: it is imported only if
the caller named the module too (``trust``), or if it is one of the library's own builders of tasks.

Which source files belong to such a module is found in `own_code`.
"""

from __future__ import annotations

import atexit
import importlib
import inspect
import shutil
import sys
import tempfile
import threading
from collections.abc import Collection
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType
from typing import Any

from rising_bandits import policies
from rising_bandits.errors import InputError
from rising_bandits.experiments.own_code import digest, digest_of, is_own, source_files
from rising_bandits.experiments.texts import parse_call
from rising_bandits.problems import Task, curve_files, recorded, tasks, user_files

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
_BUNDLES: dict[str, str] = {}
"""Folders into which sources from other machines were unpacked, by their digest."""
_EXTENSIONS = tuple(EXTENSION_SUFFIXES)
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


def files_of_task(text: str) -> tuple[bytes, ...]:
    """The contents of the files that a task is read from, for workers on other machines: of curves or recordings.

    Parameters
    ----------
    text
        The task, as `make_task` takes it. Its function is not called.
    """
    name, arguments = parse_call(text, TASK_TEXT) if ":" in text else ("", {})
    if name not in (f"{module.__name__}:from_file" for module in (curve_files, recorded)):
        return ()
    return (user_files.content_of("file", str(arguments.get("path")), arguments.get("digest")),)


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
        if not is_own(name):
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


def unpack(files: dict[str, bytes]) -> None:
    """Make the sources from another machine importable here, in place of others of the same names.

    Files that are no sources lie beside them, as they did on the other machine.
    """
    if not files:
        return
    with _lock:
        mark = digest(files)
        folder = _BUNDLES.get(mark)
        if folder is None:
            folder = tempfile.mkdtemp(prefix="rising-bandits-")
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
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
        tops = {name.partition("/")[0].partition(".")[0] for name in files if name.endswith((".py", *_EXTENSIONS))}
        for other in [name for name in sys.modules if name.partition(".")[0] in tops]:
            del sys.modules[other]
            _imported.pop(other, None)
