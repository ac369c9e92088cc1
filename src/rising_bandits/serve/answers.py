"""Answers: how they are sent, piece by piece if they are streams, and errors among them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator

import msgspec
from starlette.types import Receive, Send

from rising_bandits.serve import problems
from rising_bandits.serve.operations import Answer
from rising_bandits.serve.problems import refusal

_LOGGER = logging.getLogger(__name__)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}
"""Headers of every answer."""
_ALWAYS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]


def problem_answer(error: Exception, where: str) -> Answer:
    """An error as an answer. What nobody foresaw is logged."""
    refused = refusal(error)
    if refused.status == 500:
        _LOGGER.error("%s failed", where, exc_info=error)
    elif refused.status == 503:
        _LOGGER.warning("%s: %s", where, refused.detail)
    return Answer(msgspec.json.encode(refused.problem()), refused.status, problems.TYPE.decode(), refused.headers)


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


async def send_answer(answer: Answer, receive: Receive, send: Send) -> None:
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
