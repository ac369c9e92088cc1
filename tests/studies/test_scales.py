"""Scales: outcomes in the user's unit, and what is refused."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from study_kit import make

import rising_bandits as rb
from rising_bandits.studies import Decay, Inverse, Log, Range, Reciprocal

SCALES = [
    Range(0, 200, lower_is_better=True, unit="ms"),
    Range(-5, 5),
    Log(1, 1000, lower_is_better=True, unit="ms"),
    Log(0.5, 8),
    Decay(half=50, unit="ms"),
    Inverse(half=50, unit="ms"),
    Reciprocal(best=0.5, unit="ms"),
]


@pytest.mark.parametrize("scale", SCALES, ids=repr)
@given(share=st.floats(0, 1), other=st.floats(0, 1))
def test_scales_are_monotone_and_come_back(scale, share, other):
    low, high = scale.domain
    high = min(high, 400.0)
    one, two = (low + part * (high - low) for part in (share, other))
    (raw, value), (_, second) = scale.value(one), scale.value(two)
    assert raw == one
    assert 0 <= value <= 1
    assert scale.outcome(value) == pytest.approx(one, rel=1e-6, abs=1e-6)
    better = one < two if scale.lower_is_better else one > two
    assert value >= second if better else second >= value
    assert rb.studies.scales.scale_from_spec(json.loads(json.dumps(scale.spec()))) == scale


@pytest.mark.parametrize("scale", SCALES, ids=repr)
def test_outcomes_are_in_the_users_unit_everywhere(storage, scale):
    study = make(storage, scale=scale)
    decision = study.ask()
    told = {label: 1.0 + place for place, label in enumerate(decision.super_arm)}
    study.tell(decision, told)
    table = study.history()
    assert dict(zip(table["arm"], table["outcome"], strict=True)) == told
    assert table["value"].tolist() == [scale.value(outcome)[1] for outcome in table["outcome"]]
    wrong = scale.domain[0] - 1
    with pytest.raises(rb.InputError, match=f"outcome of .* got {wrong}"):
        study.tell(study.ask(), {study.open_decisions()[0].super_arm[0]: wrong})


@pytest.mark.parametrize(
    "bad",
    [lambda: Range(1, 1), lambda: Range(math.nan, 1), lambda: Log(0, 1), lambda: Decay(half=0), lambda: Log(2, 1)],
)
def test_bad_scales_are_refused(bad):
    with pytest.raises(rb.InputError):
        bad()


def test_a_scale_that_could_not_be_opened_again_is_refused(tmp_path):
    class Mine(Range):
        def _to(self, outcome):
            return outcome**2

    with pytest.raises(rb.InputError, match=r"scale must be one of Range, Log, .* got .*Mine\("):
        make(f"sqlite:///{tmp_path}/x.db", scale=Mine())
    assert list(tmp_path.iterdir()) == []
