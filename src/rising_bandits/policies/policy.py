"""The base class of policies: how a round is checked, decided and learnt. An engine decides and learns."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from rising_bandits import _checks
from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits.errors import InfeasibleError, InputError, SigmaWarning
from rising_bandits.oracles.answers import accepts
from rising_bandits.policies.copying import Copyable
from rising_bandits.policies.doubt import Doubt
from rising_bandits.policies.engines.live import Met, decide, take
from rising_bandits.policies.observed import checked_observed
from rising_bandits.policies.underway import Underway
from rising_bandits.problems.base import Problem, check_problem
from rising_bandits.theory.noise import told_sigma

_RNG = "a numpy.random.Generator, or a seed of at least 0"
MOST_ROUNDS = 10**12
"""The largest horizon and the largest number of rounds."""


class Policy(Copyable):
    """Base class of policies. Call `start`, then `select` and `observe` in every round.

    Round t is the number of rounds observed so far plus one. A policy never sees an environment or its regret. A policy
    of your own derives from `IndexPolicy`, `BaseArmPolicy` or `SuperArmPolicy`. For a simulation, any object with
    ``start``, ``select`` and ``observe`` will do.
    """

    name: ClassVar[str]
    """The name on the command line."""
    title: ClassVar[str] = ""
    """The name in figures; by default ``name``."""
    colour: ClassVar[str] = ""
    """The colour in figures, as ``#rrggbb``; by default the next free colour."""

    _proposed: bytes | None = None
    _engine: Any
    """The part of the policy that decides and learns."""
    _doubt: Doubt | None = None
    """Compares outcomes with sigma; None if the policy was told none, or has warned."""

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        """List the parameters with which the conformance suite tests the policy."""
        return [{}]

    def start(self, problem: Problem, horizon: int | None = None, rng: np.random.Generator | int | None = None) -> None:
        """Forget everything and begin with round 1 of a problem.

        Parameters
        ----------
        problem
            The problem to decide about.
        horizon
            How many rounds there will be; None if nobody knows.
        rng
            A generator, or a seed for one; None for a random seed.
        """
        check_problem(problem)
        if horizon is not None:
            horizon = _checks.integer("horizon", horizon, low=1, limit=MOST_ROUNDS)
        if not isinstance(rng, np.random.Generator):
            rng = np.random.default_rng(rng if rng is None else _checks.integer("rng", rng, low=0, wanted=_RNG))
        self._engine = self._begin(problem, horizon)
        self._out, self._met = np.zeros(problem.oracle.max_size, dtype=np.int64), Met()
        self.problem, self.horizon, self.rng, self._round, self._proposed = problem, horizon, rng, 1, None
        sigma = self._told_sigma()
        self._doubt = None if sigma is None else Doubt(sigma, problem.n_arms)

    @abstractmethod
    def _begin(self, problem: Problem, horizon: int | None) -> Any:
        """Make the engine for a problem. Errors are raised before anything is changed."""

    def select(self, mask: npt.ArrayLike | None = None, underway: Sequence[Ints] = ()) -> Ints:
        """Choose the super arm to play in this round. What the policy knows does not change.

        Parameters
        ----------
        mask
            A boolean per base arm, True for arms that may not be used now.
        underway
            Super arms that were chosen and not observed yet. They matter only while arms need first plays: arms that
            are underway are then not tried again.

        Returns
        -------
        numpy.ndarray
            The arm numbers, ascending.

        Raises
        ------
        InfeasibleError
            The mask leaves no super arm. Nothing was changed.
        """
        self._check_started()
        blocked = _checks.mask(mask, self.problem.n_arms)
        if type(underway) is not Underway:
            if not _checks.is_list(underway):
                raise InputError(f"underway must be a list of super arms by arm numbers, got {underway!r}")
            underway = [np.sort(self._checked_arms(arms)) for arms in underway]
        before = None if blocked is None or callable(self._rng) else self.rng.bit_generator.state
        try:
            arms = np.sort(self._choose(blocked, underway))
        except InfeasibleError as error:
            if blocked is None:
                raise
            if before is not None:
                self.rng.bit_generator.state = before
            names = ", ".join(repr(label) for label in self.problem.labels_of(np.flatnonzero(blocked)[:10]))
            raise InfeasibleError(f"{error} (blocked: {names})") from None
        self._proposed = arms.tobytes()
        return arms

    def _choose(self, mask: Bools | None, underway: Sequence[Ints]) -> Ints:
        """The arms to play this round, in any order."""
        self._prepare(mask, underway)
        size = decide(self._engine, self._round, self._generator, self._out, self._met)
        if size == 0:
            raise self.problem.oracle.nothing_left(mask)
        return self._out[:size]

    def _generator(self) -> np.random.Generator:
        """The random generator. It is made only if something is drawn."""
        return self.rng

    def _prepare(self, mask: Bools | None, underway: Sequence[Ints]) -> None:
        """Prepare the engine for one decision with this mask and these decisions underway."""
        return

    def _advance_engine(self, rounds: int) -> Any:
        """The engine, with free memory and a plan for up to ``rounds`` first plays, for the compiled loop."""
        return self._engine

    def _learn(self, arms: Ints, outcomes: Floats, played: int) -> None:
        """Learn from checked outcomes. Only the first ``played`` arms were played."""
        take(self._engine, arms, outcomes, played, self._met)

    @abstractmethod
    def indices(self) -> Floats:
        """Compute the current indices.

        Returns
        -------
        numpy.ndarray
            One index per base arm, or one per super arm for policies that act on super arms.
        """

    def recommend(self) -> Ints:
        """Name the super arm to use from now on, if nothing more is to be learnt.

        `select` may explore; this does not. What the policy knows does not change.

        Returns
        -------
        numpy.ndarray
            The arm numbers, ascending.

        Raises
        ------
        InputError
            The policy does not estimate what super arms are worth.
        """
        raise InputError(f"{type(self).__name__} does not recommend: it does not estimate what super arms are worth")

    def observe(
        self,
        arms: Sequence[int] | Ints,
        outcomes: Sequence[float] | Floats,
        played: Sequence[bool] | Bools | None = None,
    ) -> None:
        """Learn the outcomes of a feasible super arm. It need not be the one that `select` proposed.

        Parameters
        ----------
        arms
            The arm numbers of the super arm, in any order.
        outcomes
            A number in [0, 1] for each, in the order of ``arms``.
        played
            Which arms were played; None for all. An arm may not be played because a cascade stopped, or its report
            was lost. It does not count as played, and its outcome is ignored. In the reward that policies on super arms
            learn from, its outcome is 0. They learn nothing if no arm was played.

        Raises
        ------
        InputError
            An argument is wrong. Nothing was changed.
        """
        self._check_started()
        # A super arm that `select` proposed is not checked again, to save time.
        row = isinstance(arms, np.ndarray) and arms.dtype == np.int64 and arms.ndim == 1
        if row and cast(Ints, arms).tobytes() == self._proposed:
            numbers = np.ascontiguousarray(arms)
        else:
            numbers = self._checked_arms(arms)
        seen = checked_observed(self.problem, numbers, outcomes, played)
        self._learn(*seen)
        self._round += 1
        if self._doubt is not None:
            found = self._doubt.add(seen.arms[: seen.played].tolist(), seen.outcomes[: seen.played].tolist())
            if found is not None:
                # The policy warns only once.
                self._doubt = None
                said = replace(found, arm=self.problem.labels[cast(int, found.arm)])
                warnings.warn(
                    f"{said}. {type(self).__name__} may stop playing good arms for ever. Give it a larger sigma (0.5 "
                    "holds for every outcome in [0, 1]), or use rising_bandits.policies.recommended: it measures the "
                    "noise",
                    SigmaWarning,
                    stacklevel=2,
                )

    def _told_sigma(self) -> float | None:
        """The subgaussian constant that this policy was told; None if it was told none."""
        return told_sigma(getattr(self, "sigma", None))

    def absorb(self, arm: int, outcomes: Sequence[float] | Floats, *, rounds: int = 0) -> None:
        """Learn plays of one base arm that were made elsewhere.

        Parameters
        ----------
        arm
            The number of the base arm.
        outcomes
            Its outcomes in [0, 1], oldest first.
        rounds
            How many rounds these plays took. They are added to the policy's round.
        """
        raise InputError(f"{type(self).__name__} cannot learn plays of single base arms; use CRUCB or SWCUCB")

    def _take_in(self, arms: Ints, outcomes: Floats, played: int, rounds: int = 1) -> None:
        """`observe` without checks, for a study. The arms need not be feasible any more.

        The first ``played`` arms were played, the others were not.
        """
        self._learn(arms, outcomes, played)
        self._round += rounds

    def _take_in_run(self, run: Sequence[tuple[Ints, Floats, int, int]]) -> None:
        """`_take_in` for a run of super arms, oldest first: for each the arguments of `_take_in`."""
        for arms, outcomes, played, rounds in run:
            self._take_in(arms, outcomes, played, rounds)

    def _pass_rounds(self, rounds: int) -> None:
        """Add rounds without learning, for example those of absorbed plays."""
        self._check_started()
        self._round += _checks.integer("rounds", rounds, low=0, limit=MOST_ROUNDS)

    def _give_up(self, arms: Iterable[int]) -> None:
        """Do not try first plays of these arms, because they are in no super arm."""
        return

    def _checked_arms(self, arms: Sequence[int] | Ints) -> Ints:
        """The arm numbers of a feasible super arm; refuses others."""
        numbers = _checks.arms(arms, self.problem.n_arms)
        if not self._accepts(numbers):
            names = ", ".join(repr(label) for label in self.problem.labels_of(numbers))
            raise InputError(f"arms {numbers.tolist()} ({names}) are not a feasible super arm")
        return numbers

    def _accepts(self, arms: Ints) -> bool:
        """Whether arms are a super arm, or would be one if a mask blocked all others."""
        return accepts(self.problem.oracle, arms)
