"""The parts of the report on theory: figures, tables and judged claims."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rising_bandits._checks import Floats
from rising_bandits.experiments import StoredRun
from rising_bandits.plots.names import title
from rising_bandits.plots.style import figure, figures, save
from rising_bandits.plots.theory import draw_bounds, draw_concentration, draw_growth, draw_lower_bound, draw_rates
from rising_bandits.problems import tasks
from rising_bandits.reproduction import theory_claims as claims
from rising_bandits.reproduction.judging import Claim, judged
from rising_bandits.reproduction.report import Part
from rising_bandits.reproduction.sections import (
    COPIES,
    COPY_HORIZONS,
    FLAT_HORIZONS,
    HORIZONS,
    SLOPES,
    STEEP_HORIZONS,
    TASKS,
    Section,
)
from rising_bandits.reproduction.variants import flat_bound
from rising_bandits.theory import lower_bound, optimal_constant, optimal_policy, upper_bound, upper_rate
from rising_bandits.theory.checks import check_monotone, check_optimism, check_ratio, check_sum, concentration
from rising_bandits.theory.instances import best_constant_is_not_optimal

_SUMS = 300
"""On how many random instances Corollary 1 is checked, for pairs and for single arms."""
_CURVES = 500
"""On how many random curves forecasts are checked."""


def growth_part(section: Section, runs: Sequence[StoredRun], folder: Path) -> Part:
    """The part on the growth of outcomes, the exponents of the bounds, and how the regret of CRUCB grows."""
    with figures(9.0, 3.4, widths=(1.0, 1.0)) as (drawing, (left, right)):
        draw_growth(left)
        left.set_title("growth of outcomes", fontsize=10)
        draw_rates(right)
        right.set_title("exponents of the bounds", fontsize=10)
        path = save(drawing, folder / "growth.png")[1]
    rows = []
    for c in (None, *SLOPES):
        values = claims.worst_of_pair(runs, c)["crucb"]
        kind = "no limit" if c is None else f"(n+1)^(−{c:g})"
        grown = claims.exponent(HORIZONS, values)
        rows.append(
            [kind, *(f"{x:,.0f}" for x in values), f"{grown:.2f}", f"{upper_rate(1.0 if c is None else c):.2f}"]
        )
    steep = dict(zip(STEEP_HORIZONS, claims.steep_regret(runs), strict=True))
    cells = [f"{steep[horizon]:,.0f}" if horizon in steep else "" for horizon in HORIZONS]
    grown = claims.exponent(STEEP_HORIZONS, np.array(list(steep.values())))
    rows.append(["exp(−n), with noise", *cells, f"{grown:.2f}", f"{upper_rate(math.inf):.2f}"])
    headings = ["slopes at most", *(f"T = {horizon:,}" for horizon in HORIZONS), "exponent", "Corollary 2"]
    return Part(
        section.name,
        section.title,
        text=[
            "Corollary 2: with slopes of at most f(n), the regret of CRUCB is O(max(K·T^(2/3)·(log T)^(1/3), "
            "K·T^q·∫f(n)^q dn)), the integral from 1 to (1−2ε)LT/K. For f = (n+1)^(−c) with c > 1 this is of the order "
            "T^max(2/3, 1/c), for c ≤ 1 of the order T, and for f = exp(−n) of the order T^(2/3). (The paper prints "
            "log KT^(1/3) for K·(log T)^(1/3).) Measured is the larger regret on the two instances of a lower bound, "
            "without noise, and for exp(−n) the mean regret on two arms with noise, which is what the term T^(2/3) "
            "comes from.",
        ],
        claims=[
            claims.gap_claim(),
            claims.rate_falls_claim(),
            claims.slope_claim(_largest_slopes()),
            *claims.rate_claims(runs),
        ],
        figures=[(path, "Computed from the formulas of Corollary 2 and Theorem 5.")],
        tables=[("Regret of CRUCB, K = 2 and L = 1; without noise the larger of A and B", headings, rows)],
        items=("Figure 2", "Figure 3", "Corollary 2", "Appendix E.1"),
    )


def _largest_slopes() -> dict[str, Floats]:
    """For each synthetic task but the toy the largest slope of its arms after 1, 2, ... plays, as long as they rise."""
    found = {}
    for name in TASKS:
        if name != "toy":
            task = tasks.get(name)
            last = max(curve.settled or 0 for curve in task.curves)
            plays = np.arange(1, last + 2)
            found[name] = np.diff([curve(plays) for curve in task.curves], axis=1).max(axis=0)
    return found


def bounds_part(section: Section, runs: Sequence[StoredRun], folder: Path) -> Part:
    """The part on the upper bound of Theorem 3: its terms on every task beside the regret of CRUCB."""
    rows: list[list[str]] = []
    shown: list[tuple[str, float, float]] = []
    below = tight = 0
    for name in dict.fromkeys(run.spec.task for run in runs):
        mine = [run.regret[-1] for run in runs if run.spec.task == name]
        bound, printed = upper_bound(tasks.get(name), constant=30.0), upper_bound(tasks.get(name))
        measured, most = float(np.mean(mine)), optimal_constant(tasks.get(name)).total
        numbers = (measured, printed.total, bound.total, bound.start, bound.growth, bound.noise, most)
        rows.append([name, *(f"{x:,.0f}" for x in numbers), f"{bound.q:.2f}"])
        shown.append((name, measured / most, bound.total / most))
        below, tight = below + (measured <= bound.total), tight + (measured <= printed.total)
    held = below == tight == len(shown)
    useful = [name for name, _, bound in shown if bound < 1.0]
    with figure(6.4, 3.6) as (drawing, axes):
        draw_bounds(axes, shown)
        path = save(drawing, folder / "bounds.png")[1]
    headings = ["task", "measured", "as printed", "for 30 log t", "start", "growth", "noise", "at most", "q"]
    says = f"{len(useful)} of {len(shown)} tasks" + (f" ({', '.join(useful)})" if useful else "")
    return Part(
        section.name,
        section.title,
        text=[
            "The last term of the printed bound belongs to a bonus of 2 log 4t³, which the proof uses; the algorithm "
            "has 30 log t. The table has the bound as printed and for 30 log t. No policy can lose more than the best "
            "constant super arm earns (column at most), so a bound above that says nothing. The bound for 30 log t is "
            f"below it on {says}."
        ],
        claims=[
            Claim(
                "Theorem 3: the regret of CRUCB stays below the bound",
                judged(held),
                f"mean regret is below the bound for 30 log t on {below} of {len(shown)} tasks, and below the bound as "
                f"printed on {tight}; the bound for 30 log t is below the largest possible regret on {says}",
                ("Theorem 3",),
            )
        ],
        figures=[
            (
                path,
                "Squares: the bound for 30 log t. Dots: measured regret. To the right of the dotted line a bound says "
                "nothing.",
            )
        ],
        tables=[("Regret of CRUCB (30 log t), its bound, and the terms of the bound for 30 log t", headings, rows)],
        items=("Theorem 3",),
    )


def lower_bounds_part(section: Section, runs: Sequence[StoredRun], folder: Path) -> Part:
    """The part on the lower bounds: the larger regret on instances A and B by horizon, with copies, and with noise."""
    pairs = [run for run in runs if ".instances:" in run.spec.task]
    flat = [run for run in runs if ":flat(" in run.spec.task]
    with figures(11.0, 3.6, widths=(1.0,) * (1 + len(SLOPES))) as (drawing, row):
        for axes, c in zip(row, (None, *SLOPES), strict=True):
            floor = np.array([lower_bound(horizon, 1, c) for horizon in HORIZONS])
            heading = "Theorem 4: T/18" if c is None else f"Theorem 5, c = {c:g}: order $T^{{{2 - c:.1f}}}$"
            draw_lower_bound(axes, HORIZONS, claims.worst_of_pair(pairs, c), floor, heading)
        row[-1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False, fontsize=9)
        path = save(drawing, folder / "lower-bounds.png")[1]
    tables = []
    for c in (None, *SLOPES):
        worst = claims.worst_of_pair(pairs, c, COPIES, COPY_HORIZONS)
        rows = [[title(policy), *(f"{x:,.1f}" for x in values)] for policy, values in worst.items()]
        rows.append(["lower bound", *(f"{lower_bound(horizon, COPIES, c):,.1f}" for horizon in COPY_HORIZONS)])
        kind = "Theorem 4" if c is None else f"Theorem 5, c = {c:g}"
        tables.append((f"{kind}, L = {COPIES} copies: the larger regret of A and B", _heads(COPY_HORIZONS), rows))
    worst = claims.worst_of_flat(flat)
    rows = [[title(policy), *(f"{x:,.2f}" for x in values)] for policy, values in worst.items()]
    rows.append(["lower bound", *(f"{flat_bound(horizon):,.2f}" for horizon in FLAT_HORIZONS)])
    tables.append(("The part √T: the larger mean regret of two instances with noise 0.01", _heads(FLAT_HORIZONS), rows))
    return Part(
        section.name,
        section.title,
        text=[
            "Each lower bound has two instances, A and B. They are equal until an arm of B stops rising. The larger of "
            "a policy's two regrets is at least the bound, which is computed for these instances; its exponent is that "
            "of the theorem. Lemma 4 prints T^(2−c) without a constant, and with a factor L although it is about two "
            "arms; its proof gives the order, and the order is judged. With L copies, all copies are A or all are B "
            "here. The bound with the factor L is for copies that are A or B by themselves, so these tables show how "
            "six policies do, and are no proof (section proofs).",
            "The part L·√T of Theorem 5 is due to noise. Its two instances have an arm at 1/2 and one that is better "
            "or worse by σ/(2√T). It is shown for L = 1.",
        ],
        claims=claims.lower_bound_claims(runs),
        figures=[
            (
                path,
                "The larger of the two regrets, for every policy and horizon, one copy, without noise. Policies that "
                "lose the same lie on one line (on the left all six). Dotted: the lower bound of the pair.",
            )
        ],
        tables=tables,
        items=("Theorem 4", "Theorem 5"),
    )


def _heads(horizons: Sequence[int]) -> list[str]:
    return ["policy", *(f"T = {horizon:,}" for horizon in horizons)]


def proofs_part(section: Section, runs: Sequence[StoredRun], folder: Path) -> Part:
    """The part on steps of the proofs of the lower bounds."""
    off = check_monotone()
    return Part(
        section.name,
        section.title,
        text=[
            "Some steps of the proofs do not hold as printed. The rates of Theorems 3, 4 and 5 in T stay; the pages on "
            "the upper bound and on lower bounds in the documentation say with which arguments."
        ],
        claims=[
            *claims.proof_claims(),
            Claim(
                "Proposition 1: the sum of a monotone function differs from its integral by at least its smaller and "
                "at most its larger end value",
                judged(off < 1e-9),
                f"largest excess on 2,000 random ranges of (n+1)^(−c): {max(off, 0.0):.1g}",
                ("Proposition 1",),
            ),
        ],
        items=("Lemma 3", "Proof of Theorem 3", "Proof of Theorem 4", "Proof of Theorem 5", "Proposition 1"),
    )


def optimality_part(section: Section, runs: Sequence[StoredRun], folder: Path) -> Part:
    """The part on optimality: Theorem 1's instance solved exactly, Theorem 2 and Corollary 1 on random instances."""
    task = best_constant_is_not_optimal(120)
    best = optimal_policy(task)
    gain = best.total - optimal_constant(task).total
    check, additive, single = check_ratio(3_000), check_sum(_SUMS), check_sum(_SUMS, k=1)
    first = ", ".join(str(label) for label in task.problem.labels_of(best.super_arms[0]))
    return Part(
        section.name,
        section.title,
        text=[
            f"The exact optimum of Theorem 1's instance ({best.states:,} states) begins with ({first}). The text of "
            "the proof gives the rewards of the best constant super arm wrongly (10t/T up to 9T/10): it earns 0.1 "
            "first, then 0.9 until 10t/T exceeds it. The conclusion, 0.3 more, is right."
        ],
        claims=claims.optimality_claims(gain, check, additive, single, _SUMS),
        items=("Theorem 1", "Theorem 2", "Corollary 1", "Lemma 1"),
    )


