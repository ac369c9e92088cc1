"""``rising demo`` as a newcomer runs it, and what the short lists cost."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

import rising_bandits as rb
from rising_bandits.cli.demo import commute
from rising_bandits.examples import compare, planning


def test_the_demo_ends_in_a_page_and_its_numbers_are_those_of_a_simulation(run, tmp_path, capsys):
    page = tmp_path / "new" / "demo.html"
    assert run("demo", "--out", page, "--json") == 0
    data = json.loads(capsys.readouterr().out)
    text = page.read_text(encoding="utf-8")
    HTMLParser().feed(text)
    assert "<svg" in text
    assert "http" not in text
    assert "<script" not in text
    # The two lines end at one height; their names do not cover each other.
    heights = [
        float(re.search(rf'y="([0-9.]+)"[^>]*>{name}</text>', text)[1]) for name in ("recommended", "sliding window")
    ]
    assert abs(heights[0] - heights[1]) >= 16
    task = commute()
    again = rb.simulate(task, rb.SWCUCB(), seed=0)
    ours, window = data["rows"]
    assert window["regret"] == float(again.regret[-1])
    # The story: who looks ahead practises the tunnel earlier and loses less.
    assert ours["regret"] < window["regret"] / 2
    assert ours["days_in_the_tunnel"] > window["days_in_the_tunnel"]
    assert run("demo", "--out", page) == 0
    printed = capsys.readouterr().out
    assert str(page) in printed.replace("\n", "")
    # What comes next is a command: a wheel has no pages of the guide.
    following = re.findall(r"^(?:next:)? +rising (.+?) +#", printed, re.MULTILINE)
    assert following == ["tasks", "study create --help"]
    for command in following:
        assert run(*command.split()) == 0


def test_the_demo_needs_no_extra(tmp_path):
    code = (
        "import sys\n"
        "for name in ('numba', 'matplotlib', 'pandas', 'pyarrow'): sys.modules[name] = None\n"
        "from rising_bandits.cli import main\n"
        f"main(['demo', '--out', {str(tmp_path / 'demo.html')!r}])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "demo.html").exists()


def test_rising_alone_shows_examples_and_tasks_have_descriptions(run, capsys):
    run("--help")
    assert "rising demo" in " ".join(capsys.readouterr().out.split())
    assert run("tasks") == 0
    text = capsys.readouterr().out
    for name in rb.tasks.names():
        assert f"{name} {rb.tasks.get(name).description}" in " ".join(text.split())


def test_an_example_without_worlds_is_one_clear_line(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["planning", "--worlds", "0"])
    with pytest.raises(SystemExit) as ended:
        compare.main(planning.task, (10,), "plans", "Choose plans.")
    assert ended.value.code == 2
    assert "worlds must be an integer of at least 1, got 0" in capsys.readouterr().err
