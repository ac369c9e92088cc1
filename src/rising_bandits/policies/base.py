"""What every policy does around its equation: start, cover all arms, check feedback, save and load."""

from __future__ import annotations

import copy
import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence, Set, Sized
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from rising_bandits import _checks
from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits.errors import InfeasibleError, InputError, NotStartedError
from rising_bandits.policies import state as plain
from rising_bandits.problems.base import Problem

_RNG = "a numpy.random.Generator, or a seed of at least 0"
PLAYS_FIRST = 2
"""Every unit is played this often before indices decide."""


class Policy(ABC):
    """The ritual of a policy; a policy of one's own may also be any object with these methods.

    ``start``, then rounds of ``select`` and ``observe``. Round t is the number of rounds observed so
    far plus one. A policy never sees an environment, nor its regret.
    """

    name: ClassVar[str]
    """How the command line calls it."""

    problem: Problem
    horizon: int | None
    rng: np.random.Generator
    _round: int = 0
    _proposed: bytes | None = None
    _underway: Sequence[Ints] = ()

    def start(self, problem: Problem, horizon: int | None = None, rng: np.random.Generator | int | None = None) -> None:
        """Forget everything and begin at round 1 on a problem."""
        if not isinstance(cast(object, problem), Problem):
            raise InputError(f"problem must be a Problem such as ShortestPath(...), got {problem!r}")
        if horizon is not None:
            horizon = _checks.integer("horizon", horizon, low=1)
        if not isinstance(rng, np.random.Generator):
            rng = np.random.default_rng(rng if rng is None else _checks.integer("rng", rng, low=0, wanted=_RNG))
        self._begin(problem, horizon)
        self.problem, self.horizon, self.rng, self._round, self._proposed = problem, horizon, rng, 1, None

    @property
    def round(self) -> int:
        """The round that is about to be played, from 1."""
        self._check_started()
        return self._round

    def _check_started(self) -> None:
        if self._round == 0:
            raise NotStartedError(
                f"{type(self).__name__} has no problem yet; call start(problem, horizon=..., rng=...)"
            )

    @abstractmethod
    def _begin(self, problem: Problem, horizon: int | None) -> None:
        """Build the state for a problem, or refuse before anything changes."""

    def select(self, mask: npt.ArrayLike | None = None, underway: Sequence[Ints] = ()) -> Ints:
        """The arms to play this round, ascending. ``mask`` is True for arms that may not be used now.

        ``underway`` are super arms that were chosen and not observed yet. A policy that still covers the arms
        turns to others than those; nothing else depends on it.
        """
        self._check_started()
        self._underway = underway
        try:
            arms = np.sort(self._choose(None) if mask is None else self._choose_masked(mask))
        finally:
            self._underway = ()
        self._proposed = arms.tobytes()
        return arms

    def _choose_masked(self, mask: npt.ArrayLike) -> Ints:
        """Choose under a mask; one that leaves nothing is refused, names the arms, and leaves no trace."""
        blocked = _checks.mask(mask, self.problem.n_arms)
        before = self.rng.bit_generator.state
        try:
            return self._choose(blocked)
        except InfeasibleError as error:
            self.rng.bit_generator.state = before
            arms = np.flatnonzero(np.asarray(mask))
            names = ", ".join(repr(label) for label in self.problem.labels_of(arms[:10]))
            raise InfeasibleError(f"{error} (blocked: {names})") from None

    @abstractmethod
    def _choose(self, mask: Bools | None) -> Ints:
        """The arms to play this round, in any order."""

    @abstractmethod
    def _learn(self, arms: Ints, outcomes: Floats, played: int) -> None:
        """Take in checked outcomes; only the first ``played`` arms were played."""

    @abstractmethod
    def indices(self) -> Floats:
        """The current indices: one per base arm, or one per super arm for super-arm policies."""

    def observe(
        self,
        arms: Sequence[int] | Ints,
        outcomes: Sequence[float] | Floats,
        played: Sequence[bool] | Bools | None = None,
    ) -> None:
        """Take in what came back, in the order of ``arms``: any feasible super arm, proposed or not.

        ``played`` says which arms were really played (cascading feedback, lost reports); the others
        are not counted and their outcomes are ignored. Policies on super arms see the reward with 0 for
        them, and learn nothing where no arm was played.
        """
        self._check_started()
        # What was proposed needs no second look: this is on the path of every round.
        row = isinstance(arms, np.ndarray) and arms.dtype == np.int64 and arms.ndim == 1
        if row and cast(Ints, arms).tobytes() == self._proposed:
            numbers = np.ascontiguousarray(arms)
        else:
            numbers = self._checked_arms(arms)
        if isinstance(outcomes, Mapping | Set | str) or not _is_row(outcomes):
            raise InputError(f"outcomes must be a list of numbers in the order of arms, got {outcomes!r}")
        if len(outcomes) != numbers.size:
            raise InputError(f"outcomes must hold one per arm, {numbers.size}, got {len(outcomes)}")
        values = np.zeros(numbers.size)
        count = numbers.size
        if played is None:
            for place, outcome in enumerate(outcomes):
                values[place] = self._checked_outcome(numbers[place], outcome)
        else:
            whole = _is_row(played) and len(played) == numbers.size
            if not whole or not all(was in (True, False) for was in played):
                raise InputError(f"played must hold one boolean per arm, {numbers.size} of them, got {played!r}")
            order = [place for place, was in enumerate(played) if was]
            count = len(order)
            for place, old in enumerate(order):
                values[place] = self._checked_outcome(numbers[old], outcomes[old])
            numbers = numbers[order + [place for place, was in enumerate(played) if not was]]
        self._learn(numbers, values, count)
        self._round += 1

    def take_in(self, arms: Ints, outcomes: Floats, played: int, rounds: int = 1) -> None:
        """`observe` for callers that have checked: the first ``played`` arms were played, the rest were not.

        The arms need not be feasible any more, as when a problem changed while a report was on its way.
        """
        self._learn(arms, outcomes, played)
        self._round += rounds

    def absorb(self, arm: int, outcomes: Floats) -> None:
        """Take in plays of one base arm that no round of this policy brought, oldest first, in [0, 1]."""
        raise InputError(f"{type(self).__name__} cannot take in plays of single base arms; use CRUCB or SWCUCB")

    def pass_rounds(self, rounds: int) -> None:
        """Count rounds that were played before, as those behind plays that were absorbed."""
        self._check_started()
        self._round += _checks.integer("rounds", rounds, low=0)

    def give_up(self, arms: Iterable[int]) -> None:
        """Never aim at these arms to cover them: no super arm holds them."""
        return

    def rebase(self, problem: Problem, origin: Sequence[int] | Ints) -> Self:
        """A policy on ``problem`` that knows what this one knows; the round goes on.

        ``origin`` says for every base arm of ``problem`` which arm of the present problem it was, or -1 for one
        that begins anew. The policy itself is left as it is.

        >>> import rising_bandits as rb
        >>> old = rb.SWCUCB(window=10)
        >>> old.start(rb.problems.TopK(["x", "y"], k=1), rng=0)
        >>> old.observe([1], [0.5])
        >>> new = old.rebase(rb.problems.TopK(["y", "z"], k=1), [1, -1])
        >>> new.plays.tolist(), new.round
        ([1, 0], 2)
        """
        self._check_started()
        places = np.asarray(origin, dtype=np.int64)
        if places.shape != (problem.n_arms,) or places.max(initial=-1) >= self.problem.n_arms:
            raise InputError(
                f"origin must hold one of the {self.problem.n_arms} present arms, or -1, for each of the "
                f"{problem.n_arms} new ones, got {origin!r}"
            )
        policy = type(self)(**self.parameters())
        policy.start(problem, self.horizon, copy.deepcopy(self.rng))
        policy._inherit(self, places)
        policy._round = self._round
        return policy

    def _inherit(self, old: Self, origin: Ints) -> None:
        """Take over from another policy what it knows of each arm; ``origin`` is -1 for arms that begin anew."""
        return

    def copy(self) -> Self:
        """An independent copy that goes on bit for bit; the problem is shared."""
        return copy.deepcopy(self, {id(problem := getattr(self, "problem", None)): problem})

    def _checked_arms(self, arms: Sequence[int] | Ints) -> Ints:
        numbers = _checks.arms(arms, self.problem.n_arms)
        if not self.problem.oracle.is_feasible(numbers):
            names = ", ".join(repr(label) for label in self.problem.labels_of(numbers))
            raise InputError(f"arms {numbers.tolist()} ({names}) are not a feasible super arm")
        return numbers

    def _checked_outcome(self, arm: int, outcome: float) -> float:
        try:
            # NaN is not between anything, so it is refused too.
            inside = bool(0.0 <= outcome <= 1.0)
        except (TypeError, ValueError):
            inside = False
        if inside:
            return outcome
        label = self.problem.labels[int(arm)]
        raise InputError(f"outcomes must be numbers in [0, 1], got {outcome!r} for arm {label!r}; rescale them first")

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.parameters().items())
        return f"{type(self).__name__}({given})"

    def parameters(self) -> dict[str, Any]:
        """The arguments that make an equal policy."""
        return {name: _simple(getattr(self, name)) for name in getattr(self, "__dataclass_fields__", ())}

    def state(self) -> dict[str, Any]:
        """Everything as plain data (JSON can hold it); `from_state` continues bit for bit."""
        self._check_started()
        known = set(getattr(self, "__dataclass_fields__", ()))
        unknown = set(inspect.signature(type(self)).parameters) - known
        if unknown:
            raise InputError(
                f"the parameters {', '.join(sorted(unknown))} of {type(self).__name__} would not be saved; make it a "
                "dataclass with these fields, as in @dataclass(kw_only=True, eq=False)"
            )
        return {
            "version": plain.VERSION,
            "policy": type(self).__name__,
            "parameters": self.parameters(),
            "problem": self.problem.spec(),
            "horizon": self.horizon,
            "round": self._round,
            "rng": plain.dump_rng(self.rng),
            **self._dump(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], problem: Problem | None = None) -> Self:
        """The policy as it was when ``state()`` was called.

        ``problem`` is needed only where the problem holds code of the user's own.
        """
        if state.get("version") != plain.VERSION:
            raise InputError(f"state must be of version {plain.VERSION}, got {state.get('version')!r}")
        if state.get("policy") != cls.__name__:
            raise InputError(f"state must be one of {cls.__name__}, got one of {state.get('policy')!r}")
        if problem is None:
            if state["problem"] is None:
                raise InputError("state holds no problem (its oracle or reward is the user's own code); pass problem=")
            problem = Problem.from_spec(state["problem"])
        elif state["problem"] is not None and problem.spec() not in (None, state["problem"]):
            raise InputError("problem must be the one that the state was saved with, got another one")
        policy = cls(**state["parameters"])
        policy.start(problem, state["horizon"], plain.load_rng(state["rng"]))
        policy._load(state)
        policy._round = int(state["round"])
        return policy

    def _dump(self) -> dict[str, Any]:
        return {}

    def _load(self, state: dict[str, Any]) -> None:
        """Fill a freshly started policy with what `_dump` wrote."""
        return

    def actor(self) -> Any:
        """The state that the compiled loop plays with, or None where only Python can decide now."""
        return None

    def take_back(self, t: int) -> None:
        """Go on from where the compiled loop left off, at round ``t``."""
        self._round = t


