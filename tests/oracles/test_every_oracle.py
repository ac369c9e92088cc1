"""Every oracle against an obvious implementation: list all super arms, take the best."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle_kit import (
    CASES,
    assert_best,
    draw_mask,
    draw_weights,
    every_kind,
    quick,
    quicker,
    subsets_of,
    sums,
    thorough,
)

from rising_bandits import oracles
from rising_bandits.errors import InfeasibleError, TooManySuperArmsError


@every_kind
@thorough
@given(data=st.data())
def test_solve_finds_a_best_super_arm(kind: str, data: st.DataObject) -> None:
    case = CASES[kind](data.draw)
    weights = draw_weights(data.draw, case)
    assert_best(case, weights, case.oracle.solve(weights), case.sets)


@every_kind
@thorough
@given(data=st.data())
def test_mask_leaves_the_rest_and_refuses_when_nothing_is_left(kind: str, data: st.DataObject) -> None:
    case = CASES[kind](data.draw)
    weights = draw_weights(data.draw, case)
    mask = np.array(draw_mask(data.draw, case.n_arms))
    left = case.without(mask.tolist())
    assert case.oracle.can(mask) == bool(left)
    if left:
        assert_best(case, weights, case.oracle.solve(weights, mask), left)
    else:
        with pytest.raises(InfeasibleError, match=rf"mask .* blocks {mask.sum()} of {case.n_arms} arms \("):
            case.oracle.solve(weights, mask)
        with pytest.raises(InfeasibleError, match="mask leaves no feasible super arm"):
            case.oracle.sample(np.random.default_rng(0), mask)


@every_kind
@quicker
@given(data=st.data())
def test_nothing_is_changed_and_nothing_is_remembered(kind: str, data: st.DataObject) -> None:
    case = CASES[kind](data.draw)
    one, two = (np.array(draw_weights(data.draw, case)) for _ in range(2))
    mask = np.array(draw_mask(data.draw, case.n_arms))
    for array in (one, two, mask):
        array.flags.writeable = False
    first = case.oracle.solve(one)
    case.oracle.solve(two)
    if case.without(mask.tolist()):
        case.oracle.solve(two, mask)
    assert case.oracle.can()
    assert case.oracle.solve(one).tolist() == first.tolist()
    assert case.oracle.solve(one, np.zeros(case.n_arms, dtype=bool)).tolist() == first.tolist()
    assert case.oracle.solve(one.tolist(), [False] * case.n_arms).tolist() == first.tolist()


@every_kind
@quicker
@given(data=st.data())
def test_containing_holds_the_arm_wherever_a_super_arm_does(kind: str, data: st.DataObject) -> None:
    case = CASES[kind](data.draw)
    mask = draw_mask(data.draw, case.n_arms) if data.draw(st.booleans()) else None
    prefer = draw_mask(data.draw, case.n_arms) if data.draw(st.booleans()) else None
    left = case.sets if mask is None else case.without(mask)
    for arm in range(case.n_arms):
        holding = [arms for arms in left if arm in arms]
        found = case.oracle.containing(arm, mask, prefer)
        if not holding:
            assert found is None
            continue
        assert found is not None
        assert found.dtype == np.int64
        assert tuple(found.tolist()) in holding
        if prefer is not None and case.cost is None:
            # Where the best super arm by a sum is found exactly, as many preferred arms as possible come along.
            liked = [sum(prefer[other] for other in arms if other != arm) for arms in holding]
            assert sum(prefer[other] for other in found if other != arm) == max(liked)


@every_kind
@quick
@given(data=st.data())
def test_listing_and_counting(kind: str, data: st.DataObject) -> None:
    case = CASES[kind](data.draw)
    listed = case.oracle.super_arms()
    assert [tuple(arms.tolist()) for arms in listed] == case.sets
    assert all(arms.dtype == np.int64 for arms in listed)
    assert case.oracle.count() == len(case.sets)
    largest = max(map(len, case.sets))
    # The longest simple path is hard to find, so path oracles with cycles give a bound.
    bound = case.cost is not None or case.size_is_a_bound
    assert case.oracle.max_size >= largest if bound else case.oracle.max_size == largest
    assert len(case.oracle.super_arms(limit=len(case.sets))) == len(case.sets)
    with pytest.raises(TooManySuperArmsError, match=rf"\b{len(case.sets) - 1}\b"):
        case.oracle.super_arms(limit=len(case.sets) - 1)


@every_kind
@quicker
@given(data=st.data())
def test_exactly_the_super_arms_are_feasible(kind: str, data: st.DataObject) -> None:
    case = CASES[kind](data.draw)
    known = set(case.sets)
    turn = data.draw(st.booleans())
    for arms in subsets_of(case.n_arms):
        given_arms = arms[::-1] if turn else arms
        assert case.oracle.is_feasible(given_arms) == (arms in known)
    chosen = data.draw(st.sampled_from(case.sets))
    order = data.draw(st.permutations(chosen))
    assert case.oracle.is_feasible(np.array(order))
    assert case.oracle.check_super_arm(order).tolist() == order
    assert not case.oracle.is_feasible([*chosen, chosen[0]])


@every_kind
@quicker
@given(data=st.data())
def test_samples_are_super_arms(kind: str, data: st.DataObject) -> None:
    case = CASES[kind](data.draw)
    mask = draw_mask(data.draw, case.n_arms)
    left = case.without(mask)
    rng = np.random.default_rng(data.draw(st.integers(0, 100)))
    for _ in range(5):
        arms = case.oracle.sample(rng)
        assert arms.dtype == np.int64
        assert tuple(arms.tolist()) in case.sets
        if left:
            assert tuple(case.oracle.sample(rng, mask).tolist()) in left


@every_kind
@quick
@given(data=st.data())
def test_ordered_keeps_the_set_and_follows_the_structure(kind: str, data: st.DataObject) -> None:
    case = CASES[kind](data.draw)
    arms = data.draw(st.permutations(data.draw(st.sampled_from(case.sets))))
    ordered = case.oracle.ordered(arms)
    assert ordered.dtype == np.int64
    assert sorted(ordered.tolist()) == sorted(arms)
    oracle = case.oracle
    if isinstance(oracle, oracles.Families):
        oracle = next(oracle.among(name) for name in oracle.choices if oracle.among(name).is_feasible(arms))
    if isinstance(oracle, oracles.DagPaths | oracles.CostPaths):
        arcs = oracle.arcs
        node = arcs.source
        for arm in ordered:
            ends = [int(arcs.tail[arm]), int(arcs.head[arm])]
            assert node in (ends[:1] if arcs.directed else ends)
            node = ends[1] if node == ends[0] else ends[0]
        assert node == arcs.target
    elif isinstance(case.oracle, oracles.ExplicitSets):
        # In the order in which the super arm was listed.
        assert ordered.tolist() in case.oracle.spec()["super_arms"]
    elif isinstance(case.oracle, oracles.Assignments | oracles.CapacityMatchings):
        pairs = [case.oracle.pairs[arm] for arm in ordered]
        assert pairs == sorted(pairs)
    elif isinstance(case.oracle, oracles.GroupChoices | oracles.BudgetSets):
        place = [next(at for at, group in enumerate(case.oracle.groups) if arm in group) for arm in ordered]
        assert place == sorted(place)
    else:
        assert ordered.tolist() == sorted(arms)


@every_kind
@quicker
@given(data=st.data())
def test_a_spec_rebuilds_the_oracle(kind: str, data: st.DataObject) -> None:
    case = CASES[kind](data.draw)
    spec = case.oracle.spec()
    if kind.startswith(("function", "plain")):
        assert spec is None
        return
    twin = oracles.from_spec(json.loads(json.dumps(spec)))
    assert type(twin) is type(case.oracle)
    assert twin.spec() == spec
    assert (twin.n_arms, twin.max_size) == (case.oracle.n_arms, case.oracle.max_size)
    assert [tuple(arms.tolist()) for arms in twin.super_arms()] == case.sets
    weights = draw_weights(data.draw, case)
    if kind == "solver":
        # The twin is listed, so among equal ones it may choose another.
        assert_best(case, weights, twin.solve(weights), case.sets)
    else:
        assert twin.solve(weights).tolist() == case.oracle.solve(weights).tolist()


@sums
@quicker
@given(data=st.data())
def test_an_infinite_weight_outbids_all_others(kind: str, data: st.DataObject) -> None:
    # This is how a policy asks for an arm that was never played.
    case = CASES[kind](data.draw)
    weights = np.array(draw_weights(data.draw, case))
    weights /= max(1.0, np.abs(weights).max())
    infinite = np.array(draw_mask(data.draw, case.n_arms))
    weights[infinite] = np.inf
    found = case.oracle.search(weights, None)
    assert tuple(sorted(found.tolist())) in case.sets
    if any(infinite[list(arms)].any() for arms in case.sets):
        assert infinite[found].any()
    else:
        finite = np.where(infinite, 0.0, weights)
        assert_best(case, finite.tolist(), np.sort(found), case.sets)


@pytest.mark.parametrize(
    "make",
    [
        lambda n: oracles.DagPaths(range(n), range(1, n + 1), 0, n),
        lambda n: oracles.CostPaths(range(n), range(1, n + 1), 0, n),
        lambda n: oracles.Assignments(n, n, [(worker, worker) for worker in range(n)]),
        lambda n: oracles.LinearSets(np.ones((1, n)), lower=[n]),
    ],
    ids=["dag", "cost", "pairs", "linear"],
)
def test_long_super_arms_can_be_listed(make: Callable[[int], oracles.SuperArmOracle]) -> None:
    # One super arm, longer than the interpreter's recursion goes.
    oracle = make(1_050)
    assert [arms.tolist() for arms in oracle.super_arms()] == [list(range(1_050))]
