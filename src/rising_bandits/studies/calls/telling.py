"""Calls that tell a study the outcomes of its decisions."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from rising_bandits.errors import InputError
from rising_bandits.problems.base import Label
from rising_bandits.studies.calls.base import Calls, Decision
from rising_bandits.studies.log.entries import Entry
from rising_bandits.studies.log.fold import Fold
from rising_bandits.studies.log.telling import tell_body

_LOGGER = logging.getLogger("rising_bandits.studies")


class Telling(Calls):
    """Tell outcomes."""

    def tell(self, decision: int | Decision, outcomes: Mapping[Label, float], *, final: bool = True) -> bool:
        """Tell the outcomes of a decision.

        Parameters
        ----------
        decision
            The decision, or its id.
        outcomes
            Outcomes by label, in the user's unit. Arms that are left out count as not played.
        final
            False if outcomes of other arms of the decision may follow.

        Returns
        -------
        bool
            True if the report is new, False if the same content was told before.

        Raises
        ------
        AlreadyToldError
            The decision was told before with other content. The content told first stays valid.
        ExpiredError
            The decision has expired.
        InputError
            The decision, a label or an outcome is wrong.
        """
        return self._tell([(decision, outcomes)], final=final)[0]

    def tell_many(
        self, reports: Iterable[tuple[int | Decision, Mapping[Label, float]]], *, final: bool = True
    ) -> list[bool]:
        """Tell the outcomes of several decisions in one transaction. If one report is refused, none of them counts.

        Parameters
        ----------
        reports
            Pairs of a decision (or its id) and its outcomes by label, as in `tell`.
        final
            False if outcomes of other arms of these decisions may follow.

        Returns
        -------
        list of bool
            For each report, True if it is new and False if the same content was told before.

        Raises
        ------
        AlreadyToldError, ExpiredError, InputError
            As in `tell`. Nothing was changed.
        """
        return self._tell(_pairs(reports), final=final)

    def _tell(self, pairs: list[tuple[Any, Any]], *, final: bool) -> list[bool]:
        """`tell_many` of pairs."""
        with self._log.turn() as turn:
            clipped = turn.fold.clipped.total() if turn.fold.clipped else 0
            staged: dict[int, Entry] = {}
            news = []
            moved = False
            for decision, outcomes in pairs:
                number = self._id(decision)
                entry = self._log.entry(turn.fold, turn.writer, number)
                entry = staged.get(entry.decision, entry)
                late = turn.fold.settings.late(entry.asked_at, turn.now)
                body = tell_body(
                    turn.fold, entry, outcomes, turn.fold.settings.scale, final=final, late=late, moved=moved
                )
                news.append(body is not None)
                if body is not None:
                    # A late tell adds an entry to the reorder window. That may push out the decisions of later reports.
                    moved = moved or entry.decision not in turn.fold.waiting
                    event = turn.add("tell" if final else "piece", body, entry.decision)
                    if len(pairs) > 1:
                        staged[entry.decision] = replace(entry, told=list(entry.told), told_at=list(entry.told_at))
                        staged[entry.decision].add(event)
        self._say_clipped(turn.fold, clipped)
        return news

    def _say_clipped(self, fold: Fold, before: int) -> None:
        """Log that outcomes were clipped: the first, and then each time that their number has one more digit."""
        now = fold.clipped.total() if fold.clipped else 0
        if now > before and (before == 0 or len(str(now)) > len(str(before))):
            many = "outcome" if now == 1 else "outcomes"
            _LOGGER.warning("study %r: the scale has clipped %d %s; see Study.clipped()", self.name, now, many)


def _pairs(reports: Any) -> list[tuple[Any, Any]]:
    """A list of the reports; refuses anything that is not pairs."""
    wanted = "reports must be pairs of a decision and its outcomes, as in [(1, {'a->b': 0.9})]"
    if isinstance(reports, str | Mapping) or not isinstance(reports, Iterable):
        raise InputError(f"{wanted}, got {reports!r}")
    pairs = list(reports)
    for report in pairs:
        if not isinstance(report, tuple | list) or len(report) != 2:
            raise InputError(f"{wanted}, got {report!r}")
    return pairs
