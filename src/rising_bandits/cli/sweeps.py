"""Options that several commands share: clusters, and modules of one's own; ``rising collect``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Annotated

import typer

from rising_bandits import __version__
from rising_bandits.cli.output import out, print_json

SCHEDULER = (
    "The address of a Dask scheduler, such as tcp://host:8786, to run on its workers; or local for a Dask cluster of "
    "--workers processes on this machine. Needs the extra dask."
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
    """Join the results of several folders, such as those of rising run --shard, in one.

    The given folders are only read. A run that is in several of them must be the same in all.
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
