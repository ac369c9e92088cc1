"""One function that runs the paper's synthetic experiments and writes a report on its claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rising_bandits._files import replacing
from rising_bandits.errors import InputError
from rising_bandits.experiments import RunSpec, StoredRun, run_plan
from rising_bandits.reproduction import parts
from rising_bandits.reproduction.judging import Claim
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
    """The result of a reproduction.

    Attributes
    ----------
    report
        The path of the report.
    claims
        The judged claims, each with the name of its section.
    """

    report: Path
    claims: list[tuple[str, Claim]]


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
    progress: Callable[[int, int], None] | None = None,
    version: str = "",
) -> Reproduction:
    """Run the paper's synthetic experiments, judge its claims about them, and write a report.

    The sections are the paper's eight synthetic tasks, the sensitivity of CRUCB to its window, the bounds of Theorems
    3, 4 and 5 compared with measured regret, Theorem 1 on its instance, Theorem 2 on random instances, and Lemma 2 in
    a simulation. Such checks are not proofs. The paper's AntMaze experiments are not part of this; the commands of
    ``rising antmaze`` train and compare them.

    Finished runs are kept in the folder and not run again. After an interruption the same call continues.

    Parameters
    ----------
    folder
        The folder for the runs, the ``figures`` and ``report.html``.
    only
        The names of sections, from `SECTIONS`; all if none is given.
    workers
        How many processes to use; by default one for each core that this process may use.
    progress
        Called now and then with the position of a run in the plan and the number of rounds it has played.
    version
        A version that is noted in the results and in the report.

    Returns
    -------
    Reproduction
        The path of the report, and the judged claims.

    Raises
    ------
    InputError
        A section is not known.
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
        f"{len(plan)} runs of rising-bandits {version}: the paper's synthetic tasks at full horizon with {SEEDS} seeds "
        "each, and its bounds as numbers. Regret is expected regret against the optimal constant super arm, which an "
        "exact solver finds. Curves show the mean and a 99% t-interval over seeds. AntMaze is not part of this report.",
        "Below each claim stand the numbers that were measured here, with exact solvers and the settings as stated. "
        "A claim that did not hold is reported as such. That a claim about a theorem held is not a proof of it.",
    ]
    report = folder / "report.html"
    with replacing(report) as aside:
        aside.write_text(render(made, introduction, folder=folder), encoding="utf-8")
    return Reproduction(report, [(part.name, claim) for part in made for claim in part.claims])
