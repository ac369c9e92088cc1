"""The documentation builds into a site without a warning, and the site needs no network."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

import rising_bandits as rb
from rising_bandits.cli.demo import commute

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


@pytest.fixture(scope="module")
def extension():
    """Loads a module of docs/_ext."""

    def load(name):
        spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / "_ext" / f"{name}.py")
        found = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = found
        spec.loader.exec_module(found)
        return found

    return load


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


def test_notebooks_and_the_gallery_show_what_their_cells_do_now(site):
    notebooks = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
    assert len(notebooks) >= 3
    for notebook in notebooks:
        cells = [
            cell for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"
        ]
        # A notebook is kept without outputs; the build makes them.
        assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells), notebook.name
        text = (site / "notebooks" / f"{notebook.stem}.html").read_text(encoding="utf-8")
        assert text.count('class="cell ') + text.count(" cell ") >= len(cells)
        assert f"/{notebook.name}" in text
    study = (site / "notebooks" / "study.html").read_text(encoding="utf-8")
    assert "runner-up:" in study
    gallery = (site / "gallery.html").read_text(encoding="utf-8")
    drawn = re.findall(r'<img class="drawing" src="([^"]+)" alt="([^"]+)"', gallery)
    assert len(drawn) >= 10
    assert all((site / address).read_text(encoding="utf-8").startswith("<?xml") for address, _ in drawn)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "needs a question"),
        ("Is it a nail?", "needs answers"),
        ("Is it a nail?\n  hammer", "an answer, an arrow and what follows"),
        ("Is it a nail?\n  yes ->", "an answer, an arrow and what follows"),
    ],
)
def test_a_chart_that_is_no_tree_fails_the_build(extension, text, words):
    chart = extension("chart")
    with pytest.raises(chart.ChartError, match=words):
        chart.drawn(text)


def test_boxes_of_a_chart_do_not_touch_and_say_everything(extension):
    text = """May an arm that starts low end best?
      yes, or nobody knows -> Is the number of rounds known?
        yes -> the first result, in so many words that they need several lines
        no -> B & C
      no -> D"""
    svg = ElementTree.fromstring(extension("chart").drawn(text))
    boxes = [[float(one.get(key)) for key in ("x", "y", "width", "height")] for one in svg.iter("rect")]
    assert len(boxes) == 5
    for place, (x, y, width, height) in enumerate(boxes):
        for a, b, c, d in boxes[place + 1 :]:
            assert x + width <= a or a + c <= x or y + height <= b or b + d <= y
    left, top, wide, high = map(float, svg.get("viewBox").split())
    assert all(left <= x and x + width <= left + wide for x, _, width, _ in boxes)
    assert all(top <= y and y + height <= top + high for _, y, _, height in boxes)
    said = " ".join(one.text for one in svg.iter("text"))
    for word in text.replace("->", " ").split():
        assert word in said


def test_a_cell_that_fails_says_where(extension, tmp_path):
    session = extension("cells").Session(tmp_path)
    assert session.run("class A:\n    pass\nA.__name__").text == "'A'"
    with pytest.raises(ZeroDivisionError):
        session.run("1 / 0")
    (tmp_path / "a.png").write_bytes(b"1")
    shown = session.run("open('b.png', 'w').close(); open('b.svg', 'w').close(); open('c.png', 'w').close()")
    assert [path.name for path in shown.figures] == ["b.svg", "c.png"]


def test_pictures_of_the_recommended_policy_show_the_one_of_today():
    """A picture is drawn by hand-run scripts; its note says which policy it shows, and with what result."""
    notes = json.loads((ROOT / "docs" / "data" / "pictures.json").read_text(encoding="utf-8"))
    task = commute()
    policies = {"recommended": rb.policies.recommended(task.problem, task.horizon), "sliding window": rb.SWCUCB()}
    assert {note["policy"] for note in notes.values()} == {repr(policies["recommended"])}
    best = rb.optimal_constant(task).total
    lost = {name: 100 * rb.simulate(task, policy, seed=0).regret[-1] / best for name, policy in policies.items()}
    assert notes["story.png"]["lost"] == {name: f"{share:.0f}%" for name, share in lost.items()}
    for name in notes:
        assert (ROOT / "docs" / "images" / name).exists()
