"""What a step of AntMaze training costs, part by part, in milliseconds of processor time.

    python bench/antmaze.py [--episodes 40] [--map easy] [--preset cpu] [--against REVISION]

With ``--against`` the same run is also made by another revision of this repository. The table then has the ratio of
the two, and a last line says whether both ants were at the same places at every step.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PARTS = {"physics": ("world", "step"), "acting": ("agent", "act"), "sampling": ("buffer", "sample")}
"""The parts that are timed beside learning: where the training has the object, and its method."""
ROUNDS = 3
"""How often each revision is measured; the least time counts."""


def measure(maze: str, preset: str, episodes: int) -> dict[str, Any]:
    """The milliseconds a step of each part, and a digest of all positions of the ant."""
    from rising_bandits.antmaze.pool import one_core

    one_core()
    from rising_bandits.antmaze.spec import TrainSpec

    training = TrainSpec.make(maze, "oracle", seed=100, settings=preset).begin()
    spent = dict.fromkeys([*PARTS, "learning"], 0.0)
    seen = hashlib.sha256()

    def timed(part: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any) -> Any:
            start = time.process_time()
            made = call(*given)
            if part == "learning":
                int(training.agent.learner.updates)  # waits until the updates are made
            spent[part] += time.process_time() - start
            if part == "physics":
                seen.update(made.tobytes())
            return made

        return run

    while int(training.agent.learner.updates) == 0:  # compiles
        training.episode()
    for part, (owner, method) in {**PARTS, "learning": ("agent", "learn")}.items():
        thing = getattr(training, owner)
        setattr(thing, method, timed(part, getattr(thing, method)))
    before, start = training.buffer.steps, time.process_time()
    for _ in range(episodes):
        training.episode()
    whole, steps = time.process_time() - start, training.buffer.steps - before
    spent["all else"] = whole - sum(spent.values())
    parts = {part: 1e3 * seconds / steps for part, seconds in {**spent, "whole": whole}.items()}
    return {"parts": parts, "steps": steps, "digest": seen.hexdigest()}


def run(source: Path, options: argparse.Namespace) -> dict[str, Any]:
    """The measurement by the package in a folder, in a process of its own."""
    command = [sys.executable, __file__, "--map", options.map, "--preset", options.preset]
    command += ["--episodes", str(options.episodes), "--measure"]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    told = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, env=environment).stdout
    result: dict[str, Any] = json.loads(told.splitlines()[-1])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what a step of AntMaze training costs.")
    parser.add_argument("--episodes", type=int, default=40, help="how many episodes are timed")
    parser.add_argument("--map", default="easy", help="the maze")
    parser.add_argument("--preset", default="cpu", help="the settings: cpu or paper")
    parser.add_argument("--against", metavar="REVISION", help="a revision of git to compare with")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.map, options.preset, options.episodes)))
        return
    with tempfile.TemporaryDirectory() as folder:
        sources = {"this tree": ROOT / "src"}
        if options.against:
            packed = subprocess.run(
                ["git", "archive", options.against, "src"], cwd=ROOT, check=True, capture_output=True
            )
            with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
                archive.extractall(folder, filter="data")
            sources[options.against] = Path(folder) / "src"
        runs = {name: [run(source, options) for _ in range(ROUNDS)] for name, source in sources.items()}
    best = {
        name: {part: min(one["parts"][part] for one in several) for part in several[0]["parts"]}
        for name, several in runs.items()
    }
    print(f"ms a step, {options.map}, preset {options.preset}, {runs['this tree'][0]['steps']} steps")
    print(f"{'':10}", *(f"{name:>12}" for name in best), *(["       ratio"] if options.against else []))
    for part, mine in best["this tree"].items():
        row = [f"{times[part]:12.3f}" for times in best.values()]
        if options.against:
            row.append(f"{best[options.against][part] / mine:12.2f}")
        print(f"{part:10}", *row)
    if options.against:
        same = len({one["digest"] for several in runs.values() for one in several}) == 1
        print(f"the ants were at {'the same places at every step, bit for bit' if same else 'different places'}")


if __name__ == "__main__":
    main()
