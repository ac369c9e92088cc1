"""The reproduction: sections as data, claims judged by numbers, a report that holds everything."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import rising_bandits as rb
from rising_bandits.experiments import PAPER_POLICIES, RunSpec, StoredRun, make_task
from rising_bandits.reproduction import SECTIONS, reproduce, task_claims, theory_claims, theory_parts
from rising_bandits.reproduction import sections as plans
from rising_bandits.reproduction.index import EQUATIONS, ITEMS, TEXTS, index_of
from rising_bandits.reproduction.judging import Claim, Paired, compare, holm, larger, lowest, paired
from rising_bandits.reproduction.report import Part, render
from rising_bandits.reproduction.reproduce import plan_of
from rising_bandits.reproduction.sections import REFERENCE, flat_names, pair_names
from rising_bandits.reproduction.variants import flat, flat_bound, k_max_halved
from rising_bandits.theory import instances, lower_bound
from rising_bandits.theory.proofs import best_mixture, spy, theorem_5


def test_every_section_can_be_asked_for_and_every_task_is_there():
    assert [section.name for section in plans.sections()] == SECTIONS
    synthetic = set(plans.TASKS)
    assert len(synthetic) == 8
    assert synthetic <= set(SECTIONS)
    _, plan = plan_of([])
    keys = [spec.key for spec in plan]
    assert len(set(keys)) == len(keys)
    for name in synthetic:
        mine = [spec for spec in plan if spec.task == name and not spec.rounds]
        few = name.endswith("-complex")
        assert {spec.seed for spec in mine if spec.policy != "sw-ts"} == set(range(10))
        assert {spec.seed for spec in mine if spec.policy == "sw-ts"} == set(range(5 if few else 10))
        assert {spec.horizon for spec in mine} == {rb.tasks.get(name).horizon}
        assert {spec.label for spec in mine} >= {"crucb", "r-ed-ucb", "sw-ucb", "sw-cucb", "sw-ts", "sw-cts", REFERENCE}
    with pytest.raises(rb.InputError, match=r"only must be one of table-1, summary, toy, .* got 'nope'"):
        plan_of(["nope"])


def stored(task: str, policy: str, final: float, seed: int = 0, **parameters: object) -> StoredRun:
    spec = RunSpec(task, policy, dict(parameters), 10, seed)
    columns = {name: [final] for name in ("regret", "reward", "realised_regret", "realised_reward")}
    meta = {"settings": spec.as_dict(), "label": policy if ":" in task else spec.label}
    return StoredRun({"round": [10], "plays": [[0] * 12], **columns}, meta)


def runs_with(crucb: float, reference: float, rival: float) -> list[StoredRun]:
    noise = np.random.default_rng(0).normal(size=10)
    out = []
    for seed in range(10):
        out.append(stored("path-easy", "crucb", crucb + noise[seed], seed))
        out.append(stored("path-easy", "crucb", reference - noise[seed], seed, bonus="reference"))
        out += [stored("path-easy", name, rival + 2 * noise[seed], seed) for name in task_claims.BASELINES]
    return out


def test_claims_follow_the_numbers_either_way():
    good = task_claims.task_claims(runs_with(100.0, 50.0, 200.0), "path-easy")
    bad = task_claims.task_claims(runs_with(300.0, 199.9, 200.0), "path-easy")
    assert [claim.verdict for claim in good[:2]] == ["held", "held"]
    # A difference of less than one percent is level, however sure it is.
    assert [claim.verdict for claim in bad[:2]] == ["did not hold", "level"]
    assert "300" in bad[0].evidence
    assert all(claim.items == ("Figure 5",) for claim in good)
    by = {claim.text: claim.verdict for claim in good}
    # SW-UCB and SW-CUCB are the same here.
    assert by["path-easy: SW-UCB and SW-TS do better than SW-CUCB and SW-CTS"] == "level"
    assert by["path-easy: the best path consists of late bloomers only (Section 6.1)"] == "held"


def habits(task: str, policy: str, plays: list[float], seed: int = 0) -> StoredRun:
    """A run that played each arm in this share of its rounds, and lost the same in every round."""
    spec = RunSpec(task, policy, {}, 100, seed)
    columns = {name: [0.5 * at for at in (50, 100)] for name in ("regret", "reward", "realised_regret")}
    meta = {"settings": spec.as_dict(), "label": spec.label, "optimal_total": 100.0}
    counts = [[round(share * at) for share in plays] for at in (50, 100)]
    return StoredRun({"round": [50, 100], "plays": counts, **columns, "realised_reward": columns["reward"]}, meta)


def k_max_verdicts(of_base: list[float], of_super: list[float]) -> list[str]:
    runs = [habits("k-max", policy, of_base) for policy in ("sw-cucb", "sw-cts")]
    runs += [habits("k-max", policy, of_super) for policy in ("sw-ucb", "sw-ts")]
    return [claim.verdict for claim in task_claims._k_max(runs)]


def test_what_k_max_policies_play_is_judged_by_their_plays():
    peakers, last = [0.02, 0.02, 0.02, 0.94, 1.0], [0.25, 0.25, 0.25, 0.25, 1.0]
    assert k_max_verdicts(peakers, last) == ["held", "held", "held"]
    assert k_max_verdicts(last, peakers) == ["held", "did not hold", "did not hold"]
    # What they play if they see max/2 is a claim of its own.
    runs = [habits("k-max", policy, peakers) for policy in ("sw-cucb", "sw-cts", "sw-ucb", "sw-ts")]
    runs += [habits(task_claims.HALVED, policy, last) for policy in ("sw-ucb", "sw-ts")]
    assert [claim.verdict for claim in task_claims._k_max(runs)] == ["held", "held", "did not hold", "held"]


def late_verdict(of_base: list[float], of_super: list[float]) -> str:
    runs = [habits("path-easy", policy, of_base, seed) for policy in ("sw-cucb", "sw-cts") for seed in range(2)]
    runs += [habits("path-easy", policy, of_super, seed) for policy in ("sw-ucb", "sw-ts") for seed in range(2)]
    return task_claims._late_plays(runs, "path-easy").verdict


def test_how_often_late_bloomers_are_played_is_judged_by_plays():
    # The late bloomers of path-easy are the edges 2, 5, 6 and 9.
    early = [1.0 if edge in (0, 1, 4, 7) else 0.0 for edge in range(12)]
    late = [1.0 if edge in (2, 5, 6, 9) else 0.0 for edge in range(12)]
    assert late_verdict(early, late) == "held"
    assert late_verdict(late, early) == "did not hold"
    assert late_verdict(early, early) == late_verdict(late, late) == "level"


def test_gaps_between_tasks_are_judged_by_an_unpaired_test():
    rng = np.random.default_rng(2)
    low, high = rng.normal(0.0, 1.0, 10), rng.normal(5.0, 1.0, 10)
    assert larger(high, low)[0] == "held"
    assert larger(low, high)[0] == "did not hold"
    assert larger(low, low + 0.01)[0] == "level"
    assert larger(high, low)[1] == pytest.approx(stats.ttest_ind(high, low, equal_var=False).pvalue)
    # Without noise there is no p-value, and the difference decides.
    assert larger(np.ones(3), np.zeros(3)) == ("held", pytest.approx(np.nan, nan_ok=True))


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8))
def test_holms_correction_is_the_plain_one(values):
    """Against the definition: the k-th smallest is multiplied by how many are left, and the results never fall."""
    found = holm({str(place): value for place, value in enumerate(values)})
    order = sorted(range(len(values)), key=lambda place: values[place])
    running = 0.0
    for rank, place in enumerate(order):
        running = max(running, min(1.0, (len(values) - rank) * values[place]))
        assert found[str(place)] == pytest.approx(running)


def test_paired_tests_are_students_and_never_promise_zero():
    rng = np.random.default_rng(1)
    ours, theirs = rng.normal(size=10), rng.normal(size=10) + 0.5
    test = paired(ours, theirs)
    assert test.p == pytest.approx(stats.ttest_rel(ours, theirs).pvalue)
    assert (test.seeds, test.lower) == (10, int((ours < theirs).sum()))
    assert paired(ours, theirs[:3]) == paired(ours[:3], theirs[:3])
    # Without noise all seeds are one: there is no p-value, and the difference decides.
    same = compare({"a": np.ones(5), "b": np.full(5, 2.0)}, "a", ["b"])
    assert np.isnan(same["b"].p)
    assert lowest(same) == "held"
    assert lowest({"b": Paired(-1.0, -0.5, 10, 0, 0.001), "c": Paired(1.0, 0.5, 10, 10, 0.001)}) == "did not hold"
    assert lowest({"b": Paired(1.0, 0.5, 10, 6, 0.3)}) == "level"
    assert lowest({"b": Paired(1.0, 0.5, 1, 1, float("nan"))}) == "level"


def horizon_of(run: StoredRun) -> int:
    return int(re.search(r"horizon=(\d+)", run.spec.task).group(1))


def replace_regret(run: StoredRun, final: float) -> StoredRun:
    return stored(run.spec.task, run.spec.policy, final)


def lower_bound_runs(factor: float) -> list[StoredRun]:
    """Runs in which every policy loses so many times the bound on A, and nothing on B."""
    out = []
    for policy in PAPER_POLICIES:
        for copies, horizons in ((1, plans.HORIZONS), (plans.COPIES, plans.COPY_HORIZONS)):
            for c in (None, *plans.SLOPES):
                for horizon in horizons:
                    a, b = pair_names(horizon, c, copies)
                    out += [stored(a, policy, factor * lower_bound(horizon, copies, c)), stored(b, policy, 0.0)]
        for horizon in plans.FLAT_HORIZONS:
            a, b = flat_names(horizon)
            out += [stored(a, policy, factor * flat_bound(horizon)), stored(b, policy, 0.0)]
    for horizon in plans.STEEP_HORIZONS:
        out.append(stored(plans.steep_name(horizon), "crucb", 5.0 * horizon ** (2 / 3)))
    return out


@pytest.mark.parametrize(("factor", "verdict"), [(1.1, "held"), (0.9, "did not hold")])
def test_lower_bounds_and_rates_are_judged_by_the_runs(factor, verdict, tmp_path):
    runs = lower_bound_runs(factor)
    found = theory_claims.lower_bound_claims(runs)
    assert {claim.verdict for claim in found} == {verdict}
    assert {item for claim in found for item in claim.items} == {"Theorem 4", "Theorem 5", "Lemma 3", "Lemma 4"}
    # Regret that grows like the lower bound grows no faster than the upper bound.
    assert {claim.verdict for claim in theory_claims.rate_claims(runs)} == {"held"}
    assert "4.0, 4.0, 4.0 times" in theory_claims.rate_claims(runs)[0].evidence
    linear = [replace_regret(run, 0.1 * horizon_of(run)) for run in runs]
    assert [claim.verdict for claim in theory_claims.rate_claims(linear)] == ["held", *["did not hold"] * 3]
    if factor > 1.0:
        part = theory_parts.lower_bounds_part(plans.Section("lower-bounds", ""), runs, tmp_path)
        assert len(part.tables) == 4


def test_the_names_of_pairs_make_their_tasks():
    for name in (*pair_names(600, 1.4, 2), *flat_names(600)):
        task = make_task(name)
        assert task.horizon == 600
        assert task.problem.oracle.max_size == (2 if "copies" in name else 1)
    a, b = (flat(10_000, better) for better in (True, False))
    assert a.means(0)[1] - 0.5 == pytest.approx(0.5 - b.means(0)[1])


def test_policies_on_super_arms_see_half_of_the_reward_and_lose_the_same():
    halved, usual = k_max_halved(), rb.tasks.get("k-max")
    runs = [rb.simulate(task, rb.SWTS(), horizon=400, seed=0, compiled=False) for task in (halved, usual)]
    # The forced first plays are the same, and regret is not halved with what is seen.
    assert runs[0].regret[:20].tolist() == runs[1].regret[:20].tolist()
    base = [rb.simulate(task, rb.SWCUCB(), horizon=200, seed=0, compiled=False) for task in (halved, usual)]
    assert base[0].regret.tolist() == base[1].regret.tolist()


def test_steps_of_proofs_are_what_plain_sums_say():
    horizon, c = 2_000, 1.4
    mean = [sum((n + 1.0) ** -c for n in range(1, m + 1)) for m in range(horizon + 1)]
    total = np.cumsum(mean)
    switch = int((2 - c) ** (1 / (c - 1)) * horizon)
    exact = total[horizon] - total[horizon - switch] - mean[switch] * switch
    step = theorem_5(horizon, c)
    assert step.exact == pytest.approx(exact)
    assert step.printed < 0 < step.exact
    # The line falls in proportion to T; the quantity grows like T to the power 2 - c.
    later = theorem_5(10 * horizon, c)
    assert later.printed / step.printed == pytest.approx(10, rel=0.1)
    assert later.exact / step.exact == pytest.approx(10**0.6, rel=0.1)


class Curious:
    """Plays the rising arm of copy 0 for some rounds, then what it has learned in every copy."""

    def __init__(self, tries: int, level: float, copies: int) -> None:
        self.tries, self.level, self.copies = tries, level, copies

    def start(self, problem: rb.Problem, horizon: int, rng: object) -> None:
        self.rounds, self.rises = 0, False

    def select(self) -> list[int]:
        flat_arms, rising = list(range(self.copies)), list(range(self.copies, 2 * self.copies))
        if self.rounds < self.tries:
            return [*flat_arms[1:], rising[0]]
        return rising if self.rises else flat_arms

    def observe(self, arms: list[int], outcomes: np.ndarray) -> None:
        self.rounds += 1
        self.rises = dict(zip(arms, outcomes, strict=True)).get(self.copies, 0.0) > self.level + 1e-12


def test_the_policies_of_the_proofs_lose_what_simulations_say():
    found = spy(2_000, 1.6)
    level = instances.fine_grained_level(2_000, 1.6)
    for task, lost in zip(instances.fine_grained(2_000, 1.6, copies=2), (found.a, found.b), strict=True):
        run = rb.simulate(task, Curious(level.switch + 1, level.flat, 2), compiled=False)
        assert run.regret[-1] == pytest.approx(lost, abs=1e-6)
    mixed = best_mixture(1_800)
    a, b = instances.general(1_800)
    # On A curiosity costs nothing; the flat arm alone costs what it costs. On B it is the other way round.
    curious = [rb.simulate(task, Curious(602, 0.5, 1), compiled=False).regret[-1] for task in (a, b)]
    assert curious[0] == pytest.approx(0.0, abs=1e-6)
    assert mixed.b == pytest.approx(mixed.share * curious[1], rel=1e-3)
    assert max(mixed.a, mixed.b) < 1_800 / 16


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A report with two seeds: what is tested here does not depend on their number."""
    folder = tmp_path_factory.mktemp("reproduction")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plans, "SEEDS", 2)
        yield folder, reproduce(folder, ["table-1", "toy", "proofs", "antmaze"], workers=1, version="test")


