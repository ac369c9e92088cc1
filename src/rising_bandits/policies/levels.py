"""The two kinds of policies with an index rule: for base arms, from which the oracle chooses, and for super arms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits._compile import copied
from rising_bandits.errors import InputError, TooManySuperArmsError
from rising_bandits.oracles.answers import feasible, holding
from rising_bandits.oracles.explicit import packed
from rising_bandits.policies.engines.base_arms import BaseArms
from rising_bandits.policies.engines.cover import (
    copy_cover,
    cover_rounds,
    make_cover,
    next_unit,
    planned,
    waiting_units,
)
from rising_bandits.policies.engines.live import Run, take_run
from rising_bandits.policies.engines.python import PythonSolver
from rising_bandits.policies.engines.super_arms import SuperArms
from rising_bandits.policies.observed import checked_outcome, checked_row
from rising_bandits.policies.rule_policy import RulePolicy, checked_rule
from rising_bandits.policies.rules.operations import assume, update
from rising_bandits.problems.base import Problem

__all__ = ["BaseArmPolicy", "RulePolicy", "SuperArmPolicy"]

_TARGETS = 8
"""Under a mask, how many arms that need first plays are tried before the indices decide."""


class BaseArmPolicy(RulePolicy):
    """Base of policies with an index per base arm. The oracle chooses the super arm. A subclass writes `make_rule`.

    Every arm that is in some super arm gets ``first_plays`` plays first: two by default.
    """

    def _begin(self, problem: Problem, horizon: int | None) -> BaseArms:
        oracle = problem.oracle
        if horizon is not None and horizon < self.first_plays * oracle.n_arms:
            needed = oracle.cover_rounds(self.first_plays) or cover_rounds(problem, self.first_plays)
            if horizon < needed:
                raise InputError(
                    f"horizon must be at least {needed}: so many rounds give each of the {oracle.n_arms} base arms "
                    f"its first {self.first_plays} plays; got {horizon}"
                )
        kernel = oracle.kernel()
        return BaseArms(
            rule=checked_rule(type(self).__name__, self.make_rule(oracle.n_arms, problem, horizon), oracle.n_arms),
            # A copy, because another policy on this problem may use its work space in another thread.
            solver=PythonSolver(oracle) if kernel is None else copied(kernel),
            weights=np.zeros(oracle.n_arms),
            blocked=np.zeros(oracle.n_arms, dtype=np.bool_),
            masked=np.zeros(1, dtype=np.int64),
            luck=np.zeros(1, dtype=np.int64),
            cover=make_cover(oracle.n_arms, self.first_plays),
        )

    def _own_engine(self) -> Any:
        engine = super()._own_engine()
        return engine._replace(
            solver=copied(engine.solver),
            weights=engine.weights.copy(),
            blocked=engine.blocked.copy(),
            masked=engine.masked.copy(),
            luck=engine.luck.copy(),
        )

    def _prepare(self, mask: Bools | None, underway: Sequence[Ints]) -> None:
        engine = self._engine
        if mask is not None or engine.masked[0]:
            engine.masked[0] = mask is not None
            engine.blocked[:] = False if mask is None else mask
        engine.luck[0] = self._luck
        if next_unit(engine.cover, engine.rule.plays) < 0:
            if engine.cover.cursor[2]:
                self._plan([])
        elif mask is None and not underway:
            self._plan(self._first_plays(1))
        else:
            self._plan(self._first_play_beyond(mask, underway))

    def _advance_engine(self, rounds: int) -> BaseArms:
        engine = self._engine
        if engine.masked[0]:
            engine.masked[0] = 0
            engine.blocked[:] = False
        engine.luck[0] = self._luck
        self._make_room(self.problem.oracle.max_size)
        cover = self._engine.cover
        if cover.cursor[1] >= cover.cursor[2] and next_unit(cover, self._rule.plays) >= 0:
            self._plan(self._first_plays(rounds))
        return self._engine  # type: ignore[no-any-return]

    def _plan(self, super_arms: Sequence[Ints]) -> None:
        """Plan these super arms for first plays."""
        self._engine = self._engine._replace(cover=planned(self._engine.cover, self.problem.oracle, super_arms))

    def _first_plays(self, rounds: int) -> list[Ints]:
        """Super arms for the next rounds. Each contains the first arm that needs first plays, and many others."""
        oracle = self.problem.oracle
        cover = copy_cover(self._engine.cover)
        plays = self._rule.plays.copy()
        found: list[Ints] = []
        while len(found) < rounds and (arm := next_unit(cover, plays)) >= 0:
            arms = holding(oracle, arm, prefer=waiting_units(cover, plays))
            if arms is None:
                cover.aims[arm] = self.first_plays
                self._give_up([arm])
                continue
            plays[arms] += 1
            found.append(arms)
        return found

    def _first_play_beyond(self, mask: Bools | None, underway: Sequence[Ints]) -> list[Ints]:
        """At most one super arm for first plays, without blocked arms and for arms that are not underway."""
        oracle = self.problem.oracle
        waiting = waiting_units(self._engine.cover, self._rule.plays + self._pending(underway))
        free = waiting if mask is None else waiting & ~mask
        for arm in np.flatnonzero(free)[:_TARGETS]:
            found = holding(oracle, int(arm), mask, waiting)
            if found is not None:
                return [found]
        return []

    def _learn(self, arms: Ints, outcomes: Floats, played: int) -> None:
        self._make_room(self.problem.oracle.max_size)
        super()._learn(arms, outcomes, played)

    def _take_in_run(self, run: Sequence[tuple[Ints, Floats, int, int]]) -> None:
        if len(run) == 1:
            self._take_in(*run[0])
            return
        # One call for all of them: calling machine code takes longer than learning a super arm.
        arms, outcomes, played, rounds = zip(*run, strict=True)
        first = np.zeros(len(run) + 1, dtype=np.int64)
        np.cumsum(list(map(len, arms)), out=first[1:])
        seen = np.zeros(self.problem.n_arms, dtype=np.bool_)
        packed = Run(np.concatenate(arms), np.concatenate(outcomes), first, np.array(played, dtype=np.int64), seen)
        pushes, done = self.problem.oracle.max_size, 0
        while done < len(run):
            self._make_room(pushes)
            done = take_run(self._engine, packed, done, pushes)
        self._round += sum(rounds)

    def _copy_over(self, spare: Self, arms: Ints) -> Self:
        if not hasattr(self._rule, "copied_over"):
            return self.copy()
        rule = self._rule.copied_over(spare._rule, arms)
        return self._copy_with(self._engine._replace(rule=rule, cover=copy_cover(self._engine.cover)))

    def _give_up(self, arms: Iterable[int]) -> None:
        for arm in arms:
            self._engine.cover.aims[arm] = self.first_plays
            # Its index becomes 1, the largest outcome, in place of infinity.
            assume(self._rule, arm, 1.0)

    def recommend(self) -> Ints:
        """Name the super arm that the oracle finds best for the arms' recent averages.

        Returns
        -------
        numpy.ndarray
            The arm numbers, ascending. An arm without plays counts as one that gives 0.

        >>> import rising_bandits as rb
        >>> policy = rb.CRUCB(sigma=0.1)
        >>> policy.start(rb.problems.TopK(["x", "y"], k=1), rng=0)
        >>> for outcome in (0.2, 0.2, 0.6, 0.6):
        ...     policy.observe(policy.select(), [outcome])
        >>> policy.recommend().tolist()
        [1]
        """
        self._check_started()
        with np.errstate(all="ignore"):
            worth = self._worth()
        return np.sort(self.problem.oracle.solve(np.nan_to_num(worth, nan=0.0, posinf=1e300, neginf=-1e300)))

    def absorb(self, arm: int, outcomes: Sequence[float] | Floats, *, rounds: int = 0) -> None:
        self._check_started()
        arm = _checks.integer("arm", arm, low=0, high=self.problem.n_arms - 1)
        values = [checked_outcome(self.problem, arm, outcome) for outcome in checked_row(outcomes)]
        self._pass_rounds(rounds)
        for value in values:
            self._make_room(1)
            update(self._rule, arm, value)


class SuperArmPolicy(RulePolicy):
    """Base of policies with an index per super arm. A subclass writes `make_rule`.

    All super arms are listed. Each gets ``first_plays`` plays first: two by default. Then the super arm with the
    largest index is played, and ties are broken at random.
    """

    _number: dict[bytes, int]
    _sets: list[Ints]

    def _begin(self, problem: Problem, horizon: int | None) -> SuperArms:
        try:
            sets = problem.oracle.super_arms()
        except TooManySuperArmsError as error:
            raise TooManySuperArmsError(
                f"{type(self).__name__} keeps an index for every super arm, but {error}; "
                "use a policy that acts on base arms, such as CRUCB or SWCUCB"
            ) from None
        needed = self.first_plays * len(sets)
        if horizon is not None and horizon < needed:
            raise InputError(
                f"horizon must be at least {needed}: so many rounds give each of the {len(sets)} super arms "
                f"its first {self.first_plays} plays; got {horizon}"
            )
        rule = checked_rule(type(self).__name__, self.make_rule(len(sets), problem, horizon), len(sets))
        listed = packed(problem.oracle, sets)
        self._sets = sets
        self._number = {arms.tobytes(): place for place, arms in enumerate(sets)}
        return SuperArms(
            rule=rule,
            first=listed.first,
            members=listed.members,
            weights=np.zeros(len(sets)),
            blocked=np.zeros(len(sets), dtype=np.bool_),
            pending=np.zeros(len(sets), dtype=np.int64),
            chosen=np.full(1, -1, dtype=np.int64),
            reward=problem.reward.state(problem.oracle.max_size),
            scale=problem.scale,
            cover=make_cover(len(sets), self.first_plays),
        )

    def _own_engine(self) -> Any:
        engine = super()._own_engine()
        changing = ("weights", "blocked", "pending", "chosen")
        return engine._replace(**{name: getattr(engine, name).copy() for name in changing})

    def _prepare(self, mask: Bools | None, underway: Sequence[Ints]) -> None:
        engine = self._engine
        engine.blocked[:] = False if mask is None else [mask[arms].any() for arms in self._sets]
        engine.pending[:] = self._pending(underway) if underway else 0

    def _advance_engine(self, rounds: int) -> SuperArms:
        self._prepare(None, ())
        self._make_room(1)
        return self._engine  # type: ignore[no-any-return]

    def _units(self, arms: Ints) -> Any:
        return self._number[arms.tobytes()]

    def _accepts(self, arms: Ints) -> bool:
        return feasible(self.problem.oracle, arms)

    def _learn(self, arms: Ints, outcomes: Floats, played: int) -> None:
        # A study may report a super arm that the problem no longer has. Nothing is learnt from it.
        self._engine.chosen[0] = self._number.get(np.sort(arms).tobytes(), -1)
        self._make_room(1)
        super()._learn(arms, outcomes, played)

    def recommend(self) -> Ints:
        """Name the super arm with the best recent average.

        Returns
        -------
        numpy.ndarray
            The arm numbers, ascending. A super arm without plays counts as one that gives 0.
        """
        self._check_started()
        with np.errstate(all="ignore"):
            worth = self._worth()
        return self._sets[int(np.argmax(np.nan_to_num(worth, nan=0.0)))].copy()

    def _units_from(self, old: Self, origin: Ints) -> Ints:
        was = [origin[arms] for arms in self._sets]
        return np.array([-1 if (arms < 0).any() else old._number.get(np.sort(arms).tobytes(), -1) for arms in was])
