"""Output of the commands: tables, JSON and progress bars."""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from rising_bandits._text import shown_text


class _Plain(Console):
    """A console that prints control characters as escapes."""

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*(shown_text(part, lines=True) if isinstance(part, str) else part for part in objects), **options)


def console(**options: Any) -> Console:
    """A console that prints text unchanged: ``:link:`` is not made an emoji, and ``[a]`` is not read as a style.

    Control characters are shown as escapes, so that a label cannot change the terminal.
    """
    return _Plain(highlight=False, emoji=False, markup=False, **options)


out = console()

_WIDEST = 200
"""The width of tables where there is no terminal."""


def print_heading(title: str, rest: str = "") -> None:
    """Print an empty line, then ``title`` in bold and ``rest`` after it."""
    out.print()
    out.print(Text.assemble((shown_text(title), "bold"), shown_text(rest)), soft_wrap=True)


def print_json(data: Any) -> None:
    """Print one JSON document; NaN and infinities become null."""

    def clean(value: Any) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            return None
        if isinstance(value, dict):
            return {key: clean(part) for key, part in value.items()}
        return [clean(part) for part in value] if isinstance(value, list | tuple) else value

    out.print(json.dumps(clean(data), indent=1), soft_wrap=True)


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]], numbers: int) -> None:
    """Print a table whose last ``numbers`` columns are aligned to the right.

    On a narrow terminal the text between the first column and the numbers is broken into lines. Nothing is cut off: if
    the table is too wide even so, the terminal breaks its lines.
    """
    table = Table(box=None, header_style="bold", pad_edge=False)
    for place, heading in enumerate(headings):
        cells = [heading, *(shown_text(row[place]) for row in rows)]
        number = place >= len(headings) - numbers
        whole = max(cell_len(cell) for cell in cells) if number or place == 0 else None
        table.add_column(heading, justify="right" if number else "left", no_wrap=whole is not None, min_width=whole)
    for row in rows:
        table.add_row(*(shown_text(cell) for cell in row))
    # Where there is no terminal, the width is not known; lines must not be broken there.
    least = Measurement.get(out, out.options.update(max_width=_WIDEST), table).minimum
    if out.is_terminal and least <= out.width:
        out.print(table)
    else:
        console(width=_WIDEST if not out.is_terminal else least).print(table, crop=False)


LINE_EVERY = 15.0
"""How many seconds pass between two lines of progress where there is no terminal."""


@contextlib.contextmanager
def progress_bar(what: str, totals: Sequence[int], unit: str = "runs") -> Iterator[Callable[[int, int], None]]:
    """Show progress on standard error: on a terminal a bar, after one second; elsewhere a line every 15 seconds.

    Yields a function that takes the position of a part in ``totals`` and how much of the part is done.
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
        # This is called for every run ten times a second, so a run without progress returns at once.
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
            minutes = (now - started) * (1.0 / share - 1.0) / 60 if share > 0.02 else math.nan
            left = "" if math.isnan(minutes) else f", about {minutes:.0f} min left" if minutes >= 1 else ", soon done"
            screen.print(f"{what}: {share:.0%}, {len(finished)}/{len(totals)} {unit}{left}", markup=False)

    try:
        yield report
    finally:
        if bar.live.is_started:
            bar.stop()
