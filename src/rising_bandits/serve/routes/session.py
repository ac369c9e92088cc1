"""Sessions of the page: a token once, then a cookie that only this site can use."""

from __future__ import annotations

from typing import Any

import msgspec

from rising_bandits.serve import schemas
from rising_bandits.serve.operations import Answer, Call, operation

_TAG = "Session"


@operation("GET", "/v1/me", right="read", tag=_TAG, answer=schemas.WhoAmI)
async def me(call: Call) -> Any:
    """Say what the token or the session of this request allows."""
    grant = call.grant
    needed = call.state.guard.tokens.needed
    return schemas.WhoAmI(grant.name, sorted(grant.studies), sorted(grant.rights), needed)


@operation("POST", "/v1/session", right=None, tag=_TAG, body=schemas.Session, answer=schemas.Done, statuses=(401,))
async def begin_session(call: Call) -> Any:
    """Begin a session of the page: the answer sets a cookie."""
    cookie = call.state.guard.begin(call.body.token, call.headers, call.peer)
    return Answer(msgspec.json.encode(schemas.Done()), headers={"Set-Cookie": cookie})


@operation("DELETE", "/v1/session", right=None, tag=_TAG, answer=schemas.Done)
async def end_session(call: Call) -> Any:
    """End the session of the page."""
    cookie = call.state.guard.end(call.headers)
    return Answer(msgspec.json.encode(schemas.Done()), headers={"Set-Cookie": cookie})
