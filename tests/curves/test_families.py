"""Curves: that they rise and bend down, their formulas, and what they refuse."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from task_kit import late_means, quick

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
from rising_bandits.errors import InputError
from rising_bandits.problems import Task, TopK

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
    "task-curves": (lambda: Task("x", TopK(2, 1), Flat(0.5), 10), "curves must be curves, one per base arm"),
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
