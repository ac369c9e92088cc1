"""The names in a results folder, and folders that earlier versions wrote.

The folder ``runs`` holds result files. Every other name begins with an underscore or a dot, so programs that read a
folder of Parquet files pass over it: ``pandas.read_parquet(folder)`` reads the results and nothing else.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from rising_bandits.errors import InputError
from rising_bandits.experiments.plans import Plan

RUNS = "runs"
"""The folder of finished runs."""
PARTIAL = "_partial"
"""The folder of checkpoints of runs in progress."""
FIGURES = "_figures"
"""The folder of figures."""
REPEAT = "_repeat"
"""The results folder of runs that were repeated to compare their numbers."""
SETTINGS = "_settings.json"
"""The file with the specs of all runs."""
OLD_PARTIAL = "partial"
OLD_SETTINGS = "settings.json"


def result_folders(folder: Path) -> list[Path]:
    """The results folders at or below a folder. What ``--repeat`` wrote is left out: its runs are there already."""
    found = sorted({path.parent for path in folder.rglob(RUNS) if path.is_dir()})
    return [path for path in found if path == folder or path.name != REPEAT]


def plan_files(folder: Path) -> list[Path]:
    """The plans that a folder keeps; those that an earlier version wrote come first."""
    return [path for pattern in ("plan.toml", "plan-*.toml", "_plan*.toml") for path in sorted(folder.glob(pattern))]


def rename_older(folder: Path) -> None:
    """Give checkpoints and plans that an earlier version wrote the names of today.

    A plan is renamed only if it is word for word what the library writes: a file of one's own may have the same name.
    """
    older = folder / OLD_PARTIAL
    for path in sorted(older.glob("*.json.gz")):
        (folder / PARTIAL).mkdir(exist_ok=True)
        with contextlib.suppress(OSError):
            path.replace(folder / PARTIAL / path.name)
    with contextlib.suppress(OSError):
        older.rmdir()
    for path in plan_files(folder):
        if not path.name.startswith("_"):
            with contextlib.suppress(InputError, OSError):
                plan = Plan.read(path)
                if plan.to_toml().encode() == path.read_bytes():
                    plan.keep(folder)
                    path.unlink()
