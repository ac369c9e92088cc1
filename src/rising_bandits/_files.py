"""Files that are whole or not there: written aside, then renamed."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

_COUNTER = count()
_HOST = re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname())[:40] or "host"
_ABANDONED = 24 * 3600.0
"""Seconds after which any temporary file is taken to be left behind."""


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to, which takes the place of ``path`` once it is whole and on disk.

    Its name holds host, process, thread and a number, so that writers of the same file never share it. Temporary files
    that killed processes left behind are removed first.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _clean(path)
    mark = f"{_HOST}.{os.getpid()}.{threading.get_ident()}.{next(_COUNTER)}"
    aside = path.with_name(f".{path.name}.{mark}.tmp")
    try:
        yield aside
        with aside.open("rb+") as handle:
            os.fsync(handle.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock that other processes respect, also on other hosts if the file system has locks.

    The lock is released at the end of the block, or when the process ends. ``path`` is an empty file, which is not
    removed. On a system without such locks nothing is locked.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as handle:
        try:
            import fcntl
        except ImportError:  # pragma: no cover - this system has no such locks
            yield
            return
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def clean(folder: Path) -> None:
    """Remove temporary files in a folder whose writers are gone."""
    if folder.is_dir():
        _remove(folder, re.compile(r"\..+\.([A-Za-z0-9-]+)\.(\d+)\.\d+\.\d+\.tmp"))


def _clean(path: Path) -> None:
    """Remove temporary files of the same name whose writers are gone."""
    _remove(path.parent, re.compile(re.escape(f".{path.name}.") + r"([A-Za-z0-9-]+)\.(\d+)\.\d+\.\d+\.tmp"))


def _remove(folder: Path, pattern: re.Pattern[str]) -> None:
    """Remove the temporary files of a pattern whose writers are gone; its groups are host and process."""
    for other in folder.glob(".*.tmp"):
        found = pattern.fullmatch(other.name)
        if found is None:
            continue
        with contextlib.suppress(OSError):
            old = time.time() - other.stat().st_mtime > _ABANDONED
            if old or (found[1] == _HOST and not _alive(int(found[2]))):
                other.unlink()


def _alive(pid: int) -> bool:
    """Whether a process of this machine is there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
