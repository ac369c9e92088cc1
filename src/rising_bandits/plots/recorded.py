"""A figure of a recorded task: the chance that a try of an edge succeeds, by the number of its tries."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rising_bandits.curves import Failing
from rising_bandits.errors import InputError
from rising_bandits.experiments import make_task
from rising_bandits.plots.regret import regret_heading
from rising_bandits.plots.style import figure, one_of_many, save
from rising_bandits.theory import optimal_constant


def plot_recording(task: str, path: Path) -> list[Path]:
    """Write a figure of the success chances that a recorded task replays as PNG and SVG.

    Only the edges of the best constant path are named; the other edges are grey.

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

    Raises
    ------
    InputError
        The task has no chances of success: its noise is not `curves.Failing`.
    """
    instance = make_task(task)
    if not isinstance(instance.noise, Failing):
        raise InputError(f"task must replay tries that succeed or fail, such as antmaze-easy, got {task!r}")
    best = optimal_constant(instance).super_arm.tolist()
    chances = instance.noise.chances
    last = max(min(chance.settled or instance.horizon, instance.horizon - 1) for chance in chances)
    plays = np.arange(last + 1)
    others = [arm for arm in range(instance.problem.n_arms) if arm not in best]
    with figure(7.0, 3.6) as (drawing, axes):
        for place, arm in enumerate(others):
            name = f"{len(others)} other edges" if place == 0 else None
            axes.plot(plays, chances[arm](plays), color="#BBBBBB", linewidth=0.9, label=name)
        for place, arm in enumerate(best):
            name = str(instance.problem.labels[arm]).replace("->", "→")
            axes.plot(plays, chances[arm](plays), linewidth=1.8, label=name, **one_of_many(place))
        axes.set_xlim(0, last)
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("tries of the edge")
        axes.set_ylabel("chance of success")
        axes.set_title(f"{regret_heading(task)}: chances measured in training")
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8)
        return save(drawing, path)
