"""Reports as HTML pages that hold everything they show: text, claims, figures and tables."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rising_bandits.reproduction.claims import Claim

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;color:#222;max-width:62rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.7rem}h2{font-size:1.25rem;margin-top:2.5rem;border-top:1px solid #ddd;padding-top:1.2rem}
figure{margin:1rem 0}figure img{max-width:100%}figcaption{color:#555;font-size:.92rem}
table{border-collapse:collapse;margin:1rem 0;font-variant-numeric:tabular-nums;font-size:.92rem}
th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid #eee}th:first-child,td:first-child{text-align:left}
.claim{display:grid;grid-template-columns:7.5rem 1fr;gap:.2rem .8rem;margin:.5rem 0}
.held{color:#00694f;font-weight:600}.not{color:#b33c00;font-weight:600}.evidence{color:#555;font-size:.92rem}
nav a{margin-right:.8rem}.note{background:#f6f6f6;padding:.6rem .9rem;border-left:3px solid #bbb}
"""


@dataclass
class Part:
    """A section of the page.

    Parameters
    ----------
    name
        A short name, to which the links of the page lead.
    title
        The heading.
    text
        Paragraphs of plain text.
    claims
        The claims that were judged.
    figures
        Pictures (SVG, PNG or GIF) with their captions.
    tables
        Tables: caption, headings and rows.
    """

    name: str
    title: str
    text: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    figures: list[tuple[Path, str]] = field(default_factory=list)
    tables: list[tuple[str, list[str], list[list[str]]]] = field(default_factory=list)


def _claim(claim: Claim) -> str:
    """A claim as HTML."""
    mark, words = ("held", "held") if claim.held else ("not", "did not hold")
    return (
        f'<div class="claim"><span class="{mark}">{words}</span><span>{html.escape(claim.text)}'
        f'<br><span class="evidence">{html.escape(claim.evidence)}</span></span></div>'
    )


_KINDS = {".svg": "svg+xml", ".png": "png", ".gif": "gif"}


def _figure(path: Path, caption: str) -> str:
    """A picture as HTML, with its data inside."""
    kind = _KINDS[path.suffix]
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    words = html.escape(caption)
    return f'<figure><img alt="{words}" src="data:image/{kind};base64,{data}"><figcaption>{words}</figcaption></figure>'


def _table(caption: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as HTML."""
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in headings)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f"<table><caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def render(
    parts: Sequence[Part], introduction: Sequence[str], heading: str = "Combinatorial Rising Bandits, reproduced"
) -> str:
    """The HTML text of a report.

    Parameters
    ----------
    parts
        The sections, in order.
    introduction
        Paragraphs of plain text above them.
    heading
        The heading of the page.
    """
    claims = [claim for part in parts for claim in part.claims]
    held = sum(claim.held for claim in claims)
    links = "".join(f'<a href="#{part.name}">{part.name}</a> ' for part in parts)
    out = [
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>",
        f"<title>{html.escape(heading)}</title><style>{_STYLE}</style>",
        f"<h1>{html.escape(heading)}</h1>",
        *(f"<p>{html.escape(text)}</p>" for text in introduction),
        *([f"<p><b>{held} of {len(claims)} claims held here.</b></p>"] if claims else []),
        f"<nav>{links}</nav>",
    ]
    for part in parts:
        out.append(f'<section id="{part.name}"><h2>{html.escape(part.title)}</h2>')
        out += [f"<p>{html.escape(text)}</p>" for text in part.text]
        out += [_claim(claim) for claim in part.claims]
        out += [_figure(path, caption) for path, caption in part.figures]
        out += [_table(*table) for table in part.tables]
        out.append("</section>")
    return "\n".join(out) + "\n"
