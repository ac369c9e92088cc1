"""Make what the guide of AntMaze shows from trained runs: recordings, replays and figures.

python docs/antmaze.py                    from the runs in docs/data/antmaze
python docs/antmaze.py results/antmaze    after taking over the finished runs of that folder

The numbers in the guide itself are checked by its own examples.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "docs" / "data" / "antmaze"
IMAGES = ROOT / "docs" / "images"
CURVES = ROOT / "src" / "rising_bandits" / "problems" / "data"
RISING = Path(sys.executable).with_name("rising")
MORE = ("crucb(upward=True)", "horizon-crucb")
"""Policies that are replayed beside the paper's."""


def rising(*arguments: object) -> str:
    """What a command prints."""
    return subprocess.run(
        [RISING, "antmaze", *map(str, arguments)], check=True, text=True, stdout=subprocess.PIPE
    ).stdout


def main(folders: list[str]) -> None:
    """Take over runs, then make everything that follows from them."""
    for result in (path for folder in folders for path in Path(folder).glob("*/result.npz")):
        shutil.copy(result, RUNS / f"{result.parent.name}.npz")
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
