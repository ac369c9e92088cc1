"""Errors as JSON problems (RFC 9457): a status, a title, and a detail that says what would be right."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import msgspec

from rising_bandits.errors import (
    AlreadyToldError,
    ExpiredError,
    MissingExtraError,
    NotStartedError,
    RisingBanditsError,
    StorageError,
    StudyGoneError,
)

TITLES = {
    400: "The request cannot be read",
    401: "A token is needed",
    403: "This is not allowed",
    404: "There is no such thing",
    405: "This path has other methods",
    408: "The request came too slowly",
    409: "This contradicts what was said before",
    413: "The request is too large",
    415: "The body must be JSON",
    421: "This host name is not served here",
    422: "The request is wrong",
    429: "Too many requests",
    431: "The request is too large",
    500: "The service failed",
    503: "The service cannot answer now",
}
"""The title of each status."""
TYPE = b"application/problem+json"
"""The content type of a problem."""


class Problem(msgspec.Struct, omit_defaults=True):
    """An error."""

    title: str
    """What kind of error it is."""
    status: int
    """The status of the answer."""
    detail: str
    """What is wrong, and what would be right."""
    error: str = ""
    """The name of the error in the Python library, if it has one."""


class Refused(Exception):  # noqa: N818
    """A request that is answered with a problem.

    Parameters
    ----------
    status
        The status of the answer.
    detail
        What is wrong, and what would be right.
    headers
        Further headers of the answer.
    error
        The name of the error in the Python library, if it has one.
    """

    def __init__(self, status: int, detail: str, headers: dict[str, str] | None = None, error: str = "") -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers, self.error = status, detail, headers or {}, error

    def problem(self) -> Problem:
        """The body of the answer."""
        return Problem(TITLES.get(self.status, HTTPStatus(self.status).phrase), self.status, self.detail, self.error)


def refusal(error: BaseException) -> Refused:
    """The answer to an error. Errors that nobody foresaw get status 500 and no detail of the program.

    >>> refusal(AlreadyToldError("decision 7 was told before")).status
    409
    >>> refusal(ZeroDivisionError("secret")).detail
    'an unexpected error; the log of the service says more'
    """
    if isinstance(error, Refused):
        return error
    if isinstance(error, RisingBanditsError):
        status = 422
        if isinstance(error, AlreadyToldError | ExpiredError):
            status = 409
        elif isinstance(error, StudyGoneError):
            status = 404
        elif isinstance(error, StorageError | MissingExtraError | NotStartedError):
            status = 503
        return Refused(status, str(error), {"Retry-After": "1"} if status == 503 else {}, type(error).__name__)
    if isinstance(error, TimeoutError):
        return Refused(
            503, "no answer in time; it is not known whether it was done, so send the same again", {"Retry-After": "1"}
        )
    return Refused(500, "an unexpected error; the log of the service says more")


def unknown(what: str, value: Any) -> Refused:
    """The answer where a path names something that does not exist."""
    return Refused(404, f"there is no {what} {value!r}")
