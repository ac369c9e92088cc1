"""The option ``--curves`` of ``rising run``: tasks from files of the user's own curves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rising_bandits.errors import InputError
from rising_bandits.problems import curve_files

CURVES = (
    "A CSV or Parquet file of your own curves, with the columns arm, play (from 1), mean and perhaps sd. "
    "Can be given several times."
)
NOISE = "With --curves: bernoulli for outcomes of 0 or 1, or a standard deviation; by default the column sd."
SIZE = "With --curves: how many arms are played in a round; by default 1."
ARM = "With --curves: take only this arm. Can be given several times."


def curve_tasks(
    files: Sequence[Path] | None, noise: str | None, k: int | None, arms: Sequence[str] | None, horizon: int | None
) -> list[str]:
    """The tasks of files of curves, as texts from which every process can build them."""
    alone = [name for name, value in {"--noise": noise, "--k": k, "--arm": arms or None}.items() if value is not None]
    if alone and not files:
        raise InputError(f"{' and '.join(alone)} must be given together with --curves FILE")
    given = {"noise": noise, "k": k, "arms": list(arms or ()) or None, "horizon": horizon}
    asked: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    found = []
    for file in files or ():
        path = str(file.resolve())
        curve_files.from_file(path, **asked)
        arguments = {"path": path, "digest": curve_files.digest_of(path), **asked}
        written = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        found.append(f"{curve_files.__name__}:from_file({written})")
    return found
