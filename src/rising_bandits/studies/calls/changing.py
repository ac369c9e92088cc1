"""Calls that change a study: its arms, its problem, and what it knows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from rising_bandits import _checks
from rising_bandits.errors import InputError
from rising_bandits.problems.base import Label, Problem
from rising_bandits.studies.calls.base import Calls
from rising_bandits.studies.calls.setting import check_forgets
from rising_bandits.studies.log.events import MOST_ROUNDS
from rising_bandits.studies.reports.files import written_labels
from rising_bandits.studies.reports.history import read_plays
from rising_bandits.studies.settings import problem_body


class Changing(Calls):
    """Change a study."""

    @property
    def retired(self) -> list[Label]:
        """Labels of the arms that were retired and not restored."""
        with self._log.look() as (fold, _):
            return [fold.labels[key] for key in sorted(fold.retired) if key in fold.arms.arm_of]

    def retire(self, labels: Iterable[Label]) -> None:
        """Stop using some arms until they are restored. What is known about them is kept.

        Parameters
        ----------
        labels
            Labels of the arms, or names of workers, jobs or nodes, which stand for all of their arms.

        Raises
        ------
        InputError
            A label is unknown, or no feasible super arm would be left.
        """
        names = _checks.labels("labels", labels)
        with self._log.turn() as turn:
            keys = self._log.keys(turn.fold, names)
            mask = turn.fold.mask(keys)
            if mask is not None and not turn.fold.arms.problem.oracle.can(mask):
                raise InputError(f"labels must leave a feasible super arm when they are retired, got {names!r}")
            turn.change("retire", {"arms": keys})

    def restore(self, labels: Iterable[Label]) -> None:
        """Use retired arms again.

        Parameters
        ----------
        labels
            Labels of the arms, or names of workers, jobs or nodes, which stand for all of their arms.
        """
        names = _checks.labels("labels", labels)
        with self._log.turn() as turn:
            turn.change("restore", {"arms": self._log.keys(turn.fold, names)})

    def reset(self, labels: Iterable[Label]) -> None:
        """Forget the plays of some arms, because the things behind them were replaced.

        A decision that was asked for before the reset belongs to the old arms. Its outcomes do not count for the new
        ones, even if they are told after the reset.

        Parameters
        ----------
        labels
            Labels of the arms, or names of workers, jobs or nodes, which stand for all of their arms.

        Raises
        ------
        InputError
            A label is unknown, or the policy cannot forget.
        """
        names = _checks.labels("labels", labels)
        with self._log.turn() as turn:
            keys = self._log.keys(turn.fold, names)
            # A policy that cannot forget raises here, before anything is changed.
            check_forgets(turn.fold)
            turn.change("reset", {"arms": keys})

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
                self._log.code.check_second(problem)
            new = problem if body["spec"] is None else self._log.resolve(body)
            off = np.array([key in turn.fold.retired for key in body["keys"]])
            if off.any() and not new.oracle.can(off):
                gone = [label for label, retired in zip(new.labels, off, strict=True) if retired]
                raise InputError(f"problem must have a feasible super arm without the retired arms {gone!r}")
            turn.fold.live.policy.rebase(new, [turn.fold.arms.arm_of.get(key, -1) for key in body["keys"]])
            turn.change("problem", body)
            if body["spec"] is None:
                self._log.code.hand_in(problem)

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
        scale = self.scale
        plays = read_plays(logs, scale)
        longest = max(len(raw) for _, raw, _ in plays)
        count = longest if rounds is None else _checks.integer("rounds", rounds, low=longest, high=MOST_ROUNDS)
        with self._log.turn() as turn:
            if turn.fold.settings.scale != scale:
                raise InputError("the scale of the study was set while plays were imported; import them again")
            names = written_labels(turn.fold.arms.problem.labels)
            keys = [self._log.key(turn.fold, names.get(label, label)) for label, _, _ in plays]
            turn.fold.live.policy.copy().absorb(0, np.zeros(0))
            raw, values = [raw for _, raw, _ in plays], [value for _, _, value in plays]
            turn.change("import", {"arms": keys, "raw": raw, "value": values, "rounds": count})
        return sum(map(len, raw))
