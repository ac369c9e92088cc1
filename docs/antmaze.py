"""Make what the guide of AntMaze and the report show from trained runs: a summary, tables, figures, replays.

python docs/antmaze.py                    from the runs in docs/data/antmaze
python docs/antmaze.py results/antmaze    the finished runs of that folder are copied there first
python docs/antmaze.py --replay           also replay the recorded tasks, which takes some minutes
python docs/antmaze.py --record           also measure the curves of the tasks antmaze-easy and antmaze-complex anew,
                                          and replay them

The tasks are measured anew only when asked for, because every number of the benchmark and of the replays depends on
them. A file of curves names the runs that it was made from. `tests/antmaze/test_results.py` makes the summary and the
tables again and compares.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA = ROOT / "docs" / "data"
RUNS = DATA / "antmaze"
IMAGES = ROOT / "docs" / "images"
CURVES = ROOT / "src" / "rising_bandits" / "problems" / "data"
SUMMARY = ROOT / "src" / "rising_bandits" / "reproduction" / "data" / "antmaze.npz"
MORE = (
    "foresight",
    "program-crucb",
    "crucb(upward=True)",
    "horizon-crucb",
    "crucb(epsilon=0.125)",
    "crucb(sigma=0.02)",
    "crucb(epsilon=0.125, sigma=0.02)",
)
"""Policies that are replayed beside the paper's: the library's own, the authors' rule, and the printed formula with
the window that the paper states and with a noise level near the true one."""
REPLAY = ("replay", "--seeds", "20", *(part for policy in ("all", *MORE) for part in ("--policy", policy)))
"""The arguments of the command that replays them."""


def command() -> str:
    """The command that replays them, as one types it."""
    return shlex.join(("rising", "antmaze", *REPLAY))


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], numbers: int) -> str:
    """A Markdown table whose last ``numbers`` columns are aligned to the right."""
    marks = ["---"] * (len(headings) - numbers) + ["--:"] * numbers
    return "\n".join("| " + " | ".join(row) + " |" for row in (headings, marks, *rows)) + "\n"


def tables() -> dict[str, str]:
    """The content of every generated Markdown file in docs/data, by its name."""
    from rising_bandits.antmaze.results import find_results
    from rising_bandits.reproduction.antmaze import LEARNED, last_success
    from rising_bandits.reproduction.maze_claims import maze_claims
    from rising_bandits.reproduction.maze_parts import DIFFERENCES, HEADINGS, comparison, differences, which_seeds
    from rising_bandits.reproduction.summary_file import load

    made = {}
    alone = [run for run in find_results(sorted(RUNS.glob("easy-oracle-*.npz"))) if run.spec.label == "oracle"]
    edges = LEARNED["easy"]
    rows = [[str(run.spec.seed), *(f"{last_success(run, edge):.0%}" for edge in edges)] for run in alone]
    made["antmaze-learning.md"] = table(["seed", *(edge.replace("->", "→") for edge in edges)], rows, 2)
    for one in load(SUMMARY.read_bytes()):
        text = f"{which_seeds(one)}\n\n{table(HEADINGS, comparison(one), 8)}\n"
        text += f"{DIFFERENCES}:\n\n"
        text += table(["policy", "seeds", "difference", "CRUCB lower on", "p"], differences(one), 4)
        text += "\nWhat the paper says about this maze, judged by these runs:\n\n"
        text += table(["claim", "here", "by what"], [[c.text, c.verdict, c.evidence] for c in maze_claims(one)], 0)
        made[f"antmaze-{one.maze}.md"] = text
    stored = json.loads((DATA / "antmaze-replay.json").read_text(encoding="utf-8"))
    replayed = stored["rows"]
    lines = stored["settings"]["command"].replace(" --policy", " \\\n    --policy")
    text = f"```text\n{lines}\n```\n\n"
    for task in dict.fromkeys(row["task"] for row in replayed):
        rows = [
            [f"`{row['policy']}`", f"{row['regret']:.3f}", f"{row['half_width']:.3f}", f"{row['share']:z.0%}"]
            for row in replayed
            if row["task"] == task
        ]
        text += (
            f"{task}, {replayed[0]['runs']} seeds:\n\n" + table(["policy", "regret", "± 99%", "share"], rows, 3) + "\n"
        )
    made["antmaze-replay.md"] = text
    return made


def summary() -> bytes:
    """The summary of all runs, as the package holds it."""
    from rising_bandits.antmaze.results import find_results
    from rising_bandits.reproduction.summaries import summarise
    from rising_bandits.reproduction.summary_file import dump

    return dump(summarise(find_results([RUNS])))


def figures() -> None:
    """The figures of the guide."""
    from rising_bandits.antmaze.results import find_results
    from rising_bandits.plots.antmaze import plot_learning
    from rising_bandits.reproduction.antmaze import LEARNED
    from rising_bandits.reproduction.maze_parts import heatmap_parts, outcomes_part, trained_part
    from rising_bandits.reproduction.summary_file import load

    with tempfile.TemporaryDirectory() as name:
        made = Path(name)
        alone = [run for run in find_results(sorted(RUNS.glob("easy-oracle-*.npz"))) if run.spec.label == "oracle"]
        plot_learning(alone, LEARNED["easy"], made / "learning.png")
        shutil.copy(made / "learning.png", IMAGES / "antmaze-learning.png")
        for one in load(SUMMARY.read_bytes()):
            trained_part(one, made)
            shutil.copy(made / f"regret-{one.maze}.png", IMAGES / f"antmaze-trained-{one.maze}.png")
            if one.maze == "easy":
                outcomes_part(one, made)
                shutil.copy(made / "outcomes-easy.png", IMAGES / "antmaze-outcomes.png")
            if one.maze == "complex":
                heatmap_parts(one, made)
                for kind in ("positions", "paths", "edges"):
                    shutil.copy(made / f"{kind}-complex.png", IMAGES / f"antmaze-{kind}.png")


def rising(*arguments: object) -> str:
    """What a command of this very tree prints, whatever is installed."""
    command = [sys.executable, "-c", "from rising_bandits.cli import main; main()", "antmaze", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, env=environment).stdout


def replay() -> None:
    """The replayed comparison: its numbers and its figures."""
    with tempfile.TemporaryDirectory() as name:
        made = Path(name)
        told = rising(*REPLAY, "--out", made, "--json")
        # Times differ from machine to machine and are not shown.
        rows = [{k: v for k, v in row.items() if k != "microseconds"} for row in json.loads(told)["rows"]]
        text = json.dumps({"settings": {"command": command()}, "rows": rows}, indent=1)
        (DATA / "antmaze-replay.json").write_text(f"{text}\n", encoding="utf-8")
        for maze in ("easy", "complex"):
            shutil.copy(made / "_figures" / f"regret-antmaze-{maze}.png", IMAGES / f"antmaze-replayed-{maze}.png")


def main(arguments: list[str]) -> None:
    """Copy runs, then make everything that follows from them."""
    if {argument for argument in arguments if argument.startswith("-")} - {"--record", "--replay"}:
        sys.exit(__doc__)
    folders = [argument for argument in arguments if not argument.startswith("--")]
    for result in (path for folder in folders for path in sorted(Path(folder).glob("*/result.npz"))):
        shutil.copy(result, RUNS / f"{result.parent.name}.npz")
    if "--record" in arguments:
        for maze in ("easy", "complex"):
            rising("record", *sorted(RUNS.glob(f"{maze}-*.npz")), "--out", CURVES / f"antmaze-{maze}.json")
    if "--record" in arguments or "--replay" in arguments:
        replay()
    SUMMARY.write_bytes(summary())
    for name, text in tables().items():
        (DATA / name).write_text(text, encoding="utf-8")
    figures()


if __name__ == "__main__":
    main(sys.argv[1:])
