"""The storage behind a service: the same protocol over HTTP, see `rising_bandits.serve`.

A transaction is a session on the server, which holds a real transaction for it. A session that is left alone is rolled
back by the server after some seconds.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from rising_bandits import errors
from rising_bandits.errors import InputError, RisingBanditsError, StorageError, StudyGoneError
from rising_bandits.studies.log.events import Event

_CHUNK = 20_000
"""How many events one request fetches."""
_KINDS: dict[str, type[RisingBanditsError]] = {
    name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, RisingBanditsError)
} | {"GoneStatementError": StudyGoneError}


class _Held:
    """The connection of a storage."""

    def __init__(self) -> None:
        self.connection: http.client.HTTPConnection | None = None

    def drop(self) -> None:
        """Close the connection."""
        if self.connection is not None:
            with contextlib.suppress(Exception):
                self.connection.close()
            self.connection = None


class Storage:
    """The studies behind a service.

    Parameters
    ----------
    storage
        The address of the service, as in ``"http://host:8765"``.
    token
        The token, which needs the right ``storage``; by default that in RISING_TOKEN.
    timeout
        How many seconds to wait for an answer.

    Raises
    ------
    InputError
        The address is wrong.
    StorageError
        The service does not answer, or refuses the token.
    """

    def __init__(self, storage: str, *, token: str | None = None, timeout: float = 30.0) -> None:
        parts = urlsplit(storage)
        try:
            port = parts.port
        except ValueError:
            port = None
        if not parts.hostname or parts.path.strip("/") or parts.query or parts.username or parts.fragment:
            raise InputError(
                "storage must be the address of a service, as in 'http://host:8765'; the token is passed as token=; "
                f"got {parts.scheme}://{parts.hostname or ''}..."
            )
        self._scheme, self._host = parts.scheme, parts.hostname
        self._port = port or (443 if parts.scheme == "https" else 80)
        place = f"[{self._host}]" if ":" in self._host else self._host
        self.url = self.place = f"{self._scheme}://{place}:{self._port}"
        token = os.environ.get("RISING_TOKEN") if token is None else token
        if token is not None and not (token.isascii() and token.isprintable()):
            raise InputError("token must be printable ASCII characters")
        self._headers = {"Content-Type": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._timeout = timeout
        self._start()

    def _start(self) -> None:
        """Begin without a connection, in this process."""
        self._lock, self._pid = threading.RLock(), os.getpid()
        self._held = _Held()
        # A storage that nobody uses any longer leaves no connection open.
        weakref.finalize(self, self._held.drop)
        self._current: Writer | None = None

    @property
    def lock(self) -> threading.RLock:
        """The lock that a thread holds during a transaction. A forked process gets a new lock and a new connection."""
        if self._pid != os.getpid():
            self._start()
        return self._lock

    def close(self) -> None:
        """Close the connection. The next call opens a new one."""
        with self.lock:
            self._held.drop()

    def post(self, path: str, body: dict[str, Any], *, again: bool = False) -> Any:
        """Send a request and return its answer. With ``again``, a connection that was closed is opened once more."""
        data = json.dumps(body, separators=(",", ":")).encode()
        for last in (False, True) if again else (True,):
            connection = self._held.connection
            fresh = connection is None
            if connection is None:
                kind = http.client.HTTPSConnection if self._scheme == "https" else http.client.HTTPConnection
                connection = self._held.connection = kind(self._host, self._port, timeout=self._timeout)
            try:
                connection.request("POST", path, data, self._headers)
                answer = connection.getresponse()
                content = answer.read()
            except (OSError, http.client.HTTPException) as error:
                self._held.drop()
                if fresh or last:
                    said = type(error).__name__ if not isinstance(error, OSError) else error.strerror or str(error)
                    raise StorageError(f"{self.place} does not answer; nothing was acknowledged ({said})") from None
                continue
            except BaseException:
                # Ctrl-C: the answer to come must not be taken for that of the next request.
                self._held.drop()
                raise
            return self._read(answer.status, content)
        raise AssertionError

    def _read(self, status: int, content: bytes) -> Any:
        """The content of an answer; raises the error that it describes."""
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise StorageError(f"{self.place} is no service of rising-bandits (status {status})")
        if status == 200:
            return found
        detail = str(found.get("detail", ""))[:2_000]
        if status in (401, 403):
            raise StorageError(f"{self.place} refuses the token: {detail}")
        kind = _KINDS.get(str(found.get("error")), StorageError)
        raise kind(detail if detail and kind is not StorageError else f"{self.place}: {detail or f'status {status}'}")

    @contextlib.contextmanager
    def read(self) -> Iterator[Reader]:
        """A read transaction. Other processes may write at the same time."""
        with self._session(False, None) as session:
            yield session

    @contextlib.contextmanager
    def write(self, study: int | None = None, ahead: Callable[[], None] | None = None) -> Iterator[Writer]:
        """A write transaction that locks a study, or the list of studies (None), until it ends."""
        with self._session(True, study) as session:
            yield session

    @contextlib.contextmanager
    def _session(self, write: bool, study: int | None) -> Iterator[Writer]:
        """A session on the server."""
        with self.lock:
            if self._current is not None:
                raise StorageError("a transaction must not begin inside another one of the same storage")
            begun = self.post("/v1/storage/begin", {"write": write, "study": study}, again=True)
            session = self._current = Writer(self, str(begun["session"]), float(begun["now"]))
            try:
                yield session
                session.end(True)
            except BaseException:
                with contextlib.suppress(StorageError):
                    session.end(False)
                raise
            finally:
                self._current = None


class Reader:
    """A read transaction, see `rising_bandits.studies.storage.base`."""

    def __init__(self, storage: Storage, session: str, now: float) -> None:
        self._storage, self._session, self.now = storage, session, now
        self._waiting: list[list[Any]] = []
        self._over = False

    def _call(self, method: str, *given: Any) -> Any:
        """Do what waits, then call a method of the server's transaction and return its result."""
        calls, self._waiting = [*self._waiting, [method, *given]], []
        answer = self._storage.post("/v1/storage/call", {"session": self._session, "calls": calls})
        return answer["results"][-1]

    def end(self, commit: bool) -> None:
        """End the transaction. A second end does nothing."""
        if self._over:
            return
        self._over = True
        calls, self._waiting = self._waiting if commit else [], []
        body = {"session": self._session, "calls": calls, "end": "commit" if commit else "rollback"}
        self._storage.post("/v1/storage/call", body)

    def names(self) -> list[str]:
        """The names of the studies, sorted."""
        return list(self._call("names"))

    def study(self, name: str) -> tuple[int, dict[str, Any]] | None:
        """The number and the settings of a study, or None if no study has that name."""
        found = self._call("study", name)
        return None if found is None else (int(found[0]), dict(found[1]))

    def later(self, study: int, after: int, upto: int | None = None, *, digest: int | None = None) -> Iterator[Event]:
        """The events of a study after event number ``after``, up to number ``upto``, in order."""
        while True:
            rows = self._call("later", study, after, upto, digest, _CHUNK)
            for row in rows:
                yield Event(*row)
            if len(rows) < _CHUNK:
                return
            after, digest = rows[-1][0], rows[-1][5]

    def of_decision(self, study: int, number: int) -> list[Event]:
        """The events of one decision: its ask, then its pieces and its tell."""
        return [Event(*row) for row in self._call("of_decision", study, number)]

    def first_since(self, study: int, at: float) -> int | None:
        """The number of the first event with outcomes that is not before a time; None if there is none."""
        found: int | None = self._call("first_since", study, at)
        return found

    def snapshot(self, study: int, upto: int | None = None) -> bytes | None:
        """The newest snapshot whose event is not after number ``upto``; None if there is none."""
        found = self._call("snapshot", study, upto)
        return None if found is None else base64.b64decode(found)

    def snapshot_seq(self, study: int) -> int:
        """The number of the newest snapshot's event, 0 if there is no snapshot."""
        return int(self._call("snapshot_seq", study))


