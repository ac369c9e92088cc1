"""The small worlds with outcomes of 0 and 1, against what their descriptions say."""

from __future__ import annotations

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits.curves import Bernoulli
from rising_bandits.errors import InputError
from rising_bandits.experiments.metrics import plays_fallen
from rising_bandits.problems import worlds

NAMES = [family.prefix + member for family in worlds.FAMILIES for member in family.members()]


@pytest.mark.parametrize("name", NAMES)
def test_outcomes_are_0_or_1_and_rounds_follow_the_name(name):
    task, longer = rb.tasks.get(name), rb.tasks.get(f"{name}@7000")
    assert (task.name, longer.name, longer.horizon) == (name, f"{name}@7000", 7000)
    assert task.curves == longer.curves
    assert isinstance(task.noise, Bernoulli)
    assert not task.recorded
    run = rb.simulate(task, rb.Random(), horizon=40, seed=0, compiled=False)
    assert set(np.diff(run.realised_reward, prepend=0.0)) <= {0.0, 1.0}
    assert np.isfinite(run.regret).all()


def test_names_that_are_no_member_are_refused():
    for name in ("imdb-", "imdb-unlike", "tool-box", "two-legs", "drop-", "drop-once@0"):
        with pytest.raises(InputError, match="must"):
            rb.tasks.get(name)


def test_the_model_to_train_depends_on_the_rounds():
    best = {}
    for rounds in (1_000, 5_000, 50_000):
        task = rb.tasks.get(f"imdb-like@{rounds}")
        assert (task.means(0) >= 0.5).all()
        totals = [sum(float(curve(play)) for play in range(0, rounds, 50)) for curve in task.curves]
        best[rounds] = task.problem.labels_of(rb.optimal_constant(task).super_arm)
        assert best[rounds] == [task.problem.labels[int(np.argmax(totals))]]
    assert len({label for (label,) in best.values()}) >= 2


def test_a_chain_and_a_path_are_the_same_world():
    chain, path = rb.tasks.get("tool-chain"), rb.tasks.get("tool-path")
    assert chain.curves == path.curves
    assert chain.cascade
    assert chain.problem.oracle.count() == path.problem.oracle.count() == 81
    assert chain.problem.exact
    assert path.problem.exact
    rng = np.random.default_rng(0)
    for _ in range(20):
        weights = rng.uniform(0.05, 0.95, 12)
        by_stage = [3 * stage + int(np.argmax(weights[3 * stage : 3 * stage + 3])) for stage in range(4)]
        assert chain.problem.oracle.solve(weights).tolist() == path.problem.oracle.solve(weights).tolist() == by_stage
    # Tools that rise with use are the best choice for the whole horizon, and the worse half of it at the start.
    best = rb.optimal_constant(chain).super_arm
    assert best.tolist() == [1, 5, 7, 10]
    assert chain.means(0)[best].max() < 0.75
    same = [rb.simulate(task, rb.SWCUCB(), horizon=150, seed=3, compiled=False).plays for task in (chain, path)]
    assert same[0].tolist() == same[1].tolist()


def test_a_step_that_fails_ends_the_round():
    run = rb.simulate(rb.tasks.get("tool-chain"), rb.Random(), horizon=300, seed=1, compiled=False)
    reached = run.plays.reshape(4, 3).sum(axis=1)
    assert reached[0] == 300
    assert (np.diff(reached) < 0).all()
    assert run.realised_reward[-1] <= reached[3]


def test_arms_fall_where_they_say():
    once, slowly, rising, chain = (rb.tasks.get(f"drop-{name}") for name in ("once", "slowly", "rising", "chain"))
    assert [once.means(n)[0].round(6) for n in (0, 499, 500, 2_999)] == [0.9, 0.9, 0.2, 0.2]
    assert [slowly.means(n)[0].round(6) for n in (0, 500, 1_000, 1_500, 2_999)] == [0.9, 0.9, 0.55, 0.2, 0.2]
    assert rising.means(499)[0] > 0.89 > 0.31 > rising.means(500)[0]
    assert np.flatnonzero(chain.means(500) < chain.means(499)).tolist() == [3]


@pytest.mark.parametrize("name", ["drop-once", "drop-slowly", "drop-rising", "drop-chain", "tool-chain"])
def test_plays_of_fallen_arms_are_counted(name):
    task = rb.tasks.get(name)
    run = rb.simulate(task, rb.policies.classes()["newer-half"](), horizon=2_000, seed=0, compiled=False)
    expected = 0
    for curve, plays in zip(task.curves, run.plays, strict=True):
        best = 0.0
        for play in range(plays):
            mean = float(curve(play))
            expected += mean < best - 0.1
            best = max(best, mean)
    assert plays_fallen(run) == {"plays_fallen": expected}
    assert (expected > 0) == name.startswith("drop")
