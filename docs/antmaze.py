"""Make what the guide of AntMaze shows from trained runs: recordings, replays and figures.

python docs/antmaze.py                    from the runs in docs/data/antmaze
python docs/antmaze.py results/antmaze    from the finished runs of that folder, which take their place

The numbers in the guide itself are checked by its own examples.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "docs" / "data" / "antmaze"
IMAGES = ROOT / "docs" / "images"
CURVES = ROOT / "src" / "rising_bandits" / "problems" / "data"
MORE = ("crucb(upward=True)", "horizon-crucb")
"""Policies that are replayed beside the paper's."""


def rising(*arguments: object) -> str:
    """What a command of this very tree prints, whatever is installed."""
    command = [sys.executable, "-c", "from rising_bandits.cli import main; main()", "antmaze", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, env=environment).stdout


def main(folders: list[str]) -> None:
    """Take over runs in place of all that were there, then make everything that follows from them."""
    found = {f"{path.parent.name}.npz": path for folder in folders for path in Path(folder).glob("*/result.npz")}
    if folders and {name.partition("-")[0] for name in found} != {"easy", "complex"}:
        sys.exit(f"there must be finished runs of both mazes in {', '.join(folders)}, got {', '.join(found) or 'none'}")
    for old in RUNS.glob("*.npz") if found else ():
        old.unlink()
    for name, result in found.items():
        shutil.copy(result, RUNS / name)
    for maze in ("easy", "complex"):
        rising("record", *sorted(RUNS.glob(f"{maze}-*.npz")), "--out", CURVES / f"antmaze-{maze}.json")
    with tempfile.TemporaryDirectory() as name:
        made = Path(name)
        policies = [part for policy in ("all", *MORE) for part in ("--policy", policy)]
        replay = rising("replay", "--seeds", 20, *policies, "--out", made, "--json")
        rows = json.dumps({"rows": json.loads(replay)["rows"]}, indent=1)
        (ROOT / "docs" / "data" / "antmaze-replay.json").write_text(f"{rows}\n", encoding="utf-8")
        rising("report", RUNS, "--out", made, "--no-film")
        shutil.copy(made / "learning-easy.png", IMAGES / "antmaze-learning.png")
        for maze in ("easy", "complex"):
            shutil.copy(made / f"regret-{maze}.png", IMAGES / f"antmaze-trained-{maze}.png")
            shutil.copy(made / f"regret-antmaze-{maze}.png", IMAGES / f"antmaze-replayed-{maze}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
