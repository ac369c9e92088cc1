"""The file that holds summaries of trained AntMaze runs, and the one that comes with the package."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np

from rising_bandits.errors import InputError
from rising_bandits.plots.floors import Floor
from rising_bandits.reproduction.trained import Trained, TrainedRun

FORMAT = 1
"""The format of the file."""
_ARRAYS = ("earned", "edges", "paths", "late")
_FLOOR = ("walls", "bounds", "nodes", "edges")


def dump(summaries: Sequence[Trained]) -> bytes:
    """Summaries as the content of a file; `load` reads it."""
    arrays: dict[str, Any] = {}
    meta: list[dict[str, Any]] = []
    for one in summaries:
        longest = max(map(len, one.paths))
        arrays[f"{one.maze} all"] = np.array([[*path, *[-1] * (longest - len(path))] for path in one.paths], np.int16)
        arrays |= {f"{one.maze} floor {name}": getattr(one.floor, name) for name in _FLOOR}
        arrays |= {f"{one.maze} {name}": getattr(one, name) for name in ("passable", "episodes", "tries")}
        arrays[f"{one.maze} outcomes"] = one.outcomes.astype(np.float32)
        for name in _ARRAYS:
            kind = np.float64 if name == "earned" else np.uint16
            arrays[f"{one.maze} run {name}"] = np.stack([getattr(run, name) for run in one.runs]).astype(kind)
        cells = np.stack(list(one.positions.values()))
        # Three digits are enough for a colour; rounding to them makes the file half as large.
        arrays[f"{one.maze} positions"] = np.array([float(f"{x:.3g}") for x in cells.flat], np.float32).reshape(
            cells.shape
        )
        facts = [
            {name: getattr(run, name) for name in ("label", "seed", "minutes", "goal", "walks")} for run in one.runs
        ]
        places = {name: getattr(one.floor, name) for name in ("start", "goal", "cell")}
        meta.append(
            {
                **{name: getattr(one, name) for name in ("maze", "length", "labels", "marks")},
                "runs": facts,
                "floor": places,
                "policies": list(one.positions),
            }
        )
    held = io.BytesIO()
    np.savez_compressed(held, meta=json.dumps({"format": FORMAT, "mazes": meta}), **arrays)
    return held.getvalue()


def load(content: bytes) -> list[Trained]:
    """Summaries from the content of a file.

    Raises
    ------
    InputError
        The content is not that of `dump`.
    """
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        data = json.loads(str(arrays["meta"]))
        if data["format"] != FORMAT:
            raise InputError(f"format of a summary of AntMaze runs must be {FORMAT}, got {data['format']!r}")
        return [_load(meta, arrays) for meta in data["mazes"]]
    except InputError:
        raise
    except Exception as error:
        # A damaged file can raise many kinds of errors: of zlib, of numpy, or of the lines above.
        raise InputError(f"this is not a summary of AntMaze runs: {error}") from None


def _load(meta: dict[str, Any], arrays: dict[str, Any]) -> Trained:
    maze = meta["maze"]
    paths = tuple(tuple(int(arm) for arm in row if arm >= 0) for row in arrays[f"{maze} all"])
    numbers = zip(*(arrays[f"{maze} run {name}"] for name in _ARRAYS), strict=True)
    runs = tuple(
        TrainedRun(
            str(fact["label"]), int(fact["seed"]), float(fact["minutes"]), earned, float(fact["goal"]), fact["walks"],
            edges.astype(np.int64), chosen.astype(np.int64), late.astype(np.int64),
        )
        for fact, (earned, edges, chosen, late) in zip(meta["runs"], numbers, strict=True)
    )  # fmt: skip
    return Trained(
        maze,
        int(meta["length"]),
        Floor(*(arrays[f"{maze} floor {name}"] for name in _FLOOR), **meta["floor"]),
        tuple(meta["labels"]),
        arrays[f"{maze} passable"],
        paths,
        tuple(meta["marks"]),
        arrays[f"{maze} episodes"],
        runs,
        {
            label: cells.astype(float)
            for label, cells in zip(meta["policies"], arrays[f"{maze} positions"], strict=True)
        },
        arrays[f"{maze} tries"],
        arrays[f"{maze} outcomes"].astype(float),
    )


def recorded() -> list[Trained]:
    """The summaries of the trained runs that come with the documentation, for both mazes of the paper.

    >>> [one.maze for one in recorded()]
    ['complex', 'easy']
    """
    return load((resources.files("rising_bandits.reproduction") / "data" / "antmaze.npz").read_bytes())
