"""Events as they happen, for the page: server-sent events."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from rising_bandits.errors import RisingBanditsError
from rising_bandits.serve.operations import Answer, Call, operation
from rising_bandits.serve.problems import Refused

_TAG = "Page"
LOOK = 1.0
"""After how many seconds the log is looked at for what other processes wrote."""
ALIVE = 15.0
"""After how many quiet seconds a comment is sent, so that the connection stays open."""
MOST = 100
"""How many streams may be open."""


@operation("GET", "/v1/studies/{study}/events", right="read", tag=_TAG, type="text/event-stream")
async def events(call: Call) -> Any:
    """Say, as server-sent events, whenever the log of a study has grown."""
    if call.state.streams >= MOST:
        raise Refused(503, f"{MOST} streams are open already", {"Retry-After": "5"})
    seq = await call.hub.read(call.study, _seq)
    return Answer(_event(seq), type="text/event-stream", headers={"X-Accel-Buffering": "no"}, stream=_follow(call, seq))


def _seq(study: Any, _: Any) -> int:
    """The number of the newest event."""
    with study._log.look() as (fold, _):
        return int(fold.seq)


def _event(seq: int) -> bytes:
    """One event."""
    return b"event: log\ndata: " + msgspec.json.encode({"seq": seq}) + b"\n\n"


async def _follow(call: Call, seq: int) -> AsyncIterator[bytes]:
    """The events of a stream. It ends when the service does, or when the token is revoked."""
    draining, quiet = call.hub.draining, 0.0
    call.state.streams += 1
    try:
        while not draining.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(_changed(call), LOOK)
            if draining.is_set():
                return
            try:
                grant = call.state.guard.grant(True, call.headers, call.peer)
                newest = await call.hub.read(call.study, _seq) if grant.allows("read", call.study) else None
            except (RisingBanditsError, Refused):
                newest = None
            if newest is None:
                yield b"event: gone\ndata: {}\n\n"
                return
            quiet += LOOK
            if newest != seq:
                seq, quiet = newest, 0.0
                yield _event(seq)
            elif quiet >= ALIVE:
                quiet = 0.0
                yield b": still here\n\n"
    finally:
        call.state.streams -= 1


async def _changed(call: Call) -> None:
    """Wait until a batch was stored here, and then a little, so that many are one event."""
    await call.state.news.wait()
    await asyncio.sleep(0.2)
