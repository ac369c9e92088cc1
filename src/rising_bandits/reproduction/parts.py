"""The parts of the report, made from runs: figures, tables and judged claims."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rising_bandits.experiments import PAPER_POLICIES, StoredRun, summarise
from rising_bandits.plots import plot_overview, plot_regret
from rising_bandits.plots.style import figure, figures, save, title
from rising_bandits.plots.theory import (
    draw_bounds,
    draw_concentration,
    draw_growth,
    draw_lower_bound,
    draw_plays,
    draw_rates,
    draw_sensitivity,
)
from rising_bandits.problems import tasks
from rising_bandits.reproduction import claims
from rising_bandits.reproduction.judging import Claim, judged
from rising_bandits.reproduction.report import Part
from rising_bandits.reproduction.sections import (
    EPSILONS,
    HORIZONS,
    REFERENCE,
    SIGMAS,
    SLOPES,
    TABLE_ROUNDS,
    TASKS,
    Section,
)
from rising_bandits.theory import lower_bound, optimal_constant, optimal_policy, upper_bound
from rising_bandits.theory.checks import check_ratio, concentration
from rising_bandits.theory.instances import best_constant_is_not_optimal

PAPER_SENSITIVITY = (
    (8019.34, 8020.53, 8020.53, 8019.64),
    (13715.91, 13717.10, 13717.10, 13716.21),
    (19060.71, 19061.90, 19061.90, 19061.01),
)
"""The paper's table of regret on path-easy: rows are 100K, 200K and 300K rounds, columns its four windows."""


_SIGMAS = (SIGMAS[0], 0.01, SIGMAS[1])
"""The noise levels of the figure: too small, right, and too large."""


def summary_part(section: Section, runs: Sequence[StoredRun], folder: Path) -> Part:
    """Tables of all policies on all tasks: final regret with significance, optimal plays, and time per round."""
    labels = (*PAPER_POLICIES, REFERENCE)
    rows = {(row.task, row.policy): row for row in summarise(runs)}
    regret, optimal, taken = [], [], []
    for name in TASKS:
        final = claims.finals(runs, name)
        cells = []
        for label in labels:
            sure = label in claims.BASELINES and claims.paired_p(final["crucb"], final[label]) < 0.01
            cells.append(f"{rows[name, label].regret:,.0f}{' *' if sure else ''}")
        regret.append([name, *cells])
        optimal.append([name, *(f"{rows[name, label].optimal_plays:.1%}" for label in labels)])
        taken.append([name, *(f"{rows[name, label].microseconds:.2f}" for label in labels)])
    headings = ["task", *(title(label) for label in labels)]
    return Part(
        section.name,
        section.title,
        tables=[
            ("Final regret; * CRUCB (paper's bonus) is lower, paired over seeds, p < 0.01", headings, regret),
            ("Share of rounds in which the optimal constant super arm was played", headings, optimal),
            ("Microseconds per round", headings, taken),
        ],
    )


def toy_part(section: Section, runs: Sequence[StoredRun], folder: Path) -> Part:
    """The part on the toy task: that of any task, and how often three policies played each edge."""
    part = task_part(section, runs, folder)
    shares = {
        label: np.mean([run.plays_at[-1] / run.spec.horizon for run in runs if run.label == label], axis=0)
        for label in ("crucb", "sw-cucb", "r-ed-ucb")
    }
    with figure(6.0, 2.8) as (drawing, axes):
        draw_plays(axes, shares, [str(label) for label in tasks.get("toy").problem.labels])
        path = save(drawing, folder / "toy-plays.png")[1]
    part.figures.append((path, "Plays per edge."))
    return part


def task_part(section: Section, runs: Sequence[StoredRun], folder: Path) -> Part:
    """The part on one task of the paper: figures, a table with significance, and claims."""
    name = section.name
    mine = [run for run in runs if run.spec.task == name]
    six = [run for run in mine if run.label in PAPER_POLICIES]
    overview = plot_overview(six, name, folder / f"{name}-overview.png")[1]
    regret = plot_regret(mine, name, folder / f"{name}-regret.png")[1]
    best = optimal_constant(tasks.get(name))
    labels = ", ".join(str(label) for label in tasks.get(name).problem.labels_of(best.super_arm))
    final = claims.finals(runs, name)
    rows = [
        [
            title(row.policy),
            f"{row.regret:,.0f}",
            f"{row.half_width:,.0f}",
            f"{row.share:.2%}",
            f"{row.optimal_plays:.1%}",
            f"{row.microseconds:.2f}",
            "" if row.policy in ("crucb", REFERENCE) else f"{claims.paired_p(final['crucb'], final[row.policy]):.2g}",
        ]
        for row in summarise(mine)
    ]
    headings = ["policy", "final regret", "± 99%", "of optimum", "optimal plays", "µs/round", "p: CRUCB lower"]
    return Part(
        name,
        section.title,
        text=[f"The best constant super arm, found by the solver, is {labels}."],
        claims=claims.task_claims(runs, name),
        figures=[
            (overview, "The task, its outcome curves, and the regret of the six policies."),
            (regret, "The same with CRUCB also run with the bonus of the authors' program, 4 log t."),
        ],
        tables=[("Means over seeds; p is one-sided, paired over seeds.", headings, rows)],
    )


