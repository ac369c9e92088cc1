"""``rising tasks``: list the tasks and policies that can be run."""

from __future__ import annotations

from typing import Any

import typer

from rising_bandits import policies, theory
from rising_bandits.cli.output import out, print_json, print_table
from rising_bandits.problems import tasks as known

_FEW = 5
"""A family with so few members is listed whole."""


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
            # The optimum needs the curves up to the horizon, which takes most of the time; the table does not show it.
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
    print_table(headings, [[f"{row[key]:,}" if key == "horizon" else str(row[key]) for key in keys] for row in rows], 5)
    out.print()
    for row in rows:
        out.print(f"{row['task']}: {row['description']}", soft_wrap=True)
    for family in known.families():
        members = family.members()
        few = len(members) <= _FEW
        shown = ", ".join(family.prefix + name for name in (members if few else members[:2]))
        more = "" if few else f", ... ({len(members)} tasks)"
        out.print(
            f"\n{family.description}: {shown}{more}; {family.prefix}{members[0]}@5000 has 5000 rounds", soft_wrap=True
        )
    out.print(f"\npolicies: {', '.join(policies.names())}")
    out.print(
        "try: rising run path-easy --policy crucb --policy sw-cucb --seeds 5 --out results/first --plot", soft_wrap=True
    )
