"""The service as an ASGI application: checks around every operation."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any
from urllib.parse import parse_qsl, unquote

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from rising_bandits.serve import problems, routes
from rising_bandits.serve.chronicle import Chronicle
from rising_bandits.serve.guard import Guard
from rising_bandits.serve.hub import Hub
from rising_bandits.serve.limits import Limits
from rising_bandits.serve.metrics import Metrics
from rising_bandits.serve.operations import OPERATIONS, Answer, Call, Nothing, Operation
from rising_bandits.serve.problems import Refused, refusal
from rising_bandits.serve.sessions import Sessions
from rising_bandits.serve.tokens import Tokens

_LOGGER = logging.getLogger(__name__)
_ENCODER = msgspec.json.Encoder()
_SLASH = "\ue02f"
"""Stands for a slash inside a name, while a path is taken apart."""
_LARGEST_LOG = 64_000_000
"""The largest body of an operation on whole logs, in bytes."""
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}
"""Headers of every answer."""
_ALWAYS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]


class State:
    """What the application keeps besides the studies."""

    def __init__(self, hub: Hub, guard: Guard, limits: Limits) -> None:
        self.hub, self.guard, self.limits = hub, guard, limits
        self.metrics = Metrics()
        self.chronicles: dict[str, tuple[int, Chronicle]] = {}
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


class _Endpoint:
    """One operation as an ASGI application."""

    def __init__(self, operation: Operation, state: State) -> None:
        self._operation, self._state = operation, state
        body = operation.body
        self._decoder: msgspec.json.Decoder[Any] | None = None if body is None else msgspec.json.Decoder(body)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, do it, and answer."""
        begun = time.perf_counter()
        state, operation = self._state, self._operation
        state.underway += 1
        try:
            answer = await self._answer(scope, receive)
        except Exception as error:
            answer = problem_answer(error, operation.name)
        finally:
            state.underway -= 1
        state.metrics.count(operation.name, answer.status, time.perf_counter() - begun)
        await _send(answer, receive, send)

    async def _answer(self, scope: Scope, receive: Receive) -> Answer:
        """The answer to a request."""
        operation, state = self._operation, self._state
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        peer = scope["client"][0] if scope.get("client") else "local"
        state.guard.check_origin(operation.method, headers)
        grant = state.guard.grant(operation.right is not None, headers, peer)
        operation.permit(grant, scope["path_params"])
        if state.underway > state.limits.connections:
            raise Refused(503, "too many requests are underway", {"Retry-After": "1"})
        call = Call(state.hub, state, grant, scope["path_params"], self._query(scope), None, headers, peer)
        if self._decoder is not None:
            call.body = await self._body(headers, receive)
        async with asyncio.timeout(state.limits.seconds):
            made = await operation.handler(call)
        return made if isinstance(made, Answer) else Answer(_ENCODER.encode(made))

    def _query(self, scope: Scope) -> Any:
        """The parameters of the query, checked."""
        kind, text = self._operation.query, scope["query_string"]
        if not text and kind is Nothing:
            return None
        try:
            pairs = parse_qsl(
                text.decode("ascii"), keep_blank_values=True, strict_parsing=bool(text), max_num_fields=100
            )
            if len({name for name, _ in pairs}) < len(pairs):
                raise Refused(422, "each parameter of the query must be given once")
            return msgspec.convert(dict(pairs), kind, strict=False)
        except (msgspec.ValidationError, ValueError) as error:
            raise Refused(422, f"the query is wrong: {error}") from None

    async def _body(self, headers: dict[str, str], receive: Receive) -> Any:
        """The body, read and checked. An empty body stands for an empty object."""
        most = self._state.limits.body if self._operation.limited else _LARGEST_LOG
        too_large = Refused(413, f"the body must have at most {most} bytes")
        with contextlib.suppress(ValueError):
            if int(headers.get("content-length", "0")) > most:
                raise too_large
        data = b""
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._state.limits.seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refused(400, "the client closed the connection")
                    part = message.get("body", b"")
                    size += len(part)
                    if size > most:
                        raise too_large
                    parts.append(part)
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            raise Refused(408, f"the body must arrive within {self._state.limits.seconds:g} s") from None
        data = parts[0] if len(parts) == 1 else b"".join(parts)
        if data and headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refused(415, "send the body as JSON, with the header 'Content-Type: application/json'")
        assert self._decoder is not None
        try:
            return self._decoder.decode(data or b"{}")
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise Refused(422, f"the body is wrong: {error}") from None


def problem_answer(error: Exception, where: str) -> Answer:
    """An error as an answer. What nobody foresaw is logged."""
    refused = refusal(error)
    if refused.status == 500:
        _LOGGER.error("%s failed", where, exc_info=error)
    elif refused.status == 503:
        _LOGGER.warning("%s: %s", where, refused.detail)
    return Answer(_ENCODER.encode(refused.problem()), refused.status, problems.TYPE.decode(), refused.headers)