def sensitivity_part(section: Section, runs: Sequence[StoredRun], folder: Path) -> Part:
    """The part on the sensitivity of CRUCB to its window and to its noise level, with the paper's table beside it."""
    headings = ["rounds", *(f"ε = {epsilon:g}" for epsilon in EPSILONS)]
    tables = []
    for bonus, words in (("paper", "bonus of the paper, 10 log t³"), ("reference", "bonus of the program, 4 log t")):
        table = claims.sensitivity_table(runs, bonus)
        rows = [[f"{r:,}", *(f"{cell:,.0f}" for cell in row)] for r, row in zip(TABLE_ROUNDS, table, strict=True)]
        tables.append((f"Measured here, {words}", headings, rows))
    quoted = [
        [f"{r:,}", *(f"{cell:,.2f}" for cell in row)] for r, row in zip(TABLE_ROUNDS, PAPER_SENSITIVITY, strict=True)
    ]
    tables.append(("Quoted from the paper", headings, quoted))
    wrong = []
    for sigma in SIGMAS:
        final = [run.regret[-1] for run in runs if run.spec.parameters.get("sigma") == sigma]
        wrong.append([f"{sigma:g}", f"{np.mean(final):,.0f}"])
    tables.append(
        ("Told a wrong noise level (the true one is 0.01), bonus of the paper", ["σ told", "final regret"], wrong)
    )
    path = _sensitivity_figure(runs, folder)
    return Part(
        section.name,
        section.title,
        text=[
            "The columns of the paper's table are nearly equal because the authors' program never passed the window on "
            "to the policy: the four columns are four runs with the same window. Here the window is really changed, "
            "and the path solver is exact."
        ],
        claims=claims.sensitivity_claims(runs),
        figures=[(path, "Mean regret on path-easy for every window with both bonuses, and for wrong noise levels.")],
        tables=tables,
    )


def _sensitivity_figure(runs: Sequence[StoredRun], folder: Path) -> Path:
    """Draw regret by round for every window with both bonuses and for three noise levels."""
    panels: list[tuple[str, dict[str, dict[str, object]]]] = [
        ("bonus of the paper", {f"ε = {e:g}": {"epsilon": e, "bonus": "paper", "sigma": 0.01} for e in EPSILONS}),
        ("bonus of the program", {f"ε = {e:g}": {"epsilon": e, "bonus": "reference", "sigma": 0.01} for e in EPSILONS}),
        ("wrong noise level", {f"σ = {s:g}": {"epsilon": 0.125, "bonus": "paper", "sigma": s} for s in _SIGMAS}),
    ]
    with figures(11.0, 3.4, widths=(1.0, 1.0, 1.0)) as (drawing, row):
        for axes, (heading, settings) in zip(row, panels, strict=True):
            curves = {}
            for name, wanted in settings.items():
                mine = [run for run in runs if wanted.items() <= run.spec.parameters.items()]
                curves[name] = (mine[0].rounds.astype(float), np.mean([run.regret for run in mine], axis=0))
            draw_sensitivity(axes, curves, heading)
        row[0].set_ylabel("regret on path-easy (thousands)")
        return save(drawing, folder / "sensitivity.png")[1]


def growth_part(section: Section, runs: Sequence[StoredRun], folder: Path) -> Part:
    """The part on the growth of outcomes and the gap between the exponents of upper and lower bound."""
    with figures(9.0, 3.4, widths=(1.0, 1.0)) as (drawing, (left, right)):
        draw_growth(left)
        left.set_title("growth of outcomes", fontsize=10)
        draw_rates(right)
        right.set_title("exponents of the bounds", fontsize=10)
        path = save(drawing, folder / "growth.png")[1]
    return Part(
        section.name, section.title, figures=[(path, "Computed from the formulas of Corollary 2 and Theorem 5.")]
    )


