"""``rising antmaze``: train an ant together with a bandit policy, report on trained runs, record and replay them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from rising_bandits.cli.antmaze_progress import watch
from rising_bandits.cli.antmaze_replay import record, replay
from rising_bandits.cli.output import out, print_heading, print_json, print_table, progress_bar
from rising_bandits.cli.stopping import resumable
from rising_bandits.cli.sweeps import SCHEDULER, engine

if TYPE_CHECKING:
    from rising_bandits.antmaze.results import Result


app = typer.Typer(
    help="AntMaze: an ant learns to walk while a bandit chooses its paths.\n\n"
    "Needs the extra antmaze; replay needs only lab. Writes runs, reports and recordings to --out.\n\n"
    "Example: rising antmaze replay --map easy",
    no_args_is_help=True,
)


@app.command("run")
@resumable()
def run(
    maze: Annotated[
        str, typer.Option("--map", help="The maze: easy, complex, or a TOML file with text and nodes.")
    ] = "easy",
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="A policy, such as crucb (the default) or 'crucb(upward=True)'. Can be given several times. oracle is "
            "the constant optimal path, which regret is measured against. all stands for the six policies of the paper "
            "and oracle. tour tries every edge that can be reached, for recordings."
        ),
    ] = None,
    episodes: Annotated[
        int | None, typer.Option(help="Episodes per run; by default the maze's own, 2000 on easy and 3000 on complex.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The first seed where --seeds is a number.")] = 0,
    seeds: Annotated[
        str, typer.Option(help="How many runs of each policy, counted from --seed; or a range such as 10-12.")
    ] = "1",
    preset: Annotated[
        str,
        typer.Option(
            help="The training settings: cpu, for one core; upright, the same but an ant on its back counts as lost; "
            "or paper, those of the paper."
        ),
    ] = "cpu",
    out_folder: Annotated[
        Path, typer.Option("--out", help="Folder for checkpoints and results, one sub-folder per run.")
    ] = Path("results/antmaze"),
    workers: Annotated[
        int | None, typer.Option(help="How many runs at the same time, one core each; by default one per core.")
    ] = None,
    scheduler: Annotated[str | None, typer.Option(help=SCHEDULER)] = None,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Whether to write an HTML report at the end.")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Train the ant while a bandit policy chooses its paths.

    Writes the result of each run to --out, and an HTML report on all comparable runs there to its sub-folder report. By
    default it trains one run of crucb on the easy maze, which takes some ten minutes on one core. The command can be
    stopped at any moment; the same command continues. Finished runs are not trained again.

    Example: rising antmaze run --map easy --policy crucb --seeds 3
    """
    from rising_bandits.experiments.texts import seeds_of

    numbers = seeds_of(seeds, seed)
    from rising_bandits.antmaze.pool import one_core, train_all

    one_core()
    from rising_bandits.antmaze.results import find_alike
    from rising_bandits.antmaze.runs import RunFolder
    from rising_bandits.antmaze.spec import POLICIES, TrainSpec

    names = [name for given in policy or ["crucb"] for name in (POLICIES if given == "all" else [given])]
    made = [
        TrainSpec.make(maze, name, episodes=episodes, seed=number, settings=preset)
        for number in numbers
        for name in names
    ]
    specs = list({spec.key: spec for spec in made}.values())
    done = [number for number, spec in enumerate(specs) if RunFolder(out_folder, spec).result.exists()]
    with engine(scheduler, workers) as executor, watch(specs, done) as show:
        results = train_all(specs, out_folder, workers=workers, executor=executor, progress=show)
    # The report covers all comparable runs in the folder, so that policies can be trained one after another.
    alike = find_alike(results, out_folder)
    page = [_page(alike, out_folder / "report", film=True)] if report else []
    if as_json:
        print_json(
            {"out": str(out_folder), "runs": [_row(result) for result in results], "report": list(map(str, page))}
        )
        return
    _print(results, alike)
    for path in page:
        out.print(f"\nreport: {path}", soft_wrap=True)


