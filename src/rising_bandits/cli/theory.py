"""``rising theory``: bounds and optima of tasks, and diagnostics of logged outcomes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rising_bandits._extras import require
from rising_bandits.cli.output import out, print_json, print_table
from rising_bandits.errors import InputError, RisingBanditsError
from rising_bandits.experiments.plan import make_task

app = typer.Typer(
    no_args_is_help=True,
    help="Bounds and optima of tasks, and diagnostics of your own logs.\n\n"
    "Prints numbers. Writes nothing, except figures with --plot.\n\n"
    "Example: rising theory bounds path-easy toy",
)
_Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


@app.command()
def bounds(
    tasks: Annotated[
        list[str],
        typer.Argument(
            help="Tasks, by name (see [bold]rising tasks[/bold]) or as my_module:my_function for tasks of your own."
        ),
    ],
    horizon: Annotated[int | None, typer.Option(help="The number of rounds; by default the task's own.")] = None,
    epsilon: Annotated[float, typer.Option(help="The window of CRUCB as a share of the plays.")] = 0.125,
    bonus: Annotated[
        float, typer.Option(help="The constant C of the bonus C log t: 30 in the paper, 4 in its authors' program.")
    ] = 30.0,
    as_json: _Json = False,
) -> None:
    """Compute the upper bound of Theorem 3 on the regret of CRUCB.

    Prints for each task the bound, its terms, and the trivial bound L·B·T: the size of the largest super arm, times the
    Lipschitz constant of the reward, times the rounds. Writes no files.

    Example: rising theory bounds path-easy toy
    """
    from rising_bandits.theory import upper_bound

    rows: list[dict[str, Any]] = []
    for name in tasks:
        bound = upper_bound(make_task(name), horizon, epsilon=epsilon, constant=bonus)
        terms = {"start": bound.start, "growth": bound.growth, "noise": bound.noise, "q": bound.q}
        rows.append({"task": name, "bound": bound.total, **terms, "trivial": bound.trivial, "useful": bound.useful})
    if as_json:
        print_json({"bounds": rows})
        return
    headings = ["task", "bound", "start", "growth", "noise", "L·B·T", "q"]
    keys = ["bound", "start", "growth", "noise", "trivial"]
    print_table(headings, [[row["task"], *(f"{row[key]:,.0f}" for key in keys), f"{row['q']:.2f}"] for row in rows], 6)
    out.print("a bound above L·B·T says nothing, because no policy has more regret than L·B·T", soft_wrap=True)


@app.command()
def optimum(
    task: Annotated[
        str,
        typer.Argument(
            help="A task, by name (see [bold]rising tasks[/bold]) or as my_module:my_function for a task of your own."
        ),
    ],
    horizon: Annotated[int | None, typer.Option(help="The number of rounds; by default the task's own.")] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Also compute the best policy of all. Works for small tasks only.")
    ] = False,
    as_json: _Json = False,
) -> None:
    """Find the best constant super arm of a task and its expected reward; with --exact also the best policy.

    Writes no files.

    Example: rising theory optimum path-easy
    """
    from rising_bandits.theory import optimal_constant, optimal_policy

    instance = make_task(task)
    best = optimal_constant(instance, horizon)
    labels = [str(label) for label in instance.problem.labels_of(best.super_arm)]
    data: dict[str, Any] = {"task": task, "horizon": best.horizon, "super_arm": labels, "total": best.total}
    if exact:
        policy = optimal_policy(instance, horizon)
        first = [str(label) for label in instance.problem.labels_of(policy.super_arms[0])]
        data |= {"optimal_total": policy.total, "gain": policy.total - best.total, "first_super_arm": first}
    if as_json:
        print_json(data)
        return
    out.print(f"best constant super arm over {best.horizon:,} rounds: {', '.join(labels)}", soft_wrap=True)
    out.print(f"expected reward: {best.total:,.4f}")
    if exact:
        out.print(
            f"best policy of all: {data['optimal_total']:,.4f}, {data['gain']:.4f} more, first {', '.join(first)}"
        )


@app.command()
def diagnose(
    file: Annotated[Path, typer.Argument(help="A CSV or Parquet file with the columns arm, play and outcome.")],
    level: Annotated[float, typer.Option(help="The confidence level of the verdicts and intervals.")] = 0.95,
    plot: Annotated[
        Path | None, typer.Option(help="Also draw the arms to this file, as PNG and SVG; by default no figure.")
    ] = None,
    as_json: _Json = False,
) -> None:
    """Diagnose logged outcomes: whether each arm rises, is concave or has levelled off, and how noisy it is.

    Prints a summary. Writes nothing, except a figure with --plot.

    Example: rising theory diagnose outcomes.csv --plot arms.png
    """
    from rising_bandits.theory import diagnose as ask

    found = ask(read_table(file), level=level)
    written = []
    if plot is not None:
        from rising_bandits.plots import plot_diagnosis

        written = [str(path) for path in plot_diagnosis(found, plot)]
    if as_json:
        print_json({"arms": found.rows(), "figures": written})
        return
    out.print(found.summary(), soft_wrap=True)
    for path in written:
        out.print(f"figure: {path}", soft_wrap=True)


def read_table(file: Path) -> Any:
    """The table in a CSV or Parquet file."""
    if not file.is_file():
        raise InputError(f"file must be a CSV or Parquet file, but {str(file)!r} does not exist")
    try:
        if file.suffix == ".parquet":
            require("lab", "pyarrow")
            import pyarrow.parquet as pq

            return pq.read_table(file)
        require("lab", "pyarrow")
        from pyarrow import csv

        return csv.read_csv(file)
    except RisingBanditsError:
        # A missing package is not an error in the file.
        raise
    except Exception as error:
        raise InputError(
            f"file must be a CSV or Parquet file with the columns arm, play and outcome; {str(file)!r} is not ({error})"
        ) from None
