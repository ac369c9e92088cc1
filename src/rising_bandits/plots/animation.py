"""An animation of a run: which arms are played as they rise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rising_bandits._checks import Floats, Ints, integer
from rising_bandits._files import replacing
from rising_bandits._text import figure_text
from rising_bandits.errors import InputError
from rising_bandits.experiments import StoredRun
from rising_bandits.plots.looks import EARLY, LATE
from rising_bandits.plots.names import shortened, title, wrapped
from rising_bandits.plots.style import figures
from rising_bandits.problems import Task
from rising_bandits.simulation import Run

_NAMED = 14
_MOST_FRAMES = 1_000
_DPI = 80


def frames_of(rounds: Ints, count: int) -> Ints:
    """The places of recorded rounds to show, about evenly spread over the run; the last is always there.

    >>> frames_of(np.array([1, 2, 3, 50, 100]), 2).tolist()
    [3, 4]
    """
    wanted = np.linspace(rounds[-1] / count, rounds[-1], count)
    return np.unique(np.searchsorted(rounds, wanted).clip(0, len(rounds) - 1))


def animate_run(run: Run | StoredRun, path: str | Path, *, frames: int = 60, seconds: float = 8.0) -> Path:
    """Write an animation of a run as GIF or HTML.

    To the left, every arm is a dot on its curve. It moves to the right with its plays, and it is the larger, the more
    it was played since the last picture. To the right, regret by round.

    Parameters
    ----------
    run
        A finished run, as `simulate` or `experiments.run_plan` returns it.
    path
        The file to write; it must end with ``.gif`` or ``.html``.
    frames
        About how many pictures.
    seconds
        How long the animation takes.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        The file has another ending, or the run does not hold the plays of its arms.
    """
    path = Path(path)
    frames = integer("frames", frames, low=2, high=_MOST_FRAMES)
    if path.suffix not in (".gif", ".html"):
        raise InputError(f"path of an animation must end with .gif or .html, got {str(path)!r}")
    task = run.task if isinstance(run, Run) else run.spec.make_task()
    if run.plays_at.shape[1:] != (task.problem.n_arms,):
        raise InputError("run must hold the plays of its arms at every recorded round, but there were too many to keep")
    name = run.policy if isinstance(run, Run) else title(run.label)
    with figures(9.0, 4.0, widths=(1.3, 1.0)) as (drawing, (left, right)):
        places = frames_of(run.rounds, frames)
        dots, line, clock = _draw_first(left, right, task, run.plays_at, run.rounds, run.regret)
        left.set_title(wrapped(figure_text(f"{task.name}: {name}"), 4.6), fontsize=10)

        def show(number: int) -> list[Any]:
            place = places[number]
            before = run.plays_at[places[number - 1]] if number else np.zeros(task.problem.n_arms)
            plays = run.plays_at[place]
            passed = run.rounds[place] - (run.rounds[places[number - 1]] if number else 0)
            dots.set_offsets(np.column_stack([plays, _heights(task, plays)]))
            dots.set_sizes(12 + 220 * (plays - before) / max(1, passed))
            line.set_data(run.rounds[: place + 1], run.regret[: place + 1])
            clock.set_text(f"round {run.rounds[place]:,}")
            return [dots, line, clock]

        # The places of the axes are found once, not for every picture.
        drawing.draw_without_rendering()
        drawing.set_layout_engine("none")
        pace = max(1.0, len(places) / seconds)
        with replacing(path) as aside:
            if path.suffix == ".gif":
                pictures = _pictures(drawing, [dots, line, clock], len(places), show)
                first, *others = pictures
                first.save(aside, "GIF", save_all=True, append_images=others, duration=round(1000 / pace), loop=0)
            else:
                from matplotlib.animation import FuncAnimation

                film = FuncAnimation(drawing, show, frames=len(places), interval=1000 / pace)
                aside.write_text(film.to_jshtml(fps=round(pace), default_mode="once"), encoding="utf-8")
    return path


def _pictures(drawing: Any, moving: list[Any], count: int, show: Callable[[int], Any]) -> list[Any]:
    """The pictures of an animation. What does not move is drawn once."""
    from PIL import Image

    drawing.set_dpi(_DPI)
    for part in moving:
        part.set_animated(True)
    drawing.canvas.draw()
    still = drawing.canvas.copy_from_bbox(drawing.bbox)
    found = []
    for number in range(count):
        show(number)
        drawing.canvas.restore_region(still)
        for part in moving:
            part.axes.draw_artist(part)
        colours = np.asarray(drawing.canvas.buffer_rgba())[..., :3]
        found.append(Image.fromarray(colours.copy()).quantize(64))
    return found


def _heights(task: Task, plays: Ints) -> Floats:
    """The mean of each arm at its number of plays."""
    return task.means(np.asarray(plays, dtype=np.int64))


def _draw_first(
    left: Any, right: Any, task: Task, plays_at: Ints, rounds: Ints, regret: Floats
) -> tuple[Any, Any, Any]:
    """What does not move, and the parts that do: the dots, the line of regret and the clock."""
    late, last = set(task.late), max(1, int(plays_at[-1].max()))
    at = np.unique(np.linspace(0, last, 200).astype(np.int64))
    for arm, curve in enumerate(task.curves):
        left.plot(at, curve(at), color=LATE if arm in late else EARLY, alpha=0.35, linewidth=1.0)
    colours = [LATE if arm in late else EARLY for arm in range(task.problem.n_arms)]
    dots = left.scatter(np.zeros(len(colours)), np.zeros(len(colours)), c=colours, edgecolor="white", zorder=3)
    if task.problem.n_arms <= _NAMED:
        ends = np.argsort(-plays_at[-1])[:5]
        labels = shortened([str(label) for label in task.problem.labels], 24)
        names = "\n".join(figure_text(labels[arm]) for arm in ends)
        left.text(
            0.98, 0.03, f"most played:\n{names}", transform=left.transAxes, ha="right", va="bottom", fontsize=8,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 2.0},
        )  # fmt: skip
    left.set_xlim(-0.03 * last, 1.06 * last)
    left.set_ylim(0, 1.05)
    left.set_xlabel("plays of the arm")
    left.set_ylabel("mean outcome")
    known = regret[np.isfinite(regret)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    right.set_xlim(0, int(rounds[-1]))
    right.set_ylim(min(0.0, low) - 1e-9, 1.05 * max(high, low + 1e-9))
    right.set_xlabel("round")
    right.set_ylabel("cumulative expected regret")
    (line,) = right.plot([], [], color=LATE, linewidth=1.8)
    clock = right.set_title("round 0", fontsize=10)
    return dots, line, clock
