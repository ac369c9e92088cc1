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
    """The names in a text, separated by commas. ``name`` is the name of the option, for error messages.

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
    return ", ".join(f"--{name}" for name in names)


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
            "give one problem: --edges FILE --source A --target B for paths, --edges FILE for spanning trees, "
            "--workers A,B --jobs X,Y for matchings, --arms A,B,C --k 2 for sets of two arms, or --problem FILE; "
            f"got {' and '.join(f'--{name}' for name in given) or 'none'}"
        )
    options = {"source": source, "target": target, "jobs": jobs, "k": k, "reward": reward}
    for name, value in options.items():
        if value is not None and name not in _BELONG[given[0]]:
            fitting = _listed(_BELONG[given[0]])
            hint = f"only {fitting} can be given with it" if fitting else "the file describes the whole problem"
            raise InputError(f"--{name} does not go with --{given[0]}; {hint}")
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
        data = json.loads(_text("problem", path))
        return Problem.from_spec(data)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"--problem must be a JSON file that holds what problem.spec() returns; {str(path)!r} is not ({error})"
        ) from None


def _read_edges(path: Path) -> tuple[list[list[str]], list[str]]:
    """The rows of a CSV file of edges, and its heading (empty if there is none)."""
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(_text("edges", path).splitlines()) if any(row)]
    except csv.Error as error:
        raise InputError(
            f"--edges must be a CSV file of node,node or node,node,name; {str(path)!r} is not ({error})"
        ) from None
    heading: list[str] = []
    if rows and [cell.lower() for cell in rows[0]][:2] in (["from", "to"], ["source", "target"], ["tail", "head"]):
        heading, rows = rows[0], rows[1:]
    for number, row in enumerate(rows, start=1):
        if len(row) < 2 or not all(row[:2]) or (len(row) > 3 and not heading):
            raise InputError(f"--edges must be a CSV file of node,node or node,node,name, got {row!r} in edge {number}")
    return rows, heading


def _name_column(rows: list[list[str]], heading: list[str]) -> int | None:
    """The column with the names of the edges: the one called name or label, or the third if it is not all numbers."""
    called = [place for place, cell in enumerate(heading) if cell.lower() in ("name", "label") and place > 1]
    third = [row[2] for row in rows if len(row) > 2 and row[2]]
    if called:
        return called[0]
    return 2 if third and not all(map(_is_number, third)) else None


def named_column(path: Path) -> str:
    """Say which column of a CSV file of edges is used for names; empty if there are only two columns."""
    rows, heading = _read_edges(path)
    if max(map(len, rows), default=0) < 3:
        return ""
    used = _name_column(rows, heading)
    titles = {place: f" ({cell})" for place, cell in enumerate(heading)}
    if used is None:
        return f"column 3{titles.get(2, '')} of {path.name} holds numbers, so edges are named by their ends"
    return f"edges are named by column {used + 1}{titles.get(used, '')} of {path.name}"


def _from_edges(path: Path, source: str | None, target: str | None, reward: str | None) -> Problem:
    """Paths or spanning trees from a CSV file with one edge per line: two nodes, and optionally a name.

    A first line such as ``from,to`` is skipped.
    """
    rows, heading = _read_edges(path)
    used = _name_column(rows, heading)
    pairs = [
        (*row[:2], row[used]) if used is not None and len(row) > used and row[used] else tuple(row[:2]) for row in rows
    ]
    if (source is None) != (target is None):
        raise InputError(f"--source and --target must be given together, got source {source!r} and target {target!r}")
    if source is None:
        return SpanningTree(pairs, reward=reward or "sum")
    return ShortestPath(pairs, source, target, reward=reward)


def _is_number(text: str) -> bool:
    """Whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def numbers_by_name(name: str, texts: Sequence[str]) -> dict[str, float]:
    """Numbers from texts such as ``a->b=0.9``, by what is before the last equals sign.

    >>> numbers_by_name("outcomes", ["a->b=0.9"])
    {'a->b': 0.9}
    """
    found: dict[str, float] = {}
    for text in texts:
        arm, equals, number = text.rpartition("=")
        if not equals or not _is_number(number):
            raise InputError(f"{name} must look like ARM=NUMBER, as in 'a->b=0.9', got {text!r}")
        if arm in found:
            raise InputError(f"{name} must name each arm once, got {arm!r} twice")
        found[arm] = float(number)
    return found


def _text(name: str, path: Path) -> str:
    """The text of the file that the option ``name`` gives."""
    if not path.is_file():
        raise InputError(f"--{name} must be a file, but {str(path)!r} does not exist or is a folder")
    try:
        # This encoding accepts files with and without a byte order mark.
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"--{name} must be text in UTF-8; {str(path)!r} is not ({error})") from None
