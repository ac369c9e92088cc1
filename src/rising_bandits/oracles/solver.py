"""HiGHS through scipy, without what it prints."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Send file descriptor 1 to nowhere: the solver writes there whatever it is told, past Python's own streams.

    The descriptor is the whole process's. Where other threads live, what they write must not be lost for the sake of
    a stray line, so there nothing is redirected; and a process without standard output needs no quiet.
    """
    if threading.active_count() > 1:
        yield
        return
    try:
        kept = os.dup(1)
    except OSError:
        yield
        return
    if sys.stdout is not None:
        sys.stdout.flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def run_milp(**arguments: Any) -> Any:
    """``scipy.optimize.milp`` that keeps standard output clean."""
    from scipy.optimize import milp

    with _quiet():
        return milp(**arguments)
