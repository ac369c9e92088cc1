"""The storage itself, for ``rb.studies.open(..., storage="http://...")``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from rising_bandits.serve.operations import Call, operation

_TAG = "Storage"


class Begin(Struct, forbid_unknown_fields=True):
    """A transaction to begin."""

    write: bool = False
    study: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None


class Begun(Struct):
    """A transaction that has begun."""

    session: str
    now: float


class StorageCall(Struct, forbid_unknown_fields=True):
    """Methods of the storage protocol, each with its arguments, and whether the transaction ends."""

    session: Annotated[str, Meta(max_length=100)]
    calls: Annotated[list[Annotated[list[Any], Meta(min_length=1)]], Meta(max_length=1_000)] = []
    end: Literal["commit", "rollback"] | None = None


class Results(Struct):
    """What the methods returned."""

    results: list[Any]


@operation("POST", "/v1/storage/begin", right="storage", tag=_TAG, body=Begin, answer=Begun)
async def begin_transaction(call: Call) -> Any:
    """Begin a transaction of the storage.

    For the Python library on another machine. A transaction that is silent for some seconds is rolled back.
    """
    wanted: Begin = call.body
    session, now = await call.state.sessions.run(call.state.sessions.begin, call.grant, wanted.write, wanted.study)
    return Begun(session, now)


@operation(
    "POST",
    "/v1/storage/call",
    right="storage",
    tag=_TAG,
    body=StorageCall,
    answer=Results,
    statuses=(409,),
    limited=False,
)
async def call_storage(call: Call) -> Any:
    """Call methods of a transaction, and end it."""
    wanted: StorageCall = call.body
    session = call.state.sessions.find(wanted.session, call.grant)
    results = await call.state.sessions.run(session.call, wanted.calls, wanted.end)
    if wanted.end == "commit":
        call.state.wake()
    return Results(results)
