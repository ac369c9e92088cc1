"""What a policy has learnt from the entries of a study's log."""

from __future__ import annotations

from collections.abc import Callable
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

    def copy(self) -> Learned:
        """An independent copy."""
        return Learned(self.policy.copy(), self.arms)

    def take(self, entry: Entry, resolve: Resolve) -> None:
        """Learn from one entry, now or when the policy is needed."""
        if entry.control is not None:
            self.learn()
            self._control(entry.control, resolve)
        elif entry.values is not None:
            feedback = entry.feedback(self.arms)
            if feedback[0].size == 0:
                self.policy._pass_rounds(entry.rounds)
            else:
                self._owed.append(feedback)
                if len(self._owed) >= _RUN:
                    self.learn()

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

    def take(self, entry: Entry, resolve: Resolve) -> None:
        return
