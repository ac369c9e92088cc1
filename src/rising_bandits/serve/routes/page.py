"""The files of the page."""

from __future__ import annotations

import gzip
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from rising_bandits.serve.operations import Answer, Call, operation
from rising_bandits.serve.problems import unknown

_TAG = "Page"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}
FILES = ("index.html", "page.js", "page.css", "icon.svg", "LICENSES.txt")
"""The files of the page."""


@cache
def _file(name: str) -> tuple[bytes, bytes, str]:
    """A file of the page: as it is, compressed, and the mark of its content."""
    data = (files("rising_bandits.serve") / "static" / name).read_bytes()
    return data, gzip.compress(data, 9, mtime=0), f'"{hashlib.sha256(data).hexdigest()[:20]}"'


def _static(name: str, call: Call) -> Answer:
    """A file of the page as an answer."""
    data, packed, mark = _file(name)
    headers = {"Cache-Control": "no-cache", "ETag": mark, "Vary": "Accept-Encoding"}
    kind = name.rpartition(".")[2]
    if kind == "html":
        headers |= {"Content-Security-Policy": _POLICY, "Cross-Origin-Opener-Policy": "same-origin"}
    if call.headers.get("if-none-match") == mark:
        return Answer(b"", 304, _TYPES[kind], headers)
    if "gzip" in call.headers.get("accept-encoding", ""):
        return Answer(packed, 200, _TYPES[kind], {**headers, "Content-Encoding": "gzip"})
    return Answer(data, 200, _TYPES[kind], headers)


@operation("GET", "/", right=None, tag=_TAG, type="text/html")
async def page(call: Call) -> Any:
    """Show the page."""
    return _static("index.html", call)


@operation("GET", "/static/{file}", right=None, tag=_TAG, type="text/plain")
async def static(call: Call) -> Any:
    """Give a file of the page."""
    if call.path["file"] not in FILES:
        raise unknown("file", call.path["file"])
    return _static(call.path["file"], call)


def packed(call: Call, data: Any) -> Answer:
    """Data as JSON, compressed if the client can read that."""
    body = msgspec.json.encode(data)
    if len(body) > 2_000 and "gzip" in call.headers.get("accept-encoding", ""):
        return Answer(gzip.compress(body, 5, mtime=0), headers={"Content-Encoding": "gzip", "Vary": "Accept-Encoding"})
    return Answer(body)
