"""What the tests of the service share."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import subprocess
import sys

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


def start(storage, tmp_path):
    """The service in a process of its own, and its port."""
    command = [sys.executable, "-c", "from rising_bandits.cli import main; main()", "serve", "--port", "0"]
    options = ["--storage", storage, "--tokens", str(tmp_path / "tokens.json")]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(tmp_path)}
    environment.pop("RISING_TOKEN", None)
    process = subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True, env=environment)
    line = process.stderr.readline()
    return process, int(line.split("127.0.0.1:")[1].split("/")[0])


class Peer:
    """A client of a process with one connection, which notes what it was answered."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.asked, self.told = {}, {}

    def send(self, method, path, body=None, **headers):
        """The status and the content of an answer."""
        data = None if body is None else json.dumps(body)
        self.connection.request(method, path, data, {"Content-Type": "application/json", **headers})
        with self.connection.getresponse() as answer:
            return answer.status, json.loads(answer.read())

    def post(self, path, body, **headers):
        status, found = self.send("POST", path, body, **headers)
        assert status == 200, found
        return found

    def get(self, path):
        status, found = self.send("GET", path)
        assert status == 200, found
        return found

    def ask(self, key=None):
        headers = {} if key is None else {"Idempotency-Key": key}
        decision = self.post("/v1/studies/routes/ask", {}, **headers)
        self.asked[decision["id"]] = decision["super_arm"]
        return decision

    def tell(self, decision):
        """Whether the tell was new."""
        told = outcomes(decision)
        new = self.post("/v1/studies/routes/tell", {"id": decision["id"], "outcomes": told})["new"]
        self.told[decision["id"]] = told
        return new

    def round(self):
        self.tell(self.ask())


def shot(page, name):
    """Keep a picture where RISING_PICTURES says."""
    if folder := os.environ.get("RISING_PICTURES"):
        page.wait_for_timeout(500)
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


def play(study, rounds):
    with study.group():
        for _ in range(rounds):
            decision = study.ask()
            study.tell(decision, {arm: (hash(str(arm)) % 50) / 100 + 0.2 for arm in decision.super_arm})
