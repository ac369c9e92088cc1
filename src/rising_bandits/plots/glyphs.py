"""Text in figures: labels of any script are drawn with installed fonts, and never typeset as formulas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from rising_bandits._text import shown_text

_BASE = "DejaVu Sans"
"""The font that comes with matplotlib."""
_NOT_FONTS = ("Last Resort High-Efficiency",)
"""Fonts that have a box for every character."""


@cache
def _letters(path: str) -> frozenset[int]:
    """The code points that a font file has glyphs for."""
    from matplotlib.ft2font import FT2Font

    try:
        return frozenset(FT2Font(path).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()


def families(texts: Iterable[str]) -> tuple[list[str], set[str]]:
    """The installed fonts that are needed to draw texts, and the characters that none of them has.

    >>> families(["a->b", "Zürich"])
    (['DejaVu Sans'], set())
    """
    from matplotlib import font_manager

    base = font_manager.findfont(_BASE)
    missing = {letter for text in texts for letter in text if letter.isprintable()}
    missing = {letter for letter in missing if ord(letter) not in _letters(base)}
    found = [_BASE]
    for font in sorted(font_manager.fontManager.ttflist, key=lambda font: (font.weight != 400, font.name)):
        if not missing:
            break
        if font.name in found or font.name in _NOT_FONTS or font.style != "normal":
            continue
        known = {letter for letter in missing if ord(letter) in _letters(font.fname)}
        if known:
            found.append(font.name)
            missing -= known
    return found, missing


class Plain:
    """Makes texts that can be drawn: characters without a glyph are written as their code points."""

    def __init__(self, missing: set[str]) -> None:
        self._missing = missing

    def __call__(self, text: str, width: int = 26) -> str:
        r"""The text, cut to about ``width`` letters.

        >>> print(Plain({"x"})("axb"), Plain(set())("a" * 30, 5), Plain(set())("a\x1b[31mb"))
        aU+0078b aaaa… a\x1b[31mb
        """
        shown = shown_text(text)
        cut = shown if len(shown) <= width else shown[: width - 1] + "…"
        return "".join(f"U+{ord(letter):04X}" if letter in self._missing else letter for letter in cut)


@contextmanager
def plain_text(texts: Iterable[str]) -> Iterator[Plain]:
    """Draw with the fonts that these texts need, and take no text for a formula. Gives the function `Plain`."""
    import matplotlib as mpl

    names, missing = families(texts)
    settings: Any = {"font.family": names, "text.parse_math": False}
    with mpl.rc_context(settings):
        yield Plain(missing)
