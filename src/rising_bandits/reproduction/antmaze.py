"""The report on trained AntMaze runs: whether the ant learns, the regret of each policy, and what each policy did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from rising_bandits._checks import Floats
from rising_bandits._files import replacing
from rising_bandits.antmaze.mazes import EASY, MAZES
from rising_bandits.antmaze.picture import film as make_film
from rising_bandits.antmaze.picture import skeletons
from rising_bandits.antmaze.runs import Result, check_alike
from rising_bandits.antmaze.settings import CPU, PRESETS
from rising_bandits.antmaze.world import NEAR
from rising_bandits.experiments import PAPER_POLICIES
from rising_bandits.plots import antmaze as plots
from rising_bandits.plots.antmaze import name_of
from rising_bandits.reproduction.claims import Claim
from rising_bandits.reproduction.report import Part, render

LEARNED = {"easy": ("0->1", "1->4"), "complex": ("0->1", "1->5")}
"""The edges by which the ant's learning is judged: the first edge of the optimal path, and the second."""
JUDGED = {"complex": ("crucb", "r-ed-ucb", "sw-cucb", "sw-cts")}
"""The policies whose runs are needed to judge the order of policies on a maze; by default all six of the paper."""
_HALF = 0.5
"""The success rate from which on the ant counts as walking an edge."""
_LAST = 200
"""How many tries of an edge its success at the end is measured over."""
_SEEDS = 5
"""How many seeds are needed to judge whether the ant learns."""
_FRAMES = 48
"""How many pictures a film has at most."""


def plan_report(results: Sequence[Result]) -> list[Callable[[Path, bool], Part]]:
    """Functions that make the parts of the report, given a folder for figures and whether to make films."""
    makers: list[Callable[[Path, bool], Part]] = []
    for maze in dict.fromkeys(result.maze.name for result in results):
        mine = [result for result in results if result.maze.name == maze]
        check_alike(mine)
        firsts = {result.spec.label: result for result in reversed(mine)}
        if any(result.competes for label, result in firsts.items() if label != "oracle"):
            makers.append(partial(_comparison, mine))
        makers.append(partial(_learning, mine))
        makers += [partial(_policy, result) for result in reversed(firsts.values())]
    return makers


def write_report(
    results: Sequence[Result], folder: Path, *, film: bool = True, progress: Callable[[int], None] | None = None
) -> Path:
    """Draw the figures, write the report as an HTML page, and return its path.

    Parameters
    ----------
    results
        Finished runs. Those on the same maze must have the same settings.
    folder
        The folder for ``report.html`` and its figures.
    film
        Whether to add a film of the ant on its last path.
    progress
        Called with the number of each part when it is done.

    Raises
    ------
    InputError
        Runs on one maze cannot be compared, or a run was given twice.
    """
    makers = plan_report(results)
    folder.mkdir(parents=True, exist_ok=True)
    parts: list[Part] = []
    for number, make in enumerate(makers):
        parts.append(make(folder, film))
        if progress is not None:
            progress(number)
    page = folder / "report.html"
    runs = len(results)
    text = render(
        parts,
        [
            f"{runs} {'run' if runs == 1 else 'runs'}, trained: real physics (MuJoCo), an ant that starts from "
            "nothing, and a bandit policy that chooses its path in every episode. An edge is a base arm; its outcome "
            "is one over the steps it took, or 0 if it was not finished in time, and then the edges behind it were "
            "not played.",
            "The reward of an episode is one over all its steps if the goal was reached, else 0. Regret is what the "
            "constant optimal path earned with the same seed, the same number of episodes and its own training, minus "
            "what the policy earned. It can be negative: that ant has to learn to walk as well, by its own luck.",
            _how_trained(results),
        ],
        heading="AntMaze, trained",
    )
    with replacing(page) as aside:
        aside.write_text(text, encoding="utf-8")
    return page


def last_success(result: Result, edge: str, last: int = _LAST) -> float:
    """The success rate over the last tries of an edge, up to ``last`` of them; NaN if it was never tried."""
    outcomes = result.record.outcomes(result.maze.labels.index(edge))[1][-last:]
    return float((outcomes > 0).mean()) if outcomes.size else float("nan")


def walks_from(result: Result, tries: int = 50) -> int | None:
    """The first episode at which half of the last ``tries`` tries of the optimal path's first edge had succeeded.

    None if there is no such episode.
    """
    episodes, outcomes = result.record.outcomes(result.maze.arms(result.maze.shortest)[0])
    good = np.convolve(outcomes > 0, np.ones(tries, dtype=int), "valid") if outcomes.size >= tries else np.zeros(0)
    reached = np.flatnonzero(good >= _HALF * tries)
    return int(episodes[reached[0] + tries - 1]) if reached.size else None


