"""Which source files something depends on, and hashes of them."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


def hash_files(paths: Iterable[Path], *, base: Path | None = None, seed: str = "") -> str:
    """A hash of the names and contents of files, whatever their order; names are relative to ``base``, or bare."""
    digest = hashlib.sha256(seed.encode())
    for path in sorted(paths):
        name = path.name if base is None else path.relative_to(base).as_posix()
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def source_hash(*rooms: str) -> str:
    """A hash of every source and data file of some rooms of the package.

    >>> len(source_hash("curves")), source_hash("curves") == source_hash("oracles")
    (16, False)
    """
    wanted = (*rooms, "_compile.py", "_checks.py")
    paths = [path for kind in ("*.py", "*.json") for path in PACKAGE.rglob(kind)]
    return hash_files((path for path in paths if path.relative_to(PACKAGE).parts[0] in wanted), base=PACKAGE)


def module_files(name: str) -> list[Path] | None:
    """The file of an imported module and of those that it imported from its own folder; None where one has no file.

    A program's own module (``__main__``) and a notebook have none.
    """
    found: dict[str, Path] = {}
    waiting = [name]
    while waiting:
        module = sys.modules.get(waiting.pop())
        source = getattr(module, "__file__", None)
        if module is None or source is None or module.__name__ == "__main__":
            return None
        found[module.__name__] = Path(source)
        for value in list(vars(module).values()):
            other = value.__name__ if isinstance(value, type(sys)) else getattr(value, "__module__", None)
            near = getattr(sys.modules.get(other) if isinstance(other, str) else None, "__file__", None)
            if other not in found and near is not None and Path(near).is_relative_to(Path(source).parent):
                waiting.append(str(other))
    return list(found.values())
