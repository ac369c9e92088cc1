"""The paper's claims about synthetic tasks and theory, each judged by the numbers of the present runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rising_bandits._checks import Floats
from rising_bandits.experiments import StoredRun, group
from rising_bandits.plots.style import title
from rising_bandits.reproduction.judging import ALPHA, LEVEL, Claim, Paired, compare, judged, lowest, p_text
from rising_bandits.reproduction.sections import (
    COPIES,
    COPY_HORIZONS,
    EPSILONS,
    FLAT_HORIZONS,
    HORIZONS,
    REFERENCE,
    SLOPES,
    TABLE_ROUNDS,
    flat_names,
    pair_names,
)
from rising_bandits.reproduction.variants import flat_bound
from rising_bandits.theory import lower_bound, lower_rate, upper_rate
from rising_bandits.theory.checks import Concentration, RatioCheck
from rising_bandits.theory.instances import paper_step
from rising_bandits.theory.proofs import best_mixture, second_step, spy

BASELINES = ("r-ed-ucb", "sw-ucb", "sw-cucb", "sw-ts", "sw-cts")
"""The policies that the paper compares CRUCB with."""
FIGURES = {
    "toy": "Figure 1",
    "path-easy": "Figure 5",
    "path-complex": "Figure 5",
    "k-max": "Figure 9",
    "matching-easy": "Figure 11",
    "matching-complex": "Figure 11",
    "spanning-easy": "Figure 13",
    "spanning-complex": "Figure 13",
}
"""The figure of the paper with the regret on each task."""
BONUSES = {"crucb": "30 log t, as printed", REFERENCE: "4 log t, as in the authors' program"}
"""What each bonus is called everywhere in the report."""
_FLAT = 1e-3
_SLACK = 0.05


def finals(runs: Sequence[StoredRun], task: str) -> dict[str, Floats]:
    """The final regret of every seed on a task, by policy, in the order of seeds."""
    return {
        label: np.array([run.regret[-1] for run in sorted(members, key=lambda run: run.spec.seed)])
        for (name, label), members in group(runs).items()
        if name == task
    }


def task_claims(runs: Sequence[StoredRun], task: str) -> list[Claim]:
    """The claims about a task.

    They are that CRUCB has the least regret, once with the printed bonus and once with that of the authors' program,
    and what else the paper says about the task.
    """
    regret = finals(runs, task)
    claims = [_lowest(regret, label, task) for label in BONUSES]
    if task == "toy":
        claims += _toy(runs)
    if task in ("path-easy", "path-complex", "k-max"):
        claims.append(_super_beat_base(regret, task))
    return claims


def _lowest(regret: Mapping[str, Floats], ours: str, task: str) -> Claim:
    """The claim that CRUCB with a bonus has less regret than every baseline."""
    tests = compare(regret, ours, BASELINES)
    mean = {name: float(values.mean()) for name, values in regret.items()}
    best = min(BASELINES, key=mean.__getitem__)
    # The toy figure shows two baselines; the claim about the others is ours.
    return Claim(
        f"{task}: CRUCB has less regret than the five baselines (bonus {BONUSES[ours]})",
        lowest(tests),
        f"CRUCB {mean[ours]:,.0f}, best baseline {title(best)} {mean[best]:,.0f}: {_words(tests[best])}; held needs at "
        f"least {LEVEL:.0%} less than each baseline with corrected p ≤ {ALPHA:g}",
        (FIGURES[task],),
    )


def _words(test: Paired) -> str:
    """A comparison in words."""
    return f"{test.share:+.1%}, lower on {test.lower} of {test.seeds} seeds, p {p_text(test)}"


def _super_beat_base(regret: Mapping[str, Floats], task: str) -> Claim:
    """The claim that the sliding-window policies on super arms do better than those on base arms."""
    tests = {
        ours: compare(regret, ours, [theirs])[theirs] for ours, theirs in (("sw-ucb", "sw-cucb"), ("sw-ts", "sw-cts"))
    }
    mean = {name: float(values.mean()) for name, values in regret.items()}
    return Claim(
        f"{task}: SW-UCB and SW-TS do better than SW-CUCB and SW-CTS",
        lowest(tests),
        f"SW-UCB {mean['sw-ucb']:,.0f} and SW-CUCB {mean['sw-cucb']:,.0f} ({_words(tests['sw-ucb'])}); "
        f"SW-TS {mean['sw-ts']:,.0f} and SW-CTS {mean['sw-cts']:,.0f} ({_words(tests['sw-ts'])})",
        (FIGURES[task],),
    )


def late_slope(run: StoredRun) -> tuple[float, float]:
    """The regret per round over the second and over the first half of a run."""
    half = int(np.searchsorted(run.rounds, run.spec.horizon // 2))
    late = (run.regret[-1] - run.regret[half]) / (run.rounds[-1] - run.rounds[half])
    return float(late), float(run.regret[half] / run.rounds[half])


def _toy(runs: Sequence[StoredRun]) -> list[Claim]:
    """The claims about the toy task."""
    by = {label: members[0] for (name, label), members in group(runs).items() if name == "toy"}
    slopes = {label: late_slope(by[label]) for label in ("crucb", "sw-cucb", "r-ed-ucb")}
    linear = [slopes["sw-cucb"], slopes["r-ed-ucb"]]
    early = {label: float(run.plays_at[-1][1] / run.spec.horizon) for label, run in by.items()}
    return [
        Claim(
            "toy: the regret of CRUCB becomes nearly flat",
            judged(slopes["crucb"][0] < _FLAT),
            f"regret per round over the second half of the run: {slopes['crucb'][0]:.2g}; held needs less than "
            f"{_FLAT:g}",
            ("Figure 1",),
        ),
        Claim(
            "toy: the regret of SW-CUCB and R-ed-UCB is linear",
            judged(all(late > _FLAT and 0.5 < late / first < 2.0 for late, first in linear)),
            "regret per round over the second and the first half: "
            + ", ".join(
                f"{title(label)} {slopes[label][0]:.4f} and {slopes[label][1]:.4f}" for label in ("sw-cucb", "r-ed-ucb")
            )
            + "; held needs the two within a factor of 2",
            ("Figure 1",),
        ),
        Claim(
            "toy: CRUCB plays the late edge, SW-CUCB the early one, and R-ed-UCB splits its plays roughly evenly",
            judged(early["crucb"] < 0.1 and early["sw-cucb"] > 0.9 and 0.25 < early["r-ed-ucb"] < 0.75),
            f"share of plays of the early edge: CRUCB {early['crucb']:.1%}, SW-CUCB {early['sw-cucb']:.1%}, "
            f"R-ed-UCB {early['r-ed-ucb']:.1%}; held needs below 10%, above 90%, and 25% to 75%",
            ("Figure 1",),
        ),
    ]


def gap_claims(runs: Sequence[StoredRun]) -> list[Claim]:
    """The claim that gaps to baselines are larger in the complex path task than in the easy one."""
    shares = {}
    for task in ("path-easy", "path-complex"):
        mean = {label: float(values.mean()) for label, values in finals(runs, task).items()}
        optimum = float(next(run for run in runs if run.spec.task == task).meta["optimal_total"])
        for ours in BONUSES:
            shares[task, ours, "red"] = (mean["r-ed-ucb"] - mean[ours]) / optimum
        shares[task, "", "sw"] = (mean["sw-cucb"] - mean["sw-ucb"] + mean["sw-cts"] - mean["sw-ts"]) / 2 / optimum
    claims = []
    for ours, words in BONUSES.items():
        easy, hard = (shares[task, ours, "red"] for task in ("path-easy", "path-complex"))
        claims.append(
            Claim(
                f"the gap between CRUCB and R-ed-UCB is larger in path-complex than in path-easy (bonus {words})",
                judged(hard > easy),
                f"gap as a share of what the best path earns: {easy:.2%} in path-easy, {hard:.2%} in path-complex",
                ("Figure 5",),
            )
        )
    easy, hard = (shares[task, "", "sw"] for task in ("path-easy", "path-complex"))
    claims.append(
        Claim(
            "SW-UCB and SW-TS are ahead of SW-CUCB and SW-CTS by more in path-complex than in path-easy",
            judged(hard > easy),
            f"mean gap as a share of what the best path earns: {easy:.2%} in path-easy, {hard:.2%} in path-complex",
            ("Figure 5",),
        )
    )
    return claims


def at_rounds(runs: Sequence[StoredRun], **wanted: object) -> list[float]:
    """The mean regret on path-easy at the rounds of the paper's table, of the runs with these parameters."""
    mine = [
        run
        for run in runs
        if run.spec.task == "path-easy"
        and run.spec.rounds == TABLE_ROUNDS
        and wanted.items() <= run.spec.parameters.items()
    ]
    return [float(np.mean([run.regret[int(np.searchsorted(run.rounds, row))] for run in mine])) for row in TABLE_ROUNDS]


