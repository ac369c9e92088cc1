"""What a policy has learnt from the entries of a study's log."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from rising_bandits.policies.policy import Policy
from rising_bandits.problems.base import Problem
from rising_bandits.studies.log.arms import Arms
from rising_bandits.studies.log.entries import Entry, Feedback
from rising_bandits.studies.log.events import Event

_RUN = 1_000
"""The most super arms that are gathered before a policy learns them."""
Resolve = Callable[[dict[str, Any]], Problem]
"""A function from the body of a problem event to the problem."""


class Learned:
    """A policy, and the keys of its arms. Outcomes are gathered and learnt in runs, which takes less time."""

    def __init__(self, policy: Policy, arms: Arms) -> None:
        self._policy, self.arms = policy, arms
        self.sigma = policy._told_sigma()
        """The sigma that the policy was told; None if it was told none."""
        self._owed: list[Feedback] = []
        """What the policy has not learnt yet, oldest first: the arguments of `Policy._take_in`."""
        self._origin: Learned | None = None
        """What this was copied from by `again`."""
        self._since: list[Feedback] | None = None
        """What was learnt since `again` made or was asked for a copy; None if that is not known."""

    @property
    def policy(self) -> Policy:
        """The policy, which has learnt every entry that was taken."""
        if self._owed:
            self.learn()
        return self._policy

    def learn(self) -> None:
        """Let the policy learn what was gathered."""
        owed, self._owed = self._owed, []
        if owed:
            self._policy._take_in_run(owed)
            if self._since is not None:
                self._since = self._since + owed if len(self._since) < _RUN else None

    def copy(self) -> Learned:
        """An independent copy."""
        return Learned(self.policy.copy(), self.arms)

    def again(self, spare: Learned | None) -> Learned:
        """An independent copy, made of an earlier one that is not needed any more, which may take less time.

        Where only few arms were played since, only they have to be copied.
        """
        policy = self.policy
        if spare is not None and spare._origin is self and None is not self._since and None is not spare._since:
            met = [part[0] for part in self._since] + [part[0] for part in spare._since]
            seen = np.zeros(self.arms.problem.n_arms, dtype=np.bool_)
            seen[np.concatenate(met) if met else []] = True
            made = Learned(policy._copy_over(spare._policy, np.flatnonzero(seen)), self.arms)
        else:
            made = self.copy()
        made._origin, made._since, self._since = self, [], []
        return made

    def take(self, entry: Entry, resolve: Resolve) -> None:
        """Learn from one entry, now or when the policy is needed."""
        if entry.control is not None:
            self.learn()
            self._since = None
            self._control(entry.control, resolve)
        elif entry.values is not None:
            feedback = entry.feedback(self.arms)
            if feedback[0].size == 0:
                self.policy._pass_rounds(entry.rounds)
            else:
                self._owed.append(feedback)
                if len(self._owed) >= _RUN:
                    self.learn()

    def take_all(self, entries: Iterable[Entry], resolve: Resolve) -> None:
        """Learn from entries, oldest first. Those that count and were learnt before take little time."""
        owed, known = self._owed, self.arms
        for entry in entries:
            kept = entry.kept
            if kept is not None and kept[0] is known and kept[1][0].size > 0 and len(owed) < _RUN:
                owed.append(kept[1])
            elif entry.values is not None or entry.control is not None:
                self.take(entry, resolve)
                owed, known = self._owed, self.arms

    def _control(self, event: Event, resolve: Resolve) -> None:
        """Apply a control event."""
        arms = self.arms
        if event.kind == "problem":
            origin = [arms.arm_of.get(key, -1) for key in event.body["keys"]]
            self.arms = Arms(resolve(event.body), event.body)
            self._policy = self._policy.rebase(self.arms.problem, origin)
            self._policy._give_up(event.body["unreachable"])
        elif event.kind == "reset":
            gone = {arms.arm_of[key] for key in event.body["arms"] if key in arms.arm_of}
            origin = [-1 if arm in gone else arm for arm in range(arms.problem.n_arms)]
            self._policy = self._policy.rebase(arms.problem, origin)
            self._policy._give_up(gone.intersection(arms.body["unreachable"]))
        elif event.kind == "import":
            for key, values in zip(event.body["arms"], event.body["value"], strict=True):
                if key in arms.arm_of:
                    self._policy.absorb(arms.arm_of[key], np.asarray(values, dtype=np.float64))
            self._policy._pass_rounds(event.body["rounds"])
        elif event.kind == "prior":
            for key, value, plays in zip(event.body["arms"], event.body["value"], event.body["plays"], strict=True):
                if key in arms.arm_of:
                    self._policy.absorb(arms.arm_of[key], np.full(plays, value))


class Unlearned(Learned):
    """Stands in for a settled policy that has to learn the log again, because the policy or the scale was set."""

    def __init__(self, arms: Arms) -> None:
        self.arms, self.sigma = arms, None

    def learn(self) -> None:
        return

    def copy(self) -> Learned:
        raise AssertionError("the policy was set and has not learnt the log yet")

    def again(self, spare: Learned | None) -> Learned:
        return self.copy()

    def take(self, entry: Entry, resolve: Resolve) -> None:
        return
