r"""Mathematics as MathML, made when the site is built: a page needs no script and no network to show a formula.

>>> render(r"\sqrt{x}", block=False)
'<math><msqrt><mi>x</mi></msqrt></math>'

A command that is not known is an error, not a backslash on the page:

>>> render(r"\nosuchthing x", block=False)
Traceback (most recent call last):
ValueError: \nosuchthing is not known to latex2mathml
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

_NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
_SCRIPT = {"N": "𝒩", "S": "𝒮", "O": "𝒪"}
_TRANSLATED = (
    # latex2mathml would write these commands out, or in a way that browsers show badly.
    (re.compile(r"\\arg\b"), r"\\operatorname{arg}"),
    (re.compile(r"\\mathrm\b"), r"\\text"),
    (re.compile(r"\\bmod\b"), r"\\operatorname{mod}"),
    (re.compile(r"\\lfloor\b"), "⌊"),
    (re.compile(r"\\rfloor\b"), "⌋"),
    (re.compile(r"\\lceil\b"), "⌈"),
    (re.compile(r"\\rceil\b"), "⌉"),
    (re.compile(r"\\mathcal\s*\{?([A-Z])\}?"), lambda found: _SCRIPT[found[1]]),
)
_TAG = re.compile(r"\\tag\{([^}]*)\}")
_LIMITS = {"∑", "∏", "max", "min"}
"""Operators whose limits stand below and above them in a formula of its own."""
_FUNCTIONS = {"log", "exp", "max", "min", "arg"}
_UNDER = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}


def _is(element: ElementTree.Element, signs: str) -> bool:
    """Whether an element is one of these operators, alone or with an index or a power."""
    while element.tag in _UNDER:
        element = element[0]
    return element.tag == "mo" and element.text is not None and element.text in signs


def _with_brackets(row: ElementTree.Element) -> None:
    """Make a whole bracketed expression the base of its power: browsers stretch brackets only in a row."""
    parts = list(row)
    done: list[ElementTree.Element] = []
    for part in parts:
        done.append(part)
        if part.tag not in _UNDER or not _is(part, ")]⌉⌋"):
            continue
        depth, place = 1, len(done) - 2
        while place >= 0 and depth:
            depth += _is(done[place], ")]⌉⌋") - _is(done[place], "([⌈⌊")
            place -= 1
        if not depth:
            inner = ElementTree.Element("mrow")
            inner.extend([*done[place + 1 : -1], part[0]])
            _space_functions(inner)
            part[0] = inner
            del done[place + 1 : -1]
    row[:] = done


def _space_functions(row: ElementTree.Element) -> None:
    """Put a thin space around the name of a function, as in ``4 log T``."""
    done: list[ElementTree.Element] = []
    for part in row:
        base = part[0] if part.tag in _UNDER else part
        if done and base.text in _FUNCTIONS and done[-1].tag != "mo" and done[-1].tag != "mspace":
            done.append(ElementTree.Element("mspace", width="0.17em"))
        if done and part.tag not in ("mo", "mspace"):
            before = done[-1][0] if done[-1].tag in _UNDER else done[-1]
            if before.text in _FUNCTIONS:
                done.append(ElementTree.Element("mspace", width="0.17em"))
        done.append(part)
    row[:] = done


def _tidy(element: ElementTree.Element, *, block: bool) -> None:
    """Shorten the tree, and set brackets, limits and spaces as LaTeX does."""
    for place, child in enumerate(list(element)):
        _tidy(child, block=block)
        # A row of one element is that element.
        if child.tag == "mrow" and len(child) == 1 and not child.attrib:
            element[place] = child[0]
    if element.tag in ("mrow", "math", "mtd", "msqrt"):
        _with_brackets(element)
        _space_functions(element)
    if element.tag == "mo" and element.text in _FUNCTIONS:
        element.tag = "mi"
    if element.tag == "mo" and element.text == "/":
        element.attrib.update(lspace="0.05em", rspace="0.05em")
    if block and element.tag in _UNDER and element[0].text in _LIMITS:
        element.tag = _UNDER[element.tag]


def render(tex: str, *, block: bool) -> str:
    """A formula in LaTeX as a ``<math>`` element.

    Parameters
    ----------
    tex
        The formula, without dollars.
    block
        Whether the formula stands by itself, with the limits of sums below and above.

    Raises
    ------
    ValueError
        If a command of the formula is not known.
    """
    for pattern, replacement in _TRANSLATED:
        tex = pattern.sub(replacement, tex)
    if block and re.search(r"\\\\|&", re.sub(r"\\begin\{cases\}.*?\\end\{cases\}", "", tex, flags=re.DOTALL)):
        tex = rf"\begin{{align*}}{tex}\end{{align*}}"
    root = ElementTree.fromstring(convert(tex, display="block" if block else "inline"))
    for element in root.iter():
        element.tag = element.tag.removeprefix(_NAMESPACE)
        if element.text and "\\" in element.text:
            raise ValueError(f"{element.text} is not known to latex2mathml")
    _tidy(root, block=block)
    if not block:
        root.attrib.pop("display")
    return ElementTree.tostring(root, encoding="unicode")


def _checked(translator: Any, node: nodes.Node, tex: str, *, block: bool) -> str:
    """The formula of a node; one that cannot be shown is a warning of the build, which fails it."""
    try:
        return render(tex, block=block)
    except (ValueError, KeyError, ElementTree.ParseError) as error:
        logging.getLogger(__name__).warning("formula %r: %s", tex, error, location=node)
        return translator.encode(tex)


def _visit_inline(translator: Any, node: nodes.Element) -> None:
    translator.body.append(_checked(translator, node, node.astext(), block=False))
    raise nodes.SkipNode


def _visit_block(translator: Any, node: nodes.Element) -> None:
    tex = node.astext()
    tag = _TAG.search(tex)
    number = f"({tag[1]})" if tag else ""
    if node["number"]:
        number = f"({get_node_equation_number(translator, node)})"
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    if number:
        translator.body.append(f'<span class="eqno">{number}</span>')
    translator.body.append(_checked(translator, node, _TAG.sub("", tex), block=True))
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer ``mathml``."""
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
