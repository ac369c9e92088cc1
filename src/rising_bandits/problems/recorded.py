"""Tasks that replay what was measured in training (AntMaze): zero, then rising, with cascading feedback.

The data files say how they were made (``rising antmaze record``). The n-th try of an edge succeeds with the chance
that was measured at the n-th try, and then brings what successes brought there on average, one over the steps; a
failure ends the round.
"""

from __future__ import annotations

import hashlib
import json
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from rising_bandits._checks import Floats
from rising_bandits.curves import Failing, Tabulated
from rising_bandits.errors import InputError
from rising_bandits.problems.graphs import ShortestPath
from rising_bandits.problems.tasks import Task

FORMAT = 1
SIGMA = 1e-4
"""What policies are told in the paper's AntMaze experiments."""
SHARE = 0.25
"""Their windows there, as a share of the plays."""
NAMES = ("antmaze-easy", "antmaze-complex")
"""The recorded tasks that come with the library."""


def read(name: str) -> dict[str, Any]:
    """What a data file holds."""
    text = (resources.files("rising_bandits.problems") / "data" / f"{name}.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def _straighten(at: list[int], values: list[float]) -> Floats:
    """Values at every play, straight between the knots."""
    return np.interp(np.arange(at[-1] + 1), at, values)


def make(name: str, data: dict[str, Any]) -> Task:
    """The task of a recording."""
    if data.get("format") != FORMAT:
        raise InputError(f"format of a recording must be {FORMAT}, got {data.get('format')!r}")
    problem = ShortestPath([tuple(arc) for arc in data["arcs"]], data["start"], data["goal"], reward="harmonic")
    curves, chances = [], []
    for edge in data["edges"]:
        chance = _straighten(edge["plays"], edge["chance"])
        mean = np.minimum(_straighten(edge["plays"], edge["mean"]), chance)
        curves.append(Tabulated(tuple(mean)))
        chances.append(Tabulated(tuple(chance)))
    return Task(
        name,
        problem,
        tuple(curves),
        int(data["episodes"]),
        Failing(tuple(chances), told=SIGMA),
        description=f"an ant in the {data['maze']} maze, replayed from {len(data['made']['runs'])} trained runs",
        cascade=True,
        recorded=True,
    )


def get(name: str) -> Task:
    """A recorded task by name."""
    return make(name, read(name))


def from_file(path: str, digest: str | None = None) -> Task:
    """The task of one's own recording, a file that ``rising antmaze record`` wrote, named after the file.

    With a ``digest``, see `digest_of`, a file that has changed since is refused.
    """
    try:
        found, text = digest_of(path), Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"recording {path!r} cannot be read: {error.strerror}") from None
    if digest not in (None, found):
        raise InputError(f"recording {path!r} has changed: its digest is {found}, not {digest}")
    try:
        return make(Path(path).stem, json.loads(text))
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path!r} is not a recording, as rising antmaze record makes them: {error!r}") from None


def digest_of(path: str) -> str:
    """A short fingerprint of a file."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12]
