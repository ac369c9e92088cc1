"""Errors that a person can act on: each names the argument, its value and what would be right."""

from __future__ import annotations


class RisingBanditsError(Exception):
    """Base of every error that the library raises on purpose."""


class InputError(RisingBanditsError, ValueError):
    """An argument is outside what it may be; nothing was changed."""


class InfeasibleError(RisingBanditsError, ValueError):
    """No super arm satisfies what was asked (a mask, a graph without a path, ...)."""


class TooManySuperArmsError(RisingBanditsError, ValueError):
    """The family of super arms is too large to list; the message names the size and the limit."""


class NotStartedError(RisingBanditsError, RuntimeError):
    """A policy was asked for a decision before ``start``."""


class MissingExtraError(RisingBanditsError, ImportError):
    """A part of the library needs packages that are not installed; the message names the extra."""


class StorageError(RisingBanditsError, RuntimeError):
    """A database is full, locked, out of reach or newer than this program; nothing was acknowledged."""


class StudyGoneError(InputError):
    """A study was deleted while it was in use."""


class AlreadyToldError(InputError):
    """A decision was told before, with other content; what was told first stands."""


class ExpiredError(InputError):
    """A decision was not told in time; its arms do not count as played."""


class SigmaWarning(UserWarning):
    """Outcomes contradict the noise that a policy was told, so its decisions cannot be trusted."""
