"""The recorded online training, against the raw numbers of its file."""

from __future__ import annotations

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits.problems import live_match


def test_the_task_replays_the_recorded_numbers():
    data = live_match.read()
    task = rb.tasks.get("live-match")
    assert len(data["pairs"]) == task.problem.n_arms == 40
    assert task.problem.oracle.max_size == 5
    for pair in data["pairs"]:
        arm = task.problem.index((pair["stream"], pair["model"]))
        assert task.curves[arm](data["plays"]) == pytest.approx(pair["mean"], abs=1e-12)
        assert task.noise.deviations[arm](data["plays"]) == pytest.approx(pair["spread"], abs=1e-12)
        assert task.curves[arm](10**6) == pytest.approx(pair["mean"][-1])
    assert rb.tasks.get("live-match@50").horizon == 50
    # The best matching is not the best model of each stream on its own, since models are not used twice.
    best = rb.optimal_constant(task)
    alone = sum(max(curve.total(1000) for curve in task.curves[at : at + 8]) for at in range(0, 40, 8))
    assert best.total < alone


def test_learning_pays_in_the_recorded_world():
    task = rb.tasks.get("live-match@200")
    blind, learns = (rb.simulate(task, policy, seed=0, compiled=False) for policy in (rb.Random(), rb.SWCUCB()))
    assert 0 < learns.regret[-1] < blind.regret[-1]
    assert np.all(np.diff(learns.realised_reward) > 0)
