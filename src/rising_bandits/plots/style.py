"""The common style of all figures: every policy has the same colour and line style wherever it is drawn."""

from __future__ import annotations

import ast
import contextlib
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rising_bandits import _checks
from rising_bandits._extras import require
from rising_bandits._files import replacing
from rising_bandits.errors import InputError
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
_WIDE = ("crucb", "horizon-crucb", "foresight")
_OTHERS = ("#E69F00", "#56B4E9", "#8C510A", "#1B8A8A", "#8A7D00")
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


def _has_own(label: str) -> bool:
    """Whether a colour belongs to this policy or variant, rather than being computed from the letters of its label."""
    kind = classes().get(label)
    return label in _VARIANTS or (kind is not None and bool(kind.colour))


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
    names = {label: label.partition("(")[0] for label in labels}
    called = {label: name if plainest[name] == label else label for label, name in names.items()}
    wanted = {label: look(name) for label, name in called.items()}
    # Colours that belong to a policy are given first; the other policies share what is left.
    own = [label for label in labels if _has_own(called[label])]
    found: dict[str, Look] = {}
    for label in [*own, *(label for label in labels if label not in own)]:
        mine = wanted[label]
        colours = {other.colour for other in found.values()}
        used = {(other.colour, other.line) for other in found.values()}
        choice = [mine.colour, *_OTHERS, *PALETTE]
        # Two policies of one figure never look the same, and they share a colour only where colours run out.
        free = [colour for colour in choice if colour not in colours] if label not in own else []
        free += [colour for colour in choice if (colour, mine.line) not in used]
        found[label] = Look(free[0], mine.line, mine.width) if free else mine
    return {label: found[label] for label in labels}


def title(label: str) -> str:
    """The name of a policy in figures and tables.

    Parameters
    ----------
    label
        The label of the policy's runs, such as ``crucb`` or ``crucb(epsilon=0.25)``.

    >>> title("sw-cucb"), title("crucb(epsilon=0.25, upward=True)"), title("my_bandits:Cure(k=3)")
    ('SW-CUCB', 'CRUCB (ε = 0.25, upward slopes)', 'Cure (k = 3)')
    """
    name, bracket, rest = label.partition("(")
    # A policy of one's own is named by its class; its module says nothing to a reader.
    name = name.rpartition(":")[2]
    kind = classes().get(name)
    return (kind.title if kind is not None and kind.title else name) + (f" ({_said(rest)})" if bracket else "")


_SYMBOLS = {"epsilon": "ε", "sigma": "σ", "delta": "δ"}
_SAYINGS = {
    ("upward", "True"): "upward slopes",
    ("upward", "False"): "all slopes",
    ("bonus", "'paper'"): "bonus 30 log t",
    ("bonus", "'reference'"): "bonus 4 log t",
    ("bonus", "'proved'"): "proved bonus",
}


