"""How requests are read from a connection: limits on their heads, and errors as JSON problems.

Uvicorn's own protocol takes heads of any size and waits for them for ever, and answers a request that it cannot read
with plain text.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from rising_bandits.serve.answers import HEADERS
from rising_bandits.serve.problems import TYPE, Refused

MOST_HEAD = 65_536
"""The largest head of a request (its first line and its headers) in bytes. One that arrives at once may be larger."""
PATIENCE = 10.0
"""How many seconds a head may take to arrive."""
MOST_CONNECTIONS = 4_096
"""How many connections may be open; at most half as many as the process may have open files."""


def most_connections() -> int:
    """How many connections may be open in this process."""
    try:
        import resource
    except ImportError:
        return MOST_CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if files < 0 else max(1, min(MOST_CONNECTIONS, files // 2))


class Protocol(HttpToolsProtocol):
    """The connection of a client."""

    _most = most_connections()
    _heading = True
    """Whether the head of a request is awaited, or arrives."""
    _head = 0
    """How many bytes of it have arrived."""
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, unless too many connections are open."""
        super().connection_made(transport)
        if len(self.connections) > self._most:
            self._end(503, f"{self._most} connections are open already")
            return
        self._timer = self.loop.call_later(PATIENCE, self._late)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what has arrived."""
        if self.transport.is_closing():
            return
        if self._heading:
            self._head += len(data)
        super().data_received(data)
        if not self._heading or self.transport.is_closing():
            return
        if self._head > MOST_HEAD:
            self._end(431, f"the first line and the headers of a request must have at most {MOST_HEAD} bytes")
        elif self._head and self._timer is None:
            self._timer = self.loop.call_later(PATIENCE, self._late)

    def on_headers_complete(self) -> None:
        """Take a whole head."""
        self._heading, self._head = False, 0
        self._stop_timer()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Take a whole request."""
        self._heading = True
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer a request that is not HTTP."""
        self._end(400, "this is not a request of HTTP/1.1")

    def _unsupported_upgrade_warning(self) -> None:
        """Go on: a request for another protocol is answered as one of HTTP."""

    def _late(self) -> None:
        """Close the connection, because no whole head has arrived in time."""
        self._timer = None
        if self._head:
            self._end(408, f"the first line and the headers of a request must arrive within {PATIENCE:g} s")
        else:
            self.transport.close()

    def _stop_timer(self) -> None:
        """Wait for the head no longer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self, status: int, detail: str) -> None:
        """Answer with a problem, and close the connection."""
        self._stop_timer()
        if self.cycle is not None and not self.cycle.response_complete:
            # The answer to a request before is underway, and must not be mixed with this one.
            self.transport.close()
            return
        body = msgspec.json.encode(Refused(status, detail).problem())
        headers = {**HEADERS, "content-type": TYPE.decode(), "content-length": str(len(body)), "connection": "close"}
        lines = [
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
            *(f"{name}: {text}" for name, text in headers.items()),
        ]
        self.transport.write("\r\n".join([*lines, "", ""]).encode("ascii") + body)
        self.transport.close()
