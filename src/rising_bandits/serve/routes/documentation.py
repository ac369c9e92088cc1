"""The OpenAPI text, and a page that shows it."""

from __future__ import annotations

from functools import cache
from html import escape
from typing import Any

import msgspec

from rising_bandits.serve.openapi import document
from rising_bandits.serve.operations import OPERATIONS, Answer, Call, operation

_TAG = "Documentation"


@cache
def _text() -> bytes:
    """The OpenAPI text."""
    return msgspec.json.format(msgspec.json.encode(document(OPERATIONS)), indent=1)


@operation("GET", "/openapi.json", right=None, tag=_TAG, answer=dict[str, Any])
async def openapi(call: Call) -> Any:
    """Give the OpenAPI text of this service."""
    return Answer(_text())


@operation("GET", "/docs", right=None, tag=_TAG, type="text/html")
async def docs(call: Call) -> Any:
    """Show the operations of this service as a page."""
    return Answer(_page().encode(), type="text/html; charset=utf-8", headers={"Content-Security-Policy": _POLICY})


_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
summary { cursor: pointer; padding: .3rem 0; } summary:focus-visible { outline: 2px solid; }
code, pre { font: 14px/1.4 ui-monospace, monospace; } pre { overflow: auto; padding: .6rem; border: 1px solid #8886; }
.method { display: inline-block; min-width: 4.5rem; font-weight: 700; }
"""


@cache
def _page() -> str:
    """The page: a list of operations by kind, each with what it takes and answers."""
    made = document(OPERATIONS)
    parts: dict[str, list[str]] = {}
    for path, methods in made["paths"].items():
        for method, each in methods.items():
            parts.setdefault(each["tags"][0], []).append(_shown(path, method, each))
    schemas = "".join(
        f"<details><summary><code>{escape(name)}</code></summary><pre>{_json(schema)}</pre></details>"
        for name, schema in made["components"]["schemas"].items()
    )
    body = "".join(f"<h2>{escape(tag)}</h2>{''.join(rows)}" for tag, rows in parts.items())
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>rising-bandits: HTTP</title>"
        f"<meta name='viewport' content='width=device-width'><style>{_STYLE}</style></head><body><main>"
        "<h1>HTTP service</h1><p>The same as text for programs: <a href='/openapi.json'>/openapi.json</a> (OpenAPI "
        f"3.1). The page: <a href='/'>/</a>.</p>{body}<h2>Types</h2>{schemas}</main></body></html>"
    )


def _shown(path: str, method: str, each: dict[str, Any]) -> str:
    """One operation."""
    lines = [f"<p>{escape(each.get('description', ''))}</p>"]
    if "x-right" in each:
        lines.append(f"<p>Needs the right <code>{escape(each['x-right'])}</code>.</p>")
    lines += [
        f"<p>In the {parameter['in']}: <code>{escape(parameter['name'])}</code></p>"
        for parameter in each.get("parameters", [])
    ]
    if "requestBody" in each:
        lines.append(f"<p>Body:</p><pre>{_json(each['requestBody']['content']['application/json']['schema'])}</pre>")
    for status, answer in each["responses"].items():
        lines.append(f"<p><b>{status}</b> {escape(answer['description'])}</p>")
    head = f"<span class='method'>{method.upper()}</span><code>{escape(path)}</code> {escape(each['summary'])}"
    return f"<details><summary>{head}</summary>{''.join(lines)}</details>"


def _json(data: Any) -> str:
    """Data as text for HTML."""
    return escape(msgspec.json.format(msgspec.json.encode(data), indent=1).decode())
