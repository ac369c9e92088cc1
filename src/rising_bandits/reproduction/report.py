"""Reports as HTML pages that hold everything they show: facts, an index, text, claims, figures and tables."""

from __future__ import annotations

import base64
import html
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rising_bandits.reproduction.judging import VERDICTS, Claim, Verdict

_STYLE = """
:root{color-scheme:light dark;--ink:#222;--page:#fff;--soft:#555;--line:#ddd;--note:#f6f6f6;--good:#00694f;
--bad:#b33c00;--mid:#7a5b00;--link:#0b5cad}
@media (prefers-color-scheme:dark){:root{--ink:#e4e4e4;--page:#17181a;--soft:#a9a9a9;--line:#3a3c40;--note:#222427;
--good:#4fd0a5;--bad:#ff8a57;--mid:#e0b84c;--link:#7db8f0}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);max-width:64rem;margin:2rem auto;
padding:0 1rem}
a{color:var(--link)}
h1{font-size:1.7rem}h2{font-size:1.25rem;margin-top:2.5rem;border-top:1px solid var(--line);padding-top:1.2rem}
figure{margin:1rem 0}figure img{max-width:100%;background:#fff;border-radius:4px}
figcaption{color:var(--soft);font-size:.92rem}
.wide{overflow-x:auto}
table{border-collapse:collapse;margin:1rem 0;font-variant-numeric:tabular-nums;font-size:.92rem}
caption{text-align:left;color:var(--soft);padding-bottom:.3rem}
th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid var(--line);vertical-align:top}
th:first-child,td:first-child{text-align:left}
table.words th,table.words td{text-align:left}
td.short{white-space:nowrap}
.claim{display:grid;grid-template-columns:7.5rem 1fr;gap:.2rem .8rem;margin:.5rem 0}
.held{color:var(--good);font-weight:600}.not{color:var(--bad);font-weight:600}.level{color:var(--mid);font-weight:600}
.held,.not,.level,.none{white-space:nowrap}
.none{color:var(--soft);font-weight:600}.evidence,.ours{color:var(--soft);font-size:.92rem}
nav a{margin-right:.8rem}
@media print{:root{--ink:#000;--page:#fff;--soft:#333;--line:#bbb;--good:#000;--bad:#000;--mid:#000;--link:#000}
body{max-width:none;margin:0;padding:0;font-size:10pt}nav{display:none}.wide{overflow:visible}
table,.evidence,.ours,figcaption{font-size:8pt}th,td{padding:.1rem .35rem}
table.words td:last-child{overflow-wrap:anywhere}
figure,.claim,tr,h2{break-inside:avoid}h2{break-after:avoid}figure img{max-height:20cm}}
"""
_CLASSES: dict[Verdict, str] = {"held": "held", "did not hold": "not", "level": "level", "not judged": "none"}


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
    items
        The figures, tables and theorems of the paper that the section shows, such as "Figure 5".
    """

    name: str
    title: str
    text: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    figures: list[tuple[Path, str]] = field(default_factory=list)
    tables: list[tuple[str, list[str], list[list[str]]]] = field(default_factory=list)
    items: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A line of the index: something of the paper, and what became of it here.

    Attributes
    ----------
    item
        Its name in the paper, such as "Figure 5".
    what
        What it is, in a few words.
    verdict
        What was found.
    why
        For "not judged" the reason; otherwise what was counted.
    parts
        The sections that show it.
    equations
        The numbers of the paper's equations that belong to it, as text.
    """

    item: str
    what: str
    verdict: Verdict
    why: str
    parts: tuple[str, ...] = ()
    equations: str = ""


def _verdict(verdict: Verdict) -> str:
    """A verdict as HTML."""
    return f'<span class="{_CLASSES[verdict]}">{verdict}</span>'


def _claim(claim: Claim, link: str = "") -> str:
    """A claim as HTML; with ``link``, a link to its section."""
    words = html.escape(claim.text)
    words = f'<a href="#{link}">{words}</a>' if link else words
    whose = "" if claim.of_paper else ' <span class="ours">(a check of ours, not a claim of the paper)</span>'
    return (
        f'<div class="claim">{_verdict(claim.verdict)}<span>{words}{whose}'
        f'<br><span class="evidence">{html.escape(claim.evidence)}</span></span></div>'
    )


_SHORT = 18
"""Cells of up to this many letters are not broken into lines."""
_KINDS = {".svg": "svg+xml", ".png": "png", ".gif": "gif"}


def _figure(path: Path, caption: str, folder: Path | None) -> str:
    """A picture as HTML, with its data inside and a link to its file."""
    kind = _KINDS[path.suffix]
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    words = html.escape(caption)
    links = ""
    if folder is not None:
        files = [path.with_suffix(suffix) for suffix in (".svg", ".png", ".gif") if path.with_suffix(suffix).exists()]
        links = " " + " · ".join(
            f'<a href="{html.escape(Path(os.path.relpath(file, folder)).as_posix())}">{file.suffix[1:].upper()}</a>'
            for file in files
        )
    picture = f'<img alt="{words}" src="data:image/{kind};base64,{data}">'
    return f"<figure>{picture}<figcaption>{words}{links}</figcaption></figure>"


