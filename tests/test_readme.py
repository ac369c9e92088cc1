"""The README as a new user would use it: its code runs, its commands and links exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()


def test_every_code_block_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) == 2
    scope: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), scope)
    best, ours, window = capsys.readouterr().out.splitlines()
    assert best == "best route: ['home->tunnel', 'tunnel->work']"
    # The block ends in what the picture shows: the recommended policy loses less than half of the baseline's loss.
    lost = [int(line.split()[2]) for line in (ours, window)]
    assert lost[0] < lost[1] / 2


def test_the_first_block_is_short_and_on_the_first_screen():
    first = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert first is not None
    code = [line for line in first[1].splitlines() if line.strip() and not line.startswith("import")]
    assert len(code) <= 10
    assert README[: first.end()].count("\n") <= 32


def test_commands_and_links_exist():
    targets = re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    commands = re.findall(r"(?:^    |`)make ([a-z]+)", README, re.MULTILINE)
    assert commands[:2] == ["reproduce", "test"]
    assert set(commands) <= set(targets)
    for link in re.findall(r"\]\(([^)]+)\)", README) + re.findall(r'(?:src|srcset)="([^"]+)"', README):
        file, _, heading = link.partition("#")
        assert (ROOT / file).exists(), link
        headings = re.findall(r"^#+ (.+)$", (ROOT / file).read_text(), re.MULTILINE) if heading else []
        assert not heading or heading in [text.lower().replace(" ", "-") for text in headings], link
    for script in re.findall(r"`python (\S+\.py)", README):
        assert (ROOT / script).exists(), script


def test_ci_runs_what_the_readme_promises():
    assert "make test" in (ROOT / ".ci" / "run").read_text()
