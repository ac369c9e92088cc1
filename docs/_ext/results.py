"""The directive ``results``: a table of a page, made from a data file when the site is built.

    ```{results} tasks.json
    :part: groups
    :rows: group as task
    :columns: policy
    :value: mean
    :only: horizon-crucb | crucb | crucb(bonus='reference') as CRUCB, small bonus
    :show: .2%
    :best: least
    :caption: Regret as a share of the optimum
    ```

The argument is a JSON file in ``docs/data``, or ``tables:name`` for a function of ``docs/tables.py`` that returns
records.
Records are a list of objects. A mapping of names to numbers or lists becomes records with the fields ``name``, ``0``,
``1`` and so on. CONTRIBUTING.md explains the options.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from rising_bandits.plots import title

DOCS = Path(__file__).parents[1]
NOTHING = "–"
Record = Mapping[str, Any]


class TableError(Exception):
    """An option of a table that does not fit its data; the build fails with it."""


@dataclass
class Grid:
    """A table as text: headings, rows of cells, which columns hold numbers, and the best cells as (row, column)."""

    headings: list[str]
    rows: list[list[str]]
    numbers: list[bool]
    best: set[tuple[int, int]] = field(default_factory=set)


def named(text: str) -> list[tuple[str, str | None]]:
    """The parts of an option, separated by bars, each with its heading after "as".

    >>> named("policy | half_width as ± 99%")
    [('policy', None), ('half_width', '± 99%')]
    """
    parts = []
    for part in text.split("|"):
        key, found, heading = part.strip().partition(" as ")
        parts.append((key.strip(), heading.strip() if found else None))
    return parts


def load(source: str, part: str | None = None) -> tuple[list[Record], str | None]:
    """The records of a source, and the command that made them where the file names it.

    Parameters
    ----------
    source
        A file in ``docs/data``, or ``tables:name``.
    part
        The keys that lead to the records in a file, separated by dots.
    """
    if source.startswith("tables:"):
        return list(_function(source.removeprefix("tables:"))()), None
    data: Any = json.loads((DOCS / "data" / source).read_text(encoding="utf-8"))
    command = data.get("settings", {}).get("command", data.get("command")) if isinstance(data, dict) else None
    for key in part.split(".") if part else ():
        if not isinstance(data, dict) or key not in data:
            raise TableError(f"{source} has no part {part!r}; it has {', '.join(data)}")
        data = data[key]
    if isinstance(data, dict):
        data = [
            {
                "name": name,
                **({str(place): one for place, one in enumerate(value)} if isinstance(value, list) else {"0": value}),
            }
            for name, value in data.items()
        ]
    return data, command


def _function(name: str) -> Callable[[], Sequence[Record]]:
    """A function of ``docs/tables.py``."""
    spec = importlib.util.spec_from_file_location("tables", DOCS / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[[], Sequence[Record]] | None = getattr(module, name, None)
    if found is None:
        raise TableError(f"docs/tables.py has no function {name!r}")
    return found


def chosen(records: Sequence[Record], where: str | None = None, order: str | None = None) -> list[Record]:
    """The records whose fields have the wanted values, in the order of a field ("-" before it: the largest first).

    >>> chosen([{"a": 1, "b": 2}, {"a": 1, "b": 1}, {"a": 3, "b": 0}], "a = 1", "b")
    [{'a': 1, 'b': 1}, {'a': 1, 'b': 2}]
    """
    kept = list(records)
    for condition in where.split("|") if where else ():
        key, _, wanted = (part.strip() for part in condition.partition("="))
        kept = [record for record in kept if str(_field(record, key)) in [one.strip() for one in wanted.split(",")]]
    if not kept:
        raise TableError(f"no record fits {where!r}")
    if order:
        key = order.removeprefix("-")
        kept.sort(key=lambda record: _field(record, key), reverse=order.startswith("-"))
    return kept


def _field(record: Record, key: str) -> Any:
    if key not in record:
        raise TableError(f"a record has no field {key!r}; it has {', '.join(record)}")
    return record[key]


def shown(value: Any, form: str, *, policy: bool = False) -> str:
    """A value as the text of a cell.

    >>> shown(0.0312, ".1%"), shown(None, ".2f"), shown("crucb", "", policy=True), shown(True, "")
    ('3.1%', '–', 'CRUCB', 'yes')
    """
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if policy:
        return title(str(value))
    if isinstance(value, int) and value >= 10_000 and not form:
        return f"{value:,}"
    return format(value, form) if form and not isinstance(value, str) else str(value)


def listed(records: Sequence[Record], fields: str, show: str = "") -> Grid:
    """A table with a row for each record and a column for each field.

    >>> listed([{"policy": "crucb", "regret": 2.345}], "policy | regret", "text | .1f").rows
    [['CRUCB', '2.3']]
    """
    columns = named(fields)
    forms = [form.strip().removeprefix("text") for form in show.split("|")] if show else [""] * len(columns)
    if len(forms) != len(columns):
        raise TableError(f"show must have one entry for each of the {len(columns)} fields, got {show!r}")
    rows = [
        [
            shown(_field(record, key), form, policy=key == "policy")
            for (key, _), form in zip(columns, forms, strict=True)
        ]
        for record in records
    ]
    numbers = [
        all(isinstance(_field(record, key), int | float | None) or bool(form) for record in records)
        for (key, _), form in zip(columns, forms, strict=True)
    ]
    return Grid([heading or key.replace("_", " ") for key, heading in columns], rows, numbers)


def pivoted(
    records: Sequence[Record], rows: str, columns: str, value: str, show: str = "", only: str = "", best: str = ""
) -> Grid:
    """A table with a row for each value of one field, a column for each value of another, and a third in the cells.

    >>> records = [{"task": "toy", "policy": name, "mean": mean} for name, mean in (("crucb", 0.2), ("sw-cts", 0.1))]
    >>> grid = pivoted(records, "task", "policy", "mean", ".0%", best="least")
    >>> grid.headings, grid.rows, grid.best
    (['task', 'CRUCB', 'SW-CTS'], [['toy', '20%', '10%']], {(0, 2)})
    """
    (row_key, row_heading), (column_key, _) = named(rows)[0], named(columns)[0]
    cells: dict[Any, dict[Any, Any]] = {}
    for record in records:
        line = cells.setdefault(_field(record, row_key), {})
        if _field(record, column_key) in line:
            raise TableError(f"two records have {row_key} {record[row_key]!r} and {column_key} {record[column_key]!r}")
        line[record[column_key]] = _field(record, value)
    present = list(dict.fromkeys(key for line in cells.values() for key in line))
    wanted = named(only) if only else [(str(key), None) for key in present]
    by_text = {str(key): key for key in present}
    for key, _ in wanted:
        if key not in by_text:
            raise TableError(f"no record has {column_key} {key!r}; there are {', '.join(by_text)}")
    policy = column_key == "policy"
    headings = [row_heading or row_key, *(heading or shown(key, "", policy=policy) for key, heading in wanted)]
    grid = Grid(headings, [], [False] + [True] * len(wanted))
    for name, line in cells.items():
        values = [line.get(by_text[key]) for key, _ in wanted]
        texts = [shown(one, show) for one in values]
        grid.rows.append([shown(name, "", policy=row_key == "policy"), *texts])
        known = [one for one in values if one is not None]
        if best and known:
            extreme = {"least": min, "most": max}[best](known)
            # All cells that show the best number are marked, so that rounding decides nothing.
            grid.best |= {
                (len(grid.rows) - 1, 1 + place) for place, text in enumerate(texts) if text == shown(extreme, show)
            }
    return grid


_OPTIONS = ("part", "rows", "columns", "value", "fields", "show", "only", "where", "sort", "best", "caption")


class Results(SphinxDirective):
    """``{results} SOURCE``: a table from a data file."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {
        **dict.fromkeys(_OPTIONS, directives.unchanged_required),
        "command": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        """The table, its caption, and with ``:command:`` the command that made the file."""
        given: dict[str, Any] = self.options
        source = self.arguments[0]
        self.env.note_dependency(str(DOCS / ("tables.py" if source.startswith("tables:") else f"data/{source}")))
        try:
            records, command = load(source, given.get("part"))
            records = chosen(records, given.get("where"), given.get("sort"))
            show = given.get("show", "")
            if "fields" in given:
                grid = listed(records, given["fields"], show)
            else:
                names = ("rows", "columns", "value")
                pivot = [given[name] for name in names if name in given]
                if len(pivot) < len(names):
                    raise TableError("give fields, or rows, columns and value")
                grid = pivoted(records, *pivot, show, given.get("only", ""), given.get("best", ""))
        except (TableError, OSError, ValueError, KeyError) as error:
            raise self.error(f"results: {error}") from error
        made: list[nodes.Node] = [self._table(grid, given.get("caption"))]
        if "command" in given:
            if command is None:
                raise self.error(f"results: {source} names no command")
            made.append(nodes.literal_block(command, command, language="text", classes=["made-by"]))
        return made

    def _table(self, grid: Grid, caption: str | None) -> nodes.table:
        table = nodes.table(classes=["results", "colwidths-auto"])
        if caption:
            parsed, _ = self.parse_inline(caption)
            table += nodes.title(caption, "", *parsed)
        group = nodes.tgroup(cols=len(grid.headings))
        table += group
        for _ in grid.headings:
            group += nodes.colspec(colwidth=1)
        head, body = nodes.thead(), nodes.tbody()
        head += self._row(grid, grid.headings, set(), marks=True)
        for place, row in enumerate(grid.rows):
            body += self._row(grid, row, {column for line, column in grid.best if line == place})
        group += head
        group += body
        return table

    def _row(self, grid: Grid, cells: Sequence[str], bold: set[int], marks: bool = False) -> nodes.row:
        row = nodes.row()
        for place, cell in enumerate(cells):
            entry = nodes.entry(classes=["text-right" if grid.numbers[place] else "text-left"])
            content = nodes.strong(cell, cell) if place in bold else nodes.Text(cell)
            # Headings are written on the page and may have marks; cells are data and are shown as they are.
            entry += nodes.paragraph("", "", *(self.parse_inline(cell)[0] if marks else [content]))
            row += entry
        return row


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("results", Results)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
