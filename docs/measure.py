"""Measure anew what pages of this documentation show, and write it to docs/data.

python docs/measure.py examples     the comparisons of the three examples, half a minute
python docs/measure.py identify     error rates under a budget, and their figures, some minutes

`docs/antmaze.py` does the same for AntMaze, and ``rising bench policies`` for the guide to policies.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DATA = ROOT / "docs" / "data"
EXAMPLES = ("routing", "crowdsourcing", "planning")
IDENTIFY = (
    "rising identify identify-models identify-paths --policy r-ucbe --policy r-sr"
    " --policy 'successive-halving(budget=1.0)' --policy cucb --policy 'crucb(upward=True)' --policy horizon-crucb"
    " --budget 100 --budget 300 --budget 1000 --budget 3000 --budget 10000"
    " --first-seed 1000 --seeds 50 --plot docs/images"
)


def compared(example: str, horizons: tuple[int, ...] | None = None) -> list[dict[str, Any]]:
    """The comparison of an example: reward per round of every policy, over its horizons or over some of them."""
    from rising_bandits.examples.compare import compare

    module = import_module(f"rising_bandits.examples.{example}")
    return [
        {
            "example": example,
            "rounds": result.horizon,
            "policy": result.policy,
            "mean": float(f"{result.mean:.6g}"),
            "error": float(f"{result.error:.6g}"),
            "end": float(f"{result.end:.6g}"),
        }
        for result in compare(module.task, horizons or module.HORIZONS)
    ]


def write(name: str, command: str, rows: list[dict[str, Any]]) -> None:
    """Write rows to a file of docs/data, a line each, with the command that makes them."""
    lines = ",\n  ".join(json.dumps(row) for row in rows)
    text = f'{{\n "command": {json.dumps(command)},\n "rows": [\n  {lines}\n ]\n}}\n'
    (DATA / name).write_text(text, encoding="utf-8")


def examples() -> None:
    """Measure the three examples."""
    rows = [row for example in EXAMPLES for row in compared(example)]
    write("examples.json", "python docs/measure.py examples", rows)


def identify() -> None:
    """Run the command of the guide to identification with the code of this very tree."""
    command = [
        sys.executable,
        "-c",
        "from rising_bandits.cli import main; main()",
        *shlex.split(IDENTIFY)[1:],
        "--json",
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, env=environment, cwd=ROOT)
    write("identify.json", IDENTIFY, json.loads(done.stdout)["rows"])


if __name__ == "__main__":
    for part in sys.argv[1:]:
        {"examples": examples, "identify": identify}[part]()
