"""Problems described by command-line options: a file of edges, lists of names, or a file of `Problem.spec` data."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rising_bandits.errors import InputError
from rising_bandits.problems import KMax, Matching, Problem, ShortestPath, SpanningTree, TopK


def split(name: str, text: str) -> list[str]:
    """The names in a text that separates them by commas; ``name`` is the option in error messages.

    >>> split("arms", "ann, bob")
    ['ann', 'bob']
    """
    names = [part.strip() for part in text.split(",")]
    if not all(names):
        raise InputError(f"{name} must be names separated by commas, as in ann,bob; got {text!r}")
    return names


_BELONG = {
    "problem": (),
    "edges": ("source", "target", "reward"),
    "workers": ("jobs", "reward"),
    "arms": ("k", "reward"),
}
"""For each option that describes a problem, the options that may be given with it."""


def _listed(names: Sequence[str]) -> str:
    """Options as text."""
    return ", ".join(f"--{name}" for name in names) or "everything in its file"


def make_problem(
    *,
    problem: Path | None = None,
    edges: Path | None = None,
    source: str | None = None,
    target: str | None = None,
    workers: str | None = None,
    jobs: str | None = None,
    arms: str | None = None,
    k: int | None = None,
    reward: str | None = None,
) -> Problem:
    """The problem that the options describe; exactly one of ``problem``, ``edges``, ``workers`` and ``arms`` is given.

    >>> make_problem(arms="ann,bob,cy", k=2).n_arms
    3
    """
    given = [
        name for name, value in {"problem": problem, "edges": edges, "workers": workers, "arms": arms}.items() if value
    ]
    if len(given) != 1:
        raise InputError(
            "give one problem: --edges FILE with --source and --target (without: spanning trees), "
            "--workers A,B --jobs X,Y, --arms A,B,C --k 2, or --problem FILE; "
            f"got {' and '.join(f'--{name}' for name in given) or 'none'}"
        )
    options = {"source": source, "target": target, "jobs": jobs, "k": k, "reward": reward}
    for name, value in options.items():
        if value is not None and name not in _BELONG[given[0]]:
            raise InputError(f"--{name} does not go with --{given[0]}, which has {_listed(_BELONG[given[0]])}")
    if problem is not None:
        return _from_data(problem)
    if edges is not None:
        return _from_edges(edges, source, target, reward)
    if workers is not None:
        if jobs is None:
            raise InputError("--workers needs --jobs, as in --workers ann,bob --jobs cats,cars")
        return Matching(split("workers", workers), split("jobs", jobs), reward=reward or "sum")
    if k is None:
        raise InputError("--arms needs --k, as in --arms ann,bob,cy --k 2")
    names = split("arms", str(arms))
    if reward not in (None, "sum", "max"):
        raise InputError(f"--reward must be sum or max for --arms, got {reward!r}")
    return KMax(names, k) if reward == "max" else TopK(names, k)


def favours_long_paths(problem: Problem) -> bool:
    """Whether the reward is a sum over paths that differ in their number of edges.

    >>> from rising_bandits.problems import ShortestPath
    >>> favours_long_paths(ShortestPath([("a", "b"), ("b", "c"), ("a", "c")], "a", "c"))
    True
    """
    if not isinstance(problem, ShortestPath) or not problem.reward.additive:
        return False
    return len(problem.oracle.solve(-np.ones(problem.n_arms))) < problem.oracle.max_size


def _from_data(path: Path) -> Problem:
    """A problem from a JSON file of its spec."""
    data: Any = None
    try:
        data = json.loads(_text(path))
        return Problem.from_spec(data)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"--problem must be a JSON file that holds what problem.spec() returns; {str(path)!r} is not ({error})"
        ) from None


def _from_edges(path: Path, source: str | None, target: str | None, reward: str | None) -> Problem:
    """Paths or spanning trees from a CSV file with one edge per line: two nodes, and optionally a name.

    A first line such as ``from,to`` is skipped.
    """
    rows = [[cell.strip() for cell in row] for row in csv.reader(_text(path).splitlines()) if any(row)]
    if rows and [cell.lower() for cell in rows[0]][:2] in (["from", "to"], ["source", "target"], ["tail", "head"]):
        rows = rows[1:]
    for number, row in enumerate(rows, start=1):
        if len(row) not in (2, 3) or not all(row[:2]):
            raise InputError(f"--edges must be a CSV file of node,node or node,node,name, got {row!r} in edge {number}")
    pairs = [tuple(cell for cell in row if cell) for row in rows]
    if (source is None) != (target is None):
        raise InputError(f"--source and --target must be given together, got source {source!r} and target {target!r}")
    if source is None:
        return SpanningTree(pairs, reward=reward or "sum")
    return ShortestPath(pairs, source, target, reward=reward)


def _text(path: Path) -> str:
    """The text of a file, which must exist."""
    if not path.is_file():
        raise InputError(f"file {str(path)!r} does not exist")
    return path.read_text()
