"""Tables for people, JSON for programs, progress for those who wait."""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text


def console(**options: Any) -> Console:
    """A screen that prints names as they are: ``:link:`` is no picture, and ``[a]`` no style."""
    return Console(highlight=False, emoji=False, markup=False, **options)


out = console()


def print_heading(title: str, rest: str = "") -> None:
    """An empty line, then what follows is about, in bold."""
    out.print()
    out.print(Text.assemble((title, "bold"), rest), soft_wrap=True)


def print_json(data: Any) -> None:
    """One JSON document on standard output; NaN becomes null."""

    def clean(value: Any) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            return None
        if isinstance(value, dict):
            return {key: clean(part) for key, part in value.items()}
        return [clean(part) for part in value] if isinstance(value, list | tuple) else value

    out.print(json.dumps(clean(data), indent=1), soft_wrap=True)


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]], numbers: int) -> None:
    """A table whose last ``numbers`` columns are set to the right."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place >= len(headings) - numbers else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    # A pipe has no width: let it have as much as the table wants.
    wide = out if out.is_terminal else console(width=200)
    wide.print(table)


LINE_EVERY = 15.0
"""Where there is no terminal, a line of progress is written after so many seconds."""


@contextlib.contextmanager
def progress_bar(what: str, totals: Sequence[int], unit: str = "runs") -> Iterator[Callable[[int, int], None]]:
    """A bar over all rounds of a plan, or over other work in parts, shown on a terminal once it has taken a second.

    Where there is no terminal, as in a log file, a line is written now and then. Both go to standard error, so that
    standard output stays clean.
    """
    screen = console(stderr=True)
    bar = Progress(
        TextColumn(what, markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[runs]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=screen,
        disable=not screen.is_terminal,
        transient=True,
    )
    job = bar.add_task(what, total=sum(totals), runs=f"0/{len(totals)} {unit}")
    done = [0] * len(totals)
    finished: set[int] = set()
    started = time.monotonic()
    lines = [started + LINE_EVERY]

    def report(number: int, rounds: int) -> None:
        # Thousands of runs report ten times a second: what did not move costs next to nothing.
        moved = rounds - done[number]
        if not moved:
            return
        done[number] = rounds
        if rounds >= totals[number]:
            finished.add(number)
        bar.update(job, advance=moved, runs=f"{len(finished)}/{len(totals)} {unit}")
        now = time.monotonic()
        if not bar.live.is_started and not bar.disable and now - started > 1.0:
            bar.start()
        if bar.disable and now >= lines[0]:
            lines[0] = now + LINE_EVERY
            share = sum(done) / max(1, sum(totals))
            left = f", about {(now - started) * (1.0 / share - 1.0) / 60:.0f} min left" if share > 0.02 else ""
            screen.print(f"{what}: {share:.0%}, {len(finished)}/{len(totals)} {unit}{left}", markup=False)

    try:
        yield report
    finally:
        if bar.live.is_started:
            bar.stop()
