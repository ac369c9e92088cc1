"""Curves and noise from measurements, against plain arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rising_bandits as rb
from rising_bandits.curves import Dropping, Flat, Interpolated, Linear, PowerLaw, Spread
from rising_bandits.curves.draws import normal
from rising_bandits.curves.noise import sample
from rising_bandits.errors import InputError
from rising_bandits.problems import Task, TopK

quick = settings(deadline=None, derandomize=True, max_examples=50)


@st.composite
def knots(draw: st.DrawFn) -> tuple[list[float], list[float]]:
    steps = draw(st.lists(st.floats(0.25, 9.0), min_size=1, max_size=8))
    start = draw(st.floats(-5.0, 5.0))
    values = draw(st.lists(st.floats(0.0, 1.0), min_size=len(steps), max_size=len(steps)))
    return (start + np.cumsum(steps)).tolist(), values


def by_hand(plays: list[float], values: list[float], n: int) -> float:
    if n <= plays[0]:
        return values[0]
    for left in range(len(plays) - 1):
        if n <= plays[left + 1]:
            share = (n - plays[left]) / (plays[left + 1] - plays[left])
            return values[left] + share * (values[left + 1] - values[left])
    return values[-1]


@quick
@given(knots())
def test_an_interpolated_curve_is_straight_between_its_points(given_knots):
    plays, values = given_knots
    curve = Interpolated(tuple(plays), tuple(values))
    expected = [by_hand(plays, values, n) for n in range(60)]
    assert curve(np.arange(60)) == pytest.approx(expected, abs=1e-9)
    # The table ends where the curve is constant, and totals go on from there.
    assert curve.table(60).size <= curve.settled + 1
    assert curve.total(60) == pytest.approx(sum(expected), abs=1e-7)


@pytest.mark.parametrize(
    ("plays", "values", "message"),
    [
        ((0, 1), (0.5,), "values must hold one mean per entry of plays, 2, got 1"),
        ((1, 1), (0.5, 0.6), "plays must ascend"),
        ((0, 1), (0.5, 1.5), r"values must be a finite number in \[0, 1\], got 1.5"),
        ((0, float("nan")), (0.5, 0.5), "plays must be a finite number"),
        ("ab", (0.5,), "plays must be a list of numbers"),
        ((), (), "plays must be a list of at least one number"),
    ],
)
def test_what_is_no_interpolated_curve_is_refused(plays, values, message):
    with pytest.raises(InputError, match=message):
        Interpolated(plays, values)


def test_a_drop_multiplies_from_its_play_on():
    curve = Dropping(Linear(duration=10), at=5, factor=0.5)
    assert curve(np.arange(12)).tolist() == [0.0, 0.1, 0.2, 0.3, 0.4, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.5]
    assert (curve.settled, Dropping(Flat(0.5), at=90).settled) == (10, 90)
    assert Dropping(PowerLaw(scale=3.0, power=1.0), at=2).settled is None
    with pytest.raises(InputError, match="factor"):
        Dropping(Flat(0.5), at=3, factor=1.5)


def test_a_spread_is_that_of_the_arm_and_the_play():
    noise = Spread((Interpolated((0, 2), (0.4, 0.0)), Flat(0.1)))
    assert noise.sigma == 0.4
    assert Spread(noise.deviations, told=0.2).sigma == 0.2
    state, word = noise.state(), 2**60 + 12_345
    deviations = {(0, 0): 0.4, (0, 1): 0.2, (0, 2): 0.0, (0, 9): 0.0, (1, 0): 0.1, (1, 7): 0.1}
    for (arm, play), deviation in deviations.items():
        expected = min(1.0, max(0.0, 0.5 + deviation * normal(word)))
        assert sample(state, arm, play, 0.5, word) == pytest.approx(expected, abs=1e-12)
    outcomes = [sample(state, 0, 0, 0.9, word) for word in range(0, 2**63, 2**63 // 999)]
    assert min(outcomes) >= 0.0
    assert max(outcomes) == 1.0


def test_a_spread_for_another_number_of_arms_is_refused():
    with pytest.raises(InputError, match="deviations must hold one curve per base arm, 2, got 1"):
        Task("x", TopK(2, 1), (Flat(0.5), Flat(0.5)), 10, Spread((Flat(0.1),)))
    with pytest.raises(InputError, match="curves that become constant"):
        Spread((PowerLaw(scale=3.0, power=1.0),))


def test_the_comparator_is_exact_where_curves_fall():
    falling = Interpolated((0, 9, 19), (0.2, 0.9, 0.1))
    task = Task("x", TopK(2, 1), (falling, Flat(0.45)), 20, Spread((Flat(0.0), Flat(0.0))))
    for horizon, best in ((5, 1), (14, 0), (60, 1)):
        totals = [sum(float(curve(n)) for n in range(horizon)) for curve in task.curves]
        found = rb.optimal_constant(task, horizon)
        assert found.super_arm.tolist() == [best]
        assert found.total == pytest.approx(max(totals))
    run = rb.simulate(task, rb.Random(), seed=1, compiled=False)
    assert run.regret[-1] == pytest.approx(rb.optimal_constant(task).total - run.reward[-1])
