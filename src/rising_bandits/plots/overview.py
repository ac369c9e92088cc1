"""One figure of a comparison: the task, its outcome curves, and the regret of every policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rising_bandits._text import figure_text
from rising_bandits.experiments import StoredRun, make_task
from rising_bandits.plots.names import title, wrapped
from rising_bandits.plots.regret import draw_regret, regret_bands, regret_heading
from rising_bandits.plots.structure import draw_curves, draw_structure
from rising_bandits.plots.style import figures, save


def plot_overview(
    runs: Sequence[StoredRun], task: str, path: str | Path, *, log: bool = False, named: Callable[[str], str] = title
) -> list[Path]:
    """Write a figure of a task's structure, its outcome curves and the regret of every policy as PNG and SVG.

    Parameters
    ----------
    runs
        Finished runs, as `experiments.run_plan` returns them; those on other tasks are ignored.
    task
        The task, as the runs name it.
    path
        The file to write; its suffix is replaced by ``.png`` and by ``.svg``.
    log
        Whether regret is drawn on a logarithmic scale, for tasks on which it differs by orders of magnitude.
    named
        Turns the label of a policy into its name.

    Returns
    -------
    list of Path
        The PNG file and the SVG file.
    """
    # A run that was read from a file imports nothing but what the caller trusts.
    known = [run.spec for run in runs if run.spec.world == task]
    instance = known[0].make_task() if known else make_task(task)
    with figures(11.0, 3.5, widths=(1.0, 1.05, 1.7)) as (drawing, (left, middle, right)):
        draw_structure(left, instance)
        left.set_title(wrapped(figure_text(regret_heading(task, runs)), 2.4, 10.0), fontsize=10)
        draw_curves(middle, instance)
        middle.set_title("outcomes rise with practice", fontsize=10)
        draw_regret(right, regret_bands(runs, task), "regret", log=log, named=named, inches=4.6, size=10.0)
        return save(drawing, path)