def sensitivity_table(runs: Sequence[StoredRun], bonus: str) -> list[list[float]]:
    """The mean regret of CRUCB on path-easy: rows are the paper's three rounds, columns its four windows."""
    columns = [at_rounds(runs, epsilon=epsilon, bonus=bonus, sigma=0.01) for epsilon in EPSILONS]
    return [list(row) for row in zip(*columns, strict=True)]


def sensitivity_claims(runs: Sequence[StoredRun]) -> list[Claim]:
    """The claims that the regret is nearly the same for every window, one for each bonus."""
    claims = []
    for bonus, words in (("paper", BONUSES["crucb"]), ("reference", BONUSES[REFERENCE])):
        last = sensitivity_table(runs, bonus)[-1]
        spread = max(last) / min(last)
        claims.append(
            Claim(
                f"the regret of CRUCB hardly depends on its window (bonus {words})",
                judged(spread < 1.05),
                f"largest over smallest final regret of the four windows: {spread:.2f}; held needs less than 1.05 (the "
                "paper's table has 1.0001)",
                ("Table 3",),
            )
        )
    return claims


def worst_of_pair(
    runs: Sequence[StoredRun], c: float | None, copies: int = 1, horizons: Sequence[int] = HORIZONS
) -> dict[str, Floats]:
    """For every policy the larger of its final regrets on instances A and B, one number per horizon."""
    final = {(run.spec.task, run.spec.policy): float(run.regret[-1]) for run in runs}
    policies = list(dict.fromkeys(run.spec.policy for run in runs))
    return {
        policy: np.array([max(final[name, policy] for name in pair_names(horizon, c, copies)) for horizon in horizons])
        for policy in policies
    }


