"""What the tests of the service share."""

from __future__ import annotations

import contextlib

import httpx
from anyio.from_thread import start_blocking_portal

import rising_bandits as rb

ROADS = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("b", "c")]
PROBLEM = rb.problems.ShortestPath(ROADS, "a", "d")
MAIN = "a-main-token-of-the-tests"


def make(storage, name="routes", policy=None, **options):
    return rb.studies.create(name, PROBLEM, policy or rb.CRUCB(sigma=0.1), storage=storage, seed=7, **options)


def outcomes(decision):
    return {arm: ((decision["id"] * 37 + place * 11) % 101) / 101 for place, arm in enumerate(decision["super_arm"])}


def problem_of(response, status):
    """The problem of an answer; every error is one."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    found = response.json()
    assert found["status"] == status
    assert found["title"]
    assert "Traceback" not in response.text
    return found["detail"]


class Client:
    """A client of an application in this process, which runs in a thread of its own."""

    def __init__(self, app, base_url="http://localhost", headers=None):
        self.app = app
        self._stack = contextlib.ExitStack()
        self._options = {"base_url": base_url, "headers": headers}

    def __enter__(self):
        self._portal = self._stack.enter_context(start_blocking_portal())
        self._stack.enter_context(self._portal.wrap_async_context_manager(self.app.router.lifespan_context(self.app)))
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        self._client = self._stack.enter_context(
            self._portal.wrap_async_context_manager(httpx.AsyncClient(transport=transport, **self._options))
        )
        return self

    def __exit__(self, *error):
        return self._stack.__exit__(*error)

    def request(self, method, path, **options):
        return self._portal.call(lambda: self._client.request(method, path, **options))

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def post(self, path, **options):
        return self.request("POST", path, **options)
