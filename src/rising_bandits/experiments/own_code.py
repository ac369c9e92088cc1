"""Which modules are one's own code, which source files they have, and a hash of these.

The source files of such a module, and of what it imports from the same folder, are part of the identity of a run.
Workers on other machines get them, and with them the files in the same folder that they name.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import inspect
import logging
import os
import secrets
import sys
import sysconfig
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

_PACKAGE = __name__.partition(".")[0]
_LIBRARIES = {_PACKAGE, "numpy", "scipy", "networkx", "numba", "pandas", "builtins", *sys.stdlib_module_names}
_MOST_OBJECTS = 20_000
_MOST_DATA = 32 * 2**20
_MOST_NAME = 255
_MOST_FOLDERS = 100
_LOGGER = logging.getLogger(__name__)


def is_own(module: str) -> bool:
    """Whether a module may be one's own: it belongs neither to this package nor to Python or a library it uses.

    >>> is_own("mine"), is_own("numpy.random"), is_own("rising_bandits.curves")
    (True, False, False)
    """
    return bool(module) and module.partition(".")[0] not in _LIBRARIES


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


def bundle(modules: Iterable[str]) -> dict[str, bytes]:
    """What another machine needs of some imported modules: their sources, and the files that these name.

    Files that are too large together are left out, and reported to the log.
    """
    modules = sorted(set(modules))
    found = sources(modules)
    left = _MOST_DATA
    for name, path in sorted({item for module in modules for item in data_files(module).items()}):
        left -= path.stat().st_size
        if left < 0:
            _LOGGER.warning("%s is not sent to workers: files of a module may have %d MiB", path, _MOST_DATA >> 20)
            break
        found.setdefault(name, path.read_bytes())
    return found


def data_files(name: str) -> dict[str, Path]:
    """The files in the folder of an imported module that its sources name, as in ``Path(__file__).with_name("a.csv")``.

    A name counts if a text in the sources is it, or if several texts together are its path. Hidden files do not count.

    Returns
    -------
    dict
        The files by their names relative to the folder of the module's sources.
    """
    files = source_files(name)
    found: dict[str, Path] = {}
    for relative, source in files.items():
        root = source.parents[relative.count("/")]
        texts = _texts(source)
        places = [source.parent, root]
        for place in places:
            for text in texts:
                if not os.path.lexists(place / text):
                    continue
                path = (place / text).resolve()
                inside = path.is_relative_to(root) and path != root
                if inside and path.is_dir() and path not in places and len(places) < _MOST_FOLDERS:
                    places.append(path)
                elif inside and path.is_file():
                    found[path.relative_to(root).as_posix()] = path
    return {name: path for name, path in found.items() if name not in files and not _hidden(name)}


def _hidden(name: str) -> bool:
    return any(part.startswith(".") for part in name.split("/"))


def _texts(file: Path) -> list[str]:
    """The texts in a source file that may be relative paths."""
    if file.suffix != ".py":
        return []
    with contextlib.suppress(SyntaxError, ValueError):
        nodes = ast.walk(ast.parse(file.read_bytes()))
        found = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
        return sorted(text for text in found if 0 < len(text) <= _MOST_NAME and text.isprintable() and text[0] != "/")
    return []


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
            if is_own(module):
                found.add(module)
        if code is not thing and (code.__module__.partition(".")[0] == _PACKAGE or code.__module__ in found):
            waiting += list(getattr(thing, "__dict__", {}).values())
    return sorted(found)