def worst_of_flat(runs: Sequence[StoredRun]) -> dict[str, Floats]:
    """For every policy the larger of its mean final regrets on the two instances without rising means, per horizon."""
    found: dict[tuple[str, str], list[float]] = {}
    for run in runs:
        found.setdefault((run.spec.task, run.spec.policy), []).append(float(run.regret[-1]))
    policies = list(dict.fromkeys(policy for _, policy in found))
    return {
        policy: np.array(
            [max(float(np.mean(found[name, policy])) for name in flat_names(horizon)) for horizon in FLAT_HORIZONS]
        )
        for policy in policies
    }


def exponent(horizons: Sequence[int], values: Floats) -> float:
    """The exponent with which values grow with the horizon, by a straight line through their logarithms."""
    return float(np.polyfit(np.log(horizons), np.log(values), 1)[0])


def lower_bound_claims(runs: Sequence[StoredRun]) -> list[Claim]:
    """The claims that the regret of every policy is at least the lower bound, on instance A or on instance B."""
    claims = []
    for c in (None, *SLOPES):
        name = "Theorem 4" if c is None else "Theorem 5"
        wanted = 1.0 if c is None else lower_rate(c)
        kind = "all rising instances, L·T/18" if c is None else f"slopes (n+1)^(−{c:g}), of the order L·T^{2 - c:g}"
        for copies, horizons in ((1, HORIZONS), (COPIES, COPY_HORIZONS)):
            worst = worst_of_pair(runs, c, copies, horizons)
            floor = np.array([lower_bound(horizon, copies, c) for horizon in horizons])
            smallest = min(float((values / floor).min()) for values in worst.values())
            slope = min(exponent(horizons, values) for values in worst.values())
            claims.append(
                Claim(
                    f"{name}, L = {copies}: each of the six policies loses at least the bound on A or on B ({kind})",
                    judged(smallest >= 1.0),
                    f"smallest ratio of the larger regret to the bound {smallest:.2f}; smallest growth exponent "
                    f"{slope:.2f}, the bound's is {wanted:.2f}",
                    (name, "Lemma 3" if c is None else "Lemma 4"),
                )
            )
    flat = worst_of_flat([run for run in runs if ":flat(" in run.spec.task])
    floor = np.array([flat_bound(horizon) for horizon in FLAT_HORIZONS])
    ratio = {policy: float((values / floor).min()) for policy, values in flat.items()}
    least = min(ratio, key=ratio.__getitem__)
    claims.append(
        Claim(
            "Theorem 5, the part L·√T that is due to noise: each of the six policies loses at least it on one of two "
            "instances without rising means",
            judged(ratio[least] >= 1.0),
            f"smallest ratio of the larger mean regret to σ√T·e^(−1/2)/16: {ratio[least]:.2f} ({title(least)}); "
            f"horizons "
            f"{', '.join(f'{horizon:,}' for horizon in FLAT_HORIZONS)}",
            ("Theorem 5",),
        )
    )
    return claims


