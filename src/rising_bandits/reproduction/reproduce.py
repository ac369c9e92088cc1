"""One function that runs the paper's synthetic experiments and writes a report on its claims."""

from __future__ import annotations

import csv
import io
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from rising_bandits._files import replacing
from rising_bandits.errors import InputError
from rising_bandits.experiments import RunSpec, StoredRun, run_plan, summarise
from rising_bandits.reproduction import maze_parts, paper_tables, task_parts, theory_parts
from rising_bandits.reproduction.index import index_of
from rising_bandits.reproduction.judging import ALPHA, LEVEL, Claim
from rising_bandits.reproduction.report import Entry, Part, render
from rising_bandits.reproduction.sections import FEWER, SECTIONS, SEEDS, Section, sections

Maker = Callable[[Section, Sequence[StoredRun], Path], Part | list[Part]]
_MAKERS: dict[str, Maker] = {
    "table-1": paper_tables.table_1_part,
    "summary": task_parts.summary_part,
    "toy": task_parts.toy_part,
    "sensitivity": paper_tables.sensitivity_part,
    "antmaze": maze_parts.antmaze_parts,
    "growth": theory_parts.growth_part,
    "bounds": theory_parts.bounds_part,
    "lower-bounds": theory_parts.lower_bounds_part,
    "proofs": theory_parts.proofs_part,
    "optimality": theory_parts.optimality_part,
    "concentration": theory_parts.concentration_part,
}
_PACKAGES = ("numpy", "scipy", "networkx", "numba", "matplotlib")
PAPER = (
    "S. Song, Y. Yoon, S. Wang, W. Chen, J. Ok: Combinatorial Rising Bandits. International Conference on Learning "
    "Representations (ICLR), 2026, arXiv:2412.00798"
)
"""How to cite the paper."""


@dataclass(frozen=True)
class Reproduction:
    """The result of a reproduction.

    Attributes
    ----------
    report
        The path of the report.
    claims
        The judged claims, each with the name of its section.
    index
        The index of the paper: a line for each of its figures, tables and theorems.
    """

    report: Path
    claims: list[tuple[str, Claim]]
    index: list[Entry]


def plan_of(names: Sequence[str]) -> tuple[list[Section], list[RunSpec]]:
    """The sections of these names (all if none is given), and their runs without repetition."""
    for name in names:
        if name not in SECTIONS:
            raise InputError(f"only must be one of {', '.join(SECTIONS)}, got {name!r}")
    chosen = sections(names)
    plan = {spec.key: spec for section in chosen for spec in section.plan}
    return chosen, list(plan.values())


def reproduce(
    folder: str | Path,
    only: Sequence[str] = (),
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
    drawing: Callable[[int, int], None] | None = None,
    version: str = "",
) -> Reproduction:
    """Run the paper's synthetic experiments, judge its claims, and write a report.

    The sections are the sizes of the tasks, the paper's eight synthetic tasks, CRUCB with other windows and bonuses,
    AntMaze from runs that were trained before, Theorems 1 to 5 and their corollaries and lemmas as numbers, and steps
    of the proofs. Such checks are not proofs. Nothing is trained; ``rising antmaze run`` does that.

    Finished runs are kept in the folder and not run again. After an interruption the same call continues.

    Parameters
    ----------
    folder
        The folder for the runs, the ``figures``, ``report.html`` and tables as CSV.
    only
        The names of sections, from `SECTIONS`; all if none is given.
    workers
        How many processes to use; by default one for each core that this process may use.
    executor
        An executor to run on in place of processes of this machine; see `experiments.run_plan`.
    progress
        Called now and then with the position of a run in the plan and the number of rounds it has played.
    drawing
        Called after each section with the number of sections that are done and of all.
    version
        A version that is noted in the results and in the report.

    Returns
    -------
    Reproduction
        The path of the report, the judged claims, and the index of the paper.

    Raises
    ------
    InputError
        A section is not known.
    """
    folder = Path(folder)
    started = time.monotonic()
    chosen, plan = plan_of(only)
    runs = (
        run_plan(plan, folder, workers=workers, executor=executor, progress=progress, version=version) if plan else []
    )
    made: list[Part] = []
    for done, section in enumerate(chosen, 1):
        keys = {spec.key for spec in section.plan}
        own = [run for run in runs if run.spec.key in keys]
        part = _MAKERS.get(section.name, task_parts.task_part)(section, own, folder / "figures")
        made += part if isinstance(part, list) else [part]
        if drawing is not None:
            drawing(done, len(chosen))
    claims = [(part.name, claim) for part in made for claim in part.claims]
    index = index_of(made)
    files = _write_tables(folder, runs, claims, index)
    report = folder / "report.html"
    text = render(
        made,
        _introduction(chosen),
        facts=_facts(plan, runs, version, time.monotonic() - started),
        index=index,
        files=files,
        folder=folder,
    )
    with replacing(report) as aside:
        aside.write_text(text, encoding="utf-8")
    return Reproduction(report, claims, index)


