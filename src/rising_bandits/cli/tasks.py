"""``rising tasks``: list the tasks and policies that can be run."""

from __future__ import annotations

from typing import Any

import typer

from rising_bandits import policies, theory
from rising_bandits.cli.output import out, print_json, print_table
from rising_bandits.problems import tasks as known

_FEW = 5
"""A family with at most this many members is listed in full."""


def tasks(
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of a table."),
) -> None:
    """List the built-in tasks and policies.

    With --json each task also has its best constant super arm. Writes no files.

    Example: rising tasks --json
    """
    rows = []
    for name in known.names():
        task = known.get(name)
        oracle = task.problem.oracle
        row: dict[str, Any] = {
            "task": name,
            "description": task.description,
            "base_arms": oracle.n_arms,
            "super_arms": oracle.count(),
            "max_size": oracle.max_size,
            "horizon": task.horizon,
            "sigma": task.sigma,
            "reward": task.problem.reward.name,
        }
        if as_json:
            # Finding the optimum takes most of the time, and the table does not show it.
            best = theory.optimal_constant(task)
            row |= {
                "optimal_super_arm": [str(label) for label in task.problem.labels_of(best.super_arm)],
                "optimal_arms": best.super_arm.tolist(),
                "optimal_total": best.total,
            }
        rows.append(row)
    if as_json:
        families = [
            {"prefix": family.prefix, "members": list(family.members()), "description": family.description}
            for family in known.families()
        ]
        print_json({"tasks": rows, "families": families, "policies": policies.names()})
        return
    headings = ["task", "reward", "base arms", "super arms", "largest", "rounds", "sigma"]
    keys = ["task", "reward", "base_arms", "super_arms", "max_size", "horizon", "sigma"]
    cells = [[f"{row[key]:,}" if key in ("super_arms", "horizon") else str(row[key]) for key in keys] for row in rows]
    print_table(headings, cells, 5)
    out.print()
    print_table(["task", "what it is"], [[row["task"], row["description"]] for row in rows], 0)
    out.print()
    print_table(["family of tasks", "what it is"], [_shown(family) for family in known.families()], 0)
    example = known.families()[0]
    name = example.prefix + example.members()[0]
    out.print(f"\nA number after @ sets the rounds of a task of a family: {name}@5000", soft_wrap=True)
    out.print(f"\npolicies: {', '.join(policies.names())}")
    out.print(
        "try: rising run path-easy --policy recommended --policy sw-cucb --out results/first --plot", soft_wrap=True
    )


def _shown(family: Any) -> list[str]:
    """The names of a family, or the first of them, and what it is."""
    members = [family.prefix + name for name in family.members()]
    few = len(members) <= _FEW
    return [", ".join(members) if few else f"{', '.join(members[:2])}, ... ({len(members)} tasks)", family.description]
