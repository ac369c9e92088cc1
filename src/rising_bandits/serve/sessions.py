"""Sessions: transactions of the storage that clients elsewhere hold, for ``rb.studies.open(..., storage="http://...")``.

Each session is a thread with a real transaction. A client that is silent for `LEASE` seconds loses it: the transaction
is rolled back, and others go on. Events that clients append are checked as those of a file that a stranger wrote.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import queue
import secrets
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any

from rising_bandits.errors import InputError, RisingBanditsError, StorageError
from rising_bandits.serve.problems import Refused
from rising_bandits.serve.tokens import ALL, Grant
from rising_bandits.studies.log.checking import check, check_first
from rising_bandits.studies.log.events import Event
from rising_bandits.studies.log.log import Log
from rising_bandits.studies.settings import Settings
from rising_bandits.studies.storage.sql import Storage

LEASE = 10.0
"""After how many silent seconds a session is rolled back."""
MOST = 16
"""How many sessions may be open."""
_LOGS = 32
"""Of how many studies the state is kept, to check events against."""
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


class _RolledBack(Exception):  # noqa: N818
    """Ends a transaction without storing it."""


class Session:
    """One transaction, in a thread of its own."""

    def __init__(self, owner: Sessions, grant: Grant, write: bool, study: int | None) -> None:
        self._owner, self._grant, self._write, self._study = owner, grant, write, study
        self.holder = grant.name
        self._names: dict[int, str] = {}
        """The studies that this session has found or made, by number. Others it must not touch."""
        self._settings: dict[int, dict[str, Any]] = {}
        self._touched: set[int] = set()
        self._work: queue.SimpleQueue[tuple[list[Any], str | None, Future[list[Any]]]] = queue.SimpleQueue()
        self.begun: Future[float] = Future()
        threading.Thread(target=self._run, name="rising-session", daemon=True).start()

    def call(self, calls: list[Any], end: str | None) -> list[Any]:
        """Call methods of the transaction, and end it if wanted. Waits."""
        done: Future[list[Any]] = Future()
        self._work.put((calls, end, done))
        try:
            return done.result(timeout=60.0)
        except TimeoutError:
            raise StorageError("the transaction does not answer; nothing was acknowledged") from None

    def _run(self) -> None:
        """Hold the transaction, and do what is asked of it."""
        storage: Storage | None = None
        last: Future[list[Any]] | None = None
        results: list[Any] = []
        try:
            storage = self._owner.take()
            with storage.write(self._study) if self._write else storage.read() as transaction:
                self.begun.set_result(transaction.now)
                while True:
                    try:
                        calls, end, done = self._work.get(timeout=LEASE)
                    except queue.Empty:
                        raise StorageError(f"the transaction was silent for {LEASE:g} s and was rolled back") from None
                    last = done
                    results = [self._do(transaction, *one) for one in calls]
                    if end == "commit":
                        break
                    if end == "rollback":
                        raise _RolledBack
                    done.set_result(results)
                    last = None
            # Answered only now, when everything is stored.
            assert last is not None
            last.set_result(results)
        except BaseException as error:
            self._owner.forget_logs(self._touched)
            if not self.begun.done():
                self.begun.set_exception(error)
            if last is not None:
                if isinstance(error, _RolledBack):
                    last.set_result(results)
                else:
                    last.set_exception(error)
        finally:
            self._owner.over(self)
            if storage is not None:
                self._owner.give_back(storage)
            self._refuse_the_rest()

    def _refuse_the_rest(self) -> None:
        """Answer what came after the end."""
        with contextlib.suppress(queue.Empty):
            while True:
                *_, done = self._work.get_nowait()
                done.set_exception(StorageError("the transaction is over; nothing was changed"))

    def _do(self, transaction: Any, method: Any, *given: Any) -> Any:
        """Call one method, with everything checked that a stranger could have sent."""
        if method not in _READS and not (method in _WRITES and self._write):
            raise InputError(f"method must be one of the protocol's, got {method!r}")
        try:
            special = _SPECIAL.get(method)
            if special is not None:
                return special(self, transaction, *given)
            self._check_number(given[0])
            return getattr(transaction, method)(*given)
        except (TypeError, ValueError, KeyError, AttributeError, IndexError, OverflowError) as error:
            if isinstance(error, RisingBanditsError):
                raise
            raise InputError(f"the call of {method} is wrong: {type(error).__name__}") from None

    def _check_number(self, number: Any) -> None:
        """Refuse a study that the session does not know, unless the token is for all of them."""
        if not isinstance(number, int) or isinstance(number, bool):
            raise InputError(f"study must be a number, got {number!r}")
        if number not in self._names and ALL not in self._grant.studies and not self._owner.seen(number, self._grant):
            raise InputError(f"the token {self.holder!r} is not for study number {number}")

    def _check_name(self, name: Any) -> None:
        """Refuse the name of a study that the token is not for."""
        if not isinstance(name, str) or not self._grant.sees(name):
            raise InputError(f"the token {self.holder!r} is not for a study {name!r}")

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
        self._names[number], self._settings[number] = name, settings
        self._owner.note(number, name, settings)

    def _later(self, transaction: Any, number: Any, after: int, upto: Any, digest: Any, limit: int) -> list[Any]:
        self._check_number(number)
        return [list(event) for event in islice(transaction.later(number, after, upto, digest=digest), limit)]

    def _of_decision(self, transaction: Any, number: Any, decision: int) -> list[Any]:
        self._check_number(number)
        return [list(event) for event in transaction.of_decision(number, decision)]

    def _snapshot(self, transaction: Any, number: Any, upto: Any) -> str | None:
        self._check_number(number)
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
        self._check_number(number)
        self._check_name(name)
        transaction.show_study(number, name)
        self._owner.rename(number, name)

    def _hidden(self, transaction: Any, before: float) -> list[int]:
        return list(transaction.hidden(before)) if ALL in self._grant.studies else []

    def _append(self, transaction: Any, number: Any, rows: list[Any]) -> int:
        self._check_number(number)
        events = [Event(*row) for row in rows]
        self._touched.add(number)
        fold = self._owner.checked(transaction, number, events) if CHECKED else None
        digest = int(transaction.append(number, events))
        if fold is not None:
            fold.digest = digest
        return digest

    def _keep_snapshot(self, transaction: Any, number: Any, seq: int, body: str) -> None:
        self._check_number(number)
        transaction.keep_snapshot(number, seq, base64.b64decode(body, validate=True))


_SPECIAL: dict[str, Callable[..., Any]] = {
    "names": Session._visible,
    "study": Session._find,
    "later": Session._later,
    "of_decision": Session._of_decision,
    "snapshot": Session._snapshot,
    "add_study": Session._add_study,
    "show_study": Session._show_study,
    "hidden": Session._hidden,
    "append": Session._append,
    "keep_snapshot": Session._keep_snapshot,
}
"""The methods that need more than to be called with the number of a study."""


class Sessions:
    """The sessions of a service.

    Parameters
    ----------
    url
        The URL of the database.
    power_safe
        Whether each commit waits for the disk.
    """

    def __init__(self, url: str, *, power_safe: bool = False) -> None:
        self._url, self._power_safe = url, power_safe
        self._open: dict[str, Session] = {}
        self._lock = threading.Lock()
        self._free: list[Storage] = []
        self._known: dict[int, tuple[str, dict[str, Any]]] = {}
        self._logs: dict[int, Log] = {}
        # Enough threads that a commit never waits for those who wait for its lock.
        self._threads = ThreadPoolExecutor(2 * MOST, thread_name_prefix="rising-storage")

    async def run(self, work: Callable[..., Any], *given: Any) -> Any:
        """Run a method of the sessions in a thread of their own."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *given)

    def begin(self, grant: Grant, write: bool, study: int | None) -> tuple[str, float]:
        """Begin a session. Waits until its transaction has begun."""
        with self._lock:
            if len(self._open) >= MOST:
                raise Refused(503, f"{MOST} transactions are open already", {"Retry-After": "1"})
            name = secrets.token_urlsafe(16)
            session = self._open[name] = Session(self, grant, write, study)
        return name, session.begun.result()

    def find(self, name: str, grant: Grant) -> Session:
        """An open session of the same token."""
        found = self._open.get(name)
        if found is None or found.holder != grant.name:
            raise Refused(409, "the transaction is over; nothing was acknowledged", error="StorageError")
        return found

    def over(self, session: Session) -> None:
        """Forget a session."""
        with self._lock:
            self._open = {name: other for name, other in self._open.items() if other is not session}

    def take(self) -> Storage:
        """A connection."""
        with self._lock:
            if self._free:
                return self._free.pop()
        return Storage(self._url, power_safe=self._power_safe)

    def give_back(self, storage: Storage) -> None:
        """Give a connection back."""
        with self._lock:
            self._free.append(storage)

    # -- studies

    def note(self, number: int, name: str, settings: dict[str, Any]) -> None:
        """Remember the name and the settings of a study."""
        self._known[number] = (name, settings)

    def rename(self, number: int, name: str) -> None:
        """Remember the new name of a study."""
        if number in self._known:
            self._known[number] = (name, self._known[number][1])

    def seen(self, number: int, grant: Grant) -> bool:
        """Whether a study was found by its name before, under a name that a token is for."""
        return number in self._known and grant.sees(self._known[number][0])

    def forget_logs(self, numbers: set[int]) -> None:
        """Forget states that may hold events which were not stored."""
        for number in numbers:
            self._logs.pop(number, None)

    def checked(self, transaction: Any, number: int, events: Sequence[Event]) -> Any:
        """Refuse events that the study itself would not write; the state after them, or None.

        A study with code of the user's own cannot be computed here. Its events are stored as they are.
        """
        if number not in self._known:
            raise InputError(f"study number {number} must be looked up by its name first")
        name, settings = self._known[number]
        log = self._logs.get(number)
        try:
            fold = None
            if log is None:
                log = Log(name, number, Settings.from_dict(settings), self._none)
            if events and events[0].seq == 1:
                check_first(log, events[0])
                fold = log.begin(events[0])
                log.adopt(fold)
                events = events[1:]
            else:
                fold = log.follow(transaction)
        except InputError as error:
            if "must be passed" in str(error):
                return None
            raise
        self._logs[number] = log
        while len(self._logs) > _LOGS:
            del self._logs[next(iter(self._logs))]
        for event in events:
            try:
                check(log, fold, transaction, event)
                fold.apply(event)
            except (TypeError, KeyError, IndexError, AttributeError) as error:
                raise InputError(f"event {event.seq} is damaged: {type(error).__name__} {error}") from None
        return fold

    @property
    def _none(self) -> Any:
        """The storage of a log that is only followed within transactions."""
        return None

    def close(self) -> None:
        """Roll back what is open, and close the connections."""
        for session in list(self._open.values()):
            with contextlib.suppress(Exception):
                session.call([], "rollback")
        self._threads.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            for storage in self._free:
                storage.close()
            self._free.clear()
