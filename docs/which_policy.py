"""Draw the figures of the guide to policies from the files in ``docs/data``: ``python docs/which_policy.py``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from rising_bandits.benchmark.plan import PAPER
from rising_bandits.plots import plot_frontier, plot_map

DOCS = Path(__file__).parent
REAL = ("lcdb, 200 rounds", "lcdb, 1000 rounds", "lcdb, 5000 rounds")


def main() -> None:
    """Draw the frontier and the map."""
    lost: dict[str, dict[str, float]] = {}
    for row in json.loads((DOCS / "data" / "decisions.json").read_text(encoding="utf-8"))["worlds"]:
        lost.setdefault(row["policy"], {})[row["world"]] = row["lost"] / 100.0
    # The toy task is not among the worlds of bench/decisions.py.
    late = [name for name in PAPER if name != "toy"]
    points = {
        policy: tuple(float(np.mean([shares[world] for world in worlds])) for worlds in (late, REAL))
        for policy, shares in lost.items()
        if all(world in shares for world in (*late, *REAL))
    }
    images = DOCS / "images"
    made = plot_frontier({"frontier": points}, images / "bench-frontier.png", up="real learning curves")
    made += plot_map(json.loads((DOCS / "data" / "random.json").read_text(encoding="utf-8")), images / "bench-map.png")
    for path in made:
        if path.suffix == ".svg":
            path.unlink()


if __name__ == "__main__":
    main()
