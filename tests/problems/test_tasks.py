"""The eight tasks against a plain transcription of their definition, the optimum against all super arms, curves."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rising_bandits as rb
from rising_bandits import curves
from rising_bandits.curves import (
    Bernoulli,
    Capped,
    Curve,
    Exponential,
    Flat,
    Gaussian,
    LateBloomer,
    Linear,
    Noiseless,
    PowerLaw,
    Scaled,
    Tabulated,
)
from rising_bandits.errors import InfeasibleError, InputError, TooManySuperArmsError
from rising_bandits.problems import KMax, Matching, Reward, Task, TopK
from rising_bandits.problems.tasks import grid_edges

quick = settings(deadline=None, derandomize=True, max_examples=40)

# --- the definition, written out -----------------------------------------------------------------------------------


@cache
def late_means(c: int, s: int, length: int) -> np.ndarray:
    """Means of a late bloomer at 0, 1, ... plays: one addition a play."""
    means = []
    total = 0.0
    for n in range(length):
        means.append(total)
        if n < s:
            total += (c * (math.floor(n / c) + 1) + 1) ** -1.2
    return np.array(means)


@cache
def means_of(kind: str, length: int) -> np.ndarray:
    """Means of each kind of arm that the tasks have."""
    if kind.startswith("flat"):
        return np.full(length, float(kind.removeprefix("flat ")))
    if kind == "easy":
        return late_means(250, 5_000, length)
    if kind == "complex":
        return late_means(1_000, 20_000, length)
    if kind == "toy shared":
        return late_means(1_000, 500_000, 500_000)[:length] / late_means(1_000, 500_000, 500_000)[499_999]
    if kind == "toy late":
        return np.array([min(1.0, n / 5_000) for n in range(length)])
    share, base = {"k-max second": (0.5, 0.3), "k-max third": (0.1, 0.5)}[kind]
    return base + share * means_of("easy", length)


def grid_paths(size: int) -> list[tuple[int, ...]]:
    """Edges row by row: the horizontal ones of a row, then the vertical ones from it to the next."""
    number: dict[tuple, int] = {}
    for i in range(size):
        for j in range(size - 1):
            number[(i, j), (i, j + 1)] = len(number)
        if i + 1 < size:
            for j in range(size):
                number[(i, j), (i + 1, j)] = len(number)
    found = []
    for rights in itertools.combinations(range(2 * size - 2), size - 1):
        i = j = 0
        arms = []
        for move in range(2 * size - 2):
            to = (i, j + 1) if move in rights else (i + 1, j)
            arms.append(number[(i, j), to])
            i, j = to
        found.append(tuple(sorted(arms)))
    return sorted(found)


def matchings(workers: int, jobs: int) -> list[tuple[int, ...]]:
    chosen = itertools.permutations(range(jobs), workers)
    return sorted(tuple(worker * jobs + job for worker, job in enumerate(row)) for row in chosen)


def spanning_trees(nodes: int) -> list[tuple[int, ...]]:
    edges = list(itertools.combinations(range(nodes), 2))

    def joins_all(arms: Sequence[int]) -> bool:
        part = list(range(nodes))
        for arm in arms:
            a, b = edges[arm]
            part = [part[a] if here == part[b] else here for here in part]
        return len(set(part)) == 1

    return sorted(arms for arms in itertools.combinations(range(len(edges)), nodes - 1) if joins_all(arms))


@dataclass(frozen=True)
class Row:
    """A row of the table of tasks."""

    arms: int
    size: int
    longest: int
    horizon: int
    sigma: float
    late: tuple[int, ...]
    kinds: tuple[str, ...]
    family: Callable[[], list[tuple[int, ...]]]


def mixed(arms: int, late: Sequence[int], level: str) -> tuple[str, ...]:
    return tuple(level if arm in late else {"easy": "flat 0.9", "complex": "flat 0.6"}[level] for arm in range(arms))


EDGES = (5, 16, 27, 38, 49, 55, 56, 57, 58, 59)
TABLE: dict[str, Row] = {
    "toy": Row(
        3, 2, 2, 500_000, 0.0, (0, 2), ("toy shared", "flat 0.9", "toy late"), lambda: [(0, 1), (0, 2)]
    ),
    "path-easy": Row(
        12, 6, 4, 300_000, 0.01, (2, 5, 6, 9), mixed(12, (2, 5, 6, 9), "easy"), lambda: grid_paths(3)
    ),
    "path-complex": Row(60, 252, 10, 500_000, 0.01, EDGES, mixed(60, EDGES, "complex"), lambda: grid_paths(6)),
    "matching-easy": Row(8, 12, 2, 300_000, 0.01, (0, 5), mixed(8, (0, 5), "easy"), lambda: matchings(2, 4)),
    "matching-complex": Row(
        28, 840, 4, 500_000, 0.01, (0, 8, 16, 24), mixed(28, (0, 8, 16, 24), "complex"), lambda: matchings(4, 7)
    ),
    "spanning-easy": Row(
        6, 16, 3, 300_000, 0.01, (1, 3, 5), mixed(6, (1, 3, 5), "easy"), lambda: spanning_trees(4)
    ),
    "spanning-complex": Row(
        15, 1296, 5, 500_000, 0.01, (1, 3, 5, 6, 8), mixed(15, (1, 3, 5, 6, 8), "complex"), lambda: spanning_trees(6)
    ),
    "k-max": Row(
        5, 10, 2, 300_000, 0.01, (0, 1, 2), ("easy", "k-max second", "k-max third", "flat 0.7", "flat 0.9"),
        lambda: sorted(itertools.combinations(range(5), 2)),
    ),
}  # fmt: skip
every_task = pytest.mark.parametrize("name", TABLE)


def brute_totals(name: str, horizon: int) -> dict[tuple[int, ...], float]:
    """The expected reward of every super arm when it is played in every round."""
    row = TABLE[name]
    if name == "k-max":
        tables = [means_of(kind, horizon) for kind in row.kinds]
        return {(a, b): math.fsum(np.maximum(tables[a], tables[b])) for a, b in row.family()}
    sums = {kind: math.fsum(means_of(kind, horizon)) for kind in set(row.kinds)}
    return {arms: math.fsum(sums[row.kinds[arm]] for arm in arms) for arms in row.family()}


# --- the table -----------------------------------------------------------------------------------------------------


def test_names() -> None:
    assert rb.tasks.names() == [*TABLE, "antmaze-easy", "antmaze-complex"]


@every_task
def test_sizes_horizon_and_noise(name: str) -> None:
    task, row = rb.tasks.get(name), TABLE[name]
    assert task.name == name
    assert task.problem.n_arms == len(task.curves) == row.arms
    assert task.problem.oracle.count() == len(task.problem.oracle.super_arms()) == row.size
    assert task.problem.oracle.max_size == row.longest
    assert task.horizon == row.horizon
    assert task.sigma == row.sigma
    assert task.noise == (Noiseless() if name == "toy" else Gaussian(0.01))
    assert task.late == list(row.late)
    assert not task.cascade
    assert task.problem.reward.name == ("max" if name == "k-max" else "sum")
    assert task.problem.scale == (1.0 if name == "k-max" else row.longest)


@every_task
def test_the_family_is_the_one_that_the_structure_describes(name: str) -> None:
    listed = [tuple(arms.tolist()) for arms in rb.tasks.get(name).problem.oracle.super_arms()]
    assert listed == TABLE[name].family()
    assert len(listed) == TABLE[name].size


@every_task
def test_every_super_arm_has_the_stated_size(name: str) -> None:
    assert {arms.size for arms in rb.tasks.get(name).problem.oracle.super_arms()} == {TABLE[name].longest}


def test_late_bloomers_by_label() -> None:
    def late(name: str) -> list:
        task = rb.tasks.get(name)
        return task.problem.labels_of(task.late)

    assert late("matching-easy") == ["w0->j0", "w1->j1"]
    assert late("matching-complex") == ["w0->j0", "w1->j1", "w2->j2", "w3->j3"]
    assert late("spanning-easy") == ["0--2", "1--2", "2--3"]
    assert late("path-easy") == ["0,0->1,0", "1,0->1,1", "1,1->1,2", "1,2->2,2"]
    assert late("toy") == ["shared", "late"]
    # The late bloomers of each path task make one path.
    for name in ("path-easy", "path-complex"):
        task = rb.tasks.get(name)
        assert task.problem.oracle.is_feasible(task.late)


@pytest.mark.parametrize("size", [2, 3, 6])
def test_grid_edges_are_numbered_row_by_row(size: int) -> None:
    edges = grid_edges(size)
    assert len(edges) == 2 * size * (size - 1)
    for i in range(size):
        for j in range(size - 1):
            assert edges[i * (2 * size - 1) + j] == (f"{i},{j}", f"{i},{j + 1}")
    for i in range(size - 1):
        for j in range(size):
            assert edges[i * (2 * size - 1) + (size - 1) + j] == (f"{i},{j}", f"{i + 1},{j}")


def test_unknown_and_repeated_names() -> None:
    with pytest.raises(InputError, match=r"task must be one of toy, path-easy, .*antmaze-complex, lcdb-.*, got 'path'"):
        rb.tasks.get("path")
    with pytest.raises(InputError, match=r"name must be new, but there is a task 'toy' already"):
        rb.tasks.register("toy", lambda: rb.tasks.get("toy"))


def test_a_task_of_ones_own_can_be_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    from rising_bandits.problems import tasks

    monkeypatch.setattr(tasks, "_BUILDERS", dict(tasks._BUILDERS))
    mine = Task("mine", TopK(2, 1), (Flat(0.4), Linear(duration=10)), horizon=100)
    tasks.register("mine", lambda: mine)
    assert tasks.names()[-1] == "mine"
    assert tasks.get("mine") is mine


# --- curves of the tasks -------------------------------------------------------------------------------------------


def plays_to_look_at(horizon: int) -> np.ndarray:
    near = [0, 1, 2, 249, 250, 251, 999, 1_000, 1_001, 4_999, 5_000, 5_001, 19_999, 20_000, 20_001]
    return np.array([*near, *range(3, horizon - 1, 7_919), horizon - 2, horizon - 1])


@every_task
def test_curves_are_the_transcribed_ones(name: str) -> None:
    task, row = rb.tasks.get(name), TABLE[name]
    plays = plays_to_look_at(row.horizon)
    for arm, (curve, kind) in enumerate(zip(task.curves, row.kinds, strict=True)):
        expected = means_of(kind, row.horizon)
        assert curve(plays) == pytest.approx(expected[plays], rel=1e-10, abs=1e-12), (arm, kind)


@every_task
def test_the_whole_table_of_a_curve(name: str) -> None:
    task, row = rb.tasks.get(name), TABLE[name]
    for curve, kind in dict(zip(task.curves, row.kinds, strict=True)).items():
        table = curve.table(row.horizon)
        expected = means_of(kind, row.horizon)
        np.testing.assert_allclose(table, expected[: table.size], rtol=1e-10, atol=1e-12)
        # What the table leaves out is constant.
        assert np.ptp(expected[table.size - 1 :]) == 0.0
        assert curve.total(row.horizon) == pytest.approx(math.fsum(expected), rel=1e-10)


@every_task
def test_means_is_one_mean_per_arm(name: str) -> None:
    task, row = rb.tasks.get(name), TABLE[name]
    for n in (0, 1, 777, 4_999, 5_000, 25_000, row.horizon - 1):
        means = task.means(n)
        assert means.shape == (row.arms,)
        assert means.dtype == np.float64
        assert means == pytest.approx([means_of(kind, row.horizon)[n] for kind in row.kinds], rel=1e-10, abs=1e-12)
        assert means.min() >= 0.0
        assert means.max() <= 1.0
    each = np.arange(row.arms) * 137
    expected = [means_of(kind, row.horizon)[n] for kind, n in zip(row.kinds, each, strict=True)]
    assert task.means(each) == pytest.approx(expected, rel=1e-10, abs=1e-12)
    assert task.means(each.tolist()).tolist() == task.means(each).tolist()


@pytest.mark.parametrize(
    ("kind", "block", "stop", "low", "high"),
    # The transcribed sums are 0.9452002 and 0.7176498; cut, not rounded, to two places they are 0.94 and 0.71.
    [("easy", 250, 5_000, 0.945200, 0.945201), ("complex", 1_000, 20_000, 0.717649, 0.717650)],
)
def test_where_late_bloomers_saturate(kind: str, block: int, stop: int, low: float, high: float) -> None:
    top = float(means_of(kind, stop + 2)[-1])
    assert low < top < high, top
    curve = LateBloomer(block=block, stop=stop)
    assert float(curve(stop)) == pytest.approx(top, rel=1e-12)
    assert float(curve(10**9)) == float(curve(stop))
    assert float(curve(stop - 1)) < float(curve(stop))
    # They end above the early peakers they compete with.
    assert top > {"easy": 0.9, "complex": 0.6}[kind]


def test_toy() -> None:
    task = rb.tasks.get("toy")
    assert task.problem.labels == ("shared", "early", "late")
    assert [tuple(task.problem.labels_of(arms)) for arms in task.problem.oracle.super_arms()] == [
        ("shared", "early"),
        ("shared", "late"),
    ]
    shared, early, late = task.curves
    assert float(shared(0)) == 0.0
    assert float(shared(499_999)) == pytest.approx(1.0, abs=1e-15)
    assert float(shared(499_999)) <= 1.0
    # Unscaled it would pass 1 within the horizon.
    assert late_means(1_000, 500_000, 500_000)[-1] > 1.0
    assert early([0, 1, 499_999]).tolist() == [0.9, 0.9, 0.9]
    assert late([0, 1, 2_500, 4_500, 5_000, 499_999]).tolist() == [0.0, 0.0002, 0.5, 0.9, 1.0, 1.0]
    # It is made for its horizon: a longer run would leave [0, 1], and is refused.
    with pytest.raises(InputError, match=r"means of .* must lie in \[0, 1\], got 0 to 1.* within 500100 plays"):
        rb.optimal_constant(task, 500_100)


def test_k_max_curves() -> None:
    means = rb.tasks.get("k-max").means(5_000)
    top = means_of("easy", 5_001)[-1]
    assert means == pytest.approx([top, 0.3 + 0.5 * top, 0.5 + 0.1 * top, 0.7, 0.9], rel=1e-12)
    assert rb.tasks.get("k-max").means(0).tolist() == [0.0, 0.3, 0.5, 0.7, 0.9]


# --- the optimal constant super arm --------------------------------------------------------------------------------


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


def test_tasks_check_their_parts() -> None:
    with pytest.raises(InputError, match="curves must hold one per base arm, 2, got 1"):
        Task("mine", TopK(2, 1), (Flat(0.5),), horizon=10)
    with pytest.raises(InputError, match=r"noise must be a noise model such as Gaussian\(0.01\), got 0.01"):
        Task("mine", TopK(1, 1), (Flat(0.5),), horizon=10, noise=0.01)
    task = Task("mine", Matching(1, 2), [Flat(0.5), Linear(duration=4)], horizon=10)
    assert isinstance(task.curves, tuple)
    assert task.sigma == 0.01
    assert task.late == [1]
    for wrong in (-1, [0, -3]):
        with pytest.raises(InputError, match=r"n must be a whole number of plays of at least 0, .* got"):
            task.means(wrong)
    with pytest.raises(InfeasibleError, match="mask leaves no feasible super arm"):
        task.problem.oracle.solve([0.1, 0.2], [True, True])


# --- families of curves --------------------------------------------------------------------------------------------

unit = st.floats(0.0, 1.0)
positive = st.floats(0.01, 1e6)


@st.composite
def rising(draw: Callable[[st.SearchStrategy], Any]) -> Curve:
    """A curve of a family that is non-decreasing and concave, with means in [0, 1]."""
    start, end = sorted([draw(unit), draw(unit)])
    kind = draw(st.sampled_from(["flat", "late", "linear", "exponential", "power", "scaled", "capped"]))
    if kind == "flat":
        return Flat(end)
    if kind == "late":
        # Blocks this long keep the sum of all slopes below 1.
        return LateBloomer(block=draw(st.integers(250, 2_000)), stop=draw(st.integers(1, 5_000)))
    if kind == "linear":
        return Linear(duration=draw(st.integers(1, 5_000)), start=start, end=end)
    if kind == "exponential":
        return Exponential(time=draw(positive), start=start, end=end)
    if kind == "power":
        return PowerLaw(scale=draw(positive), power=draw(st.floats(0.01, 5.0)), start=start, end=end)
    if kind == "scaled":
        return Scaled(draw(rising()), factor=end - start, offset=start)
    return Capped(draw(rising()), cap=end)


@quick
@given(curve=rising(), start=st.integers(0, 3_000))
def test_curves_rise_and_bend_down(curve: Curve, start: int) -> None:
    values = curve(np.arange(start, start + 3_000))
    # Rounding of numbers up to 1, and no more.
    assert np.diff(values).min() >= -4e-16
    assert np.diff(values, 2).max() <= 1e-15
    assert values.min() >= 0.0
    assert values.max() <= 1.0


@quick
@given(curve=rising())
def test_a_settled_curve_is_constant(curve: Curve) -> None:
    settled = curve.settled
    if settled is None:
        assert curve.table(50).size == 50
        return
    after = np.array([0, 1, 2, 10, 1_000, 10**9])
    assert np.ptp(curve(settled + after)) == 0.0
    horizon = min(settled, 4_000)
    assert curve.table(10**9 if settled < 10**6 else horizon + 1).size <= settled + 1
    assert curve.table(horizon + 1) == pytest.approx(curve(np.arange(horizon + 1)), abs=0.0)


@quick
@given(curve=rising(), horizon=st.integers(1, 7_000))
def test_total_is_the_sum_of_the_first_means(curve: Curve, horizon: int) -> None:
    assert curve.total(horizon) == pytest.approx(math.fsum(curve(np.arange(horizon))), rel=1e-10, abs=1e-12)
    assert curve.table(horizon).size <= horizon


@quick
@given(block=st.integers(1, 40), stop=st.integers(1, 200))
def test_late_bloomers_of_any_block_and_stop(block: int, stop: int) -> None:
    values = LateBloomer(block=block, stop=stop)(np.arange(260))
    assert values == pytest.approx(late_means(block, stop, 260), rel=1e-12, abs=1e-15)


@quick
@given(st.integers(0, 10**6), positive, st.floats(0.01, 5.0), unit, unit)
def test_closed_formulas(n: int, time: float, power: float, one: float, other: float) -> None:
    a, b = sorted([one, other])
    # The rest of the way to the end is what shrinks, so that is what rounding is measured by.
    close = {"rel": 1e-12, "abs": 1e-15}
    assert float(Exponential(time=time, start=a, end=b)(n)) == pytest.approx(b - (b - a) * math.exp(-n / time), **close)
    expected = b - (b - a) * (1 + n / time) ** -power
    assert float(PowerLaw(scale=time, power=power, start=a, end=b)(n)) == pytest.approx(expected, **close)
    duration = 1 + int(time)
    expected = a + (b - a) * min(n, duration) / duration
    assert float(Linear(duration=duration, start=a, end=b)(n)) == pytest.approx(expected, **close)
    assert float(Scaled(Flat(one), factor=power, offset=-other)(n)) == pytest.approx(power * one - other, **close)
    assert float(Capped(Flat(one), cap=other)(n)) == a


@quick
@given(st.lists(unit, min_size=1, max_size=9), st.integers(0, 20))
def test_tabulated_curves_hold_their_last_value(values: list[float], n: int) -> None:
    curve = Tabulated(values)
    assert float(curve(n)) == values[min(n, len(values) - 1)]
    assert curve.settled == len(values) - 1
    assert curve == Tabulated(tuple(values))
    assert hash(curve) == hash(Tabulated(tuple(values)))


def test_curves_are_values() -> None:
    assert LateBloomer(block=250, stop=5_000) == LateBloomer(250, 5_000)
    assert len({Flat(0.5), Flat(0.5), Flat(0.6), Scaled(Flat(0.5)), Scaled(Flat(0.5))}) == 3
    curve = LateBloomer(block=250, stop=5_000)
    curve(3)
    with pytest.raises(AttributeError):
        curve.block = 3
    assert curve([[0, 1], [2, 3]]).shape == (2, 2)
    assert curve(7).shape == ()


def test_a_curve_of_ones_own() -> None:
    class Root(Curve):
        def mean(self, plays: np.ndarray) -> np.ndarray:
            return 1.0 - 1.0 / np.sqrt(1.0 + plays)

    curve = Root()
    assert curve.settled is None
    assert curve.table(4) == pytest.approx([0.0, 1 - 2**-0.5, 1 - 3**-0.5, 0.5])
    assert curve.total(4) == pytest.approx(sum(curve.table(4)))


class Strange(Curve):
    def mean(self, plays: np.ndarray) -> np.ndarray:
        return np.full(plays.shape, np.nan)


@pytest.mark.parametrize(
    "curve",
    [
        Scaled(Flat(0.9), factor=1.2),
        Scaled(Flat(0.5), offset=-0.6),
        Scaled(Linear(duration=4), factor=1.5),
        LateBloomer(block=1, stop=100),
        Capped(Flat(0.5), cap=-0.1),
        Strange(),
    ],
    ids=["above", "below", "rises-above", "late", "capped-below", "nan"],
)
def test_means_outside_the_unit_interval_are_refused(curve: Curve) -> None:
    with pytest.raises(InputError, match=r"the means of .* must lie in \[0, 1\], got .* to .* within 50 plays"):
        curve.table(50)
    with pytest.raises(InputError, match=r"must lie in \[0, 1\]"):
        curve.total(50)
    with pytest.raises(InputError, match=r"must lie in \[0, 1\]"):
        rb.optimal_constant(Task("mine", TopK(1, 1), (curve,), horizon=50))


def test_only_the_means_that_are_seen_are_checked() -> None:
    curve = Scaled(Linear(duration=4), factor=1.5)
    assert curve.table(3).tolist() == [0.0, 0.375, 0.75]


BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "flat-above": (lambda: Flat(1.1), r"value must be a finite number in \[0, 1\], got 1.1"),
    "flat-below": (lambda: Flat(-0.1), r"value must be a finite number in \[0, 1\], got -0.1"),
    "flat-nan": (lambda: Flat(math.nan), r"value must be .* got nan"),
    "flat-text": (lambda: Flat("0.5"), r"value must be .* got '0.5'"),
    "flat-bool": (lambda: Flat(True), r"value must be .* got True"),
    "flat-none": (lambda: Flat(None), r"value must be .* got None"),
    "plays-fraction": (lambda: Linear(duration=10)([2.9]), r"plays must be whole numbers of plays, got \[2.9\]"),
    "plays-text": (lambda: Flat(0.5)("two"), "plays must be whole numbers of plays, got 'two'"),
    "scaled-number": (lambda: Scaled(0.5), "curve must be a curve such as .* got 0.5"),
    "capped-number": (lambda: Capped(0.5), "curve must be a curve such as .* got 0.5"),
    "table-number": (lambda: Tabulated(5), "values must hold at least one mean, .* got 5"),
    "task-problem": (lambda: Task("x", 5, (), 10), "problem must be a Problem .* got 5"),
    "task-curves": (lambda: Task("x", TopK(2, 1), Flat(0.5), 10), "curves must hold one per base arm, 2"),
    "late-block": (lambda: LateBloomer(block=0, stop=1), "block must be an integer of at least 1, got 0"),
    "late-stop": (lambda: LateBloomer(block=1, stop=2.5), "stop must be an integer of at least 1, got 2.5"),
    "linear-duration": (lambda: Linear(duration=0), "duration must be an integer of at least 1, got 0"),
    "linear-start": (lambda: Linear(duration=1, start=-1), r"start must be a finite number in \[0, 1\], got -1"),
    "linear-falls": (lambda: Linear(1, 0.5, 0.4), r"end must be a finite number in \[0.5, 1\], got 0.4"),
    "linear-end": (lambda: Linear(1, 0.5, 1.4), r"end must be a finite number in \[0.5, 1\], got 1.4"),
    "exponential-time": (lambda: Exponential(time=0), r"time must be a finite number in \(0, inf\], got 0"),
    "exponential-inf": (lambda: Exponential(time=math.inf), r"time must be a finite number .* got inf"),
    "exponential-falls": (lambda: Exponential(1.0, 0.5, 0.4), r"end must be .* \[0.5, 1\], got 0.4"),
    "power-scale": (lambda: PowerLaw(scale=-1, power=1), r"scale must be a finite number in \(0, inf\], got -1"),
    "power-power": (lambda: PowerLaw(scale=1, power=0), r"power must be a finite number in \(0, inf\], got 0"),
    "power-start": (lambda: PowerLaw(1.0, 1.0, 2.0), r"start must be a finite number in \[0, 1\], got 2.0"),
    "scaled-factor": (lambda: Scaled(Flat(0.5), factor=-1), r"factor must be a finite number in \[0, inf\], got -1"),
    "scaled-offset": (lambda: Scaled(Flat(0.5), offset=math.nan), "offset must be a finite number .* got nan"),
    "table-empty": (lambda: Tabulated(()), r"values must hold at least one mean, .* got \(\)"),
    "table-above": (lambda: Tabulated((0.5, 1.5)), r"values must be a finite number in \[0, 1\], got 1.5"),
    "table-nan": (lambda: Tabulated((math.nan,)), "values must be a finite number .* got nan"),
    "noise-below": (lambda: Gaussian(-0.1), r"deviation must be a finite number in \[0, inf\], got -0.1"),
    "noise-inf": (lambda: Gaussian(math.inf), "deviation must be a finite number .* got inf"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_parameters_are_named(case: str) -> None:
    make, message = BAD[case]
    with pytest.raises(InputError, match=message):
        make()


def test_noise_says_how_large_it_is() -> None:
    assert [noise.sigma for noise in (Noiseless(), Gaussian(), Gaussian(0.2), Bernoulli())] == [0.0, 0.01, 0.2, 0.5]
    assert all(hasattr(curves, name) for name in curves.__all__)


# --- what a careful user would meet at the edges -------------------------------------------------------------------

MALFORMED: dict[str, tuple[Callable[[], Any], str]] = {
    "cap-text": (lambda: Capped(Flat(0.5), cap="high"), "cap must be .* got 'high'"),
    "cap-nan": (lambda: Capped(Flat(0.5), cap=math.nan), "cap must be .* got nan"),
    "negative-plays": (lambda: Tabulated((0.1, 0.2))(-1), "-1"),
    "means-shape": (lambda: rb.tasks.get("toy").means([1, 2]), "n must be"),
    "means-fraction": (lambda: rb.tasks.get("toy").means(1.7), "n must be .* got 1.7"),
    "curve-number": (lambda: Task("mine", TopK(1, 1), (0.5,), horizon=10), "curves must .* got 0.5"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_arguments_are_named_too(case: str) -> None:
    make, message = MALFORMED[case]
    with pytest.raises(InputError, match=message):
        make()


def test_a_very_slow_curve_still_says_where_it_settles() -> None:
    curve = Exponential(time=1e308)
    assert curve.settled is None or curve.settled > 10**300
    assert curve.table(3).tolist() == [0.0, 0.0, 0.0]
