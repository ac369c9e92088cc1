"""``rising policies``: list the policies with their parameters."""

from __future__ import annotations

import inspect
import re
from typing import Any

import typer

from rising_bandits.cli.output import out, print_json, print_table
from rising_bandits.policies import BaseArmPolicy, Policy, SuperArmPolicy, classes


def describe(kind: type[Policy]) -> dict[str, Any]:
    """What a policy's class says about itself."""
    level = "base arms" if issubclass(kind, BaseArmPolicy) else "super arms"
    if not issubclass(kind, BaseArmPolicy | SuperArmPolicy):
        level = "–"
    first = inspect.cleandoc(kind.__doc__ or "").split("\n\n")[0]
    return {
        "policy": kind.name,
        "title": kind.title or kind.name,
        "class": kind.__name__,
        "acts_on": level,
        "parameters": {name: one.default for name, one in inspect.signature(kind).parameters.items()},
        # Without the marks of reStructuredText.
        "description": re.sub(r":math:|[`*]", "", " ".join(first.split())),
    }


def policies(
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of a table."),
) -> None:
    """List the policies, what they act on, and their parameters with defaults.

    Writes no files.
    """
    rows = [describe(kind) for kind in classes().values()]
    if as_json:
        print_json({"policies": rows})
        return
    print_table(
        ["policy", "acts on", "parameters"],
        [
            [row["policy"], row["acts_on"], ", ".join(f"{name}={value!r}" for name, value in row["parameters"].items())]
            for row in rows
        ],
        0,
    )
    out.print()
    for row in rows:
        out.print(f"{row['policy']}: {row['description']}", soft_wrap=True)
    out.print("\nparameters are given in brackets: --policy 'crucb(epsilon=0.25)'", soft_wrap=True)
