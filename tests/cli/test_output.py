"""Tables on terminals of any width: nothing is cut off."""

from __future__ import annotations

import io

import pytest

from rising_bandits.cli import output


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_a_table_keeps_every_name_word_and_number(width, monkeypatch, capsys):
    screen = output.console(force_terminal=True, width=width, color_system=None, file=io.StringIO())
    monkeypatch.setattr(output, "out", screen)
    words = "a policy that does a lot and needs many words to be described"
    output.print_table(["policy", "what it is", "regret"], [["explore-then-commit", words, "1,234.5"]], 1)
    text = screen.file.getvalue() + capsys.readouterr().out
    assert "…" not in text
    for part in ("explore-then-commit", "1,234.5", *words.split()):
        assert part in text
    # Where the table fits, no line is wider than the terminal.
    assert width < 80 or max(len(line) for line in text.splitlines()) <= width


def test_a_table_that_is_no_terminal_has_one_line_a_row(capsys):
    output.print_table(["policy", "what it is"], [["crucb", "one " * 30]], 0)
    assert len(capsys.readouterr().out.splitlines()) == 2
