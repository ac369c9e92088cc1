"""The results of finished runs: read one, find many, and see whether they can be compared."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rising_bandits import _checks
from rising_bandits.antmaze.files import MOST_RESULT, read_npz
from rising_bandits.antmaze.maze import Maze
from rising_bandits.antmaze.record import Record
from rising_bandits.antmaze.spec import POLICIES, TrainSpec, differing
from rising_bandits.errors import InputError


@dataclass(frozen=True)
class Result:
    """The result of a finished run.

    Attributes
    ----------
    spec
        The spec of the run.
    record
        The log of the run.
    walk
        The positions of the ant on a walk of its last path without noise, one row of 15 numbers per step.
    seconds
        How long the training took, without interruptions.
    """

    spec: TrainSpec
    record: Record
    walk: np.ndarray[Any, np.dtype[np.float32]]
    seconds: float

    @property
    def maze(self) -> Maze:
        """The maze of the run."""
        return self.record.maze

    @property
    def competes(self) -> bool:
        """Whether the run belongs into comparisons of regret; runs of ``tour`` do not, they only measure edges."""
        return self.spec.policy != "tour"


def read_result(path: str | Path) -> Result:
    """Read the result of a finished run.

    Parameters
    ----------
    path
        The file of the result, or the folder of the run.

    Raises
    ------
    InputError
        There is no result, or it cannot be read.
    """
    path = Path(path)
    path = path / "result.npz" if path.is_dir() else path
    try:
        arrays, meta = read_npz(path, MOST_RESULT)
        spec = TrainSpec.from_dict(meta["spec"], meta.get("label"))
        seconds = _checks.number("seconds", meta["seconds"], low=0.0)
        return Result(spec, Record.load(spec.maze, arrays), _checked_walk(arrays["walk"], spec.maze), seconds)
    except FileNotFoundError:
        raise InputError(f"there is no finished AntMaze run at {str(path)!r}") from None
    except Exception as error:
        # A damaged or foreign file can raise many kinds of errors: of zlib, of numpy, or of the checks here.
        raise InputError(f"{str(path)!r} is not the result of an AntMaze run: {error}") from None


def _checked_walk(walk: np.ndarray[Any, Any], maze: Maze) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The positions of an ant in a maze, read from a file: a row of 15 numbers for each step of one episode at most."""
    if walk.dtype.kind != "f" or walk.ndim != 2 or walk.shape[1] != 15 or not 1 <= len(walk) <= maze.steps + 1:
        raise InputError(f"its walk must be 1 to {maze.steps + 1} rows of 15 numbers, got {walk.dtype} {walk.shape}")
    left, right, bottom, top = maze.bounds
    (x, y), far = walk[:, :2].T, max(right - left, top - bottom)
    inside = (left - far <= x) & (x <= right + far) & (bottom - far <= y) & (y <= top + far)
    if not (np.isfinite(walk).all() and inside.all()):
        raise InputError("its walk must be positions in or near the maze")
    return walk.astype(np.float32)


def find_results(places: Iterable[str | Path]) -> list[Result]:
    """All finished runs in some places, sorted by maze, policy and seed.

    Parameters
    ----------
    places
        Result files, run folders, or folders that hold them.

    Raises
    ------
    InputError
        A place does not exist, a file is not a result, or there is none.
    """
    files: list[Path] = []
    for place in map(Path, places):
        if not place.exists():
            raise InputError(f"there is no file or folder {str(place)!r}")
        files += [place] if place.is_file() else sorted(place.rglob("*.npz"))
    once = {path.resolve(): path for path in reversed(files) if path.name != "checkpoint.npz"}
    found = [read_result(path) for path in once.values()]
    if not found:
        raise InputError(f"there is no finished AntMaze run in {', '.join(map(str, places))}")
    return _sorted(found)


def find_alike(results: Sequence[Result], folder: str | Path) -> list[Result]:
    """The given runs, and all runs in a folder with the same maze, settings and number of episodes as the first.

    Files in the folder that cannot be read are ignored.
    """
    found = {result.spec.key: result for result in results}
    kind = results[0].spec
    for path in sorted(Path(folder).glob("*/result.npz")):
        with contextlib.suppress(InputError):
            other = read_result(path)
            spec = other.spec
            if (spec.maze, spec.settings, spec.episodes) == (kind.maze, kind.settings, kind.episodes):
                found.setdefault(spec.key, other)
    return _sorted(found.values())


def _sorted(results: Iterable[Result]) -> list[Result]:
    """Runs sorted by maze, policy and seed."""
    order = {name: place for place, name in enumerate(POLICIES)}
    return sorted(results, key=lambda r: (r.maze.name, order.get(r.spec.policy, len(order)), r.spec.label, r.spec.seed))


def check_alike(results: Sequence[Result]) -> None:
    """Raise `InputError` if runs cannot be compared: they differ in maze or settings, or one was given twice."""
    seen: set[tuple[Any, ...]] = set()
    for result in results:
        spec, first = result.spec, results[0].spec
        if spec.maze != first.maze:
            raise InputError(f"runs must be of one maze, got {first.maze.name!r} and another, {spec.maze.name!r}")
        if differ := differing(first.settings, spec.settings):
            raise InputError(
                f"runs must have been trained with the same settings, but {first.key} and {spec.key} differ in "
                f"{', '.join(differ)}"
            )
        if (run := (spec.label, spec.seed, spec.episodes)) in seen:
            raise InputError(f"run {spec.key} of {spec.episodes} episodes was given twice")
        seen.add(run)