def rate_claims(runs: Sequence[StoredRun]) -> list[Claim]:
    """The claims of Corollary 2 about how the regret of CRUCB grows, on the hardest pairs."""
    claims = []
    for c in (None, *SLOPES):
        values = worst_of_pair(runs, c)["crucb"]
        more = worst_of_pair(runs, c, COPIES, COPY_HORIZONS)["crucb"]
        one = values[[HORIZONS.index(horizon) for horizon in COPY_HORIZONS]]
        bound = upper_rate(1.0 if c is None else c)
        grown = exponent(HORIZONS, values)
        kind = "slopes without a limit (c ≤ 1)" if c is None else f"slopes (n+1)^(−{c:g})"
        claims.append(
            Claim(
                f"Corollary 2: the regret of CRUCB grows no faster than T^{bound:.2f} with {kind}",
                judged(grown <= bound + _SLACK),
                f"measured exponent on the larger of A and B {grown:.2f}; held allows {_SLACK:g} more than the "
                f"bound. With "
                f"K and L four times as large, the regret is {', '.join(f'{x:.1f}' for x in more / one)} times "
                f"as large at "
                f"T = {', '.join(f'{horizon:,}' for horizon in COPY_HORIZONS)}; the bound grows with K, four times",
                ("Corollary 2",),
            )
        )
    return claims


