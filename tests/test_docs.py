"""The documentation builds into a site without a warning, and the site needs no network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "object": "data"}
"""The elements that make a browser load something, and the attribute that says what."""


class Loads(HTMLParser):
    """Collects what a browser would load for a page, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.formulas = 0
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.formulas += tag == "math"
        found = dict(attrs)
        # A link to another page is followed by a reader, not loaded; <link rel="..."> is loaded.
        if tag in LOADED and (address := found.get(LOADED[tag])):
            self.loaded.append(address)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-d", str(folder / "trees")]
    done = subprocess.run(
        [*command, str(ROOT / "docs"), str(folder / "site")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONWARNINGS": "default"},
    )
    assert done.returncode == 0, done.stderr
    # Every page of the source is reached from the index.
    assert "isn't included in any toctree" not in done.stderr
    return folder / "site"


def test_the_site_builds_without_warnings(site):
    assert (site / "api" / "policies.html").exists()


def test_no_page_loads_anything_from_the_network(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        found = Loads()
        found.feed(page.read_text(encoding="utf-8"))
        for address in found.loaded:
            assert not re.match(r"(https?:)?//", address), (page.name, address)
            if not address.startswith(("#", "data:")):
                assert (page.parent / address.partition("#")[0].partition("?")[0]).exists(), (page.name, address)
    for style in site.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*['\"]?(https?:)?//", style.read_text(encoding="utf-8")), style.name


def test_formulas_are_mathml(site):
    pages = {}
    for name in ("theory/horizon", "theory/upper-bound", "api/policies"):
        pages[name] = Loads()
        pages[name].feed((site / f"{name}.html").read_text(encoding="utf-8"))
        assert pages[name].formulas > 20
        # No LaTeX is left for a script to find.
        assert not re.search(r"\\[\(\[]|\\frac|\\sqrt", "".join(pages[name].text)), name


def test_parameters_of_docstrings_are_lists(site):
    text = (site / "api" / "policies.html").read_text(encoding="utf-8")
    assert re.search(r"<strong>epsilon</strong>.{0,80}The window as a share", text)
    assert '<p class="rubric">Examples</p>' in text


def test_the_reference_lists_every_public_name_of_plots_and_oracles(site):
    from rising_bandits import oracles, plots

    for room in (plots, oracles):
        name = room.__name__.rpartition(".")[2]
        text = (site / "api" / f"{name}.html").read_text(encoding="utf-8")
        for public in room.__all__:
            assert f'id="{room.__name__}.' in text
            assert re.search(rf'id="rising_bandits\.{name}\.(\w+\.)*{public}"', text), public
