"""``rising antmaze record`` and ``replay``: curves measured from trained runs, and policies compared on them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from rising_bandits.cli.output import out, print_heading, print_json, print_table
from rising_bandits.errors import InputError

if TYPE_CHECKING:
    from rising_bandits.experiments import RunSpec


def record(
    folders: Annotated[
        list[Path], typer.Argument(help="Result files, run folders, or folders that hold them, all of one maze.")
    ],
    out_file: Annotated[Path, typer.Option("--out", help="The JSON file to write.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Measure from trained runs how the success of each edge grows with its tries.

    Writes the curves to the JSON file --out, which "rising antmaze replay --map FILE" can replay. An edge
    with few tries borrows the curve of all edges together.

    Example: rising antmaze record results/antmaze --out easy.json
    """
    from rising_bandits.antmaze.recording import write_recording
    from rising_bandits.antmaze.results import find_results

    results = find_results(folders)
    data = write_recording(results, out_file)
    if as_json:
        print_json(data)
        return
    print_heading("recorded", f" from {len(results)} trained runs on the {data['maze']} map")
    print_table(
        ["edge", "borrowed", "tries", "chance at 100", "at 500", "at the end", "steps at the end"],
        [
            [
                edge["edge"],
                "yes" if edge["borrowed"] else "",
                f"{edge['tries']:,}",
                *(f"{np.interp(n, edge['plays'], edge['chance']):.0%}" for n in (100, 500)),
                f"{edge['chance'][-1]:.0%}",
                f"{edge['chance'][-1] / edge['mean'][-1]:.0f}" if edge["mean"][-1] > 0 else "–",
            ]
            for edge in data["edges"]
        ],
        5,
    )
    out.print(f"\nfile: {out_file}, for rising antmaze replay --map {out_file}", soft_wrap=True)


def replay(
    maze: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            help="A recording: easy, complex, or a .json file that rising antmaze record wrote. Can be given several "
            "times; easy and complex by default.",
        ),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="A policy, such as horizon-crucb. Can be given several times. all, the default, stands for the six "
            "policies of the paper and oracle."
        ),
    ] = None,
    seeds: Annotated[
        str, typer.Option(help="How many runs of each policy on each recording; or a range of seeds such as 0-19.")
    ] = "20",
    first_seed: Annotated[int, typer.Option(help="The first seed where --seeds is a number.")] = 0,
    out_folder: Annotated[Path, typer.Option("--out", help="Folder for the results and figures.")] = Path(
        "results/replay"
    ),
    workers: Annotated[int | None, typer.Option(help="How many processes to use; by default one per core.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Compare policies on recorded AntMaze curves, without training an ant.

    A policy without a window of its own uses that of the trained experiment, a quarter of the plays. Prints a table of
    regret; writes the runs and the figures to --out.

    Example: rising antmaze replay --map easy --policy crucb --policy horizon-crucb --seeds 5
    """
    from rising_bandits.cli.report import report_runs
    from rising_bandits.experiments import PAPER_POLICIES, make_plan
    from rising_bandits.experiments.plan import with_windows
    from rising_bandits.problems import recorded

    names = [_recording(name) for name in maze] if maze else list(recorded.NAMES)
    texts = [
        text for given in policy or ["all"] for text in ([*PAPER_POLICIES, "oracle"] if given == "all" else [given])
    ]
    texts = [with_windows(text, recorded.SHARE) for text in texts]
    plan = make_plan(names, texts, seeds=seeds, first_seed=first_seed)
    report_runs(plan, out_folder, workers, plot=True, as_json=as_json, label=_replay_label)


def _replay_label(spec: RunSpec) -> str:
    """The policy of a replay, with its parameters that are not the usual ones of this experiment."""
    from rising_bandits.experiments.plan import make_policy, parse_policy, with_windows
    from rising_bandits.problems.recorded import SHARE

    usual = {
        **make_policy(*parse_policy(with_windows(spec.policy, SHARE))).parameters(),
        "sigma": spec.make_task().sigma,
    }
    told = spec.policy != "oracle" and "sigma" in spec.parameters and spec.parameters["sigma"] is not None
    changed = [
        f"{name}={value!r}"
        for name, value in spec.parameters.items()
        if usual.get(name) != value and (name != "sigma" or told)
    ]
    return f"{spec.policy}({', '.join(changed)})" if changed else spec.policy


def _recording(name: str) -> str:
    """The task that replays a recording, given by the name of a maze or by its file."""
    from rising_bandits.problems import recorded

    if (task := f"antmaze-{name}") in recorded.NAMES:
        return task
    if not name.endswith(".json"):
        known = ", ".join(task.removeprefix("antmaze-") for task in recorded.NAMES)
        raise InputError(
            f"--map must be one of {known}, or a .json file that rising antmaze record wrote, got {name!r}"
        )
    recorded.from_file(name)
    path = str(Path(name).resolve())
    # Finished runs are found by the text of their task. The digest makes a changed file a different task.
    return f"{recorded.__name__}:from_file(path={path!r}, digest={recorded.digest_of(path)!r})"
