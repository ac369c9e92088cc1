"""``rising antmaze``: train an ant together with a bandit policy, report on trained runs, record and replay them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from rising_bandits.cli.output import console, out, print_heading, print_json, print_table, progress_bar
from rising_bandits.cli.sweeps import SCHEDULER, engine
from rising_bandits.errors import InputError

if TYPE_CHECKING:
    from rising_bandits.antmaze.pool import News
    from rising_bandits.antmaze.runs import Result, TrainSpec
    from rising_bandits.experiments import RunSpec

_LINE_SECONDS = 60.0
"""How often a run in progress prints a line where there is no terminal."""

app = typer.Typer(
    help="AntMaze: an ant learns to walk while a bandit chooses its paths. Needs the extra antmaze, except for replay.",
    no_args_is_help=True,
)


@app.command("run")
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
    preset: Annotated[str, typer.Option(help="How the ant learns: cpu, made for one core, or paper.")] = "cpu",
    out_folder: Annotated[
        Path, typer.Option("--out", help="Folder for checkpoints and results, one sub-folder per run.")
    ] = Path("results/antmaze"),
    workers: Annotated[
        int | None, typer.Option(help="How many runs at the same time, one core each; by default one per core.")
    ] = None,
    scheduler: Annotated[str | None, typer.Option(help=SCHEDULER)] = None,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Write an HTML report at the end, or do not.")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Train the ant while a bandit policy chooses its paths.

    Writes the result of each run to --out, and an HTML report on all comparable runs there to its sub-folder report. By
    default it trains one run of crucb on the easy maze, which takes some ten minutes on one core. The command can be
    stopped at any moment; the same command continues. Finished runs are not trained again.
    """
    from rising_bandits.experiments.texts import seeds_of

    numbers = seeds_of(seeds, seed)
    from rising_bandits.antmaze.pool import one_core, train_all

    one_core()
    from rising_bandits.antmaze.runs import POLICIES, RunFolder, TrainSpec, find_alike

    names = [name for given in policy or ["crucb"] for name in (POLICIES if given == "all" else [given])]
    made = [
        TrainSpec.make(maze, name, episodes=episodes, seed=number, settings=preset)
        for number in numbers
        for name in names
    ]
    specs = list({spec.key: spec for spec in made}.values())
    done = [number for number, spec in enumerate(specs) if RunFolder(out_folder, spec).result.exists()]
    with engine(scheduler, workers) as executor, _watch(specs, done) as watch:
        results = train_all(specs, out_folder, workers=workers, executor=executor, progress=watch)
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
        f"\noptimal path: {'-'.join(map(str, plan.shortest))}, one of {paths} from {plan.start} to {plan.goal}, walls "
        f"or not; {plan.episodes:,} episodes, at most {plan.edge_steps} steps an edge and {plan.steps:,} in all",
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
        typer.Option("--film/--no-film", help="Add a film of an ant on its last path, one for each maze, or do not."),
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Write an HTML report on finished AntMaze runs.

    It shows the regret of the policies, how well the ant learns, outcomes by edge, heatmaps of positions, paths and
    edges for every policy, and a film for each maze. Writes report.html and its figures to --out.
    """
    from rising_bandits.antmaze.runs import find_results

    results = find_results(folders)
    page = _page(results, out_folder, film=film)
    if as_json:
        print_json({"runs": [_row(result) for result in results], "report": str(page)})
        return
    _print(results, results)
    out.print(f"\nreport: {page}", soft_wrap=True)


@app.command("record")
def record(
    folders: Annotated[
        list[Path], typer.Argument(help="Result files, run folders, or folders that hold them, all of one maze.")
    ],
    out_file: Annotated[Path, typer.Option("--out", help="The JSON file to write.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Measure from trained runs how the success of each edge grows with its tries.

    Writes the curves to the JSON file --out, which "rising antmaze replay --map FILE" can replay.
    """
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
    out.print(f"\nfile: {out_file}, for rising antmaze replay --map {out_file}", soft_wrap=True)


