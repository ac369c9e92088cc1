"""Everything in the paper that is not AntMaze, from one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rising_bandits._files import replacing
from rising_bandits.errors import InputError
from rising_bandits.experiments import RunSpec, StoredRun, run_plan
from rising_bandits.reproduction import parts
from rising_bandits.reproduction.claims import Claim
from rising_bandits.reproduction.report import Part, render
from rising_bandits.reproduction.sections import SECTIONS, SEEDS, Section, sections

_MAKERS: dict[str, Callable[[Section, Sequence[StoredRun], Path], Part]] = {
    "summary": parts.summary_part,
    "toy": parts.toy_part,
    "sensitivity": parts.sensitivity_part,
    "growth": parts.growth_part,
    "bounds": parts.bounds_part,
    "lower-bounds": parts.lower_bounds_part,
    "optimality": parts.optimality_part,
    "concentration": parts.concentration_part,
}


@dataclass(frozen=True)
class Reproduction:
    """Where the report is, and what it says of each claim."""

    report: Path
    claims: list[tuple[str, Claim]]


def plan_of(names: Sequence[str]) -> tuple[list[Section], list[RunSpec]]:
    """The sections of these names, all where none is given, and their runs, each once."""
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
    progress: Callable[[int, int], None] | None = None,
    version: str = "",
) -> Reproduction:
    """Run what is missing, draw every figure, judge every claim, and write ``report.html``.

    Runs are kept in the folder and not run again; stopped at any moment, it goes on where it was.
    """
    folder = Path(folder)
    chosen, plan = plan_of(only)
    runs = run_plan(plan, folder, workers=workers, progress=progress, version=version) if plan else []
    made = []
    for section in chosen:
        keys = {spec.key for spec in section.plan}
        own = [run for run in runs if run.spec.key in keys]
        made.append(_MAKERS.get(section.name, parts.task_part)(section, own, folder / "figures"))
    introduction = [
        f"{len(plan)} runs of rising-bandits {version}: the tasks of the paper at full horizon with {SEEDS} seeds "
        "each, and what its theorems say, computed. Regret is expected regret against the optimal constant super "
        "arm, which an exact solver finds; curves show the mean and a 99% t-interval over seeds.",
        "Below each claim stands what was measured in this run. Where a claim did not hold, that is what was found "
        "with exact oracles and the settings as stated; it is not corrected.",
    ]
    report = folder / "report.html"
    with replacing(report) as aside:
        aside.write_text(render(made, introduction), encoding="utf-8")
    return Reproduction(report, [(part.name, claim) for part in made for claim in part.claims])
