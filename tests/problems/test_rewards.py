"""Rewards are their formulas, and what a reward of the user's own returns is checked."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problem_kit import quick

import rising_bandits as rb
from rising_bandits.oracles import KSubsets
from rising_bandits.problems import (
    Explicit,
    Matching,
    Problem,
    Reward,
)


def harmonic(values: Sequence[float]) -> float:
    return 0.0 if min(values) == 0.0 else 1.0 / math.fsum(1.0 / value for value in values)


FORMULAS: dict[str, Callable[[Sequence[float]], float]] = {
    "sum": math.fsum,
    "max": max,
    "harmonic": harmonic,
    "product": math.prod,
}
# Outcomes with zeros and ones among them; not so small that one over it overflows.
outcome = st.sampled_from([0.0, 1.0, 0.5]) | st.floats(1e-9, 1.0)


@pytest.mark.parametrize("name", FORMULAS)
@quick
@given(values=st.lists(outcome, min_size=1, max_size=8))
def test_rewards_are_their_formulas(name: str, values: list[float]) -> None:
    reward = Reward(name)
    assert reward(values) == pytest.approx(FORMULAS[name](values), rel=1e-12)
    assert reward(np.array(values)) == reward.combine(np.array(values)) == reward(values)
    assert isinstance(reward(values), float)
    assert reward([0.0] * len(values)) == 0.0
    assert reward(values) <= reward.largest(len(values)) + 1e-12


@pytest.mark.parametrize("name", FORMULAS)
@quick
@given(data=st.data())
def test_rewards_are_monotone(name: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(outcome, min_size=1, max_size=6))
    place = data.draw(st.integers(0, len(values) - 1))
    raised = [*values[:place], max(values[place], data.draw(outcome)), *values[place + 1 :]]
    assert Reward(name)(raised) >= Reward(name)(values) - 1e-12


@pytest.mark.parametrize("name", [*FORMULAS, "own"])
@quick
@given(data=st.data())
def test_rewards_over_plays_are_row_by_row(name: str, data: st.DataObject) -> None:
    columns = data.draw(st.integers(1, 5))
    row = st.lists(outcome, min_size=columns, max_size=columns)
    table = np.array(data.draw(st.lists(row, min_size=1, max_size=6)))
    reward = Reward("own", lambda values: float(np.median(values))) if name == "own" else Reward(name)
    over = reward.over_plays(table)
    assert over.shape == (table.shape[0],)
    assert over.dtype == np.float64
    assert over.tolist() == pytest.approx([reward(line) for line in table], rel=1e-12)


def test_a_reward_of_ones_own() -> None:
    reward = Reward("at least two", lambda values: float((values >= 0.5).sum() >= 2))
    assert reward([0.5, 0.1, 0.9]) == 1.0
    assert reward([0.4, 0.1, 0.9]) == 0.0
    assert not reward.additive
    assert reward.kernel is None
    assert reward.largest(3) == 1.0
    assert reward.largest(1) == 0.0
    problem = Problem(KSubsets(3, 2), reward)
    assert problem.scale == 1.0
    # A function named like a built-in reward is still the user's own.
    assert not Reward("sum", max).additive
    assert Reward("sum", max)([0.25, 0.5]) == 0.5


def test_what_a_reward_can_bring_at_most() -> None:
    assert [Reward(name).largest(4) for name in ("sum", "max", "harmonic", "product")] == [4.0, 1.0, 1.0, 1.0]
    assert [Reward(name).additive for name in ("sum", "max", "harmonic", "product")] == [True, False, False, False]
    assert Matching(3, 4).scale == 3.0
    assert Explicit([[0], [1, 2]]).scale == 2.0


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -0.5, "x", None])
def test_what_a_reward_of_ones_own_returns_is_checked_before_it_is_learnt(bad):
    answers = {"value": 0.5}
    reward = rb.Reward("mine", lambda values: answers["value"] if values.min() < 1.0 else 1.0)
    problem = rb.Problem(rb.oracles.KSubsets(3, 1), reward)
    policy = rb.SWTS(window=5)
    policy.start(problem, rng=0)
    for _ in range(6):
        policy.observe(policy.select(), [0.5])
    before = policy.state()
    answers["value"] = bad
    with pytest.raises(rb.InputError, match="what the reward 'mine' returns must be a finite number of at least 0"):
        policy.observe(policy.select(), [0.5])
    assert policy.state()["rule"] == before["rule"]
    answers["value"] = 7.0
    with pytest.raises(rb.InputError, match="mine"):
        policy.observe(policy.select(), [0.5])
    assert policy.round == 7
