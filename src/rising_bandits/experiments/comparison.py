"""The result of a comparison, and the forms in which it is printed: text, Markdown, LaTeX, CSV, a DataFrame."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Any

from rising_bandits._extras import require
from rising_bandits.experiments.paired import Difference
from rising_bandits.experiments.ranks import Ranks


@dataclass(frozen=True)
class Comparison:
    """The result of `compare`. It prints as a table.

    Attributes
    ----------
    rows
        One row for each policy on each task.
    ranks
        Mean ranks over all tasks; None if no block has all policies.
    baseline, measure
        The label of the baseline, and the column that was compared.
    level, interval
        The confidence level, and how intervals were made.
    notes
        What was left out.
    """

    rows: list[Difference]
    ranks: Ranks | None
    baseline: str
    measure: str
    level: float
    interval: str
    notes: tuple[str, ...] = ()

    def frame(self) -> Any:
        """The rows as a pandas DataFrame."""
        require("lab", "pandas")
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows], columns=[part.name for part in fields(Difference)])

    def to_csv(self) -> str:
        """The rows as CSV, every number in full."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([part.name for part in fields(Difference)])
        writer.writerows([list(asdict(row).values()) for row in self.rows])
        return out.getvalue()

    def table(self, named: Callable[[str], str] = str) -> tuple[list[str], list[list[str]]]:
        """The headings and the cells of the table, rounded for people.

        Parameters
        ----------
        named
            Turns the label of a policy into its name, such as `plots.title`; by default labels stay as they are.
        """
        headings = ["task", "policy", "pairs", f"mean {self.measure}", f"minus {named(self.baseline)}"]
        headings += [f"{self.level:.0%} interval", "p (Holm)", "effect", "less"]
        cells = [
            [
                row.task,
                named(row.policy),
                str(row.pairs),
                _number(row.mean),
                f"{'+' if row.difference > 0 else ''}{_number(row.difference)}",
                "–" if math.isnan(row.low) else f"{_number(row.low)} to {_number(row.high)}",
                _p(row.p_holm),
                "–" if math.isnan(row.effect) else f"{row.effect:.2f}",
                f"{row.less:.0%}",
            ]
            for row in self.rows
        ]
        return headings, cells

    def to_markdown(self, named: Callable[[str], str] = str) -> str:
        """The table in Markdown.

        Parameters
        ----------
        named
            As for `table`.
        """
        headings, cells = self.table(named)
        lines = [headings, ["---"] * 2 + ["---:"] * (len(headings) - 2), *cells]
        return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"

    def to_latex(self, named: Callable[[str], str] = str) -> str:
        """The table in LaTeX, for the package booktabs.

        Parameters
        ----------
        named
            As for `table`.
        """
        headings, cells = self.table(named)
        body = [" & ".join(map(_latex, headings))]
        body += [" & ".join([*map(_latex, line[:2]), *map(_latex_number, line[2:])]) for line in cells]
        columns = "ll" + "r" * (len(headings) - 2)
        lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", body[0] + r" \\", r"\midrule"]
        return "\n".join([*lines, *(line + r" \\" for line in body[1:]), r"\bottomrule", r"\end{tabular}"]) + "\n"

    def __str__(self) -> str:
        headings, cells = self.table()
        widths = [max(len(line[place]) for line in (headings, *cells)) for place in range(len(headings))]
        lines = [
            "  ".join(
                cell.ljust(width) if place < 2 else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in (headings, *cells)
        ]
        return "\n".join([*lines, *self.words()])

    def words(self) -> list[str]:
        """Sentences below the table: the ranks, and what was left out."""
        lines = []
        if self.ranks is not None:
            shown = ", ".join(f"{name} {rank:.2f}" for name, rank in self.ranks.mean.items())
            count = f"{self.ranks.blocks} {self.ranks.of}{'s' if self.ranks.blocks != 1 else ''}"
            lines.append(f"mean ranks over {count}, 1 is least: {shown}")
            if not math.isnan(self.ranks.critical):
                friedman = "" if math.isnan(self.ranks.p) else f"; Friedman's p {_p(self.ranks.p)}"
                lines.append(f"critical difference of mean ranks (Nemenyi, 5%): {self.ranks.critical:.2f}{friedman}")
        return [*lines, *self.notes]


def _number(value: float) -> str:
    """A number for people: four digits that count, or one decimal place where there are more before the point.

    >>> _number(340.0), _number(0.05), _number(-12345.67), _number(999.99)
    ('340.0', '0.05000', '-12,345.7', '1,000.0')
    """
    if math.isnan(value):
        return "–"
    return f"{value:,.1f}" if abs(value) >= 999.95 else f"{value:#.4g}"


def _p(value: float) -> str:
    return "–" if math.isnan(value) else "< 0.001" if value < 0.001 else f"{value:.3f}"


_LETTERS = str.maketrans(
    {letter: f"\\{letter}" for letter in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--"}
    | {"<": "$<$", ">": "$>$", "|": "$|$", "ε": r"$\varepsilon$", "σ": r"$\sigma$", "δ": r"$\delta$"}
)
"""How LaTeX writes letters that it would read as commands."""


def _latex(text: str) -> str:
    r"""Text for LaTeX.

    >>> _latex("mine:P(a_b={1})")
    'mine:P(a\\_b=\\{1\\})'
    >>> _latex("Cure (ε = 0.1)")
    'Cure ($\\varepsilon$ = 0.1)'
    """
    return text.translate(_LETTERS)


def _latex_number(text: str) -> str:
    """Numbers for LaTeX: in mathematics if they have a sign, so that a minus is not a hyphen.

    >>> _latex_number("-1,234.5 to 2.000")
    '$-1{,}234.5$ to 2.000'
    """
    parts = [f"${part.replace(',', '{,}')}$" if part[:1] in ("-", "+") else _latex(part) for part in text.split(" ")]
    return " ".join(parts)
