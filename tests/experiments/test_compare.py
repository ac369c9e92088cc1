"""Comparisons against independent, obvious implementations."""

from __future__ import annotations

import csv
import io
import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import rising_bandits as rb
from rising_bandits import experiments as ex
from rising_bandits import plots
from rising_bandits.experiments.paired import holm, sign_change


def table(values, task="t", horizon=10):
    """A frame of final rows; ``values`` holds a list of numbers by seed for each policy."""
    rows = [
        {"task": task, "label": label, "seed": seed, "horizon": horizon, "round": horizon, "regret": value}
        for label, numbers in values.items()
        for seed, value in enumerate(numbers)
    ]
    return pd.DataFrame(rows)


numbers = st.floats(-100, 100).map(lambda x: round(x, 3))
pairs = st.lists(st.tuples(numbers, numbers), min_size=2, max_size=8)


@settings(max_examples=40, deadline=None)
@given(pairs)
def test_paired_t_is_scipys(drawn):
    a, b = (np.array(side) for side in zip(*drawn, strict=True))
    if np.ptp(a - b) < 1e-6:
        return
    row = ex.compare(table({"base": b, "new": a}), "base", interval="t", level=0.9).rows[0]
    expected = stats.ttest_rel(a, b)
    low, high = expected.confidence_interval(0.9)
    assert row.p == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-12)
    assert (row.low, row.high) == (pytest.approx(low), pytest.approx(high))
    assert row.difference == pytest.approx((a - b).mean())
    assert row.effect == pytest.approx((a - b).mean() / (a - b).std(ddof=1))
    assert row.less == pytest.approx(np.mean(a < b) + np.mean(a == b) / 2)


@settings(max_examples=40, deadline=None)
@given(st.lists(numbers, min_size=1, max_size=7))
def test_the_sign_change_test_tries_every_sign(gaps):
    total = abs(math.fsum(gaps))
    hits = [
        abs(math.fsum(s * g for s, g in zip(signs, gaps, strict=True))) >= total - 1e-9
        for signs in itertools.product((1, -1), repeat=len(gaps))
    ]
    assert sign_change(np.array(gaps), 100, np.random.default_rng(0)) == pytest.approx(np.mean(hits))


def test_many_pairs_draw_signs_and_agree_with_the_t_test():
    gaps = np.random.default_rng(3).normal(0.3, 1.0, 60)
    p = sign_change(gaps, 20_000, np.random.default_rng(1))
    # Two tests of one hypothesis on 60 normal differences; 20 000 draws have an error below 0.004 here.
    assert p == pytest.approx(stats.ttest_1samp(gaps, 0).pvalue, abs=0.02)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_the_step_down_rule(p_values):
    corrected = holm(p_values)
    # For every level, Holm rejects from the smallest up, until one is above level / (how many are left).
    for level in (0.01, 0.05, 0.2, 0.7):
        rejected = set()
        for step, place in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
            if p_values[place] * (len(p_values) - step) > level:
                break
            rejected.add(place)
        assert {i for i, p in enumerate(corrected) if p <= level} == rejected


def test_bootstrap_intervals_cover_as_they_say():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(100):
        drawn = table({"base": np.zeros(30), "new": rng.normal(1.0, 2.0, 30)})
        row = ex.compare(drawn, "base", level=0.9, resamples=400).rows[0]
        covered += row.low <= 1.0 <= row.high
    # 90% of 100 are 90; percentile intervals of 30 pairs are a little narrow, and the standard error is 3.
    assert 78 <= covered <= 99


def test_ranks_are_friedmans_and_nemenyis():
    rng = np.random.default_rng(2)
    parts = [
        table({"a": rng.random(3), "b": rng.random(3) + 0.2, "c": rng.random(3) + 0.4}, task=f"t{k}") for k in range(6)
    ]
    found = ex.compare(pd.concat(parts), "a")
    means = [[part[part.label == label].regret.mean() for label in "abc"] for part in parts]
    expected = stats.rankdata(means, axis=1).mean(axis=0)
    assert [found.ranks.mean[label] for label in "abc"] == pytest.approx(expected)
    assert (found.ranks.blocks, found.ranks.of) == (6, "task")
    assert found.ranks.p == pytest.approx(stats.friedmanchisquare(*np.array(means).T).pvalue)
    # Demsar (2006), table 5: q is 2.343 for three classifiers at 5%.
    assert found.ranks.critical == pytest.approx(2.343 * math.sqrt(3 * 4 / (6 * 6)), abs=1e-3)
    one = ex.compare(parts[0], "a")
    assert (one.ranks.blocks, one.ranks.of) == (3, "seed")
    assert one.ranks.cliques()


