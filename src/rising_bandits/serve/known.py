"""Studies that clients elsewhere write to: their names, and their logs, to check events against.

Events that clients append are checked as those of a file that a stranger wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rising_bandits.errors import InputError, StudyGoneError
from rising_bandits.serve.tokens import Grant
from rising_bandits.studies.log.checking import check, check_first
from rising_bandits.studies.log.code import CodeMissingError
from rising_bandits.studies.log.events import Event
from rising_bandits.studies.log.fold import Fold
from rising_bandits.studies.log.log import Log
from rising_bandits.studies.settings import Settings

_LOGS = 32
"""Of how many studies the state is kept, to check events against."""


class Known:
    """The studies that sessions have found, made or named by number."""

    def __init__(self) -> None:
        self._studies: dict[int, tuple[str, dict[str, Any]]] = {}
        self._logs: dict[int, Log] = {}

    def note(self, number: int, name: str, settings: dict[str, Any]) -> None:
        """Remember the name and the settings of a study."""
        self._studies[number] = (name, settings)

    def rename(self, number: int, name: str) -> None:
        """Remember the new name of a study."""
        if number in self._studies:
            self._studies[number] = (name, self._studies[number][1])

    def has(self, number: int) -> bool:
        """Whether a study is known."""
        return number in self._studies

    def seen(self, number: int, grant: Grant) -> bool:
        """Whether a study is known under a name that a token is for."""
        return number in self._studies and grant.sees(self._studies[number][0])

    def forget_logs(self, numbers: set[int]) -> None:
        """Forget states that may hold events which were not stored."""
        for number in numbers:
            self._logs.pop(number, None)

    def checked(self, transaction: Any, number: int, events: Sequence[Event]) -> Fold | None:
        """Refuse events that the study itself would not write; the state after them, or None.

        A study with code of the user's own cannot be computed here. Its events are stored as they are.
        """
        if number not in self._studies:
            raise StudyGoneError("the study is gone: it was deleted, or its import was interrupted")
        name, settings = self._studies[number]
        log = self._logs.get(number)
        try:
            if log is None:
                log = Log(name, number, Settings.from_dict(settings), _no_storage())
            if events and events[0].seq == 1:
                check_first(log, events[0])
                fold = log.begin(events[0])
                log.adopt(fold)
                events = events[1:]
            else:
                fold = log.follow(transaction)
        except CodeMissingError:
            return None
        self._logs[number] = log
        while len(self._logs) > _LOGS:
            del self._logs[next(iter(self._logs))]
        for event in events:
            try:
                check(log, fold, transaction, event)
                fold.apply(event)
                if event is events[-1]:
                    fold.learn()
            except (TypeError, KeyError, IndexError, AttributeError) as error:
                raise InputError(f"event {event.seq} is damaged: {type(error).__name__} {error}") from None
        return fold


def _no_storage() -> Any:
    """The storage of a log that is only followed within transactions of others."""
    return None