def bounds_part(section: Section, runs: Sequence[StoredRun], folder: Path) -> Part:
    """The part on the upper bound of Theorem 3: its terms on every task beside the regret of CRUCB."""
    rows: list[list[str]] = []
    shown: list[tuple[str, float, float]] = []
    for name in dict.fromkeys(run.spec.task for run in runs):
        mine = [run.regret[-1] for run in runs if run.spec.task == name]
        bound = upper_bound(tasks.get(name), constant=30.0)
        measured = float(np.mean(mine))
        numbers = (measured, bound.total, bound.start, bound.growth, bound.noise, bound.trivial)
        rows.append([name, *(f"{x:,.0f}" for x in numbers), f"{bound.q:.2f}"])
        shown.append((name, measured / bound.trivial, bound.total / bound.trivial))
    held = all(measured <= bound for _, measured, bound in shown)
    useful = sum(bound < 1.0 for _, _, bound in shown)
    with figure(6.4, 3.6) as (drawing, axes):
        draw_bounds(axes, shown)
        path = save(drawing, folder / "bounds.png")[1]
    headings = ["task", "measured", "Theorem 3", "start", "growth", "noise", "L·T", "q"]
    return Part(
        section.name,
        section.title,
        text=[
            "The bound is computed for the bonus that is run, 30 log t. The last term of the paper's bound is for a "
            "smaller bonus."
        ],
        claims=[
            Claim(
                "the regret of CRUCB stays below the bound of Theorem 3",
                judged(held),
                f"on {len(shown)} tasks; the bound is below the trivial bound L·T on {useful} of them",
            )
        ],
        figures=[(path, "Squares: the bound; dots: measured regret; right dotted line: no policy can exceed it.")],
        tables=[("Regret of CRUCB and the terms of its bound, at the q that makes the bound smallest", headings, rows)],
    )


def lower_bounds_part(section: Section, runs: Sequence[StoredRun], folder: Path) -> Part:
    """The part on the lower bounds: the larger regret on instances A and B by horizon."""
    mine = [run for run in runs if ".instances:" in run.spec.task]
    with figures(11.0, 3.6, widths=(1.0,) * (1 + len(SLOPES))) as (drawing, row):
        for axes, c in zip(row, (None, *SLOPES), strict=True):
            floor = np.array([lower_bound(horizon, 1, c) for horizon in HORIZONS])
            heading = "general class: linear in T" if c is None else f"slopes (n+1)^(−{c:g}): bound T^{2 - c:.1f}"
            draw_lower_bound(axes, HORIZONS, claims.worst_of_pair(mine, c), floor, heading)
        path = save(drawing, folder / "lower-bounds.png")[1]
    return Part(
        section.name,
        section.title,
        text=["Each lower bound has two instances, A and B. They are equal until an arm of B stops rising."],
        claims=[*claims.lower_bound_claims(mine), claims.proof_claim()],
        figures=[(path, "The larger of the two regrets, for every policy and horizon, without noise.")],
    )


def optimality_part(section: Section, runs: Sequence[StoredRun], folder: Path) -> Part:
    """The part on optimality: Theorem 1's instance solved exactly, and Theorem 2 on random instances."""
    task = best_constant_is_not_optimal(120)
    best = optimal_policy(task)
    gain = best.total - optimal_constant(task).total
    check = check_ratio(3_000)
    first = ", ".join(str(label) for label in task.problem.labels_of(best.super_arms[0]))
    return Part(
        section.name,
        section.title,
        text=[f"The exact optimum of Theorem 1's instance ({best.states:,} states) begins with ({first})."],
        claims=claims.optimality_claims(gain, check),
    )


def concentration_part(section: Section, runs: Sequence[StoredRun], folder: Path) -> Part:
    """The part on the concentration lemma: the bonus of the paper and two smaller ones."""
    measured = [concentration(constant=constant, runs=20_000) for constant in (30.0, 4.0, 1.0)]
    with figure(6.4, 3.4) as (drawing, axes):
        draw_concentration(axes, measured)
        path = save(drawing, folder / "concentration.png")[1]
    return Part(
        section.name,
        section.title,
        text=[
            "Simulated: four arms are played in turn, with Gaussian noise. The bonus of the authors' program, 4 log t, "
            "is too small for the lemma."
        ],
        claims=[claims.concentration_claim(measured[0])],
        figures=[(path, "Share of runs in which some estimate is off by more than its bonus.")],
        tables=[
            (
                f"Of {measured[0].rounds.size} rounds, those in which estimates are off by more than their bonus more "
                "often than 2K/t²",
                ["bonus", "rounds above", "largest frequency"],
                [
                    [f"{result.constant:g} log t", str(claims.rounds_beyond(result)), f"{result.frequency.max():.3g}"]
                    for result in measured
                ],
            )
        ],
    )
