"""Diagnostics of logs: error rates as promised, the right answer for curves that are known, no guess without data."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tracemalloc

import numpy as np
import pyarrow
import pytest
from scipy import stats

from rising_bandits.curves import Exponential, Flat, LateBloomer, Linear
from rising_bandits.errors import InputError
from rising_bandits.plots.diagnosis import draw_diagnosis, plot_diagnosis, running_mean
from rising_bandits.plots.style import figure
from rising_bandits.theory.diagnose import FEWEST, NEGLIGIBLE, Diagnosis, diagnose

ARMS = 400
QUESTIONS = ("rising", "concave", "plateaued")


def simulate(curve, plays, noise, *, arms=ARMS, seed=0, **settings) -> Diagnosis:
    """Many arms with the same curve: ``noise`` is a deviation, or "coin" for outcomes of 0 and 1."""
    rng = np.random.default_rng(seed)
    mean = np.broadcast_to(curve(np.arange(plays)), (arms, plays))
    outcomes = rng.random(mean.shape) < mean if noise == "coin" else mean + rng.normal(0.0, noise, mean.shape)
    assert outcomes.min() >= 0
    assert outcomes.max() <= 1, "clipping would change the means"
    columns = {"arm": np.repeat(np.arange(arms), plays), "play": np.tile(np.arange(plays), arms)}
    return diagnose({**columns, "outcome": outcomes.ravel()}, **settings)


def one(outcomes, plays=None, **settings):
    plays = np.arange(len(outcomes)) if plays is None else plays
    return diagnose({"arm": ["a"] * len(outcomes), "play": plays, "outcome": outcomes}, **settings).arms[0]


def count(diagnosis: Diagnosis, question: str, verdict: str) -> int:
    return sum(getattr(arm, question).verdict == verdict for arm in diagnosis.arms)


def expected(chance: float, trials: int = ARMS) -> tuple[float, float]:
    """Where a count lies with a chance of 99.9%."""
    low, high = stats.binom.interval(0.999, trials, chance)
    return float(low), float(high)


def sigmoid(plays: int, middle: float):
    """A curve that is flat, then rises, then is flat again: rising, but not concave."""
    return lambda n: 0.1 + 0.8 / (1.0 + np.exp(-(n - middle * plays) / (plays / 20)))


# What flat arms are called


@pytest.mark.parametrize(
    ("value", "plays", "noise"),
    [(0.5, 60, 0.1), (0.5, 300, 0.1), (0.5, 100, "coin"), (0.1, 300, "coin"), (0.5, FEWEST, 0.1)],
)
def test_flat_arms_are_called_rising_convex_or_still_rising_as_seldom_as_stated(value, plays, noise):
    found = simulate(Flat(value), plays, noise, seed=1)
    low, high = expected(0.05)
    assert count(found, "rising", "yes") <= high
    if plays > FEWEST:
        assert count(found, "rising", "yes") >= low
    # Bonferroni's correction makes the second rate smaller than stated, never larger.
    assert count(found, "concave", "no") <= high
    assert count(found, "plateaued", "no") <= expected(0.025)[1]


def test_the_level_is_the_users():
    strict, loose = (simulate(Flat(0.5), 100, 0.1, seed=2, level=level) for level in (0.99, 0.8))
    for found, error in ((strict, 0.01), (loose, 0.2)):
        low, high = expected(error)
        assert low <= count(found, "rising", "yes") <= high
        assert found.level == 1 - error
    for question in (*QUESTIONS, "sigma"):
        narrow, wide = (getattr(found.arms[0], question).interval for found in (loose, strict))
        assert wide[0] < narrow[0] < narrow[1] < wide[1]


# Rising


@pytest.mark.parametrize("noise", [0.1, "coin"])
def test_the_trend_test_is_kendalls(noise):
    for arm in simulate(Linear(60, 0.4, 0.6), 60, noise, arms=20, seed=3).arms:
        reference = stats.kendalltau(arm.plays, arm.outcomes, alternative="greater").pvalue
        assert arm.rising.p_value == pytest.approx(reference)
        # The definition, pair by pair, with the variance for ties (Kendall 1975).
        signs = np.sign(arm.outcomes[None, :] - arm.outcomes[:, None])[np.triu_indices(60, 1)]
        ties = np.unique(arm.outcomes, return_counts=True)[1]
        variance = (60 * 59 * 125 - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
        assert arm.rising.p_value == pytest.approx(stats.norm.sf(signs.sum() / variance**0.5), abs=1e-9)


@pytest.mark.parametrize(
    ("curve", "plays", "noise"),
    [
        (LateBloomer(100, 900), 300, "coin"),
        (Linear(200, 0.3, 0.7), 200, 0.05),
        (Exponential(40.0, 0.1, 0.9), 200, "coin"),
    ],
)
def test_arms_that_clearly_rise_are_found(curve, plays, noise):
    assert count(simulate(curve, plays, noise, arms=100, seed=4), "rising", "yes") >= 98


def test_arms_that_fall_or_stay_do_not_rise():
    fall = one(0.8 - 0.3 * np.arange(200) / 200 + np.random.default_rng(5).normal(0.0, 0.05, 200))
    assert fall.rising.verdict == "no"
    assert fall.rising.interval[1] < 0
    assert count(simulate(Flat(0.5), 1000, 0.02, arms=50, seed=5), "rising", "no") >= 40


def test_the_interval_of_the_rise_covers_it():
    found = simulate(Linear(150, 0.1, 0.8), 150, "coin", seed=6)
    true = 0.7 * 100 / 150
    low, high = expected(0.95)
    assert low <= sum(arm.rising.interval[0] <= true <= arm.rising.interval[1] for arm in found.arms) <= high


# Concave


def test_the_arch_is_the_coefficient_of_a_quadratic_regression():
    rng = np.random.default_rng(7)
    plays = np.sort(rng.choice(1000, 150, replace=False))
    arm = one(rng.random(150), plays)
    z = 2 * (plays - plays[0]) / (plays[-1] - plays[0]) - 1
    assert arm.concave.estimate == pytest.approx(-np.polyfit(z, arm.outcomes, 2)[0])
    assert arm.concave.stretch == (plays[0], plays[-1])


@pytest.mark.parametrize(
    ("curve", "plays", "noise", "verdict"),
    [
        (LateBloomer(100, 900), 900, 0.0, "yes"),
        (lambda n: 0.03 + 0.9 * LateBloomer(100, 900)(n), 900, 0.005, "yes"),
        (LateBloomer(100, 5000), 20_000, "coin", "yes"),
        (Linear(2000, 0.1, 0.6), 1000, 0.01, "yes"),
        (Linear(500), 1500, 0.0, "yes"),
        (Exponential(80.0, 0.1, 0.9), 400, 0.01, "yes"),
        (Flat(0.4), 500, 0.01, "yes"),
        (lambda n: 0.1 + 0.8 * (n / 400) ** 2, 400, 0.02, "no"),
        (lambda n: (n / 400) ** 2, 400, 0.0, "no"),
        (lambda n: 0.1 + 0.8 * (n / 2000) ** 2, 2000, "coin", "no"),
        (sigmoid(400, 0.5), 400, 0.02, "no"),
        (sigmoid(400, 0.25), 400, 0.02, "no"),
        (sigmoid(400, 0.75), 400, 0.02, "no"),
    ],
)
def test_curves_that_are_known_to_be_concave_or_not(curve, plays, noise, verdict):
    found = simulate(curve, plays, noise, arms=20, seed=8)
    assert count(found, "concave", verdict) >= 17
    assert count(found, "concave", "no" if verdict == "yes" else "yes") <= 3


@pytest.mark.parametrize(
    ("curve", "plays", "noise"),
    [
        (Linear(200, 0.1, 0.9), 200, "coin"),
        (Linear(400, 0.45, 0.55), 400, 0.1),
        (Exponential(50.0, 0.1, 0.9), 200, "coin"),
        (LateBloomer(50, 150), 300, "coin"),
    ],
)
def test_concave_arms_are_refuted_as_seldom_as_stated(curve, plays, noise):
    """Also where the variance changes with the mean, and where the curve has a kink."""
    assert count(simulate(curve, plays, noise, seed=9), "concave", "no") <= expected(0.05)[1]


@pytest.mark.parametrize(("plays", "noise"), [(100, 0.02), (400, "coin"), (2000, "coin")])
def test_a_late_rise_under_noise_is_not_called_concave(plays, noise):
    found = simulate(sigmoid(plays, 0.25), plays, noise, arms=200, seed=10)
    assert count(found, "concave", "yes") <= expected(0.05, 200)[1]


def test_increments_that_do_not_grow_always_arch():
    """Whatever plays are missing: the reason why the test of concavity keeps its level for all concave curves."""
    rng = np.random.default_rng(27)
    for _ in range(200):
        increments = np.sort(rng.exponential(size=300) ** rng.uniform(0.5, 5))[::-1]
        curve = np.cumsum(increments) / increments.sum()
        plays = np.sort(rng.choice(300, rng.integers(FEWEST, 200), replace=False))
        found = one(np.minimum(curve[plays], 1.0), plays).concave
        assert found.estimate > -1e-12
        assert found.verdict != "no"


def test_a_refuted_arm_is_told_where_it_sags():
    found = simulate(sigmoid(800, 0.5), 800, 0.01, arms=1, seed=11).arms[0]
    assert found.concave.verdict == "no"
    assert found.concave.stretch == (0, 399)
    assert found.concave.interval[1] < 0


def test_a_lone_play_far_away_decides_nothing():
    found = one(np.append(np.random.default_rng(12).random(30) * 0.1, 1.0), [*range(30), 10**12])
    assert found.concave.verdict == found.plateaued.verdict == "cannot tell"
    assert json.dumps(found.concave.interval) == "[-1.5, 1.5]"


# Plateaued


def test_the_gain_is_the_slope_of_the_last_third_prolonged():
    rng = np.random.default_rng(13)
    plays = np.sort(rng.choice(500, 90, replace=False))
    arm = one(0.5 + rng.uniform(-0.05, 0.05, 90), plays)
    slope = np.polyfit(plays[60:], arm.outcomes[60:], 1)[0]
    assert arm.plateaued.estimate == pytest.approx(slope * (plays[-1] - plays[0] + 1))
    assert arm.span == plays[-1] - plays[0] + 1


@pytest.mark.parametrize(
    ("curve", "plays", "noise", "verdict"),
    [
        (Linear(300, 0.1, 0.9), 1000, 0.01, "yes"),
        (LateBloomer(100, 300), 900, 0.0, "yes"),
        (Flat(0.5), 1000, 0.01, "yes"),
        (Linear(2000, 0.3, 0.9), 1000, 0.05, "no"),
        (Linear(2000, 0.1, 0.9), 2000, "coin", "no"),
        (Linear(300, 0.1, 0.9), 1000, "coin", "cannot tell"),
    ],
)
def test_arms_that_have_levelled_off_or_not(curve, plays, noise, verdict):
    assert count(simulate(curve, plays, noise, arms=20, seed=14), "plateaued", verdict) >= 17


def test_arms_that_still_gain_are_called_level_as_seldom_as_stated():
    """The slope is such that the gain is just what counts as negligible."""
    rise = NEGLIGIBLE / 300
    found = simulate(lambda n: 0.4 + rise * n, 300, 0.02, seed=15)
    assert count(found, "plateaued", "yes") <= expected(0.025)[1]


# Sigma


def test_sigma_is_half_the_mean_square_difference():
    outcomes = np.random.default_rng(16).random(80)
    assert one(outcomes).sigma.estimate == pytest.approx(np.sqrt(np.mean(np.diff(outcomes) ** 2) / 2))


@pytest.mark.parametrize("plays", [FEWEST, 100, 500])
def test_the_interval_of_sigma_covers_it(plays):
    """A slow rise does not matter; heavier tails than Gaussian ones are allowed for, so it may cover more."""
    found = simulate(Linear(10_000, 0.4, 0.9), plays, 0.05, seed=17)
    covered = sum(arm.sigma.interval[0] <= 0.05 <= arm.sigma.interval[1] for arm in found.arms)
    assert expected(0.95)[0] <= covered <= expected(0.98)[1]


@pytest.mark.parametrize(("chance", "plays"), [(0.5, 100), (0.2, 200), (0.03, 500)])
def test_the_interval_of_sigma_covers_that_of_a_coin(chance, plays):
    found = simulate(Flat(chance), plays, "coin", seed=18)
    true = np.sqrt(chance * (1 - chance))
    covered = sum(arm.sigma.interval[0] <= true <= arm.sigma.interval[1] for arm in found.arms)
    assert covered >= expected(0.95)[0]
    assert all(arm.sigma.interval[1] <= 0.5 for arm in found.arms)


def test_overlapping_differences_have_two_thirds_of_the_freedom():
    """The variance of the estimate, simulated, is the one that the degrees of freedom stand for."""
    steps = np.diff(np.random.default_rng(19).normal(size=(20_000, 50)), axis=1)
    estimates = (steps**2).mean(axis=1) / 2
    m = 49
    assert 2 / estimates.var() == pytest.approx(2 * m**2 / (3 * m - 1), rel=0.05)


# Outcomes that hardly vary


def test_a_log_without_noise_is_taken_at_its_word():
    found = one(np.full(50, 0.5))
    assert [getattr(found, question).verdict for question in QUESTIONS] == ["no", "yes", "yes"]
    assert found.sigma.estimate == 0
    assert found.sigma.interval == (0, 0)


def test_successes_that_did_not_come_yet_are_thought_of():
    for outcomes in (np.zeros(60), np.ones(60), np.arange(60) == 20):
        found = one(outcomes)
        assert {getattr(found, question).verdict for question in QUESTIONS} == {"cannot tell"}
        assert found.sigma.interval[1] > 0.15
    assert one(np.zeros(200_000)).plateaued.verdict == "yes"


# What logs may be


class Frame:
    """What a data frame offers, as far as it is used."""

    def __init__(self, columns):
        self.data = columns
        self.columns = list(columns)

    def __getitem__(self, name):
        return self.data[name]


class Exportable:
    def __init__(self, columns):
        self.data = columns

    def to_dict(self, orient):
        assert orient == "list"
        return self.data


def columns() -> dict[str, list]:
    rng = np.random.default_rng(20)
    arms = ["slow"] * 60 + ["fast"] * 40
    plays = [*range(0, 120, 2), *range(40)]
    return {"arm": arms, "play": plays, "outcome": rng.random(100).tolist(), "note": ["-"] * 100}


def test_every_form_of_a_log_gives_the_same():
    wide = columns()
    rows = list(zip(wide["arm"], wide["play"], wide["outcome"], strict=True))
    dtype = [("arm", "U8"), ("play", "i4"), ("outcome", "f8")]
    forms = [
        rows,
        iter(rows),
        [list(row) for row in rows],
        np.array(rows, dtype=dtype),
        np.array(rows, dtype=object),
        {name: np.array(column) for name, column in wide.items()},
        {**wide, "play": [float(play) for play in wide["play"]]},
        {**wide, "play": [np.int32(play) for play in wide["play"]]},
        Frame({name: np.array(column) for name, column in wide.items()}),
        Exportable(wide),
        pyarrow.table(wide),
        pyarrow.RecordBatch.from_pydict(wide),
    ]
    known = diagnose(wide)
    assert [arm.label for arm in known.arms] == ["slow", "fast"]
    for form in forms:
        assert diagnose(form) == known


def test_order_does_not_matter_and_gaps_are_told():
    wide = columns()
    order = np.random.default_rng(21).permutation(100)
    mixed = diagnose({name: np.array(column)[order] for name, column in wide.items()})
    for arm in diagnose(wide).arms:
        other = mixed.arm(arm.label)
        assert other == arm
        assert np.array_equal(other.plays, arm.plays)
        assert np.array_equal(other.outcomes, arm.outcomes)
    assert "60 plays (59 more between them are not in the log)" in mixed.summary()
    assert mixed.arm("slow").span == 119


def test_labels_are_kept_and_data_is_not_touched():
    labels = [("a", 1), 7, "x", 2.5, True]
    outcomes = np.full(5, 0.5)
    found = diagnose({"arm": labels, "play": [0] * 5, "outcome": outcomes})
    assert [arm.label for arm in found.arms] == labels
    assert outcomes.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        found.arms[0].outcomes[0] = 1.0
    counted = diagnose({"arm": np.array([3, 3, 1]), "play": [0, 1, 0], "outcome": [True, False, True]})
    assert json.loads(json.dumps(counted.rows()))[0]["arm"] == 3


def test_lost_reports_do_not_change_what_is_found():
    rng = np.random.default_rng(22)
    kept = np.sort(rng.choice(1000, 600, replace=False))
    found = one(Exponential(150.0, 0.1, 0.9)(kept) + rng.normal(0.0, 0.01, 600), kept)
    assert (found.rising.verdict, found.concave.verdict) == ("yes", "yes")
    assert found.sigma.interval[0] < 0.011


def test_too_few_plays():
    found = diagnose([("a", play, 0.1 + 0.04 * play) for play in range(FEWEST - 1)] + [("b", 5, 0.5)])
    for arm in found.arms:
        verdicts = {getattr(arm, question).verdict for question in (*QUESTIONS, "sigma")}
        assert verdicts == {"too few plays"}
        assert arm.rising.p_value is arm.concave.interval is arm.sigma.estimate is None
    assert [arm.missing_plays for arm in found.arms] == [1, FEWEST - 1]
    assert "arm 'b': 1 play\n  too few plays: 20 are needed, 19 more" in found.summary()
    assert found.rows()[1]["missing_plays"] == 19
    enough = one(0.1 + 0.04 * np.arange(FEWEST))
    assert enough.missing_plays == 0
    assert enough.rising.verdict == "yes"


def test_rows_are_plain_and_the_summary_can_be_read():
    found = diagnose(columns())
    rows = found.rows()
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    slow = found.arm("slow")
    assert rows[0]["arm"] == "slow"
    assert rows[0]["plays"] == 60
    assert rows[0]["rising"] == slow.rising.verdict
    assert rows[0]["concave_p_value"] == slow.concave.p_value
    assert (rows[0]["gain_low"], rows[0]["gain_high"]) == slow.plateaued.interval
    assert (rows[0]["sigma"], rows[0]["sigma_low"]) == (slow.sigma.estimate, slow.sigma.interval[0])
    text = found.summary()
    assert text.startswith("2 arms, 100 plays; tests and intervals at 95% for each arm\nrising: ")
    for part in ("arm 'slow': 60 plays", "arm 'fast': 40 plays", "  concave: ", "  plateaued: ", "  sigma: 0."):
        assert part in text
    coin = diagnose([(0, play, play % 2) for play in range(30)])
    assert "give policies 0.5" in coin.summary()
    assert coin.summary().startswith("1 arm, 30 plays")


def test_calls_and_memory_are_in_proportion_to_the_plays():
    def cost(plays):
        """The function calls of a diagnosis of so many plays, and its largest memory in bytes."""
        rng = np.random.default_rng(23)
        log = {"arm": ["a"] * plays, "play": rng.permutation(plays), "outcome": rng.random(plays)}
        calls = itertools.count()
        sys.setprofile(lambda *_: next(calls))
        diagnose(log)
        sys.setprofile(None)
        tracemalloc.start()
        diagnose(log)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return next(calls), peak

    cost(1_000)
    (few, little), (many, much) = cost(1_000), cost(20_000)
    assert many < 25 * few
    assert much < 25 * little < 25 * 300 * 1_000


def test_statistics_are_loaded_only_when_they_are_needed():
    code = "import sys, rising_bandits.theory.diagnose; print('scipy.stats' in sys.modules, 'pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


# What is refused


def changed(name, row, value):
    log = {key: list(column) for key, column in columns().items()}
    log[name][row] = value
    return log


@pytest.mark.parametrize(
    ("logs", "words"),
    [
        ({"arm": ["a"], "plays": [0]}, r"columns \['arm', 'play', 'outcome'\], got \['arm', 'plays'\]; add \['play'"),
        (Frame({"arm": ["a"], "play": [0]}), r"add \['outcome'\]"),
        (pyarrow.table({"arm": ["a"], "play": [0]}), r"add \['outcome'\]"),
        ({"arm": ["a"], "play": [0, 1], "outcome": [0.5, 0.5]}, "equal length.*'arm': 1, 'play': 2, 'outcome': 2"),
        ({"arm": "a", "play": [0], "outcome": [0.5]}, "arm must be a list.*got 'a'"),
        ({"arm": ["a"], "play": 0, "outcome": [0.5]}, "play must be a list.*got 0"),
        ({"arm": [], "play": [], "outcome": []}, "at least one play"),
        ([], "at least one play"),
        (None, "logs must be a list.*got None"),
        ("log.csv", "logs must be a list.*got 'log.csv'"),
        ([("a", 0, 0.5), ("a", 1)], r"rows of \(arm, play, outcome\), got \('a', 1\) in row 1"),
        ([{"arm": "a", "play": 0, "outcome": 0.5}], "rows of .* in row 0"),
        (["abc"], "rows of .*'abc' in row 0"),
        (changed("outcome", 3, float("nan")), r"outcome must be a number in \[0, 1\].*got nan in row 3"),
        (changed("outcome", 3, 1.01), r"outcome must be .*rescale.*got 1.01 in row 3"),
        (changed("outcome", 3, -0.5), r"got -0.5 in row 3"),
        (changed("outcome", 3, None), r"got None in row 3"),
        (changed("outcome", 3, "0.5"), r"got '0.5' in row 3"),
        (changed("play", 7, 2.5), r"play must be .*integer of at least 0.*got 2.5 in row 7"),
        (changed("play", 7, -1), r"got -1 in row 7"),
        (changed("play", 7, float("nan")), r"got nan in row 7"),
        (changed("play", 7, float("inf")), r"got inf in row 7"),
        (changed("play", 7, True), r"got True in row 7"),
        (changed("play", 7, "7"), r"got '7' in row 7"),
        (changed("play", 7, 10**30), r"in row 7"),
        (changed("play", 7, 0), r"play must differ .*got 0 for arm 'slow' in rows 0 and 7; number"),
        (changed("arm", 9, None), r"arm must be a label.*got None in row 9"),
        (changed("arm", 9, float("nan")), r"got nan in row 9"),
        (changed("arm", 9, ["a", "b"]), r"got \['a', 'b'\] in row 9"),
    ],
)
def test_logs_that_cannot_be_are_refused(logs, words):
    with pytest.raises(InputError, match=words):
        diagnose(logs)


@pytest.mark.parametrize("level", [0.5, 1.0, 95, -1, float("nan"), "high", None, True])
def test_levels_that_cannot_be_are_refused(level):
    with pytest.raises(InputError, match=r"level must be a finite number in \(0.5, 1\), got"):
        diagnose(columns(), level=level)


def test_an_arm_that_is_not_in_the_log_is_refused():
    with pytest.raises(InputError, match=r"arm must be one of the labels \['slow', 'fast'\], got 'other'"):
        diagnose(columns()).arm("other")


# Pictures


def test_a_panel_shows_outcomes_mean_and_verdicts():
    found = simulate(Linear(2000, 0.1, 0.9), 1500, 0.02, arms=1, seed=24)
    with figure() as (_, axes):
        draw_diagnosis(axes, found, 0)
        (line,) = axes.get_lines()
        (dots,) = axes.collections
        assert axes.get_title(loc="left") == "rising: yes\nconcave: yes\nplateaued: no"
        assert [text.get_text() for text in axes.texts] == ["0"]
        assert len(dots.get_offsets()) <= 500
        assert np.abs(line.get_ydata() - Linear(2000, 0.1, 0.9)(np.arange(1500))).max() < 0.03
        with pytest.raises(InputError, match="arm must be one of"):
            draw_diagnosis(axes, found, "other")


def test_the_running_mean():
    outcomes = np.random.default_rng(25).random(50)
    mean = running_mean(outcomes, 6)
    assert mean[20] == pytest.approx(outcomes[14:27].mean())
    assert mean[3] == pytest.approx(outcomes[:7].mean())
    assert mean[0] == pytest.approx(outcomes[:3].mean())
    assert mean[-1] == pytest.approx(outcomes[-3:].mean())


@pytest.mark.parametrize("arms", [1, 2, 5, 15])
def test_figures_of_few_and_many_arms(tmp_path, arms):
    rng = np.random.default_rng(26)
    names = ["too new", "cost $5 to $6", ("edge", 1), ""] + [f"arm {i}" for i in range(4, 15)]
    rows = [(name, play, rng.random()) for name in names[:arms] for play in range(3 if name == "too new" else 40)]
    written = plot_diagnosis(diagnose(rows), tmp_path / "folder" / "logs.png")
    assert [path.name for path in written] == ["logs.png", "logs.svg"]
    text = written[1].read_text()
    for name in ("17 more are needed", "cost $5 to $6", "arm 11", "not drawn: arm 12, arm 13, arm 14"):
        fewest = {"17 more are needed": 1, "cost $5 to $6": 2}.get(name, 15)
        assert (f"<!-- {name} -->" in text) == (arms >= fewest)
