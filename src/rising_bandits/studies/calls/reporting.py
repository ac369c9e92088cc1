"""Calls that report what a study knows and what has happened. They change nothing."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from rising_bandits._checks import Floats
from rising_bandits.policies.policy import Policy
from rising_bandits.problems.base import Label
from rising_bandits.studies.calls.base import Calls, Decision
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
        ``super_arm``, and ``forgotten`` (True for plays before a reset of the arm).

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
            policy = self._log.before(reader, ask.seq).live.policy.copy()
        policy.rng = self.settings.rng(entry.decision)
        return reasons(policy, self.scale)

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
            policy = then.live.policy.copy()
            arms = then.arms.numbers(ask.body["arms"])
            scale = then.settings.scale
        policy.rng = then.settings.rng(entry.decision)
        return explain_choice(policy, arms, mask, scale, study=self.name, decision=entry.decision)

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
