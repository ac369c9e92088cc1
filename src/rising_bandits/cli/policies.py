"""``rising policies``: list the policies with their parameters."""

from __future__ import annotations

import typer

from rising_bandits.cli.output import out, print_json, print_table
from rising_bandits.policies import classes, recommended
from rising_bandits.policies.catalogue import describe
from rising_bandits.problems import TopK


def policies(
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of a table."),
) -> None:
    """List the policies, what they act on, and their parameters with defaults. Say which one is recommended.

    Writes no files.

    Example: rising policies --json
    """
    rows = [describe(kind) for kind in classes().values()]
    # The recommendation is the same for every problem, so any problem serves here.
    advised = recommended(TopK(2, k=1)).name
    if as_json:
        print_json({"policies": rows, "recommended": advised})
        return
    lines = []
    for row in rows:
        given = ", ".join(f"{name}={value!r}" for name, value in row["parameters"].items())
        mark = "Recommended. " if row["policy"] == advised else ""
        lines.append([row["policy"], row["acts_on"], mark + row["description"]])
        lines.append(["", "", given or "no parameters"])
    print_table(["policy", "acts on", "what it does, and its parameters"], lines, 0)
    out.print(
        f"\nrecommended: {advised}; --policy recommended stands for it, and a study without --policy uses it",
        soft_wrap=True,
    )
    out.print("parameters are given in brackets: --policy 'crucb(epsilon=0.25)'", soft_wrap=True)
