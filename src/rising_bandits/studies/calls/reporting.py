"""Calls that report what a study knows and what has happened. They change nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
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
from rising_bandits.studies.log.noticed import Change, change_of, doubt
from rising_bandits.studies.reports.compare import Comparison, compare
from rising_bandits.studies.reports.explain import explain_choice, reasons
from rising_bandits.studies.reports.explanation import Explanation, Reason
from rising_bandits.studies.reports.files import export, export_history
from rising_bandits.studies.reports.history import history
from rising_bandits.studies.reports.replay import Replay, replay
from rising_bandits.theory.falls import FALSE_ALARM, Fall, fall
from rising_bandits.theory.noise import Contradiction


def _parts(found: Fall) -> tuple[slice, slice]:
    """The plays before a fall, as far as they were looked at, and since."""
    return slice(found.first - 1, found.since - 1), slice(found.since - 1, None)


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

    def changes(self, *, false_alarm: float = FALSE_ALARM) -> list[Change]:
        """List arms that have fallen and should perhaps be `reset`. Arms that rise are never listed for that.

        The whole log is read. `rising_bandits.theory.falls` has the test.

        Parameters
        ----------
        false_alarm
            The chance of a false alarm over all arms and all time, in (0, 1).

        Returns
        -------
        list of Change
            The arms, clearest first. Print one to read it.

        >>> import tempfile, rising_bandits as rb
        >>> folder = tempfile.TemporaryDirectory()
        >>> storage = f"sqlite:///{folder.name}/tools.db"
        >>> study = rb.studies.create("tools", rb.problems.TopK(["old", "new"], k=1), storage=storage, seed=0)
        >>> study.import_plays([("old", play, 0.9 if play <= 60 else 0.2) for play in range(1, 101)])
        100
        >>> for change in study.changes():
        ...     print(change)
        old has fallen since play 61: from 0.9 to 0.2 (100 plays)
        >>> study.reset(change.label for change in study.changes())
        >>> study.changes()
        []
        >>> study.close(); folder.cleanup()
        """
        table = history(self._log, None, None)
        with self._log.look() as (fold, _):
            labels, scale = {fold.labels[key]: None for key in fold.arms.keys}, fold.settings.scale
        found = []
        known = table[~table["forgotten"]]
        for label, rows in known.groupby("arm", sort=False):
            if label in labels:
                seen = fall(rows["value"].to_numpy(), arms=len(labels), false_alarm=false_alarm)
                if seen is not None:
                    before, after = (float(rows["outcome"].iloc[part].mean()) for part in _parts(seen))
                    found.append(Change(label, seen.since, seen.plays, before, after, seen.chance, scale.unit))
        return sorted(found, key=lambda change: change.chance)

    def contradiction(self) -> Contradiction | None:
        """Find out whether outcomes contradict the sigma that the policy was told.

        Plays before a reset of their arm do not count.

        Returns
        -------
        Contradiction or None
            None if they do not, or if the policy measures the noise by itself. Print it to read it;
            `rising_bandits.theory.noise` has the test.
        """
        with self._log.look() as (fold, _):
            return doubt(fold, fold.watched())

    def fallen(self) -> list[Change]:
        """List arms that the study has noticed to have fallen, and those that it has reset for that.

        The study tests its arms while it learns, see `Study.set_falls`. The start of a fall is known up to a
        thirty-second of the arm's plays. `changes` reads the whole log and finds the play.

        Returns
        -------
        list of Change
            The arms that have fallen and were not reset since, clearest first; then the newest resets that the study
            made by itself, oldest first. Means are those of the values, in the user's unit.

        >>> import tempfile, rising_bandits as rb
        >>> folder = tempfile.TemporaryDirectory()
        >>> storage = f"sqlite:///{folder.name}/tools.db"
        >>> problem = rb.problems.TopK(["old", "new"], k=1)
        >>> study = rb.studies.create("tools", problem, storage=storage, seed=0, falls="reset", clock=lambda: 1e9)
        >>> study.import_plays([("old", play, 0.9 if play <= 64 else 0.2) for play in range(1, 129)])
        128
        >>> [(change.label, change.since, change.reset_at) for change in study.fallen()]
        [('old', 65, None)]
        >>> decision = study.ask()
        >>> print(study.fallen()[0])
        old has fallen since play 65: from 0.9 to 0.2 (128 plays); the study has reset it at 2001-09-09 01:46:40+00:00
        >>> study.plays()
        {'old': 0, 'new': 0}
        >>> study.close(); folder.cleanup()
        """
        with self._log.look() as (fold, _):
            fold.watch.count()
            now = [change_of(fold, key, found) for key, found in fold.watch.fallen.items() if key in fold.arms.arm_of]
            done = [change_of(fold, key, found, at) for at, key, found in fold.watch.resets]
            return [*sorted(now, key=lambda change: change.chance), *done]

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
        with self._then(at) as (ask, then):
            return self._known(ask, then)

    def _known(self, ask: Event, then: Fold) -> list[Reason]:
        """What was known about every arm, from the event of a decision and the state just before it."""
        policy = then.live.policy.copy()
        policy.rng = then.settings.rng(ask.decision or 0)
        return reasons(policy, then.settings.scale)

    @contextmanager
    def _then(self, decision: int | Decision) -> Iterator[tuple[Event, Fold]]:
        """The event of a decision, and the state just before it, which must not be changed."""
        number = self._id(decision)
        with self._log.look() as (fold, reader):
            entry = self._log.entry(fold, reader, number)
            ask = reader.of_decision(self._log.number, entry.decision)[0]
            yield ask, self._log.before(reader, ask.seq)

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
        with self._then(decision) as (ask, then):
            explain = self._explaining(ask, then)
        return explain()

    def _explaining(self, ask: Event, then: Fold) -> Callable[[], Explanation]:
        """A function that explains a decision, from its event and the state just before it. It needs no lock."""
        off = ask.body.get("off", ())
        policy = Decider(then, then.settings, ask.at, off, ask.body.get("among")).policy.copy()
        policy.rng = then.settings.rng(ask.decision or 0)
        return partial(
            explain_choice,
            policy,
            then.arms.numbers(ask.body["arms"]),
            then.mask(off),
            then.settings.scale,
            study=self.name,
            decision=ask.decision or 0,
            notes=self._notes(then, ask),
        )

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

        Raises
        ------
        InputError
            The file cannot be written, or its suffix is another one.
        """
        return export(self._log, _checks.path("path", path))

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

        Raises
        ------
        InputError
            The file cannot be written, or its suffix is another one.
        """
        return export_history(self._log, _checks.path("path", path))
