"""The operations of the service, a module for each kind."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rising_bandits.serve.app import State

_MODULES = ("live", "studies", "reports", "changes", "health", "page", "stream", "session", "documentation")
"""The modules, in the order of the documentation."""


def load() -> None:
    """Declare all operations."""
    for module in _MODULES:
        import_module(f"{__name__}.{module}")


@contextlib.asynccontextmanager
async def background(state: State) -> AsyncIterator[None]:
    """Run what runs beside the requests, for as long as the service does."""

    def written(_: object) -> None:
        # Whoever waits now is woken; whoever comes later waits for the next batch.
        state.news.set()
        state.news = asyncio.Event()

    state.hub.listeners.append(written)
    yield
