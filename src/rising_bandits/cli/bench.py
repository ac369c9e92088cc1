"""``rising bench``: compare policies on a benchmark of many instances."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated, Any

import typer

from rising_bandits import __version__
from rising_bandits._files import replacing
from rising_bandits.cli.output import out, print_heading, print_json, print_table, progress_bar
from rising_bandits.cli.stopping import resumable
from rising_bandits.cli.sweeps import SCHEDULER, engine
from rising_bandits.errors import InputError
from rising_bandits.experiments import run_plan, seeds_of

app = typer.Typer(
    no_args_is_help=True,
    help="Compare policies on a benchmark of fixed and random instances.\n\n"
    "Writes runs, numbers and figures to --out. Needs the extra lab.\n\n"
    "Example: rising bench policies --quick",
)


@app.callback()
def _bench() -> None:
    # With a callback, "policies" is a sub-command even though it is the only one.
    pass


@app.command()
@resumable()
def policies(
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="A policy, such as crucb, 'crucb(epsilon=0.25)' or my_module:MyPolicy. Can be given several times. By "
            "default foresight, horizon-crucb, crucb with two settings, and five others."
        ),
    ] = None,
    family: Annotated[
        list[str] | None,
        typer.Option(
            help="A group of instances: paper, rested, antmaze, or a family of random curves (exponential, power-law, "
            "linear, flat, late, mixed). Can be given several times; all by default."
        ),
    ] = None,
    seeds: Annotated[
        str,
        typer.Option(
            help="How many seeds, counted from 1000; or a range such as 0-4. Develop policies on seeds below 1000 and "
            "report results on seeds from 1000 on."
        ),
    ] = "1",
    longest: Annotated[
        int | None,
        typer.Option(help="Leave out random instances with more rounds than this; by default none is left out."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run only a small part of the benchmark, in about a minute.")
    ] = False,
    out_folder: Annotated[Path, typer.Option("--out", help="Folder for runs, numbers and figures.")] = Path(
        "results/bench"
    ),
    workers: Annotated[int | None, typer.Option(help="How many processes to use; by default one per core.")] = None,
    scheduler: Annotated[str | None, typer.Option(help=SCHEDULER)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Compare policies by their regret as a share of the optimum.

    The instances are the paper's tasks, two instances of Metelli et al. (2022), recorded AntMaze runs, and random
    instances. Prints a table for each group, mean ranks, and whether the recommended policy meets its targets. Writes
    to --out the runs, all numbers as policies.json, and figures as PNG and SVG. Finished runs are not run again. Needs
    the extra lab.

    Example: rising bench policies --quick --out results/bench
    """
    from rising_bandits.benchmark import FIRST_SEED, POLICIES, as_data, benchmark_plan, instances, scores

    texts = list(policy or POLICIES)
    if len(set(texts)) != len(texts):
        raise InputError(f"--policy must name each policy once, got {', '.join(texts)}")
    numbers = seeds_of(seeds, FIRST_SEED)
    found = instances(family or (), numbers, quick=quick, longest=longest)
    plan, left_out = benchmark_plan(found, texts)
    specs = [item.spec for item in plan]
    if not specs:
        raise InputError(
            f"--policy, --family and --longest must leave something to run; none of the {len(found)} instances can be "
            f"run by {', '.join(texts)}"
        )
    bar = progress_bar("comparing", [spec.horizon for spec in specs])
    with engine(scheduler, workers) as executor, bar as report:
        runs = run_plan(specs, out_folder, workers=workers, executor=executor, progress=report, version=__version__)
    result = scores(plan, runs)
    command = " ".join(
        ["rising bench policies"]
        + [f'--policy "{text}"' for text in policy or ()]
        + [f"--family {name}" for name in family or ()]
        + [f"--seeds {numbers.start}-{numbers.stop - 1}"]
        + ([f"--longest {longest}"] if longest is not None else [])
        + ["--quick"] * quick
    )
    data = as_data(result, {"command": command, "version": __version__, "left_out": left_out})
    with replacing(out_folder / "policies.json") as aside:
        aside.write_text(_lines(data))
    from rising_bandits.plots.benchmark import best_where, plot_frontier, plot_map, plot_ranks

    figures = plot_ranks(data, out_folder / "ranks.png")
    if best_where(data):
        figures += plot_map(data, out_folder / "map.png")
    if data["frontier"]:
        figures += plot_frontier(data, out_folder / "frontier.png")
    if as_json:
        print_json({"out": str(out_folder), **data, "figures": [str(path) for path in figures]})
        return
    _print(data, left_out, quick=quick)
    out.print(f"\nall numbers: {out_folder}/policies.json", soft_wrap=True)
    for path in figures:
        out.print(f"figure: {path}", soft_wrap=True)


def _lines(data: dict[str, object]) -> str:
    """JSON text with one line for each row, so that two files are easy to compare."""

    def clean(value: object) -> object:
        if isinstance(value, float):
            return None if not math.isfinite(value) else float(f"{value:.6g}")
        if isinstance(value, dict):
            return {key: clean(part) for key, part in value.items()}
        return [clean(part) for part in value] if isinstance(value, list) else value

    parts = []
    for key, value in data.items():
        if isinstance(value, list) and value and isinstance(value[0], list | dict):
            rows = ",\n  ".join(json.dumps(clean(row), ensure_ascii=False) for row in value)
            parts.append(f'"{key}": [\n  {rows}\n ]')
        else:
            parts.append(f'"{key}": {json.dumps(clean(value), ensure_ascii=False)}')
    return "{\n " + ",\n ".join(parts) + "\n}\n"


def _print(data: dict[str, Any], left_out: list[str], *, quick: bool) -> None:
    """Print the tables of a benchmark."""
    from rising_bandits.benchmark.report import Line

    rows = [Line(**line) for line in data["groups"]]
    for name in dict.fromkeys(row.group for row in rows):
        mine = [row for row in rows if row.group == name]
        print_heading(name, ": regret as a share of the optimum")
        print_table(
            ["policy", "instances", "draws", "mean", "± 95%", "worst"],
            [
                [
                    row.policy,
                    str(row.instances),
                    str(row.draws),
                    f"{row.mean:.2%}",
                    "–" if math.isnan(row.half_width) else f"{row.half_width:.2%}",
                    f"{row.worst:.2%}",
                ]
                for row in mine
            ],
            5,
        )
    ranked: dict[str, list[float]] = data["ranks"]
    if ranked:
        print_heading("mean rank", ", 1 is best")
        print_table(["policy", "rank"], [[label, f"{mean:.2f}"] for label, (mean, _) in ranked.items()], 1)
    judged: list[dict[str, Any]] = data["targets"]
    if judged:
        part = ", measured on a part of the benchmark; the limits are meant for the whole of it" if quick else ""
        print_heading("targets", part)
        print_table(
            ["held", "what", "measured", "95%", "at most"],
            [
                [
                    "yes" if row["held"] else "no",
                    str(row["text"]),
                    f"{row['value']:.4f}",
                    "–" if math.isnan(row["low"]) else f"{row['low']:.2f} to {row['high']:.2f}",
                    f"{row['limit']:.4f}",
                ]
                for row in judged
            ],
            3,
        )
    for line in left_out:
        out.print(line, soft_wrap=True)
