"""Call the integer solver HiGHS through scipy and suppress what it prints."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Redirect file descriptor 1 to the null device: the solver prints to it directly, even if told not to.

    The descriptor belongs to the whole process. If other threads are running, nothing is redirected, because their
    output would be lost. If the process has no standard output, nothing has to be done.
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
    """``scipy.optimize.milp`` without output from the solver."""
    from scipy.optimize import milp

    with _quiet():
        return milp(**arguments)
