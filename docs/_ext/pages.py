"""Small repairs of what the pages and the docstrings say, made when the site is built."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

_RULE = re.compile(r"-{3,}")


def name_examples(lines: list[str]) -> None:
    """Put the heading "Examples" above examples that follow the parameters of a docstring.

    Docstrings in the code save the two lines; without them the example would be read as a parameter.

    >>> lines = ["Double it.", "", "Parameters", "----------", "x", "    A number.", "", ">>> double(2)", "4"]
    >>> name_examples(lines)
    >>> lines[6:9]
    ['', 'Examples', '--------']
    """
    section = False
    for place, line in enumerate(lines):
        if _RULE.fullmatch(line) and place:
            if lines[place - 1] == "Examples":
                return
            section = True
        elif section and line.startswith(">>>") and not lines[place - 1]:
            lines[place:place] = ["Examples", "--------"]
            return


def _docstring(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    name_examples(lines)


def _strip_code(app: Sphinx, tree: nodes.document) -> None:
    """Remove the empty line at the end of examples, which doctest needs and a reader does not."""
    for block in tree.findall(nodes.literal_block):
        text = block.astext().rstrip()
        block.rawsource = text
        block.children = []
        block += nodes.Text(text)


_navigation: dict[tuple[Any, ...], str] = {}


def _share_navigation(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Make the navigation of source pages once per folder depth: it is the same on all of them, and takes long."""
    if not page.startswith("_modules/"):
        return
    made = context["toctree"]

    def toctree(**options: Any) -> str:
        key = (page.count("/"), *sorted(options.items()))
        if key not in _navigation:
            _navigation[key] = made(**options)
        return _navigation[key]

    context["toctree"] = toctree


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the repairs: examples are named before napoleon reads the sections, navigation before the theme asks."""
    _navigation.clear()
    app.connect("html-page-context", _share_navigation, priority=400)
    app.connect("autodoc-process-docstring", _docstring, priority=400)
    app.connect("doctree-read", _strip_code)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
