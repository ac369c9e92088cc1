"""Checks that every oracle must pass. They compare an oracle with the list of its super arms."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits.errors import InfeasibleError, InputError
from rising_bandits.oracles import SuperArmOracle, from_spec

Value = Callable[[Floats], float]
"""Computes the value of a super arm from the weights of its arms."""


def _total(weights: Floats) -> float:
    """The sum of the weights."""
    return float(weights.sum())


def _draws(oracle: SuperArmOracle, count: int = 30) -> list[Floats]:
    """Weights of many kinds: random, tied, zero, negative and huge."""
    rng = np.random.default_rng(0)
    k = oracle.n_arms
    draws = [np.zeros(k), np.ones(k), -np.ones(k)]
    for _ in range(count):
        draws += [rng.random(k), rng.integers(-2, 3, k).astype(float)]
        draws.append(rng.normal(size=k) * 10.0 ** rng.integers(-6, 12))
    return draws


def _fits(weights: Floats, value: Value) -> bool:
    """Whether ``value`` is defined for these weights. A value other than the sum may need weights in (0, 1]."""
    return value is _total or bool((weights > 0).all() and weights.max() <= 1.0)


def check_best(oracle: SuperArmOracle, value: Value = _total) -> None:
    """`solve` returns a feasible super arm in ascending order, and the best one if the oracle says that it is exact."""
    family = oracle.super_arms()
    for weights in _draws(oracle):
        if not _fits(weights, value):
            continue
        arms = oracle.solve(weights)
        assert arms.dtype == np.int64, f"solve must return int64 arm numbers, got {arms.dtype}"
        assert (np.diff(arms) > 0).all(), f"solve must return ascending arm numbers, got {arms.tolist()}"
        assert oracle.is_feasible(arms), f"solve returned {arms.tolist()}, which is_feasible refuses"
        if oracle.exact:
            best = max(value(weights[candidate]) for candidate in family)
            slack = 1e-9 * float(np.abs(weights).max()) * oracle.max_size
            assert value(weights[arms]) >= best - slack, f"solve({weights.tolist()}) is not the best super arm"


def check_mask(oracle: SuperArmOracle, value: Value = _total) -> None:
    """`solve` respects masks and refuses a mask that leaves no super arm; `can` agrees with the list."""
    rng = np.random.default_rng(1)
    for share in (0.1, 0.3, 0.6, 1.0):
        for _ in range(10):
            mask = rng.random(oracle.n_arms) < share
            weights = rng.random(oracle.n_arms)
            left = oracle.super_arms_without(mask)
            assert all(oracle.is_allowed(arms, mask) for arms in left), "is_allowed must agree with super_arms_without"
            listed = {tuple(arms.tolist()) for arms in left}
            for _ in range(10):
                drawn = np.flatnonzero(rng.random(oracle.n_arms) < rng.random())
                allowed = tuple(drawn.tolist()) in listed
                assert oracle.is_allowed(drawn, mask) == allowed, f"is_allowed({drawn.tolist()}) must be {allowed}"
            assert oracle.can(mask) == bool(left), f"can({mask.tolist()}) must be {bool(left)}"
            try:
                arms = oracle.solve(weights, mask=mask)
            except InfeasibleError:
                assert not left, f"mask {mask.tolist()} leaves {len(left)} super arms, but solve refused"
                continue
            assert left, f"mask {mask.tolist()} leaves nothing, but solve returned {arms.tolist()}"
            assert not mask[arms].any(), f"solve used a masked arm: {arms.tolist()}"
            if oracle.exact:
                best = max(value(weights[candidate]) for candidate in left)
                assert value(weights[arms]) >= best - 1e-9, "solve under a mask is not the best super arm"


def check_containing(oracle: SuperArmOracle, value: Value = _total) -> None:
    """`containing` finds a super arm with the given arm if there is one, and returns None if not."""
    family = oracle.super_arms()
    for arm in range(oracle.n_arms):
        arms = oracle.containing(arm)
        exists = any(arm in candidate for candidate in family)
        assert (arms is not None) == exists, f"containing({arm}) must {'find one' if exists else 'be None'}"
        if arms is not None:
            assert arm in arms, f"containing({arm}) returned {arms.tolist()}"
            assert oracle.is_feasible(arms), f"containing({arm}) returned an infeasible set"


def check_family(oracle: SuperArmOracle, value: Value = _total) -> None:
    """`super_arms`, `count`, `is_feasible`, `ordered` and ``max_size`` agree with each other."""
    family = [tuple(arms.tolist()) for arms in oracle.super_arms()]
    assert family == sorted(set(family)), "super_arms must be distinct and in lexicographic order"
    assert oracle.count() in (None, len(family)), f"count is {oracle.count()}, but {len(family)} are listed"
    assert max(map(len, family)) <= oracle.max_size, "max_size must be at least the size of the largest super arm"
    if oracle.n_arms <= 12:
        known = set(family)
        for size in range(1, oracle.n_arms + 1):
            for arms in combinations(range(oracle.n_arms), size):
                told = oracle.is_feasible(np.array(arms))
                assert told == (arms in known), f"is_feasible({list(arms)}) is {told}, the list says otherwise"
    for arms in family:
        ordered = oracle.ordered(np.array(arms))
        assert sorted(ordered.tolist()) == list(arms), f"ordered({list(arms)}) must hold the same arms"


def check_refusals(oracle: SuperArmOracle, value: Value = _total) -> None:
    """Wrong weights and masks are refused with an `InputError` that names the argument."""
    good = np.zeros(oracle.n_arms)
    nan, infinite = np.full(oracle.n_arms, np.nan), np.full(oracle.n_arms, np.inf)
    for weights in (nan, infinite, np.zeros(oracle.n_arms + 1)):
        _refused(partial(oracle.solve, weights), "weights")
    _refused(lambda: oracle.solve(good, mask=np.zeros(oracle.n_arms + 1, dtype=bool)), "mask")
    _refused(lambda: oracle.solve(good, mask=np.zeros(oracle.n_arms)), "mask")


def check_spec(oracle: SuperArmOracle, value: Value = _total) -> None:
    """`from_spec` builds an oracle with the same solutions from `spec`, if there is one."""
    spec = oracle.spec()
    if spec is not None:
        again = from_spec(spec)
        weights = np.random.default_rng(2).random(oracle.n_arms)
        assert again.solve(weights).tolist() == oracle.solve(weights).tolist(), "from_spec(spec()) solves differently"


def _refused(call: Callable[[], Ints], name: str) -> None:
    """Check that a call raises an `InputError` that names the argument."""
    message = None
    try:
        call()
    except InputError as error:
        message = str(error)
    assert message is not None, f"bad {name} must be refused with an InputError"
    assert name in message, f"the error must name the argument {name!r}: {message}"


ORACLE_CHECKS: tuple[Callable[[SuperArmOracle, Value], None], ...] = (
    check_best,
    check_mask,
    check_containing,
    check_family,
    check_refusals,
    check_spec,
)
"""All checks of `check_oracle`. Each takes an oracle and the function that computes the value of a super arm."""


def check_oracle(oracle: SuperArmOracle, value: Value = _total) -> None:
    """Run all checks on an oracle. Its super arms must be listable.

    Parameters
    ----------
    oracle
        The oracle.
    value
        Computes the value of a super arm from the array of its weights, for an oracle that does not maximise their sum.
        The oracle is then only tried with weights in (0, 1].

    Raises
    ------
    AssertionError
        A check failed. The message says what is wrong.

    >>> from rising_bandits.oracles import KSubsets
    >>> check_oracle(KSubsets(4, 2))
    """
    for check in ORACLE_CHECKS:
        check(oracle, value)
