"""The common style of all figures: every policy has the same colour and line style wherever it is drawn."""

from __future__ import annotations

import contextlib
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rising_bandits._extras import require
from rising_bandits._files import replacing
from rising_bandits.policies import BaseArmPolicy, SuperArmPolicy, classes


@dataclass(frozen=True)
class Look:
    """How a policy is drawn.

    Attributes
    ----------
    colour
        The colour, as ``#rrggbb``.
    line
        The line style, as matplotlib writes it.
    width
        The line width in points.
    """

    colour: str
    line: str
    width: float = 1.6


_VARIANTS = {
    "crucb(upward=True)": Look("#E69F00", "-", 2.4),
    "horizon-crucb(decay=0.0)": Look("#B04A8F", "-"),
    "r-ed-ucb(upward=True)": Look("#E69F00", "--"),
}
"""Looks of variants that figures show beside the policy without parameters."""
_WIDE = ("crucb", "horizon-crucb")
_OTHERS = ("#E69F00", "#56B4E9", "#8C510A", "#5E3C99", "#F0E442")
PALETTE = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C510A", "#5E3C99")
"""Colours of lines that do not stand for policies."""
EARLY, LATE = "#999999", "#D55E00"
"""Colours of early peakers and of late bloomers."""


def one_of_many(place: int) -> dict[str, Any]:
    """Colour and line style of line number ``place`` in a figure whose lines are not policies.

    When the colours are used up, they are used again with another line style.

    >>> one_of_many(0), one_of_many(len(PALETTE))
    ({'color': '#D55E00', 'linestyle': '-'}, {'color': '#D55E00', 'linestyle': '--'})
    """
    dashes = ("-", "--", ":", "-.")
    return {"color": PALETTE[place % len(PALETTE)], "linestyle": dashes[place // len(PALETTE) % len(dashes)]}


def look(label: str) -> Look:
    """The colour, line style and line width of a policy.

    Dashed lines are policies on super arms, solid lines policies on base arms, dotted lines policies that do not learn,
    and dash-dotted lines policies that the library does not know.

    Parameters
    ----------
    label
        The label of the policy's runs, such as ``crucb`` or ``crucb(epsilon=0.25)``.

    Returns
    -------
    Look
        How to draw the policy. A label that is not known gets a colour computed from its letters.

    >>> look("crucb").line, look("sw-ucb").line
    ('-', '--')
    """
    name = label.partition("(")[0]
    if label in _VARIANTS:
        return _VARIANTS[label]
    kind = classes().get(name)
    other = _OTHERS[sum(map(ord, label)) % len(_OTHERS)]
    if kind is None:
        return Look(other, "-.")
    # Dashed for policies on super arms, solid for policies on base arms, dotted for policies that do not learn.
    line = "--" if issubclass(kind, SuperArmPolicy) else "-" if issubclass(kind, BaseArmPolicy) else ":"
    return Look(kind.colour if label == name and kind.colour else other, line, 2.4 if label in _WIDE else 1.6)


def looks(labels: Iterable[str]) -> dict[str, Look]:
    """The looks of the policies of one figure, by label.

    Of several variants of a policy, the one with the shortest label gets the look of the policy itself.

    >>> found = looks(["crucb(epsilon=0.25, upward=True)", "crucb(epsilon=0.25)", "sw-ts"])
    >>> [found[label] == look("crucb") for label in found]
    [False, True, False]
    """
    plainest: dict[str, str] = {}
    for label in sorted(labels := list(labels), key=len):
        plainest.setdefault(label.partition("(")[0], label)
    names = [label.partition("(")[0] for label in labels]
    found: dict[str, Look] = {}
    for label, name in zip(labels, names, strict=True):
        wanted = look(name if plainest[name] == label else label)
        used = {(other.colour, other.line) for other in found.values()}
        # Two policies of one figure never look the same.
        free = (Look(colour, wanted.line, wanted.width) for colour in (wanted.colour, *_OTHERS, *PALETTE))
        found[label] = next((one for one in free if (one.colour, one.line) not in used), wanted)
    return found


def title(label: str) -> str:
    """The name of a policy in figures and tables.

    Parameters
    ----------
    label
        The label of the policy's runs, such as ``crucb`` or ``crucb(epsilon=0.25)``.

    >>> title("sw-cucb"), title("crucb(epsilon=0.25)"), title("my_bandits:Cure(k=3)")
    ('SW-CUCB', 'CRUCB (epsilon=0.25)', 'Cure (k=3)')
    """
    name, bracket, rest = label.partition("(")
    # A policy of one's own is named by its class; its module says nothing to a reader.
    name = name.rpartition(":")[2]
    kind = classes().get(name)
    return (kind.title if kind is not None and kind.title else name) + (f" ({rest}" if bracket else "")


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


def wrapped(text: str, inches: float, size: float = 11.0) -> str:
    r"""A title in lines that fit a width, given the size of its letters in points.

    >>> wrapped("a title of several words", 1.0).count("\n")
    2
    """
    return textwrap.fill(text, max(8, int(inches * 72 / (0.56 * size))), break_long_words=True)


def short(text: str, letters: int) -> str:
    """A text cut to a number of letters, with a mark where it was cut.

    >>> short("supplier number 12", 10)
    'supplier …'
    """
    return text if len(text) <= letters else text[: letters - 1] + "…"


@contextlib.contextmanager
def figure(width: float = 6.4, height: float = 4.0) -> Iterator[tuple[Any, Any]]:
    """An empty figure with one pair of axes in the common style; sizes are in inches."""
    with figures(width, height) as (drawing, axes):
        yield drawing, axes[0]


@contextlib.contextmanager
def figures(width: float, height: float, widths: Sequence[float] = (1.0,)) -> Iterator[tuple[Any, list[Any]]]:
    """An empty figure with axes side by side in the common style, their widths in proportion to ``widths``."""
    require("lab", "matplotlib")
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    settings: dict[Any, Any] = {
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": "#E5E5E5",
        "grid.linewidth": 0.6,
        "axes.edgecolor": "#666666",
        "axes.titlesize": 11,
        "axes.titlelocation": "left",
        "svg.hashsalt": "rising-bandits",
    }
    with mpl.rc_context(settings):
        drawing = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(drawing)
        row = drawing.subplots(1, len(widths), width_ratios=widths, squeeze=False)[0]
        for axes in row:
            axes.set_axisbelow(True)
        yield drawing, list(row)


def save(drawing: Any, path: Path) -> list[Path]:
    """Write a figure, and return the paths of its files.

    A path that ends with ``.pdf`` gives one PDF file. Any other gives a PNG and an SVG file; its suffix is replaced.
    """
    kinds: dict[str, dict[str, Any]] = {".png": {"dpi": 200}, ".svg": {"metadata": {"Date": None}}}
    if path.suffix == ".pdf":
        kinds = {".pdf": {"metadata": {"CreationDate": None}}}
    written = []
    for suffix, options in kinds.items():
        target = path.with_suffix(suffix)
        with replacing(target) as aside:
            drawing.savefig(aside, format=suffix[1:], **options)
        written.append(target)
    return written
