"""Names at the ends of lines, beside the axes: moved apart, broken into lines, and joined to their lines."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_LINE = 0.062
"""The height of a line of text as a share of the height of the axes."""
_TOP = 0.98
"""The height of the highest name, which must stay below the title."""


@dataclass(frozen=True)
class End:
    """The end of a line, and its name.

    Attributes
    ----------
    name
        The name.
    value
        Where the line ends, in the units of the vertical axis.
    colour
        The colour of the name, as ``#rrggbb``.
    line
        The style of the thin line that joins the end and the name.
    bold
        Whether the name is bold.
    """

    name: str
    value: float
    colour: str
    line: str = "-"
    bold: bool = False


def broken(name: str, letters: int) -> str:
    r"""A name in lines of a number of letters; its parameters begin a line of their own.

    >>> broken("SW-CUCB", 12), broken("CRUCB (epsilon=0.25, bonus='paper')", 16)
    ('SW-CUCB', "CRUCB\n(epsilon=0.25,\nbonus='paper')")
    """
    if len(name) <= letters:
        return name
    head, bracket, rest = name.partition(" (")
    lines = textwrap.wrap(head, letters) + textwrap.wrap(bracket.strip() + rest, letters)
    return "\n".join(lines)


def shares(values: Sequence[float], low: float, high: float, *, log: bool = False) -> list[float]:
    """Values as shares of the height of an axis from ``low`` to ``high``; those outside are moved to its ends.

    >>> shares([1.0, 10.0, 0.0], 1.0, 100.0, log=True)
    [0.0, 0.5, 0.0]
    """
    inside = [min(max(value, low), high) for value in values]
    if log:
        inside, low, high = [math.log(value) for value in inside], math.log(low), math.log(high)
    return [(value - low) / (high - low) for value in inside]


def spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Heights that are at least ``gap`` apart and otherwise close to the wanted ones, which must be descending.

    >>> spread([10.0, 9.5, 2.0], gap=1.0)
    [10.25, 9.25, 2.0]
    """
    blocks: list[list[float]] = []
    for height in wanted:
        blocks.append([height, 1])
        # Heights that are too close are spaced evenly around their common mean.
        while len(blocks) > 1 and _bottom(blocks[-2], gap) < _top(blocks[-1], gap) + gap:
            (middle, count), (other, more) = blocks[-2], blocks[-1]
            blocks[-2:] = [[(middle * count + other * more) / (count + more), count + more]]
    return [middle + gap * ((count - 1) / 2 - place) for middle, count in blocks for place in range(int(count))]


def _top(block: list[float], gap: float) -> float:
    """The largest height of a block, given as its middle and its number of heights."""
    return block[0] + gap * (block[1] - 1) / 2


def _bottom(block: list[float], gap: float) -> float:
    """The smallest height of a block, given as its middle and its number of heights."""
    return block[0] - gap * (block[1] - 1) / 2


def placed(wanted: Sequence[float], gap: float) -> list[float]:
    """Heights of names beside the axes, as shares of their height: close to the wanted ones, which must be descending.

    >>> [round(height, 2) for height in placed([0.9, 0.9, 0.1], 0.1)]
    [0.95, 0.85, 0.1]
    """
    return _within(spread(wanted, gap=gap), gap)


def name_ends(
    axes: Any,
    ends: Sequence[End],
    low: float,
    high: float,
    *,
    log: bool = False,
    letters: int = 26,
    size: float | None = None,
) -> None:
    """Write names beside the axes, each at the height where its line ends, as far as there is room.

    Parameters
    ----------
    axes
        The matplotlib axes.
    ends
        The ends of the lines.
    low, high
        The limits of the vertical axis.
    log
        Whether it is logarithmic.
    letters
        How many letters fit on a line; longer names are broken.
    size
        The size of the letters in points; by default that of the figure.
    """
    ordered = sorted(ends, key=lambda end: -end.value)
    texts = [broken(end.name, letters) for end in ordered]
    counts = [text.count("\n") + 1 for text in texts]
    at = shares([end.value for end in ordered], low, high, log=log)
    # A name of several lines is placed as if each of its lines were a name.
    wanted = [height for height, count in zip(at, counts, strict=True) for _ in range(count)]
    line = min(_LINE, _TOP / max(1, len(wanted)))
    heights = placed(wanted, line)
    for end, text, start, count in zip(ordered, texts, at, counts, strict=True):
        height = sum(heights[:count]) / count
        heights = heights[count:]
        style = {"color": end.colour, "transform": axes.transAxes, "clip_on": False}
        axes.plot([1.0, 1.02, 1.04], [start, height, height], linewidth=0.8, linestyle=end.line, **style)
        axes.text(
            1.05,
            height,
            text,
            va="center",
            linespacing=1.05,
            fontsize=size,
            fontweight="bold" if end.bold else "normal",
            **style,
        )


def _within(heights: Sequence[float], gap: float) -> list[float]:
    """Descending heights moved between the ends of the axes, at least ``gap`` apart if there is room for all."""
    found: list[float] = []
    for height in heights:
        found.append(min(height, found[-1] - gap if found else _TOP))
    below = 0.0
    for place in range(len(found) - 1, -1, -1):
        found[place] = max(found[place], below)
        below = found[place] + gap
    return found
