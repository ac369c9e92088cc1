"""The operations of the service, a module for each kind."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rising_bandits.serve.app import State

_MODULES = ("live", "studies", "reports", "changes", "health", "session", "documentation")
"""The modules, in the order of the documentation."""


def load() -> None:
    """Declare all operations."""
    for module in _MODULES:
        import_module(f"{__name__}.{module}")


@contextlib.asynccontextmanager
async def background(state: State) -> AsyncIterator[None]:
    """Run what runs beside the requests, for as long as the service does."""
    yield
