"""One operation as an ASGI application: the checks around it, and its body and query as types."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Receive, Scope, Send

from rising_bandits.serve.answers import problem_answer, send_answer
from rising_bandits.serve.operations import Answer, Call, Nothing, Operation
from rising_bandits.serve.problems import Refused
from rising_bandits.serve.state import State

_ENCODER = msgspec.json.Encoder()
_LARGEST_LOG = 64_000_000
"""The largest body of an operation on whole logs, in bytes."""
_ONCE = (b"host", b"origin", b"sec-fetch-site", b"authorization", b"content-type", b"idempotency-key")
"""Headers that decide about a request."""
_SHOWN = 100
"""How many letters of a name are repeated in an error."""


class Endpoint:
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
        await send_answer(answer, receive, send)

    async def _answer(self, scope: Scope, receive: Receive) -> Answer:
        """The answer to a request."""
        operation, state = self._operation, self._state
        headers = _headers(scope["headers"])
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
            decoded = self._decoder.decode(data or b"{}")
            if data and self._operation.limited:
                _check_names(data.decode())
            return decoded
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise Refused(422, f"the body is wrong: {error}") from None


def _headers(given: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """The headers of a request by name. Those that decide about it must be there once."""
    pairs = list(given)
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in pairs}
    if len(headers) < len(pairs):
        for each in _ONCE:
            if sum(name == each for name, _ in pairs) > 1:
                raise Refused(400, f"the header {each.decode()!r} must be given once")
    return headers


def _once(pairs: list[tuple[str, Any]]) -> None:
    """Refuse an object of JSON in which a name is given twice: it is not known which of the two is meant."""
    if len(pairs) > 1 and len({name for name, _ in pairs}) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Refused(422, f"the body is wrong: {twice[:_SHOWN]!r} is given twice")


_check_names = json.JSONDecoder(object_pairs_hook=_once, parse_int=float).decode
