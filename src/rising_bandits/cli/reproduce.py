"""``rising reproduce``: run the paper's synthetic experiments and report which of its claims hold."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from rising_bandits import __version__
from rising_bandits.cli.output import out, print_json, print_table, progress_bar


def reproduce(
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="A section: summary, a task such as path-easy, sensitivity, growth, bounds, lower-bounds, optimality "
            "or concentration. Can be given several times; all by default."
        ),
    ] = None,
    out_folder: Annotated[Path, typer.Option("--out", help="Folder for runs, figures and report.html.")] = Path(
        "results/reproduction"
    ),
    workers: Annotated[int | None, typer.Option(help="How many processes to use; by default one per core.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Run the paper's synthetic experiments and say which of its claims hold.

    Runs the eight synthetic tasks at full horizon with five seeds, and the sensitivity of CRUCB to its window. Compares
    the bounds of Theorems 3, 4 and 5 with measured regret, and checks Theorems 1 and 2 and Lemma 2 on examples; such
    checks are not proofs. The paper's AntMaze experiments are not included: see rising antmaze.

    Prints a table of claims. Writes the runs, the figures and report.html to --out. Finished runs are not run again.
    """
    from rising_bandits.reproduction.reproduce import plan_of
    from rising_bandits.reproduction.reproduce import reproduce as run

    _, plan = plan_of(only or ())
    with progress_bar("reproducing", [spec.horizon for spec in plan]) as report:
        result = run(out_folder, only or (), workers=workers, progress=report, version=__version__)
    if as_json:
        claims = [{"section": name, **asdict(claim)} for name, claim in result.claims]
        print_json({"report": str(result.report), "claims": claims})
        return
    print_table(
        ["section", "verdict", "claim"],
        [[name, claim.verdict, claim.text] for name, claim in result.claims],
        0,
    )
    held = sum(claim.held for _, claim in result.claims)
    out.print(
        f"\n{held} of {len(result.claims)} claims held; the numbers are in the report: {result.report}", soft_wrap=True
    )