def _learning(results: list[Result], folder: Path, film: bool) -> Part:
    """The part on how well the ant learns to walk."""
    maze = results[0].maze
    edges = [edge for edge in LEARNED.get(maze.name, ()) if edge in maze.labels] or [
        maze.labels[arm] for arm in maze.arms(maze.shortest)[:2]
    ]
    policies = [result.spec.label for result in results]
    judged = [r for r in results if r.spec.label == ("oracle" if "oracle" in policies else policies[0])]
    part = Part(f"learning-{maze.name}", f"AntMaze-{maze.name}: does the ant learn?")
    part.text.append(
        f"Runs of {name_of(judged[0].spec.label)}. Success over the last {_LAST} tries of an edge; "
        "actions carry exploration noise throughout."
    )
    rows = []
    for result in judged:
        shares = [last_success(result, edge) for edge in edges]
        rows.append(
            [
                f"seed {result.spec.seed}",
                *("not tried" if np.isnan(share) else f"{share:.0%}" for share in shares),
                f"{result.record.env_steps[-1]:,}",
                f"{result.seconds / 60:.1f}",
            ]
        )
    cpu = judged[0].spec.settings == CPU.as_dict() and judged[0].spec.episodes <= EASY.episodes
    if maze == EASY and cpu and judged[0].spec.label == "oracle" and len(judged) >= _SEEDS:
        good = sum(all(last_success(result, edge) > _HALF for edge in edges) for result in judged)
        names = " and ".join(edge.replace("->", "→") for edge in edges)
        part.claims.append(
            Claim(
                f"The ant comes to walk edges {names} in more than half of its tries, on four seeds of five or more",
                good >= 0.8 * len(judged),
                f"{good} of {len(judged)} seeds",
            )
        )
    headings = ["run", *(edge.replace("->", "→") for edge in edges), "steps", "minutes (wall)"]
    part.tables.append(("Success at the end", headings, rows))
    figure = plots.plot_learning(judged, edges, folder / f"learning-{maze.name}.png")
    part.figures.append((figure[1], "Success by episode, a line a seed; the dotted line is one half. Trained runs."))
    return part


def _how_trained(results: Sequence[Result]) -> str:
    """A sentence on the settings of the runs."""
    settings = [result.spec.settings for result in results]
    same = all(other == settings[0] for other in settings)
    known = [name for name, preset in PRESETS.items() if same and preset.as_dict() == settings[0]]
    if known:
        return f"Settings of the low-level agent: the preset {known[0]}."
    return "Settings of the low-level agent: not those of a preset; every result file holds its own."


def _advice(results: Sequence[Result]) -> str:
    """A sentence that says why no regret can be computed and which command trains the missing runs."""
    maze, spec = results[0].maze, results[0].spec
    seeds = sorted({result.spec.seed for result in results if result.spec.label != "oracle"})
    known = [name for name, preset in PRESETS.items() if preset.as_dict() == spec.settings]
    preset = f" --preset {known[0]}" if known and known[0] != "cpu" else ""
    where = maze.name if maze == MAZES.get(maze.name) else "FILE.toml"
    return (
        "There is no regret here: it is measured against the constant optimal path, and there is no such run with the "
        f"same seeds and episodes. This trains one, into the folder given by --out: rising antmaze run --map {where} "
        f"--policy oracle --episodes {spec.episodes}{preset} --seed {seeds[0]}, and so on for seeds "
        f"{', '.join(map(str, seeds))}."
    )


HEADINGS = ["policy", "runs", "regret", "by seed", "goal, last 500", "optimal path", "into a wall", "walks from"]
"""The columns of `comparison`: the policy and its number of runs; the mean final regret and that of each seed; the
share of the last 500 episodes that reached the goal; the shares of episodes on the optimal path and on paths through
walls; and for each seed the episode from which on the ant walks (see `walks_from`)."""


def comparison(results: Sequence[Result]) -> list[list[str]]:
    """A row for each policy on one maze, the least regret first; empty if no regret can be computed.

    The columns are those of `HEADINGS`.
    """
    table = plots.regrets(results)
    if not _ranks(table):
        return []
    maze = results[0].maze
    best = tuple(maze.arms(maze.shortest))
    blocked = {arm for arm, free in enumerate(maze.passable) if not free}
    rows = []
    for name in [*_ranks(table), "oracle"]:
        mine = [result for result in plots.comparable(results) if result.spec.label == name]
        rewards = [result.record.rewards() for result in mine]
        rows.append(
            [
                name_of(name),
                str(len(table[name])),
                f"{table[name][:, -1].mean():.3f}",
                ", ".join(f"{value:.2f}" for value in table[name][:, -1]),
                f"{np.mean([(row[-500:] > 0).mean() for row in rewards]):.0%}",
                f"{np.mean([r.record.paths.count(best) / r.record.episodes for r in mine]):.0%}",
                f"{np.mean([[not blocked.isdisjoint(path) for path in r.record.paths] for r in mine]):.0%}",
                ", ".join("never" if (start := walks_from(r)) is None else str(start) for r in mine),
            ]
        )
    return rows


