"""``rising demo``: two policies choose a route that gets better with practice. It takes a few seconds."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rising_bandits._files import replacing
from rising_bandits.cli.output import out, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rising_bandits.problems import Task
    from rising_bandits.simulation import Run

_COLOURS = ("#D55E00", "#0072B2")
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 640, 300, 56, 40


def commute(days: int = 1_500) -> Task:
    """Two ways to work: a bridge that is always the same, and a tunnel that gets better with every trip.

    >>> task = commute()
    >>> from rising_bandits import optimal_constant
    >>> task.problem.labels_of(optimal_constant(task).super_arm)
    ['home->tunnel', 'tunnel->work']
    """
    from rising_bandits.curves import Exponential, Flat, Gaussian
    from rising_bandits.problems import ShortestPath, Task

    roads = [("home", "bridge"), ("bridge", "work"), ("home", "tunnel"), ("tunnel", "work")]
    known, learnt = Flat(0.6), Exponential(time=150.0, start=0.2, end=0.9)
    problem = ShortestPath(roads, "home", "work")
    return Task("commute", problem, (known, known, learnt, learnt), days, Gaussian(0.05))


def demo(
    page: Annotated[Path, typer.Option("--out", help="The HTML page to write.")] = Path("rising-demo.html"),
    seed: Annotated[int, typer.Option(help="The seed of the simulated world.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Show in a few seconds what the library is for: a route that gets better with practice.

    The recommended policy and a sliding window (SW-CUCB) choose the way to work for 1,500 days. Prints what each
    earned, and writes one HTML page with a figure to --out. Does not open the page. Needs no extra.

    Example: rising demo --out demo.html
    """
    from rising_bandits.policies import SWCUCB, recommended
    from rising_bandits.simulation import simulate
    from rising_bandits.theory import optimal_constant

    task = commute()
    best = optimal_constant(task)
    compared = {
        "recommended": recommended(task.problem, task.horizon),
        "sliding window": SWCUCB(),
    }
    runs = {name: simulate(task, policy, seed=seed, compiled=False) for name, policy in compared.items()}
    titles = {name: type(policy).title for name, policy in compared.items()}
    tunnel = task.problem.index("home->tunnel")
    rows = [
        {
            "who": name,
            "policy": run.policy.partition("(")[0],
            "days_in_the_tunnel": int(run.plays[tunnel]),
            "reward": float(run.reward[-1]),
            "regret": float(run.regret[-1]),
            "regret_share": float(run.regret[-1] / best.total),
        }
        for name, run in runs.items()
    ]
    page.parent.mkdir(parents=True, exist_ok=True)
    with replacing(page) as aside:
        aside.write_text(_page(task, runs, titles, best.total), encoding="utf-8")
    if as_json:
        print_json({"rows": rows, "optimum": best.total, "page": str(page)})
        return
    out.print(
        "Two ways to work. The bridge is good from the first day. The tunnel is worse at first, better with every "
        "trip, and best in the end. The policies do not know this.\n",
        soft_wrap=True,
    )
    print_table(
        ["", "policy", "days in the tunnel", "reward", "regret", "share of the optimum"],
        [
            [
                str(row["who"]),
                titles[str(row["who"])],
                f"{row['days_in_the_tunnel']:,} of {task.horizon:,}",
                f"{row['reward']:,.0f}",
                f"{row['regret']:,.0f}",
                f"{row['regret_share']:.1%}",
            ]
            for row in rows
        ],
        4,
    )
    out.print(f"\nReward a day, from day 1 to day {task.horizon:,}:")
    for name, run in runs.items():
        out.print(f"  {name:15} {_bars(_daily(run))}", soft_wrap=True)
    out.print(f"\npage: {page}", soft_wrap=True)
    out.print("next: rising tasks                  # what can be simulated", soft_wrap=True)
    out.print("      rising study create --help    # decide on a graph of your own", soft_wrap=True)


def _daily(run: Run, parts: int = 48) -> list[float]:
    """The expected reward a day, averaged over each of ``parts`` periods of equal length."""
    import numpy as np

    marks = np.linspace(0, run.rounds[-1], parts + 1)
    totals = np.interp(marks, np.concatenate([[0], run.rounds]), np.concatenate([[0.0], run.reward]))
    return [float(step) for step in np.diff(totals) / np.diff(marks)]


def _bars(values: Sequence[float], top: float = 1.8) -> str:
    """Numbers from 0 to ``top`` as a line of blocks.

    >>> _bars([0.0, 0.9, 1.8])
    '▁▅█'
    """
    return "".join("▁▂▃▄▅▆▇█"[max(0, min(7, int(8 * value / top)))] for value in values)


def _page(task: Task, runs: dict[str, Run], titles: dict[str, str], total: float) -> str:
    """The page as HTML: a short text and a figure of the reward a day, as SVG without scripts.

    ``titles`` has the policy of each run, as a reader would write it.
    """
    days, top = task.horizon, 2.0

    def at(day: float, value: float) -> str:
        across = _LEFT + (_WIDTH - _LEFT - 130) * day / days
        return f"{across:.1f},{(_HEIGHT - _BOTTOM) * (1 - value / top) + 8:.1f}"

    lines = []
    for value in (0.0, 0.5, 1.0, 1.5, 2.0):
        (x, y), end = at(0, value).split(","), at(days, value).split(",")[0]
        lines.append(f'<line class="grid" x1="{x}" y1="{y}" x2="{end}" y2="{y}"/>')
        lines.append(f'<text x="{float(x) - 8}" y="{float(y) + 4}" text-anchor="end">{value:g}</text>')
    for day in range(0, days + 1, 500):
        x, y = at(day, 0.0).split(",")
        lines.append(f'<text x="{x}" y="{float(y) + 18}" text-anchor="middle">{day:,}</text>')
    x, y = at(days / 2, 0.0).split(",")
    lines.append(f'<text x="{x}" y="{float(y) + 34}" text-anchor="middle">day</text>')
    ends: list[tuple[float, str, str]] = []
    for (name, run), colour in zip(runs.items(), _COLOURS, strict=True):
        values = _daily(run)
        width = days / len(values)
        points = " ".join(at((place + 0.5) * width, value) for place, value in enumerate(values))
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.4"/>')
        ends.append((float(at(days, values[-1]).split(",")[1]), name, colour))
    below = 0.0
    beside = float(at(days, 0.0).split(",")[0]) + 6
    for height, name, colour in sorted(ends):
        # Lines may end at the same height. Their names are moved down so that they do not overlap.
        below = max(height + 4, below + 16)
        lines.append(f'<text x="{beside}" y="{below:.1f}" style="fill:{colour}">{escape(name)}</text>')
    said = "; ".join(
        f"{escape(name)} ({escape(titles[name])}): regret {run.regret[-1] / total:.1%} of the optimum"
        for name, run in runs.items()
    )
    drawing = "\n".join(lines)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>rising demo</title><style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }}
svg {{ width: 100%; height: auto; }} text {{ font-size: 12px; fill: currentColor; }}
.grid {{ stroke: currentColor; opacity: 0.15; }}
</style></head><body>
<h1>A route that gets better with practice</h1>
<p>The bridge is good from the first day. The tunnel is worse at first, better with every trip, and best in the end. A
policy that looks ahead practises the tunnel early. One that looks only at the recent past goes back to the bridge
and finds the tunnel late.</p>
<svg viewBox="0 -14 {_WIDTH} {_HEIGHT + 26}" role="img" aria-label="Expected reward a day of two policies">
<text x="{_LEFT}" y="-2">expected reward a day</text>
{drawing}
</svg>
<p>{said}.</p>
</body></html>
"""
