"""Linear constraints: the list and the integer solver, their tolerances, threads and output."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle_kit import ordinary, quicker

from rising_bandits.errors import InfeasibleError
from rising_bandits.oracles import (
    Assignments,
    LinearSets,
)


def test_larger_linear_constraints_against_the_same_family_by_structure() -> None:
    # Assignments written as constraints: every worker once, every job at most once.
    rng = np.random.default_rng(3)
    rows = np.zeros((9, 20))
    for worker, job in itertools.product(range(4), range(5)):
        rows[worker, worker * 5 + job] = rows[4 + job, worker * 5 + job] = 1
    linear = LinearSets(rows, lower=[1] * 4 + [None] * 5, upper=[1] * 9)
    assert linear.count() == Assignments(4, 5).count() == 120
    for _ in range(10):
        weights = rng.normal(size=20)
        assert linear.solve(weights).tolist() == Assignments(4, 5).solve(weights).tolist()


@quicker
@given(rng=ordinary, scale=st.sampled_from([1e-200, 1e-6, 1.0, 1e6, 1e200]))
def test_linear_sets_tell_nearly_equal_weights_apart(rng: np.random.Generator, scale: float) -> None:
    # The solver stops at an absolute gap, so weights of any size must be brought to one that it can tell apart.
    oracle = LinearSets(rng.integers(0, 4, (2, 7)), upper=[9, 9])
    weights = scale * (1.0 + 1e-10 * rng.permutation(7))
    best = max(weights[arms].sum() for arms in oracle.super_arms())
    assert weights[oracle.solve(weights)].sum() == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize(
    ("row", "upper", "best"),
    [
        ([1e9, 1.0], 1e9, 1),
        ([1e9, 1e9, 3.0, 2.0], 1e9 + 3, 2),
        ([0.1] * 3, 0.3, 3),
        ([1.0] * 3, 0.6 / 0.2, 3),
        ([3e5, 3e5, 1.0], 6e5, 2),
    ],
)
def test_linear_sets_forgive_rounding_and_never_a_whole_one(row: list[float], upper: float, best: int) -> None:
    oracle = LinearSets([row], upper=[upper])
    assert len(oracle.solve(np.ones(len(row)))) == best
    assert max(map(len, oracle.super_arms())) == best


def test_linear_sets_solve_in_threads_and_keep_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    oracle = LinearSets([[1, 1, 0], [0, 1, 1]], upper=[1, 1])
    begun = os.fstat(1)

    def work() -> None:
        for seed in range(20):
            oracle.solve(np.random.default_rng(seed).random(3))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    now = os.fstat(1)
    assert (now.st_dev, now.st_ino) == (begun.st_dev, begun.st_ino)
    os.write(1, b"still here")
    assert capfd.readouterr().out == "still here"


def test_linear_sets_solve_without_standard_output() -> None:
    code = (
        "import os, sys; os.close(1); sys.stdout = None\n"
        "from rising_bandits.oracles import LinearSets\n"
        "sys.exit(LinearSets([[1, 1]], upper=[1]).solve([0.2, 0.7]).tolist() != [1])"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_linear_sets_take_subnormal_weights() -> None:
    assert LinearSets([[1, 1, 1]], upper=[1]).solve([0.0, 1e-310, 0.0]).tolist() == [1]


def test_linear_sets_with_wide_coefficients_are_exact_or_say_that_they_are_not() -> None:
    few = LinearSets([[-19999999, -1, 20000000, 9999999]], upper=[9999998])
    assert few.exact
    assert few.solve([1.0, -0.1, -0.1, -0.1]).tolist() == [0]
    rows = [
        [-19999998, 29999999, -30000002, -20000002, 19999999, 30000002],
        [-3, -20000003, -30000002, 9999997, -20000001, -10000003],
    ]
    oracle = LinearSets(rows, upper=[-20000005, -30000004])
    weights = np.array([0.0, 1, -1, 1, 1, 2])
    assert weights[oracle.solve(weights)].sum() == max(weights[arms].sum() for arms in oracle.super_arms())
    assert not LinearSets([[10**6] * 30], upper=[10**7]).exact
    assert LinearSets([[1] * 30], upper=[3]).exact


def test_a_small_family_under_linear_constraints_is_listed_and_gives_the_answers_of_the_integer_solver(monkeypatch):
    from rising_bandits.oracles import linear

    rng = np.random.default_rng(12)
    for _ in range(25):
        rows, arms = int(rng.integers(1, 4)), int(rng.integers(2, 11))
        matrix = rng.integers(-3, 6, (rows, arms)).astype(float)
        bounds = {"lower": rng.integers(-6, 2, rows), "upper": rng.integers(2, 9, rows)}
        try:
            listed = LinearSets(matrix, **bounds)
        except InfeasibleError:
            continue
        with monkeypatch.context() as patch:
            patch.setattr(linear, "MOST_LISTED", 0)
            solved = LinearSets(matrix, **bounds)
        assert solved.kernel() is None
        assert listed.kernel() is not None
        assert [tuple(a) for a in listed.super_arms()] == [tuple(a) for a in solved.super_arms()]
        assert listed.max_size == solved.max_size
        for _ in range(5):
            weights, mask = rng.normal(size=arms), rng.random(arms) < 0.2
            assert listed.can(mask) == solved.can(mask)
            if listed.can(mask):
                totals = [weights[oracle.solve(weights, mask)].sum() for oracle in (listed, solved)]
                assert totals[0] == pytest.approx(totals[1], abs=1e-9)
    # More sets than are listed: left to the solver, and quickly so.
    assert LinearSets(np.ones((1, 40)), upper=[20]).kernel() is None
