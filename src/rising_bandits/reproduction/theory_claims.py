"""The paper's theorems, corollaries, lemmas and steps of proofs as claims, each judged by numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from rising_bandits._checks import Floats
from rising_bandits.experiments import StoredRun
from rising_bandits.plots.names import title
from rising_bandits.reproduction.judging import Claim, judged
from rising_bandits.reproduction.sections import (
    COPIES,
    COPY_HORIZONS,
    FLAT_HORIZONS,
    HORIZONS,
    SLOPES,
    STEEP_HORIZONS,
    flat_names,
    pair_names,
    steep_name,
)
from rising_bandits.reproduction.variants import flat_bound
from rising_bandits.theory import lower_bound, lower_rate, upper_rate
from rising_bandits.theory.checks import Concentration, RatioCheck
from rising_bandits.theory.proofs import best_mixture, spy, theorem_3, theorem_5

_SLACK = 0.05
"""By how much a measured exponent may exceed that of a bound."""
SYNTHETIC_SLOPE = 1.2
"""The exponent c that the paper chose for its synthetic tasks."""
_SIMILAR = 0.2
"""Up to which difference the exponents of two bounds count as similar."""


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


def steep_regret(runs: Sequence[StoredRun]) -> Floats:
    """The mean final regret of CRUCB on the tasks with slopes exp(-n), one number per horizon."""
    found = {horizon: [r.regret[-1] for r in runs if r.spec.task == steep_name(horizon)] for horizon in STEEP_HORIZONS}
    return np.array([float(np.mean(values)) for values in found.values()])


def exponent(horizons: Sequence[int], values: Floats) -> float:
    """The exponent with which values grow with the horizon, by a straight line through their logarithms."""
    return float(np.polyfit(np.log(horizons), np.log(values), 1)[0])


def lower_bound_claims(runs: Sequence[StoredRun]) -> list[Claim]:
    """The claims that the regret of every policy is at least the lower bound, on instance A or on instance B."""
    claims = []
    for c in (None, *SLOPES):
        name, lemma = ("Theorem 4", "Lemma 3") if c is None else ("Theorem 5", "Lemma 4")
        wanted = 1.0 if c is None else lower_rate(c)
        kind = "all rising instances, L·T/18" if c is None else f"slopes (n+1)^(−{c:g}), of the order L·T^{2 - c:g}"
        for copies, horizons in ((1, HORIZONS), (COPIES, COPY_HORIZONS)):
            worst = worst_of_pair(runs, c, copies, horizons)
            floor = np.array([lower_bound(horizon, copies, c) for horizon in horizons])
            smallest = min(float((values / floor).min()) for values in worst.values())
            slope, own = min(exponent(horizons, values) for values in worst.values()), exponent(horizons, floor)
            claims.append(
                Claim(
                    f"{name}, L = {copies}: each of the six policies loses at least the bound on A or on B ({kind})",
                    judged(smallest >= 1.0),
                    f"smallest ratio of the larger regret to the bound {smallest:.2f}; smallest growth exponent "
                    f"{slope:.2f}, that of the bound is {own:.2f} over these horizons and {wanted:.2f} in the limit. "
                    "Six policies are no proof for all",
                    (name, lemma) if copies == 1 else (name,),
                )
            )
    flat = worst_of_flat([run for run in runs if ":flat(" in run.spec.task])
    floor = np.array([flat_bound(horizon) for horizon in FLAT_HORIZONS])
    ratio = {policy: float((values / floor).min()) for policy, values in flat.items()}
    least = min(ratio, key=ratio.__getitem__)
    claims.append(
        Claim(
            "Theorem 5, the part L·√T that is due to noise: each of the six policies loses at least it on one of two "
            "instances without rising means (L = 1)",
            judged(ratio[least] >= 1.0),
            f"smallest ratio of the larger mean regret to σ√T·e^(−1/2)/16: {ratio[least]:.2f} ({title(least)}); T = "
            f"{', '.join(f'{horizon:,}' for horizon in FLAT_HORIZONS)}",
            ("Theorem 5",),
        )
    )
    return claims


def rate_claims(runs: Sequence[StoredRun]) -> list[Claim]:
    """The claims of Corollary 2 about how the regret of CRUCB grows: on the hardest pairs, and with slopes exp(-n)."""
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
                f"measured exponent on the larger of A and B {grown:.2f}; held allows {_SLACK:g} more than the bound. "
                f"With K and L four times as large, the regret is {', '.join(f'{x:.1f}' for x in more / one)} times as "
                f"large at T = {', '.join(f'{horizon:,}' for horizon in COPY_HORIZONS)}; the bound is four times as "
                "large",
                ("Corollary 2",),
            )
        )
    steep = steep_regret(runs)
    rounds = np.array(STEEP_HORIZONS, dtype=float)
    grown = exponent(STEEP_HORIZONS, steep)
    # Over two decades the logarithm adds to the exponent, so the bound is taken with it.
    bound = exponent(STEEP_HORIZONS, rounds ** upper_rate(math.inf) * np.log(rounds) ** (1 / 3))
    claims.append(
        Claim(
            "Corollary 2: the regret of CRUCB grows no faster than T^(2/3)·(log T)^(1/3) with slopes exp(−n)",
            judged(grown <= bound + _SLACK),
            f"mean regret {', '.join(f'{x:,.0f}' for x in steep)} at T = "
            f"{', '.join(f'{horizon:,}' for horizon in STEEP_HORIZONS)}, two arms, noise 0.01: measured exponent "
            f"{grown:.2f}, that of T^(2/3)·(log T)^(1/3) over these horizons {bound:.2f}; held allows {_SLACK:g} more",
            ("Corollary 2",),
        )
    )
    return claims


def gap_claim() -> Claim:
    """The claim of Figure 3 that the exponents of the two bounds are of similar order, computed from the formulas."""
    middle = np.linspace(1.0, 1.5, 501)
    gaps = np.array([upper_rate(c) - (lower_rate(c) if c > 1.0 else 1.0) for c in middle])
    beyond = upper_rate(1.99) - lower_rate(1.99)
    worst = int(gaps.argmax())
    return Claim(
        "for 1 < c < 1.5 the exponents 1/c and 2 − c of the two bounds are of similar order",
        judged(float(gaps.max()) <= _SIMILAR),
        f"largest difference of the exponents {gaps[worst]:.3f}, at c = {middle[worst]:.2f}; held needs at most "
        f"{_SIMILAR:g}. For larger c it stays {beyond:.3f} (2/3 and 1/2). K, L and logarithms are left out",
        ("Figure 3",),
    )


def rate_falls_claim(slopes: Sequence[float] = (1.1, 1.3, 1.5, 1.7, 1.9)) -> Claim:
    """The claim of Section 5.2 that a larger exponent of the slopes makes the lower bound smaller."""
    rates = [lower_rate(c) for c in slopes]
    return Claim(
        "a larger c makes the lower bound smaller (Section 5.2)",
        judged(bool(np.all(np.diff(rates) <= 0.0)) and rates[0] > rates[-1]),
        "exponent of T in the bound of Theorem 5: "
        + ", ".join(f"{rate:.1f} for c = {c:g}" for c, rate in zip(slopes, rates, strict=True))
        + ". From c = 1.5 on it is that of √T, which does not depend on c",
        ("Section 5",),
    )


def slope_claim(slopes: Mapping[str, Floats]) -> Claim:
    """The claim of Appendix E.1 on the rates for the synthetic tasks, judged by the slopes of their late bloomers.

    Parameters
    ----------
    slopes
        For each task the largest slope of its arms after 1, 2, ... plays.
    """
    share = {
        task: float((values * (np.arange(1, values.size + 1) + 1.0) ** SYNTHETIC_SLOPE).max())
        for task, values in slopes.items()
    }
    most = max(share, key=share.__getitem__)
    c = SYNTHETIC_SLOPE
    return Claim(
        f"the slopes of the synthetic tasks are at most (n+1)^(−{c:g}), so the exponents of the bounds are 1/{c:g} and "
        f"{2 - c:g} (Appendix E.1)",
        judged(share[most] <= 1.0 + 1e-9),
        f"largest slope as a share of (n+1)^(−{c:g}): {share[most]:.3f} ({most}), over {', '.join(share)}; the "
        f"formulas give {upper_rate(c):.3f} and {lower_rate(c):.1f}. The lower bound is about the worst instance with "
        "such slopes. These curves stop rising after 5,000 or 20,000 plays, so the growth term of their own upper "
        "bound stays below a constant. The toy is left out: its curves are not in the paper",
        ("Appendix E.1",),
    )


def proof_claims(slopes: Sequence[float] = (1.2, 1.4, 1.6, 1.8), horizon: int = 100_000) -> list[Claim]:
    """Steps of the proofs of Theorems 3, 4 and 5, computed on instances."""
    steps = {c: theorem_5(horizon, c) for c in slopes}
    mixed, copied, capped = best_mixture(18_000), spy(10_000, 1.6), theorem_3()
    size = capped.task.problem.oracle.max_size
    return [
        Claim(
            "Lemma 3: every policy loses at least T/16 on one of two instances",
            judged(max(mixed.a, mixed.b) >= 18_000 / 16),
            f"a randomised policy, which plays the rising arm with probability {mixed.share:.2f}, loses {mixed.a:,.0f} "
            f"on A and {mixed.b:,.0f} on B at T = 18,000: T/18, which is less than T/16 = {18_000 / 16:,.0f}. The "
            "proof replaces a random number of plays by its mean. T/16 holds for policies without randomness, and the "
            "rate for all",
            ("Lemma 3",),
        ),
        Claim(
            "proof of Theorem 3, term B1: a round costs at most the errors of its arms' forecasts, each counted as at "
            "most 1",
            judged(capped.regret <= capped.counted),
            f"two super arms of {size} arms, no noise: in round {capped.round:,} CRUCB loses {capped.regret:.3f}, and "
            f"the errors so counted are {capped.counted:g}. What may be capped is the cost of a round, at L. The bound "
            "is then larger by a factor that depends on L only (at most L in the growth term, L^(1/3) in the noise "
            "term); its rates in T stay. The printed bound has not been seen to fail",
            ("Proof of Theorem 3",),
        ),
        Claim(
            "proof of Theorem 5: its instances A and B are in the class, whose means are at most 1 (Section 2)",
            judged(all(step.highest <= 1.0 for step in steps.values())),
            f"the highest mean of A, a sum of (n+1)^(−c), at T = {horizon:,}: "
            + "; ".join(f"c = {c:g}: {step.highest:.2f}" for c, step in steps.items())
            + ". Divided by it, both instances are in the class and the rate stays; the claims on lower bounds do that",
            ("Proof of Theorem 5",),
        ),
        Claim(
            "proof of Theorem 5, first step: always playing the rising arm of B costs (μ(P)−ε)P − F(P)",
            judged(all(step.real >= step.claimed * (1.0 - 1e-9) for step in steps.values())),
            f"the formula and the actual regret at T = {horizon:,}, with the means of the proof: "
            + "; ".join(f"c = {c:g}: {step.claimed:,.1f} and {step.real:,.1f}" for c, step in steps.items())
            + ". The rising arm of B ends ε above the flat one. With ε = 0 the argument holds, and the claims on lower "
            "bounds use that pair",
            ("Proof of Theorem 5",),
        ),
        Claim(
            "proof of Theorem 5, second step: F(T) − F(T−P) − μ(P)P is at least a line that is c₂·T^(2−c) + o(T^(2−c))",
            judged(all(step.printed > 0 for step in steps.values())),
            f"the quantity and that line at T = {horizon:,}: "
            + "; ".join(f"c = {c:g}: {step.exact:,.0f} and {step.printed:,.0f}" for c, step in steps.items())
            + ". The line falls like −T, because a sum of the order of T was bounded by its number of summands times "
            "less than the smallest. The quantity itself grows like T^(2−c), so the theorem stays. In the equation for "
            "ε after it, the plus should be a minus",
            ("Proof of Theorem 5",),
        ),
        Claim(
            "proofs of Theorems 4 and 5: L copies that are all A or all B are L independent problems",
            judged(max(copied.a, copied.b) >= copied.bound),
            f"a policy that tries the rising arm in one of two copies only loses {copied.a:.1f} on A and "
            f"{copied.b:.1f} on B (c = 1.6, T = 10,000), less than twice the bound of one copy, {copied.bound:.1f}. "
            "The factor L is right if each copy is A or B by itself",
            ("Proof of Theorem 4", "Proof of Theorem 5"),
        ),
    ]


def optimality_claims(gain: float, check: RatioCheck, additive: float, single: float, instances: int) -> list[Claim]:
    """The claims of Theorems 1 and 2, of Corollary 1, on single arms, and of the paper's constant for k-MAX."""
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
            f"largest ratio on {check.ratios.size:,} random k-MAX instances {check.ratios.max():.4f}, bound "
            f"{check.bound:g} with B_L = {check.low:g} computed",
            ("Theorem 2",),
        ),
        Claim(
            "Corollary 1 and Lemma 1: for sums the best constant super arm is optimal",
            judged(additive < 1e-12),
            f"largest relative difference from the exact optimum on {instances} random instances: {additive:.1g}",
            ("Corollary 1", "Lemma 1"),
        ),
        Claim(
            "if every super arm is a single arm, the best constant arm is optimal (Sections 1 and 3, Appendix B)",
            judged(single < 1e-12),
            f"largest relative difference from the exact optimum on {instances} random instances: {single:.1g}",
            ("Section 1", "Section 3", "Appendix B"),
        ),
        Claim(
            "for k-MAX, B_L = 1/√k (Appendix F.1)",
            judged(bool(check.low >= check.paper_low)),
            f"k equal outcomes give max/sum = {check.low:g}, below 1/√k = {check.paper_low:.4f}; the right constant is "
            "1/k",
            ("Appendix F.1",),
        ),
    ]


def optimism_claim(smallest: float, curves: int) -> Claim:
    """The claim of Section 4 that a forecast is never below the truth in expectation."""
    return Claim(
        "CRUCB's forecast (recent average and predicted improvement) is never below the later mean in expectation, if "
        "means are concave (Section 4)",
        judged(smallest >= -1e-9),
        f"smallest difference of the expected forecast at round t and the mean of the t-th play, on {curves} random "
        f"concave curves with windows and rounds drawn at random: {smallest:.1g}; held needs at least 0, but for "
        "rounding",
        ("Section 4",),
    )


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
        f"{result.constant:g} log t)",
        judged(beyond == 0),
        f"{beyond} of {result.rounds.size} rounds above this limit in {result.runs:,} runs; largest frequency "
        f"{float(result.frequency.max()):.3g}. At {result.rounds.size - able} rounds the limit is below one run in all "
        "runs, so that only a frequency of two runs or more would be seen as too large",
        ("Lemma 2",),
    )
