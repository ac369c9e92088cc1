"""The directive ``chart``: a tree of questions as a drawing, made when the site is built.

    ```{chart}
    :alt: which tool to take
    Is it a nail?
      yes -> hammer
      no -> Is it a screw?
        yes -> screwdriver
        no -> glue
    ```

The first line is the first question. Every other line is an answer, an arrow, and what follows from the answer: another
question, if lines with a deeper indent follow, else a result. The drawing is SVG in the colours of the page, so it is
right in dark mode, on paper and at any size. Where the directive is not known the text can be read as it is.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any, ClassVar

LINE, LETTER = 19.0, 7.3
"""The height of a line of text and the usual width of a letter, in pixels."""
GAP, ROW = 108.0, 14.0
"""The room between two columns, in which answers are written, and between two boxes of a column."""


class ChartError(Exception):
    """A text that is no tree of questions."""


@dataclass
class Box:
    """A question or a result, and what leads to it.

    Attributes
    ----------
    text
        What is written in the box.
    answer
        The answer that leads here; empty for the first question.
    after
        What follows, for a question.
    """

    text: str
    answer: str = ""
    after: list[Box] = field(default_factory=list)
    depth: int = 0
    y: float = 0.0
    lines: list[str] = field(default_factory=list)

    @property
    def height(self) -> float:
        """The height of the box."""
        return LINE * len(self.lines) + 14.0

    def all(self) -> Iterator[Box]:
        """This box and everything after it."""
        yield self
        for box in self.after:
            yield from box.all()


def parsed(text: str) -> Box:
    r"""The tree that a text describes.

    >>> tree = parsed("Is it a nail?\n  yes -> hammer\n  no -> glue")
    >>> tree.text, [(box.answer, box.text) for box in tree.after]
    ('Is it a nail?', [('yes', 'hammer'), ('no', 'glue')])
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise ChartError("a chart needs a question")
    root = Box(lines[0].strip())
    above: list[tuple[int, Box]] = [(-1, root)]
    for line in lines[1:]:
        indent = len(line) - len(line.lstrip())
        answer, arrow, rest = line.strip().partition("->")
        if not arrow or not answer.strip() or not rest.strip():
            raise ChartError(f"{line.strip()!r} must be an answer, an arrow and what follows: yes -> hammer")
        while above[-1][0] >= indent:
            above.pop()
        box = Box(rest.strip(), answer.strip(), depth=above[-1][1].depth + 1)
        above[-1][1].after.append(box)
        above.append((indent, box))
    if not root.after:
        raise ChartError("a chart needs answers, on lines with an indent below the question")
    return root


def drawn(text: str, letters: int = 24) -> str:
    """The drawing of a tree of questions, as an SVG element.

    Parameters
    ----------
    text
        The tree, as `parsed` reads it.
    letters
        How many letters fit in a line of a box.
    """
    root = parsed(text)
    boxes = list(root.all())
    width = LETTER * letters + 20.0
    below = 2.0
    for box in boxes:
        # Results are bold, so fewer of their letters fit.
        box.lines = textwrap.wrap(box.text.replace("`", ""), letters if box.after else int(0.85 * letters))
        if not box.after:
            box.y = below + box.height / 2
            below += box.height + ROW
    for box in reversed(boxes):
        if box.after:
            box.y = (box.after[0].y + box.after[-1].y) / 2
    # A question may be taller than its results; the drawing begins at the highest and ends at the lowest box.
    top = min(box.y - box.height / 2 for box in boxes) - 2.0
    high = max(box.y + box.height / 2 for box in boxes) + 2.0 - top
    wide = (max(box.depth for box in boxes) + 1) * (width + GAP) - GAP + 4.0
    parts = [f'<svg class="chart" viewBox="0 {top:.0f} {wide:.0f} {high:.0f}" width="{wide:.0f}" role="img">']
    for box in boxes:
        left = 2.0 + box.depth * (width + GAP)
        for after in box.after:
            bend = left + width + 16.0
            parts.append(
                f'<path d="M{left + width:.1f} {box.y:.1f}H{bend:.1f}V{after.y:.1f}H{left + width + GAP:.1f}"/>'
            )
            words = textwrap.wrap(after.answer, 12)
            for place, word in enumerate(words):
                # Answers stand on the line, a second line of an answer stands below it.
                height = after.y - 5.0 if place == 0 else after.y + 14.0 + LINE * 0.8 * (place - 1)
                parts.append(f'<text class="answer" x="{bend + 6.0:.1f}" y="{height:.1f}">{escape(word)}</text>')
        kind = "question" if box.after else "result"
        parts.append(
            f'<rect class="{kind}" x="{left:.1f}" y="{box.y - box.height / 2:.1f}" width="{width:.1f}" '
            f'height="{box.height:.1f}" rx="{4 if box.after else box.height / 2 if len(box.lines) == 1 else 14}"/>'
        )
        for place, line in enumerate(box.lines):
            height = box.y + LINE * (place - (len(box.lines) - 1) / 2) + 5.0
            parts.append(f'<text class="{kind}" x="{left + width / 2:.1f}" y="{height:.1f}">{escape(line)}</text>')
    return "".join([*parts, "</svg>"])


def setup(app: Any) -> dict[str, bool]:
    """Add the directive."""
    from docutils import nodes
    from docutils.parsers.rst import directives
    from sphinx.util.docutils import SphinxDirective

    class Chart(SphinxDirective):
        """``{chart}``: a tree of questions."""

        has_content = True
        option_spec: ClassVar[dict[str, Any]] = {
            "alt": directives.unchanged_required,
            "letters": directives.positive_int,
        }

        def run(self) -> list[nodes.Node]:
            if "alt" not in self.options:
                raise self.error("chart: add :alt:, what the chart is about")
            try:
                svg = drawn("\n".join(self.content), self.options.get("letters", 24))
            except ChartError as error:
                raise self.error(f"chart: {error}") from error
            words = escape(self.options["alt"], quote=True)
            svg = svg.replace('role="img"', f'role="img" aria-label="{words}"', 1)
            return [nodes.raw("", f'<div class="chart">{svg}</div>', format="html")]

    app.add_directive("chart", Chart)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
