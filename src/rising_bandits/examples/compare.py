"""The comparison that all examples run: CRUCB and simple practices on the same task, over short and long horizons."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits.examples.today import BestSoFar, RoundRobin
from rising_bandits.policies import CRUCB, SWCUCB, HorizonCRUCB, Policy
from rising_bandits.problems import Task
from rising_bandits.simulation import simulate

NAMES = ("CRUCB", "HorizonCRUCB", "SW-CUCB", "best so far", "round robin")


def policy(name: str, sigma: float) -> Policy:
    """Create one of the compared policies.

    CRUCB gets the bonus of the program that its authors published. This bonus explores less than the one in the paper.

    Parameters
    ----------
    name
        One of `NAMES`.
    sigma
        The subgaussian constant of the noise, for CRUCB.
    """
    made: dict[str, Policy] = {
        "CRUCB": CRUCB(sigma=sigma, bonus="reference"),
        "HorizonCRUCB": HorizonCRUCB(),
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


def compare(make_task: Callable[[int], Task], horizons: Sequence[int], worlds: int = 5) -> list[Result]:
    """Run every policy over every horizon, once in each world.

    Parameters
    ----------
    make_task
        Takes the number of a world and returns its task.
    horizons
        The numbers of rounds.
    worlds
        The number of worlds. A world is a random draw of the curves.
    """
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
    marks = np.unique(np.geomspace(20, horizon, 30).astype(np.int64))
    steps = np.diff(np.interp(marks, rounds, total.mean(axis=0))) / np.diff(marks)
    return Result(
        policy=name,
        horizon=horizon,
        mean=float(means.mean()),
        error=float(means.std(ddof=1) / np.sqrt(len(runs))) if len(runs) > 1 else float("nan"),
        end=float((total[:, -1] - total[:, late]).mean() / (horizon - rounds[late])),
        rounds=marks[1:],
        along=steps,
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


def plot(results: Sequence[Result], path: Path, title: str) -> list[Path]:
    """Draw the reward per round over the longest horizon.

    Parameters
    ----------
    results
        What `compare` returned.
    path
        The file to write. A PNG and an SVG file are written.
    title
        The title of the figure.

    Returns
    -------
    list of Path
        The files that were written.
    """
    from rising_bandits.plots.style import figure, save

    longest = max(result.horizon for result in results)
    colours = {
        "CRUCB": "#D55E00",
        "HorizonCRUCB": "#5E3C99",
        "SW-CUCB": "#0072B2",
        "best so far": "#009E73",
        "round robin": "#999999",
    }
    with figure(6.4, 3.8) as (drawing, axes):
        for result in results:
            if result.horizon == longest:
                width = 2.4 if result.policy == "CRUCB" else 1.6
                axes.plot(
                    result.rounds,
                    result.along,
                    color=colours[result.policy],
                    label=result.policy,
                    linewidth=width,
                )
        axes.set_xscale("log")
        axes.set_xlabel("round")
        axes.set_ylabel("expected reward per round")
        axes.set_title(title)
        axes.legend(frameon=False, fontsize=9)
        return save(drawing, path)


def main(make_task: Callable[[int], Task], horizons: Sequence[int], title: str, description: str) -> None:
    """The command line of an example: print the table, and draw the figure if ``--plot`` is given."""
    from rich.console import Console

    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--plot", type=Path, help="file for a figure of the longest runs; a PNG and an SVG are written")
    parser.add_argument("--worlds", type=int, default=5, help="number of random worlds; every policy runs once in each")
    given = parser.parse_args()
    results = compare(make_task, horizons, given.worlds)
    say = Console(highlight=False, soft_wrap=True, markup=False)
    say.print(table(results))
    if given.plot is not None:
        for path in plot(results, given.plot, title):
            say.print(f"figure: {path}")
