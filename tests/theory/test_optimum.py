"""The optimal constant super arm against all super arms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from task_kit import TABLE, every_task, means_of, quick

import rising_bandits as rb
from rising_bandits.curves import (
    Flat,
    Linear,
    Tabulated,
)
from rising_bandits.errors import InputError, TooManySuperArmsError
from rising_bandits.problems import KMax, Reward, Task, TopK


def brute_totals(name: str, horizon: int) -> dict[tuple[int, ...], float]:
    """The expected reward of every super arm when it is played in every round."""
    row = TABLE[name]
    if name == "k-max":
        tables = [means_of(kind, horizon) for kind in row.kinds]
        return {(a, b): math.fsum(np.maximum(tables[a], tables[b])) for a, b in row.family()}
    sums = {kind: math.fsum(means_of(kind, horizon)) for kind in set(row.kinds)}
    return {arms: math.fsum(sums[row.kinds[arm]] for arm in arms) for arms in row.family()}


@every_task
@pytest.mark.parametrize("share", [1, 3, 20, 300, 30_000])
def test_optimum_is_the_best_of_all_super_arms(name: str, share: int) -> None:
    task = rb.tasks.get(name)
    horizon = task.horizon // share
    totals = brute_totals(name, horizon)
    optimum = rb.optimal_constant(task, horizon)
    assert optimum.horizon == horizon
    assert optimum.super_arm.dtype == np.int64
    assert optimum.total == pytest.approx(max(totals.values()), rel=1e-10)
    assert totals[tuple(optimum.super_arm.tolist())] == pytest.approx(optimum.total, rel=1e-10)


@pytest.mark.parametrize("name", [name for name in TABLE if name not in ("toy", "k-max")])
def test_late_bloomers_win_long_runs_and_early_peakers_short_ones(name: str) -> None:
    task = rb.tasks.get(name)
    late = set(task.late)
    shares = [len(late & set(arms)) for arms in TABLE[name].family()]
    long, short = rb.optimal_constant(task).super_arm, rb.optimal_constant(task, 1_000).super_arm
    assert len(late & set(long.tolist())) == max(shares)
    assert len(late & set(short.tolist())) == min(shares)
    assert max(shares) > min(shares)


def test_optimum_of_toy_and_k_max() -> None:
    toy, k_max = rb.tasks.get("toy"), rb.tasks.get("k-max")
    assert rb.optimal_constant(toy).super_arm.tolist() == [0, 2]
    assert rb.optimal_constant(toy, 10_000).super_arm.tolist() == [0, 1]
    assert rb.optimal_constant(k_max).super_arm.tolist() == [0, 4]
    assert 4 in rb.optimal_constant(k_max, 100).super_arm


def test_horizon_defaults_to_that_of_the_task() -> None:
    task = rb.tasks.get("matching-easy")
    assert rb.optimal_constant(task).horizon == 300_000
    assert rb.optimal_constant(task).total == rb.optimal_constant(task, 300_000).total


@every_task
def test_cumulative_reward_of_the_optimum(name: str) -> None:
    task, row = rb.tasks.get(name), TABLE[name]
    optimum = rb.optimal_constant(task, 30_000)
    tables = [means_of(row.kinds[arm], 30_000) for arm in optimum.super_arm]
    by_round = np.max(tables, axis=0) if name == "k-max" else np.sum(tables, axis=0)
    rounds = np.array([1, 2, 10, 5_000, 5_001, 29_999, 30_000])
    assert optimum.cumulative(rounds) == pytest.approx(np.cumsum(by_round)[rounds - 1], rel=1e-9)
    assert optimum.cumulative(np.array([30_000]))[0] == pytest.approx(optimum.total, rel=1e-10)


@quick
@given(data=st.data())
def test_optimum_of_random_tasks(data: st.DataObject) -> None:
    rises = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6).map(lambda values: Tabulated(tuple(sorted(values))))
    curve = rises | st.floats(0.0, 1.0).map(Flat) | st.integers(1, 9).map(lambda n: Linear(duration=n))
    rewards = {"sum": sum, "max": max, "product": math.prod, "own": np.median}
    name = data.draw(st.sampled_from(list(rewards)))
    reward = Reward("own", lambda values: float(np.median(values))) if name == "own" else Reward(name)
    problem = rb.problems.Explicit([[0, 1], [2], [1, 2, 3], [3, 0]], reward=reward)
    task = Task("random", problem, tuple(data.draw(curve) for _ in range(4)), horizon=12)
    horizon = data.draw(st.integers(1, 12))
    totals = [
        math.fsum(float(rewards[name]([float(task.curves[arm](n)) for arm in arms])) for n in range(horizon))
        for arms in problem.oracle.super_arms()
    ]
    assert rb.optimal_constant(task, horizon).total == pytest.approx(max(totals), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("horizon", [0, -1, 10.0, True, "100"])
def test_bad_horizons(horizon: Any) -> None:
    task = rb.tasks.get("k-max")
    with pytest.raises(InputError, match=f"horizon must be an integer of at least 1, got {horizon!r}"):
        rb.optimal_constant(task, horizon)
    with pytest.raises(InputError, match=f"horizon must be an integer of at least 1, got {horizon!r}"):
        Task("mine", TopK(1, 1), (Flat(0.5),), horizon=horizon)


def test_optimum_by_listing_names_what_is_too_large() -> None:
    task = Task("large", KMax(60, 30), (Flat(0.5),) * 60, horizon=10)
    with pytest.raises(TooManySuperArmsError, match=rf"found by listing where .*, but .*{math.comb(60, 30)}.*100000"):
        rb.optimal_constant(task)
    # Sums need no listing.
    assert rb.optimal_constant(Task("large", TopK(60, 30), (Flat(0.5),) * 60, horizon=10)).total == 150.0
