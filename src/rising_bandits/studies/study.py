"""A study: ask for decisions, tell what came of them, stop and go on at any moment."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
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
from rising_bandits.studies.log.events import MOST_ROUNDS
from rising_bandits.studies.log.fold import Entry, Fold
from rising_bandits.studies.log.log import Log, asked
from rising_bandits.studies.log.telling import tell_body
from rising_bandits.studies.reports.explain import Explanation, Reason, explain_choice, reasons
from rising_bandits.studies.reports.files import export, export_history, written_labels
from rising_bandits.studies.reports.history import history, read_plays
from rising_bandits.studies.reports.replay import Replay, replay
from rising_bandits.studies.scales import Scale
from rising_bandits.studies.settings import Settings, problem_body

MOST_AT_ONCE = 10_000
"""Decisions of one `Study.ask`: other processes wait until all of them are made."""


@dataclass(frozen=True)
class Decision:
    """What to do now: a super arm to play, and the number under which to tell what came of it."""

    id: int
    super_arm: list[Label]
    """Labels of the arms, in the order in which they are used."""
    asked_at: float
    """When it was asked for, in seconds since 1970."""
    expires_at: float | None
    study: Study = field(repr=False, compare=False)

    def __hash__(self) -> int:
        return hash((self.id, self.asked_at))

    def explain(self) -> Explanation:
        """Why this super arm: what the indices of its arms are made of, and the runner-up."""
        return self.study.explain(self.id)


class Study:
    """A policy that decides for a running system, with everything it was told on disk.

    `rising_bandits.studies.create` and `open` make it. Any number of processes may hold the same study: each call is
    one transaction, and sees what all others did before it. What a call returns is on disk; a call that raises has
    changed nothing.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        with log.look():
            pass

    @property
    def name(self) -> str:
        """Its name in the storage."""
        return self._log.name

    @property
    def settings(self) -> Settings:
        """What it was told when it was created."""
        return self._log.settings

    @property
    def scale(self) -> Scale:
        """How outcomes become values in [0, 1]."""
        return self.settings.scale

    @property
    def problem(self) -> Problem:
        """What is decided about, as it is now."""
        with self._log.look() as (fold, _):
            return fold.arms.problem

    @property
    def policy(self) -> Policy:
        """A copy of the policy as it is now, to look at."""
        with self._log.look() as (fold, _):
            policy = fold.live.policy.copy()
            policy.rng = self.settings.rng(fold.decisions + 1)
            return policy

    @property
    def retired(self) -> list[Label]:
        """The arms that are not used until they are restored."""
        with self._log.look() as (fold, _):
            return [fold.labels[key] for key in sorted(fold.retired) if key in fold.arms.arm_of]

    def plays(self) -> dict[Label, int]:
        """How often each base arm of the problem was played since it began, imported plays included."""
        with self._log.look() as (fold, _):
            tally = fold.counted()
            return {fold.labels[key]: tally.plays[key] for key in fold.arms.keys}

    def indices(self) -> Floats:
        """The current indices, one per base arm (or per super arm for policies that act on those)."""
        return self.policy.indices()

    def open_decisions(self) -> list[Decision]:
        """Decisions that can still be told, oldest first, among the newest ``reorder``; see `unlisted`."""
        with self._log.look() as (fold, reader):
            entries = [entry for entry in fold.waiting.values() if not entry.closed]
            late = self.settings.late
            return [self._decision(fold, entry) for entry in entries if late(entry.asked_at, reader.now) is None]

    @property
    def unlisted(self) -> int:
        """How many decisions older than the newest ``reorder`` were never told in full; some may have expired."""
        with self._log.look() as (fold, _):
            return fold.unlisted

    @overload
    def ask(self, n: None = None, *, unavailable: Iterable[Label] = ()) -> Decision: ...
    @overload
    def ask(self, n: int, *, unavailable: Iterable[Label] = ()) -> list[Decision]: ...
    def ask(self, n: int | None = None, *, unavailable: Iterable[Label] = ()) -> Decision | list[Decision]:
        """A decision, or a list of ``n`` decisions that may all be open at once.

        ``unavailable`` are the labels of arms that may not be used this time ("link 7 is down now").
        """
        wanted = f"a number of decisions, from 1 to {MOST_AT_ONCE}"
        count = 1 if n is None else _checks.integer("n", n, low=1, high=MOST_AT_ONCE, wanted=wanted)
        with self._log.turn() as turn:
            fold = turn.fold
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
                turn.add("ask", body, number)
        decisions = [self._decision(fold, asked(event)) for event in turn.events]
        return decisions[0] if n is None else decisions

    def tell(self, decision: int | Decision, outcomes: Mapping[Label, float], *, final: bool = True) -> bool:
        """Outcomes of a decision by label, in the user's unit. Arms that are left out were not played.

        With ``final=False`` outcomes of other arms may follow. Returns True if this was news, False if the same was
        told before.
        """
        return self.tell_many([(decision, outcomes)], final=final)[0]

    def tell_many(
        self, reports: Iterable[tuple[int | Decision, Mapping[Label, float]]], *, final: bool = True
    ) -> list[bool]:
        """Several tells in one transaction: all of them count, or one is refused and none does."""
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
                    # One that counts where it arrives may push others beyond the limit, before they are applied.
                    moved = moved or entry.decision not in turn.fold.waiting
                    event = turn.add("tell" if final else "piece", body, entry.decision)
                    if len(pairs) > 1:
                        staged[entry.decision] = replace(entry, told=list(entry.told), told_at=list(entry.told_at))
                        staged[entry.decision].add(event)
        return news

    def _id(self, decision: int | Decision) -> int:
        if not isinstance(decision, Decision):
            return decision
        there, here = decision.study._log, self._log
        if (there.storage.url, there.number) != (here.storage.url, here.number):
            raise InputError(f"decision must be one of study {self.name!r}, got one of {decision.study.name!r}")
        return decision.id

    def _decision(self, fold: Fold, entry: Entry) -> Decision:
        expires = self.settings.expires
        until = None if expires is None else entry.asked_at + expires
        return Decision(entry.decision, [fold.labels[key] for key in entry.arms], entry.asked_at, until, self)

    def retire(self, labels: Iterable[Label]) -> None:
        """Do not use these arms from now on. What is known of them is kept, see `restore`."""
        names = _checks.labels("labels", labels)
        with self._log.turn() as turn:
            keys = [self._log.key(turn.fold, label) for label in names]
            mask = turn.fold.mask(keys)
            if mask is not None and not turn.fold.arms.problem.oracle.can(mask):
                raise InputError(f"labels must leave a feasible super arm when they are retired, got {names!r}")
            turn.add("retire", {"arms": keys})

    def restore(self, labels: Iterable[Label]) -> None:
        """Use these arms again."""
        names = _checks.labels("labels", labels)
        with self._log.turn() as turn:
            turn.add("restore", {"arms": [self._log.key(turn.fold, label) for label in names]})

    def reset(self, labels: Iterable[Label]) -> None:
        """Forget the plays of these arms, because what they stand for was replaced.

        Outcomes of decisions that were asked for before are of the old ones, also when they are told later.
        """
        names = _checks.labels("labels", labels)
        with self._log.turn() as turn:
            keys = [self._log.key(turn.fold, label) for label in names]
            # A policy that cannot forget says so here, before anything changed.
            problem = turn.fold.arms.problem
            turn.fold.live.policy.rebase(problem, range(problem.n_arms))
            turn.add("reset", {"arms": keys})

    def set_problem(self, problem: Problem) -> None:
        """Decide about another problem from now on: an arm is the same where its label is.

        New arms begin anew. Arms that are gone are forgotten, and begin anew should they return; `retire` keeps what
        is known of them. A problem with code of the user's own is refused where the study had another such one: the
        log could not be read again, since `rising_bandits.studies.open` is handed one.
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
        """Take in plays that were made before, or elsewhere; returns how many.

        ``logs`` has the columns arm, play and outcome (in the user's unit) in anything that
        `rising_bandits.theory.diagnose` takes. ``rounds`` is how many rounds lie behind them; by default, as many as
        the arm with the most plays has, since fewer is impossible.

        They count as the newest plays of their arms, after all that was told before, and what is imported twice
        counts twice: there is no way to tell a repetition from more of the same.
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
        """A pandas DataFrame with a row for every outcome, in the order in which the policy learnt them.

        ``decision_id`` (missing for imported plays), ``arm``, ``play`` (1 is the arm's first since it began),
        ``outcome`` in the user's unit, ``value`` in [0, 1], ``round``, ``asked_at``, ``told_at``, ``super_arm``, and
        ``forgotten`` for plays from before a reset of the arm.

        ``last`` keeps only so many rows, the newest. ``since`` keeps what was told since a time: a datetime with a
        time zone, seconds since 1970, or a timedelta back from now. Both read only the part of a long log that they
        need, from a snapshot on.
        """
        return history(self._log, last, since)

    def arms(self) -> list[Reason]:
        """What is known of every base arm now (of every super arm for policies that act on those)."""
        return reasons(self.policy, self.scale)

    def explain(self, decision: int | Decision) -> Explanation:
        """Why a decision was made, from what was known when it was asked for.

        For an old decision the log is read again from the last snapshot before it.
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
        """Re-decide the log with another policy; the report says what can and cannot be concluded from it."""
        return replay(self._log, policy)

    def export(self, path: str | Path) -> Path:
        """Write the whole log as Parquet (``.parquet``) or JSON lines (``.jsonl``); `load` makes a study of it again.

        A row is an event, with arms by label and outcomes in the user's unit. The file is written aside and renamed.
        """
        return export(self._log, Path(path))

    def export_history(self, path: str | Path) -> Path:
        """Write `history` as Parquet or JSON lines, for analysis or for `import_plays` elsewhere."""
        return export_history(self._log, Path(path))

    def close(self) -> None:
        """Let go of the database; the study can still be used, and then opens it again."""
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
    """Checked reports, before anything is looked up."""
    wanted = "reports must be pairs of a decision and its outcomes, as in [(1, {'a->b': 0.9})]"
    if isinstance(reports, str | Mapping) or not isinstance(reports, Iterable):
        raise InputError(f"{wanted}, got {reports!r}")
    pairs = list(reports)
    for report in pairs:
        if not isinstance(report, tuple | list) or len(report) != 2:
            raise InputError(f"{wanted}, got {report!r}")
    return pairs
