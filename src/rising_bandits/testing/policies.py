"""Checks that every policy must pass. They play a policy on small problems."""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from rising_bandits._checks import Ints
from rising_bandits.curves import Flat, Gaussian, Linear
from rising_bandits.errors import InfeasibleError, InputError, SigmaWarning
from rising_bandits.policies.escb import ESCB
from rising_bandits.policies.levels import SuperArmPolicy
from rising_bandits.policies.reference import Oracle
from rising_bandits.problems import Explicit, KMax, Matching, Problem, ShortestPath, SpanningTree, Task, TopK
from rising_bandits.problems.tasks import grid_edges
from rising_bandits.simulation import simulate

Factory = Callable[[], Any]


def _problems() -> list[Problem]:
    """Small problems of several kinds."""
    return [
        ShortestPath(grid_edges(3), "0,0", "2,2"),
        Matching(["ann", "bob"], ["cats", "cars", "maps"]),
        SpanningTree([(0, 1), (1, 2), (2, 0), (2, 3), (3, 0)]),
        TopK(5, k=2),
        KMax(4, k=2),
        Explicit([["walk"], ["bus", "tram"], ["bus", "train"]]),
    ]


def _task(problem: Problem, horizon: int = 400) -> Task:
    """A task with flat and rising arms."""
    curves = [Linear(duration=50 + 10 * arm, end=0.8) if arm % 2 else Flat(0.5) for arm in range(problem.n_arms)]
    return Task("conformance", problem, tuple(curves), horizon, Gaussian(0.05))


def _started(factory: Factory, problem: Problem, seed: int = 0, horizon: int | None = 400) -> Any:
    """A new policy that is started on the problem."""
    policy = factory()
    if isinstance(policy, Oracle) and policy.super_arm is None:
        policy.reveal(problem.oracle.super_arms()[0])
    policy.start(problem, horizon=horizon, rng=np.random.default_rng(seed))
    return policy


def _outcomes(arms: Ints, t: int) -> list[float]:
    """Outcomes that are a fixed function of the arm and the round."""
    return [((37 * int(arm) + 11 * t) % 101) / 101.0 for arm in arms]


def _play(policy: Any, rounds: int, first: int = 0) -> list[list[int]]:
    """Play some rounds and return the super arms that the policy chose."""
    chosen = []
    for t in range(first, first + rounds):
        arms = policy.select()
        chosen.append([int(arm) for arm in arms])
        policy.observe(arms, _outcomes(arms, t))
    return chosen


def check_feasible(factory: Factory) -> None:
    """Every decision is a feasible super arm in ascending order, on every kind of problem."""
    for problem in _problems():
        policy = _started(factory, problem)
        for arms in _play(policy, 60):
            assert arms == sorted(arms), f"select must return ascending arm numbers, got {arms}"
            assert problem.oracle.is_feasible(arms), f"select returned {arms}, which is infeasible for {problem!r}"


def check_repeatable(factory: Factory) -> None:
    """The same seed gives the same decisions, and ``start`` resets the policy."""
    for problem in _problems():
        policy = _started(factory, problem)
        first = _play(policy, 50)
        policy.start(problem, horizon=400, rng=np.random.default_rng(0))
        assert _play(policy, 50) == first, f"decisions changed after start with the same seed on {problem!r}"


def check_any_super_arm(factory: Factory) -> None:
    """``observe`` accepts super arms that the policy did not choose, with their arms in any order."""
    for problem in _problems():
        policy = _started(factory, problem)
        rng = np.random.default_rng(3)
        family = problem.oracle.super_arms()
        for t in range(40):
            arms = rng.permutation(family[int(rng.integers(len(family)))])
            policy.observe(arms.tolist(), _outcomes(arms, t))
        assert problem.oracle.is_feasible(policy.select())


def check_refusals(factory: Factory) -> None:
    """``observe`` refuses wrong feedback and does not change the policy then."""
    problem = _problems()[0]
    policy = _started(factory, problem)
    if not hasattr(policy, "state"):
        return
    _play(policy, 30)
    before = json.dumps(policy.state())
    good = problem.oracle.super_arms()[0]
    cases: list[tuple[Any, Any]] = [
        (good, [float("nan")] * 4),
        (good, [0.5, 0.5, 0.5, 1.5]),
        (good, [0.5, 0.5, -0.1, 0.5]),
        (good, [0.5, 0.5, "a", 0.5]),
        (good, [0.5, 0.5]),
        ([0, 1], [0.5, 0.5]),
        ([0, 0, 1, 1], [0.5] * 4),
        ([0, 99], [0.5, 0.5]),
        ([], []),
    ]
    for arms, outcomes in cases:
        try:
            policy.observe(arms, outcomes)
        except InputError:
            pass
        else:
            raise AssertionError(f"observe({list(arms)}, {outcomes}) must be refused with an InputError")
        assert json.dumps(policy.state()) == before, f"the refused observe({list(arms)}, {outcomes}) changed the state"


