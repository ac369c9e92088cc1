"""Decisions: the super arms that a study in some state chooses next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rising_bandits._checks import Bools, Ints
from rising_bandits.policies.levels import RulePolicy, SuperArmPolicy
from rising_bandits.policies.policy import Policy
from rising_bandits.policies.rules.operations import update
from rising_bandits.policies.rules.terms import AVERAGE
from rising_bandits.policies.underway import Underway
from rising_bandits.studies.log.fold import Fold
from rising_bandits.studies.log.least import Duties, through

if TYPE_CHECKING:
    from rising_bandits.studies.settings import Settings


class Decider:
    """Chooses super arms for a study in the state of a fold. The fold is not changed.

    Parameters
    ----------
    fold
        The state.
    settings
        The settings in force.
    now
        The time, in seconds since 1970.
    off
        The keys of arms that may not be used.
    among
        The family of super arms to choose from, for a problem with several; None for all.
    """

    def __init__(
        self, fold: Fold, settings: Settings, now: float, off: Sequence[int] = (), among: str | None = None
    ) -> None:
        self._settings = settings
        self._mask = fold.mask(off)
        self._underway = fold.underway(settings, now)
        self.policy: Policy = fold.live.policy
        """The policy that chooses: the live one, or a copy that has seen the open decisions as expected."""
        if among is not None:
            self.policy = self.policy.among(among)
        elif settings.spread:
            self.policy = self.policy.copy()
        if isinstance(self.policy, SuperArmPolicy):
            # Such a policy counts only super arms of its own list: of its family, and of the full size.
            mine, every = self.policy.problem.oracle, self._underway
            self._underway = Underway(lambda: [arms for arms in every if mine.is_feasible(arms)])
        if settings.spread:
            for arms in self._underway:
                expect(self.policy, arms)
        self._duties = _duties(fold, settings, self._mask) if settings.least else None

    def choose(self, number: int) -> tuple[Ints, int | None]:
        """The arms of a decision, ascending, and the arm whose least share made the choice (None if none did)."""
        self.policy.rng = self._settings.rng(number)
        arms, forced = self.policy.select(self._mask, self._underway), None
        due = [] if self._duties is None else self._duties.due()
        for arm in due:
            if arm in arms:
                # The policy's own choice uses the arm too.
                break
            found = through(self.policy, arm, due, self._mask)
            if found is not None:
                arms, forced = found, arm
                break
        return arms, forced

    def take(self, arms: Ints, *, own: bool = True) -> None:
        """Note a decision that was made, so that the next one takes it into account."""
        self._underway.add(arms)
        if self._settings.spread:
            expect(self.policy, arms)
        if own and self._duties is not None:
            self._duties.take(arms)


def _duties(fold: Fold, settings: Settings, mask: Bools | None) -> Duties | None:
    """What the least shares of arms ask for; None if no arm of the problem has one."""
    arm_of = fold.arms.arm_of
    least = {arm_of[key]: share for key, share in settings.least if key in arm_of}
    used = {arm_of[key]: own for key, own in fold.used.items() if key in arm_of}
    return Duties(least, used, fold.own, mask) if least else None


def expect(policy: Policy, arms: Ints) -> None:
    """Let a policy take for granted that a super arm comes back with the recent averages of its arms.

    Arms without an average are left out. Policies without averages draw at random, and are not changed.
    """
    terms = policy.terms() if isinstance(policy, RulePolicy) else None
    if not isinstance(policy, RulePolicy) or terms is None:
        return
    average = terms[AVERAGE]
    for unit in np.atleast_1d(policy._units(arms)).tolist():
        if np.isfinite(average[unit]):
            policy._make_room(1)
            update(policy._rule, unit, min(max(float(average[unit]), 0.0), 1.0))
    policy._round += 1
