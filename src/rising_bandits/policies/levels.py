"""The two levels that an index can live on: base arms (then the oracle) or listed super arms (then the largest)."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits._compile import direct
from rising_bandits.errors import InfeasibleError, InputError, TooManySuperArmsError
from rising_bandits.oracles.explicit import pack
from rising_bandits.policies import state as plain
from rising_bandits.policies.actors import BaseArms, SuperArms, largest
from rising_bandits.policies.base import PLAYS_FIRST, Cover, Policy
from rising_bandits.policies.operations import assume, indices, select, update, update_all
from rising_bandits.policies.rings import with_room
from rising_bandits.policies.terms import terms_of
from rising_bandits.problems.base import Problem


class Underway(Sequence[Ints]):
    """Super arms that were chosen and not observed yet; which units they hold is counted once, and then kept up.

    ``find`` lists those that are there. It is called only if a policy wants to know.
    """

    def __init__(self, find: Callable[[], Iterable[Ints]]) -> None:
        self._find = find
        self._added: list[Ints] = []
        self._units: Callable[[Ints], Any] | None = None

    @cached_property
    def _all(self) -> list[Ints]:
        return [*self._find(), *self._added]

    def add(self, arms: Ints) -> None:
        """One more."""
        if "_all" in self.__dict__:
            self._all.append(arms)
        else:
            self._added.append(arms)
        if self._units is not None:
            self._counts[self._units(arms)] += 1

    def counts(self, n_units: int, units: Callable[[Ints], Any]) -> Ints:
        """How many hold each unit; ``units`` are those of a super arm, for one policy always the same."""
        if self._units is None:
            self._units = units
            self._counts = np.zeros(n_units, dtype=np.int64)
            for arms in self._all:
                self._counts[units(arms)] += 1
        return self._counts

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, place: Any) -> Any:
        return self._all[place]


class RulePolicy(Policy):
    """A policy made of an index rule: the subclass writes `make_rule`, and that is all.

    The rule is a NamedTuple with compiled ``indices`` and ``update`` (see `rising_bandits.policies.operations`),
    or any Python object with methods of those names.
    """

    _rule: Any
    _cover: Cover

    @abstractmethod
    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> Any:
        """The state of the index rule before the first play of any of ``n_units`` units."""

    @property
    def plays(self) -> Ints:
        """Plays of every unit so far."""
        self._check_started()
        return self._rule.plays.copy()  # type: ignore[no-any-return]

    def _units(self, arms: Ints) -> Any:
        """The unit or units that are played with a super arm."""
        return arms

    def _expected(self) -> Ints:
        """Plays of every unit once everything that is underway was observed."""
        underway = self._underway
        if not isinstance(underway, Underway):
            underway = Underway(lambda: self._underway)
        plays: Ints = self._rule.plays
        return plays + underway.counts(plays.size, self._units)

    def _make_room(self, pushes: int) -> None:
        """Add memory to compiled rules before they need it."""
        old = getattr(self._rule, "rings", None)
        if old is not None and (new := with_room(old, pushes)) is not old:
            self._rule = self._rule._replace(rings=new)

    def terms(self) -> dict[str, Floats] | None:
        """What the indices are made of, by name and per unit, or None where the rule does not say.

        >>> import rising_bandits as rb
        >>> policy = rb.CRUCB(sigma=0.0)
        >>> policy.start(rb.problems.TopK(["x"], k=1))
        >>> for outcome in (0.25, 0.5):
        ...     policy.observe([0], [outcome])
        >>> {name: part.tolist() for name, part in policy.terms().items()}
        {'recent average': [0.5], 'predicted improvement': [0.25], 'bonus': [0.0]}
        """
        self._check_started()
        return terms_of(self._rule, self._round)

    def copy(self) -> Self:
        if not isinstance(self._rule, tuple):
            return super().copy()
        policy = copy.copy(self)
        policy._rule = plain.copy_rule(self._rule)
        policy._cover = self._cover.copy()
        # Other policies, and copies of policies, must not be moved by what this one draws.
        policy.rng = copy.deepcopy(self.rng)
        return policy

    def _inherit(self, old: Self, origin: Ints) -> None:
        units = self._units_from(old, origin)
        if not isinstance(self._rule, tuple):
            self._rule.inherit(old._rule, units)
            return
        again = (old._rule.plays < PLAYS_FIRST) & (old._cover.aims >= PLAYS_FIRST)
        if old.problem is self.problem:
            again[:] = False
            self._cover.aims[units >= 0] = old._cover.aims[units[units >= 0]]
        # On a new problem a unit that was given up may be within reach: it is looked at as if for the first time.
        self._rule = plain.rearrange_rule(self._rule, old._rule, units, again)

    def _units_from(self, old: Self, origin: Ints) -> Ints:
        """For every unit of this policy the unit of the old one that it was, or -1."""
        return origin

    def _dump(self) -> dict[str, Any]:
        return {"rule": plain.dump_rule(self._rule), "aims": plain.encode_array(self._cover.aims)}

    def _load(self, state: dict[str, Any]) -> None:
        self._rule = plain.load_rule(self._rule, state["rule"])
        self._cover.aims[:] = plain.decode_array(state["aims"])
        self._cover.reset()


class BaseArmPolicy(RulePolicy):
    """Indices of base arms, and the oracle picks the super arm."""

    _weights: Floats
    _arms: Ints
    _kernel: Any
    _fast: Callable[..., int] | None
    _fast_update: Callable[..., None] | None

    def _begin(self, problem: Problem, horizon: int | None) -> None:
        oracle = problem.oracle
        if horizon is not None and horizon < PLAYS_FIRST * oracle.n_arms:
            needed = oracle.cover_rounds(PLAYS_FIRST) or cover_rounds(problem)
            if horizon < needed:
                raise InputError(
                    f"horizon must be at least {needed}: so many rounds give each of the {oracle.n_arms} base arms "
                    f"its first {PLAYS_FIRST} plays; got {horizon}"
                )
        self._rule = self.make_rule(oracle.n_arms, problem, horizon)
        self._cover = Cover(oracle.n_arms)
        self._weights = np.zeros(oracle.n_arms)
        self._arms = np.zeros(oracle.max_size, dtype=np.int64)
        self._kernel = oracle.kernel() if isinstance(self._rule, tuple) else None
        self._fast = self._fast_update = None

    def _aim(self, mask: Bools | None) -> Ints | None:
        """A super arm that holds an arm which still needs plays, and many like it."""
        while (target := self._cover.target(self._rule.plays)) is not None:
            if mask is not None or self._underway:
                return self._aim_beyond(mask)
            waiting = self._cover.waiting(self._rule.plays)
            arms = self.problem.oracle.containing(target, prefer=waiting)
            if arms is not None:
                return arms
            self._give_up(target)
        return None

    def _aim_beyond(self, mask: Bools | None) -> Ints | None:
        """The same, past arms that are blocked now (not for ever) and past those that get their plays already."""
        waiting = self._cover.waiting(self._expected())
        free = waiting if mask is None else waiting & ~mask
        for target in np.flatnonzero(free)[:8]:
            found = self.problem.oracle.containing(int(target), mask=mask, prefer=waiting)
            if found is not None:
                return found
        return None

    def _choose(self, mask: Bools | None) -> Ints:
        arms = self._aim(mask)
        if arms is not None:
            return arms
        if mask is None and (actor := self.actor()) is not None:
            if self._fast is None:
                self._fast = direct(select, actor, self._round, self.rng, self._arms)
            return self._arms[: self._fast(actor, self._round, self.rng, self._arms)]
        indices(self._rule, self._round, self.rng, self._weights)
        return self.problem.oracle.search(self._weights, mask)

    def _learn(self, arms: Ints, outcomes: Floats, played: int) -> None:
        target = self._cover.target(self._rule.plays)
        self._make_room(self.problem.oracle.max_size)
        if isinstance(self._rule, tuple):
            if self._fast_update is None:
                self._fast_update = direct(update_all, self._rule, arms, outcomes, played)
            self._fast_update(self._rule, arms, outcomes, played)
        else:
            for place in range(played):
                self._rule.update(int(arms[place]), float(outcomes[place]))
        if target is not None and target in arms[played:]:
            self._cover.aims[target] += 1
            if self._cover.aims[target] >= PLAYS_FIRST:
                self._give_up(target)

    def give_up(self, arms: Iterable[int]) -> None:
        for arm in arms:
            self._give_up(arm)

    def absorb(self, arm: int, outcomes: Floats) -> None:
        self._check_started()
        arm = _checks.integer("arm", arm, low=0, high=self.problem.n_arms - 1)
        values = [float(self._checked_outcome(arm, outcome)) for outcome in outcomes]
        for value in values:
            self._make_room(1)
            update(self._rule, arm, value)

    def _give_up(self, arm: int) -> None:
        """Stop aiming at an arm; from here on it counts as a perfect one, not as an infinitely good one."""
        self._cover.give_up(arm)
        if assume.handles(self._rule):
            assume(self._rule, arm, 1.0)

    def indices(self) -> Floats:
        self._check_started()
        out = np.empty(self.problem.n_arms)
        indices(self._rule, self._round, copy.deepcopy(self.rng), out)
        return out

    def __getstate__(self) -> dict[str, Any]:
        # Machine code cannot be pickled, and is found again when it is needed.
        return {**self.__dict__, "_fast": None, "_fast_update": None}

    def actor(self) -> BaseArms | None:
        if self._kernel is None or self._cover.target(self._rule.plays) is not None:
            return None
        self._make_room(self.problem.oracle.max_size)
        return BaseArms(self._rule, self._kernel, self._weights)


class SuperArmPolicy(RulePolicy):
    """Indices of listed super arms; the largest is played, ties broken at random."""

    _actor: SuperArms
    _native: bool
    _number: dict[bytes, int]
    _sets: list[Ints]

    def _begin(self, problem: Problem, horizon: int | None) -> None:
        try:
            sets = problem.oracle.super_arms()
        except TooManySuperArmsError as error:
            raise TooManySuperArmsError(
                f"{type(self).__name__} keeps an index for every super arm, but {error}; "
                "use a policy that acts on base arms, such as CRUCB or SWCUCB"
            ) from None
        needed = PLAYS_FIRST * len(sets)
        if horizon is not None and horizon < needed:
            raise InputError(
                f"horizon must be at least {needed}: so many rounds give each of the {len(sets)} super arms "
                f"its first {PLAYS_FIRST} plays; got {horizon}"
            )
        self._rule = self.make_rule(len(sets), problem, horizon)
        self._native = isinstance(self._rule, tuple)
        self._cover = Cover(len(sets))
        self._sets = sets
        self._number = {arms.tobytes(): place for place, arms in enumerate(sets)}
        packed = pack([problem.oracle.ordered(arms) for arms in sets])
        self._reward = problem.reward
        self._scale = problem.scale
        self._actor = SuperArms(
            rule=self._rule,
            first=packed.first,
            members=packed.members,
            weights=np.zeros(len(sets)),
            chosen=np.zeros(1, dtype=np.int64),
            reward=problem.reward.kernel,
            scale=problem.scale,
        )

    def _choose(self, mask: Bools | None) -> Ints:
        target = self._cover.target(self._rule.plays)
        if mask is not None or (target is not None and self._underway):
            return self._choose_among(mask)
        if target is not None:
            return self._sets[target]
        actor = self.actor()
        if actor is None:
            return self._choose_among(None)
        out = np.empty(self.problem.oracle.max_size, dtype=np.int64)
        return out[: select(actor, self._round, self.rng, out)]

    def _units(self, arms: Ints) -> Any:
        return self._number[arms.tobytes()]

    def _choose_among(self, mask: Bools | None) -> Ints:
        free = np.arange(len(self._sets))
        if mask is not None:
            free = np.flatnonzero([not mask[arms].any() for arms in self._sets])
            if free.size == 0:
                raise InfeasibleError(
                    f"mask leaves no feasible super arm: it blocks {int(mask.sum())} arms; unblock some"
                )
        if self._cover.target(self._rule.plays) is not None:
            waiting = free[self._cover.waiting(self._expected())[free]]
            if waiting.size:
                return self._sets[int(waiting[0])]
        weights = np.empty(len(self._sets))
        indices(self._rule, self._round, self.rng, weights)
        return self._sets[int(free[largest(weights[free], self.rng)])]

    def _learn(self, arms: Ints, outcomes: Floats, played: int) -> None:
        unit = self._number.get(np.sort(arms).tobytes())
        # Only `take_in` brings a super arm that is not listed: one that the problem no longer has.
        if played == 0 or unit is None:
            return
        self._make_room(1)
        update(self._rule, unit, self._reward.combine(outcomes) / self._scale)

    def _units_from(self, old: Self, origin: Ints) -> Ints:
        was = [origin[arms] for arms in self._sets]
        return np.array([-1 if (arms < 0).any() else old._number.get(np.sort(arms).tobytes(), -1) for arms in was])

    def indices(self) -> Floats:
        self._check_started()
        out = np.empty(len(self._sets))
        indices(self._rule, self._round, copy.deepcopy(self.rng), out)
        return out

    def actor(self) -> SuperArms | None:
        if self._actor.reward is None or not self._native:
            return None
        if self._cover.target(self._rule.plays) is not None:
            return None
        self._make_room(1)
        return self._actor._replace(rule=self._rule)


def cover_rounds(problem: Problem) -> int:
    """How many rounds the first two plays of every base arm take, when everything that is chosen is played.

    >>> from rising_bandits.problems import TopK
    >>> cover_rounds(TopK(5, k=2))
    6
    """
    plays = np.zeros(problem.n_arms, dtype=np.int64)
    cover = Cover(problem.n_arms)
    rounds = 0
    while (target := cover.target(plays)) is not None:
        arms = problem.oracle.containing(target, prefer=cover.waiting(plays))
        if arms is None:
            cover.give_up(target)
            continue
        plays[arms] += 1
        rounds += 1
    return rounds
