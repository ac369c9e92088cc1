"""``rising theory``: bounds and optima of tasks, and diagnostics of one's own logs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rising_bandits._extras import require
from rising_bandits.cli.output import out, print_json, print_table
from rising_bandits.errors import InputError
from rising_bandits.experiments.plan import make_task

app = typer.Typer(no_args_is_help=True, help="Bounds and optima of tasks, and diagnostics of your own logs.")
_Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


@app.command()
def bounds(
    tasks: Annotated[list[str], typer.Argument(help="Tasks, see [bold]rising tasks[/bold].")],
    horizon: Annotated[int | None, typer.Option(help="Rounds; by default the task's own.")] = None,
    epsilon: Annotated[float, typer.Option(help="The window of CRUCB.")] = 0.125,
    bonus: Annotated[float, typer.Option(help="C in the bonus C log t: 30 in the paper, 4 in its program.")] = 30.0,
    as_json: _Json = False,
) -> None:
    """The upper bound of Theorem 4 on the regret of CRUCB, term by term."""
    from rising_bandits.theory import upper_bound

    rows: list[dict[str, Any]] = []
    for name in tasks:
        bound = upper_bound(make_task(name), horizon, epsilon=epsilon, constant=bonus)
        terms = {"start": bound.start, "growth": bound.growth, "noise": bound.noise, "q": bound.q}
        rows.append({"task": name, "bound": bound.total, **terms, "trivial": bound.trivial, "useful": bound.useful})
    if as_json:
        print_json({"bounds": rows})
        return
    headings = ["task", "bound", "start", "growth", "noise", "L·T", "q"]
    keys = ["bound", "start", "growth", "noise", "trivial"]
    print_table(headings, [[row["task"], *(f"{row[key]:,.0f}" for key in keys), f"{row['q']:.2f}"] for row in rows], 6)
    out.print("a bound above L·T says nothing: no policy can lose more than that", soft_wrap=True)


@app.command()
def optimum(
    task: Annotated[str, typer.Argument(help="A task, see [bold]rising tasks[/bold].")],
    horizon: Annotated[int | None, typer.Option(help="Rounds; by default the task's own.")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Also the best policy of all; small instances only.")] = False,
    as_json: _Json = False,
) -> None:
    """The best constant super arm, and with --exact the best policy."""
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
    level: Annotated[float, typer.Option(help="The level of the intervals.")] = 0.95,
    plot: Annotated[Path | None, typer.Option(help="Where to draw the arms, as PNG and SVG.")] = None,
    as_json: _Json = False,
) -> None:
    """Whether the arms of your own log rise, are concave, have plateaued, and how noisy they are."""
    from rising_bandits.theory import diagnose as ask

    found = ask(_read(file), level=level)
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


def _read(file: Path) -> Any:
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
    except Exception as error:
        raise InputError(f"file must be a CSV or Parquet file with columns arm, play, outcome: {error}") from None
