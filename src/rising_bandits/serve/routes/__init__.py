"""The operations of the service, a module for each kind."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rising_bandits.serve.state import State

_MODULES = (
    "live",
    "studies",
    "reports",
    "changes",
    "health",
    "page",
    "pictures",
    "stream",
    "storage",
    "session",
    "documentation",
)
"""The modules, in the order of the documentation."""


def load() -> None:
    """Declare all operations."""
    for module in _MODULES:
        import_module(f"{__name__}.{module}")


@contextlib.asynccontextmanager
async def background(state: State) -> AsyncIterator[None]:
    """Run what runs beside the requests, for as long as the service does."""

    def written(_: object) -> None:
        state.wake()

    state.hub.listeners.append(written)
    try:
        yield
    finally:
        await asyncio.get_running_loop().run_in_executor(None, state.sessions.close)
