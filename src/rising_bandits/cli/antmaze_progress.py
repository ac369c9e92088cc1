"""The progress of AntMaze runs: a table on a terminal, lines elsewhere."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rising_bandits.cli.output import console

if TYPE_CHECKING:
    from rising_bandits.antmaze.pool import News
    from rising_bandits.antmaze.spec import TrainSpec

_LINE_SECONDS = 60.0
"""How many seconds pass between two lines about a run where there is no terminal."""


class _Watched:
    """The latest news of runs in progress: episode, time left, chosen path and success of each edge."""

    def __init__(self, specs: Sequence[TrainSpec]) -> None:
        self.specs = specs
        self.latest: dict[int, News] = {}
        self._begun: dict[int, tuple[int, float]] = {}

    def note(self, item: News) -> None:
        """Remember the latest news of a run."""
        self._begun.setdefault(item.number, (item.episode, time.monotonic()))
        self.latest[item.number] = item

    def finished(self, number: int) -> bool:
        """Whether a run has played its last episode."""
        return self.latest[number].episode >= self.specs[number].episodes

    def cells(self, number: int) -> list[str]:
        """The cells of a run in the table of progress."""
        item, spec = self.latest[number], self.specs[number]
        first, since = self._begun[number]
        pace = (time.monotonic() - since) / max(item.episode - first, 1)
        left = f"{pace * (spec.episodes - item.episode) / 60:.1f} min" if item.episode > first else "–"
        edges = "  ".join(
            f"{label} {share:.0%}"
            for label, share in zip(spec.maze.labels, item.success, strict=True)
            if not np.isnan(share)
        )
        return [
            f"{spec.label} {spec.seed}",
            f"{item.episode}/{spec.episodes}",
            left,
            spec.maze.path_name(item.path),
            edges,
        ]


@contextlib.contextmanager
def watch(specs: Sequence[TrainSpec], done: Sequence[int]) -> Iterator[Callable[[News], None]]:
    """Show progress: on a terminal a table that is updated; elsewhere, as in a log file, a line a minute per run."""
    from rich.live import Live
    from rich.table import Table

    screen = console(stderr=True)
    watched = _Watched(specs)
    if not screen.is_terminal:
        told: dict[int, float] = {}

        def tell(item: News) -> None:
            watched.note(item)
            if time.monotonic() - told.get(item.number, -np.inf) < _LINE_SECONDS and not watched.finished(item.number):
                return
            told[item.number] = time.monotonic()
            run, episode, left, path, edges = watched.cells(item.number)
            screen.print(f"{run}: episode {episode}, {left} left, path {path}, success {edges}", soft_wrap=True)

        yield tell
        return

    def table() -> Table:
        view = Table(box=None, header_style="bold", pad_edge=False)
        for heading in ("run", "episode", "left", "path", "success of the last 50 tries"):
            view.add_column(heading, no_wrap=heading != "success of the last 50 tries")
        for number in sorted(watched.latest):
            if not watched.finished(number):
                view.add_row(*watched.cells(number))
        finished = len(done) + sum(map(watched.finished, watched.latest))
        waiting = len(specs) - len(done) - len(watched.latest)
        view.caption = f"{finished} of {len(specs)} runs finished, {waiting} not started"
        return view

    with Live(table(), console=screen, refresh_per_second=2, transient=True) as live:

        def show(item: News) -> None:
            watched.note(item)
            live.update(table())

        yield show