def test_the_report_is_one_file_with_everything_in_it(small):
    folder, result = small
    page = result.report.read_text()
    assert page.count("data:image/svg+xml;base64,") >= 8
    assert not re.search(r'src="(?!data:)', page), "nothing may be loaded from elsewhere"
    links = re.findall(r'href="([^#"][^"]*)"', page)
    assert {"runs.csv", "claims.csv", "index.csv", "figures/toy.svg", "figures/toy.png"} <= set(links)
    for link in links:
        assert (folder / link).exists(), link
    for name in re.findall(r'href="#([^"]+)"', page):
        assert f'id="{name}"' in page, name
    for _, claim in result.claims:
        assert claim.evidence.split(";")[0].split("(")[0][:20] in page.replace("&#x27;", "'")
    for words in ("rising-bandits test", "cores", "numpy", "prefers-color-scheme:dark", "@media print", "ICLR"):
        assert words in page
    # On paper nothing can be scrolled, and a figure must fit on a page.
    printed = page.partition("@media print")[2]
    assert ".wide{overflow:visible}" in printed
    assert "figure img{max-height:" in printed
    assert json.loads((folder / "_settings.json").read_text())["runs"]
    with (folder / "claims.csv").open(encoding="utf-8") as file:
        assert [row["claim"] for row in csv.DictReader(file)] == [claim.text for _, claim in result.claims]


