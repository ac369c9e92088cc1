"""The learning-curve tasks, against the raw numbers of their file."""

from __future__ import annotations

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits.errors import InputError
from rising_bandits.problems import lcdb, portfolio


def test_the_file_is_whole():
    ids = lcdb.ids()
    assert len(ids) == 248
    assert sum(key % 2 for key in ids) == 124
    for key in ids:
        found = lcdb.curves(key)
        assert 4 <= len(found) <= 20
        assert len({curve.learner for curve in found}) == len(found)
        largest = {curve.size[-1] for curve in found}
        assert len(largest) == 1
        for curve in found:
            assert np.all(np.diff(curve.size) > 0)
            assert np.all((curve.accuracy >= 0) & (curve.accuracy <= 1))
            assert np.all(curve.seconds > 0)
            assert np.all(np.isfinite(curve.seconds))


def test_a_task_spreads_the_data_over_its_rounds():
    for horizon in (200, 1000):
        task = rb.tasks.get(f"lcdb-14@{horizon}")
        assert (task.name, task.horizon) == (f"lcdb-14@{horizon}", horizon)
        assert task.recorded
        for arm, curve in enumerate(lcdb.curves(14)):
            rows = np.maximum((np.arange(horizon) + 1) / horizon * curve.size[-1], curve.size[0])
            for values, made in (
                (curve.accuracy, task.curves[arm]),
                (curve.spread, task.noise.deviations[arm]),
            ):
                assert made(np.arange(horizon)) == pytest.approx(np.interp(rows, curve.size, values), abs=1e-9)
        assert task.means(horizon - 1) == pytest.approx([curve.accuracy[-1] for curve in lcdb.curves(14)])
    assert rb.tasks.get("lcdb-14").horizon == 1000


def test_names_that_are_no_member_are_refused():
    for name, message in {
        "lcdb-5": "one of the 250 members of lcdb-..., such as lcdb-",
        "lcdb-": "one of the 250 members",
        "lcdb-3@": "number of rounds",
        "lcdb-3@0": "number of rounds",
        "lcdb-3@-5": "number of rounds",
        "lcdb-3@1e3": "number of rounds",
    }.items():
        with pytest.raises(InputError, match=message):
            rb.tasks.get(name)
    with pytest.raises(InputError, match="dataset must be one of the 248"):
        lcdb.task(5)


def test_a_run_of_a_member_is_planned_and_shared():
    assert rb.tasks.shared("lcdb-3@200") is rb.tasks.shared("lcdb-3@200")
    task = rb.tasks.get("lcdb-3@200")
    run = rb.simulate(task, rb.Random(), seed=1, compiled=False)
    assert 0.1 < run.regret[-1] / rb.optimal_constant(task).total < 0.4


def test_a_portfolio_stays_within_its_budget():
    task = rb.tasks.get("lcdb-portfolio@300")
    problem = task.problem
    assert problem.oracle.max_size == 8
    # The most accurate classifiers together cost four times the budget.
    dearest = [max(lcdb.curves(key), key=lambda curve: curve.accuracy[-1]) for key in portfolio.DATASETS["portfolio"]]
    assert problem.budget == pytest.approx(sum(curve.seconds[-1] for curve in dearest) / 4)
    best = rb.optimal_constant(task)
    assert sum(problem.costs[label] for label in problem.labels_of(best.super_arm)) <= problem.budget
    # The optimum of the integer solver, on the same costs in units.
    totals = np.array([curve.total(300) for curve in task.curves])
    rows = [[arm in group for arm in range(problem.n_arms)] for group in problem.oracle.groups]
    limits = [1] * len(rows)
    highs = rb.oracles.LinearSets([*rows, problem.oracle.units], [*limits, None], [*limits, problem.oracle.resolution])
    assert best.total == pytest.approx(totals[highs.solve(totals)].sum(), rel=1e-9)
    assert all(key % 2 == 1 for key in portfolio.DATASETS["portfolio"])
    assert all(key % 2 == 0 for key in portfolio.DATASETS["portfolio-even"])


def test_a_portfolio_is_played():
    task = rb.tasks.get("lcdb-portfolio@300")
    share = {}
    for policy in (rb.Random(), rb.SWCUCB()):
        run = rb.simulate(task, policy, horizon=150, seed=2, compiled=False)
        assert run.plays.sum() == 150 * 8
        share[policy.name] = run.regret[-1] / run.optimum.total
    assert 0.02 < share["sw-cucb"] < share["random"] < 0.5
