"""``rising reproduce``: the paper's synthetic experiments and theory, with a report."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from rising_bandits import __version__
from rising_bandits.cli.output import out, print_json, print_table, progress_bar


def reproduce(
    only: Annotated[
        list[str] | None, typer.Option(help="A section, such as path-easy or sensitivity; all by default.")
    ] = None,
    out_folder: Annotated[Path, typer.Option("--out", help="Folder for data, figures and the report.")] = Path(
        "results/reproduction"
    ),
    workers: Annotated[int | None, typer.Option(help="Processes to use; by default one a core.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Regenerate the paper's figures, tables and theorems, and say which of its claims held."""
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
        ["section", "held", "claim"],
        [[name, "yes" if claim.held else "no", claim.text] for name, claim in result.claims],
        0,
    )
    held = sum(claim.held for _, claim in result.claims)
    out.print(
        f"\n{held} of {len(result.claims)} claims held; the numbers are in the report: {result.report}", soft_wrap=True
    )
