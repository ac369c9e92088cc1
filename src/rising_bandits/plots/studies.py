"""Figures of studies: why a decision was made, and what has been learnt so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rising_bandits._checks import Floats
from rising_bandits.plots.diagnosis import running_mean
from rising_bandits.plots.glyphs import Plain, plain_text
from rising_bandits.plots.style import figures, save
from rising_bandits.problems.base import Problem
from rising_bandits.studies import Explanation, Reason, Scale, Study
from rising_bandits.studies.reports.units import better, total

PARTS = {
    "recent average": ("recent_average", "#0072B2"),
    "predicted improvement": ("predicted_improvement", "#E69F00"),
    "bonus": ("bonus", "#BBBBBB"),
}
"""The parts of an index by their title: the attribute of `Reason` and the colour."""
MOST_ARMS = 15
"""How many arms have a bar at most."""
MOST_LINES = 6
"""How many arms have a line at most."""
MOST_ROWS = 50_000
"""How many outcomes of the history are read at most: the newest."""
_COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def draw_explanation(axes: Any, explanation: Explanation, plain: Plain | None = None) -> None:
    """Draw a bar for each arm, made of the parts of its index: the chosen super arm above, the runner-up below.

    Parameters
    ----------
    axes
        The matplotlib axes to draw on.
    explanation
        What `Study.explain` or `Decision.explain` returned.
    plain
        Makes texts that can be drawn, see `rising_bandits.plots.glyphs`.
    """
    plain = Plain(set()) if plain is None else plain
    groups: list[tuple[str, list[Reason]]] = [("chosen", explanation.chosen.reasons)]
    if explanation.runner_up is not None:
        groups.append(("runner-up", explanation.runner_up.reasons))
    at = 0.0
    places: list[float] = []
    names: list[str] = []
    heads: list[int] = []
    named: set[str] = set()
    for name, reasons in groups:
        # Headings stand beside the axis, as labels do, so that no line runs through them.
        heads.append(len(places))
        places.append(at - 0.8)
        names.append(name)
        for reason in reasons:
            # Negative parts are stacked to the left of 0 and positive ones to the right, so that none is hidden.
            ends = {True: 0.0, False: 0.0}
            for title, (part, colour) in PARTS.items():
                length = getattr(reason, part)
                if length is not None:
                    name_it = None if title in named else title
                    axes.barh(at, length, left=ends[length < 0], height=0.6, color=colour, label=name_it)
                    ends[length < 0] += length
                    named.add(title)
            if reason.index is None and reason.plays is not None:
                box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
                axes.annotate(
                    "first plays", (0.0, at), (6, 0), textcoords="offset points", va="center", fontsize=8, bbox=box
                )
            elif reason.index is not None:
                axes.plot([reason.index] * 2, [at - 0.38, at + 0.38], color="black", linewidth=2)
            places.append(at)
            plays = "" if reason.plays is None else f"  ({reason.plays} play{'' if reason.plays == 1 else 's'})"
            names.append(plain(reason.label) + plays)
            at += 1.0
        at += 1.0
    for place, label in enumerate(axes.set_yticks(places, names, fontsize=9)):
        label.tick1line.set_visible(place not in heads)
        if place in heads:
            label.label1.set_fontweight("bold")
    axes.set_ylim(at - 1.2, -1.3)
    axes.grid(axis="y", visible=False)
    axes.axvline(0.0, color="#666666", linewidth=0.8)
    zero, one = explanation.scale.text(0.0), explanation.scale.text(1.0)
    range_of = (
        f", 0 is {zero}, 1 is {one}" if explanation.unit and "–" not in (zero, one) else ", 1 is the best outcome"
    )
    axes.set_xlabel(f"value{plain(range_of, 60)}\n(upright mark: the index, the sum of the parts)", fontsize=9)


def plot_explanation(explanation: Explanation, path: str | Path) -> list[Path]:
    """Write a figure of why a decision was made as PNG and SVG.

    Parameters
    ----------
    explanation
        What `Study.explain` or `Decision.explain` returned.
    path
        The file to write; its suffix is replaced by ``.png`` and by ``.svg``.

    Returns
    -------
    list of Path
        The PNG file and the SVG file.
    """
    count = len(explanation.chosen.reasons) + (
        0 if explanation.runner_up is None else len(explanation.runner_up.reasons)
    )
    shown = [
        reason.label for choice in (explanation.chosen, explanation.runner_up) if choice for reason in choice.reasons
    ]
    texts = [explanation.study, explanation.unit, *shown]
    size = 6.4, 1.7 + 0.34 * (count + 2)
    with plain_text(texts) as plain, figures(*size) as (drawing, (axes,)):
        draw_explanation(axes, explanation, plain)
        margin = "" if explanation.margin is None else f", ahead by {explanation.margin:.3g}"
        if explanation.total_margin is not None:
            margin = f", recently {plain(better(explanation.total_margin, explanation.scale))}"
        axes.set_title(f"{plain(explanation.study, 20)}: decision {explanation.decision}{margin}", pad=24, fontsize=10)
        handles, labels = axes.get_legend_handles_labels()
        if handles:
            place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2}
            axes.legend(handles, labels, ncols=3, frameon=False, fontsize=8, **place)
        return save(drawing, path)


def draw_plays(axes: Any, plays: Mapping[str, int], plain: Plain) -> list[str]:
    """Draw how often each arm was played, the most played on top; returns the labels of the arms drawn."""
    from matplotlib.ticker import MaxNLocator

    shown = sorted(plays, key=lambda arm: -plays[arm])[:MOST_ARMS]
    axes.barh(range(len(shown)), [plays[arm] for arm in shown], color="#0072B2", height=0.65)
    axes.set_yticks(range(len(shown)), [plain(arm) for arm in shown], fontsize=9)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    more = len(plays) - len(shown)
    axes.set_xlabel("plays" + (f" ({more} more arm{'' if more == 1 else 's'} not drawn)" if more else ""))
    return shown


def draw_outcomes(axes: Any, table: Any, arms: Sequence[str], scale: Scale, plain: Plain) -> None:
    """Draw the outcomes of a few arms by play, as running means.

    As in reports, the mean is taken of values on the scale from 0 to 1 and then converted to the user's unit.
    """
    from matplotlib.ticker import MaxNLocator

    for arm, colour in zip(arms[:MOST_LINES], _COLOURS, strict=False):
        mine = table[(table["arm"] == arm) & ~table["forgotten"]]
        values = mine["value"].to_numpy(dtype=np.float64)
        if values.size == 0:
            continue
        means = [scale.outcome(value) for value in running_mean(values, width=max(2, values.size // 15))]
        line = [np.nan if mean is None else mean for mean in means]
        mark = "o" if values.size < 3 else None
        axes.plot(mine["play"].to_numpy(), line, color=colour, label=plain(arm), marker=mark, linewidth=1.6)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
    axes.set_xlabel("play of the arm")
    axes.set_ylabel("outcome" + (f" ({plain(scale.unit)})" if scale.unit else "") + ", running mean")
    if axes.get_legend_handles_labels()[0]:
        # Beside the axes it covers no line.
        axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.0)


def rewards(table: Any, problem: Problem, scale: Scale) -> tuple[Floats, str]:
    """What each decision earned, in the order of learning.

    Parameters
    ----------
    table
        Rows of `Study.history`.
    problem
        The problem of the study.
    scale
        The scale of the study.

    Returns
    -------
    tuple
        A number per decision, and what it is: the total in the user's unit, where all decisions have one, or the
        reward from values in [0, 1]. Decisions of arms that the problem lacks are left out.
    """
    totals: list[float | None] = []
    earned: list[float] = []
    known = {str(label) for label in problem.labels}
    made = table[table["decision_id"].notna()]
    for _, rows in made.groupby("decision_id", sort=False):
        arms = [str(arm) for arm in rows["super_arm"].iloc[0]]
        if not known.issuperset(arms):
            continue
        told = dict(zip(rows["arm"].map(str), rows["value"], strict=True))
        raw = dict(zip(rows["arm"].map(str), rows["outcome"], strict=True))
        earned.append(problem.reward.combine(np.array([told.get(arm, 0.0) for arm in arms])))
        whole = len(raw) == len(arms)
        totals.append(total(problem.reward, scale, [raw[arm] for arm in arms]) if whole else None)
    if None in totals:
        return np.array(earned), "reward of a decision"
    unit = f" ({scale.unit})" if scale.unit else ""
    return np.array(totals, dtype=np.float64), f"total of a decision{unit}"


def draw_rewards(axes: Any, earned: Floats, name: str) -> None:
    """Draw what the decisions earned over time: a dot each, and their running mean."""
    from matplotlib.ticker import MaxNLocator

    place = np.arange(1, earned.size + 1)
    step = max(1, earned.size // 2_000)
    axes.plot(place[::step], earned[::step], ".", color="#BBBBBB", markersize=3, label="each")
    axes.plot(place, running_mean(earned, width=max(2, earned.size // 15)), color="#D55E00", label="running mean")
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
    axes.set_xlabel("decision that was told, oldest first")
    axes.set_ylabel(name)
    axes.legend(frameon=False, fontsize=8, ncols=2, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2)


def plot_study(study: Study, path: str | Path) -> list[Path]:
    """Write a figure of what a study has learnt as PNG and SVG: plays, newest outcomes, and what decisions earned.

    Parameters
    ----------
    study
        The study.
    path
        The file to write; its suffix is replaced by ``.png`` and by ``.svg``.

    Returns
    -------
    list of Path
        The PNG file and the SVG file.
    """
    table = study.history(last=MOST_ROWS)
    # A label may be a tuple, which pandas would read as several keys.
    table["arm"] = [str(arm) for arm in table["arm"]]
    plays = {str(arm): count for arm, count in study.plays().items()}
    scale, problem = study.scale, study.problem
    texts = [study.name, scale.unit, *plays]
    with plain_text(texts) as plain, figures(11.0, 3.6, (1.0, 1.25, 1.25)) as (drawing, (left, middle, right)):
        earned, name = rewards(table, problem, scale)
        if not any(plays.values()):
            told = "no plays since the start or reset" if len(table) else "nothing was told yet"
            left.text(0.5, 0.5, told, ha="center", va="center", transform=left.transAxes)
            left.set_axis_off()
            middle.set_axis_off()
        else:
            draw_outcomes(middle, table, draw_plays(left, plays, plain), scale, plain)
        if earned.size:
            draw_rewards(right, earned, plain(name, 60))
        else:
            right.set_axis_off()
        left.set_title(f"{plain(study.name)}: round {study.policy.round}")
        return save(drawing, path)
