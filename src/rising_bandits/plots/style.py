"""Making and writing figures in the common style, and themes: width, dark colours, formats."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rising_bandits import _checks
from rising_bandits._extras import require
from rising_bandits._files import replacing
from rising_bandits.errors import InputError
from rising_bandits.plots.names import wrapped


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
SMALL = 7.5
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
        settings |= {"font.size": SMALL, "axes.titlesize": SMALL + 0.5}
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


def plain_numbers(axis: Any) -> None:
    """Write 200 and 500, not powers of ten, on a logarithmic axis that spans less than two of them.

    Call this once the limits of the axis are set.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    low, high = sorted(axis.get_view_interval())
    if low <= 0 or high >= 100 * low:
        return
    # Within a third of a power of ten there may be no 1, 2 or 5 at all.
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)) if high > 3 * low else MaxNLocator(4))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


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
        text.set_fontsize(min(text.get_fontsize(), SMALL))
    # Only a first layout tells how much room there is beside the axes.
    drawing.draw_without_rendering()
    whole = drawing.get_figwidth()
    for axes in drawing.axes:
        place = axes.get_position()
        for side, room in (("left", 1.0 - place.x0), ("center", place.width)):
            words = axes.get_title(loc=side)
            if words:
                lines = "\n".join(wrapped(line, room * whole - 0.05, SMALL) for line in words.splitlines())
                axes.set_title(lines, loc=side, fontsize=SMALL)
        for label, room in (
            (axes.xaxis.label, place.width * whole),
            (axes.yaxis.label, place.height * drawing.get_figheight()),
        ):
            label.set_text("\n".join(wrapped(line, room, SMALL) for line in label.get_text().splitlines()))


def dark_of(colour: Any) -> tuple[float, float, float, float]:
    """The colour that stands for another one on a dark background: the same hue, with light and dark exchanged.

    >>> [round(part, 2) for part in dark_of("#ffffff")], [round(part, 2) for part in dark_of("#000000")]
    ([0.08, 0.09, 0.1, 1.0], [1.0, 1.0, 1.0, 1.0])
    """
    from matplotlib.colors import to_rgba

    *parts, alpha = to_rgba(colour)
    shift = 1.0 - max(parts) - min(parts)
    ground = (0.08, 0.09, 0.1)
    # Colours are a little paler than their opposites, since thin lines are hard to see on a dark background.
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

    # Ticks and their labels exist only after a first drawing.
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
