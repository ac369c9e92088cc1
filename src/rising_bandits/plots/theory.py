"""Figures of the theory: growth of outcomes, exponents of the bounds, and bounds compared with measured regret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rising_bandits._checks import Floats
from rising_bandits.plots.ends import spread
from rising_bandits.plots.looks import look
from rising_bandits.plots.names import title
from rising_bandits.theory import lower_rate, upper_rate
from rising_bandits.theory.checks import Concentration

_PALETTE = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#000000")


def draw_growth(axes: Any, exponents: Sequence[float] = (2.0, 1.2, 1.0, 0.5), plays: int = 100) -> None:
    """Draw mean outcomes whose slopes fall like exp(-n) or (n+1)^(-c), scaled to end at 1."""
    n = np.arange(1, plays + 1)
    families = {"$e^{-n}$": np.exp(-n.astype(float))}
    families |= {f"$(n+1)^{{-{c:g}}}$": (n + 1.0) ** -c for c in exponents}
    for (name, slopes), colour in zip(families.items(), _PALETTE, strict=True):
        means = np.concatenate([[0.0], np.cumsum(slopes)])
        axes.plot(np.arange(plays + 1), means / means[-1], color=colour, linewidth=1.8, label=name)
    axes.legend(loc="lower right", frameon=False, title="slope at play n", fontsize=9, title_fontsize=9)
    axes.set_xlabel("plays n")
    axes.set_ylabel("mean outcome")
    axes.set_xlim(0, plays)
    axes.set_ylim(0, 1.03)


def draw_rates(axes: Any) -> None:
    """Draw the exponents of T in the upper and in the lower bound against c."""
    c = np.linspace(0.6, 1.98, 300)
    upper, lower = [upper_rate(x) for x in c], [lower_rate(x) for x in c]
    axes.fill_between(c, lower, upper, color="#DDDDDD", linewidth=0)
    axes.plot(c, upper, color="#0072B2", linewidth=2)
    axes.plot(c, lower, color="#D55E00", linewidth=2)
    axes.text(1.35, 0.80, "upper bound of CRUCB", color="#0072B2", va="bottom")
    axes.text(1.2, 0.55, "lower bound of\nevery policy", color="#D55E00", va="center", ha="center")
    axes.set_xlabel("slopes fall like $(n+1)^{-c}$: c")
    axes.set_ylabel("exponent of T in the regret")
    axes.set_ylim(0.45, 1.05)
    axes.set_xlim(float(c[0]), float(c[-1]))


def draw_bounds(axes: Any, rows: Sequence[tuple[str, float, float]]) -> None:
    """Draw for each task the measured regret and the upper bound, both as shares of the largest possible regret.

    Each row is (task, measured share, share of the bound).
    """
    places = np.arange(len(rows))[::-1]
    for place, (_, measured, bound) in zip(places, rows, strict=True):
        # Only the first row names the marks, above the axes.
        first = place == places[0]
        axes.plot([measured, bound], [place, place], color="#CCCCCC", linewidth=1.5, zorder=1)
        axes.scatter(measured, place, color="#D55E00", s=40, zorder=2, label="measured" if first else None)
        words = "bound of Theorem 3" if first else None
        axes.scatter(bound, place, color="#0072B2", s=40, marker="s", zorder=2, label=words)
    axes.axvline(1.0, color="#444444", linestyle=":", linewidth=1.2)
    axes.text(1.12, -0.45, "a bound beyond 1\nsays nothing", color="#666666", fontsize=8, va="bottom")
    axes.set_xscale("log")
    axes.set_xlim(0.5 * min(row[1] for row in rows), 25.0 * max(1.0, *(row[2] for row in rows)))
    axes.set_yticks(places, [name for name, _, _ in rows])
    axes.set_ylim(-0.7, len(rows) - 0.4)
    axes.set_xlabel("regret as a share of the largest possible regret")
    axes.legend(frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2)


def draw_lower_bound(
    axes: Any, horizons: Sequence[int], worst: Mapping[str, Floats], floor: Floats, heading: str
) -> None:
    """Draw, by horizon, the larger of each policy's regrets on instances A and B, and the lower bound."""
    # Lines may lie on each other, so dashed ones are drawn last.
    for label, values in sorted(worst.items(), key=lambda item: look(item[0]).line == "--"):
        style = look(label)
        axes.plot(
            horizons,
            values,
            color=style.colour,
            linestyle=style.line,
            linewidth=style.width,
            marker="o",
            markersize=3,
            label=title(label),
        )
    axes.plot(horizons, floor, color="#000000", linewidth=1.4, linestyle=(0, (1, 1)), label="lower bound")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.annotate("lower bound", (horizons[1], floor[1]), (6, -11), textcoords="offset points", fontsize=9)
    axes.set_xlabel("horizon T")
    axes.set_ylabel("larger regret of A and B")
    axes.margins(x=0.02)
    axes.set_title(heading, fontsize=10)