@app.command("replay")
def replay(
    maze: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            help="A recording: easy, complex, or a file that rising antmaze record wrote. Can be given several times; "
            "easy and complex by default.",
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

    Policies have the windows of the trained experiment, a quarter of the plays, unless they set their own. Prints a
    table of regret; writes the runs and the figures to --out.
    """
    from rising_bandits.cli.run import report_runs
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
    """The policy of a replay with the parameters that differ from the usual ones of this experiment."""
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
        raise InputError(f"--map must be one of {known}, or a file made by rising antmaze record, got {name!r}")
    recorded.from_file(name)
    path = str(Path(name).resolve())
    # Finished runs are found by the text of their task. The digest makes a changed file a different task.
    return f"{recorded.__name__}:from_file(path={path!r}, digest={recorded.digest_of(path)!r})"


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

    # Shares of one hundred, because the number of parts is known only once their data have been read.
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
    from rising_bandits.reproduction.trained import summarise

    for one in summarise(alike):
        if table := comparison(one):
            print_heading(f"{one.maze}, trained", ": regret against the constant optimal path of the same seed")
            print_table(HEADINGS, table, 8)
            out.print(which_seeds(one), soft_wrap=True)


class _Watched:
    """The latest news of runs in progress: episode, time left, chosen path and success of each edge."""

    def __init__(self, specs: Sequence[TrainSpec]) -> None:
        self.specs = specs
        self.latest: dict[int, News] = {}
        self._begun: dict[int, tuple[int, float]] = {}

    def note(self, item: News) -> None:
        """Remember the latest news of a run."""
        self._begun.setdefault(item.number, (item.episode, time.monotonic()))
        self.latest[item.number] = item

    def finished(self, number: int) -> bool:
        """Whether a run has played its last episode."""
        return self.latest[number].episode >= self.specs[number].episodes

    def cells(self, number: int) -> list[str]:
        """The cells of a run in the table of progress."""
        item, spec = self.latest[number], self.specs[number]
        first, since = self._begun[number]
        pace = (time.monotonic() - since) / max(item.episode - first, 1)
        left = f"{pace * (spec.episodes - item.episode) / 60:.1f} min" if item.episode > first else "–"
        edges = "  ".join(
            f"{label} {share:.0%}"
            for label, share in zip(spec.maze.labels, item.success, strict=True)
            if not np.isnan(share)
        )
        return [
            f"{spec.label} {spec.seed}",
            f"{item.episode}/{spec.episodes}",
            left,
            spec.maze.path_name(item.path),
            edges,
        ]


@contextlib.contextmanager
def _watch(specs: Sequence[TrainSpec], done: Sequence[int]) -> Iterator[Callable[[News], None]]:
    """Show progress: on a terminal a table that is updated; elsewhere, as in a log file, a line a minute per run."""
    from rich.live import Live
    from rich.table import Table

    screen = console(stderr=True)
    watched = _Watched(specs)
    if not screen.is_terminal:
        told: dict[int, float] = {}

        def tell(item: News) -> None:
            watched.note(item)
            if time.monotonic() - told.get(item.number, -np.inf) < _LINE_SECONDS and not watched.finished(item.number):
                return
            told[item.number] = time.monotonic()
            run, episode, left, path, edges = watched.cells(item.number)
            screen.print(f"{run}: episode {episode}, {left} left, path {path}, success {edges}", soft_wrap=True)

        yield tell
        return

    def table() -> Table:
        view = Table(box=None, header_style="bold", pad_edge=False)
        for heading in ("run", "episode", "left", "path", "success of the last 50 tries"):
            view.add_column(heading, no_wrap=heading != "success of the last 50 tries")
        for number in sorted(watched.latest):
            if not watched.finished(number):
                view.add_row(*watched.cells(number))
        finished = len(done) + sum(map(watched.finished, watched.latest))
        waiting = len(specs) - len(done) - len(watched.latest)
        view.caption = f"{finished} of {len(specs)} runs finished, {waiting} not begun"
        return view

    with Live(table(), console=screen, refresh_per_second=2, transient=True) as live:

        def show(item: News) -> None:
            watched.note(item)
            live.update(table())

        yield show