async def _gone(receive: Receive) -> None:
    """Wait until the client has closed the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _stream(pieces: AsyncIterator[bytes], receive: Receive, send: Send) -> None:
    """Send the pieces of a stream until there are no more, or the client is gone."""
    gone = asyncio.ensure_future(_gone(receive))
    try:
        while True:
            piece = asyncio.ensure_future(anext(pieces))
            await asyncio.wait({piece, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not piece.done():
                piece.cancel()
                with contextlib.suppress(asyncio.CancelledError, StopAsyncIteration):
                    await piece
                return
            try:
                await send({"type": "http.response.body", "body": piece.result(), "more_body": True})
            except StopAsyncIteration:
                return
    finally:
        gone.cancel()
        await pieces.aclose()  # type: ignore[attr-defined]


async def _send(answer: Answer, receive: Receive, send: Send) -> None:
    """Send an answer."""
    headers = [(b"content-type", answer.type.encode()), *_ALWAYS]
    if answer.headers:
        given = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers.items()]
        named = {name for name, _ in given}
        headers = [pair for pair in headers if pair[0] not in named] + given
    if answer.stream is None and answer.status != 304:
        headers.append((b"content-length", str(len(answer.body)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    if answer.stream is None:
        await send({"type": "http.response.body", "body": answer.body})
        return
    await send({"type": "http.response.body", "body": answer.body, "more_body": True})
    await _stream(answer.stream, receive, send)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _no_such_path(request: Request, error: Exception) -> Response:
    """The answer where there is no such path or method."""
    assert isinstance(error, HTTPException)
    details = {404: "there is no such path; /docs lists all", 405: "this path does not have this method; see /docs"}
    refused = Refused(error.status_code, details.get(error.status_code, str(error.detail)), dict(error.headers or {}))
    answer = problem_answer(refused, "routing")
    return Response(answer.body, answer.status, {**HEADERS, **answer.headers}, answer.type)


def make_app(
    storage: str,
    *,
    tokens: Tokens | None = None,
    limits: Limits | None = None,
    power_safe: bool = False,
    hosts: tuple[str, ...] | None = None,
) -> Starlette:
    """Make the service as an ASGI application.

    Parameters
    ----------
    storage
        The URL of the database; a SQLite file is made if it does not exist.
    tokens
        The tokens that it knows; by default none, and then everybody who reaches it may do everything. So serve it
        without tokens on loopback only.
    limits
        What a request may cost.
    power_safe
        Whether each answer waits until its data is on disk.
    hosts
        The host names under which it is reached; others are refused, so that no web page can reach it under a name of
        its own. By default the names of loopback if no token is needed, else any.

    Returns
    -------
    starlette.applications.Starlette
        The application. It opens the storage when it starts, and closes it when it ends.

    Raises
    ------
    InputError
        The storage is not a URL of a database.

    >>> app = make_app("sqlite:///routes.db")
    >>> sorted(route.path for route in app.routes if route.path.endswith("z"))
    ['/healthz', '/readyz']
    """
    limits = Limits() if limits is None else limits
    tokens = Tokens() if tokens is None else tokens
    routes.load()

    @contextlib.asynccontextmanager
    async def begin() -> AsyncIterator[State]:
        hub = Hub(storage, limits, power_safe=power_safe)
        state = State(hub, Guard(tokens, limits, hosts), limits)
        try:
            async with routes.background(state):
                yield state
        finally:
            hub.draining.set()
            await asyncio.get_running_loop().run_in_executor(None, hub.close)

    return assemble(OPERATIONS, begin)


def assemble(operations: Sequence[Operation], begin: Callable[[], AbstractAsyncContextManager[Any]]) -> Starlette:
    """An application of some operations. ``begin`` makes their state, for as long as the application runs."""
    state = _Late()

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with begin() as made:
            state.become(made)
            app.state.rising = made
            yield

    return _Service(
        routes=[Route(each.path, _Later(each, state), methods=[each.method], name=each.name) for each in operations],
        lifespan=lifespan,
        exception_handlers={404: _no_such_path, 405: _no_such_path},
    )


class _Service(Starlette):
    """An application whose paths may hold names with a slash, written as ``%2F``."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        raw = scope.get("raw_path") or b""
        if b"%2" in raw and scope["type"] == "http":
            path = raw.partition(b"?")[0].decode("ascii", "replace")
            scope["path"] = unquote(path.replace("%2F", _SLASH).replace("%2f", _SLASH))
        await super().__call__(scope, receive, send)


class _Late:
    """A state that is there once the application has started."""

    def __init__(self) -> None:
        self._found: State | None = None

    def become(self, state: State) -> None:
        """Set the state."""
        self._found = state

    @property
    def found(self) -> State:
        """The state."""
        assert self._found is not None, "the application has not started"
        return self._found


class _Later:
    """The endpoint of an operation, made when the application has started."""

    def __init__(self, operation: Operation, state: _Late) -> None:
        self._operation, self._state = operation, state
        self._made: tuple[State, _Endpoint] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if any(_SLASH in value for value in scope["path_params"].values()):
            given = scope["path_params"].items()
            scope["path_params"] = {name: value.replace(_SLASH, "/") for name, value in given}
        state = self._state.found
        if self._made is None or self._made[0] is not state:
            self._made = (state, _Endpoint(self._operation, state))
        await self._made[1](scope, receive, send)