def draw_concentration(axes: Any, measured: Sequence[Concentration]) -> None:
    """Draw by round the share of runs with an estimate beyond its bonus, and the limit 2K / t^2 of the lemma."""
    # A share of less than one run cannot be measured. The limit ends there, and a measured 0 is drawn below that line.
    least, floor = 1.0 / measured[0].runs, 0.5 / measured[0].runs
    seen = measured[0].allowed >= least
    rounds, allowed = measured[0].rounds[seen], measured[0].allowed[seen]
    axes.plot(rounds, allowed, color="#000000", linewidth=1.4, linestyle=(0, (1, 1)))
    axes.annotate("limit 2K/t²", (rounds[-1], allowed[-1]), (4, 4), textcoords="offset points")
    for place, result in enumerate(measured):
        shown = np.maximum(result.frequency, floor * 0.75**place)
        axes.plot(result.rounds, shown, color=_PALETTE[place], marker="o", markersize=3)
        axes.text(result.rounds[-1], shown[-1], f" {result.constant:g} log t", color=_PALETTE[place], va="center")
    axes.axhline(least, color="#BBBBBB", linewidth=0.8)
    words = f"below: not once in {measured[0].runs:,} runs"
    axes.text(measured[0].rounds[0], 0.93 * least, words, va="top", color="#777777", fontsize=9)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("round t")
    axes.set_ylabel("share of runs with an\nestimate beyond its bonus")


def draw_plays(axes: Any, shares: Mapping[str, Floats], labels: Sequence[str]) -> None:
    """Draw the share of rounds in which each policy played each arm, as bars side by side."""
    width = 0.8 / len(shares)
    for place, (policy, values) in enumerate(shares.items()):
        at = np.arange(len(labels)) + (place - (len(shares) - 1) / 2) * width
        axes.bar(at, values, 0.92 * width, color=look(policy).colour, label=title(policy))
    axes.set_xticks(range(len(labels)), labels)
    axes.set_ylabel("share of rounds played")
    axes.set_ylim(0, 1.02)
    axes.grid(axis="x", visible=False)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def draw_sensitivity(axes: Any, curves: Mapping[str, tuple[Floats, Floats]], heading: str) -> None:
    """Draw mean regret by round for several settings, from light to dark in the order given. Names are at line ends."""
    ordered = sorted(curves.items(), key=lambda item: -float(item[1][1][-1]))
    shade = {name: 0.75 - 0.75 * place / max(1, len(curves) - 1) for place, name in enumerate(curves)}
    top = max(float(regret.max()) for _, regret in curves.values()) / 1e3
    heights = spread([float(regret[-1]) / 1e3 for _, (_, regret) in ordered], 0.07 * top)
    for (name, (rounds, regret)), height in zip(ordered, heights, strict=True):
        colour = (0.84 * (1 - shade[name]) + shade[name] * 0.9, 0.37 + 0.45 * shade[name], 0.55 * shade[name])
        axes.plot(rounds / 1e3, regret / 1e3, color=colour, linewidth=1.8)
        axes.text(1.02 * float(rounds[-1]) / 1e3, height, name, color=colour, va="center")
    axes.set_xlim(0, float(ordered[0][1][0][-1]) / 1e3)
    axes.set_xlabel("round (thousands)")
    axes.set_title(heading, fontsize=10)
