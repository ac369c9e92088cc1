"""``rising antmaze``: train the ant and the bandit together, and make a page of what came of it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from rising_bandits.cli.output import console, out, print_heading, print_json, print_table
from rising_bandits.errors import InputError

if TYPE_CHECKING:
    from rising_bandits.antmaze.pool import News
    from rising_bandits.antmaze.runs import Result, TrainSpec

REPLAYED = (
    "crucb(epsilon=0.25)",
    "r-ed-ucb(epsilon=0.25)",
    "sw-ucb(window=0.25)",
    "sw-cucb(window=0.25)",
    "sw-ts(window=0.25)",
    "sw-cts(window=0.25)",
    "oracle",
)
"""The policies of the trained experiment: every window is a quarter of the plays."""

app = typer.Typer(help="An ant learns to walk while a bandit learns where to send it.", no_args_is_help=True)


@app.command("run")
def run(
    maze: Annotated[str, typer.Option("--map", help="easy, complex, or a TOML file with text and nodes.")] = "easy",
    policy: Annotated[
        list[str] | None,
        typer.Option(help="A policy, as in crucb or 'crucb(bonus=4.0)', or all for the paper's six and the oracle."),
    ] = None,
    episodes: Annotated[int | None, typer.Option(help="Episodes of a run; by default the maze's own.")] = None,
    seed: Annotated[int, typer.Option(help="The first seed.")] = 0,
    seeds: Annotated[int, typer.Option(help="How many runs of each policy, with seeds from --seed up.")] = 1,
    preset: Annotated[str, typer.Option(help="How the ant learns: cpu or paper.")] = "cpu",
    out_folder: Annotated[Path, typer.Option("--out", help="Folder for checkpoints and results.")] = Path(
        "results/antmaze"
    ),
    workers: Annotated[int | None, typer.Option(help="Runs at a time, one core each; by default one a core.")] = None,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Make the page of results at the end.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Train the ant while the bandit chooses its paths; stopped at any moment, the same command goes on."""
    if seeds < 1:
        raise InputError(f"--seeds must be at least 1, got {seeds}")
    from rising_bandits.antmaze.pool import one_core, train_all

    one_core()
    from rising_bandits.antmaze.runs import POLICIES, TrainSpec

    names = [name for given in policy or ["crucb"] for name in (POLICIES if given == "all" else [given])]
    specs = [
        TrainSpec.make(maze, name, episodes=episodes, seed=number, settings=preset)
        for number in range(seed, seed + seeds)
        for name in dict.fromkeys(names)
    ]
    with _watch(specs) as watch:
        results = train_all(specs, out_folder, workers=workers, progress=watch)
    page: list[Path] = []
    if report:
        from rising_bandits.reproduction.antmaze import write_report

        page = [write_report(results, out_folder / "report")]
    if as_json:
        print_json(
            {"out": str(out_folder), "runs": [_row(result) for result in results], "report": list(map(str, page))}
        )
        return
    _print(results)
    for path in page:
        out.print(f"\nreport: {path}", soft_wrap=True)


