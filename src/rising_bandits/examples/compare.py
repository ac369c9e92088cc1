"""One comparison for all examples: CRUCB and what people do today, on the same task, over short and long runs."""

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
    """A contender. CRUCB has the bonus of its authors' program, which explores less than the paper's."""
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
    """A contender on a task: expected reward per round over all rounds, at the end, and along the way."""

    policy: str
    horizon: int
    mean: float
    error: float
    """The standard error of the mean over the worlds."""
    end: float
    """Over the last tenth of the rounds."""
    rounds: Ints
    along: Floats
    """Expected reward per round since the entry before, or since round 20."""


def compare(make_task: Callable[[int], Task], horizons: Sequence[int], worlds: int = 5) -> list[Result]:
    """Every contender over every horizon, once in each of several worlds drawn at random."""
    tasks = [make_task(world) for world in range(worlds)]
    return [_result(tasks, name, horizon) for horizon in horizons for name in NAMES]


def _result(tasks: Sequence[Task], name: str, horizon: int) -> Result:
    runs = [simulate(task, policy(name, task.sigma), horizon=horizon, seed=world) for world, task in enumerate(tasks)]
    rounds = runs[0].rounds
    total = np.array([run.reward for run in runs])
    late = int(np.searchsorted(rounds, 0.9 * horizon))
    means = total[:, -1] / horizon
    # Round by round a policy that explores jumps up and down; over equal shares of a logarithm one sees its way.
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
    """The results as text, the best of each column marked."""
    lines = [f"{'rounds':>8}  {'policy':<12} {'reward per round':>17}  {'last tenth':>10}"]
    for result in results:
        mine = [other for other in results if other.horizon == result.horizon]
        first = "*" if result.mean == max(other.mean for other in mine) else " "
        last = "*" if result.end == max(other.end for other in mine) else " "
        mean = f"{result.mean:.4f} ± {result.error:.4f}{first}"
        lines.append(f"{result.horizon:>8}  {result.policy:<12} {mean:>17}  {result.end:>9.4f}{last}".rstrip())
    return "\n".join(lines)


def plot(results: Sequence[Result], path: Path, title: str) -> list[Path]:
    """Reward along the longest runs, as PNG and SVG."""
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
    """The command of an example: print the table, and draw it where that is asked for."""
    from rich.console import Console

    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--plot", type=Path, help="where to draw the longest runs, as PNG and SVG")
    parser.add_argument("--worlds", type=int, default=5, help="runs of each policy, each in a world of its own")
    given = parser.parse_args()
    results = compare(make_task, horizons, given.worlds)
    say = Console(highlight=False, soft_wrap=True, markup=False)
    say.print(table(results))
    if given.plot is not None:
        for path in plot(results, given.plot, title):
            say.print(f"figure: {path}")
