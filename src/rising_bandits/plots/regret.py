"""Figures of regret by round: for every policy the mean and a 99% interval over seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rising_bandits._text import figure_text
from rising_bandits.errors import InputError
from rising_bandits.experiments import Band, StoredRun, band, group, make_task
from rising_bandits.plots.ends import End, name_ends
from rising_bandits.plots.looks import look, looks
from rising_bandits.plots.names import title, wrapped
from rising_bandits.plots.style import SMALL, current, figure, plain_numbers, save, theme

_THOUSANDS = 1e3
_MANY = 10_000
"""From this value on an axis counts in thousands."""


def regret_heading(task: str, runs: Sequence[StoredRun] = ()) -> str:
    """The name of a task in headings; "(replayed)" is added to a task that replays measured curves.

    Parameters
    ----------
    task
        The task, as the runs name it.
    runs
        Finished runs, which know the names of tasks of one's own.

    >>> regret_heading("path-easy")
    'path-easy'
    """
    for run in runs:
        if run.spec.world == task:
            name = run.task_name + task.removeprefix(run.spec.task)
            return f"{name} (replayed)" if run.meta.get("recorded") else name
    return f"{task} (replayed)" if ":" not in task and make_task(task).recorded else task


def regret_bands(runs: Sequence[StoredRun], task: str) -> dict[str, Band]:
    """The mean regret of each policy on a task with its interval, the highest final regret first.

    Parameters
    ----------
    runs
        Finished runs, as `experiments.run_plan` returns them; those on other tasks are ignored.
    task
        The task, as the runs name it.

    Returns
    -------
    dict of str to Band
        One band for each policy, by its label; see `experiments.band`.

    Raises
    ------
    InputError
        There are no runs on the task.
    """
    grouped = group(runs)
    bands = {label: band(members) for (name, label), members in grouped.items() if name == task}
    if not bands:
        known = ", ".join(dict.fromkeys(name for name, _ in grouped)) or "no task"
        raise InputError(f"runs must hold runs on {task!r}, but they are on {known}")
    return dict(sorted(bands.items(), key=lambda item: -float(item[1].mean[-1])))


def draw_regret(
    axes: Any,
    bands: dict[str, Band],
    heading: str,
    *,
    log: bool = False,
    log_rounds: bool = False,
    named: Callable[[str], str] = title,
    inches: float = 5.4,
    size: float = 11.0,
    letters: int = 26,
) -> None:
    """Draw the regret of each policy by round, with the policy's name at the end of its line.

    Parameters
    ----------
    axes
        The matplotlib axes to draw on.
    bands
        What `regret_bands` returned.
    heading
        The first words of the title; the number of seeds is added.
    log
        Whether regret is drawn on a logarithmic scale, which leaves out rounds of regret 0 or less.
    log_rounds
        Whether rounds are drawn on a logarithmic scale.
    named
        Turns the label of a policy into its name.
    inches, size
        The width that the title has, and the size of its letters in points.
    letters
        How many letters of a policy's name fit on a line.
    """
    top = max(float(curve.high.max()) for curve in bands.values())
    bottom = min(0.0, *(float(curve.low.min()) for curve in bands.values()))
    last = max(float(curve.rounds[-1]) for curve in bands.values())
    across, up = (_THOUSANDS if far >= _MANY else 1.0 for far in (last, max(top, -bottom)))
    styles = looks(bands)
    for label, curve in bands.items():
        style = styles[label]
        # A logarithmic axis has no 0.
        x = np.concatenate([[curve.rounds[0] if log_rounds else 0], curve.rounds]) / across
        mean, low, high = (np.concatenate([[0.0], part]) / up for part in (curve.mean, curve.low, curve.high))
        axes.fill_between(x, low, high, color=style.colour, alpha=0.18, linewidth=0)
        axes.plot(x, mean, color=style.colour, linestyle=style.line, linewidth=style.width)
    runs = sorted({curve.runs for curve in bands.values()})
    # The axis needs a height even if every regret is 0.
    least, most = _log_range(bands) if log else (1.05 * bottom, 1.05 * max(top, bottom + 1e-9))
    if log:
        axes.set_yscale("log")
    axes.set_ylim(least / up, most / up)
    if log:
        plain_numbers(axes.yaxis)
    ends = [
        End(
            figure_text(named(label)),
            float(curve.mean[-1]),
            styles[label].colour,
            styles[label].line if styles[label].line != ":" else "-",
            bold=styles[label] == look("crucb"),
        )
        for label, curve in bands.items()
    ]
    name_ends(axes, ends, least, most, log=log, letters=letters)
    axes.set_xlabel("round (thousands)" if across > 1.0 else "round")
    axes.set_ylabel("cumulative expected regret (thousands)" if up > 1.0 else "cumulative expected regret")
    many = str(runs[0]) if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    seeds = "one seed" if runs == [1] else f"mean and 99% t-interval over {many} seeds"
    axes.set_title(wrapped(f"{figure_text(heading)}: {seeds}", inches, size), fontsize=size)
    first = 0.0
    if log_rounds:
        axes.set_xscale("log")
        # On two logarithmic axes a line is seen from the round on in which it passes the lower limit, if it does.
        seen = [curve.rounds[curve.mean >= least] if log else curve.rounds for curve in bands.values()]
        first = min((float(rounds[0]) for rounds in seen if rounds.size), default=float(last) / 10)
    axes.set_xlim(min(first, last / 2) / across, last / across)
    if log_rounds:
        plain_numbers(axes.xaxis)


def _log_range(bands: dict[str, Band]) -> tuple[float, float]:
    """The limits of a logarithmic axis of regret.

    It begins with what the policies lose in the first thirtieth of the rounds, so that it shows the rise and not the
    moment in which a regret leaves 0, and it spans four powers of ten at most.
    """
    top = 1.3 * max(float(curve.high.max()) for curve in bands.values())
    early = [float(curve.mean[np.searchsorted(curve.rounds, curve.rounds[-1] / 30)]) for curve in bands.values()]
    final = [float(curve.mean[-1]) / 4.0 for curve in bands.values()]
    low = min((value for value in (*early, *final) if value > 0), default=0.0)
    return (max(low, top / 1e4), top) if top > 0 else (0.1, 1.0)


def plot_regret(
    runs: Sequence[StoredRun], task: str, path: str | Path, *, log: str = "", width: float = 6.4
) -> list[Path]:
    """Write a figure of the regret of every policy on a task as PNG and SVG, or as PDF.

    Parameters
    ----------
    runs
        Finished runs, as `experiments.run_plan` returns them; those on other tasks are ignored.
    task
        The task, as the runs name it.
    path
        The file to write. With the suffix ``.pdf`` it is a PDF file; any other is replaced by ``.png`` and ``.svg``.
    log
        Which axes are logarithmic: ``x``, ``y``, ``xy`` or none.
    width
        The width in inches, unless a `theme` sets one; 3.4 fits a column of a paper.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    InputError
        There are no runs on the task, or an argument is wrong.
    """
    if log not in ("", "x", "y", "xy"):
        raise InputError(f"log must be x, y or xy, got {log!r}")
    given = current()
    with theme(width=given.width or width, dark=given.dark, formats=given.formats), figure(6.4, 4.0) as (drawing, axes):
        draw_regret(
            axes,
            regret_bands(runs, task),
            regret_heading(task, runs),
            log="y" in log,
            log_rounds="x" in log,
            inches=drawing.get_figwidth() - (0.6 if current().narrow else 1.0),
            size=SMALL if current().narrow else 11.0,
            letters=20 if current().narrow else 26,
        )
        return save(drawing, path)