@app.command("report")
def report(
    folders: Annotated[list[Path], typer.Argument(help="Result files, run folders, or folders of them.")],
    out_folder: Annotated[Path, typer.Option("--out", help="Folder for the page and its figures.")] = Path(
        "results/antmaze/report"
    ),
    film: Annotated[bool, typer.Option("--film/--no-film", help="Add a film of the ant on its last path.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """One HTML page of finished runs: learning, regret, heatmaps, and the ant walking."""
    from rising_bandits.antmaze.runs import find_results
    from rising_bandits.reproduction.antmaze import write_report

    results = find_results(folders)
    page = write_report(results, out_folder, film=film)
    if as_json:
        print_json({"runs": [_row(result) for result in results], "report": str(page)})
        return
    _print(results)
    out.print(f"\nreport: {page}", soft_wrap=True)


@app.command("record")
def record(
    folders: Annotated[list[Path], typer.Argument(help="Result files, run folders, or folders of them, of one map.")],
    out_file: Annotated[Path, typer.Option("--out", help="The file to write.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Measure outcome curves by tries from trained runs, as the file that the tasks antmaze-* replay."""
    from rising_bandits.antmaze.recording import write_recording
    from rising_bandits.antmaze.runs import find_results

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
    out.print(f"\nfile: {out_file}", soft_wrap=True)


@app.command("replay")
def replay(
    maze: Annotated[list[str] | None, typer.Option("--map", help="easy or complex; by default both.")] = None,
    policy: Annotated[
        list[str] | None, typer.Option(help="A policy, or all for the paper's six and the oracle.")
    ] = None,
    seeds: Annotated[int, typer.Option(help="How many runs of each.")] = 20,
    first_seed: Annotated[int, typer.Option(help="The first seed.")] = 0,
    out_folder: Annotated[Path, typer.Option("--out", help="Folder for the results.")] = Path("results/replay"),
    workers: Annotated[int | None, typer.Option(help="Processes to use; by default one a core.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Compare policies in seconds on the recorded curves, with the windows of the trained experiment."""
    from rising_bandits.cli.run import report_runs
    from rising_bandits.experiments import make_plan
    from rising_bandits.problems import recorded

    names = [f"antmaze-{name}" for name in maze] if maze else list(recorded.NAMES)
    if unknown := [name for name in names if name not in recorded.NAMES]:
        known = ", ".join(name.removeprefix("antmaze-") for name in recorded.NAMES)
        raise InputError(f"--map must be one of {known}, got {unknown[0].removeprefix('antmaze-')!r}")
    texts = [text for given in policy or ["all"] for text in (REPLAYED if given == "all" else [given])]
    plan = make_plan(names, texts, seeds=seeds, first_seed=first_seed)
    report_runs(plan, out_folder, workers, plot=True, as_json=as_json)


def _row(result: Result) -> dict[str, Any]:
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


def _print(results: Sequence[Result]) -> None:
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
    from rising_bandits.reproduction.antmaze import HEADINGS, comparison

    for name in dict.fromkeys(result.maze.name for result in results):
        if table := comparison([result for result in results if result.maze.name == name]):
            print_heading(f"{name}, trained", ": regret against the constant optimal path of the same seed")
            print_table(HEADINGS, table, 7)


@contextlib.contextmanager
def _watch(specs: Sequence[TrainSpec]) -> Iterator[Callable[[News], None] | None]:
    """A table that lives on the terminal: for each run the episode, the path chosen, success by edge, time left."""
    from rich.live import Live
    from rich.table import Table

    from rising_bandits.antmaze import mazes

    screen = console(stderr=True)
    if not screen.is_terminal:
        yield None
        return
    latest: dict[int, News] = {}
    begun: dict[int, tuple[int, float]] = {}

    def table() -> Table:
        view = Table(box=None, header_style="bold", pad_edge=False)
        for heading in ("run", "episode", "left", "path", "success of the last 50 tries"):
            view.add_column(heading, no_wrap=heading != "success of the last 50 tries")
        waiting = len(specs) - len(latest)
        for number, item in sorted(latest.items()):
            spec = specs[number]
            if item.episode >= spec.episodes:
                continue
            maze = mazes.get(spec.maze)
            first, since = begun[number]
            pace = (time.monotonic() - since) / max(item.episode - first, 1)
            left = f"{pace * (spec.episodes - item.episode) / 60:.0f} min" if item.episode > first else "–"
            nodes = "-".join(str(maze.edges[arm][0]) for arm in item.path) + f"-{maze.goal}"
            edges = "  ".join(
                f"{label} {share:.0%}"
                for label, share in zip(maze.labels, item.success, strict=True)
                if not np.isnan(share)
            )
            view.add_row(f"{spec.label} {spec.seed}", f"{item.episode}/{spec.episodes}", left, nodes, edges)
        finished = sum(item.episode >= specs[number].episodes for number, item in latest.items())
        view.caption = f"{finished} of {len(specs)} runs finished, {waiting} not begun"
        return view

    with Live(table(), console=screen, refresh_per_second=2, transient=True) as live:

        def show(item: News) -> None:
            begun.setdefault(item.number, (item.episode, time.monotonic()))
            latest[item.number] = item
            live.update(table())

        yield show
