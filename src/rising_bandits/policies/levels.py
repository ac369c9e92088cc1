"""Policies with an index rule: for base arms, from which the oracle chooses, or for listed super arms."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits._compile import copied
from rising_bandits.errors import InputError, TooManySuperArmsError
from rising_bandits.oracles.explicit import pack
from rising_bandits.policies import saving
from rising_bandits.policies.engines.base_arms import BaseArms
from rising_bandits.policies.engines.cover import (
    PLAYS_FIRST,
    copy_cover,
    cover_rounds,
    make_cover,
    next_unit,
    planned,
    waiting_units,
)
from rising_bandits.policies.engines.live import take_run
from rising_bandits.policies.engines.python import PythonSolver
from rising_bandits.policies.engines.super_arms import SuperArms
from rising_bandits.policies.policy import Policy
from rising_bandits.policies.relearning import rearrange_rule
from rising_bandits.policies.rules.operations import assume, indices, update
from rising_bandits.policies.rules.rings import ring_fields, with_room
from rising_bandits.policies.rules.terms import AVERAGE
from rising_bandits.policies.underway import Underway
from rising_bandits.problems.base import Problem

_TARGETS = 8
"""Under a mask, how many arms that need first plays are tried before the indices decide."""


class RulePolicy(Policy):
    """A policy with an index rule. A subclass has to write only `make_rule`.

    A rule keeps an index for each *unit*: a base arm, or a super arm for policies that act on super arms.
    """

    first_plays: ClassVar[int] = PLAYS_FIRST
    """How often each unit is played before indices decide."""

    @abstractmethod
    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> Any:
        """Make the index rule, before the first play.

        Parameters
        ----------
        n_units
            The number of units.
        problem
            The problem.
        horizon
            How many rounds there will be; None if nobody knows.

        Returns
        -------
        object
            A NamedTuple with registered ``indices``, ``update`` and ``roomy`` (see
            `rising_bandits.policies.rules.operations`), or a Python object with methods of these names.
        """

    @property
    def _rule(self) -> Any:
        """The index rule."""
        return self._engine.rule

    @property
    def plays(self) -> Ints:
        """The number of plays of each unit."""
        self._check_started()
        return self._rule.plays.copy()  # type: ignore[no-any-return]

    def _units(self, arms: Ints) -> Any:
        """The unit or units of a super arm."""
        return arms

    def _pending(self, underway: Sequence[Ints]) -> Ints:
        """For each unit, how many of the decisions underway contain it."""
        if not isinstance(underway, Underway):
            listed = underway
            underway = Underway(lambda: listed)
        return underway.counts(self._rule.plays.size, self._units)

    def _make_room(self, pushes: int) -> None:
        """Add memory to the rule's buffers before it is needed."""
        for name in ring_fields(self._rule):
            old = getattr(self._rule, name)
            if (new := with_room(old, pushes)) is not old:
                self._engine = self._engine._replace(rule=self._rule._replace(**{name: new}))

    def indices(self) -> Floats:
        self._check_started()
        out = np.empty(self._rule.plays.size)
        indices(self._rule, self._round, copy.deepcopy(self.rng), out)
        return out

    def terms(self) -> dict[str, Floats] | None:
        """Compute the parts of which the indices are sums.

        Returns
        -------
        dict or None
            For each part, by name, one number per unit; None if the rule does not know its parts.

        >>> import rising_bandits as rb
        >>> policy = rb.CRUCB(sigma=0.0)
        >>> policy.start(rb.problems.TopK(["x"], k=1))
        >>> for outcome in (0.25, 0.5):
        ...     policy.observe([0], [outcome])
        >>> {name: part.tolist() for name, part in policy.terms().items()}
        {'recent average': [0.5], 'predicted improvement': [0.25], 'bonus': [0.0]}
        """
        self._check_started()
        return self._rule.terms(self._round) if hasattr(self._rule, "terms") else None

    def _worth(self) -> Floats:
        """What each unit is worth for `recommend`: by default the mean of its recent outcomes."""
        parts = self.terms()
        if parts is None or AVERAGE not in parts:
            raise InputError(f"{type(self).__name__} does not recommend: its rule has no recent average")
        return parts[AVERAGE]

    def copy(self) -> Self:
        if self._round == 0:
            return copy.copy(self)
        policy = copy.copy(self)
        policy._engine = policy._own_engine()
        policy._out = self._out.copy()
        policy._steps = copy.deepcopy(self._steps)
        if not callable(self._rng):
            # What this policy draws must not change its copies.
            policy._rng = copy.deepcopy(self.rng)
        return policy

    def _own_engine(self) -> Any:
        """A copy of the engine that shares no array that changes."""
        engine = self._engine
        return engine._replace(rule=saving.copy_rule(engine.rule, self.problem), cover=copy_cover(engine.cover))

    def _inherit(self, old: Self, origin: Ints) -> None:
        units = self._units_from(old, origin)
        aims = old._engine.cover.aims
        again = (old._rule.plays < self.first_plays) & (aims >= self.first_plays)
        if old.problem is self.problem:
            again[:] = False
            self._engine.cover.aims[units >= 0] = aims[units[units >= 0]]
        # A unit that could not be reached may be reachable on the new problem. First plays are tried again.
        self._engine = self._engine._replace(rule=rearrange_rule(self._rule, old._rule, units, again))

    def _units_from(self, old: Self, origin: Ints) -> Ints:
        """For each unit of this policy, the same unit of the old policy, or -1 if there is none."""
        return origin

    def _dump(self) -> dict[str, Any]:
        return {"rule": saving.dump_rule(self._rule), "aims": saving.encode_array(self._aims())}

    def _load(self, state: saving.Saved) -> None:
        rule = saving.load_rule(self._rule, state.part("rule"))
        self._engine.cover.aims[:] = saving.load_aims(state, rule.plays.size)
        self._engine = self._engine._replace(rule=rule)

    def _aims(self) -> Any:
        """How often first plays of each unit were tried, for saving."""
        return np.minimum(self._engine.cover.aims, self.first_plays).astype(np.int8)


