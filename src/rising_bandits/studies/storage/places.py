"""Which storage an address means."""

from __future__ import annotations

from collections.abc import Callable

from rising_bandits import _checks
from rising_bandits.errors import InputError
from rising_bandits.studies.storage.base import Storage


def connect(
    storage: str,
    *,
    create: bool = True,
    look: bool = False,
    power_safe: bool = False,
    timeout: float = 30.0,
    clock: Callable[[], float] | None = None,
    token: str | None = None,
) -> Storage:
    """The storage at an address: a service if it begins with http, else a database."""
    from rising_bandits.studies.storage import remote, sql

    _checks.number("timeout", timeout, low=0.0)
    _checks.boolean("power_safe", power_safe)
    if clock is not None and not callable(clock):
        raise InputError(f"clock must be a function that returns the time in seconds since 1970, got {clock!r}")
    if isinstance(storage, str) and storage.partition("://")[0].lower() in ("http", "https"):
        if clock is not None:
            raise InputError("clock must be None for a storage behind a service, which has its own clock")
        return remote.Storage(storage, token=token, timeout=timeout)
    if token is not None:
        raise InputError("token is for the address of a service, such as 'http://host:8765'; a database has no token")
    return sql.Storage(storage, create=create, look=look, power_safe=power_safe, timeout=timeout, clock=clock)
