"""``rising run``: run policies on tasks with several seeds, on all cores."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from rising_bandits import __version__
from rising_bandits.cli.output import out, print_heading, print_json, print_table, progress_bar
from rising_bandits.errors import InputError
from rising_bandits.experiments import RunSpec, StoredRun, make_plan, make_task, read_run, run_plan, summarise

_SMALL = 10.0
"""Numbers below this are printed with four decimal places."""


def run(
    tasks: Annotated[
        list[str] | None,
        typer.Argument(
            help="Tasks, by name (see [bold]rising tasks[/bold]) or as my_module:my_function for tasks of your own."
        ),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="A policy, such as crucb, 'crucb(epsilon=0.25)' or my_module:MyPolicy. Can be given several times. "
            "all, the default, stands for the six policies of the paper."
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(help="How many runs of each policy on each task; their seeds count up from --first-seed.")
    ] = 5,
    first_seed: Annotated[int, typer.Option(help="The first seed.")] = 0,
    horizon: Annotated[int | None, typer.Option(help="Rounds per run; by default the task's own number.")] = None,
    record: Annotated[
        list[int] | None,
        typer.Option(help="A round to record in addition to the usual ones. Can be given several times."),
    ] = None,
    out_folder: Annotated[Path, typer.Option("--out", help="Folder for results and figures.")] = Path("results/run"),
    workers: Annotated[int | None, typer.Option(help="How many processes to use; by default one per core.")] = None,
    plot: Annotated[bool, typer.Option("--plot", help="Also draw each task and its regret, as PNG and SVG.")] = False,
    repeat: Annotated[
        Path | None,
        typer.Option(help="A result file: repeat its run and compare every number. Exits with 1 if one differs."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Run policies on tasks and print a table of their regret.

    Writes one file per run to the sub-folder runs of --out, and settings.json with the settings of all runs. Finished
    runs are not run again, and a run that was stopped continues from its last checkpoint. By default the six policies
    of the paper run with five seeds.
    """
    if repeat is not None:
        if tasks or policy or horizon is not None:
            raise InputError("--repeat takes everything from its file; give no task, policy or horizon with it")
        _repeat(repeat, out_folder, as_json)
        return
    if not tasks:
        raise InputError("give at least one task, as in: rising run path-easy --policy crucb (see rising tasks)")
    plan = make_plan(tasks, policy or ["all"], seeds=seeds, first_seed=first_seed, horizon=horizon, rounds=record or ())
    report_runs(plan, out_folder, workers, plot=plot, as_json=as_json)


def report_runs(
    plan: list[RunSpec],
    out_folder: Path,
    workers: int | None,
    *,
    plot: bool,
    as_json: bool,
    label: Callable[[RunSpec], str] | None = None,
) -> None:
    """Run a plan and print its results as tables or JSON; with ``plot``, also write figures.

    ``label`` names the policy of a run where other parameters than the policy's own defaults are the usual ones.
    """
    runs = _run(plan, out_folder, workers)
    if label is not None:
        for run in runs:
            run.meta["label"] = label(run.spec)
    rows = summarise(runs)
    figures: list[Path] = []
    if plot:
        from rising_bandits.plots import plot_overview, plot_recording, plot_regret

        for name, shown in _shown(plan).items():
            # The text of a task given as module:function has characters that are not fit for file names.
            file = re.sub(r"[^A-Za-z0-9.-]+", "-", shown).strip("-")
            figures += plot_regret(runs, name, out_folder / f"regret-{file}.png")
            if make_task(name).recorded:
                figures += plot_recording(name, out_folder / f"recording-{file}.png")
            else:
                figures += plot_overview(runs, name, out_folder / f"overview-{file}.png")
    if as_json:
        print_json(
            {"out": str(out_folder), "rows": [asdict(row) for row in rows], "figures": [str(f) for f in figures]}
        )
        return
    for name in dict.fromkeys(row.task for row in rows):
        mine = [row for row in rows if row.task == name]
        print_heading(_shown(plan)[name], f": {mine[0].horizon:,} rounds")
        print_table(
            ["policy", "seeds", "final regret", "± 99%", "of optimum", "optimal plays", "µs/round"],
            [
                [
                    row.policy,
                    str(row.runs),
                    _places(row.regret),
                    "–" if math.isnan(row.half_width) else _places(row.half_width),
                    f"{row.share:.2%}",
                    f"{row.optimal_plays:.1%}",
                    f"{row.microseconds:.2f}",
                ]
                for row in mine
            ],
            6,
        )
    out.print(f"\nresults: {out_folder}/runs, settings: {out_folder}/settings.json", soft_wrap=True)
    for path in figures:
        out.print(f"figure: {path}", soft_wrap=True)


def _shown(plan: Sequence[RunSpec]) -> dict[str, str]:
    """The name of each task in output: its text, or for a recording its short name if no other task has the same."""
    tasks = {text: make_task(text) for text in dict.fromkeys(spec.task for spec in plan)}
    names = [task.name for task in tasks.values()]
    return {text: task.name if task.recorded and names.count(task.name) == 1 else text for text, task in tasks.items()}


def _places(value: float) -> str:
    """A number for the table; small numbers get more decimal places."""
    return f"{value:,.1f}" if abs(value) >= _SMALL or value == 0.0 else f"{value:.4f}"


def _run(plan: list[RunSpec], folder: Path, workers: int | None) -> list[StoredRun]:
    """Run a plan with a progress bar."""
    with progress_bar("running", [spec.horizon for spec in plan]) as report:
        return run_plan(plan, folder, workers=workers, progress=report, version=__version__)


def _repeat(path: Path, folder: Path, as_json: bool) -> None:
    """Repeat the run of a file, compare every number, and exit with code 1 if one differs."""
    old = read_run(path)
    target = folder / "repeat"
    if (target / "runs" / f"{old.spec.key}.parquet").resolve() == path.resolve():
        raise InputError(f"--out must be another folder than the one of the run itself, got {str(folder)!r}")
    (target / "runs" / f"{old.spec.key}.parquet").unlink(missing_ok=True)
    new = _run([old.spec], target, 1)[0]
    same = all(
        np.array_equal(getattr(old, name), getattr(new, name))
        for name in ("rounds", "regret", "reward", "realised_regret", "realised_reward", "plays_at")
    )
    if as_json:
        print_json({"settings": old.spec.as_dict(), "identical": same, "regret": [old.regret[-1], new.regret[-1]]})
    else:
        out.print(f"{old.spec.key}: regret {old.regret[-1]:,.3f} before, {new.regret[-1]:,.3f} now", soft_wrap=True)
        out.print(
            "every number is the same" if same else "numbers differ: the code or the machine's arithmetic changed"
        )
    if not same:
        raise typer.Exit(1)
