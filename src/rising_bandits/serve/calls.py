"""What a client elsewhere may call within a transaction of the storage, and what it may send."""

from __future__ import annotations

import base64
from collections.abc import Callable
from itertools import islice
from typing import Any

from rising_bandits.errors import InputError, RisingBanditsError
from rising_bandits.serve.known import Known
from rising_bandits.serve.tokens import ALL, EVERYTHING, Grant
from rising_bandits.studies.log.events import CHANGES, MOST_AUTHOR, Event, check_author
from rising_bandits.studies.settings import Settings

CHECKED = True
"""Whether settings and events are checked. Only the conformance suite, whose events mean nothing, switches it off."""
_READS = ("names", "study", "later", "of_decision", "first_since", "snapshot", "snapshot_seq")
_WRITES = (
    "add_study",
    "show_study",
    "hide_study",
    "remove_some",
    "hidden",
    "append",
    "keep_snapshot",
    "drop_snapshots",
)


class Calls:
    """The calls of one transaction.

    Parameters
    ----------
    known
        The studies that the service knows.
    grant
        What the client may do.
    write
        Whether the transaction may write.
    """

    def __init__(self, known: Known, grant: Grant, write: bool) -> None:
        self._known, self._grant, self._write = known, grant, write
        self._mine: set[int] = set()
        """The studies that this transaction has found or made, by number. Others it must not touch."""
        self.touched: set[int] = set()
        """The studies that it has appended events to."""

    def do(self, transaction: Any, method: Any, *given: Any) -> Any:
        """Call one method, with everything checked that a stranger could have sent."""
        if method not in _READS and not (method in _WRITES and self._write):
            raise InputError(f"method must be one of the protocol's, got {method!r}")
        try:
            special = _SPECIAL.get(method)
            if special is not None:
                return special(self, transaction, *given)
            self.check_number(transaction, given[0])
            return getattr(transaction, method)(*given)
        except (TypeError, ValueError, KeyError, AttributeError, IndexError, OverflowError) as error:
            if isinstance(error, RisingBanditsError):
                raise
            raise InputError(f"the call of {method} is wrong: {type(error).__name__}") from None

    def check_number(self, transaction: Any, number: Any) -> None:
        """Refuse the number of a study that the token is not for."""
        if not isinstance(number, int) or isinstance(number, bool):
            raise InputError(f"study must be a number, got {number!r}")
        if number not in self._mine and not self._known.has(number):
            # A client may have found the study by its name before this service started, or through another one.
            found = transaction.named(number)
            if found is not None:
                self._known.note(number, *found)
        if number not in self._mine and ALL not in self._grant.studies and not self._known.seen(number, self._grant):
            raise InputError(f"the token {self._grant.name!r} is not for study number {number}")

    def _check_name(self, name: Any) -> None:
        """Refuse the name of a study that the token is not for."""
        if not isinstance(name, str) or not self._grant.sees(name):
            raise InputError(f"the token {self._grant.name!r} is not for a study {name!r}")

    # -- methods that need more than to be called

    def _visible(self, transaction: Any) -> list[str]:
        return [name for name in transaction.names() if self._grant.sees(name)]

    def _find(self, transaction: Any, name: Any) -> list[Any] | None:
        self._check_name(name)
        found = transaction.study(name)
        if found is None:
            return None
        self._note(found[0], name, found[1])
        return list(found)

    def _note(self, number: int, name: str, settings: dict[str, Any]) -> None:
        """Remember a study."""
        self._mine.add(number)
        self._known.note(number, name, settings)

    def _later(self, transaction: Any, number: Any, after: int, upto: Any, digest: Any, limit: int) -> list[Any]:
        self.check_number(transaction, number)
        return [list(event) for event in islice(transaction.later(number, after, upto, digest=digest), limit)]

    def _of_decision(self, transaction: Any, number: Any, decision: int) -> list[Any]:
        self.check_number(transaction, number)
        return [list(event) for event in transaction.of_decision(number, decision)]

    def _snapshot(self, transaction: Any, number: Any, upto: Any) -> str | None:
        self.check_number(transaction, number)
        found = transaction.snapshot(number, upto)
        return None if found is None else base64.b64encode(found).decode()

    def _add_study(self, transaction: Any, name: Any, settings: Any, hidden: bool) -> int:
        if not hidden:
            self._check_name(name)
        if CHECKED:
            Settings.from_dict(settings)
        number = int(transaction.add_study(name, settings, hidden=bool(hidden)))
        self._note(number, name, settings)
        return number

    def _show_study(self, transaction: Any, number: Any, name: Any) -> None:
        self.check_number(transaction, number)
        self._check_name(name)
        transaction.show_study(number, name)
        self._known.rename(number, name)

    def _hidden(self, transaction: Any, before: float) -> list[int]:
        return list(transaction.hidden(before)) if ALL in self._grant.studies else []

    def _append(self, transaction: Any, number: Any, rows: list[Any]) -> int:
        self.check_number(transaction, number)
        events = [self._signed(Event(*row)) for row in rows]
        self.touched.add(number)
        fold = self._known.checked(transaction, number, events) if CHECKED else None
        digest = int(transaction.append(number, events))
        if fold is not None:
            fold.digest = digest
        return digest

    def _signed(self, event: Event) -> Event:
        """An event in the name of the token. Who the client says that it is comes second."""
        mine = self._grant.name
        if event.kind not in CHANGES or self._grant is EVERYTHING or not CHECKED:
            return event
        check_author(event.author)
        author = mine if event.author in (None, mine) else f"{mine} (for {event.author})"[:MOST_AUTHOR]
        return event._replace(body={**event.body, "author": author})

    def _keep_snapshot(self, transaction: Any, number: Any, seq: int, body: str) -> None:
        self.check_number(transaction, number)
        transaction.keep_snapshot(number, seq, base64.b64decode(body, validate=True))


_SPECIAL: dict[str, Callable[..., Any]] = {
    "names": Calls._visible,
    "study": Calls._find,
    "later": Calls._later,
    "of_decision": Calls._of_decision,
    "snapshot": Calls._snapshot,
    "add_study": Calls._add_study,
    "show_study": Calls._show_study,
    "hidden": Calls._hidden,
    "append": Calls._append,
    "keep_snapshot": Calls._keep_snapshot,
}
"""The methods that need more than to be called with the number of a study."""
