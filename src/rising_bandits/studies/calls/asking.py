"""Calls that ask a study for decisions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, overload

from rising_bandits import _checks
from rising_bandits.errors import InputError
from rising_bandits.problems.base import Label
from rising_bandits.studies.calls.base import Decision
from rising_bandits.studies.calls.setting import Setting
from rising_bandits.studies.log.events import check_key
from rising_bandits.studies.log.log import Turn, asked, study_time

MOST_AT_ONCE = 10_000
"""The most decisions of one `Study.ask`. Other processes wait until all of them are made."""


class Asking(Setting):
    """Ask for decisions."""

    def open_decisions(self) -> list[Decision]:
        """List the decisions that can still be told, among the newest ``reorder`` ones.

        Returns
        -------
        list of Decision
            The open decisions, oldest first. `unlisted` counts the older ones.
        """
        with self._log.look() as (fold, reader):
            entries = [entry for entry in fold.waiting.values() if not entry.closed]
            late, now = fold.settings.late, study_time(fold, reader)
            return [self._decision(fold, entry) for entry in entries if late(entry.asked_at, now) is None]

    @property
    def unlisted(self) -> int:
        """How many decisions before the newest ``reorder`` ones have no final tell; some of them may have expired."""
        with self._log.look() as (fold, _):
            return fold.unlisted

    @overload
    def ask(self, n: None = None, *, unavailable: Iterable[Label] = (), key: str | None = None) -> Decision: ...
    @overload
    def ask(self, n: int, *, unavailable: Iterable[Label] = (), key: str | None = None) -> list[Decision]: ...
    def ask(
        self, n: int | None = None, *, unavailable: Iterable[Label] = (), key: str | None = None
    ) -> Decision | list[Decision]:
        """Ask for a decision, or for several decisions at once.

        Parameters
        ----------
        n
            How many decisions to make; None for a single one.
        unavailable
            Labels of arms that may not be used this time, for example because a link is down now.
        key
            A text of 1 to 200 characters that names this call. An ask with the key of an earlier ask makes no new
            decision but returns the earlier one, so a caller who got no answer can ask again. The newest 10 000 keys
            are remembered.

        Returns
        -------
        Decision or list of Decision
            One decision if ``n`` is None, else a list of ``n`` decisions. All of them may be open at the same time.

        Raises
        ------
        InfeasibleError
            No super arm is left without the unavailable and the retired arms.
        InputError
            An argument is wrong, or an earlier ask with this key made another number of decisions.
        """
        check_key(key)
        wanted = f"a number of decisions, from 1 to {MOST_AT_ONCE}"
        count = 1 if n is None else _checks.integer("n", n, low=1, high=MOST_AT_ONCE, wanted=wanted)
        names = _checks.labels("unavailable", unavailable)
        while True:
            with self._log.turn() as turn:
                if not self._horizon_passes(turn):
                    if key is not None and (earlier := turn.fold.keys.get(key)) is not None:
                        return self._asked_before(turn, key, earlier, n)
                    self._decide(turn, count, names, {} if key is None else {"key": key})
                    break
            self._warn_of_horizon()
        decisions = [self._decision(turn.fold, asked(event)) for event in turn.events]
        return decisions[0] if n is None else decisions

    def _decide(self, turn: Turn, count: int, unavailable: list[Label], said: dict[str, Any]) -> None:
        """Add the events of some decisions; ``said`` is added to the body of each."""
        fold = turn.fold
        blocked = [self._log.key(fold, label) for label in unavailable]
        live, mask = fold.live, fold.mask(blocked)
        underway = fold.underway(fold.settings, turn.now)
        for number in range(fold.decisions + 1, fold.decisions + 1 + count):
            live.policy.rng = fold.settings.later_rng(number)
            arms = live.policy.select(mask, underway)
            underway.add(arms)
            body: dict[str, Any] = {"arms": fold.arms.in_order(arms)}
            if blocked:
                body["off"] = blocked
            turn.add("ask", body | said, number)

    def _asked_before(self, turn: Turn, key: str, earlier: tuple[int, int], n: int | None) -> Decision | list[Decision]:
        """The decisions of an earlier ask with the same key."""
        first, count = earlier
        if count != (1 if n is None else n):
            raise InputError(f"n must be {count}, as in the earlier ask with the key {key!r}, got {n!r}")
        numbers = range(first, first + count)
        decisions = [self._decision(turn.fold, self._log.entry(turn.fold, turn.writer, number)) for number in numbers]
        return decisions[0] if n is None else decisions
