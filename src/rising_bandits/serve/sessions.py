"""Sessions: transactions of the storage that clients elsewhere hold, for ``rb.studies.open(..., storage="http://...")``.

Each session is a thread with a real transaction. A client that is silent for `LEASE` seconds loses it: the transaction
is rolled back, and others go on.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import secrets
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from rising_bandits.errors import StorageError
from rising_bandits.serve.calls import Calls
from rising_bandits.serve.known import Known
from rising_bandits.serve.problems import Refused
from rising_bandits.serve.tokens import Grant
from rising_bandits.studies.storage.sql import Storage

LEASE = 10.0
"""After how many silent seconds a session is rolled back."""
MOST = 16
"""How many sessions may be open."""


class _RolledBack(Exception):  # noqa: N818
    """Ends a transaction without storing it."""


class Session:
    """One transaction, in a thread of its own."""

    def __init__(self, owner: Sessions, grant: Grant, write: bool, study: int | None) -> None:
        self._owner, self._write, self._study = owner, write, study
        self.holder = grant.name
        self._calls = Calls(owner.known, grant, write)
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
                if self._study is not None:
                    self._calls.check_number(transaction, self._study)
                self.begun.set_result(transaction.now)
                while True:
                    try:
                        calls, end, done = self._work.get(timeout=LEASE)
                    except queue.Empty:
                        raise StorageError(f"the transaction was silent for {LEASE:g} s and was rolled back") from None
                    last = done
                    results = [self._calls.do(transaction, *one) for one in calls]
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
            self._owner.known.forget_logs(self._calls.touched)
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
        self.known = Known()
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
