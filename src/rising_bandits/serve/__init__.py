"""Decisions for programs in any language, and a page to look at: an HTTP service over a storage of studies.

``rising serve`` runs it. `make_app` makes the same service as an ASGI application for a server of your own.
"""

from __future__ import annotations

from rising_bandits._extras import require

for _package in ("starlette", "uvicorn", "msgspec", "prometheus_client"):
    require("serve", _package)

from rising_bandits.serve.app import make_app  # noqa: E402
from rising_bandits.serve.limits import Limits  # noqa: E402
from rising_bandits.serve.tokens import Grant, Tokens  # noqa: E402

__all__ = ["Grant", "Limits", "Tokens", "make_app"]
