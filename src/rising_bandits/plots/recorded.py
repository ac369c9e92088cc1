"""A figure of a recorded task: what was measured of each arm, by the number of its plays."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rising_bandits.curves import Failing
from rising_bandits.experiments import make_task
from rising_bandits.plots.looks import one_of_many
from rising_bandits.plots.regret import regret_heading
from rising_bandits.plots.style import figure, save
from rising_bandits.theory import optimal_constant


def plot_recording(task: str, path: str | Path) -> list[Path]:
    """Write a figure of the curves that a recorded task replays as PNG and SVG.

    For arms that succeed or fail these are the chances of success, else the mean outcomes. Only the arms of the best
    constant super arm are named; the others are grey.

    Parameters
    ----------
    task
        A recorded task, such as ``antmaze-easy``.
    path
        The file to write; its suffix is replaced by ``.png`` and by ``.svg``.

    Returns
    -------
    list of Path
        The PNG file and the SVG file.
    """
    instance = make_task(task)
    failing = isinstance(instance.noise, Failing)
    best = optimal_constant(instance).super_arm.tolist()
    curves = instance.noise.chances if isinstance(instance.noise, Failing) else instance.curves
    last = max(1, *(min(curve.settled or instance.horizon, instance.horizon - 1) for curve in curves))
    plays = np.arange(last + 1)
    others = [arm for arm in range(instance.problem.n_arms) if arm not in best]
    with figure(7.0, 3.6) as (drawing, axes):
        for place, arm in enumerate(others):
            name = f"{len(others)} other {'edges' if failing else 'arms'}" if place == 0 else None
            axes.plot(plays, curves[arm](plays), color="#BBBBBB", linewidth=0.9, label=name)
        for place, arm in enumerate(best):
            name = str(instance.problem.labels[arm]).replace("->", "→")
            axes.plot(plays, curves[arm](plays), linewidth=1.8, label=name, **one_of_many(place))
        axes.set_xlim(0, last)
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("tries of the edge" if failing else "plays of the arm")
        axes.set_ylabel("chance of success" if failing else "mean outcome")
        axes.set_title(f"{regret_heading(task)}: {'chances measured in training' if failing else 'measured means'}")
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8)
        return save(drawing, path)