def _said(parameters: str) -> str:
    """Parameters as a reader would write them, given as ``epsilon=0.25, upward=True)``."""
    try:
        call = ast.parse(f"f({parameters}", mode="eval").body
    except SyntaxError:
        return parameters.removesuffix(")")
    said = []
    for part in getattr(call, "keywords", ()):
        value = ast.unparse(part.value)
        word = _SYMBOLS.get(part.arg, str(part.arg).replace("_", " "))
        plain = {"True": word, "False": f"no {word}", "None": f"no {word}"}.get(value)
        if value[0] in "'\"":
            plain = f"{word} {value[1:-1]}"
        elif plain is None:
            # 1.0 is written 1, as people do.
            plain = f"{word} = {value.removesuffix('.0')}"
        said.append(_SAYINGS.get((str(part.arg), value), plain))
    return ", ".join(said)


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
    most = max(8, int(inches * 72 / (0.56 * size)))
    count = len(textwrap.wrap(text, most))
    # The narrowest lines that are not more in number: no last line with a single word.
    widths = range(max(8, len(text) // max(1, count)), most + 1)
    return "\n".join(next(lines for width in widths if len(lines := textwrap.wrap(text, width)) <= count))


def short(text: str, letters: int) -> str:
    """A text cut to a number of letters. It is cut in the middle, because names often differ at their ends.

    >>> short("supplier number 12", 10)
    'suppl…r 12'
    """
    if len(text) <= letters:
        return text
    tail = (letters - 1) // 2
    return f"{text[: letters - 1 - tail]}…{text[len(text) - tail :]}"


@dataclass(frozen=True)
class Theme:
    """What `theme` sets: a width in inches, dark colours, and the formats of files; None for those of each figure."""

    width: float | None = None
    dark: bool = False
    formats: tuple[str, ...] | None = None

    @property
    def narrow(self) -> bool:
        """Whether figures have smaller letters, and panels below each other."""
        return self.width is not None and self.width < _NARROW


_NARROW = 5.0
"""Figures of fewer inches have smaller letters."""
_SMALL = 7.5
"""The size of letters in such figures, in points."""
_KINDS: dict[str, dict[str, Any]] = {
    "png": {"dpi": 200},
    "svg": {"metadata": {"Date": None}},
    "pdf": {"metadata": {"CreationDate": None}},
}
_USUAL = Theme()
_theme: ContextVar[Theme] = ContextVar("theme", default=_USUAL)


def current() -> Theme:
    """The theme of the figures that are drawn now."""
    return _theme.get()


@contextlib.contextmanager
def theme(*, width: float | None = None, dark: bool = False, formats: Sequence[str] | None = None) -> Iterator[None]:
    """Draw every figure of a block in another width, in dark colours, or to files of other formats.

    Parameters
    ----------
    width
        The width of the figures in inches; 3.4 fits a column of a paper. By default each figure has its own.
    dark
        Whether figures are light on dark.
    formats
        Some of ``png``, ``svg`` and ``pdf``. By default PNG and SVG, or PDF where the name of a file ends so.

    Raises
    ------
    InputError
        The width is below 2 inches, or a format is not known.

    >>> with theme(width=3.4, formats=["pdf"]):
    ...     current().narrow
    True
    """
    if width is not None:
        _checks.number("width", width, low=2.0)
    for name in formats or ():
        if name not in _KINDS:
            raise InputError(f"formats must be some of {', '.join(_KINDS)}, got {name!r}")
    token = _theme.set(Theme(width, dark, None if formats is None else tuple(formats)))
    try:
        yield
    finally:
        _theme.reset(token)


@contextlib.contextmanager
def figure(width: float = 6.4, height: float = 4.0) -> Iterator[tuple[Any, Any]]:
    """An empty figure with one pair of axes in the common style; sizes are in inches."""
    with figures(width, height) as (drawing, axes):
        yield drawing, axes[0]


@contextlib.contextmanager
def figures(width: float, height: float, widths: Sequence[float] = (1.0,)) -> Iterator[tuple[Any, list[Any]]]:
    """An empty figure with axes side by side in the common style, their widths in proportion to ``widths``.

    In a narrow `theme` the axes stand below each other.
    """
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
    wanted = current()
    stacked = wanted.narrow and len(widths) > 1
    if wanted.width is not None:
        # Narrow figures are higher in proportion, since letters do not shrink as much; panels stand below each other.
        shape = max(height / width, 0.72) if wanted.narrow else height / width
        width, height = wanted.width, wanted.width * (0.75 * len(widths) if stacked else shape)
    if wanted.narrow:
        settings |= {"font.size": _SMALL, "axes.titlesize": _SMALL + 0.5}
    with mpl.rc_context(settings):
        drawing = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(drawing)
        if stacked:
            row = drawing.subplots(len(widths), 1, squeeze=False)[:, 0]
        else:
            row = drawing.subplots(1, len(widths), width_ratios=widths, squeeze=False)[0]
        for axes in row:
            axes.set_axisbelow(True)
        yield drawing, list(row)


def save(drawing: Any, path: str | Path) -> list[Path]:
    """Write a figure, and return the paths of its files.

    A path that ends with ``.pdf`` gives one PDF file. Any other gives a PNG and an SVG file; its suffix is replaced. A
    `theme` may ask for other formats.
    """
    path = Path(path)
    wanted = current()
    if wanted.narrow:
        _shrink(drawing)
    if wanted.dark:
        _darken(drawing)
    formats = wanted.formats or (("pdf",) if path.suffix.lower() == ".pdf" else ("png", "svg"))
    written = []
    for kind in formats:
        target = _with_suffix(path, kind)
        with replacing(target) as aside:
            drawing.savefig(aside, format=kind, **_KINDS[kind])
        written.append(target)
    return written


def _with_suffix(path: Path, kind: str) -> Path:
    """The file of a figure in a format. Digits after a point belong to the name, as in ``epsilon-0.25``.

    >>> _with_suffix(Path("regret.pdf"), "png").name, _with_suffix(Path("epsilon-0.25"), "png").name
    ('regret.png', 'epsilon-0.25.png')
    """
    if not path.name:
        raise InputError(f"path must be a file to write, got {str(path)!r}")
    whole = path.suffix[1:2].isdigit() or not path.suffix
    return path.with_name(f"{path.name}.{kind}") if whole else path.with_suffix(f".{kind}")


def _shrink(drawing: Any) -> None:
    """Make letters fit a narrow figure, and wrap titles that are wider than it."""
    from matplotlib.text import Text

    for text in drawing.findobj(Text):
        text.set_fontsize(min(text.get_fontsize(), _SMALL))
    # Only a first layout tells how much room there is beside the axes.
    drawing.draw_without_rendering()
    whole = drawing.get_figwidth()
    for axes in drawing.axes:
        place = axes.get_position()
        for side, room in (("left", 1.0 - place.x0), ("center", place.width)):
            words = axes.get_title(loc=side)
            if words:
                lines = "\n".join(wrapped(line, room * whole - 0.05, _SMALL) for line in words.splitlines())
                axes.set_title(lines, loc=side, fontsize=_SMALL)
        for label, room in (
            (axes.xaxis.label, place.width * whole),
            (axes.yaxis.label, place.height * drawing.get_figheight()),
        ):
            label.set_text("\n".join(wrapped(line, room, _SMALL) for line in label.get_text().splitlines()))


def dark_of(colour: Any) -> tuple[float, float, float, float]:
    """The colour that stands for another one on a dark ground: the same hue, with light and dark exchanged.

    >>> [round(part, 2) for part in dark_of("#ffffff")], [round(part, 2) for part in dark_of("#000000")]
    ([0.08, 0.09, 0.1, 1.0], [1.0, 1.0, 1.0, 1.0])
    """
    from matplotlib.colors import to_rgba

    *parts, alpha = to_rgba(colour)
    shift = 1.0 - max(parts) - min(parts)
    ground = (0.08, 0.09, 0.1)
    # Colours are a little paler than their opposites, since thin lines are hard to see on a dark ground.
    pale = 0.25 if max(parts) - min(parts) > 0.15 else 0.0
    turned = [(1.0 - pale) * (part + shift) + pale for part in parts]
    red, green, blue = (dark + (1.0 - dark) * part for part, dark in zip(turned, ground, strict=True))
    return red, green, blue, alpha


def _darken(drawing: Any) -> None:
    """Exchange light and dark in everything that a figure holds, except in pictures and colour scales."""
    from matplotlib.collections import Collection
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.text import Text

    # Marks and numbers of axes exist only after a first drawing.
    drawing.draw_without_rendering()
    for artist in drawing.findobj():
        if isinstance(artist, Line2D):
            marker = artist.get_markeredgecolor(), artist.get_markerfacecolor()
            artist.set_color(dark_of(artist.get_color()))
            artist.set_markeredgecolor(dark_of(marker[0]))
            artist.set_markerfacecolor(dark_of(marker[1]))
        elif isinstance(artist, Text):
            artist.set_color(dark_of(artist.get_color()))
            box = artist.get_bbox_patch()
            if box is not None:
                box.set_facecolor(dark_of(box.get_facecolor()))
        elif isinstance(artist, Patch):
            outline = artist.get_edgecolor()
            artist.set_facecolor(dark_of(artist.get_facecolor()))
            artist.set_edgecolor(dark_of(outline))
        elif isinstance(artist, Collection) and artist.get_array() is None:
            outlines: Any = artist.get_edgecolor()
            fills: Any = artist.get_facecolor()
            artist.set_facecolor([dark_of(one) for one in fills])
            artist.set_edgecolor([dark_of(one) for one in outlines])
