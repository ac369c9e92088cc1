"""The conformance suite for storages of studies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rising_bandits.errors import StorageError, StudyGoneError
from rising_bandits.studies.log.events import Event
from rising_bandits.studies.storage.base import Storage


def check_storage(make: Callable[[], Storage]) -> None:
    """Check that a storage keeps the protocol in `rising_bandits.studies.storage.base`.

    Parameters
    ----------
    make
        Makes a new object for the same storage, as another process would. The storage must be empty at first.

    Raises
    ------
    AssertionError
        The storage breaks the protocol. The message says where.

    >>> import tempfile
    >>> from rising_bandits.studies.storage.sql import Storage as SQL
    >>> folder = tempfile.TemporaryDirectory()
    >>> check_storage(lambda: SQL(f"sqlite:///{folder.name}/s.db"))
    >>> folder.cleanup()
    """
    for part in (_names, _events, _damage_by_callers, _failures, _hidden, _snapshots, _decisions):
        one, other = make(), make()
        try:
            assert one.url == other.url, "two objects for the same storage must have equal addresses"
            part(one, other)
        finally:
            _clear(one)
            one.close()
            other.close()


def _clear(storage: Storage) -> None:
    """Remove all studies."""
    with storage.read() as reader:
        names = reader.names()
    for name in names:
        with storage.write() as writer:
            found = writer.study(name)
            if found is not None:
                writer.hide_study(found[0])
        while found is not None:
            with storage.write() as writer:
                if not writer.remove_some(found[0]):
                    break


def _add(storage: Storage, name: str, settings: dict[str, Any] | None = None) -> int:
    """A study with one event."""
    with storage.write() as writer:
        number = writer.add_study(name, settings or {})
        writer.append(number, [Event(1, "problem", writer.now, None, {"spec": None})])
    return number


def _log(storage: Storage, study: int, after: int = 0, upto: int | None = None) -> list[Event]:
    with storage.read() as reader:
        return list(reader.later(study, after, upto))


def _refused(error: type[Exception], call: Callable[[], object], what: str) -> None:
    try:
        call()
    except error:
        return
    raise AssertionError(what)


def _names(one: Storage, other: Storage) -> None:
    with one.read() as reader:
        assert reader.names() == [], "a new storage must have no studies"
        assert reader.study("b") is None, "a study that is not there must be None"
    settings = {"scale": {"unit": "µs"}, "seed": 2**62, "share": 0.1, "none": None}
    numbers = {name: _add(one, name, settings) for name in ("b", "A", "é 東")}
    assert len(set(numbers.values())) == 3, "each study must have a number of its own"
    with other.read() as reader:
        assert reader.names() == ["A", "b", "é 東"], "names must be sorted, and seen by others once they are stored"
        for name, number in numbers.items():
            assert reader.study(name) == (number, settings), "settings must come back as they were"


def _events(one: Storage, other: Storage) -> None:
    study, beside = _add(one, "s"), _add(one, "t")
    events = [
        Event(2, "ask", 5.25, 1, {"arms": [3, 1], "deep": [[[1e-300, -0.5, None, True]]], "text": "\u2028é\\'\""}),
        Event(3, "tell", 1e9 + 1 / 3, 1, {"arms": [3], "raw": [0.1 + 0.2]}),
        Event(4, "ask", 7.0, 2, {"arms": []}),
    ]
    with one.write(study) as writer:
        last = writer.append(study, events)
    found = _log(other, study)
    assert [event.seq for event in found] == [1, 2, 3, 4], "events must come back in their order"
    for event, back in zip(events, found[1:], strict=True):
        assert back[:5] == event[:5], f"an event must come back as it was, got {back!r} for {event!r}"
    assert found[-1].digest == last, "append must return the checksum of its last event"
    assert len({event.digest for event in found}) == 4, "different events must have different checksums"
    assert [event.seq for event in _log(other, study, 2)] == [3, 4], "later must begin after the event"
    assert [event.seq for event in _log(other, study, 1, 3)] == [2, 3], "later must end at the event"
    assert _log(other, study, 4) == [], "after the newest event there is none"
    assert len(_log(other, beside)) == 1, "the log of another study must not change"
    with other.read() as reader:
        assert len(list(reader.later(study, 3, digest=found[2].digest))) == 1, "the right checksum must be accepted"
        assert reader.first_since(study, 1e9) == 3, "asks have no outcomes, and earlier events do not count"
        assert reader.first_since(study, 2e9) is None, "nothing happened since then"


def _damage_by_callers(one: Storage, other: Storage) -> None:
    study = _add(one, "s")

    def write(number: int) -> None:
        with one.write(study) as writer:
            writer.append(study, [Event(number, "ask", 1.0, 1, {})])

    for number in (1, 3):
        _refused(StorageError, lambda number=number: write(number), "an event out of its order must be refused")  # type: ignore[misc]
    assert len(_log(other, study)) == 1, "what was refused must not be stored"
    write(2)
    _refused(StorageError, lambda: _log(other, study, 3), "an event that must be there and is not must be noticed")

    def wrong() -> None:
        with other.read() as reader:
            list(reader.later(study, 1, digest=12345))

    _refused(StorageError, wrong, "an event with another checksum than expected must be noticed")


def _failures(one: Storage, other: Storage) -> None:
    study = _add(one, "s")
    for error in (RuntimeError, KeyboardInterrupt, GeneratorExit):
        try:
            with one.write(study) as writer:
                writer.append(study, [Event(2, "ask", 1.0, 1, {})])
                writer.add_study("u", {})
                raise error
        except error:
            pass
        with other.write(study) as writer:
            assert len(list(writer.later(study, 0))) == 1, "a transaction that raised must have changed nothing"
            assert writer.names() == ["s"], "a transaction that raised must have changed nothing"
    with one.write(study) as writer:
        writer.append(study, [Event(2, "ask", 1.0, 1, {})])
        assert len(list(writer.later(study, 1))) == 1, "a transaction must see what it wrote"
    one.close()
    assert len(_log(one, study)) == len(_log(other, study)) == 2, "a storage must go on after close"


def _hidden(one: Storage, other: Storage) -> None:
    with one.write() as writer:
        number = writer.add_study("loading", {"a": 1}, hidden=True)
        writer.append(number, [Event(1, "problem", 1.0, None, {})])
    with other.read() as reader:
        assert reader.names() == [], "a hidden study must not be found"
        assert reader.study("loading") is None, "a hidden study must not be found"
    with one.write() as writer:
        assert number in writer.hidden(writer.now + 1.0), "a hidden study must be listed as hidden"
        writer.show_study(number, "s")
    with other.read() as reader:
        assert reader.study("s") == (number, {"a": 1}), "a study must be found by the name that it was given"
    with one.write() as writer:
        writer.hide_study(number)
    _refused(StudyGoneError, lambda: _log(other, number), "a study that is being removed must be gone at once")
    again = _add(one, "s")
    more = True
    while more:
        with one.write() as writer:
            more = writer.remove_some(number)
    _refused(StudyGoneError, lambda: _log(other, number), "a removed study must be gone")
    assert again != number, "the name must be free, and the number not used again"
    assert len(_log(other, again)) == 1, "the name must be free, and the number not used again"


def _snapshots(one: Storage, other: Storage) -> None:
    study = _add(one, "s")
    with one.write(study) as writer:
        assert writer.snapshot(study) is None, "there is no snapshot at first"
        assert writer.snapshot_seq(study) == 0, "there is no snapshot at first"
        for seq in (1, 5, 9):
            writer.keep_snapshot(study, seq, bytes([seq, 0, 255]))
    with other.read() as reader:
        assert reader.snapshot(study) == b"\x09\x00\xff", "the newest must be found"
        assert reader.snapshot_seq(study) == 9, "the newest must be found"
        assert reader.snapshot(study, 8) == b"\x05\x00\xff", "the newest before an event must be found"
    with one.write(study) as writer:
        writer.drop_snapshots(study)
    with other.read() as reader:
        assert reader.snapshot(study) is None, "snapshots that were dropped must be gone"


def _decisions(one: Storage, other: Storage) -> None:
    study = _add(one, "s")
    with one.write(study) as writer:
        for seq, (kind, decision) in enumerate([("ask", 1), ("ask", 2), ("piece", 1), ("tell", 2), ("tell", 1)], 2):
            writer.append(study, [Event(seq, kind, 1.0, decision, {"n": seq})])
    with other.read() as reader:
        found = [(event.kind, event.body["n"]) for event in reader.of_decision(study, 1)]
        assert found == [("ask", 2), ("piece", 4), ("tell", 6)], "the events of a decision must come in their order"
    for kind in ("ask", "tell"):

        def twice(kind: str = kind) -> None:
            with one.write(study) as writer:
                writer.append(study, [Event(7, kind, 1.0, 1, {})])

        _refused(StorageError, twice, "a decision must not be asked for or told twice")
