"""``rising reproduce``: run the paper's synthetic experiments and report which of its claims hold."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from rising_bandits import __version__
from rising_bandits.cli.output import out, print_heading, print_json, print_table, progress_bar
from rising_bandits.cli.stopping import resumable
from rising_bandits.cli.sweeps import SCHEDULER, engine


@resumable()
def reproduce(
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="A section: table-1, summary, a task such as path-easy, sensitivity, antmaze, optimality, growth, "
            "bounds, lower-bounds, proofs or concentration. Can be given several times; all by default."
        ),
    ] = None,
    out_folder: Annotated[
        Path, typer.Option("--out", help="Folder for runs, figures, report.html and tables as CSV.")
    ] = Path("results/reproduction"),
    workers: Annotated[int | None, typer.Option(help="How many processes to use; by default one per core.")] = None,
    scheduler: Annotated[str | None, typer.Option(help=SCHEDULER)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Run the paper's synthetic experiments and say which of its claims hold.

    Runs the eight synthetic tasks at full horizon with ten seeds, and CRUCB with other windows and bonuses. Compares
    the bounds of Theorems 3, 4 and 5 with measured regret, checks Theorems 1 and 2, the corollaries and the lemmas on
    examples, and computes steps of the proofs. Such checks are not proofs. Reports on AntMaze runs that were trained
    before, and trains none (see rising antmaze).

    Prints the claims and an index of the paper: every figure, table, theorem, lemma and corollary with its verdict.
    Writes the runs, the figures, CSV tables and report.html to --out. Finished runs are not run again. Needs
    the extra lab.

    Example: rising reproduce --only path-easy --out results/path-easy
    """
    from rising_bandits.reproduction.reproduce import plan_of
    from rising_bandits.reproduction.reproduce import reproduce as run

    _, plan = plan_of(only or ())
    # In the progress bar, drawing counts as one more run with a tenth of all rounds.
    share = max(1, sum(spec.horizon for spec in plan) // 10)
    bar = progress_bar("reproducing", [*(spec.horizon for spec in plan), share])
    with engine(scheduler, workers) as executor, bar as report:
        result = run(
            out_folder,
            only or (),
            workers=workers,
            executor=executor,
            progress=report,
            drawing=lambda done, of: report(len(plan), share * done // of),
            version=__version__,
        )
    if as_json:
        claims = [{"section": name, "held": claim.held, **asdict(claim)} for name, claim in result.claims]
        print_json({"report": str(result.report), "claims": claims, "index": [asdict(entry) for entry in result.index]})
        return
    for whose, words in ((True, "claims of the paper"), (False, "checks of our own")):
        mine = [(name, claim) for name, claim in result.claims if claim.of_paper == whose]
        if mine:
            print_heading(words)
            print_table(["section", "verdict", "claim"], [[name, c.verdict, c.text] for name, c in mine], 0)
    if not only:
        print_heading("the paper, item by item")
        print_table(["item", "verdict", "what it is"], [[e.item, e.verdict, e.what] for e in result.index], 0)
    held = sum(claim.held for _, claim in result.claims if claim.of_paper)
    out.print(
        f"\n{held} of {sum(claim.of_paper for _, claim in result.claims)} claims of the paper held; the numbers are in "
        f"the report: {result.report}",
        soft_wrap=True,
    )
