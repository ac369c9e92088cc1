"""The comparison that all examples run: policies and simple practices on one task, over short and long horizons."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits.errors import InputError, RisingBanditsError
from rising_bandits.examples.today import BestSoFar, RoundRobin
from rising_bandits.policies import CRUCB, SWCUCB, Foresight, HorizonCRUCB, Policy
from rising_bandits.problems import Task
from rising_bandits.simulation import simulate

_FIRST = 20
"""Earlier rounds are not drawn."""
NAMES = ("Foresight", "HorizonCRUCB", "CRUCB", "SW-CUCB", "best so far", "round robin")


def policy(name: str, sigma: float) -> Policy:
    """Create one of the compared policies.

    Foresight is the recommended one. CRUCB gets the bonus of the program that its authors published. This bonus
    explores less than the one in the paper.

    Parameters
    ----------
    name
        One of `NAMES`.
    sigma
        The subgaussian constant of the noise, for CRUCB.
    """
    if name not in NAMES:
        raise InputError(f"name must be one of {', '.join(NAMES)}, got {name!r}")
    made: dict[str, Policy] = {
        "Foresight": Foresight(),
        "HorizonCRUCB": HorizonCRUCB(),
        "CRUCB": CRUCB(sigma=sigma, bonus="reference"),
        "SW-CUCB": SWCUCB(),
        "best so far": BestSoFar(),
        "round robin": RoundRobin(),
    }
    return made[name]


@dataclass(frozen=True)
class Result:
    """The expected reward per round of a policy, averaged over several worlds."""

    policy: str
    """One of `NAMES`."""
    horizon: int
    """The number of rounds."""
    mean: float
    """The reward per round over all rounds."""
    error: float
    """The standard error of ``mean`` over the worlds."""
    end: float
    """The reward per round over the last tenth of the rounds."""
    rounds: Ints
    """The rounds of ``along``."""
    along: Floats
    """The reward per round since the previous entry of ``rounds``; for the first entry since round 20."""
    error_along: Floats
    """The standard error of ``along`` over the worlds."""


def compare(make_task: Callable[[int], Task], horizons: Sequence[int], worlds: int = 5) -> list[Result]:
    """Run every policy over every horizon, once in each world.

    Parameters
    ----------
    make_task
        Takes the number of a world and returns its task.
    horizons
        The numbers of rounds, each above 20.
    worlds
        The number of worlds. A world is a random draw of the curves.

    Raises
    ------
    InputError
        There is no world, or a horizon is too short. Nothing was run.
    """
    worlds = _checks.integer("worlds", worlds, low=1)
    horizons = [_checks.integer("horizons", horizon, low=_FIRST + 1) for horizon in horizons]
    tasks = [make_task(world) for world in range(worlds)]
    return [_result(tasks, name, horizon) for horizon in horizons for name in NAMES]


def _result(tasks: Sequence[Task], name: str, horizon: int) -> Result:
    """Run one policy over one horizon in all worlds."""
    runs = [simulate(task, policy(name, task.sigma), horizon=horizon, seed=world) for world, task in enumerate(tasks)]
    rounds = runs[0].rounds
    total = np.array([run.reward for run in runs])
    late = int(np.searchsorted(rounds, 0.9 * horizon))
    means = total[:, -1] / horizon
    # Single rounds of an exploring policy vary a lot, so rewards are averaged over logarithmically spaced intervals.
    marks = np.unique(np.geomspace(_FIRST, horizon, 30).astype(np.int64))
    steps = np.array([np.diff(np.interp(marks, rounds, one)) / np.diff(marks) for one in total])
    return Result(
        policy=name,
        horizon=horizon,
        mean=float(means.mean()),
        error=float(means.std(ddof=1) / np.sqrt(len(runs))) if len(runs) > 1 else float("nan"),
        end=float((total[:, -1] - total[:, late]).mean() / (horizon - rounds[late])),
        rounds=marks[1:],
        along=steps.mean(axis=0),
        error_along=steps.std(axis=0, ddof=1) / np.sqrt(len(runs)) if len(runs) > 1 else np.zeros(steps.shape[1]),
    )


def table(results: Sequence[Result]) -> str:
    """The results as a text table. A star marks the best policy of each horizon and column."""
    lines = [f"{'rounds':>8}  {'policy':<12} {'reward per round':>17}  {'last tenth':>10}"]
    for result in results:
        mine = [other for other in results if other.horizon == result.horizon]
        first = "*" if result.mean == max(other.mean for other in mine) else " "
        last = "*" if result.end == max(other.end for other in mine) else " "
        mean = f"{result.mean:.4f} ± {result.error:.4f}{first}"
        lines.append(f"{result.horizon:>8}  {result.policy:<12} {mean:>17}  {result.end:>9.4f}{last}".rstrip())
    return "\n".join(lines)


def plot(results: Sequence[Result], path: str | Path, title: str, worlds: int = 5) -> list[Path]:
    """Draw the reward per round over the longest horizon, with its standard error as a band.

    Parameters
    ----------
    results
        What `compare` returned.
    path
        The name of the files, such as ``routes.png``. A PNG and an SVG file are written.
    title
        What the figure is about.
    worlds
        The number of worlds, for the title.

    Returns
    -------
    list of Path
        The files that were written.
    """
    from rising_bandits.plots.ends import spread
    from rising_bandits.plots.looks import look
    from rising_bandits.plots.names import wrapped
    from rising_bandits.plots.style import figure, save

    longest = [result for result in results if result.horizon == max(one.horizon for one in results)]
    colours = {"best so far": "#009E73", "round robin": "#777777"}
    labels = {"Foresight": "foresight", "HorizonCRUCB": "horizon-crucb", "CRUCB": "crucb", "SW-CUCB": "sw-cucb"}
    with figure(6.8, 3.8) as (drawing, axes):
        ends = {}
        for result in longest:
            colour = colours.get(result.policy) or look(labels[result.policy]).colour
            low, high = result.along - result.error_along, result.along + result.error_along
            axes.fill_between(result.rounds, low, high, color=colour, alpha=0.15, linewidth=0)
            axes.plot(result.rounds, result.along, color=colour, linewidth=1.8)
            ends[result.policy] = (float(result.along[-1]), colour)
        axes.set_xscale("log")
        axes.set_xlim(int(longest[0].rounds[0]), int(longest[0].rounds[-1]))
        ordered = sorted(ends.items(), key=lambda item: -item[1][0])
        bottom, top = axes.get_ylim()
        heights = spread([end for _, (end, _) in ordered], gap=0.065 * (top - bottom))
        beside = axes.get_yaxis_transform()
        for (name, (end, colour)), height in zip(ordered, heights, strict=True):
            line = {"color": colour, "linewidth": 0.8, "clip_on": False, "transform": beside}
            axes.plot([1.0, 1.02, 1.04], [end, height, height], **line)
            axes.text(1.05, height, name, color=colour, va="center", transform=beside)
        axes.set_ylim(bottom, top)
        axes.set_xlabel("round")
        axes.set_ylabel("expected reward per round")
        axes.set_title(wrapped(f"{title}: mean of {worlds} worlds with its standard error", 6.0))
        return save(drawing, path)


def main(make_task: Callable[[int], Task], horizons: Sequence[int], title: str, description: str) -> None:
    """The command line of an example: print the table, and draw the figure if ``--plot`` is given."""
    from rich.console import Console

    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--plot", type=Path, help="file for a figure of the longest runs, as PNG and SVG; by default no figure"
    )
    parser.add_argument(
        "--worlds", type=int, default=5, help="number of random worlds, by default 5; every policy runs once in each"
    )
    given = parser.parse_args()
    say = Console(highlight=False, soft_wrap=True, markup=False)
    try:
        results = compare(make_task, horizons, _checks.integer("--worlds", given.worlds, low=1))
        say.print(table(results))
        if given.plot is not None:
            for path in plot(results, given.plot, title, given.worlds):
                say.print(f"figure: {path}")
    except (RisingBanditsError, OSError) as error:
        parser.error(str(error))
