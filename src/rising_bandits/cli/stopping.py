"""Ctrl-C: which commands continue where they were stopped."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class ResumableStop(Exception):  # noqa: N818  # a wish of the user's, no error
    """Ctrl-C stopped a command whose finished runs and checkpoints are kept."""


@contextlib.contextmanager
def resumable() -> Iterator[None]:
    """Mark a function, or a block, of a command that continues if the same command is given again after Ctrl-C."""
    try:
        yield
    except KeyboardInterrupt as stop:
        # Not a KeyboardInterrupt: the command-line library replaces those by an exit code.
        raise ResumableStop from stop
