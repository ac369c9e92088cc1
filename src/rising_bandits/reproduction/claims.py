"""The paper's claims, each judged by the numbers of the present runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rising_bandits.experiments import StoredRun, group
from rising_bandits.plots.style import title
from rising_bandits.reproduction.judging import Claim, judged
from rising_bandits.reproduction.sections import EPSILONS, HORIZONS, REFERENCE, SLOPES, TABLE_ROUNDS, pair_names
from rising_bandits.theory import lower_bound, lower_rate
from rising_bandits.theory.checks import Concentration, RatioCheck
from rising_bandits.theory.instances import paper_step

BASELINES = ("r-ed-ucb", "sw-ucb", "sw-cucb", "sw-ts", "sw-cts")
"""The policies that the paper compares CRUCB with."""


def finals(runs: Sequence[StoredRun], task: str) -> dict[str, np.ndarray]:
    """The final regret of every seed on a task, by policy."""
    return {
        label: np.array([run.regret[-1] for run in members])
        for (name, label), members in group(runs).items()
        if name == task
    }


def paired_p(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The p-value of a one-sided paired t-test over seeds: a small one means that ``ours`` is smaller."""
    from scipy import stats

    difference = theirs - ours
    if np.ptp(difference) == 0.0:
        # All differences are equal, as on a task without noise: the t-test is undefined, and the sign decides.
        return 0.0 if difference[0] > 0 else 1.0
    return float(stats.ttest_1samp(difference, 0.0, alternative="greater").pvalue)


def task_claims(runs: Sequence[StoredRun], task: str) -> list[Claim]:
    """The claims about a task.

    They are that CRUCB has the least regret, once with the bonus of the paper and once with the bonus of the authors'
    program, and what else the paper says about the task.
    """
    regret = finals(runs, task)
    claims = [_lowest(regret, "crucb", "paper"), _lowest(regret, REFERENCE, "reference")]
    if task == "toy":
        claims += _toy(runs)
    if task in ("path-easy", "path-complex", "k-max"):
        claims.append(_super_beat_base(regret))
    return claims


def _lowest(regret: dict[str, np.ndarray], ours: str, bonus: str) -> Claim:
    """The claim that CRUCB with a bonus has less regret than every baseline."""
    rivals = {name: regret[name] for name in BASELINES}
    best = min(rivals, key=lambda name: float(rivals[name].mean()))
    mine, other = float(regret[ours].mean()), float(rivals[best].mean())
    constant = "10 log t³" if bonus == "paper" else "4 log t"
    p = paired_p(regret[ours], rivals[best])
    return Claim(
        f"CRUCB has the least final regret of the six policies (bonus {constant} of the "
        f"{'paper' if bonus == 'paper' else 'program'})",
        judged(mine < other),
        f"CRUCB {mine:,.0f}, best baseline {title(best)} {other:,.0f}; paired one-sided p = {p:.2g}",
    )


def _super_beat_base(regret: dict[str, np.ndarray]) -> Claim:
    """The claim that the sliding-window policies on super arms do better than those on base arms."""
    mean = {name: float(values.mean()) for name, values in regret.items()}
    held = mean["sw-ucb"] < mean["sw-cucb"] and mean["sw-ts"] < mean["sw-cts"]
    return Claim(
        "SW-UCB and SW-TS do better than SW-CUCB and SW-CTS",
        judged(held),
        f"SW-UCB {mean['sw-ucb']:,.0f} and SW-CUCB {mean['sw-cucb']:,.0f}; "
        f"SW-TS {mean['sw-ts']:,.0f} and SW-CTS {mean['sw-cts']:,.0f}",
    )


