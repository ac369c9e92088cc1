"""One look for every figure: a colour and a line for each policy, wherever it appears."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rising_bandits._extras import require
from rising_bandits.policies import BaseArmPolicy, SuperArmPolicy, classes


@dataclass(frozen=True)
class Look:
    """How a policy is drawn."""

    colour: str
    line: str
    width: float = 1.6


_VARIANTS = {
    "crucb(upward=True)": Look("#E69F00", "-", 2.4),
    "horizon-crucb(decay=0.0)": Look("#B04A8F", "-"),
    "r-ed-ucb(upward=True)": Look("#E69F00", "--"),
}
"""Variants that are drawn beside the policy itself."""
_WIDE = ("crucb", "horizon-crucb")
_OTHERS = ("#E69F00", "#56B4E9", "#8C510A", "#5E3C99", "#F0E442")
PALETTE = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C510A", "#5E3C99")
"""Colours of lines that are not policies."""
EARLY, LATE = "#999999", "#D55E00"
"""Early peakers and late bloomers."""


def one_of_many(place: int) -> dict[str, Any]:
    """Colour and dashes of a line that is no policy; where the colours are used up, they come again with other dashes.

    >>> one_of_many(0), one_of_many(len(PALETTE))
    ({'color': '#D55E00', 'linestyle': '-'}, {'color': '#D55E00', 'linestyle': '--'})
    """
    dashes = ("-", "--", ":", "-.")
    return {"color": PALETTE[place % len(PALETTE)], "linestyle": dashes[place // len(PALETTE) % len(dashes)]}


def look(label: str) -> Look:
    """The look of a policy, by the label of its runs; policies that are not known get one by their name."""
    name = label.partition("(")[0]
    if label in _VARIANTS:
        return _VARIANTS[label]
    kind = classes().get(name)
    other = _OTHERS[sum(map(ord, label)) % len(_OTHERS)]
    if kind is None:
        return Look(other, "-.")
    # Dashed lines for policies on super arms, solid ones for base arms, dots for those that learn nothing.
    line = "--" if issubclass(kind, SuperArmPolicy) else "-" if issubclass(kind, BaseArmPolicy) else ":"
    return Look(kind.colour if label == name and kind.colour else other, line, 2.4 if label in _WIDE else 1.6)


def looks(labels: Iterable[str]) -> dict[str, Look]:
    """The looks of the policies of one figure: of each policy the variant with the fewest words looks as itself.

    >>> found = looks(["crucb(epsilon=0.25, upward=True)", "crucb(epsilon=0.25)", "sw-ts"])
    >>> [found[label] == look("crucb") for label in found]
    [False, True, False]
    """
    plainest: dict[str, str] = {}
    for label in sorted(labels := list(labels), key=len):
        plainest.setdefault(label.partition("(")[0], label)
    names = [label.partition("(")[0] for label in labels]
    return {label: look(name if plainest[name] == label else label) for label, name in zip(labels, names, strict=True)}


def title(label: str) -> str:
    """The name of a policy as a figure writes it.

    >>> title("sw-cucb"), title("crucb(epsilon=0.25)")
    ('SW-CUCB', 'CRUCB (epsilon=0.25)')
    """
    name, bracket, rest = label.partition("(")
    kind = classes().get(name)
    return (kind.title if kind is not None and kind.title else name) + (f" ({rest}" if bracket else "")


def spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Heights as near as may be to those wanted (falling), at least ``gap`` apart.

    >>> spread([10.0, 9.5, 2.0], gap=1.0)
    [10.25, 9.25, 2.0]
    """
    blocks: list[list[float]] = []
    for height in wanted:
        blocks.append([height, 1])
        # Labels that overlap are pushed apart evenly around their common middle.
        while len(blocks) > 1 and _bottom(blocks[-2], gap) < _top(blocks[-1], gap) + gap:
            (middle, count), (other, more) = blocks[-2], blocks[-1]
            blocks[-2:] = [[(middle * count + other * more) / (count + more), count + more]]
    return [middle + gap * ((count - 1) / 2 - place) for middle, count in blocks for place in range(int(count))]


def _top(block: list[float], gap: float) -> float:
    return block[0] + gap * (block[1] - 1) / 2


def _bottom(block: list[float], gap: float) -> float:
    return block[0] - gap * (block[1] - 1) / 2


@contextlib.contextmanager
def figure(width: float = 6.4, height: float = 4.0) -> Iterator[tuple[Any, Any]]:
    """An empty figure and its axes in the house style."""
    with figures(width, height) as (drawing, axes):
        yield drawing, axes[0]


@contextlib.contextmanager
def figures(width: float, height: float, widths: Sequence[float] = (1.0,)) -> Iterator[tuple[Any, list[Any]]]:
    """A figure with axes side by side, as wide as ``widths`` in proportion, in the house style."""
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
    """Write a figure as PNG and as SVG beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written = []
    for suffix, options in ((".png", {"dpi": 200}), (".svg", {"metadata": {"Date": None}})):
        target = path.with_suffix(suffix)
        aside = target.with_name(f".{target.name}.tmp{suffix}")
        drawing.savefig(aside, **options)
        aside.replace(target)
        written.append(target)
    return written
