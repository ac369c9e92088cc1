"""Figures of studies: why a decision was made, and what has been learnt so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rising_bandits._text import figure_text
from rising_bandits.plots.diagnosis import running_mean
from rising_bandits.plots.style import figures, save
from rising_bandits.studies import Explanation, Reason, Scale, Study

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


def _short(label: str, width: int = 26) -> str:
    """A label cut to ``width`` letters, drawn as it is."""
    return figure_text(label, width)


def draw_explanation(axes: Any, explanation: Explanation) -> None:
    """Draw a bar for each arm, made of the parts of its index: the chosen super arm above, the runner-up below.

    Parameters
    ----------
    axes
        The matplotlib axes to draw on.
    explanation
        What `Study.explain` or `Decision.explain` returned.
    """
    groups: list[tuple[str, list[Reason]]] = [("chosen", explanation.chosen.reasons)]
    if explanation.runner_up is not None:
        groups.append(("runner-up", explanation.runner_up.reasons))
    at, places, names = 0.0, [], []
    named: set[str] = set()
    for name, reasons in groups:
        axes.text(0.012, at - 0.75, name, fontweight="bold", fontsize=9, transform=axes.get_yaxis_transform())
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
                axes.text(0.01, at, "first plays", va="center", fontsize=8, color="#555555")
            elif reason.index is not None:
                axes.plot([reason.index] * 2, [at - 0.38, at + 0.38], color="black", linewidth=2)
            places.append(at)
            plays = "" if reason.plays is None else f"  ({reason.plays} play{'' if reason.plays == 1 else 's'})"
            names.append(_short(reason.label) + plays)
            at += 1.0
        at += 1.0
    axes.set_yticks(places, names, fontsize=9)
    axes.set_ylim(at - 1.2, -1.3)
    axes.grid(axis="y", visible=False)
    axes.axvline(0.0, color="#666666", linewidth=0.8)
    axes.set_xlabel("index, on the scale from 0 to 1 (black mark: the sum)")


def plot_explanation(explanation: Explanation, path: Path | str) -> list[Path]:
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
    with figures(6.4, 1.7 + 0.34 * (count + 2)) as (drawing, (axes,)):
        draw_explanation(axes, explanation)
        margin = "" if explanation.margin is None else f", ahead by {explanation.margin:.3g}"
        axes.set_title(f"{_short(explanation.study)}: decision {explanation.decision}{margin}", pad=24)
        handles, labels = axes.get_legend_handles_labels()
        if handles:
            place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2}
            axes.legend(handles, labels, ncols=3, frameon=False, fontsize=8, **place)
        return save(drawing, Path(path))


def draw_plays(axes: Any, plays: Mapping[str, int]) -> list[str]:
    """Draw how often each arm was played, the most played on top; returns the labels of the arms drawn."""
    from matplotlib.ticker import MaxNLocator

    shown = sorted(plays, key=lambda arm: -plays[arm])[:MOST_ARMS]
    axes.barh(range(len(shown)), [plays[arm] for arm in shown], color="#0072B2", height=0.65)
    axes.set_yticks(range(len(shown)), [_short(arm) for arm in shown], fontsize=9)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    more = len(plays) - len(shown)
    axes.set_xlabel("plays" + (f" ({more} more arm{'' if more == 1 else 's'} not drawn)" if more else ""))
    return shown


def draw_outcomes(axes: Any, table: Any, arms: Sequence[str], scale: Scale) -> None:
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
        axes.plot(mine["play"].to_numpy(), line, color=colour, label=_short(arm), marker=mark, linewidth=1.6)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
    axes.set_xlabel("play of the arm")
    axes.set_ylabel("outcome" + (f" ({figure_text(scale.unit)})" if scale.unit else "") + ", running mean")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize=8)


def plot_study(study: Study, path: Path | str) -> list[Path]:
    """Write a figure of what a study has learnt as PNG and SVG: the plays of its arms, and their newest outcomes.

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
    with figures(9.6, 4.2, (1.0, 1.25)) as (drawing, (left, right)):
        if not any(plays.values()):
            told = "no arm was played since it began" if len(table) else "nothing was told yet"
            left.text(0.5, 0.5, told, ha="center", va="center", transform=left.transAxes)
            left.set_axis_off()
            right.set_axis_off()
        else:
            draw_outcomes(right, table, draw_plays(left, plays), study.scale)
        left.set_title(f"{_short(study.name)}: round {study.policy.round}")
        return save(drawing, Path(path))
