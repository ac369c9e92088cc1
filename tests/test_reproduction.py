"""The reproduction: sections as data, claims judged by numbers, a report that holds everything."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits.experiments import RunSpec, StoredRun
from rising_bandits.reproduction import SECTIONS, claims, reproduce
from rising_bandits.reproduction.judging import Claim
from rising_bandits.reproduction.report import Part, render
from rising_bandits.reproduction.reproduce import plan_of
from rising_bandits.reproduction.sections import REFERENCE, sections


def test_every_section_can_be_asked_for_and_every_task_is_there():
    assert [section.name for section in sections()] == SECTIONS
    synthetic = [name for name in rb.tasks.names() if not rb.tasks.get(name).recorded]
    assert len(synthetic) == 8
    assert set(synthetic) <= set(SECTIONS)
    _, plan = plan_of([])
    keys = [spec.key for spec in plan]
    assert len(set(keys)) == len(keys)
    for name in synthetic:
        mine = [spec for spec in plan if spec.task == name and not spec.rounds]
        assert {spec.seed for spec in mine} == {0, 1, 2, 3, 4}
        assert {spec.horizon for spec in mine} == {rb.tasks.get(name).horizon}
        assert {spec.label for spec in mine} >= {"crucb", "r-ed-ucb", "sw-ucb", "sw-cucb", "sw-ts", "sw-cts", REFERENCE}
    with pytest.raises(rb.InputError, match=r"only must be one of summary, toy, .* got 'nope'"):
        plan_of(["nope"])


def stored(task: str, policy: str, final: float, seed: int, **parameters: object) -> StoredRun:
    spec = RunSpec(task, policy, dict(parameters), 10, seed)
    columns = {name: [final] for name in ("regret", "reward", "realised_regret", "realised_reward")}
    meta = {"settings": spec.as_dict(), "label": spec.label}
    return StoredRun({"round": [10], "plays": [[0] * 12], **columns}, meta)


def runs_with(crucb: float, reference: float, rival: float) -> list[StoredRun]:
    noise = np.random.default_rng(0).normal(size=5)
    out = []
    for seed in range(5):
        out.append(stored("path-easy", "crucb", crucb + noise[seed], seed))
        out.append(stored("path-easy", "crucb", reference - noise[seed], seed, bonus="reference"))
        out += [stored("path-easy", name, rival + 2 * noise[seed], seed) for name in claims.BASELINES]
    return out


def test_claims_follow_the_numbers_either_way():
    good = claims.task_claims(runs_with(100.0, 50.0, 200.0), "path-easy")
    bad = claims.task_claims(runs_with(300.0, 50.0, 200.0), "path-easy")
    assert [claim.held for claim in good[:2]] == [True, True]
    assert [claim.held for claim in bad[:2]] == [False, True]
    assert "300" in bad[0].evidence


def test_paired_tests_are_students():
    from scipy import stats

    rng = np.random.default_rng(1)
    ours, theirs = rng.normal(size=5), rng.normal(size=5) + 0.5
    expected = stats.ttest_rel(ours, theirs, alternative="less").pvalue
    assert claims.paired_p(ours, theirs) == pytest.approx(expected)
    assert claims.paired_p(np.ones(5), np.full(5, 2.0)) == 0.0
    assert claims.paired_p(np.full(5, 2.0), np.ones(5)) == 1.0


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reproduction")
    return folder, reproduce(folder, ["toy", "growth", "lower-bounds"], workers=2, version="test")


def test_the_report_is_one_file_with_everything_in_it(small):
    folder, result = small
    page = result.report.read_text()
    assert page.count("data:image/svg+xml;base64,") >= 4
    assert not re.search(r'src="(?!data:)', page), "nothing may be loaded from elsewhere"
    for link in re.findall(r'href="([^#"][^"]*)"', page):
        assert (folder / link).exists(), link
    for _, claim in result.claims:
        assert claim.evidence.split(";")[0].split("(")[0][:20] in page.replace("&#x27;", "'")
    for suffix in ("png", "svg"):
        assert (folder / "figures" / f"toy-overview.{suffix}").exists()
    assert json.loads((folder / "settings.json").read_text())["runs"]


def test_the_toy_claims_hold_at_full_horizon(small):
    _, result = small
    toy = {claim.text: claim for name, claim in result.claims if name == "toy"}
    assert len(toy) == 4
    assert all(claim.held for claim in toy.values())


def test_a_second_call_runs_nothing_and_says_the_same(small):
    folder, result = small
    stamps = {path: path.stat().st_mtime_ns for path in (folder / "runs").iterdir()}
    again = reproduce(folder, ["toy", "growth", "lower-bounds"], version="test")
    assert {path: path.stat().st_mtime_ns for path in (folder / "runs").iterdir()} == stamps
    assert again.claims == result.claims


def test_words_from_outside_are_escaped():
    page = render([Part("x", "<b>", claims=[Claim("a < b", "did not hold", "1 & 2", ("Figure 1",))])], ["<script>"])
    assert "<script>" not in page
    assert "a &lt; b" in page
    assert "did not hold" in page
    assert "Claims of the paper judged here, 1: 1 did not hold" in page