def test_only_shared_worlds_are_paired():
    drawn = pd.concat([table({"a": [1, 2, 3], "b": [4, 5]}), table({"a": [1.0], "b": [9.0]}, horizon=20)])
    found = ex.compare(drawn, "b")
    assert {row.task: row.pairs for row in found.rows} == {"t [horizon=10]": 2, "t [horizon=20]": 1}
    assert "1 run of a" in found.notes[0]
    assert math.isnan(next(row for row in found.rows if row.pairs == 1).p)
    with pytest.raises(rb.InputError, match="baseline must be one of"):
        ex.compare(drawn, "nope")
    with pytest.raises(rb.InputError, match="at least two policies, got only a"):
        ex.compare(table({"a": [1.0]}))
    with pytest.raises(rb.InputError, match="shares a task"):
        ex.compare(pd.concat([table({"a": [1.0]}), table({"b": [1.0]}, task="u")]), "a")
    with pytest.raises(rb.InputError, match="got two"):
        ex.compare(pd.concat([drawn, drawn]), "a")
    with pytest.raises(rb.InputError, match="measure must be a column"):
        ex.compare(drawn, "a", measure="nope")


def test_the_table_in_every_form():
    found = ex.compare(table({"base": [1.0, 2.0, 4.0], "mine:P(x='a_b|c')": [2.0, 2.5, 5.5]}), "base")
    assert "mine:P(x='a_b|c')" in str(found)
    assert r"\toprule" in found.to_latex()
    assert r"mine:P(x='a\_b$|$c') & 3 & 3.333 & $+1.000$ & 0.5000 to 1.500 &" in found.to_latex()
    assert r"P (x a\_b$|$c) & 3" in found.to_latex(plots.title)
    less = ex.compare(table({"base": [5000.0, 5001.0], "a{}": [1.0, 3.0]}), "base").to_latex()
    assert r"a\{\} & 2 & 2.000 & $-4{,}998.5$ & $-4{,}999.0$ to $-4{,}998.0$ &" in less
    assert found.to_markdown().count("\n") == 3
    assert r"a_b\|c" in found.to_markdown()
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert float(rows[0]["difference"]) == found.rows[0].difference == found.frame()["difference"][0]


def test_few_pairs_are_said_to_be_few():
    rng = np.random.default_rng(4)
    few = ex.compare(table({name: rng.random(5) for name in "abc"}), "a")
    # The smallest p-value of 5 pairs is 1/16; for 2 comparisons, 7 pairs can give 2/64.
    assert few.notes == (
        "p (Holm) cannot be below 0.125 here: the sign-change test has 5 pairs for 2 comparisons. Use 7 seeds or more, "
        "or the t interval if the differences are about normal.",
    )
    assert not ex.compare(table({name: rng.random(5) for name in "abc"}), "a", interval="t").notes
    assert "2 pairs for 1 comparison. " in ex.compare(table({name: rng.random(2) for name in "ab"}), "a").notes[0]
    enough = table({"a": np.zeros(7), "b": rng.random(7) + 1, "c": rng.random(7) + 1})
    assert not ex.compare(enough, "a").notes
    assert max(row.p_holm for row in ex.compare(enough, "a").rows) <= 0.05


def test_a_row_does_not_depend_on_the_others():
    rng = np.random.default_rng(5)
    values = {name: rng.random(20) for name in "abc"}
    alone = ex.compare(table({"a": values["a"], "c": values["c"]}), "a").rows[0]
    beside = ex.compare(table(values), "a").rows[1]
    assert (alone.low, alone.high, alone.p) == (beside.low, beside.high, beside.p)
    polars = pytest.importorskip("polars")
    assert ex.compare(polars.from_pandas(table(values)), "a").rows[1] == beside


def test_the_command_compares_a_folder(tmp_path, run, capsys):
    ex.run_plan(ex.make_plan(["toy"], ["oracle", "random"], seeds=3, horizon=100), tmp_path / "out", workers=1)
    saved = [option for name in ("t.csv", "t.tex", "t.md") for option in ("--save", tmp_path / name)]
    assert run("compare", tmp_path / "out", "--baseline", "oracle", *saved, "--plot", tmp_path / "ranks.pdf") == 0
    text = capsys.readouterr().out
    assert "random" in text
    assert "mean ranks over 3 seeds" in text
    assert (tmp_path / "ranks.pdf").read_bytes().startswith(b"%PDF")
    assert all((tmp_path / name).stat().st_size > 50 for name in ("t.csv", "t.tex", "t.md"))
    assert run("compare", tmp_path / "out", "--json") == 0
    assert '"pairs": 3' in capsys.readouterr().out
    assert run("compare", tmp_path / "out", "--save", tmp_path / "t.doc") == 2
    assert run("compare", tmp_path / "none") == 2
