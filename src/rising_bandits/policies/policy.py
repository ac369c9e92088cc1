"""A policy: parameters, checks and saving around an engine that decides and learns."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence, Set, Sized
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from rising_bandits import _checks
from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits.errors import InfeasibleError, InputError, NotStartedError
from rising_bandits.policies import saving
from rising_bandits.policies.engines.live import decide, take
from rising_bandits.problems.base import Problem

_RNG = "a numpy.random.Generator, or a seed of at least 0"
MOST_ROUNDS = 10**12
"""Horizons and numbers of rounds beyond this are refused."""


class Policy(ABC):
    """What all policies share: ``start``, then rounds of ``select`` and ``observe``; saving and loading.

    Round t is the number of rounds observed so far plus one. A policy never sees an environment, nor its regret. A
    policy of one's own derives from `IndexPolicy`, `BaseArmPolicy` or `SuperArmPolicy`, or is any object with
    ``start``, ``select`` and ``observe``.
    """

    name: ClassVar[str]
    """What the command line calls it."""
    title: ClassVar[str] = ""
    """What figures call it; by default its name."""
    colour: ClassVar[str] = ""
    """Its colour in figures, as ``#rrggbb``; by default the next free one."""

    problem: Problem
    horizon: int | None
    rng: np.random.Generator
    _round: int = 0
    _proposed: bytes | None = None
    _engine: Any
    """The engine: what decides and learns."""

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        """Parameters with which the conformance suite tries the policy."""
        return [{}]

    def start(self, problem: Problem, horizon: int | None = None, rng: np.random.Generator | int | None = None) -> None:
        """Forget everything and begin at round 1 on a problem.

        Parameters
        ----------
        problem
            What is decided about.
        horizon
            How many rounds there will be; None where nobody knows.
        rng
            A generator, or a seed for one; None for a random seed.
        """
        if not isinstance(cast(object, problem), Problem):
            raise InputError(f"problem must be a Problem such as ShortestPath(...), got {problem!r}")
        if horizon is not None:
            horizon = _checks.integer("horizon", horizon, low=1, limit=MOST_ROUNDS)
        if not isinstance(rng, np.random.Generator):
            rng = np.random.default_rng(rng if rng is None else _checks.integer("rng", rng, low=0, wanted=_RNG))
        self._engine = self._begin(problem, horizon)
        self._out = np.zeros(problem.oracle.max_size, dtype=np.int64)
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
    def _begin(self, problem: Problem, horizon: int | None) -> Any:
        """The engine for a problem before the first round; refuses before anything changes."""

    def select(self, mask: npt.ArrayLike | None = None, underway: Sequence[Ints] = ()) -> Ints:
        """The arms to play this round, ascending.

        Parameters
        ----------
        mask
            A boolean per base arm, True for arms that may not be used now.
        underway
            Super arms that were chosen and not observed yet. While arms still need their first plays, others than
            those are chosen; nothing else depends on it.

        Raises
        ------
        InfeasibleError
            The mask leaves no super arm. Nothing was changed.
        """
        self._check_started()
        blocked = _checks.mask(mask, self.problem.n_arms)
        before = None if blocked is None else self.rng.bit_generator.state
        try:
            arms = np.sort(self._choose(blocked, underway))
        except InfeasibleError as error:
            if before is None or blocked is None:
                raise
            self.rng.bit_generator.state = before
            names = ", ".join(repr(label) for label in self.problem.labels_of(np.flatnonzero(blocked)[:10]))
            raise InfeasibleError(f"{error} (blocked: {names})") from None
        self._proposed = arms.tobytes()
        return arms

    def _choose(self, mask: Bools | None, underway: Sequence[Ints]) -> Ints:
        """The arms to play this round, in any order."""
        self._prepare(mask, underway)
        size = decide(self._engine, self._round, self.rng, self._out)
        if size == 0:
            raise self.problem.oracle.nothing_left(mask)
        return self._out[:size]

    def _prepare(self, mask: Bools | None, underway: Sequence[Ints]) -> None:
        """Make the engine ready for one decision in which these arms are blocked and those decisions underway."""
        return

    def _advance_engine(self, rounds: int) -> Any:
        """The engine with memory, and a plan of up to ``rounds`` first plays, to go on without Python."""
        return self._engine

    def _learn(self, arms: Ints, outcomes: Floats, played: int) -> None:
        """Take in checked outcomes; only the first ``played`` arms were played."""
        take(self._engine, arms, outcomes, played)

    @abstractmethod
    def indices(self) -> Floats:
        """The current indices: one per base arm, or one per super arm for super-arm policies."""

    def observe(
        self,
        arms: Sequence[int] | Ints,
        outcomes: Sequence[float] | Floats,
        played: Sequence[bool] | Bools | None = None,
    ) -> None:
        """Take in what came back from any feasible super arm, proposed by `select` or not.

        Parameters
        ----------
        arms
            The arm numbers of the super arm, in any order.
        outcomes
            A number in [0, 1] for each, in the order of ``arms``.
        played
            Which arms were really played (cascading feedback, lost reports); the others are not counted and their
            outcomes are ignored. Policies on super arms see the reward with 0 for them, and learn nothing where no
            arm was played.

        Raises
        ------
        InputError
            Something is wrong with an argument. Nothing was changed.
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

    def absorb(self, arm: int, outcomes: Sequence[float] | Floats, *, rounds: int = 0) -> None:
        """Take in plays of one base arm that no round of this policy brought.

        Parameters
        ----------
        arm
            The number of the base arm.
        outcomes
            Its outcomes in [0, 1], oldest first.
        rounds
            How many rounds lie behind these plays; the policy's round goes on by so many.
        """
        raise InputError(f"{type(self).__name__} cannot take in plays of single base arms; use CRUCB or SWCUCB")

    def _take_in(self, arms: Ints, outcomes: Floats, played: int, rounds: int = 1) -> None:
        """`observe` for a study, which has checked: the arms need not be feasible any more.

        The first ``played`` arms were played, the rest were not.
        """
        self._learn(arms, outcomes, played)
        self._round += rounds

    def _pass_rounds(self, rounds: int) -> None:
        """Count rounds that were played before, as those behind plays that were absorbed."""
        self._check_started()
        self._round += _checks.integer("rounds", rounds, low=0, limit=MOST_ROUNDS)

    def _give_up(self, arms: Iterable[int]) -> None:
        """Never aim at these arms for first plays: no super arm holds them."""
        return

    def rebase(self, problem: Problem, origin: Sequence[int] | Ints) -> Self:
        """A policy on another problem that knows what this one knows; the round goes on.

        Parameters
        ----------
        problem
            The new problem.
        origin
            For every base arm of ``problem`` the arm of the present problem that it was, or -1 for one that begins
            anew.

        Returns
        -------
        Policy
            The new policy; this one is left as it is.

        >>> import rising_bandits as rb
        >>> old = rb.SWCUCB(window=10)
        >>> old.start(rb.problems.TopK(["x", "y"], k=1), rng=0)
        >>> old.observe([1], [0.5])
        >>> new = old.rebase(rb.problems.TopK(["y", "z"], k=1), [1, -1])
        >>> new.plays.tolist(), new.round
        ([1, 0], 2)
        """
        self._check_started()
        places = np.asarray(origin)
        known = places.dtype.kind in "iu" and places.shape == (problem.n_arms,)
        if not known or places.min(initial=0) < -1 or places.max(initial=-1) >= self.problem.n_arms:
            raise InputError(
                f"origin must hold one of the {self.problem.n_arms} present arms, or -1, for each of the "
                f"{problem.n_arms} new ones, got {origin!r}"
            )
        policy = type(self)(**self.parameters())
        policy.start(problem, self.horizon, copy.deepcopy(self.rng))
        policy._inherit(self, places.astype(np.int64))
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
            return float(outcome)
        label = self.problem.labels[int(arm)]
        raise InputError(f"outcomes must be numbers in [0, 1], got {outcome!r} for arm {label!r}; rescale them first")

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.parameters().items())
        return f"{type(self).__name__}({given})"

    def parameters(self) -> dict[str, Any]:
        """The arguments that make an equal policy."""
        return {name: _simple(getattr(self, name)) for name in getattr(self, "__dataclass_fields__", ())}

    def state(self) -> dict[str, Any]:
        """Everything as plain data that JSON can hold; `from_state` continues bit for bit."""
        self._check_started()
        return saving.save_policy(self)

    @classmethod
    def from_state(cls, state: Mapping[str, Any], problem: Problem | None = None) -> Self:
        """The policy as it was when ``state()`` was called.

        Parameters
        ----------
        state
            What ``state()`` returned, perhaps through JSON. It is checked as if a stranger had written it.
        problem
            Needed only where the problem holds code of the user's own.

        Raises
        ------
        InputError
            The state is damaged, of another class or version, or of another problem.
        """
        return saving.load_policy(cls, state, problem)

    def _prepare_load(self, state: saving.Saved) -> None:
        """Look at a state before `start`, for policies that cannot start without it."""
        return

    def _dump(self) -> dict[str, Any]:
        """What `state` holds beside parameters, problem, round and generator."""
        return {}

    def _load(self, state: saving.Saved) -> None:
        """Fill a freshly started policy with what `_dump` wrote."""
        return


def _is_row(values: object) -> bool:
    """Whether these are values one after another, in a list or an array of one axis."""
    return isinstance(values, Sized) and getattr(values, "ndim", 1) == 1


def _simple(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's, which JSON can hold."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value
