"""Delays in the simulator: what is known when, for every policy, and that no delay is the usual run."""

from __future__ import annotations

import copy
import dataclasses
import json

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits.curves import Flat, Linear, Noiseless
from rising_bandits.policies import saving
from rising_bandits.simulation import Geometric, Simulation
from rising_bandits.simulation.delays import Delayed

TASK = rb.Task("x", rb.problems.TopK(3, 1), (Flat(0.4), Linear(duration=80), Flat(0.2)), 60, Noiseless())


class Diary:
    """Plays the arms in turn and writes down what it is told, and when."""

    def start(self, problem, horizon=None, rng=None):
        self.asked, self.told = 0, []

    def select(self):
        self.asked += 1
        return np.array([self.asked % 3])

    def observe(self, arms, outcomes):
        # The round before whose choice this is told, and the round that is told, by its place in the cycle.
        self.told.append((self.asked + 1, int(arms[0]), float(outcomes[0])))


def test_a_fixed_delay_tells_every_round_that_much_later():
    diary = Diary()
    run = rb.simulate(TASK, diary, delay=7)
    # Round t is told before the choice of round t + 8. The last seven rounds are never told.
    assert [when for when, _, _ in diary.told] == list(range(9, 61))
    assert [arm for _, arm, _ in diary.told] == [t % 3 for t in range(1, 53)]
    assert run.plays.sum() == 60
    assert run.regret[-1] == pytest.approx(rb.optimal_constant(TASK).total - run.reward[-1])


def test_geometric_delays_have_their_mean_and_are_the_same_for_all():
    players = [Delayed(Diary(), Geometric(12.0), seed) for seed in (5, 5, 6)]
    drawn = [[next(player._delays) for _ in range(20_000)] for player in players]
    assert drawn[0] == drawn[1] != drawn[2]
    # The deviation of a geometric number with mean 12 is 12.5, so that of the mean is 0.09; 4 deviations.
    assert np.mean(drawn[0]) == pytest.approx(12.0, abs=0.36)
    assert np.mean(np.array(drawn[0]) == 0) == pytest.approx(1 / 13, abs=0.008)


class Follower(rb.SWCUCB):
    """Writes down what is underway."""

    name = "follower"

    def select(self, mask=None, underway=()):
        self.__dict__.setdefault("seen", []).append([arms.tolist() for arms in underway])
        return super().select(mask, underway)


def test_a_policy_knows_what_is_underway():
    policy = Follower(window=20)
    rb.simulate(TASK, policy, horizon=30, delay=4)
    assert [len(open_now) for open_now in policy.seen] == [0, 1, 2, 3, 4] + [4] * 25
    # First plays that are underway count, so no arm gets a third one before the others had two.
    assert policy.seen[4] == [[0], [0], [1], [1]]


@pytest.mark.parametrize("name", [name for name in rb.policies.names() if name != "recommended"])
def test_every_policy_plays_with_delays(name):
    task = rb.Task("y", rb.problems.TopK(3, 2), TASK.curves, 60)
    kind = rb.policies.classes()[name]
    run = rb.simulate(task, kind(**kind.examples()[0]), seed=1, delay=Geometric(3.0))
    assert run.plays.sum() == 120
    assert np.isfinite(run.regret).all()


def test_no_delay_is_the_usual_run_and_bad_delays_are_refused():
    usual = rb.simulate(TASK, rb.SWCUCB(), seed=2, compiled=False)
    same = rb.simulate(TASK, rb.SWCUCB(), seed=2, compiled=False, delay=0)
    late = rb.simulate(TASK, rb.SWCUCB(), seed=2, delay=15)
    assert np.array_equal(usual.regret, same.regret)
    assert late.regret[-1] != usual.regret[-1]
    for bad in (-1, 1.5, "3", True, None):
        with pytest.raises(rb.InputError, match="delay must be a number of rounds"):
            rb.simulate(TASK, rb.SWCUCB(), delay=bad)
    with pytest.raises(rb.InputError, match="mean must be"):
        Geometric(-1.0)