def check_state(factory: Factory) -> None:
    """A policy that is restored from its state, through JSON, makes the same decisions as the original."""
    for problem in _problems():
        for rounds in (0, 1, 7, 40):
            policy = _started(factory, problem)
            if not hasattr(policy, "state"):
                return
            _play(policy, rounds)
            again = type(policy).from_state(json.loads(json.dumps(policy.state())))
            same = _play(again, 40, rounds) == _play(policy, 40, rounds)
            assert same, f"decisions differ after from_state on {problem!r}"
            assert json.dumps(again.state()) == json.dumps(policy.state()), "states differ after from_state"


def check_masks(factory: Factory) -> None:
    """``select`` respects masks, and refuses a mask only if it leaves no super arm."""
    rng = np.random.default_rng(5)
    for problem in _problems():
        policy = _started(factory, problem)
        if "mask" not in inspect.signature(policy.select).parameters:
            return
        for t in range(60):
            mask = rng.random(problem.n_arms) < 0.25
            try:
                arms = policy.select(mask=mask)
            except InfeasibleError:
                # Policies that list all super arms know no smaller ones, see `SuperArmOracle.is_allowed`.
                listed = isinstance(policy, Oracle | SuperArmPolicy | ESCB)
                whole = any(not mask[members].any() for members in problem.oracle.super_arms())
                constant = isinstance(policy, Oracle)
                refused = not (whole if listed else problem.oracle.can(mask))
                assert constant or refused, "a mask that leaves a super arm was refused"
                continue
            assert not mask[arms].any(), f"select used masked arms: {arms.tolist()}"
            policy.observe(arms, _outcomes(arms, t))


def check_partial(factory: Factory) -> None:
    """With partial feedback only the arms that were played are counted."""
    problem = _problems()[0]
    policy = _started(factory, problem)
    if not hasattr(policy, "plays") or policy.plays.size != problem.n_arms:
        return
    counts = np.zeros(problem.n_arms, dtype=np.int64)
    for t in range(60):
        arms = problem.ordered(policy.select())
        played = np.arange(arms.size) < 1 + t % 4
        policy.observe(arms, _outcomes(arms, t), played)
        counts[arms[played]] += 1
        assert (policy.plays == counts).all(), "an arm that was not played was counted as played"


def check_loops(factory: Factory, *, structures: int = 2) -> None:
    """The compiled and the uncompiled simulation loop give the same decisions and regret."""
    # One structure for the maximum and one for sums: to compile a loop for each of the others would take long.
    for problem in (KMax(4, k=2), _problems()[0])[:structures]:
        task = _task(problem)
        fast = simulate(task, factory(), seed=4)
        slow = simulate(task, factory(), seed=4, compiled=False)
        assert fast.super_arm_plays == slow.super_arm_plays, f"the two loops differ on {problem!r}"
        assert np.array_equal(fast.regret, slow.regret), f"the two loops' regrets differ on {problem!r}"


def check_indices(factory: Factory) -> None:
    """There is one index per base arm or per super arm, and none is NaN."""
    for problem in _problems():
        policy = _started(factory, problem)
        if not hasattr(policy, "indices"):
            return
        _play(policy, 40)
        indices = policy.indices()
        assert indices.shape in ((problem.n_arms,), (problem.oracle.count(),)), f"indices have shape {indices.shape}"
        assert not np.isnan(indices).any(), "indices must not be NaN"


def check_without_horizon(factory: Factory) -> None:
    """Without a horizon ``start`` raises an `InputError`, or the policy works and can be restored from its state."""
    for problem in _problems():
        try:
            policy = _started(factory, problem, horizon=None)
        except InputError:
            continue
        chosen = _play(policy, 60)
        assert all(problem.oracle.is_feasible(arms) for arms in chosen), f"an infeasible decision on {problem!r}"
        if hasattr(policy, "state"):
            again = type(policy).from_state(json.loads(json.dumps(policy.state())))
            assert _play(again, 30, 60) == _play(policy, 30, 60), f"decisions differ after from_state on {problem!r}"


POLICY_CHECKS: tuple[Callable[[Factory], None], ...] = (
    check_feasible,
    check_repeatable,
    check_any_super_arm,
    check_refusals,
    check_state,
    check_masks,
    check_partial,
    check_loops,
    check_indices,
    check_without_horizon,
)
"""All checks of `check_policy`. Each takes a factory, which returns a new policy at every call."""


def check_policy(factory: Factory) -> None:
    """Run all checks on a policy.

    A policy does not have to derive from `Policy`. For an object that only has ``start``, ``select`` and ``observe``,
    checks of other methods are skipped.

    Parameters
    ----------
    factory
        A class or function without arguments that returns a new policy at every call.

    Raises
    ------
    AssertionError
        A check failed. The message says what is wrong.

    >>> import rising_bandits as rb
    >>> check_policy(lambda: rb.Random())
    """
    with warnings.catch_warnings():
        # The outcomes are made up, so they may contradict the sigma that a policy was told.
        warnings.simplefilter("ignore", SigmaWarning)
        for check in POLICY_CHECKS:
            check(factory)
