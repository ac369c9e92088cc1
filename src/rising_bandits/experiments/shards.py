"""Parts of a plan for many machines, and how their results are joined."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rising_bandits.errors import InputError
from rising_bandits.experiments import layout
from rising_bandits.experiments.plans import Plan
from rising_bandits.experiments.spec import RunSpec
from rising_bandits.experiments.store import NUMBERS_HASH, ResultStore
from rising_bandits.experiments.stored import columns_of_stored, read_meta, read_run

_LOGGER = logging.getLogger(__name__)
_MOST_SHARDS = 1_000_000


def shard(plan: Sequence[RunSpec], text: str) -> list[RunSpec]:
    """One of several equal parts of a plan. The parts together are the plan, and no run is in two of them.

    Parameters
    ----------
    plan
        The runs, in the same order on every machine.
    text
        Which part of how many, as in ``3/16``; the first is ``1/16``.

    Raises
    ------
    InputError
        The text is not of this form.

    >>> from rising_bandits.experiments import make_plan
    >>> [spec.seed for spec in shard(make_plan(["toy"], ["random"], seeds=5), "2/3")]
    [1, 4]
    """
    match = re.fullmatch(r"(\d{1,7})/(\d{1,7})", text.strip())
    if match is None or not 1 <= int(match[1]) <= int(match[2]) <= _MOST_SHARDS:
        raise InputError(f"shard must look like 3/16, the first is 1/16 and the last 16/16, got {text!r}")
    return list(plan[int(match[1]) - 1 :: int(match[2])])


@dataclass(frozen=True)
class Collected:
    """What `collect` found.

    Attributes
    ----------
    runs
        How many runs the joined folder has.
    added
        How many of them are new in it.
    missing
        The runs that the settings of the parts name and that are not finished anywhere.
    """

    runs: int
    added: int
    missing: list[RunSpec]


def collect(folders: str | Path | Sequence[str | Path], out: str | Path, version: str = "") -> Collected:
    """Join results of several folders in one. The folders are only read.

    A run that is in several folders must be the same in all of them. Where it is not, the one that was made by the
    present source code is taken, and if both or none were, this is an error.

    Parameters
    ----------
    folders
        Results folders, or folders that hold such folders; one may stand alone.
    out
        The folder for the joined results. It may hold results already.
    version
        A version to note in its settings.

    Raises
    ------
    InputError
        A folder does not exist or holds no results, or two folders hold different results of one run.
    """
    target = ResultStore(out)
    planned: dict[str, RunSpec] = {}
    plans: list[Path] = []
    added = 0
    for folder in [folders] if isinstance(folders, str | Path) else folders:
        for place in _parts(Path(folder), target.folder):
            source = ResultStore(place)
            planned |= {spec.key: spec for spec in source.settings()}
            plans += layout.plan_files(place)
            for path in sorted((place / layout.RUNS).glob("*.parquet")):
                spec, new = _take(path, target)
                planned[spec.key] = spec
                added += new
    target.prepare(list(planned.values()), version)
    for path in plans:
        try:
            Plan.read(path).keep(target.folder)
        except InputError as error:
            _LOGGER.warning("left out: %s", error)
    target.align()
    missing = [spec for spec in planned.values() if not target.run_path(spec).exists()]
    return Collected(sum(1 for _ in (target.folder / layout.RUNS).glob("*.parquet")), added, missing)


def _parts(folder: Path, target: Path) -> list[Path]:
    """The results folders at or below a folder."""
    if not folder.is_dir():
        raise InputError(f"folders must be results folders, but {str(folder)!r} does not exist")
    found = [path for path in layout.result_folders(folder) if path.resolve() != target.resolve()]
    if not found and folder.resolve() != target.resolve():
        raise InputError(f"folders must hold results, but there is no folder runs in {str(folder)!r}")
    return found


def _take(path: Path, target: ResultStore) -> tuple[RunSpec, bool]:
    """Copy a run into the joined folder; says whether it is new there."""
    run = read_run(path)
    place = target.run_path(run.spec)
    if place.exists():
        try:
            there = read_run(place)
        except InputError as error:
            _LOGGER.warning("the run is taken anew: %s", error)
        else:
            if _same(run, there):
                return run.spec, False
            now = [meta["sources"] == NUMBERS_HASH for meta in (run.meta, read_meta(place))]
            if now[0] == now[1]:
                raise InputError(f"{str(path)!r} and {str(place)!r} must be equal: they are results of the same run")
            if now[1]:
                return run.spec, False
    target.write_columns(run.spec, columns_of_stored(run), run.meta)
    return run.spec, True


def _same(one: object, other: object) -> bool:
    """Whether two runs have the same numbers. Times may differ."""
    import numpy as np

    names = ("rounds", "regret", "reward", "realised_regret", "realised_reward", "plays_at")
    equal = all(np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True) for name in names)
    return equal and getattr(one, "spec", None) == getattr(other, "spec", None)