def test_what_did_not_hold_comes_first(small):
    _, result = small
    page = result.report.read_text()
    assert page.index("What did not hold") < page.index("Everything in the paper") < page.index('<section id="table-1"')
    verdicts = {claim.text[:30]: claim.verdict for _, claim in result.claims}
    assert verdicts["the sizes of the tasks are tho"] == "did not hold"
    assert verdicts["Lemma 3: every policy loses at"] == "did not hold"


def test_the_toy_claims_hold_at_full_horizon(small):
    _, result = small
    toy = [claim for name, claim in result.claims if name == "toy"]
    assert len(toy) == 7
    assert all(claim.held for claim in toy)
    # The paper's figure has two baselines; the comparison with five is ours.
    assert [claim.of_paper for claim in toy if "five baselines" in claim.text] == [False, False]


def test_a_second_call_runs_nothing_and_says_the_same(small):
    folder, result = small
    stamps = {path: path.stat().st_mtime_ns for path in (folder / "runs").iterdir()}
    again = reproduce(folder, ["table-1", "toy", "proofs"], version="test")
    assert {path: path.stat().st_mtime_ns for path in (folder / "runs").iterdir()} == stamps
    assert again.claims == [item for item in result.claims if item[0] in ("table-1", "toy", "proofs")]


LATEX = {
    "Figure": (
        "toy", "constraint", "bound_gap", "path", "regret_path", "deeprl_environments", "regret_deeprl", "heatmap",
        "k-max_easy", "matching", "regret_matching", "spanning", "regret_spanning", "heatmap-app", "heatmap-path-app",
        "heatmap-edge-app",
    ),
    "Table": ("environment", "hyperparameter", "sensitivity, without a label"),
    "Theorem": ("no_optimal_policy", "optimal_approx", "upper_bound", "lower_bound", "lower_bound_2"),
    "Corollary": ("optimal_policy", "characterize"),
    "Lemma": ("additive_optiaml", "concen", "lower_bound_non_comb", "lower_bound2_non_comb"),
    "Proposition": ("monotone",),
    "Assumption": ("rising", "monotone"),
    "Definition": ("optimal constant policy, without a label",),
    "Algorithm": ("CRUCB", "R-ed-UCB", "SW-UCB", "SW-CUCB", "SW-TS", "SW-CTS"),
}  # fmt: skip
"""The numbered items of the paper's LaTeX source by their labels, in the order in which LaTeX numbers them."""