def _toy(runs: Sequence[StoredRun]) -> list[Claim]:
    """The claims about the toy task."""
    by = {label: members[0] for (name, label), members in group(runs).items() if name == "toy"}
    crucb = by["crucb"]
    half = int(np.searchsorted(crucb.rounds, crucb.spec.horizon // 2))
    late = (crucb.regret[-1] - crucb.regret[half]) / (crucb.rounds[-1] - crucb.rounds[half])
    early = {label: float(run.plays_at[-1][1] / run.spec.horizon) for label, run in by.items()}
    return [
        Claim(
            "the regret of CRUCB becomes nearly constant",
            judged(bool(late < 1e-3)),
            f"regret per round over the second half of the run: {late:.2g}",
        ),
        Claim(
            "SW-CUCB stays with the early edge, and R-ed-UCB divides its plays between both edges",
            judged(bool(early["sw-cucb"] > 0.9 and 0.1 < early["r-ed-ucb"] < 0.9)),
            f"share of plays of the early edge: CRUCB {early['crucb']:.1%}, SW-CUCB {early['sw-cucb']:.1%}, "
            f"R-ed-UCB {early['r-ed-ucb']:.1%}",
        ),
    ]


def sensitivity_table(runs: Sequence[StoredRun], bonus: str) -> list[list[float]]:
    """The mean regret of CRUCB on path-easy: rows are the paper's three rounds, columns its four windows."""
    table = []
    for row in TABLE_ROUNDS:
        cells = []
        for epsilon in EPSILONS:
            mine = [
                run.regret[int(np.searchsorted(run.rounds, row))]
                for run in runs
                if run.spec.task == "path-easy"
                and run.spec.rounds == TABLE_ROUNDS
                and run.spec.parameters.get("epsilon") == epsilon
                and run.spec.parameters.get("bonus") == bonus
                and run.spec.parameters.get("sigma") == 0.01
            ]
            cells.append(float(np.mean(mine)))
        table.append(cells)
    return table


def sensitivity_claims(runs: Sequence[StoredRun]) -> list[Claim]:
    """The claims that the regret is nearly the same for every window, one for each bonus."""
    claims = []
    for bonus in ("paper", "reference"):
        last = sensitivity_table(runs, bonus)[-1]
        spread = max(last) / min(last)
        whose = "paper" if bonus == "paper" else "program"
        claims.append(
            Claim(
                f"the regret of CRUCB hardly depends on its window (bonus of the {whose})",
                judged(spread < 1.05),
                f"largest over smallest final regret: {spread:.2f}",
            )
        )
    return claims


def worst_of_pair(runs: Sequence[StoredRun], c: float | None) -> dict[str, np.ndarray]:
    """For every policy the larger of its final regrets on instances A and B, one number per horizon."""
    final = {(run.spec.task, run.spec.policy): float(run.regret[-1]) for run in runs}
    policies = list(dict.fromkeys(run.spec.policy for run in runs))
    return {
        policy: np.array([max(final[name, policy] for name in pair_names(horizon, c)) for horizon in HORIZONS])
        for policy in policies
    }


def lower_bound_claims(runs: Sequence[StoredRun]) -> list[Claim]:
    """The claims that the regret of every policy is at least the lower bound, on instance A or on instance B."""
    claims = []
    for c in (None, *SLOPES):
        worst = worst_of_pair(runs, c)
        floor = np.array([lower_bound(horizon, 1, c) for horizon in HORIZONS])
        slope = {policy: float(np.polyfit(np.log(HORIZONS), np.log(values), 1)[0]) for policy, values in worst.items()}
        best = min(slope.values())
        wanted = 1.0 if c is None else lower_rate(c)
        kind = (
            "the general class (Theorem 4, T/18)" if c is None else f"slopes (n+1)^(−{c:g}) (Theorem 5, T^{wanted:g})"
        )
        claims.append(
            Claim(
                f"every policy has at least the regret of the lower bound on one of two instances, {kind}",
                judged(all(bool((values >= floor).all()) for values in worst.values())),
                f"smallest ratio of worst regret to bound {min(float((v / floor).min()) for v in worst.values()):.2f}; "
                f"smallest growth exponent {best:.2f}, the bound's is {wanted:.2f}",
            )
        )
    return claims


def proof_claim(slopes: Sequence[float] = (1.2, 1.4, 1.6, 1.8), horizon: int = 100_000) -> Claim:
    """The claim of one step in the proof of Theorem 5, computed on the instances of that proof."""
    steps = {c: paper_step(horizon, c) for c in slopes}
    words = "; ".join(f"c = {c:g}: {step.claimed:,.1f} and {step.real:,.1f}" for c, step in steps.items())
    return Claim(
        "in the proof of Theorem 5, always playing the rising arm of B costs (μ(P)−ε)P − F(P)",
        judged(all(step.real >= step.claimed * (1.0 - 1e-9) for step in steps.values())),
        f"the formula and the actual regret at T = {horizon:,}: {words}. The rising arm of B ends ε above the flat "
        "one. With ε = 0 the argument holds, and the claims above use that pair",
    )


def optimality_claims(gain: float, check: RatioCheck) -> list[Claim]:
    """The claims of Theorems 1 and 2, and of the paper's constant for k-MAX."""
    return [
        Claim(
            "playing (2, 3) once first earns 0.3 more than the best constant super arm (Theorem 1)",
            judged(abs(gain - 0.3) < 1e-9),
            f"exact optimum minus best constant: {gain:.6f}",
        ),
        Claim(
            "the optimum is at most B_U / B_L times the best constant (Theorem 2)",
            judged(check.held),
            f"largest ratio on {check.ratios.size:,} random instances {check.ratios.max():.4f}, bound {check.bound:g} "
            f"with B_L = {check.low:g} computed",
        ),
        Claim(
            "for k-MAX, B_L = 1/√k",
            judged(bool(check.low >= check.paper_low)),
            f"k equal outcomes give max/sum = {check.low:g}, below 1/√k = {check.paper_low:.4f}",
        ),
    ]


def rounds_beyond(result: Concentration) -> int:
    """At how many rounds the measured frequency is above the limit 2K/t² of the concentration lemma (Lemma 2)."""
    # A frequency of one run in all runs is the smallest that can be measured, so it is not counted as above the limit.
    return int((result.frequency > np.maximum(result.allowed, 1.0 / result.runs)).sum())


def concentration_claim(result: Concentration) -> Claim:
    """The claim of Lemma 2, the concentration lemma, for the bonus of the paper."""
    beyond = rounds_beyond(result)
    return Claim(
        f"some estimate is off by more than its bonus with probability at most 2K/t² "
        f"(Lemma 2, bonus {result.constant:g} log t)",
        judged(beyond == 0),
        f"{beyond} of {result.rounds.size} rounds above this limit in {result.runs:,} runs; "
        f"largest frequency {float(result.frequency.max()):.3g}",
    )