def _ranks(table: dict[str, Floats]) -> list[str]:
    """The policies in order of their mean final regret, without the constant optimal path."""
    return sorted((name for name in table if name != "oracle"), key=lambda name: float(table[name][:, -1].mean()))


def _comparison(results: list[Result], folder: Path, film: bool) -> Part:
    """The part on the regret of the policies."""
    maze = results[0].maze
    part = Part(f"regret-{maze.name}", f"AntMaze-{maze.name}: the trained comparison")
    part.text.append(f"AntMaze-{maze.name}: {len(maze.nodes)} nodes, {len(maze.edges)} edges.")
    rows = comparison(results)
    if not rows:
        part.text.append(_advice(results))
        return part
    contest = [result for result in results if result.competes]
    if left := len(contest) - len(plots.comparable(contest)):
        part.text.append(
            f"{left} of {len(contest)} runs are not in this comparison: not all of the paper's policies have runs with "
            "the same seed and number of episodes."
        )
    table = plots.regrets(results)
    ranks = _ranks(table)
    part.tables.append(("Regret against the constant optimal path trained with the same seed", HEADINGS, rows))
    ranked = [name for name in ranks if name in PAPER_POLICIES]
    if set(ranked) >= set(JUDGED.get(maze.name, PAPER_POLICIES)):
        evidence = ", ".join(f"{name_of(name)} {table[name][:, -1].mean():.3f}" for name in ranked)
        held = ranked[0] == "crucb"
        part.claims.append(Claim("CRUCB has the least regret (paper, figure of AntMaze)", held, evidence))
        if maze.name == "easy":
            part.claims.append(
                Claim(
                    "CRUCB and R-ed-UCB outperform the other policies (paper, section on AntMaze)",
                    set(ranked[:2]) == {"crucb", "r-ed-ucb"},
                    evidence,
                )
            )
    figure = plots.plot_training_regret(results, folder / f"regret-{maze.name}.png")
    caption = "Cumulative regret of the trained runs: thin lines are seeds, thick ones their mean."
    part.figures.append((figure[1], caption))
    return part


def _policy(result: Result, folder: Path, film: bool) -> Part:
    """The part on what one policy did in one run."""
    spec, maze = result.spec, result.maze
    stem = spec.key
    part = Part(stem, f"AntMaze-{maze.name}: what {name_of(spec.label)} did (seed {spec.seed})")
    for draw, name, caption in (
        (plots.plot_outcomes, "outcomes", "Outcomes of each edge by its number of tries, 0 where it failed."),
        (plots.plot_paths, "paths", "Episodes per path."),
        (plots.plot_edges, "edges", "Tries per edge. Green is the start, blue the goal."),
        (plots.plot_positions, "positions", "Steps spent in each half-unit cell, on a logarithmic scale."),
    ):
        part.figures.append((draw(result, folder / f"{name}-{stem}.png")[1], f"{caption} Trained run."))
    if film:
        part.figures += _film(result, folder / f"walk-{stem}.gif")
    return part


def _film(result: Result, path: Path) -> list[tuple[Path, str]]:
    """A film of the ant on its last path and a drawing of the same walk from above, with their captions."""
    from PIL import Image

    walk = result.walk[np.unique(np.linspace(0, len(result.walk) - 1, _FRAMES).round().astype(int))]
    pictures, how = make_film(result.maze, walk)
    frames = [Image.fromarray(picture).quantize(256) for picture in pictures]
    with replacing(path) as aside:
        frames[0].save(aside, format="GIF", save_all=True, append_images=frames[1:], duration=120, loop=0)
    strip = path.with_name(f"strip-{path.stem}.png")
    drawn = plots.plot_walk(result, skeletons(result.maze, walk), strip)
    maze, steps = result.maze, len(result.walk) - 1
    nodes = maze.path_name(result.record.paths[-1])
    there = float(np.hypot(*(result.walk[-1, :2] - maze.nodes[maze.goal]))) < NEAR
    end = f"which reached the goal in {steps} steps" if there else f"which did not reach the goal, {steps} steps"
    words = f"The trained ant on its last path, {nodes}, without exploration noise, {end}"
    return [(path, f"{words} (film: {how})."), (drawn[1], f"{words}: every few steps of the same walk, from above.")]