def test_the_index_has_everything_of_the_paper(small):
    _, result = small
    names = [entry.item for entry in result.index]
    numbered = [f"{kind} {n}" for kind, labels in LATEX.items() for n, _ in enumerate(labels, 1)]
    assert set(numbered) <= set(names)
    # Nor does it have what the paper has not: what else is there has no number of its own.
    others = [name for name in names if name not in numbered]
    assert [name for name in others if name.split()[0] in LATEX] == []
    assert len(names) == len(set(names)) == len(ITEMS)
    by = {entry.item: entry for entry in result.index}
    assert by["Table 1"].verdict == "did not hold"
    assert by["Figure 8"].verdict in ("held", "level", "did not hold")
    # What would be said of a section that is shown is not said of one that is absent.
    assert by["Figure 5"].why == by["Figure 4"].why == by["Figure 10"].why == "because its section was not asked for"
    assert all(entry.why.startswith("because") for entry in result.index if entry.verdict == "not judged")
    # Lemma 4 is judged by lower bounds; the section on proofs alone, which is shown, does not judge it.
    assert by["Lemma 4"].why == "because the section that judges it was not asked for"
    # No claim points to something that the index does not have.
    assert {item for _, claim in result.claims for item in claim.items} <= set(names)
    # The paper numbers its equations from 1 to 166, and each belongs to one item of the index.
    assert [n for first, last, _ in EQUATIONS for n in range(first, last + 1)] == list(range(1, 167))
    assert {item for _, _, item in EQUATIONS} <= set(names)
    assert by["Theorem 3"].equations == "7–8"
    one = index_of(
        [Part("x", "", claims=[Claim("a", "held", "", ("Table 3",)), Claim("b", "level", "", ("Table 3",))])]
    )
    assert next(entry for entry in one if entry.item == "Table 3").verdict == "level"
    # Text that comments on a table has the table's claims.
    assert next(entry for entry in one if entry.item == "Appendix F.4").why == "2 claims: 1 held, 1 level"
    assert {name for text, names in TEXTS.items() for name in (text, *names)} <= set(names)


def test_words_from_outside_are_escaped():
    page = render([Part("x", "<b>", claims=[Claim("a < b", "did not hold", "1 & 2", ("Figure 1",))])], ["<script>"])
    assert "<script>" not in page
    assert "a &lt; b" in page
    assert "did not hold" in page
    assert "Claims of the paper judged here, 1: 1 did not hold" in page