def proof_claims(slopes: Sequence[float] = (1.2, 1.4, 1.6, 1.8), horizon: int = 100_000) -> list[Claim]:
    """Steps of the proofs of Theorems 4 and 5, computed on the instances of those proofs."""
    first = {c: paper_step(horizon, c) for c in slopes}
    second = {c: second_step(horizon, c) for c in slopes}
    mixed, copied = best_mixture(18_000), spy(10_000, 1.6)
    return [
        Claim(
            "Lemma 3: every policy loses at least T/16 on one of two instances",
            judged(max(mixed.a, mixed.b) >= 18_000 / 16),
            f"a randomised policy, which plays the rising arm with probability {mixed.share:.2f}, loses "
            f"{mixed.a:,.0f} on A "
            f"and {mixed.b:,.0f} on B at T = 18,000: T/18 and less than T/16 = {18_000 / 16:,.0f}. The proof "
            f"replaces a "
            "random number of plays by its mean. T/16 holds for policies without randomness, and the rate for all",
            ("Lemma 3",),
        ),
        Claim(
            "proof of Theorem 5, first step: always playing the rising arm of B costs (μ(P)−ε)P − F(P)",
            judged(all(step.real >= step.claimed * (1.0 - 1e-9) for step in first.values())),
            f"the formula and the actual regret at T = {horizon:,}: "
            + "; ".join(f"c = {c:g}: {step.claimed:,.1f} and {step.real:,.1f}" for c, step in first.items())
            + ". The rising arm of B ends ε above the flat one. With ε = 0 the argument holds, and the claims on lower "
            "bounds use that pair",
            ("Proof of Theorem 5",),
        ),
        Claim(
            "proof of Theorem 5, second step: F(T) − F(T−P) − μ(P)P is at least a line that is c₂·T^(2−c) + o(T^(2−c))",
            judged(all(step.printed > 0 for step in second.values())),
            f"the quantity and that line at T = {horizon:,}: "
            + "; ".join(f"c = {c:g}: {step.exact:,.0f} and {step.printed:,.0f}" for c, step in second.items())
            + ". The line falls like −T, because a sum of the order of T was bounded by T times its smallest "
            "summand. The "
            "quantity itself grows like T^(2−c), so the theorem stays",
            ("Proof of Theorem 5",),
        ),
        Claim(
            "proofs of Theorems 4 and 5: L copies that are all A or all B are L independent problems",
            judged(max(copied.a, copied.b) >= copied.bound),
            f"a policy that tries the rising arm in one of two copies only loses {copied.a:.1f} on A and "
            f"{copied.b:.1f} on B "
            f"(c = 1.6, T = 10,000), less than twice the bound of one copy, {copied.bound:.1f}. The factor L is "
            f"right if "
            "each copy is A or B by itself",
            ("Proof of Theorem 4", "Proof of Theorem 5"),
        ),
    ]


def optimality_claims(gain: float, check: RatioCheck, additive: float, instances: int) -> list[Claim]:
    """The claims of Theorems 1 and 2, of Corollary 1, and of the paper's constant for k-MAX."""
    return [
        Claim(
            "Theorem 1: playing (2, 3) once first earns 0.3 more than the best constant super arm",
            judged(abs(gain - 0.3) < 1e-9),
            f"exact optimum minus best constant: {gain:.6f}",
            ("Theorem 1",),
        ),
        Claim(
            "Theorem 2: the optimum is at most B_U / B_L times the best constant",
            judged(check.held),
            f"largest ratio on {check.ratios.size:,} random instances {check.ratios.max():.4f}, bound {check.bound:g} "
            f"with B_L = {check.low:g} computed",
            ("Theorem 2",),
        ),
        Claim(
            "Corollary 1 and Lemma 1: for sums the best constant super arm is optimal",
            judged(additive < 1e-12),
            f"largest relative difference from the exact optimum on {instances} random instances: {additive:.1g}",
            ("Corollary 1", "Lemma 1"),
        ),
        Claim(
            "for k-MAX, B_L = 1/√k (Appendix F.1)",
            judged(bool(check.low >= check.paper_low)),
            f"k equal outcomes give max/sum = {check.low:g}, below 1/√k = {check.paper_low:.4f}; the right "
            f"constant is 1/k",
            ("Appendix F.1",),
        ),
    ]


def rounds_beyond(result: Concentration) -> int:
    """At how many rounds the measured frequency is above the limit 2K/t² of the concentration lemma (Lemma 2)."""
    # A frequency of one run in all runs is the smallest that can be measured, so it is not counted as above the limit.
    return int((result.frequency > np.maximum(result.allowed, 1.0 / result.runs)).sum())


def concentration_claim(result: Concentration) -> Claim:
    """The claim of Lemma 2, the concentration lemma, for the printed bonus."""
    beyond = rounds_beyond(result)
    able = int((result.allowed >= 1.0 / result.runs).sum())
    return Claim(
        f"Lemma 2: some estimate is off by more than its bonus with probability at most 2K/t² (bonus "
        f"{result.constant:g} "
        "log t)",
        judged(beyond == 0),
        f"{beyond} of {result.rounds.size} rounds above this limit in {result.runs:,} runs; largest frequency "
        f"{float(result.frequency.max()):.3g}. At {result.rounds.size - able} rounds the limit is below one run in all "
        "runs, so that only a frequency of two runs or more would be seen as too large",
        ("Lemma 2",),
    )
