"""Labels and names from outside, made safe to show in terminals, figures and pages."""

from __future__ import annotations


def shown_text(text: object, *, lines: bool = False) -> str:
    r"""A text that can be shown anywhere: characters that do not print are written as escapes.

    Terminals obey control characters, SVG files are invalid with them, and some of them reverse the letters that
    follow. Everything that prints stays as it is, in any script.

    Parameters
    ----------
    text
        The text, or anything with one.
    lines
        Whether line breaks and tabulators stay.

    >>> shown_text("Zürich → 東京")
    'Zürich → 東京'
    >>> print(shown_text("\x1b[2Jgone\n"))
    \x1b[2Jgone\n
    """
    text = str(text)
    if text.isprintable():
        return text
    kept = "\n\t" if lines else ""
    return "".join(letter if letter.isprintable() or letter in kept else _escaped(letter) for letter in text)


def _escaped(letter: str) -> str:
    """The escape of a letter; other spaces become a plain one."""
    return " " if letter.isspace() and ord(letter) > 127 else repr(letter)[1:-1]


def figure_text(text: object, width: int | None = None) -> str:
    r"""A text as matplotlib draws it letter by letter: dollar signs are never read as mathematics.

    Parameters
    ----------
    text
        The text, or anything with one.
    width
        The most letters; longer texts are cut.

    >>> print(figure_text(r"$\foo$", 20), figure_text("abcdef", 4))
    \$\foo\$ abc…
    """
    shown = shown_text(text)
    if width is not None and len(shown) > width:
        shown = shown[: width - 1] + "…"
    return shown.replace("$", r"\$")
