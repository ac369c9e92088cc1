"""The paper's tasks against a plain transcription of their definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from task_kit import TABLE, every_task, late_means, means_of

import rising_bandits as rb
from rising_bandits.curves import (
    Flat,
    Gaussian,
    LateBloomer,
    Linear,
    Noiseless,
)
from rising_bandits.errors import InfeasibleError, InputError
from rising_bandits.problems import Matching, Task, TopK
from rising_bandits.problems.tasks import grid_edges


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