class BaseArmPolicy(RulePolicy):
    """Base of policies with an index per base arm. The oracle chooses the super arm. A subclass writes `make_rule`.

    Every arm that is in some super arm gets two plays first.
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
            rule=self.make_rule(oracle.n_arms, problem, horizon),
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
        self._engine = self._engine._replace(cover=planned(self._engine.cover, super_arms))

    def _first_plays(self, rounds: int) -> list[Ints]:
        """Super arms for the next rounds. Each contains the first arm that needs first plays, and many others."""
        oracle = self.problem.oracle
        cover = copy_cover(self._engine.cover)
        plays = self._rule.plays.copy()
        found: list[Ints] = []
        while len(found) < rounds and (arm := next_unit(cover, plays)) >= 0:
            arms = oracle.containing(arm, prefer=waiting_units(cover, plays))
            if arms is None:
                cover.aims[arm] = self.first_plays
                self._give_up([arm])
                continue
            plays[arms] += 1
            found.append(oracle.ordered(arms))
        return found

    def _first_play_beyond(self, mask: Bools | None, underway: Sequence[Ints]) -> list[Ints]:
        """At most one super arm for first plays, without blocked arms and for arms that are not underway."""
        oracle = self.problem.oracle
        waiting = waiting_units(self._engine.cover, self._rule.plays + self._pending(underway))
        free = waiting if mask is None else waiting & ~mask
        for arm in np.flatnonzero(free)[:_TARGETS]:
            found = oracle.containing(int(arm), mask=mask, prefer=waiting)
            if found is not None:
                return [oracle.ordered(found)]
        return []

    def _learn(self, arms: Ints, outcomes: Floats, played: int) -> None:
        self._make_room(self.problem.oracle.max_size)
        super()._learn(arms, outcomes, played)

    def _take_in_run(self, run: Sequence[tuple[Ints, Floats, int, int]]) -> None:
        if len(run) == 1:
            self._take_in(*run[0])
            return
        # One call for all of them: to call machine code takes longer than to learn a super arm.
        arms, outcomes = np.concatenate([part[0] for part in run]), np.concatenate([part[1] for part in run])
        first = np.cumsum([0, *(part[0].size for part in run)])
        played = np.array([part[2] for part in run], dtype=np.int64)
        pushes, done = self.problem.oracle.max_size, 0
        while done < len(run):
            self._make_room(pushes)
            done = take_run(self._engine, arms, outcomes, first, played, done, pushes)
        self._round += sum(part[3] for part in run)

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
        values = [self._checked_outcome(arm, outcome) for outcome in outcomes]
        self._pass_rounds(rounds)
        for value in values:
            self._make_room(1)
            update(self._rule, arm, value)


class SuperArmPolicy(RulePolicy):
    """Base of policies with an index per super arm. A subclass writes `make_rule`.

    All super arms are listed. Each gets two plays first. Then the super arm with the largest index is played, and ties
    are broken at random.
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
        rule = self.make_rule(len(sets), problem, horizon)
        packed = pack([problem.oracle.ordered(arms) for arms in sets])
        self._sets = sets
        self._number = {arms.tobytes(): place for place, arms in enumerate(sets)}
        return SuperArms(
            rule=rule,
            first=packed.first,
            members=packed.members,
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
        return self.problem.oracle.is_feasible(arms)

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
