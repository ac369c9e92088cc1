"""A study: ask for decisions, tell their outcomes, stop and continue at any moment."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, overload

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats
from rising_bandits.errors import InputError
from rising_bandits.policies.policy import Policy
from rising_bandits.problems.base import Label, Problem
from rising_bandits.studies.log.events import MOST_ROUNDS, check_key
from rising_bandits.studies.log.fold import Entry, Fold
from rising_bandits.studies.log.log import Log, Turn, asked
from rising_bandits.studies.log.telling import tell_body
from rising_bandits.studies.reports.explain import Explanation, Reason, explain_choice, reasons
from rising_bandits.studies.reports.files import export, export_history, written_labels
from rising_bandits.studies.reports.history import history, read_plays
from rising_bandits.studies.reports.replay import Replay, replay
from rising_bandits.studies.scales import Scale
from rising_bandits.studies.settings import Settings, problem_body

MOST_AT_ONCE = 10_000
"""The most decisions of one `Study.ask`. Other processes wait until all of them are made."""


@dataclass(frozen=True)
class Decision:
    """A super arm to play, and the id under which its outcomes are told. `Study.ask` makes it."""

    id: int
    """The number of the decision within its study, from 1."""
    super_arm: list[Label]
    """Labels of the arms, in the order in which they are used."""
    asked_at: float
    """When it was asked for, in seconds since 1970."""
    expires_at: float | None
    """When it expires, in seconds since 1970; None if it never does. An expired decision cannot be told."""
    study: Study = field(repr=False, compare=False)
    """The study that made it."""

    def __hash__(self) -> int:
        return hash((self.id, self.asked_at))

    def explain(self) -> Explanation:
        """Explain why this super arm was chosen, from what was known when it was asked for.

        Returns
        -------
        Explanation
            The parts of the arms' indices, and the super arm that came second.
        """
        return self.study.explain(self.id)


class Study:
    """A policy that decides for a running system. Everything it was told is stored in a database.

    Make one with `rising_bandits.studies.create`, `open` or `load`. Several processes may use the same study at the
    same time. Each call is one transaction and sees all calls before it. A call that returns has stored its effect. A
    call that raises has changed nothing.

    Parameters
    ----------
    log
        The log of the study; `create`, `open` and `load` pass it.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        with log.look():
            pass

    @property
    def name(self) -> str:
        """The name of the study in its storage."""
        return self._log.name

    @property
    def settings(self) -> Settings:
        """The settings with which the study was created."""
        return self._log.settings

    @property
    def scale(self) -> Scale:
        """How outcomes become values in [0, 1]."""
        return self.settings.scale

    @property
    def problem(self) -> Problem:
        """The current problem."""
        with self._log.look() as (fold, _):
            return fold.arms.problem

    @property
    def policy(self) -> Policy:
        """A copy of the current policy. Changing the copy does not change the study."""
        with self._log.look() as (fold, _):
            policy = fold.live.policy.copy()
            policy.rng = self.settings.rng(fold.decisions + 1)
            return policy

    @property
    def retired(self) -> list[Label]:
        """Labels of the arms that were retired and not restored."""
        with self._log.look() as (fold, _):
            return [fold.labels[key] for key in sorted(fold.retired) if key in fold.arms.arm_of]

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

    def open_decisions(self) -> list[Decision]:
        """List the decisions that can still be told, among the newest ``reorder`` ones.

        Returns
        -------
        list of Decision
            The open decisions, oldest first. `unlisted` counts the older ones.
        """
        with self._log.look() as (fold, reader):
            entries = [entry for entry in fold.waiting.values() if not entry.closed]
            late = self.settings.late
            return [self._decision(fold, entry) for entry in entries if late(entry.asked_at, reader.now) is None]

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
        with self._log.turn() as turn:
            fold = turn.fold
            if key is not None and (earlier := fold.keys.get(key)) is not None:
                return self._asked_before(turn, key, earlier, n)
            blocked = [self._log.key(fold, label) for label in _checks.labels("unavailable", unavailable)]
            live, mask = fold.live, fold.mask(blocked)
            expires = self.settings.expires
            underway = fold.underway(-math.inf if expires is None else turn.now - expires)
            for number in range(fold.decisions + 1, fold.decisions + 1 + count):
                live.policy.rng = self.settings.rng(number)
                arms = live.policy.select(mask, underway)
                underway.add(arms)
                body: dict[str, Any] = {"arms": [fold.arms.keys[arm] for arm in fold.arms.problem.ordered(arms)]}
                if blocked:
                    body["off"] = blocked
                if key is not None:
                    body["key"] = key
                turn.add("ask", body, number)
        decisions = [self._decision(fold, asked(event)) for event in turn.events]
        return decisions[0] if n is None else decisions

    def _asked_before(self, turn: Turn, key: str, earlier: tuple[int, int], n: int | None) -> Decision | list[Decision]:
        """The decisions of an earlier ask with the same key."""
        first, count = earlier
        if count != (1 if n is None else n):
            raise InputError(f"n must be {count}, as in the earlier ask with the key {key!r}, got {n!r}")
        numbers = range(first, first + count)
        decisions = [self._decision(turn.fold, self._log.entry(turn.fold, turn.writer, number)) for number in numbers]
        return decisions[0] if n is None else decisions

    def group(self) -> AbstractContextManager[None]:
        """Make several calls in one transaction, which is much faster than one transaction for each.

        Returns
        -------
        context manager
            Calls in its block see each other's effects. A call that raises changes nothing; the others count. What the
            calls return is stored when the block ends, not before. If the block raises, none of its calls counts.

        Raises
        ------
        InputError
            It is inside another group of the same study.
        StorageError
            The database cannot be written. None of the calls counts.

        >>> import tempfile, rising_bandits as rb
        >>> folder = tempfile.TemporaryDirectory()
        >>> storage = f"sqlite:///{folder.name}/team.db"
        >>> study = rb.studies.create("team", rb.problems.TopK(["ann", "bob"], k=1), rb.CRUCB(), storage=storage)
        >>> with study.group():
        ...     for _ in range(3):
        ...         decision = study.ask()
        ...         study.tell(decision, {decision.super_arm[0]: 0.5})
        True
        True
        True
        >>> len(study.history())
        3
        >>> study.close(); folder.cleanup()
        """
        return self._log.group()

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
        return self.tell_many([(decision, outcomes)], final=final)[0]

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
        pairs = _pairs(reports)
        with self._log.turn() as turn:
            staged: dict[int, Entry] = {}
            news = []
            moved = False
            for decision, outcomes in pairs:
                number = self._id(decision)
                entry = self._log.entry(turn.fold, turn.writer, number)
                entry = staged.get(entry.decision, entry)
                late = self.settings.late(entry.asked_at, turn.now)
                body = tell_body(turn.fold, entry, outcomes, self.scale, final=final, late=late, moved=moved)
                news.append(body is not None)
                if body is not None:
                    # A late tell adds an entry to the reorder window. That may push out the decisions of later reports.
                    moved = moved or entry.decision not in turn.fold.waiting
                    event = turn.add("tell" if final else "piece", body, entry.decision)
                    if len(pairs) > 1:
                        staged[entry.decision] = replace(entry, told=list(entry.told), told_at=list(entry.told_at))
                        staged[entry.decision].add(event)
        return news

    def _id(self, decision: int | Decision) -> int:
        """The id of a decision; refuses a decision of another study."""
        if not isinstance(decision, Decision):
            return decision
        there, here = decision.study._log, self._log
        if (there.storage.url, there.number) != (here.storage.url, here.number):
            raise InputError(f"decision must be one of study {self.name!r}, got one of {decision.study.name!r}")
        return decision.id

    def _decision(self, fold: Fold, entry: Entry) -> Decision:
        """The public form of an entry."""
        expires = self.settings.expires
        until = None if expires is None else entry.asked_at + expires
        return Decision(entry.decision, [fold.labels[key] for key in entry.arms], entry.asked_at, until, self)

    def retire(self, labels: Iterable[Label]) -> None:
        """Stop using some arms until they are restored. What is known about them is kept.

        Parameters
        ----------
        labels
            Labels of the arms.

        Raises
        ------
        InputError
            A label is unknown, or no feasible super arm would be left.
        """
        names = _checks.labels("labels", labels)
        with self._log.turn() as turn:
            keys = [self._log.key(turn.fold, label) for label in names]
            mask = turn.fold.mask(keys)
            if mask is not None and not turn.fold.arms.problem.oracle.can(mask):
                raise InputError(f"labels must leave a feasible super arm when they are retired, got {names!r}")
            turn.add("retire", {"arms": keys})

    def restore(self, labels: Iterable[Label]) -> None:
        """Use retired arms again.

        Parameters
        ----------
        labels
            Labels of the arms.
        """
        names = _checks.labels("labels", labels)
        with self._log.turn() as turn:
            turn.add("restore", {"arms": [self._log.key(turn.fold, label) for label in names]})

    def reset(self, labels: Iterable[Label]) -> None:
        """Forget the plays of some arms, because the things behind them were replaced.

        A decision that was asked for before the reset belongs to the old arms. Its outcomes do not count for the new
        ones, even if they are told after the reset.

        Parameters
        ----------
        labels
            Labels of the arms.

        Raises
        ------
        InputError
            A label is unknown, or the policy cannot forget.
        """
        names = _checks.labels("labels", labels)
        with self._log.turn() as turn:
            keys = [self._log.key(turn.fold, label) for label in names]
            # A policy that cannot forget raises here, before anything is changed.
            problem = turn.fold.arms.problem
            turn.fold.live.policy.rebase(problem, range(problem.n_arms))
            turn.add("reset", {"arms": keys})

    def set_problem(self, problem: Problem) -> None:
        """Decide about another problem from now on. Arms with the same label stay the same arms.

        New arms start without plays. Arms that the new problem lacks are forgotten, and start again without plays if
        they return later. To keep what is known about an arm, use `retire` instead.

        Parameters
        ----------
        problem
            The new problem.

        Raises
        ------
        InputError
            The problem has no feasible super arm without the retired arms; or the policy cannot change its problem; or
            the problem is the second one of this study that contains the user's own code. Such code is not stored, and
            `rising_bandits.studies.open` accepts only one problem.
        """
        with self._log.turn() as turn:
            body = problem_body(problem, turn.fold.key_of)
            if body["spec"] is None:
                self._log.check_code(problem)
            new = problem if body["spec"] is None else self._log.resolve(body)
            off = np.array([key in turn.fold.retired for key in body["keys"]])
            if off.any() and not new.oracle.can(off):
                gone = [label for label, retired in zip(new.labels, off, strict=True) if retired]
                raise InputError(f"problem must have a feasible super arm without the retired arms {gone!r}")
            turn.fold.live.policy.rebase(new, [turn.fold.arms.arm_of.get(key, -1) for key in body["keys"]])
            turn.add("problem", body)
            if body["spec"] is None:
                self._log.hand_in(problem)

    def import_plays(self, logs: Any, *, rounds: int | None = None) -> int:
        """Add plays that were made elsewhere or before the study was created.

        They count as the newest plays of their arms, after everything that was told before. Plays that are imported
        twice count twice.

        Parameters
        ----------
        logs
            A table with the columns arm, play and outcome, in any form that `rising_bandits.theory.diagnose` accepts.
            Outcomes are in the user's unit.
        rounds
            How many rounds these plays took; by default the plays of the arm with the most plays, which is the least
            number possible.

        Returns
        -------
        int
            The number of plays added.

        Raises
        ------
        InputError
            The table is wrong, or the policy acts on super arms and cannot learn from plays of single arms.
        """
        plays = read_plays(logs, self.scale)
        longest = max(len(raw) for _, raw, _ in plays)
        count = longest if rounds is None else _checks.integer("rounds", rounds, low=longest, high=MOST_ROUNDS)
        with self._log.turn() as turn:
            names = written_labels(turn.fold.arms.problem.labels)
            keys = [self._log.key(turn.fold, names.get(label, label)) for label, _, _ in plays]
            turn.fold.live.policy.copy().absorb(0, np.zeros(0))
            raw, values = [raw for _, raw, _ in plays], [value for _, _, value in plays]
            turn.add("import", {"arms": keys, "raw": raw, "value": values, "rounds": count})
        return sum(map(len, raw))

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

    def arms(self) -> list[Reason]:
        """List what is known about every arm now.

        Returns
        -------
        list of Reason
            One per base arm, or one per super arm for policies that act on super arms.
        """
        return reasons(self.policy, self.scale)

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
        policy.rng = self.settings.rng(entry.decision)
        return explain_choice(policy, arms, mask, self.scale, study=self.name, decision=entry.decision)

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

    def close(self) -> None:
        """Close the connection to the database. The next call opens a new one."""
        self._log.storage.close()

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        with self._log.look() as (fold, _):
            known = f"{fold.decisions} decisions, round {fold.live.policy.round}"
            return f"Study({self.name!r}, {fold.live.policy!r}, {known}, {fold.arms.problem!r})"


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
