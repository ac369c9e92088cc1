"""Policies that do not learn: the best constant super arm, a random super arm, and super arms in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits.errors import InfeasibleError, InputError, TooManySuperArmsError
from rising_bandits.oracles.answers import drawn, holding
from rising_bandits.oracles.explicit import packed
from rising_bandits.policies import saving
from rising_bandits.policies.engines.fixed import Constant, Turns, Uniform
from rising_bandits.policies.engines.python import Sampled
from rising_bandits.policies.policy import Policy
from rising_bandits.problems.base import Problem


@dataclass(kw_only=True, eq=False)
class Oracle(Policy):
    """Always the same super arm: the optimal constant one, which a simulation fills in.

    Parameters
    ----------
    super_arm
        The arm numbers of the super arm. None takes the optimal one from the simulation; outside a simulation it must
        be given.

    >>> import rising_bandits as rb
    >>> policy = Oracle(super_arm=[1, 2])
    >>> policy.start(rb.problems.Explicit([[0], [1, 2]]))
    >>> policy.select().tolist()
    [1, 2]
    """

    name = "oracle"
    title = "best constant"
    colour = "#000000"

    super_arm: Sequence[int] | None = None

    _revealed: Sequence[int] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.super_arm is not None:
            _check_row("super_arm", self.super_arm, "arm numbers, as in [0, 3]")

    def reveal(self, super_arm: Sequence[int] | Ints) -> None:
        """Set the super arm that a simulation found to be optimal. It is ignored if ``super_arm`` was given.

        Parameters
        ----------
        super_arm
            Its arm numbers.
        """
        self._revealed = [int(arm) for arm in super_arm]

    def _begin(self, problem: Problem, horizon: int | None) -> Constant:
        chosen = self._revealed if self.super_arm is None else self.super_arm
        if chosen is None:
            raise InputError(
                "super_arm must be given outside a simulation, and in one of a task whose best super arm cannot be "
                "computed, as in Oracle(super_arm=[0, 3])"
            )
        listed = packed(problem.oracle, [problem.oracle.check_super_arm(chosen)])
        return Constant(listed.first, listed.members)

    def parameters(self) -> dict[str, Any]:
        return {"super_arm": None if self.super_arm is None else [int(arm) for arm in self.super_arm]}

    def _dump(self) -> dict[str, Any]:
        return {"members": [int(arm) for arm in self._engine.members]}

    def _prepare_load(self, state: saving.Saved) -> None:
        members = state.get("members")
        _check_row("members of state", members, "arm numbers")
        self.reveal(members)

    def _choose(self, mask: Bools | None, underway: Sequence[Ints]) -> Ints:
        members: Ints = self._engine.members
        if mask is not None and mask[members].any():
            raise InfeasibleError(f"mask blocks the only super arm of this policy, {members.tolist()}")
        return super()._choose(mask, underway)

    def recommend(self) -> Ints:
        """Return the super arm that is always played."""
        self._check_started()
        return np.sort(self._engine.members)

    def rebase(self, problem: Problem, origin: Sequence[int] | Ints) -> Self:
        raise InputError("Oracle plays one fixed super arm and cannot change its problem; make a new policy instead")

    def indices(self) -> Floats:
        """Return 1 for the arms of the super arm and 0 for the others."""
        self._check_started()
        out = np.zeros(self.problem.n_arms)
        out[self._engine.members] = 1.0
        return out


@dataclass(kw_only=True, eq=False)
class Random(Policy):
    """A feasible super arm chosen uniformly at random in each round.

    >>> import rising_bandits as rb
    >>> policy = Random()
    >>> policy.start(rb.problems.TopK(5, k=2), rng=1)
    >>> len(policy.select())
    2
    """

    name = "random"
    title = "random"
    colour = "#999999"

    def _begin(self, problem: Problem, horizon: int | None) -> Uniform | Sampled:
        try:
            listed = packed(problem.oracle, problem.oracle.super_arms())
        except TooManySuperArmsError:
            # Too many to list. An oracle that cannot draw one raises here.
            drawn(problem.oracle, np.random.default_rng(0))
            return Sampled(problem.oracle)
        return Uniform(listed.first, listed.members)

    def _choose(self, mask: Bools | None, underway: Sequence[Ints]) -> Ints:
        return super()._choose(mask, underway) if mask is None else drawn(self.problem.oracle, self.rng, mask)

    def indices(self) -> Floats:
        """Return 0 for every arm."""
        self._check_started()
        return np.zeros(self.problem.n_arms)


@dataclass(kw_only=True, eq=False)
class Tour(Policy):
    """Super arms in turn, each equally often. It plays all arms evenly, to measure their curves.

    Parameters
    ----------
    super_arms
        The super arms, by arm numbers. None takes a few super arms that together contain every base arm that is in
        some super arm.

    >>> import rising_bandits as rb
    >>> policy = Tour()
    >>> policy.start(rb.problems.TopK(5, k=2))
    >>> for _ in range(4):
    ...     arms = policy.select()
    ...     print(arms.tolist())
    ...     policy.observe(arms, [0.5, 0.5])
    [0, 1]
    [2, 3]
    [0, 4]
    [0, 1]
    """

    name = "tour"
    title = "tour"
    colour = "#56B4E9"

    super_arms: Sequence[Sequence[int]] | None = None

    def __post_init__(self) -> None:
        if self.super_arms is not None:
            wanted = "super arms by arm numbers, as in [[0, 3], [1]]"
            _check_row("super_arms", self.super_arms, wanted)
            for arms in self.super_arms:
                _check_row("super_arms", arms, wanted)

    def _begin(self, problem: Problem, horizon: int | None) -> Turns:
        oracle = problem.oracle
        if self.super_arms is None:
            chosen = _cover(problem)
        else:
            chosen = [oracle.check_super_arm(arms) for arms in self.super_arms]
        listed = packed(oracle, chosen)
        return Turns(listed.first, listed.members)

    def parameters(self) -> dict[str, Any]:
        given = self.super_arms
        return {"super_arms": None if given is None else [[int(arm) for arm in arms] for arms in given]}

    def _choose(self, mask: Bools | None, underway: Sequence[Ints]) -> Ints:
        if mask is None:
            return super()._choose(mask, underway)
        first, members = self._engine
        count = first.size - 1
        for place in range(self._round - 1, self._round - 1 + count):
            arms: Ints = members[first[place % count] : first[place % count + 1]]
            if not mask[arms].any():
                return arms
        if self.super_arms is None:
            return self.problem.oracle.solve(np.ones(self.problem.n_arms), mask)
        raise InfeasibleError(f"mask blocks all {count} super arms of this policy")

    def rebase(self, problem: Problem, origin: Sequence[int] | Ints) -> Self:
        if self.super_arms is not None:
            raise InputError("Tour plays the given super_arms and cannot change its problem; make a new policy instead")
        return super().rebase(problem, origin)

    def indices(self) -> Floats:
        """Return 0 for every arm."""
        self._check_started()
        return np.zeros(self.problem.n_arms)


def _check_row(name: str, values: object, wanted: str) -> None:
    """Refuse what is not a list with at least one entry."""
    if not _checks.is_list(values) or not isinstance(values, Sequence | np.ndarray) or len(values) == 0:
        raise InputError(f"{name} must be a list of {wanted}, got {values!r}")


def _cover(problem: Problem) -> list[Ints]:
    """A few super arms that together contain every base arm that is in some super arm."""
    missing = np.ones(problem.n_arms, dtype=np.bool_)
    chosen = []
    for arm in range(problem.n_arms):
        if missing[arm] and (arms := holding(problem.oracle, arm, prefer=missing)) is not None:
            chosen.append(arms)
            missing[arms] = False
    return chosen