def _introduction(chosen: Sequence[Section]) -> list[str]:
    """What the report is and what it holds, in plain text."""
    if len(chosen) == len(SECTIONS):
        contents = (
            "In this report: the paper's synthetic tasks at full horizon, its theorems as numbers, and AntMaze from "
            "runs that were trained before. Not in it: training an ant, which rising antmaze run does."
        )
    else:
        missing = [name for name in SECTIONS if name not in {section.name for section in chosen}]
        contents = (
            f"This is a part of the report: {', '.join(section.name for section in chosen)}. Not in it: "
            f"{', '.join(missing)}. Run rising reproduce without --only for all of it."
        )
    return [
        f"{contents} Regret is expected regret against the optimal constant super arm, which an exact solver finds; "
        "for k-MAX a better policy may exist. Curves show the mean and a 99% t-interval over seeds. Two policies on "
        "one seed meet the same outcomes.",
        "A claim of the paper is judged by the numbers that stand below it. Regret is called level if it "
        "differs by less "
        f"than {LEVEL:.0%}, or if the difference is not certain: paired t-tests over seeds, two-sided, with Holm's "
        f"correction over the five baselines, at {ALPHA:g}. Where there is no noise, all seeds give the same, "
        f"and there is "
        "no p-value. Other thresholds stand with their claims. That a claim about a theorem held is not a proof of it. "
        "Checks of our own are counted apart.",
    ]


def _facts(plan: Sequence[RunSpec], runs: Sequence[StoredRun], version: str, seconds: float) -> list[tuple[str, str]]:
    """The facts above the report: version, date, machine, packages, seeds, duration, citation."""
    packages = []
    for name in _PACKAGES:
        try:
            packages.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            packages.append(f"no {name}")
    rounds = sum(spec.horizon for spec in plan)
    spent = sum(float(run.meta["seconds"]) for run in runs)
    seeds = sorted({spec.seed for spec in plan})
    return [
        ("version", f"rising-bandits {version or 'unknown'}"),
        ("date", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
        ("machine", f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores"),
        ("packages", f"Python {sys.version.split()[0]}, {', '.join(packages)}"),
        (
            "runs",
            f"{len(plan):,} runs, {rounds:,} rounds; seeds {seeds[0]} to {seeds[-1]}: {SEEDS} of each policy, "
            f"{FEWER} of SW-TS "
            "on complex tasks; one on instances without noise"
            if plan
            else "none",
        ),
        (
            "time",
            f"{seconds / 60:.1f} minutes for this report; the clock times of its runs add up to {spent / 60:.1f} "
            "minutes, with those that an earlier call had finished",
        ),
        ("cite", f"the paper: {PAPER}. The software: rising-bandits {version}, as in CITATION.cff of its source"),
    ]


def _write_tables(
    folder: Path, runs: Sequence[StoredRun], claims: Sequence[tuple[str, Claim]], index: Sequence[Entry]
) -> list[tuple[str, str]]:
    """Write runs, claims and index as CSV files, and return their names and addresses."""
    tables: dict[str, tuple[list[str], list[list[object]]]] = {
        "runs.csv": (
            ["task", "policy", "runs", "horizon", "regret", "half_width_99", "share_of_optimum", "optimal_plays"],
            [
                [
                    r.task,
                    r.policy,
                    r.runs,
                    r.horizon,
                    repr(r.regret),
                    repr(r.half_width),
                    repr(r.share),
                    repr(r.optimal_plays),
                ]
                for r in summarise(runs)
            ],
        ),
        "claims.csv": (
            ["section", "verdict", "of_paper", "items", "claim", "evidence"],
            [[name, c.verdict, c.of_paper, "; ".join(c.items), c.text, c.evidence] for name, c in claims],
        ),
        "index.csv": (
            ["item", "equations", "what", "verdict", "why", "sections"],
            [[e.item, e.equations, e.what, e.verdict, e.why, " ".join(e.parts)] for e in index],
        ),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, (headings, rows) in tables.items():
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([headings, *rows])
        with replacing(folder / name) as aside:
            aside.write_text(text.getvalue(), encoding="utf-8")
    return [(name, name) for name in tables]
