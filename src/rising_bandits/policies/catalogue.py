"""What the classes of policies say about themselves: names, parameters, defaults and ranges, for menus and lists."""

from __future__ import annotations

import inspect
import re
from typing import Any

from rising_bandits.policies.levels import BaseArmPolicy, SuperArmPolicy
from rising_bandits.policies.policy import Policy

_LETTERS = {
    "\\kappa": "κ",
    "\\sigma": "σ",
    "\\epsilon": "ε",
    "\\varepsilon": "ε",
    "\\delta": "δ",
    "\\cdot": "·",
    "^2": "²",
}
"""Marks of formulas, as letters."""


def describe(kind: type[Policy]) -> dict[str, Any]:
    """What a policy's class says about itself.

    Parameters
    ----------
    kind
        The class.

    Returns
    -------
    dict
        Name, title, class, what it acts on, the parameters with their defaults, a help text for each parameter that the
        docstring describes, and a description.

    >>> from rising_bandits.policies import CRUCB
    >>> describe(CRUCB)["help"]["epsilon"]
    "The window as a share of an arm's plays, above 0 and below 1/2."
    """
    level = "base arms" if issubclass(kind, BaseArmPolicy) else "super arms"
    if not issubclass(kind, BaseArmPolicy | SuperArmPolicy):
        level = "–"
    doc = inspect.cleandoc(kind.__doc__ or "")
    parameters = {name: one.default for name, one in inspect.signature(kind).parameters.items()}
    helps = _helps(doc)
    return {
        "policy": kind.name,
        "title": kind.title or kind.name,
        "class": kind.__name__,
        "acts_on": level,
        "parameters": parameters,
        "help": {name: helps[name] for name in parameters if name in helps},
        "description": _plain(doc.split("\n\n")[0]),
    }


def _plain(text: str) -> str:
    """Text in one line, without the marks of reStructuredText and of formulas."""
    text = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"(\1)/(\2)", " ".join(text.split()))
    for mark, letter in _LETTERS.items():
        text = text.replace(mark, letter)
    return re.sub(r":math:|[`*]|\\(?=[a-z])", "", text)


def _helps(doc: str) -> dict[str, str]:
    """The section Parameters of a docstring: a text for each name."""
    found = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-+$|\Z)", doc, re.MULTILINE | re.DOTALL)
    made: dict[str, str] = {}
    names: list[str] = []
    for line in found[1].splitlines() if found else ():
        if line and not line.startswith(" "):
            names = [] if line.startswith(">>>") else [name.strip() for name in line.split(",")]
        else:
            for name in names:
                made[name] = f"{made.get(name, '')} {line.strip()}"
    return {name: _plain(text) for name, text in made.items()}
