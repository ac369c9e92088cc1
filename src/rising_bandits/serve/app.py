"""The service as an ASGI application: a route for every operation."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from rising_bandits.serve import routes
from rising_bandits.serve.answers import HEADERS, problem_answer
from rising_bandits.serve.endpoint import Endpoint
from rising_bandits.serve.guard import Guard
from rising_bandits.serve.hub import Hub
from rising_bandits.serve.limits import Limits
from rising_bandits.serve.operations import OPERATIONS, Operation
from rising_bandits.serve.problems import Refused
from rising_bandits.serve.state import State
from rising_bandits.serve.tokens import Tokens
from rising_bandits.studies.storage.urls import parse

_SLASH = "\ue02f"
"""Stands for a slash inside a name, while a path is taken apart."""


def make_app(
    storage: str,
    *,
    tokens: Tokens | None = None,
    limits: Limits | None = None,
    power_safe: bool = False,
    hosts: tuple[str, ...] | None = None,
    folder: str | Path | None = None,
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
    folder
        Where the page keeps what it has read of long logs, so that it opens quickly after a restart; None for nowhere.

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
    parse(storage)
    limits = Limits() if limits is None else limits
    tokens = Tokens() if tokens is None else tokens
    routes.load()

    @contextlib.asynccontextmanager
    async def begin() -> AsyncIterator[State]:
        hub = Hub(storage, limits, power_safe=power_safe)
        state = State(hub, Guard(tokens, limits, hosts), limits, None if folder is None else Path(folder))
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

    made = _Service(
        routes=[Route(each.path, _Later(each, state), methods=[each.method], name=each.name) for each in operations],
        lifespan=lifespan,
        exception_handlers={404: _no_such_path, 405: _no_such_path},
    )
    # A path with one slash more is another path. A redirection would name the host that the client named.
    made.router.redirect_slashes = False
    return made


async def _no_such_path(request: Request, error: Exception) -> Response:
    """The answer where there is no such path or method."""
    assert isinstance(error, HTTPException)
    details = {404: "there is no such path; /docs lists all", 405: "this path does not have this method; see /docs"}
    refused = Refused(error.status_code, details.get(error.status_code, str(error.detail)), dict(error.headers or {}))
    answer = problem_answer(refused, "routing")
    return Response(answer.body, answer.status, {**HEADERS, **answer.headers}, answer.type)


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
        self._made: tuple[State, Endpoint] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if any(_SLASH in value for value in scope["path_params"].values()):
            given = scope["path_params"].items()
            scope["path_params"] = {name: value.replace(_SLASH, "/") for name, value in given}
        state = self._state.found
        if self._made is None or self._made[0] is not state:
            self._made = (state, Endpoint(self._operation, state))
        await self._made[1](scope, receive, send)