def _table(caption: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as HTML."""
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in headings)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    words = f"<caption>{html.escape(caption)}</caption>"
    return f'<div class="wide"><table>{words}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(text: str) -> str:
    """A cell of a table; a short one, such as a number with its mark, stays on one line."""
    kind = ' class="short"' if len(text) <= _SHORT else ""
    return f"<td{kind}>{html.escape(text)}</td>"


def _facts(facts: Sequence[tuple[str, str]]) -> str:
    """Facts as a table of two columns."""
    rows = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in facts)
    return f'<div class="wide"><table class="words"><tbody>{rows}</tbody></table></div>'


def _index(entries: Sequence[Entry], names: Sequence[str]) -> str:
    """The index of the paper as a table."""
    rows = []
    for entry in entries:
        links = " ".join(f'<a href="#{name}">{name}</a>' for name in entry.parts if name in names)
        cells = (
            html.escape(entry.item), html.escape(entry.equations), html.escape(entry.what), _verdict(entry.verdict),
            html.escape(entry.why), links,
        )  # fmt: skip
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    head = "".join(
        f"<th>{name}</th>" for name in ("in the paper", "equations", "what it is", "here", "by what", "section")
    )
    return (
        '<h2 id="index">Everything in the paper, and what became of it here</h2><div class="wide"><table class="words">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def count(claims: Sequence[Claim]) -> str:
    """How many claims got each verdict, in words.

    >>> count([Claim("a", "held", ""), Claim("b", "held", ""), Claim("c", "level", "")])
    '3: 2 held, 1 level'
    """
    found = {verdict: sum(claim.verdict == verdict for claim in claims) for verdict in VERDICTS}
    order: tuple[Verdict, ...] = ("held", "level", "did not hold", "not judged")
    return f"{len(claims)}: " + ", ".join(f"{found[verdict]} {verdict}" for verdict in order if found[verdict])


def render(
    parts: Sequence[Part],
    introduction: Sequence[str],
    heading: str = "Combinatorial Rising Bandits, reproduced",
    *,
    facts: Sequence[tuple[str, str]] = (),
    index: Sequence[Entry] = (),
    files: Sequence[tuple[str, str]] = (),
    folder: Path | None = None,
) -> str:
    """The HTML text of a report.

    What did not hold comes first, then what was level; then the index, then the sections.

    Parameters
    ----------
    parts
        The sections, in order.
    introduction
        Paragraphs of plain text above them.
    heading
        The heading of the page.
    facts
        Pairs of words above everything: version, date, seeds and the like.
    index
        The index of the paper.
    files
        Names and relative addresses of files beside the page.
    folder
        The folder of the page, to which links to figures are relative; without it there are none.
    """
    claims = [(part.name, claim) for part in parts for claim in part.claims]
    of_paper, ours = ([claim for _, claim in claims if claim.of_paper == whose] for whose in (True, False))
    links = "".join(f'<a href="#{part.name}">{part.name}</a> ' for part in parts)
    out = [
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>",
        "<link rel=icon href='data:,'>",
        f"<title>{html.escape(heading)}</title><style>{_STYLE}</style>",
        f"<h1>{html.escape(heading)}</h1>",
        *([_facts(facts)] if facts else []),
        *(f"<p>{html.escape(text)}</p>" for text in introduction),
        *([f"<p><b>Claims of the paper judged here, {count(of_paper)}.</b></p>"] if of_paper else []),
        *([f"<p>Checks of our own, {count(ours)}.</p>"] if ours else []),
        *(
            [
                "<p>Files: "
                + " · ".join(f'<a href="{html.escape(at)}">{html.escape(name)}</a>' for name, at in files)
                + "</p>"
            ]
            if files
            else []
        ),
    ]
    for verdict, words in (("did not hold", "What did not hold"), ("level", "What was level")):
        if found := [(name, claim) for name, claim in claims if claim.verdict == verdict]:
            out.append(f"<h2>{words}</h2>")
            out += [_claim(claim, name) for name, claim in sorted(found, key=lambda item: not item[1].of_paper)]
    if index:
        out.append(_index(index, [part.name for part in parts]))
    out.append(f"<nav>{links}</nav>")
    for part in parts:
        shown = f' <span class="ours">({", ".join(part.items)} of the paper)</span>' if part.items else ""
        out.append(f'<section id="{part.name}"><h2>{html.escape(part.title)}{shown}</h2>')
        out += [f"<p>{html.escape(text)}</p>" for text in part.text]
        out += [_claim(claim) for claim in part.claims]
        out += [_figure(path, caption, folder) for path, caption in part.figures]
        out += [_table(*table) for table in part.tables]
        out.append("</section>")
    return "\n".join(out) + "\n"
