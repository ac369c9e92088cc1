"""Operations: what can be asked of the service. Routes, rights and the OpenAPI text all follow from this one list."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from rising_bandits.serve.desk import Work
from rising_bandits.serve.hub import Hub
from rising_bandits.serve.problems import Refused, unknown
from rising_bandits.serve.tokens import EVERYTHING, Grant

T = TypeVar("T")


class Nothing(msgspec.Struct, forbid_unknown_fields=True):
    """No parameters."""


@dataclass(frozen=True)
class Answer:
    """An answer that is more than a body of JSON."""

    body: bytes = b""
    status: int = 200
    type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    stream: AsyncIterator[bytes] | None = None
    """Pieces that follow the body, for as long as there are any."""


@dataclass
class Call:
    """A request whose token, parameters and body were checked."""

    hub: Hub
    state: Any
    """What the application keeps: tokens, sessions, metrics."""
    grant: Grant
    path: dict[str, str]
    query: Any
    body: Any
    headers: dict[str, str]
    peer: str
    """The address that the request comes from."""

    @property
    def study(self) -> str:
        """The name of the study in the path."""
        return self.path["study"]

    @property
    def author(self) -> str | None:
        """Who makes a change: the name of the token; None where no token is needed."""
        return None if self.grant is EVERYTHING else self.grant.name

    async def change(self, work: Work[T]) -> T:
        """Change the study in its next transaction, in the name of the token."""
        return await self.hub.write(self.study, work, self.author)


Handler = Callable[[Call], Awaitable[Any]]


@dataclass(frozen=True)
class Operation:
    """Something that can be asked of the service."""

    method: str
    path: str
    handler: Handler
    right: str | None
    """The right that it needs; None if anybody may."""
    body: type | None
    """The type that the body is read as; None if there is no body."""
    query: type
    forms: tuple[type, ...]
    """The forms of the body, for the documentation."""
    answer: Any
    """The type of the answer, or a tuple of types; None if it is not JSON."""
    statuses: tuple[int, ...]
    """The statuses of the errors that it has besides those that all have."""
    tag: str
    limited: bool = True
    """Whether the limit of the body is that of the service; False for operations on whole logs."""
    type: str = "application/json"

    @property
    def name(self) -> str:
        """The name of its handler."""
        return self.handler.__name__

    @property
    def summary(self) -> str:
        """The first line of the handler's docstring."""
        return (self.handler.__doc__ or "").strip().splitlines()[0]

    @property
    def description(self) -> str:
        """The rest of the handler's docstring."""
        lines = (self.handler.__doc__ or "").strip().splitlines()[1:]
        return " ".join(line.strip() for line in lines).strip()

    def permit(self, grant: Grant, path: Mapping[str, str]) -> None:
        """Refuse a grant that does not allow this. A study that a grant does not see does not exist for it."""
        if self.right is None:
            return
        study = path.get("study")
        if study is not None and not grant.sees(study):
            raise unknown("study", study)
        if not grant.allows(self.right, study) and not (study is None and self.right in grant.rights):
            raise Refused(403, f"this needs the right {self.right!r}; the token {grant.name!r} does not have it")


OPERATIONS: list[Operation] = []
"""All operations, in the order of the documentation."""


def operation(
    method: str,
    path: str,
    *,
    right: str | None,
    tag: str,
    body: type | None = None,
    forms: tuple[type, ...] = (),
    query: type = Nothing,
    answer: Any = None,
    statuses: tuple[int, ...] = (),
    limited: bool = True,
    type: str = "application/json",  # noqa: A002
    into: list[Operation] = OPERATIONS,
) -> Callable[[Handler], Handler]:
    """Declare a handler as an operation, see `Operation`; ``into`` is the list that it is added to."""

    def declare(handler: Handler) -> Handler:
        into.append(
            Operation(
                method,
                path,
                handler,
                right,
                body,
                query,
                forms or ((body,) if body else ()),
                answer,
                statuses,
                tag,
                limited,
                type,
            )
        )
        return handler

    return declare