class Writer(Reader):
    """A write transaction, see `rising_bandits.studies.storage.base`."""

    def add_study(self, name: str, settings: dict[str, Any], *, hidden: bool = False) -> int:
        """Add a study without events, and return its number. A hidden one is neither listed nor found by its name."""
        return int(self._call("add_study", name, settings, hidden))

    def show_study(self, study: int, name: str) -> None:
        """Give a hidden study its name: from now on it is listed and found."""
        self._call("show_study", study, name)

    def hide_study(self, study: int) -> None:
        """Take a study off the list. Its name is free again."""
        self._call("hide_study", study)

    def remove_some(self, study: int) -> bool:
        """Remove some of the events of a hidden study, and the study with the last of them; whether more are left."""
        return bool(self._call("remove_some", study))

    def hidden(self, before: float) -> list[int]:
        """The studies that were hidden before a time."""
        return [int(number) for number in self._call("hidden", before)]

    def append(self, study: int, events: Sequence[Event]) -> int:
        """Append events to the log of a study, and return the checksum of the last one."""
        return int(self._call("append", study, [list(event[:5]) for event in events]))

    def keep_snapshot(self, study: int, seq: int, body: bytes) -> None:
        """Store a snapshot of the state after event number ``seq``."""
        self._waiting.append(["keep_snapshot", study, seq, base64.b64encode(body).decode()])

    def drop_snapshots(self, study: int) -> None:
        """Remove all snapshots of a study. Its log stays."""
        self._waiting.append(["drop_snapshots", study])
