"""Run a plan and print its results: as tables or JSON, with warnings and figures."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path

from rising_bandits import __version__
from rising_bandits.cli.output import out, print_heading, print_json, print_table, progress_bar
from rising_bandits.cli.stopping import resumable
from rising_bandits.cli.sweeps import engine
from rising_bandits.experiments import Plan, Row, RunSpec, StoredRun, layout, run_plan, summarise
from rising_bandits.experiments import shard as shard_of
from rising_bandits.simulation.noise import contradicted
from rising_bandits.theory.noise import told_sigma

_SMALL = 10.0
"""Numbers below this are printed with four decimal places."""


@dataclass(frozen=True)
class Drawing:
    """How figures are drawn: whether as PDF, which axes are logarithmic, how wide, and whether with a film."""

    pdf: bool = False
    log: str = ""
    width: float = 6.4
    film: bool = False


def play_plan(
    plan: list[RunSpec], folder: Path, workers: int | None, scheduler: str | None = None, shard: str | None = None
) -> list[StoredRun]:
    """Run a plan, or a part of it, with a progress bar."""
    totals = [spec.horizon for spec in (plan if shard is None else shard_of(plan, shard))]
    with engine(scheduler, workers) as executor, progress_bar("running", totals) as report:
        return run_plan(
            plan, folder, shard=shard, workers=workers, executor=executor, progress=report, version=__version__
        )


@resumable()
def report_runs(
    plan: list[RunSpec],
    out_folder: Path,
    workers: int | None,
    *,
    plot: bool,
    as_json: bool,
    label: Callable[[RunSpec], str] | None = None,
    scheduler: str | None = None,
    whole: Plan | None = None,
    drawing: Drawing | None = None,
    shard: str | None = None,
) -> None:
    """Run a plan and print its results as tables or JSON; with ``plot``, also write figures.

    ``label`` returns the name of a run's policy in the output; by default the run's own label is used. ``whole`` is the
    plan to keep in the folder, and ``shard`` says which part of it to run.
    """
    runs = play_plan(plan, out_folder, workers, scheduler, shard)
    if whole is not None:
        whole.keep(out_folder)
    if label is not None:
        for run in runs:
            run.meta["label"] = label(run.spec)
    rows = summarise(runs)
    figures = _draw(runs, out_folder / layout.FIGURES, drawing or Drawing()) if plot else []
    doubts = _doubts(runs)
    if as_json:
        print_json(
            {
                "out": str(out_folder),
                "rows": [asdict(row) for row in rows],
                "figures": [str(f) for f in figures],
                "warnings": [f"{world}, {policy}: {text}" for (world, policy), text in doubts.items()],
            }
        )
        return
    for name in dict.fromkeys(row.task for row in rows):
        mine = [row for row in rows if row.task == name]
        print_heading(_shown(runs)[name], f": {mine[0].horizon:,} rounds")
        _print_rows(mine)
        for (world, policy), text in doubts.items():
            if world == name:
                out.print(f"warning: {policy}: {text}", soft_wrap=True, markup=False)
    if not runs:
        out.print("this part of the plan has no runs")
    out.print(f"\nresults: {out_folder}/runs, settings: {out_folder}/{layout.SETTINGS}", soft_wrap=True)
    for path in figures:
        out.print(f"figure: {path}", soft_wrap=True)


def _draw(runs: Sequence[StoredRun], folder: Path, drawing: Drawing) -> list[Path]:
    """Write the figures of each task, and return their files."""
    from rising_bandits.plots import animate_run, plot_overview, plot_recording, plot_regret

    figures: list[Path] = []
    suffix = "pdf" if drawing.pdf else "png"
    files = _file_names(_shown(runs))
    for name, file in files.items():
        path = folder / f"regret-{file}.{suffix}"
        figures += plot_regret(runs, name, path, log=drawing.log, width=drawing.width)
        one = next(run for run in runs if run.spec.world == name)
        if one.meta.get("recorded"):
            figures += plot_recording(one.spec.task, folder / f"recording-{file}.{suffix}")
        else:
            figures += plot_overview(runs, name, folder / f"overview-{file}.{suffix}")
        firsts = {run.label: run for run in reversed(runs) if run.spec.world == name} if drawing.film else {}
        for policy, film in _file_names({label: f"film-{file}-{label}" for label in firsts}).items():
            figures.append(animate_run(firsts[policy], folder / f"{film}.gif"))
    return figures


def _file_names(texts: Mapping[str, str]) -> dict[str, str]:
    """Make each text fit for a file name. Where two texts become the same, the later one gets a number.

    >>> _file_names({"a": "mine:P(x='b c')", "d": "mine:P(x='b_c')"})
    {'a': 'mine-P-x-b-c', 'd': 'mine-P-x-b-c-2'}
    """
    found: dict[str, str] = {}
    for name, text in texts.items():
        plain = re.sub(r"[^A-Za-z0-9.-]+", "-", text).strip("-")
        numbered = (plain if number == 1 else f"{plain}-{number}" for number in count(1))
        found[name] = next(file for file in numbered if file not in found.values())
    return found


def _print_rows(rows: Sequence[Row]) -> None:
    """Print the policies of one task as a table, and their metrics as another."""
    print_table(
        ["policy", "seeds", "final regret", "± 99%", "of optimum", "optimal plays", "µs/round"],
        [
            [
                row.policy,
                str(row.runs),
                _places(row.regret),
                "–" if math.isnan(row.half_width) else _places(row.half_width, beside=row.regret),
                "–" if math.isnan(row.share) else f"{row.share:.2%}",
                "–" if math.isnan(row.optimal_plays) else f"{row.optimal_plays:.1%}",
                f"{row.microseconds:.2f}",
            ]
            for row in rows
        ],
        6,
    )
    if metrics := list(dict.fromkeys(name for row in rows for name in row.metrics)):
        most = {name: max(abs(row.metrics.get(name, 0.0)) for row in rows) for name in metrics}
        out.print()
        print_table(
            ["mean of", *metrics],
            [
                [row.policy, *(_places(row.metrics.get(name, math.nan), beside=most[name]) for name in metrics)]
                for row in rows
            ],
            len(metrics),
        )


def _doubts(runs: Sequence[StoredRun]) -> dict[tuple[str, str], str]:
    """By task and policy, a warning where the outcomes of the first run contradict the sigma that was given."""
    found = {}
    for (world, policy), run in {(run.spec.world, run.label): run for run in reversed(runs)}.items():
        sigma = told_sigma(run.spec.parameters.get("sigma"))
        if sigma is not None and run.plays_at.shape[1]:
            doubt = contradicted(run.spec.make_task(), run.spec.seed, run.plays_at[-1], sigma)
            if doubt is not None:
                found[world, policy] = str(doubt)
    return found


def _shown(runs: Sequence[StoredRun]) -> dict[str, str]:
    """The name of each task in the output: its text, or the short name of a recording if no other task has it."""
    worlds = {run.spec.world: run for run in runs}
    names = [run.task_name for run in worlds.values()]
    return {
        world: run.task_name if run.meta.get("recorded") and names.count(run.task_name) == 1 else world
        for world, run in worlds.items()
    }


def _places(value: float, beside: float | None = None) -> str:
    """A number for the table. Small numbers get more decimal places. The size of ``beside`` decides, if it is given."""
    if math.isnan(value):
        return "–"
    guide = value if beside is None else beside
    places = 1 if abs(guide) >= _SMALL or guide == 0.0 else 4
    # A difference that is 0 but for rounding must not be shown as -0.0.
    return f"{round(value, places) + 0.0:,.{places}f}"
