from __future__ import annotations

import contextlib
import shutil
import threading
import time

import pytest
import uvicorn
from service_kit import MAIN, Client

from rising_bandits.serve import Limits, Tokens, make_app
from rising_bandits.serve.run import config

CHROMIUM = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)
PATIENCE = 60_000
"""How many milliseconds the browser waits for anything; a busy machine is slow."""


@pytest.fixture
def storage(tmp_path):
    return f"sqlite:///{tmp_path}/studies.db"


@pytest.fixture
def serve(storage):
    """A function that starts a service on the storage and returns a client of it."""
    with contextlib.ExitStack() as stack:

        def start(tokens=None, base_url="http://localhost", headers=None, **limits):
            app = make_app(storage, tokens=tokens, limits=Limits(**{"rate": 0.0, **limits}))
            return stack.enter_context(Client(app, base_url, headers))

        yield start


@pytest.fixture
def client(serve):
    return serve()


@pytest.fixture
def guarded(serve):
    """A client of a service that needs a token, with the token of all rights."""
    return serve(Tokens(MAIN), headers={"Authorization": f"Bearer {MAIN}"})


@pytest.fixture
def served():
    """A function that serves the storage on a free port and returns the address."""
    ends = []

    def start(app):
        server = uvicorn.Server(config(app))
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        ends.append((server, thread, app))
        return f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"

    yield start
    for server, thread, app in ends:
        rising = app.state.rising
        rising.hub.draining.set()
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no chromium on the PATH; apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def page(browser):
    """A page that must log no error."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE)
    made = context.new_page()
    made.errors = []
    made.on("pageerror", lambda error: made.errors.append(str(error)))
    made.on("console", lambda said: made.errors.append(said.text) if said.type == "error" else None)
    made.on("dialog", lambda dialog: (made.errors.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    yield made
    assert made.errors == []
    context.close()
