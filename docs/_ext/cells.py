"""Code that runs when the site is built: notebooks, and the directive ``cell`` of other pages.

    ```{cell}
    :alt: what a reader sees in the figure
    from pathlib import Path
    import rising_bandits as rb
    ```

The cells of a page run one after the other, in one namespace and in an empty folder. A page shows each cell with what
it printed, the value of its last line, and the figures that it wrote. So a page shows what its lines do now, and a cell
that fails makes the build fail. Notebooks (``*.ipynb``) are kept without outputs. Their pages are made in the same way.

python docs/_ext/cells.py docs/notebooks/commute.ipynb      runs one page and prints what its cells print
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import shutil
import sys
import tempfile
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

FIGURES = (".svg", ".png", ".gif")
_CELL = re.compile(r"^(`{3,})\{cell\}[^\n]*\n(.*?)^\1\s*$", re.MULTILINE | re.DOTALL)
_OPTION = re.compile(r"\A(:\w+:[^\n]*\n)+")


@dataclass
class Shown:
    """What a cell showed: its text, and the figures that it wrote."""

    text: str
    figures: list[Path] = field(default_factory=list)


class Session:
    r"""Runs the cells of one page.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     session = Session(Path(folder))
    ...     print(session.run("x = 20\nprint(x)\nx + 1").text)
    20
    21
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # Classes need a module that can be found by its name.
        self._module = types.ModuleType(f"cells_{id(self)}")
        self._scope = vars(self._module)
        self._cells = 0

    def run(self, code: str) -> Shown:
        """Run a cell and return what it showed."""
        self._cells += 1
        tree = ast.parse(code)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        name = f"<cell {self._cells}>"
        before = {path: path.stat().st_mtime_ns for path in self._figures()}
        text = io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(text), _named(self._module):
            exec(compile(tree, name, "exec"), self._scope)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), name, "eval"), self._scope)
                # The files that a figure was written to are shown as the figure.
                if value is not None and not _are_figures(value):
                    print(repr(value))  # noqa: T201
        new = [path for path in self._figures() if before.get(path) != path.stat().st_mtime_ns]
        # Of a figure that was written as PNG and as SVG the page shows the second, which is sharp at any size.
        vectors = {path.stem for path in new if path.suffix == ".svg"}
        return Shown(
            text.getvalue().rstrip(), [path for path in new if path.suffix != ".png" or path.stem not in vectors]
        )

    def _figures(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*") if path.suffix in FIGURES)


@contextlib.contextmanager
def _named(module: types.ModuleType) -> Iterator[None]:
    """A module that can be imported by its name meanwhile."""
    sys.modules[module.__name__] = module
    try:
        yield
    finally:
        del sys.modules[module.__name__]


def _are_figures(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, Path) for one in value)


def as_markdown(notebook: str) -> str:
    r"""The text of a notebook as a page, with a directive for each code cell.

    >>> cells = [{"cell_type": "markdown", "source": ["# A"]}, {"cell_type": "code", "source": ["1 + 1"]}]
    >>> print(as_markdown(json.dumps({"cells": cells})))
    # A
    <BLANKLINE>
    ```{cell}
    1 + 1
    ```
    <BLANKLINE>
    """
    parts = []
    for cell in json.loads(notebook)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            words = cell.get("metadata", {}).get("alt")
            option = f":alt: {words}\n" if words else ""
            source = f"```{{cell}}\n{option}{source}\n```"
        parts.append(source)
    return "\n\n".join(parts) + "\n"


def cells_of(page: Path) -> list[str]:
    """The code of the cells of a notebook or of a page."""
    text = page.read_text(encoding="utf-8")
    text = as_markdown(text) if page.suffix == ".ipynb" else text
    return [_OPTION.sub("", body) for _, body in _CELL.findall(text)]


_sessions: dict[str, Session] = {}


def setup(app: Any) -> dict[str, bool]:
    """Add the directive, and notebooks as pages."""
    from docutils import nodes
    from docutils.parsers.rst import directives
    from myst_parser.parsers.sphinx_ import MystParser
    from sphinx.util.docutils import SphinxDirective

    class Cell(SphinxDirective):
        """``{cell}``: lines of Python, and what they showed."""

        has_content = True
        option_spec: ClassVar[dict[str, Any]] = {"alt": directives.unchanged_required}

        def run(self) -> list[nodes.Node]:
            code = "\n".join(self.content)
            page = self.env.docname
            if page not in _sessions:
                _sessions[page] = Session(Path(tempfile.mkdtemp(prefix="cells-")))
            try:
                shown = _sessions[page].run(code)
            except Exception as error:
                raise self.error(f"cell: {type(error).__name__}: {error}") from error
            made: list[nodes.Node] = [nodes.literal_block(code, code, language="python", classes=["cell"])]
            if shown.text:
                block = nodes.literal_block(shown.text, shown.text, language="text")
                made.append(nodes.container("", block, classes=["cell-output"]))
            for figure in shown.figures:
                if "alt" not in self.options:
                    raise self.error(f"cell: {figure.name} is shown without words for it; add :alt:")
                made.append(self._image(figure, page))
            return made

        def _image(self, figure: Path, page: str) -> nodes.Node:
            name = f"{page.replace('/', '-')}-{figure.name}"
            folder = Path(self.env.app.outdir) / "_images"
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(figure, folder / name)
            address = "../" * page.count("/") + f"_images/{name}"
            alt = self.options["alt"].replace('"', "&quot;")
            return nodes.raw("", f'<p><img class="drawing" src="{address}" alt="{alt}"></p>', format="html")

    class NotebookParser(MystParser):
        """Reads a notebook as the page that `as_markdown` makes of it."""

        supported: ClassVar[tuple[str, ...]] = ("notebook",)

        def parse(self, inputstring: str, document: Any) -> None:
            name = Path(str(document["source"])).name
            link = f"{{download}}`Download this notebook <{name}>`\n"
            super().parse(f"{as_markdown(inputstring)}\n{link}", document)

    def forget(app: Any, docname: str, source: list[str]) -> None:
        _drop(docname)

    def finish(app: Any, error: Exception | None) -> None:
        for page in list(_sessions):
            _drop(page)

    app.add_directive("cell", Cell)
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    app.connect("source-read", forget)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": False, "parallel_write_safe": True}


def _drop(page: str) -> None:
    """Forget the session of a page, and its folder."""
    session = _sessions.pop(page, None)
    if session is not None:
        shutil.rmtree(session.folder, ignore_errors=True)


def main(pages: list[str]) -> None:
    """Run pages and print what their cells print."""
    for page in pages:
        with tempfile.TemporaryDirectory() as folder:
            session = Session(Path(folder))
            for code in cells_of(Path(page)):
                shown = session.run(code)
                names = " ".join(figure.name for figure in shown.figures)
                sys.stdout.write("\n".join(part for part in (shown.text, names) if part) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