class Cover:
    """Which units still need their first plays, and which of them to aim at next.

    A unit is left alone once it has two plays, or when it was aimed at twice and not reached
    (with cascading feedback an earlier failure can keep it from being played).
    """

    def __init__(self, n_units: int) -> None:
        self.aims = np.zeros(n_units, dtype=np.int8)
        self._next = 0

    def waiting(self, plays: Ints) -> Bools:
        """Which units still need plays."""
        return (plays < PLAYS_FIRST) & (self.aims < PLAYS_FIRST)

    def target(self, plays: Ints) -> int | None:
        """The first unit that still needs plays, or None."""
        while self._next < plays.size:
            if plays[self._next] < PLAYS_FIRST and self.aims[self._next] < PLAYS_FIRST:
                return self._next
            self._next += 1
        return None

    def give_up(self, unit: int) -> None:
        """Stop aiming at a unit that no super arm holds."""
        self.aims[unit] = PLAYS_FIRST

    def copy(self) -> Cover:
        """An independent copy."""
        cover = Cover(self.aims.size)
        cover.aims[:], cover._next = self.aims, self._next
        return cover

    def reset(self) -> None:
        """Look from the first unit again (after the counts were replaced)."""
        self._next = 0


def _is_row(values: object) -> bool:
    """Whether these are values one after another, in a list or an array of one axis."""
    return isinstance(values, Sized) and getattr(values, "ndim", 1) == 1


def _simple(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's, which JSON can hold."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value
