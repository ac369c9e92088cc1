"""The pictures of the guide to the service: ``python docs/service.py``. It needs the extra ``dev``, and Chromium."""

from __future__ import annotations

import math
import shutil
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import uvicorn
from playwright.sync_api import Page, sync_playwright
from story import note

import rising_bandits as rb
from rising_bandits.serve import Limits, Tokens, make_app, tokens

IMAGES = Path(__file__).parent / "images"
DAYS, DECISIONS = 12, 760
# Of each road: minutes at the first play, minutes in the end, and how many plays of practice it takes.
ROADS = {
    ("home", "bridge"): (9.2, 9.0, 1),
    ("home", "tunnel"): (17.0, 4.0, 140),
    ("home", "ferry"): (16.0, 4.5, 110),
    ("bridge", "hill"): (14.0, 9.0, 40),
    ("bridge", "market"): (12.5, 9.5, 60),
    ("tunnel", "market"): (15.0, 2.5, 70),
    ("tunnel", "harbour"): (16.0, 6.5, 120),
    ("ferry", "harbour"): (20.0, 5.0, 60),
    ("hill", "work"): (17.0, 15.0, 60),
    ("market", "work"): (9.2, 9.0, 1),
    ("market", "harbour"): (18.0, 15.0, 30),
    ("harbour", "work"): (12.0, 7.5, 90),
}


def fill(storage: str) -> None:
    """Twelve days of a study, beside the road that is taken today."""
    now = [time.time() - DAYS * 86_400.0]
    rng, plays = np.random.default_rng(5), dict.fromkeys((f"{a}->{b}" for a, b in ROADS), 0)
    ways = {f"{a}->{b}": minutes for (a, b), minutes in ROADS.items()}
    study = rb.studies.create(
        "routes",
        rb.problems.ShortestPath(list(ROADS), "home", "work", reward="harmonic"),
        storage=storage,
        scale=rb.studies.Reciprocal(best=2, unit="min", clip=True),
        horizon=3_000,
        expires=3_600.0,
        seed=4,
        clock=lambda: now[0],
        author="eve",
    )
    study.hand_over("today's road", ["home->bridge", "bridge->market", "market->work"], share=0.15)
    for number in range(DECISIONS):
        now[0] += (DAYS * 86_400.0 - 7_200.0) / DECISIONS * rng.uniform(0.5, 1.5)
        decision = study.ask()
        told = {}
        for arm in decision.super_arm:
            plays[arm] += 1
            first, end, practice = ways[arm]
            told[arm] = max(2.0, end + (first - end) * math.exp(-plays[arm] / practice) + rng.normal(0.0, 0.6))
        if number < DECISIONS - 3:
            study.tell(decision, told)
    study.close()


def shoot(page: Page, address: str, token: str, name: str, height: int | None) -> None:
    """Take a picture of the study, of its whole page or of the first part."""
    page.goto(f"{address}/#/study/routes")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Enter").click()
    page.get_by_text("Chosen:", exact=True).wait_for()
    page.wait_for_timeout(3_000)
    clip = None if height is None else {"x": 0, "y": 0, "width": page.viewport_size["width"], "height": height}
    page.screenshot(path=IMAGES / f"{name}.png", full_page=True, clip=clip)


def main() -> None:
    """Serve the study on this machine, and take the pictures."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder:
        storage, kept = f"sqlite:///{folder}/studies.db", Path(folder) / "tokens.json"
        fill(storage)
        token = tokens.create(kept, "operations", ["*"], ["read", "change"])
        server = uvicorn.Server(
            uvicorn.Config(make_app(storage, tokens=Tokens(path=kept), limits=Limits()), port=0, log_level="error")
        )
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            time.sleep(0.05)
        address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            wide = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
            wide.goto(address)
            # An arm is retired as a person would do it, so that the log has who did it.
            wide.request.post(
                f"{address}/v1/studies/routes/retire",
                headers={"Authorization": f"Bearer {token}"},
                data={"arms": ["home->ferry"]},
            )
            shoot(wide, address, token, "service-study", None)
            phone = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark").new_page()
            shoot(phone, address, token, "service-phone", 1_300)
            browser.close()
        with rb.studies.open("routes", storage=storage) as study:
            note("service-study.png", command="python docs/service.py", policy=repr(study.policy))
        server.config.app.state.rising.hub.draining.set()
        server.should_exit = True
        thread.join()


if __name__ == "__main__":
    main()