def test_a_delay_of_zero_rounds_through_the_player_changes_nothing():
    """The player with Geometric(0.0) hands everything over at once, so it must decide like the loop itself."""
    task = rb.Task("z", rb.problems.TopK(3, 2), TASK.curves, 60)
    for policy in (rb.SWCUCB(), rb.CRUCB(sigma=0.01)):
        loop = rb.simulate(task, policy.__class__(**policy.parameters()), seed=4, compiled=False)
        player = rb.simulate(task, policy, seed=4, delay=Geometric(0.0))
        assert np.array_equal(loop.regret, player.regret)


@pytest.mark.parametrize("name", [name for name in rb.policies.names() if name != "recommended"])
@pytest.mark.parametrize("delay", [9, Geometric(4.0)])
def test_a_run_with_delays_goes_on_where_it_was(name, delay):
    task = rb.Task("w", rb.problems.TopK(3, 2), TASK.curves, 400)
    kind = rb.policies.classes()[name]
    whole = Simulation(task, kind(**kind.examples()[0]), seed=3, delay=delay)
    stopped = Simulation(task, kind(**kind.examples()[0]), seed=3, delay=delay)
    whole.advance()
    # Also before anything was reported, and beyond the first block of delays.
    for rounds in (1, 4, 30, 240, 90):
        stopped.advance(rounds)
        stopped = Simulation.from_state(json.loads(json.dumps(stopped.state())), task, kind)
        assert stopped.delay == delay
    stopped.advance()
    one, other = whole.result(), stopped.result()
    assert np.array_equal(one.regret, other.regret)
    assert np.array_equal(one.realised_reward, other.realised_reward)
    assert one.super_arm_plays == other.super_arm_plays


def test_a_cascade_with_delays_goes_on_where_it_was():
    task = rb.tasks.get("path-easy")
    task = dataclasses.replace(task, cascade=True)
    runs = [Simulation(task, rb.SWCUCB(window=20), horizon=300, seed=3, delay=Geometric(4.0)) for _ in range(2)]
    runs[1].advance(150)
    runs[1] = Simulation.from_state(runs[1].state(), task, rb.SWCUCB)
    for run in runs:
        run.advance()
    assert np.array_equal(runs[0].result().realised_reward, runs[1].result().realised_reward)


def _set(path, value):
    def edit(delayed):
        *way, last = path
        for step in way:
            delayed = delayed[step]
        delayed[last] = value

    return edit


@pytest.mark.parametrize(
    "edit",
    [
        _set(["delay"], -1),
        _set(["delay"], {"mean": "x"}),
        _set(["delay"], None),
        _set(["open"], []),
        _set(["open"], {}),
        _set(["open"], [[]] * 10),
        _set(["open", 0], None),
        _set(["open", 0], [1, 2, 3, 4, 5]),
        _set(["open", 0, 0], 3),
        _set(["open", 0, 0], "soon"),
        _set(["open", 0, 1], 10**6),
        _set(["open", 1, 1], 21),
        _set(["open", 0, 2], [0, 7]),
        _set(["open", 0, 2], [0]),
        _set(["open", 0, 2], []),
        _set(["open", 0, 3], [0.5, "x"]),
        _set(["open", 0, 3], [0.5, float("nan")]),
        _set(["open", 0, 4], [1, 0]),
        _set(["open", 0, 4], [True]),
    ],
)
def test_open_reports_that_are_none_are_refused(edit):
    task = rb.Task("w", rb.problems.TopK(3, 2), TASK.curves, 60)
    run = Simulation(task, rb.SWCUCB(), seed=3, delay=9)
    run.advance(30)
    state = copy.deepcopy(run.state())
    assert state["delayed"]["open"][0][1] == 21
    edit(state["delayed"])
    state["checksum"] = saving.checksum(state)
    with pytest.raises(rb.InputError):
        Simulation.from_state(state, task, rb.SWCUCB)
