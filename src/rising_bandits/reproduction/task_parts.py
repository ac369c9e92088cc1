"""The parts of the report on synthetic tasks, made from runs: figures, tables and judged claims."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rising_bandits.experiments import PAPER_POLICIES, StoredRun, summarise
from rising_bandits.plots import plot_overview
from rising_bandits.plots.names import title
from rising_bandits.plots.style import figure, save
from rising_bandits.plots.theory import draw_plays
from rising_bandits.problems import tasks
from rising_bandits.reproduction import task_claims as claims
from rising_bandits.reproduction.judging import compare, p_text
from rising_bandits.reproduction.report import Part
from rising_bandits.reproduction.sections import FEWER, HALVED, REFERENCE, SUPER, TASKS, Section
from rising_bandits.reproduction.task_claims import BONUSES
from rising_bandits.theory import optimal_constant

_COUNTED = " Arms are numbered from 0 here; the paper counts from 1."


def summary_part(section: Section, runs: Sequence[StoredRun], folder: Path) -> Part:
    """Tables of all policies on all tasks: final regret with significance, optimal plays, and time per round."""
    labels = (*PAPER_POLICIES, REFERENCE)
    rows = {(row.task, row.policy): row for row in summarise(runs)}
    regret, optimal, taken = [], [], []
    for name in TASKS:
        tests = compare(claims.finals(runs, name), "crucb", claims.BASELINES)
        cells = []
        for label in labels:
            sure = label in tests and tests[label].difference > 0 and tests[label].p <= 0.01
            cells.append(f"{rows[name, label].regret:,.0f}{' *' if sure else ''}")
        regret.append([name, *cells])
        optimal.append([name, *(f"{rows[name, label].optimal_plays:.1%}" for label in labels)])
        taken.append([name, *(f"{rows[name, label].microseconds:.2f}" for label in labels)])
    headings = ["task", *(_title(label) for label in labels)]
    return Part(
        section.name,
        section.title,
        text=[
            "CRUCB runs with the printed bonus, 30 log t, and once more with the bonus of the authors' program, "
            "4 log t."
        ],
        claims=claims.gap_claims(runs),
        tables=[
            (
                "Final regret; * CRUCB (30 log t) is lower, p ≤ 0.01 (paired t-test over seeds, Holm's correction over "
                "the five baselines of a task; without noise there is no p)",
                headings,
                regret,
            ),
            ("Share of rounds in which the optimal constant super arm was played", headings, optimal),
            ("Microseconds per round (wall clock, on the machine above)", headings, taken),
        ],
        items=("Figure 5",),
    )


def _title(label: str) -> str:
    """The name of a policy, with its bonus if it is CRUCB."""
    return f"CRUCB ({BONUSES[label].partition(',')[0]})" if label in BONUSES else title(label)


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
    part.figures.append((path, "Plays per edge (Figure 1d)."))
    return part


def task_part(section: Section, runs: Sequence[StoredRun], folder: Path) -> Part:
    """The part on one task of the paper: a figure, a table with significance, and claims."""
    name = section.name
    mine = [run for run in runs if run.spec.task == name]
    overview = plot_overview(mine, name, folder / f"{name}.png", log=name == "k-max", named=_title)[1]
    best = optimal_constant(tasks.get(name))
    labels = ", ".join(str(label) for label in tasks.get(name).problem.labels_of(best.super_arm))
    tests = compare(claims.finals(runs, name), "crucb", claims.BASELINES)
    rows = [
        [
            _title(row.policy),
            f"{row.regret:,.0f}",
            f"{row.half_width:,.0f}",
            f"{row.share:.2%}",
            f"{row.optimal_plays:.1%}",
            f"{row.microseconds:.2f}",
            f"{tests[row.policy].lower} of {tests[row.policy].seeds}" if row.policy in tests else "",
            p_text(tests[row.policy]) if row.policy in tests else "",
        ]
        for row in summarise(mine)
    ]
    headings = ["policy", "final regret", "± 99%", "of optimum", "optimal plays", "µs/round", "CRUCB lower on", "p"]
    part = Part(
        name,
        section.title,
        text=[f"The best constant super arm, found by the solver, is {labels}.{_COUNTED if name == 'k-max' else ''}"],
        claims=claims.task_claims(runs, name),
        figures=[
            (
                overview,
                "The task, its outcome curves, and the regret of the six policies; CRUCB also with the bonus of the "
                "authors' program, 4 log t." + (" Regret is on a logarithmic scale." if name == "k-max" else ""),
            )
        ],
        tables=[
            (
                f"Means over {max(row.runs for row in summarise(mine))} seeds"
                + (f" ({FEWER} of SW-TS)" if name.endswith("-complex") else "")
                + ". The last two columns compare CRUCB (30 log t) with each "
                "baseline: p is of the two-sided paired t-test, with Holm's correction",
                headings,
                rows,
            )
        ],
        items=(claims.FIGURES[name],),
    )
    if name == "k-max":
        _normalisation(part, runs)
    if name.startswith("matching"):
        part.text.append(
            "In the authors' program R-ed-UCB, SW-UCB and SW-TS get column numbers as super arms in this task, so they "
            "play sets that are no matchings. Their curves in Figure 11 cannot be compared with these, and the claim "
            "is judged by policies that play matchings. Policies on super arms see the reward divided by L, in the "
            "program and here, so there is one normalisation to show."
        )
    return part


def _normalisation(part: Part, runs: Sequence[StoredRun]) -> None:
    """Add what policies on super arms do on k-max if they see half of the reward, as in the authors' program."""
    ours = {label: float(values.mean()) for label, values in claims.finals(runs, "k-max").items()}
    theirs = claims.finals(runs, HALVED)
    if not theirs:
        return
    halved = {label: float(values.mean()) for label, values in theirs.items()}
    rows = [[_title(label), f"{ours[label]:,.0f}", f"{halved[label]:,.0f}"] for label in SUPER]
    rows += [[_title(label), f"{ours[label]:,.0f}", "the same"] for label in ("crucb", REFERENCE)]
    part.tables.append(
        (
            "Final regret if policies on super arms see max (as everywhere in this library) or max/2 (as in the "
            "authors' program)",
            ["policy", "sees max", "sees max/2"],
            rows,
        )
    )
    combined = {**claims.finals(runs, "k-max"), **theirs}
    seen = "k-max, if policies on super arms see max/2"
    part.claims += [claims.least_regret(combined, label, seen, claims.BASELINES, ("Figure 9",)) for label in BONUSES]
    part.claims.append(claims.super_beat_base(combined, seen, ("Figure 9",)))
