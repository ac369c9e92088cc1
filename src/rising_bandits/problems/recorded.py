"""AntMaze tasks that replay measurements from training, with cascading feedback.

The n-th try of an edge succeeds with the probability that was measured for the n-th try. The outcome of a success is
the average outcome of the measured successes, where an outcome is one over the number of steps. A failure ends the
round.
The command ``rising antmaze record`` made the data files; each file states how.
"""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any, cast

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats
from rising_bandits.curves import Failing, Tabulated
from rising_bandits.errors import InputError
from rising_bandits.problems import user_files
from rising_bandits.problems.graphs import ShortestPath
from rising_bandits.problems.tasks import Task

FORMAT = 1
SIGMA = 1e-4
"""The subgaussian constant that policies get in the paper's AntMaze experiments."""
SHARE = 0.25
"""The window of policies in these experiments, as a share of the plays."""
_MOST_PLAYS = 1_000_000
NAMES = ("antmaze-easy", "antmaze-complex")
"""The recorded tasks that come with the library."""


def read(name: str) -> dict[str, Any]:
    """Read the data file of a recorded task."""
    text = (resources.files("rising_bandits.problems") / "data" / f"{name}.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def _straighten(at: list[int], values: list[float]) -> Floats:
    """Interpolate linearly to get a value for every play."""
    _checks.integer("the last play of a recording", at[-1], low=0, high=_MOST_PLAYS)
    return np.interp(np.arange(at[-1] + 1), at, values)


def make(name: str, data: dict[str, Any]) -> Task:
    """Build the task of a recording.

    Parameters
    ----------
    name
        The name of the task.
    data
        The content of the data file.

    Raises
    ------
    InputError
        The content is not that of a recording.
    """
    try:
        return _make(name, data)
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise InputError(f"{name!r} is not a recording, as rising antmaze record makes them: {error!r}") from None


def _make(name: str, data: dict[str, Any]) -> Task:
    """`make` for a recording whose content may be anything."""
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
    """A recorded task of the library, by one of the `NAMES`."""
    if not isinstance(cast(object, name), str) or name not in NAMES:
        raise InputError(f"name of a recording must be one of {', '.join(NAMES)}, got {name!r}")
    return make(name, read(name))


def from_file(path: str | Path, digest: str | None = None) -> Task:
    """Build the task of your own recording. It is named after the file.

    Parameters
    ----------
    path
        A file that ``rising antmaze record`` wrote.
    digest
        What `digest_of` returned for the file earlier. A file that has changed since then is refused.

    Raises
    ------
    InputError
        The file cannot be read, is not a recording, or has changed.
    """
    content = user_files.content_of("recording", path, digest)
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{str(path)!r} is not a recording, as rising antmaze record makes them: {error!r}") from None
    return make(Path(path).stem, data)


def digest_of(path: str | Path) -> str:
    """The digest of a file, as `from_file` takes it."""
    return user_files.digest(user_files.content_of("recording", path))
