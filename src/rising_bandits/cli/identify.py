"""``rising identify``: how often policies find the best super arm under a budget."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from rising_bandits._extras import require
from rising_bandits.cli.output import out, print_heading, print_json, print_table, progress_bar
from rising_bandits.experiments import make_plan, make_task, parse_policies, seeds_of
from rising_bandits.experiments.texts import call_text
from rising_bandits.simulation.identification import ErrorRate, error_rate, identify

_POLICIES = ["r-ucbe", "r-sr", "successive-halving(budget=1.0)"]


def identify_command(
    tasks: Annotated[
        list[str],
        typer.Argument(help="Tasks, such as identify-models and identify-paths (see [bold]rising tasks[/bold])."),
    ],
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="A policy, such as r-sr or 'r-ucbe(exploration=10)'. Can be given several times. A list or a range in "
            "place of a value stands for several policies, as in 'r-ucbe(exploration=[10, 20])'. By default r-ucbe, "
            "r-sr and successive-halving(budget=1.0)."
        ),
    ] = None,
    budget: Annotated[
        list[int] | None,
        typer.Option(help="Rounds before the recommendation; by default the task's. Can be given several times."),
    ] = None,
    seeds: Annotated[
        str,
        typer.Option(help="How many runs of each policy on each task and budget; or a range of seeds such as 0-19."),
    ] = "20",
    first_seed: Annotated[int, typer.Option(help="The first seed where --seeds is a number.")] = 0,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="A folder for figures of the results by budget, one per task, as PNG and SVG; by default no figures."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Measure how often policies recommend the best super arm after a budget of rounds.

    The best super arm is the one with the largest expected reward once every arm has been played as often as the budget
    has rounds. Policies that need sigma get the task's value. Prints a table. Writes nothing, except figures with
    --plot. Needs the extra lab.

    Example: rising identify identify-models --policy r-sr --policy r-ucbe --budget 1000 --seeds 20
    """
    runs = len(seeds_of(seeds, first_seed))
    texts = [call_text(*found) for text in policy or _POLICIES for found in parse_policies(text)]
    cells = [(name, text, rounds) for name in tasks for text in texts for rounds in budget or [make_task(name).horizon]]
    require("lab", "numba")
    rates: dict[str, dict[str, list[tuple[int, ErrorRate]]]] = {}
    with progress_bar("identify", [runs] * len(cells), "cells") as report:
        for number, (name, text, rounds) in enumerate(cells):
            task = make_task(name)
            plan = make_plan([name], [text], seeds=seeds, first_seed=first_seed, horizon=rounds)
            found = []
            for done, spec in enumerate(plan, 1):
                found.append(identify(task, spec.make_policy(), rounds, spec.seed))
                report(number, done)
            rates.setdefault(name, {}).setdefault(text, []).append((rounds, error_rate(found)))
    figures: list[Path] = []
    if plot is not None:
        from rising_bandits.plots import plot_identification

        for name, of_task in rates.items():
            # The text of a task given as module:function has characters that are not fit for file names.
            file = re.sub(r"[^A-Za-z0-9.-]+", "-", name).strip("-")
            figures += plot_identification(of_task, plot / f"{file}.png")
    rows: list[dict[str, Any]] = [
        {
            "task": name,
            "policy": text,
            "budget": rounds,
            "runs": rate.runs,
            "error_probability": rate.probability,
            "interval": [rate.low, rate.high],
            "simple_regret": rate.simple_regret,
        }
        for name, of_task in rates.items()
        for text, points in of_task.items()
        for rounds, rate in points
    ]
    if as_json:
        print_json({"rows": rows, "figures": [str(path) for path in figures]})
        return
    for name in rates:
        print_heading(name, f": {runs} runs each")
        table = [
            [
                row["policy"],
                f"{row['budget']:,}",
                f"{row['error_probability']:.2f}",
                f"{row['interval'][0]:.2f} to {row['interval'][1]:.2f}",
                f"{row['simple_regret']:.4f}",
            ]
            for row in rows
            if row["task"] == name
        ]
        print_table(["policy", "budget", "error probability", "95% interval", "simple regret"], table, 4)
    for path in figures:
        out.print(f"wrote {path}", soft_wrap=True)
