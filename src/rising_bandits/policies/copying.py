"""What every policy is between two rounds, and how that is copied, carried to another problem, and saved."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, cast

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Ints
from rising_bandits.errors import InputError, NotStartedError
from rising_bandits.policies import saving
from rising_bandits.policies.luck import luck_of
from rising_bandits.problems.base import Problem, check_problem


class Copyable(ABC):
    """The problem, the round and the random generator of a policy, with copies and saved states of the whole policy."""

    problem: Problem
    """The problem to decide about."""
    horizon: int | None
    """How many rounds there will be; None if nobody knows."""
    _rng: Any = None
    """The random generator, or a function that makes it: most decisions draw nothing."""
    _luck: int = 0
    """A number from the seed of the generator, for random choices between equally good super arms."""
    _round: int = 0

    @property
    def rng(self) -> np.random.Generator:
        """The random generator."""
        if not isinstance(self._rng, np.random.Generator):
            if self._rng is None:
                raise AttributeError("rng")
            self._rng = self._rng()
        return cast(np.random.Generator, self._rng)

    @rng.setter
    def rng(self, rng: np.random.Generator | Callable[[], np.random.Generator]) -> None:
        self._rng, self._luck = rng, luck_of(rng)

    @property
    def round(self) -> int:
        """The round that is about to be played, from 1."""
        self._check_started()
        return self._round

    def _check_started(self) -> None:
        """Refuse to go on before `start`."""
        if self._round == 0:
            raise NotStartedError(
                f"{type(self).__name__} has no problem yet; call start(problem, horizon=..., rng=...)"
            )

    @abstractmethod
    def start(self, problem: Problem, horizon: int | None = None, rng: np.random.Generator | int | None = None) -> None:
        """Forget everything and begin with round 1 of a problem."""

    def rebase(self, problem: Problem, origin: Sequence[int] | Ints) -> Self:
        """Make a policy for another problem that keeps what this policy knows, and its round.

        Parameters
        ----------
        problem
            The new problem.
        origin
            For each base arm of ``problem``, the same arm of the present problem, or -1 if it starts without plays.

        Returns
        -------
        Policy
            The new policy. This one is not changed.

        >>> import rising_bandits as rb
        >>> old = rb.SWCUCB(window=10)
        >>> old.start(rb.problems.TopK(["x", "y"], k=1), rng=0)
        >>> old.observe([1], [0.5])
        >>> new = old.rebase(rb.problems.TopK(["y", "z"], k=1), [1, -1])
        >>> new.plays.tolist(), new.round
        ([1, 0], 2)
        """
        self._check_started()
        check_problem(problem)
        places = _checks.array(origin)
        known = places.dtype.kind in "iu" and places.shape == (problem.n_arms,)
        # Numbers that are too large for 64 bits become negative.
        places = places.astype(np.int64) if known else np.array([self.problem.n_arms])
        if (places < -1).any() or (places >= self.problem.n_arms).any():
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
        """Copy what another policy knows about each arm; ``origin`` is -1 for arms that start without plays."""
        return

    def among(self, choice: str | tuple[Any, Any]) -> Self:
        """Make a copy that decides among one family of super arms only, with all that this policy knows.

        Parameters
        ----------
        choice
            One of ``problem.choices``, such as ``"a->d"``, or the pair ``("a", "d")``.

        Returns
        -------
        Policy
            The copy. Tell outcomes to this policy, not to the copy.

        >>> import rising_bandits as rb
        >>> links = [("a", "b"), ("b", "c"), ("a", "c")]
        >>> policy = rb.SWCUCB(window=10)
        >>> policy.start(rb.problems.Routes(links, [("a", "c"), ("a", "b")]), rng=0)
        >>> arms = policy.among(("a", "b")).select()
        >>> policy.problem.labels_of(arms)
        ['a->b']
        >>> policy.observe(arms, [0.5])
        """
        self._check_started()
        return self.rebase(self.problem.among(choice), np.arange(self.problem.n_arms))

    def copy(self) -> Self:
        """Make an independent copy, which continues bit for bit. Both share the problem."""
        return copy.deepcopy(self, {id(problem := getattr(self, "problem", None)): problem})

    def _copy_over(self, spare: Self, arms: Ints) -> Self:
        """Like `copy`, but may reuse ``spare``, an earlier copy that differs only in what it knows about these arms.

        ``spare`` must not be used afterwards.
        """
        return self.copy()

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.parameters().items())
        return f"{type(self).__name__}({given})"

    def parameters(self) -> dict[str, Any]:
        """Return the arguments that make an equal policy."""
        return {name: _simple(getattr(self, name)) for name in getattr(self, "__dataclass_fields__", ())}

    def state(self) -> dict[str, Any]:
        """Return the complete state as plain data that JSON can hold. `from_state` continues bit for bit."""
        self._check_started()
        return saving.save_policy(self)

    @classmethod
    def from_state(cls, state: Mapping[str, Any], problem: Problem | None = None) -> Self:
        """Make a policy from a saved state.

        Parameters
        ----------
        state
            What ``state()`` returned, perhaps through JSON. It is checked completely.
        problem
            The problem. Needed only if it contains the user's own code.

        Returns
        -------
        Policy
            The policy as it was when ``state()`` was called.

        Raises
        ------
        InputError
            The state is damaged, of another class or version, or of another problem.
        """
        return saving.load_policy(cls, state, problem)

    def _prepare_load(self, state: saving.Saved) -> None:
        """Read from a state what `start` needs."""
        return

    def _dump(self) -> dict[str, Any]:
        """The part of `state` beside parameters, problem, round and generator."""
        return {}

    def _load(self, state: saving.Saved) -> None:
        """The inverse of `_dump`, on a policy that was just started."""
        return


def _simple(value: Any) -> Any:
    """NumPy numbers and arrays as Python numbers and lists, which JSON can hold."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value