@app.command("map")
def show_map(
    maze: Annotated[str, typer.Argument(help="The maze: easy, complex, or a TOML file with text and nodes.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a drawing and a table.")] = False,
) -> None:
    """Draw a maze in letters and list its edges, with their lengths and whether a wall blocks them.

    Use it to check a map of your own before training. Writes no files.

    Example: rising antmaze map easy
    """
    from rising_bandits.antmaze import mazes
    from rising_bandits.antmaze.drawing import sketch

    plan = mazes.get(maze)
    lengths = [float(np.hypot(*np.subtract(plan.nodes[head], plan.nodes[tail]))) for tail, head in plan.edges]
    if as_json:
        edges = [
            {"edge": label, "length": length, "passable": free}
            for label, length, free in zip(plan.labels, lengths, plan.passable, strict=True)
        ]
        print_json({**plan.as_dict(), "edges": edges, "shortest": list(plan.shortest)})
        return
    out.print(sketch(plan))
    print_table(
        ["edge", "passable", "length"],
        [
            [label, "yes" if free else "no: a wall", f"{length:g}"]
            for label, free, length in zip(plan.labels, plan.passable, lengths, strict=True)
        ],
        1,
    )
    paths = plan.problem.oracle.count()
    out.print(
        f"\noptimal path: {'-'.join(map(str, plan.shortest))}, one of {paths} from {plan.start} to {plan.goal}, "
        f"blocked paths included; {plan.episodes:,} episodes of at most {plan.steps:,} steps, "
        f"{plan.edge_steps} per edge",
        soft_wrap=True,
    )


@app.command("report")
def report(
    folders: Annotated[list[Path], typer.Argument(help="Result files, run folders, or folders that hold them.")],
    out_folder: Annotated[Path, typer.Option("--out", help="Folder for report.html and its figures.")] = Path(
        "results/antmaze/report"
    ),
    film: Annotated[
        bool,
        typer.Option("--film/--no-film", help="Whether to add, for each maze, a film of an ant on its last path."),
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Write an HTML report on finished AntMaze runs.

    It shows the regret of the policies, how well the ant learns, outcomes by edge, heatmaps of positions, paths and
    edges for every policy, and a film for each maze. Writes report.html and its figures to --out.

    Example: rising antmaze report results/antmaze --no-film
    """
    from rising_bandits.antmaze.results import find_results

    results = find_results(folders)
    page = _page(results, out_folder, film=film)
    if as_json:
        print_json({"runs": [_row(result) for result in results], "report": str(page)})
        return
    _print(results, results)
    out.print(f"\nreport: {page}", soft_wrap=True)


app.command("record")(record)
app.command("replay")(replay)


def _row(result: Result) -> dict[str, Any]:
    """The facts of a run for tables and JSON."""
    rewards = result.record.rewards()
    recent = rewards[-100:]
    walked = recent[recent > 0]
    return {
        "map": result.maze.name,
        "policy": result.spec.label,
        "seed": result.spec.seed,
        "episodes": result.record.episodes,
        "reached_goal": float((rewards > 0).mean()),
        "reached_goal_last_100": float((recent > 0).mean()),
        "steps_last_100": float((1.0 / walked).mean()) if walked.size else None,
        "reward": float(rewards.sum()),
        "env_steps": int(result.record.env_steps[-1]),
        "minutes": result.seconds / 60.0,
    }


def _page(results: Sequence[Result], folder: Path, *, film: bool) -> Path:
    """Write the report on some runs, with a progress bar, and return its path."""
    from rising_bandits.reproduction.antmaze import write_report

    # Progress is in percent, because the number of parts is not known before their data have been read.
    with progress_bar("drawing", [100], "pages") as progress:
        return write_report(results, folder, film=film, progress=lambda done, of: progress(0, 100 * done // of))


def _print(results: Sequence[Result], alike: Sequence[Result]) -> None:
    """Print a table with a row for each of ``results``, and the comparison of the policies in ``alike``."""
    rows = [_row(result) for result in results]
    print_heading("trained runs", " (reward: one over the steps of an episode that reached the goal, else 0)")
    print_table(
        ["map", "policy", "seed", "episodes", "reached goal", "last 100", "steps", "reward", "env steps", "minutes"],
        [
            [
                row["map"],
                row["policy"],
                str(row["seed"]),
                f"{row['episodes']:,}",
                f"{row['reached_goal']:.1%}",
                f"{row['reached_goal_last_100']:.0%}",
                "–" if row["steps_last_100"] is None else f"{row['steps_last_100']:.0f}",
                f"{row['reward']:.3f}",
                f"{row['env_steps']:,}",
                f"{row['minutes']:.1f}",
            ]
            for row in rows
        ],
        8,
    )
    from rising_bandits.reproduction.maze_parts import HEADINGS, comparison, which_seeds
    from rising_bandits.reproduction.summaries import summarise

    for one in summarise(alike):
        if table := comparison(one):
            print_heading(f"{one.maze}, trained", ": regret against the constant optimal path of the same seed")
            print_table(HEADINGS, table, 8)
            out.print(which_seeds(one), soft_wrap=True)
