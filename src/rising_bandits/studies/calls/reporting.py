"""Calls that report what a study knows and what has happened. They change nothing."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from rising_bandits import _checks
from rising_bandits._checks import Floats
from rising_bandits.policies.policy import Policy
from rising_bandits.problems.base import Label
from rising_bandits.studies.calls.base import Calls, Decision
from rising_bandits.studies.log.deciding import Decider
from rising_bandits.studies.log.events import Event
from rising_bandits.studies.log.fold import Fold
from rising_bandits.studies.reports.compare import Comparison, compare
from rising_bandits.studies.reports.explain import Explanation, Reason, explain_choice, reasons
from rising_bandits.studies.reports.files import export, export_history
from rising_bandits.studies.reports.history import history
from rising_bandits.studies.reports.replay import Replay, replay


class Reporting(Calls):
    """Report."""

    def plays(self) -> dict[Label, int]:
        """Count the plays of each base arm, imported plays included.

        Returns
        -------
        dict
            The number of plays by label. Plays before a reset of the arm do not count.
        """
        with self._log.look() as (fold, _):
            tally = fold.counted()
            return {fold.labels[key]: tally.plays[key] for key in fold.arms.keys}

    def indices(self) -> Floats:
        """Compute the current indices.

        Returns
        -------
        numpy.ndarray
            One index per base arm, or one per super arm for policies that act on super arms.
        """
        return self.policy.indices()

    def history(self, *, last: int | None = None, since: datetime | timedelta | float | None = None) -> Any:
        """List all outcomes in a table, in the order in which the policy learnt them.

        The columns are ``decision_id`` (missing for imported plays), ``arm``, ``play`` (1 is the arm's first play since
        its last reset), ``outcome`` in the user's unit, ``value`` in [0, 1], ``round``, ``asked_at``, ``told_at``,
        ``super_arm``, ``forgotten`` (True for plays before a reset of the arm), ``source`` (who decided: ``"study"``, a
        rule or source of your own, or ``"import"``) and ``metadata`` (what was passed to `ask`).

        With ``last`` or ``since``, only the necessary part of the log is read, starting from a snapshot.

        Parameters
        ----------
        last
            Keep only this many rows, the newest ones.
        since
            Keep only what was told since this time: a datetime with a time zone, seconds since 1970, or a timedelta
            back from now.

        Returns
        -------
        pandas.DataFrame
            One row per outcome.
        """
        return history(self._log, last, since)

    def arms(self, at: int | Decision | None = None) -> list[Reason]:
        """List what is known about every arm now, or what was known when a decision was asked for.

        Parameters
        ----------
        at
            The decision, or its id; None for now.

        Returns
        -------
        list of Reason
            One per base arm, or one per super arm for policies that act on super arms.
        """
        if at is None:
            return reasons(self.policy, self.scale)
        number = self._id(at)
        with self._log.look() as (fold, reader):
            entry = self._log.entry(fold, reader, number)
            ask = reader.of_decision(self._log.number, entry.decision)[0]
            then = self._log.before(reader, ask.seq)
            policy = then.live.policy.copy()
            policy.rng = then.settings.rng(entry.decision)
            return reasons(policy, then.settings.scale)

    def events(self, *, after: int = 0, limit: int = 20_000) -> list[Event]:
        """List events of the log, oldest first.

        Parameters
        ----------
        after
            The number of the last event that is not wanted; 0 for none.
        limit
            The most events of one call.

        Returns
        -------
        list of Event
            The events, as the log has them: arms by their keys.
        """
        start = _checks.integer("after", after, low=0)
        with self._log.look() as (_, reader):
            return list(islice(reader.later(self._log.number, start), _checks.integer("limit", limit, low=1)))

    def explain(self, decision: int | Decision) -> Explanation:
        """Explain why a decision was made, from what was known when it was asked for.

        For an old decision, the log is read again from the last snapshot before it.

        Parameters
        ----------
        decision
            The decision, or its id.

        Returns
        -------
        Explanation
            The parts of the arms' indices, and the super arm that came second.
        """
        number = self._id(decision)
        with self._log.look() as (fold, reader):
            entry = self._log.entry(fold, reader, number)
            ask = reader.of_decision(self._log.number, entry.decision)[0]
            then = self._log.before(reader, ask.seq)
            mask = then.mask(ask.body.get("off", ()))
            policy = Decider(then, then.settings, ask.at, ask.body.get("off", ()), ask.body.get("among")).policy.copy()
            arms = then.arms.numbers(ask.body["arms"])
            notes = self._notes(then, ask)
            scale = then.settings.scale
        policy.rng = then.settings.rng(entry.decision)
        return explain_choice(policy, arms, mask, scale, study=self.name, decision=entry.decision, notes=notes)

    def _notes(self, then: Fold, ask: Event) -> list[str]:
        """Remarks on how a decision was made, other than by the indices."""
        notes = []
        if "by" in ask.body:
            notes.append(f"this decision was made by {ask.body['by']!r}, not by the study's policy")
        if "least" in ask.body:
            key = ask.body["least"]
            share, ago = dict(then.settings.least)[key], then.own - then.used[key]
            notes.append(
                f"{then.labels[key]!s} must be in at least {share:.3g} of the decisions and was not in the last {ago}; "
                "this decision was made for that, not by the indices"
            )
        if then.settings.spread and then.waiting:
            notes.append("open decisions count as if they had come back as expected, so that decisions differ")
        return notes

    def compare(self, source: str, *, level: float = 0.95) -> Comparison:
        """Compare what the study's policy earned with what a rule or source of your own earned.

        If a share of the asks is handed to the rule (`hand_over`), only asks that were drawn are compared. For
        decisions that were recorded (`record`), only days on which both decided are compared.

        Parameters
        ----------
        source
            The name of the rule or source.
        level
            The confidence level of the interval, between 0 and 1.

        Returns
        -------
        Comparison
            Both means, their difference with an interval, and a verdict. Print it to read it.

        Raises
        ------
        InputError
            No decision of this source is in the log.
        """
        return compare(self._log, source, level)

    def replay(self, policy: Policy) -> Replay:
        """Make the logged decisions again with another policy.

        Parameters
        ----------
        policy
            The other policy. It is not changed.

        Returns
        -------
        Replay
            How both compare. Printed, it says what can and what cannot be concluded.

        Raises
        ------
        InputError
            The problem of the study has changed, an arm was reset, or plays were imported.
        """
        return replay(self._log, policy)

    def export(self, path: str | Path) -> Path:
        """Write the whole log to a file, from which `rising_bandits.studies.load` makes a study.

        A row is an event, with arms by label and outcomes in the user's unit. The file appears under its name only when
        it is complete.

        Parameters
        ----------
        path
            The file: Parquet if it ends in ``.parquet``, JSON lines if it ends in ``.jsonl``.

        Returns
        -------
        pathlib.Path
            The file that was written.
        """
        return export(self._log, Path(path))

    def export_history(self, path: str | Path) -> Path:
        """Write the rows of `history` to a file, for analysis or for `import_plays` of another study.

        Parameters
        ----------
        path
            The file: Parquet if it ends in ``.parquet``, JSON lines if it ends in ``.jsonl``.

        Returns
        -------
        pathlib.Path
            The file that was written.
        """
        return export_history(self._log, Path(path))
