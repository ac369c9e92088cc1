"""Every help text of the command: an example that is understood, what is written, and the defaults."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from rising_bandits.cli.app import command


def walk(found: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, found
    for name, part in getattr(found, "commands", {}).items():
        yield from walk(part, (*path, name))


COMMANDS = dict(walk(command(), ("rising",)))


def examples(path: tuple[str, ...]) -> list[str]:
    """The commands that a help text shows."""
    text = f"{COMMANDS[path].help or ''}\n{COMMANDS[path].epilog or ''}"
    return re.findall(r"^(?:Example: )?(rising [^#\n]+?)(?:\s+#.*)?$", text, flags=re.MULTILINE)


def leaf(words: list[str]) -> tuple[Any, list[str]]:
    """The command that these words call, and the words that are left for it."""
    path: tuple[str, ...] = ("rising",)
    rest = words[1:]
    while rest and (*path, rest[0]) in COMMANDS:
        path, rest = (*path, rest[0]), rest[1:]
    return path, rest


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_help_has_an_example_that_parses_and_says_what_is_written(path):
    found = examples(path)
    assert found, "a help text needs a line that begins with 'Example: rising'"
    for text in found:
        called, rest = leaf(shlex.split(text))
        # The example is about this command, or about one below it.
        assert called[: len(path)] == path
        # Parsing alone: an unknown option, a missing argument or a value of a wrong type raises.
        COMMANDS[called].make_context(" ".join(called), list(rest))
    if path != ("rising",):
        assert re.search(r"\b(writes?|removes)\b", COMMANDS[path].help, flags=re.IGNORECASE)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_option_says_what_it_is_and_what_happens_without_it(path):
    for option in COMMANDS[path].params:
        assert option.help, option.name
        flag = getattr(option, "is_flag", False)
        told = option.required or option.multiple or flag or option.default not in (None, "")
        # typer prints a default that is a value; where it is not, the words say it.
        assert told or option.nargs == -1 or "default" in option.help, option.opts


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_paragraphs_of_a_help_are_single_lines_that_the_terminal_breaks(path):
    for part in (COMMANDS[path].help or "").split("\n\n"):
        assert "\n" not in part


def test_rising_alone_shows_what_one_can_do(run, capsys):
    run()
    text = capsys.readouterr().out
    for words in ("rising demo", "rising run", "rising study create", "rising serve", "theory", "antmaze"):
        assert words in text


@pytest.mark.parametrize(
    ("words", "extra"),
    [(("identify", "identify-models"), "lab"), (("serve",), "serve"), (("view", "."), "serve")],
    ids=lambda part: part[0] if isinstance(part, tuple) else part,
)
def test_a_command_without_its_extra_says_what_to_install(run, monkeypatch, capsys, words, extra):
    monkeypatch.setattr("rising_bandits._extras.find_spec", lambda name: None)
    # What an earlier test has imported is not looked for again.
    for name in [name for name in sys.modules if name.startswith("rising_bandits.serve")]:
        monkeypatch.delitem(sys.modules, name)
    assert run(*words) == 2
    said = capsys.readouterr().err
    assert f"pip install '.[{extra}]'" in " ".join(said.split())
    # A reader in a shell cannot pass arguments of Python.
    assert "compiled" not in said
    assert f"Needs the extra {extra}." in COMMANDS["rising", words[0]].help


def test_the_examples_of_studies_are_a_story_that_runs(run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plays.csv").write_text("arm,play,outcome\nann,1,0.5\nbob,1,0.4\n", encoding="utf-8")
    (tmp_path / "copies").mkdir()
    order = ["create", "list", "ask", "tell", "show", "record", "compare", "replay", "export", "import", "retire"]
    order += ["restore", "reset", "set-problem", "set-policy", "set-horizon", "set-expiry", "import-plays", "set-scale"]
    order += ["hand-over", "set-falls", "set-least", "set-spread", "check", "backup", "delete"]
    assert set(order) == set(COMMANDS["rising", "study"].commands)
    for name in order:
        (text,) = examples(("rising", "study", name))
        assert run(*shlex.split(text)[1:]) == 0, (text, capsys.readouterr().err)