def concentration_part(section: Section, runs: Sequence[StoredRun], folder: Path) -> Part:
    """The part on the concentration lemma: the printed bonus and two smaller ones."""
    measured = [concentration(constant=constant, runs=20_000) for constant in (30.0, 4.0, 1.0)]
    with figure(6.4, 3.4) as (drawing, axes):
        draw_concentration(axes, measured)
        path = save(drawing, folder / "concentration.png")[1]
    beyond = {result.constant: claims.rounds_beyond(result) for result in measured}
    words = (
        f"Its limit is passed at {beyond[4.0]} of {measured[0].rounds.size} rounds with 4 log t, the program's bonus."
    )
    return Part(
        section.name,
        section.title,
        text=[f"Simulated: four arms are played in turn, with Gaussian noise. The lemma is for 30 log t. {words}"],
        claims=[claims.concentration_claim(measured[0]), claims.optimism_claim(check_optimism(_CURVES), _CURVES)],
        figures=[
            (
                path,
                "Share of runs in which some estimate is off by more than its bonus. The limit of the lemma is drawn "
                "as far as so many runs can tell.",
            )
        ],
        tables=[
            (
                f"Of {measured[0].rounds.size} rounds, those in which estimates are off by more than their bonus more "
                "often than 2K/t²",
                ["bonus", "rounds above", "largest frequency"],
                [
                    [f"{result.constant:g} log t", str(beyond[result.constant]), f"{result.frequency.max():.3g}"]
                    for result in measured
                ],
            )
        ],
        items=("Lemma 2", "Section 4"),
    )
