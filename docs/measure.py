"""Measure anew what pages of this documentation show, and write it to docs/data.

python docs/measure.py examples     the comparisons of the three examples and their figures, half a minute
python docs/measure.py identify     error rates under a budget, and their figures, some minutes
python docs/measure.py figures      only the figures of error rates, from docs/data

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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rising_bandits.examples.compare import Result

ROOT = Path(__file__).parents[1]
DATA = ROOT / "docs" / "data"
IMAGES = ROOT / "docs" / "images"
EXAMPLES = ("routing", "crowdsourcing", "planning")
IDENTIFY = (
    "rising identify identify-models identify-paths --policy r-ucbe --policy r-sr"
    " --policy 'successive-halving(budget=1.0)' --policy cucb --policy 'crucb(upward=True)' --policy horizon-crucb"
    " --budget 100 --budget 300 --budget 1000 --budget 3000 --budget 10000"
    " --first-seed 1000 --seeds 50"
)


def compared(example: str, horizons: tuple[int, ...] | None = None) -> list[Result]:
    """The comparison of an example: reward per round of every policy, over its horizons or over some of them."""
    from rising_bandits.examples.compare import compare

    module = import_module(f"rising_bandits.examples.{example}")
    return compare(module.task, horizons or module.HORIZONS)


def rows_of(example: str, results: list[Result]) -> list[dict[str, Any]]:
    """The results of an example as rows of a file."""
    return [
        {
            "example": example,
            "rounds": result.horizon,
            "policy": result.policy,
            "mean": float(f"{result.mean:.6g}"),
            "error": float(f"{result.error:.6g}"),
            "end": float(f"{result.end:.6g}"),
        }
        for result in results
    ]


def write(name: str, command: str, rows: list[dict[str, Any]]) -> None:
    """Write rows to a file of docs/data, a line each, with the command that makes them."""
    lines = ",\n  ".join(json.dumps(row) for row in rows)
    text = f'{{\n "command": {json.dumps(command)},\n "rows": [\n  {lines}\n ]\n}}\n'
    (DATA / name).write_text(text, encoding="utf-8")


def examples() -> None:
    """Measure the three examples, and draw their figures."""
    from rising_bandits.examples.compare import plot
    from rising_bandits.plots import theme

    rows = []
    for example in EXAMPLES:
        results = compared(example)
        rows += rows_of(example, results)
        with theme(formats=["png"]):
            plot(results, IMAGES / f"example-{example}.png", import_module(f"rising_bandits.examples.{example}").TITLE)
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
    figures()


def figures() -> None:
    """Draw the error rates that the guide to identification shows."""
    from rising_bandits.plots import plot_identification, theme
    from rising_bandits.simulation.identification import ErrorRate

    rates: dict[str, dict[str, list[tuple[int, ErrorRate]]]] = {}
    for row in json.loads((DATA / "identify.json").read_text(encoding="utf-8"))["rows"]:
        errors = round(row["error_probability"] * row["runs"])
        rate = ErrorRate(row["runs"], errors, row["simple_regret"], *row["interval"])
        rates.setdefault(row["task"], {}).setdefault(row["policy"], []).append((row["budget"], rate))
    for task, found in rates.items():
        with theme(formats=["png"]):
            plot_identification(found, IMAGES / f"{task}.png")


if __name__ == "__main__":
    for part in sys.argv[1:]:
        {"examples": examples, "identify": identify, "figures": figures}[part]()
