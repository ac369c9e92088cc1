"""What the service keeps besides the studies: metrics, chronicles, transactions of clients elsewhere."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from rising_bandits.serve.guard import Guard
from rising_bandits.serve.hub import Hub
from rising_bandits.serve.kept import Chronicles
from rising_bandits.serve.limits import Limits
from rising_bandits.serve.metrics import Metrics
from rising_bandits.serve.sessions import Sessions


class State:
    """What the application keeps besides the studies."""

    def __init__(self, hub: Hub, guard: Guard, limits: Limits, folder: Path | None = None) -> None:
        self.hub, self.guard, self.limits = hub, guard, limits
        self.metrics = Metrics()
        self.chronicles = Chronicles(folder, limits.open)
        self.news = asyncio.Event()
        """Set when a batch was stored, and then replaced by a new one."""
        self.streams = 0
        self.sessions = Sessions(hub.url, power_safe=hub.power_safe)
        self.underway = 0
        self.started = time.time()

    def wake(self) -> None:
        """Wake those who wait for news. Whoever comes later waits for the next."""
        self.news.set()
        self.news = asyncio.Event()
