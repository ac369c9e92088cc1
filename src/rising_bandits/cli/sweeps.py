"""``rising collect`` and ``rising compare``, and the options --scheduler and --trust, which several commands share."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from rising_bandits import __version__
from rising_bandits._files import replacing
from rising_bandits.cli.output import out, print_heading, print_json, print_table
from rising_bandits.errors import InputError

SCHEDULER = (
    "The address of a Dask scheduler, such as tcp://host:8786, to run on its workers; or local for a Dask cluster of "
    "--workers processes on this machine. By default the runs use processes of this command. Needs the extra dask."
)
TRUST = (
    "A module of your own that a result file or plan file may name. Nothing else that a file names is imported. Can be "
    "given several times."
)


@contextlib.contextmanager
def engine(scheduler: str | None, workers: int | None) -> Iterator[Executor | None]:
    """The executor of a Dask cluster; None if no scheduler was given."""
    if scheduler is None:
        yield None
        return
    from rising_bandits.experiments.cluster import cluster

    with cluster(scheduler, workers) as executor:
        yield executor


def collect(
    folders: Annotated[list[Path], typer.Argument(help="Results folders, or folders that hold them.")],
    out_folder: Annotated[Path, typer.Option("--out", help="Folder for the joined results.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Join the results of several folders, such as those of rising run --shard, into one.

    The given folders are only read. A run that is in several of them must be the same in all. Writes the runs and their
    settings to --out. Needs the extra lab.

    Example: rising collect results/part-1 results/part-2 --out results/whole
    """
    from rising_bandits.experiments import collect as join

    found = join(folders, out_folder, __version__)
    if as_json:
        missing = [spec.as_dict() for spec in found.missing]
        print_json({"out": str(out_folder), "runs": found.runs, "added": found.added, "missing": missing})
        return
    out.print(f"{found.runs} runs in {out_folder}, {found.added} of them new", soft_wrap=True)
    for spec in found.missing[:10]:
        out.print(f"not finished: {spec.key}", soft_wrap=True)
    if len(found.missing) > 10:
        out.print(f"and {len(found.missing) - 10} more are not finished", soft_wrap=True)


def compare(
    folder: Annotated[Path, typer.Argument(help="A results folder.")],
    baseline: Annotated[
        str | None, typer.Option(help="The policy to compare with, as tables name it; by default the first.")
    ] = None,
    measure: Annotated[
        str, typer.Option(help="What to compare at the last round: regret, reward, seconds or a metric.")
    ] = "regret",
    interval: Annotated[
        str, typer.Option(help="bootstrap, with the sign-change test; or t, with the paired t-test.")
    ] = "bootstrap",
    level: Annotated[float, typer.Option(help="The confidence level of the intervals.")] = 0.95,
    save: Annotated[
        list[Path] | None,
        typer.Option(help="Also write the table to a .csv, .tex or .md file. Can be given several times."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Also draw the mean ranks with their critical difference to this file; by default no figure."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Compare policies with a baseline by paired differences.

    Two runs of one task with the same seed are a pair. Prints for each policy and task the mean difference with its
    interval, the p-value with Holm's correction, the effect size, and the share of seeds on which the policy has less
    than the baseline. Then prints mean ranks with the critical difference of Nemenyi's test. Writes nothing, except
    files with --save and --plot. Needs the extra lab.

    Example: rising compare results/first --baseline sw-cucb --save comparison.md
    """
    from rising_bandits.experiments import compare as comparison

    found = comparison(folder, baseline, measure=measure, interval=interval, level=level)
    from rising_bandits.plots.names import title

    writers: dict[str, Callable[[], str]] = {
        ".csv": found.to_csv,
        ".tex": lambda: found.to_latex(title),
        ".md": lambda: found.to_markdown(title),
    }
    for path in save or ():
        if path.suffix not in writers:
            raise InputError(f"--save must be a file that ends with {', '.join(writers)}, got {str(path)!r}")
    for path in save or ():
        with replacing(path) as aside:
            aside.write_text(writers[path.suffix](), encoding="utf-8")
    figures: list[Path] = []
    if plot is not None:
        from rising_bandits.plots import plot_critical_difference

        figures = plot_critical_difference(found, plot)
    if as_json:
        print_json({**asdict(found), "figures": [str(path) for path in figures]})
        return
    headings, cells = found.table()
    print_heading(found.measure, f": paired differences from {found.baseline}, {found.interval} intervals")
    print_table(headings, cells, len(headings) - 2)
    for line in found.words():
        out.print(line, soft_wrap=True)
    for path in [*(save or ()), *figures]:
        out.print(f"file: {path}", soft_wrap=True)
